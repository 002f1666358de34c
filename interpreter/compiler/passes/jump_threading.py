"""Jump threading: a stretch with a known successor tail-calls it.

Otherwise control would return to the driver, which looks the successor up in its table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["jump_threading"]


def jump_threading(functions: Functions, context: Context) -> Functions:
    """Return functions in which stretches call their successor if it is known."""
    result = dict(functions)
    for name in context.stretches:
        function = functions[name]
        uses = any(isinstance(op, ops.Allocate | ops.Call) for op in inner(function.body))

        def jump(number: int, uses: bool = uses) -> tuple[ops.Statement, ...]:
            if number < 0:
                return (ops.Return(ops.Constant(number)),)
            cleared = (ops.SetGlobal("arena", ops.Global("arena_start")),) if uses else ()
            return (*cleared, ops.TailCall(context.stretches[number], (ops.Global("frame"),)))

        def change(op: Any, jump: Any = jump) -> Any:
            match op:
                case ops.Return(ops.Constant(number)):
                    return jump(number)
                case ops.Return(ops.Select(test, ops.Constant(then), ops.Constant(otherwise))):
                    return (ops.If(test, jump(then), jump(otherwise)),)
                case _:
                    return op

        result[name] = replace(function, body=rewritten(function.body, change))
    return result
