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
            yield from _holder(model, f"own_{group.name}", f"me.{group.name}", _HOLDERS[group.type.word])
    for group in _groups(model, ""):
        if _is_common(model, group):
            is_bare = group.type.word == "track" and not group.spaces
            yield from _holder(model, group.name, group.name, _HOLDERS["pool" if is_bare else group.type.word])
    held = [(group.name, f"who.{group.name}") for group in _groups(model, "seat")]
    own = _columns(model, [("who", "who"), *held], "me", "who")
    rows, span = _checked(model, "seats"), _nowhere("seats")
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
_HOLDERS: dict[str, tuple[PanelForm, PanelPlace]] = {
    **dict.fromkeys(_CARDS, ("cards", "board")),
    "track": ("track", "board"),
    "pool": ("tokens", "side"),
}
"""The form and the place of the panel of a holder."""


def _is_closed(group: Group) -> bool:
    """Return whether only the number of cards is public, so that a panel would show nothing more."""
    return group.seen == "no one" and group.starts not in ("all", "rest") and group.type.word in _CARDS


def _is_common(model: Model, group: Group) -> bool:
    """Return whether an area that no seat owns has a panel: all but those where all pieces start, such as a box."""
    dealt = model.graph is not None and model.graph.dealt == group.name  # lies on the links of the picture
    is_box = group.starts == "all" or group.unlimited
    return group.type.word in _HOLDERS and not (is_box or _is_closed(group) or dealt)


def _holder(model: Model, name: str, text: str, looks: tuple[PanelForm, PanelPlace]) -> Iterator[Panel]:
    node = _checked(model, text, "me")
    if node is not None:
        yield Panel(name, *looks, _nowhere(name), shown=node, local_count=1)


def _groups(model: Model, owner: str) -> list[Group]:
    return [group for name, group in model.groups.items() if group.owner == owner and name != "round" and group.file]


def _columns(model: Model, texts: Iterable[tuple[str, str]], *seats: str) -> tuple[tuple[str, Expression], ...]:
    nodes = [(name, _checked(model, text, *seats)) for name, text in texts]
    return tuple((name, node) for name, node in nodes if node is not None)


def _checked(model: Model, text: str, *seats: str) -> Expression | None:
    """Return an expression, None if it has errors. Its first locals are seats."""
    frame = Frame()
    for seat in seats:
        frame.add(seat, SEAT)
    with suppress(RulesetError):
        return typed_expression(model, text, frame)
    return None


def _nowhere(name: str) -> Span:
    return Span(SourceFile(name, name), 0, 0)
