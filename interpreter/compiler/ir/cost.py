"""Cost model: approximate number of machine instructions of a function, for passes that trade space for time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.helpers import HELPERS
from interpreter.compiler.ir.rewrite import parts

__all__ = ["RECURSIVE", "cost_of", "cost_of_runtime"]

PASSES_OF_A_LOOP = 16
CALL = 6
RECURSIVE = 10_000


def cost_of_runtime(name: str) -> int:
    """Return the cost of a call of a helper."""
    return CALL + HELPERS[name].cost


def cost_of(op: Any, of_function: Callable[[str], int]) -> int:
    """Return the cost of an op and its parts. An ``if`` costs as much as its more expensive branch."""
    if isinstance(op, tuple):
        return sum(cost_of(part, of_function) for part in op)
    inside = [cost_of(part, of_function) for part in parts(op)]
    match op:
        case ops.Constant() | ops.Data() | ops.Get() | ops.Cell() | ops.Touch():
            return sum(inside)
        case ops.If(test):
            return 1 + cost_of(test, of_function) + max(inside[1:])
        case ops.While():
            return PASSES_OF_A_LOOP * (2 + sum(inside))
        case ops.Call(function):
            return sum(inside) + of_function(function)
        case ops.Allocate():
            return CALL + sum(inside)
        case _:
            return 1 + sum(inside)
