"""Cost model: approximate number of machine instructions of a function, for passes that trade space for time."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.compiler.ir import ops
from interpreter.language.walk import children

__all__ = ["CALL", "RECURSIVE", "cost_of"]

PASSES_OF_A_LOOP = 16
CALL = 6
RECURSIVE = 10_000


def cost_of(part: object, of_function: Callable[[str], int]) -> int:
    """Return the cost of ops and their parts. An ``if`` costs as much as its more expensive branch."""

    def cost(part: object) -> int:
        if part is None or (kind := type(part)) is ops.Var or kind is ops.Constant:
            return 0
        if isinstance(part, ops.If):
            return 1 + cost(part.test) + max(cost(part.then), cost(part.otherwise))
        inside = sum(map(cost, children(part)))
        if kind is ops.While:
            return PASSES_OF_A_LOOP * (2 + inside)
        own = not isinstance(part, (tuple, ops.Cell, ops.Touch))
        return inside + (of_function(part.function) if isinstance(part, ops.Call) else own)

    return cost(part)
