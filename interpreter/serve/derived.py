"""Default panels for a family that declares none: graph, seats, boards and common areas.

The result is a list of panels as a family would write them, checked in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import SourceFile, Span, typed
from interpreter.language.check_expressions import Expressions
from interpreter.language.core import Expression
from interpreter.language.model import Group, Model, Panel
from interpreter.language.parse import parse_expression
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame
from interpreter.language.types import SEAT

__all__ = ["panels_of"]


@lru_cache(maxsize=64)
def panels_of(model: Model) -> tuple[Panel, ...]:
    """Return the panels of a ruleset's table: those that the family declares, else derived ones."""
    return tuple(model.panels or _derived(model))


def _derived(model: Model) -> Iterator[Panel]:
    if model.graph is not None and model.graph.nodes:
        yield Panel("map", "graph", "board", _nowhere("map"), local_count=1)
    for group in _groups(model, "seat"):  # the hand of a seat
        if group.type.word in _CARDS and group.seen == "owner":
            node, size = _checked(model, f"me.{group.name}", "me")
            if node is not None:
                name = f"own_{group.name}"
                yield Panel(name, "cards", "board", _nowhere(name), shown=node, local_count=size)
    yield from _common(model)
    rows, _ = _checked(model, "seats")
    held = [(group.name, f"who.{group.name}") for group in _groups(model, "seat")]
    own = _columns(model, [("who", "who"), *held], "me", "who")
    span = _nowhere("seats")
    yield Panel("seats", "columns", "side", span, rows=rows, row_local=1, columns=own, local_count=2)
    values = [group for group in _groups(model, "") if group.type.word not in _HOLDERS or _is_closed(group)]
    columns = _columns(model, [(group.name, group.name) for group in values], "me")
    if columns:
        yield Panel("state", "columns", "side", _nowhere("state"), columns=columns, local_count=1)
    for board in model.boards:
        if board.columns and board.when != "end of game":
            yield Panel(
                f"board_{board.name}", "columns", "window", board.span, test=board.test, rows=board.rows,
                row_local=board.row_local, columns=board.columns, local_count=board.local_count,
            )  # fmt: skip


_CARDS = ("zone", "piles")
_HOLDERS = (*_CARDS, "pool", "track")


def _is_closed(group: Group) -> bool:
    """Return whether only the number of cards is public, so that a panel would show nothing more."""
    return group.seen == "no one" and group.starts not in ("all", "rest") and group.type.word in _CARDS


def _common(model: Model) -> Iterator[Panel]:
    """Yield panels for areas that no seat owns, except those where all pieces start, such as a box."""
    for group in _groups(model, ""):
        form = group.type.word
        node, span = _checked(model, group.name, "me")[0], _nowhere(group.name)
        dealt = model.graph is not None and model.graph.dealt == group.name  # lies on the links of the picture
        if node is None or group.starts == "all" or group.unlimited or _is_closed(group) or dealt:
            continue
        if form in _CARDS:
            yield Panel(group.name, "cards", "board", span, shown=node, local_count=1)
        elif form == "track" and group.spaces:
            yield Panel(group.name, "track", "board", span, shown=node, local_count=1)
        elif form in _HOLDERS:
            yield Panel(group.name, "tokens", "side", span, shown=node, local_count=1)


def _groups(model: Model, owner: str) -> list[Group]:
    return [group for name, group in model.groups.items() if group.owner == owner and name != "round" and group.file]


def _columns(model: Model, texts: Iterable[tuple[str, str]], *seats: str) -> tuple[tuple[str, Expression], ...]:
    nodes = [(name, _checked(model, text, *seats)[0]) for name, text in texts]
    return tuple((name, node) for name, node in nodes if node is not None)


def _checked(model: Model, text: str, *seats: str) -> tuple[Expression | None, int]:
    """Return an expression, None if it has errors, and the number of its locals, of which the first are seats."""
    frame = Frame()
    for seat in seats:
        frame.add(seat, SEAT)
    tree, wrong = parse_expression(typed(text, "expression"))
    problems: list[Diagnostic] = list(wrong)
    if tree is None:
        return None, frame.size
    node = Expressions(Names(model), frame, problems.append).value(tree, maybe=True)
    return (None if problems else node), frame.size


def _nowhere(name: str) -> Span:
    return Span(SourceFile(name, name), 0, 0)
