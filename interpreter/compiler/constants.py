"""Inputs of the plain form: the constants of a game, and the failure that stops a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from interpreter.base.source import Span
from interpreter.kernel.effects import Effects
from interpreter.kernel.graphs import Graph
from interpreter.kernel.state import Layout, State, Value
from interpreter.kernel.tracks import Track
from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import BagType, IntType, Type, cards_in
from interpreter.language.walk import size

if TYPE_CHECKING:
    from interpreter.compiler.watches import Watch

__all__ = [
    "GOES_ON",
    "MAXIMUM_NUMBER",
    "MAXIMUM_PASSES",
    "MAXIMUM_RECORDS",
    "MAXIMUM_STEPS",
    "Caller",
    "Constants",
    "Env",
    "Evaluate",
    "Meter",
    "RuleFailure",
    "Run",
    "bounded",
    "check_records",
    "effort",
    "grows",
    "is_bounded",
    "numbers_in",
    "weight",
]

Env = list[Any]
Evaluate = Callable[[State, Env], Value]
Run = Callable[[State, Env], Any]

GOES_ON = object()
"""What a step gives that does not return."""

MAXIMUM_PASSES = 200_000
"""So many stretches, or passes of a loop, without asking anybody are taken for an endless loop."""

MAXIMUM_NUMBER = 10**18
"""Numbers that are kept are smaller than this, on either side of 0."""

MAXIMUM_WEIGHT = 100_000
"""So many numbers may one value hold, with all lists, records and bags in it."""

MAXIMUM_RECORDS = 1_000_000
"""So many changes, events and choices may the log of one game hold."""

MAXIMUM_STEPS = 500_000
"""So much work may be done for one decision: see :class:`Meter`."""


class Caller(NamedTuple):
    """Caller of a failed rule, and the position that it had reached."""

    rule: str
    span: Span
    how: str = "called by"

    def __str__(self) -> str:
        return f"{self.how} `{self.rule}`"


class RuleFailure(Exception):
    """A rule could not go on: why, at which place, and what called it or is it, the innermost first.

    ``code`` names a page of ``docs/errors``: R001, or R002 where rules would go on without end.
    """

    def __init__(self, message: str, span: Span | None, code: str = "R001") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.chain: list[Caller] = []

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        lines = [f"{where}{self.message}"]
        lines.extend(f"   {caller} ({caller.span})" for caller in self.chain)
        return "\n".join(lines)


def check_records(number: int, span: Span | None) -> None:
    """A log of so many records is not too long."""
    if number > MAXIMUM_RECORDS:
        raise RuleFailure(f"more than {MAXIMUM_RECORDS:,} things happened in this game", span, "R002")


class Meter:
    """Counts the work that is done for one decision, so that no ruleset can make it last for ever.

    A step is an item that is looked through, a call, an item of a list that is made, each with as much more as what is
    worked out for it is long (see :func:`effort`). What fills memory costs steps too.
    """

    __slots__ = ("left", "times")

    def __init__(self) -> None:
        self.left = MAXIMUM_STEPS
        self.times = 1
        """So many times as much is allowed now: what was done before is done again without being stopped."""

    def refill(self) -> None:
        self.left = MAXIMUM_STEPS * self.times

    def charge(self, steps: int, span: Span | None) -> None:
        self.left -= steps
        if self.left < 0:
            raise RuleFailure(f"this takes more than {MAXIMUM_STEPS:,} steps without asking anybody", span, "R002")


def effort(*trees: object) -> int:
    """The steps that it costs to work out some trees once, without the loops and calls in them."""
    return 1 + size(trees) // 16


def grows(node: core.Expression) -> bool:
    """Return whether a number is worked out here, not taken from where it is kept already."""
    return isinstance(node.type, IntType | BagType) and not isinstance(
        node,
        core.Const
        | core.Local
        | core.Read
        | core.Static
        | core.TableCell
        | core.Element
        | core.FieldOf
        | core.SettingValue,
    )


def bounded(number: Value, span: Span) -> Value:
    """A number, or a bag of them, that may be kept."""
    if not is_bounded(number):
        raise RuleFailure("a number of more than 18 digits", span)
    return number


def is_bounded(number: Value) -> bool:
    """Return whether a number, or each of a bag, may be kept."""
    for part in number if type(number) is tuple else (number,):
        if part is not None and not -MAXIMUM_NUMBER < part < MAXIMUM_NUMBER:
            return False
    return True


def weight(value: Value, span: Span) -> int:
    """Return the total number of numbers in a value; fail if there are too many."""
    found = numbers_in(value)
    if found > MAXIMUM_WEIGHT:
        raise RuleFailure(f"a value of more than {MAXIMUM_WEIGHT:,} numbers", span)
    return found


def numbers_in(value: Value) -> int:
    """Count the numbers in a value, with repetitions, up to the limit."""
    found = 0
    open_values = [value]
    while open_values and found <= MAXIMUM_WEIGHT:
        inner = open_values.pop()
        found += len(inner)
        open_values.extend(part for part in inner if type(part) is tuple)
    return found


@dataclass(frozen=True)
class Constants:
    """Constants of one game: seats, printed data, settings and the layout of cells."""

    model: Model
    seats: tuple[int, ...]
    watches: tuple[Watch, ...]
    counting: int
    settings: dict[str, Value]
    layout: Layout
    effects: Effects
    statics: dict[str, Sequence[Value]]
    graph: Graph | None
    lengths: tuple[int, ...]
    tracks: dict[int, Track]
    card_kind: tuple[str, ...]
    pieces: tuple[str, ...]
    chance_names: dict[str, int]
    role_seats: dict[str, int]
    """For each role the first seat that has it."""
    seen_by: dict[int, tuple[int, ...]]
    """Zones that not everyone sees, by cell: the seats that do."""

    def visible(self, state: State, card: Value) -> tuple[int, ...] | None:
        """Return the seats that may know a card where it lies now; None: everyone."""
        return None if card is None else self.seen_by.get(state.cells[self.layout.base["location"] + card])

    def visible_in(self, state: State, value: Value, type_: Type) -> tuple[int, ...] | None:
        """Return the seats that may know every card in a value; None: everyone."""
        cards = cards_in(value, type_, self.model.records)
        masks = [set(mask) for card in cards if (mask := self.visible(state, card)) is not None]
        return tuple(sorted(set.intersection(*masks))) if masks else None
