"""Cost model: approximate number of machine instructions of a function, for passes that trade space for time."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.base.tree import parts
from interpreter.compiler.ir import ops

__all__ = ["CALL", "RECURSIVE", "cost_of"]

PASSES_OF_A_LOOP = 16
CALL = 6
RECURSIVE = 10_000


def cost_of(part: object, of_function: Callable[[str], int]) -> int:
    """Return the cost of ops and their parts. An ``if`` costs as much as its more expensive branch."""
    match part:
        case tuple():
            return sum(cost_of(each, of_function) for each in part)
        case ops.If(test, then, otherwise):
            return 1 + cost_of(test, of_function) + max(cost_of(each, of_function) for each in (then, otherwise))
        case ops.Op():
            inside = cost_of(parts(part), of_function)
        case _:
            return 0
    match part:
        case ops.Constant() | ops.Var() | ops.Cell() | ops.Touch():
            return inside
        case ops.While():
            return PASSES_OF_A_LOOP * (2 + inside)
        case ops.Call(function):
            return inside + of_function(function)
        case _:
            return 1 + inside
