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
    if isinstance(part, ops.If):
        test, then, otherwise = (cost_of(each, of_function) for each in (part.test, part.then, part.otherwise))
        return 1 + test + max(then, otherwise)
    inside = 0
    for each in part if isinstance(part, tuple) else parts(part) if isinstance(part, ops.Op) else ():
        inside += cost_of(each, of_function)
    match part:
        case ops.Constant() | ops.Var() | ops.Cell() | ops.Touch():
            return inside
        case ops.While():
            return PASSES_OF_A_LOOP * (2 + inside)
        case ops.Call(function):
            return inside + of_function(function)
        case ops.Op():
            return 1 + inside
        case _:
            return inside
