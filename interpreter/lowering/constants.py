"""Inputs of the plain form: the constants of a game, and the failure that stops a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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
    from interpreter.lowering.watches import Watch

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
    "weight",
]

Env = list[Value]
Evaluate = Callable[[State, Env], Value]
Run = Callable[[State, Env], Value]
"""A step. It returns the result of its procedure, or :data:`GOES_ON`."""

GOES_ON = object()

MAXIMUM_PASSES = 200_000
"""Number of stretches or loop passes without a decision that counts as an endless loop."""

MAXIMUM_NUMBER = 10**18
"""Stored numbers must be smaller than this in absolute value."""

MAXIMUM_WEIGHT = 100_000
"""Maximum number of numbers in one value, including all nested lists, records and bags."""

MAXIMUM_RECORDS = 1_000_000
"""Maximum number of changes, events and choices in the log of one game."""

MAXIMUM_STEPS = 500_000
"""Budget of steps for one decision; see :class:`Meter`."""


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

    def __reduce__(self) -> tuple[type[RuleFailure], tuple[str, Span | None, str], dict[str, list[Caller]]]:
        return RuleFailure, (self.message, self.span, self.code), {"chain": self.chain}

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        lines = [f"{where}{self.message}"]
        lines.extend(f"   {caller} ({caller.span})" for caller in self.chain)
        return "\n".join(lines)


def check_records(number: int, span: Span | None) -> None:
    """Fail if the log has too many records."""
    if number > MAXIMUM_RECORDS:
        raise RuleFailure(f"more than {MAXIMUM_RECORDS:,} records in the log of this game", span, "R002")


class Meter:
    """Counts the work for one decision, so that no ruleset can run for ever.

    An item that is examined, a call and an item of a new list each cost one step, plus the size of the expressions that
    are evaluated for it (see :func:`effort`). Allocated memory costs steps too.
    """

    __slots__ = ("left", "times")

    def __init__(self) -> None:
        self.left = MAXIMUM_STEPS
        self.times = 1
        """Factor on the budget. A replay raises it, so that choices that were possible before are not refused."""

    def refill(self) -> None:
        self.left = MAXIMUM_STEPS * self.times

    def charge(self, steps: int, span: Span | None) -> None:
        self.left -= steps
        if self.left < 0:
            raise RuleFailure(f"this takes more than {MAXIMUM_STEPS:,} steps without a decision", span, "R002")


def effort(*trees: object) -> int:
    """Return the cost in steps of evaluating some trees once, without the loops and calls in them."""
    return 1 + size(trees) // 16


def grows(node: core.Expression) -> bool:
    """Return whether an expression computes a new number instead of reading a stored one."""
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
    """Return a number, or a bag of numbers, unchanged; fail if it is too large to be stored."""
    for part in number if type(number) is tuple else (number,):
        if part is not None and not -MAXIMUM_NUMBER < part < MAXIMUM_NUMBER:
            raise RuleFailure("a number of more than 18 digits", span)
    return number


def weight(value: Value, span: Span) -> int:
    """Return the total number of numbers in a value; fail if there are too many."""
    total = 0
    open_values = [value]
    while open_values:
        inner = open_values.pop()
        total += len(inner)
        if total > MAXIMUM_WEIGHT:
            raise RuleFailure(f"a value of more than {MAXIMUM_WEIGHT:,} numbers", span)
        open_values.extend(part for part in inner if type(part) is tuple)
    return total


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
    """The first seat of each role."""
    seen_by: dict[int, tuple[int, ...]]
    """Zones that not everyone sees, by cell: the seats that see them."""

    def visible(self, state: State, card: Value) -> tuple[int, ...] | None:
        """Return the seats that may know a card in its present zone; None: everyone."""
        return None if card is None else self.seen_by.get(state.cells[self.layout.base["location"] + card])

    def visible_in(self, state: State, value: Value, type_: Type) -> tuple[int, ...] | None:
        """Return the seats that may know every card in a value; None: everyone."""
        cards = cards_in(value, type_, self.model.records)
        masks = [set(mask) for card in cards if (mask := self.visible(state, card)) is not None]
        return tuple(sorted(set.intersection(*masks))) if masks else None
