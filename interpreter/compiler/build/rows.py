"""Rows: loop-invariant parts of expressions, hoisted into memoised functions.

If an expression needs the distances of many nodes from one list, a function of the locals in that list returns the
distances of all nodes. Items of lists, and capacities of rooms by their kinds, work alike. A row is a list of words.
Since its locals take few values, it can be cached until a cell changes that it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from interpreter.compiler.build.function import FunctionBuilder
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import Type
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.build.expressions import Expressions
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Rows", "free_locals"]

LARGEST_ROW = 1024


class Rows:
    """The functions that return rows, each built once for its expressions."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module = module
        self._names: dict[tuple[str, tuple[core.Expression, ...]], str] = {}

    def row(
        self,
        x: Expressions,
        kind: str,
        nodes: tuple[core.Expression, ...],
        size: int,
        build: Callable[[Expressions], ops.Value],
    ) -> ops.Value | None:
        """Return a call, in the function that ``x`` builds, of the function that returns a row of ``size`` words.
        Return None if the row could not be cached."""
        locals_ = free_locals(nodes)
        types = tuple(locals_.values())
        keys = self.module.keys(types)
        if keys is None or not all(key.extent for key in keys) or size > LARGEST_ROW:
            return None
        arguments = tuple(x.b.read_local(index, type_) for index, type_ in locals_.items())
        name = self._names.get((kind, nodes))
        if name is None:
            name = self._names[kind, nodes] = self.module.name("row", f"{kind} {len(self._names)}")
            parameters = tuple(ops.Var(f"p{i}", "i32") for i in range(len(types)))

            def make() -> ops.Function:
                def body(b: FunctionBuilder) -> None:
                    b.span = nodes[0].span
                    b.locals = dict(zip(locals_, parameters, strict=True))
                    b.add(ops.Charge(ops.Constant(4)))
                    b.add(ops.Return(build(type(x)(b))))

                function = self.module.made(name, parameters, "i32", body, f"{kind} at {nodes[0].span}")
                return replace(function, memo=ops.Memo(keys, 1 + size, listed=True))

            self.module.request(name, make)
        return ops.Call(name, arguments)


def free_locals(tree: object) -> dict[int, Type]:
    """Return the free locals of a tree, with their types."""
    types: dict[int, Type] = {}
    bound: set[int] = set()
    for node in descendants(tree):
        if isinstance(node, core.Local):
            if node.index not in types or node.type.optional:
                types[node.index] = node.type
        elif isinstance(node, core.Loop):
            bound.add(node.variable)
    return {index: type_ for index, type_ in types.items() if index not in bound}
