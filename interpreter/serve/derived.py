"""Default panels for a family that declares none: graph, seats, boards and common areas.

The result is a list of panels as a family would write them, checked in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache

from interpreter.base.diagnostics import RulesetError
from interpreter.base.source import SourceFile, Span
from interpreter.engine.queries import typed_expression
from interpreter.language.core import Expression
from interpreter.language.model import Group, Model, Panel, PanelForm, PanelPlace
from interpreter.language.scope import frame_of
from interpreter.language.types import SEAT, CardHolderType, TokenHolderType, TrackType, Type

__all__ = ["panels_of"]


@lru_cache(maxsize=64)
def panels_of(model: Model) -> tuple[Panel, ...]:
    """Return the panels of a ruleset's table: those that the family declares, else derived ones."""
    return tuple(model.panels or _derived(model))


def _derived(model: Model) -> Iterator[Panel]:
    if model.graph is not None and model.graph.nodes:
        yield Panel("map", "graph", "board", _nowhere("map"), local_count=1)
    for group in _groups(model, SEAT):  # the hand of a seat
        if isinstance(group.type, CardHolderType) and group.seen == "owner":
            yield from _holder(model, f"own_{group.name}", f"me.{group.name}", group)
    for group in _groups(model, None):
        if _is_common(model, group):
            yield from _holder(model, group.name, group.name, group)
    yield _belongings(model, "seats", SEAT, "who", "seats", "side")
    values = [group for group in _groups(model, None) if _looks(group) is None or _is_closed(group)]
    columns = _columns(model, [(group.name, group.name) for group in values], {"me": SEAT})
    if columns:
        yield Panel("state", "columns", "side", _nowhere("state"), columns=columns, local_count=1)
    for of in dict.fromkeys(group.owner for group in model.groups.values() if group.section and group.in_page):
        if of is not None and of != SEAT and len(model.values(of)) <= MOST_ROWS:
            word = model.word(of)
            yield _belongings(model, f"each_{word}", of, word, word, "window")
    for board in model.boards:
        if board.columns and board.when != "end of game":
            yield Panel(
                f"board_{board.name}", "columns", "window", board.span, test=board.test, rows=board.rows,
                row_local=board.row_local, columns=board.columns, local_count=board.local_count,
            )  # fmt: skip


MOST_ROWS = 60
"""Number of things of which a window shows what each holds."""


def _looks(group: Group) -> tuple[PanelForm, PanelPlace] | None:
    """Return the form and the place of the panel of a holder."""
    match group.type:
        case CardHolderType():
            return "cards", "board"
        case TrackType() if group.spaces:
            return "track", "board"
        case TokenHolderType():
            return "tokens", "side"
    return None


def _is_closed(group: Group) -> bool:
    """Return whether only the number of cards is public, so that a panel would show nothing more."""
    return group.seen == "no one" and group.starts not in ("all", "rest") and isinstance(group.type, CardHolderType)


def _is_common(model: Model, group: Group) -> bool:
    """Return whether an area that no seat owns has a panel: all but those where all pieces start, such as a box."""
    dealt = model.graph is not None and model.graph.dealt == group.name  # lies on the links of the picture
    is_box = group.starts == "all" or group.unlimited
    return _looks(group) is not None and not (is_box or _is_closed(group) or dealt)


def _holder(model: Model, name: str, text: str, group: Group) -> Iterator[Panel]:
    node, looks = _checked(model, text, {"me": SEAT}), _looks(group)
    if node is not None and looks is not None:
        yield Panel(name, *looks, _nowhere(name), shown=node, local_count=1)


def _groups(model: Model, owner: Type | None) -> list[Group]:
    return [group for group in model.groups.values() if group.owner == owner and group.file and group.in_page]


def _belongings(model: Model, name: str, of: Type, local: str, rows: str, at: PanelPlace) -> Panel:
    """Return a panel with a row for each thing of a type, and what it holds."""
    held = ((group.own_name, f"{local}.{group.own_name}") for group in _groups(model, of))
    columns = _columns(model, [(local, local), *held], {"me": SEAT, local: of})
    span, all_of = _nowhere(name), _checked(model, rows, {})
    return Panel(name, "columns", at, span, rows=all_of, row_local=1, columns=columns, local_count=2)


def _columns(
    model: Model, texts: Iterable[tuple[str, str]], locals_: dict[str, Type]
) -> tuple[tuple[str, Expression], ...]:
    nodes = [(name, _checked(model, text, locals_)) for name, text in texts]
    return tuple((name, node) for name, node in nodes if node is not None)


def _checked(model: Model, text: str, locals_: dict[str, Type]) -> Expression | None:
    """Return an expression, None if it has errors."""
    with suppress(RulesetError):
        return typed_expression(model, text, frame_of(locals_.items()))
    return None


def _nowhere(name: str) -> Span:
    return Span(SourceFile(name, name), 0, 0)
