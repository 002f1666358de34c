"""Inputs of both forms of a game: its constants; and the failure that stops a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from interpreter.base.source import Span
from interpreter.kernel.effects import Effects
from interpreter.kernel.graphs import Graph
from interpreter.kernel.state import Layout, State, Value
from interpreter.language.model import Model
from interpreter.language.types import CardType, CompositeType, Type, cards_in

if TYPE_CHECKING:
    from interpreter.lowering.watches import Watch

__all__ = ["MAXIMUM_RECORDS", "MAXIMUM_STILL", "Caller", "Constants", "Endless", "RuleFailure", "check_records"]

MAXIMUM_STILL = 500
"""A game is considered endless after so many successive rounds that begin as some round before."""
MAXIMUM_RECORDS = 1_000_000
"""Maximum number of changes, events and choices in the log of one game."""


class Caller(NamedTuple):
    """Caller of a failed rule, and its position."""

    rule: str
    span: Span
    how: str = "called by"

    def __str__(self) -> str:
        return f"{self.how} `{self.rule}`"


class RuleFailure(Exception):
    """A rule failed: the reason, the position, and the chain of callers, innermost first.

    ``code`` names a page of ``docs/errors``: R001, or R002 for rules that would never end.
    """

    def __init__(self, message: str, span: Span | None, code: str = "R001") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.chain: list[Caller] = []
        self.round = 0
        """The round in which the rule failed; 0 in the set-up, or if it is unknown."""

    def __reduce__(self) -> tuple[type[RuleFailure], tuple[str, Span | None, str], dict[str, Value]]:
        return type(self), (self.message, self.span, self.code), {"chain": self.chain, "round": self.round}

    @property
    def trace(self) -> list[str]:
        """The callers of the rule and the round, a line each."""
        lines = [f"   {caller} ({caller.span})" for caller in self.chain]
        return [*lines, f"   in round {self.round}"] if self.round else lines

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        return "\n".join([f"{where}{self.message}", *self.trace])


class Endless(RuleFailure):
    """A game does not end. The message says why, and what repeats."""


def check_records(number: int, span: Span | None) -> None:
    """Fail if the log has too many records."""
    if number > MAXIMUM_RECORDS:
        raise Endless(f"more than {MAXIMUM_RECORDS:,} records in the log of this game", span, "R002")


class Constants(Struct, frozen=True):
    """Constants of one game: seats, printed data, settings and the layout of cells."""

    model: Model
    seats: tuple[int, ...]
    watches: tuple[Watch, ...]
    counting: int
    settings: dict[str, Value]
    layout: Layout
    effects: Effects
    statics: dict[str, Sequence[Value]]
    graph: Graph
    lengths: tuple[int, ...]
    card_kind: tuple[str, ...]
    chance_names: dict[str, int]
    role_seats: dict[str, int]
    """The first seat of each role."""
    seen_by: dict[int, tuple[int, ...] | Callable[[State], tuple[int, ...]]]
    """Cells that not everyone sees: the seats that see them, always or in a state."""
    carriers: dict[int, int]
    """Zones on cards, by cell: the card."""

    def seats_of(self, state: State, cell: Value) -> tuple[int, ...] | None:
        """Return the seats that see what is in a cell; None: everyone, as always at the end of the game."""
        seats = self.seen_by.get(cell)
        if seats is None or state.cells[self.layout.base["over"]]:
            return None
        return seats(state) if callable(seats) else seats

    def visible(self, state: State, card: Value) -> tuple[int, ...] | None:
        """Return the seats that may know a card in its zone, and the card that this zone lies on; None: everyone."""
        seats: tuple[int, ...] | None = None
        for _ in self.card_kind if card is not None else ():  # cards may lie on each other in a circle
            cell = state.cells[self.layout.base["location"] + card]
            seen = self.seats_of(state, cell)
            seats = seen if seats is None else seats if seen is None else tuple(x for x in seats if x in seen)
            card = self.carriers.get(cell)
            if card is None:
                break
        return seats

    def visible_in(self, state: State, value: Value, type_: Type) -> tuple[int, ...] | None:
        """Return the seats that may know every card in a value; None: everyone."""
        if not isinstance(type_, (CardType, CompositeType)):
            return None
        cards = cards_in(value, type_, self.model.records)
        masks = [set(mask) for card in cards if (mask := self.visible(state, card)) is not None]
        return tuple(sorted(set.intersection(*masks))) if masks else None
