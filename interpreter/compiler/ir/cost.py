"""Costs of ops: about how many machine instructions a function takes. Passes that trade space for time ask."""

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
    """The cost of a call of a helper, as its row says."""
    return CALL + HELPERS[name].cost


def cost_of(op: Any, of_function: Callable[[str], int]) -> int:
    """The cost of an op with what is in it. Of the branches of an ``if`` the dearer one counts."""
    if isinstance(op, tuple):
        return sum(cost_of(each, of_function) for each in op)
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
