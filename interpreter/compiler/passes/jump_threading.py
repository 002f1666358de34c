"""Jump threading: a stretch that always goes on with a certain one calls it, in place of its own frame.

Else control would go back to the driver, which looks the next stretch up in its table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["jump_threading"]


def jump_threading(functions: Functions, context: Context) -> Functions:
    """Functions in which stretches go on by themselves where the next one is known."""
    found = dict(functions)
    for name in context.stretches:
        function = functions[name]
        uses = any(isinstance(op, o.Allocate | o.Call) for op in inner(function.body))

        def goes(number: int, uses: bool = uses) -> tuple[o.Statement, ...]:
            if number < 0:
                return (o.Return(o.Constant(number)),)
            cleared = (o.SetGlobal("arena", o.Global("arena_start")),) if uses else ()
            return (*cleared, o.TailCall(context.stretches[number], (o.Global("frame"),)))

        def change(op: Any, goes: Any = goes) -> Any:
            match op:
                case o.Return(o.Constant(number)):
                    return goes(number)
                case o.Return(o.Select(test, o.Constant(then), o.Constant(otherwise))):
                    return (o.If(test, goes(then), goes(otherwise)),)
                case _:
                    return op

        found[name] = replace(function, body=rewritten(function.body, change))
    return found
