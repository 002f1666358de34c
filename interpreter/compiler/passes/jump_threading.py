"""Jump threading: a stretch that always goes on with a certain one calls it, in place of its own frame.

Else control would go back to the driver, which looks the next stretch up in its table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["jump_threading"]


def jump_threading(functions: Functions, context: Context) -> Functions:
    """Functions in which stretches go on by themselves where the next one is known."""
    found = dict(functions)
    for name in context.stretches:
        function = functions[name]
        uses = any(isinstance(op, ops.Allocate | ops.Call) for op in inner(function.body))

        def goes(number: int, uses: bool = uses) -> tuple[ops.Statement, ...]:
            if number < 0:
                return (ops.Return(ops.Constant(number)),)
            cleared = (ops.SetGlobal("arena", ops.Global("arena_start")),) if uses else ()
            return (*cleared, ops.TailCall(context.stretches[number], (ops.Global("frame"),)))

        def change(op: Any, goes: Any = goes) -> Any:
            match op:
                case ops.Return(ops.Constant(number)):
                    return goes(number)
                case ops.Return(ops.Select(test, ops.Constant(then), ops.Constant(otherwise))):
                    return (ops.If(test, goes(then), goes(otherwise)),)
                case _:
                    return op

        found[name] = replace(function, body=rewritten(function.body, change))
    return found
