"""Cost model: approximate number of machine instructions of a function, for passes that trade space for time."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.helpers import helpers

__all__ = ["RECURSIVE", "cost_of", "cost_of_runtime"]

PASSES_OF_A_LOOP = 16
CALL = 6
RECURSIVE = 10_000


def cost_of_runtime(name: str) -> int:
    return CALL + helpers()[name].cost


def cost_of(part: ops.Part, of_function: Callable[[str], int]) -> int:
    """Return the cost of ops and their parts. An ``if`` costs as much as its more expensive branch."""
    if isinstance(part, tuple):
        return sum(cost_of(item, of_function) for item in part)
    if isinstance(part, ops.If):
        branches = (cost_of(part.then, of_function), cost_of(part.otherwise, of_function))
        return 1 + cost_of(part.test, of_function) + max(branches)
    inside = sum(cost_of(each, of_function) for each in part.parts)
    match part:
        case ops.Constant() | ops.Var() | ops.Cell() | ops.Touch():
            return inside
        case ops.While():
            return PASSES_OF_A_LOOP * (2 + inside)
        case ops.Call(function):
            return inside + of_function(function)
        case _:
            return 1 + inside
