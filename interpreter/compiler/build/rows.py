"""Rows: loop-invariant parts of expressions, hoisted into memoised functions.

If an expression needs the distances of many nodes from one list, a function of the locals in that list returns the
distances of all nodes. Items of lists, and capacities of rooms by their kinds, work alike. A row is a list of words.
Since its locals take few values, it can be cached until a cell changes that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from interpreter.compiler.build.cells import Cells
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import IntType, SeatType, Type
from interpreter.language.walk import descendants

__all__ = ["Rows", "free_locals"]

LARGEST_ROW = 1024


class Rows(Cells):
    """Builds the functions that return rows, each once for its expressions."""

    def row(
        self, kind: str, nodes: tuple[core.Expression, ...], size: int, build: Callable[[Self], ops.Value]
    ) -> ops.Value | None:
        """Return a call of the function that returns a row of ``size`` words, or None if the row could not be
        cached."""
        locals_ = free_locals(nodes)
        keys = self.keys(tuple(locals_.values()))
        if keys is None or not all(key.extent for key in keys) or size > LARGEST_ROW:
            return None
        arguments = tuple(self.read_local(index, type_) for index, type_ in locals_.items())
        number = self.module.rows.setdefault((kind, nodes), len(self.module.rows))
        name = self.module.name("row", f"{kind} {number}")
        parameters = self.shapes.parameters(locals_.values())

        def body(b: Self) -> None:
            b.span = nodes[0].span
            b.locals = dict(zip(locals_, parameters, strict=True))
            b.add(ops.Charge(ops.Constant(4)))
            b.give(build(b))

        memo = ops.Memo(keys, 1 + size, listed=True)
        head = ops.Function(name, parameters, "i32", about=f"{kind} at {nodes[0].span}", memo=memo)
        return ops.Call(self.declare(head, body), arguments)

    def keys(self, types: Sequence[Type]) -> tuple[ops.Key, ...] | None:
        """Return the key ranges of parameters of these types, or None if one is not a word."""
        return tuple(map(self._key, types)) if all(map(self.shapes.is_scalar, types)) else None

    def _key(self, type_: Type) -> ops.Key:
        extent = self.shapes.count(type_)
        if isinstance(type_, IntType) or not extent:
            return ops.Key()
        if type_.optional:
            return ops.Key(-1, extent + 1)
        return ops.Key(0, extent, isinstance(type_, SeatType))


def free_locals(tree: object) -> dict[int, Type]:
    types: dict[int, Type] = {}
    bound: set[int] = set()
    for node in descendants(tree):
        if isinstance(node, core.Local):
            if node.index not in types or node.type.optional:
                types[node.index] = node.type
        elif isinstance(node, core.Loop):
            bound.add(node.variable)
    return {index: type_ for index, type_ in types.items() if index not in bound}
