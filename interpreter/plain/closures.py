"""Closures of the plain form: their types, and what bounds them: a budget of steps, and the sizes of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interpreter.base.source import Span
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.types import BagType, IntType
from interpreter.language.walk import descendants
from interpreter.lowering.constants import RuleFailure

__all__ = [
    "MAXIMUM_PASSES",
    "Called",
    "Env",
    "Evaluate",
    "Meter",
    "Result",
    "Run",
    "bounded",
    "effort",
    "grows",
    "row",
    "weight",
]

Env = list[Value]
Evaluate = Callable[[State, Env], Value]
Result = tuple[Value] | None
Run = Callable[[State, Env], Result]
"""A step. It returns the result of its procedure, or None to go on."""

Called = Callable[[State, tuple[Value, ...]], Value]
"""A rule as a function of the state and its arguments."""

MAXIMUM_PASSES = 200_000
"""Number of stretches or loop passes without a decision that counts as an endless loop."""

MAXIMUM_NUMBER = 10**18
"""Stored numbers must be smaller than this in absolute value."""

MAXIMUM_WEIGHT = 100_000
"""Maximum number of numbers in one value, including all nested lists, records and bags."""

MAXIMUM_STEPS = 500_000
"""Budget of steps for one decision; see :class:`Meter`."""


STORED = core.Const | core.Local | core.Read | core.Static | core.TableCell | core.Element | core.FieldOf
"""Expressions that read a number which is stored somewhere."""


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
    return 1 + len([*descendants(trees)]) // 16


def grows(node: core.Expression) -> bool:
    """Return whether an expression computes a new number instead of reading a stored one."""
    return isinstance(node.type, IntType | BagType) and not isinstance(node, STORED | core.SettingValue)


def bounded(number: Value, span: Span) -> Value:
    """Return a number, or a bag of numbers, unchanged; fail if it is too large to be stored."""
    for part in number if type(number) is tuple else (number,):
        if part is not None and not -MAXIMUM_NUMBER < part < MAXIMUM_NUMBER:
            raise RuleFailure("a number of more than 18 digits", span)
    return number


def row(values: Sequence[Evaluate]) -> Evaluate:
    """Return a closure of several values, as a tuple."""
    match values:
        case [only]:
            return lambda state, env: (only(state, env),)
        case [first, second]:
            return lambda state, env: (first(state, env), second(state, env))
        case _:
            return lambda state, env: tuple([value(state, env) for value in values])


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
