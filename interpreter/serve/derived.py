"""Default panels for a family that declares none: graph, seats, boards and common areas.

The result is a list of panels as a family would write them, checked in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import SourceFile, Span
from interpreter.language.check_expressions import Expressions
from interpreter.language.core import Expression
from interpreter.language.model import Group, Model, Panel
from interpreter.language.parse import parse_expression
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame
from interpreter.language.texts import Typed
from interpreter.language.types import SEAT

__all__ = ["panels_of"]


@lru_cache(maxsize=64)
def panels_of(model: Model) -> tuple[Panel, ...]:
    """Return the panels of a ruleset's table: those that the family declares, else derived ones."""
    return tuple(model.panels or _derived(model))


def _derived(model: Model) -> Iterator[Panel]:
    if model.graph is not None and model.graph.nodes:
        yield Panel("map", "graph", "board", _nowhere("map"), local_count=1)
    yield from _own(model)
    yield from _common(model)
    yield _seats(model)
    values = [group for group in _groups(model, "") if group.type.word not in _HOLDERS or _is_closed(group)]
    columns = tuple((group.name, node) for group in values if (node := _read(model, group.name)) is not None)
    if columns:
        yield Panel("state", "columns", "side", _nowhere("state"), columns=columns, local_count=1)
    yield from (
        Panel(
            f"board_{board.name}",
            "columns",
            "window",
            board.span,
            test=board.test,
            rows=board.rows,
            row_local=board.row_local,
            columns=board.columns,
            local_count=board.local_count,
        )
        for board in model.boards
        if board.columns and board.when != "end of game"
    )


_HOLDERS = ("zone", "piles", "pool", "track")


def _is_closed(group: Group) -> bool:
    """Return whether only the number of cards is public, so that a panel would show nothing more."""
    return group.seen == "no one" and group.starts not in ("all", "rest") and group.type.word in ("zone", "piles")


def _own(model: Model) -> Iterator[Panel]:
    """Yield panels for the hidden cards of a seat, its hand."""
    for group in _groups(model, "seat"):
        if group.type.word in ("zone", "piles") and group.seen == "owner":
            frame = Frame()
            frame.add("me", SEAT)
            node, size = _checked(model, f"me.{group.name}", frame)
            if node is not None:
                name = f"own_{group.name}"
                yield Panel(name, "cards", "board", _nowhere(name), shown=node, local_count=size)


def _common(model: Model) -> Iterator[Panel]:
    """Yield panels for areas that no seat owns, except those where all pieces start, such as a box."""
    for group in _groups(model, ""):
        form = group.type.word
        node = _read(model, group.name)
        dealt = model.graph is not None and model.graph.dealt == group.name  # lies on the links of the picture
        if node is None or group.starts == "all" or group.unlimited or _is_closed(group) or dealt:
            continue
        if form in ("zone", "piles"):
            yield Panel(group.name, "cards", "board", _nowhere(group.name), shown=node, local_count=1)
        elif form == "track" and group.spaces:
            yield Panel(group.name, "track", "board", _nowhere(group.name), shown=node, local_count=1)
        elif form in ("pool", "track"):
            yield Panel(group.name, "tokens", "side", _nowhere(group.name), shown=node, local_count=1)


def _seats(model: Model) -> Panel:
    """Return a panel with a row for each seat and its possessions."""
    rows, _ = _checked(model, "seats", Frame())
    frame = Frame()
    frame.add("me", SEAT)
    who = frame.add("who", SEAT).index
    columns = []
    for name in ("who", *(f"who.{group.name}" for group in _groups(model, "seat"))):
        node, _ = _checked(model, name, frame)
        if node is not None:
            columns.append((name.removeprefix("who."), node))
    return Panel(
        "seats", "columns", "side", _nowhere("seats"), rows=rows, row_local=who, columns=tuple(columns),
        local_count=frame.size,
    )  # fmt: skip


def _groups(model: Model, owner: str) -> list[Group]:
    return [group for name, group in model.groups.items() if group.owner == owner and name != "round" and group.file]


def _read(model: Model, name: str) -> Expression | None:
    frame = Frame()
    frame.add("me", SEAT)
    return _checked(model, name, frame)[0]


def _checked(model: Model, text: str, frame: Frame) -> tuple[Expression | None, int]:
    tree, wrong = parse_expression(Typed(SourceFile("expression", text)))
    problems: list[Diagnostic] = list(wrong)
    if tree is None:
        return None, frame.size
    node = Expressions(Names(model), frame, problems.append).value(tree, maybe=True)
    return (None if problems else node), frame.size


def _nowhere(name: str) -> Span:
    return Span(SourceFile(name, name), 0, 0)
