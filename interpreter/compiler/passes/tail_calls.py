"""Tail calls: a stretch with a known successor calls it directly.

Otherwise control would return to the driver, which looks the successor up in its table.
"""

from __future__ import annotations

from interpreter.compiler.ir import ops
from interpreter.compiler.passes.context import Context, Functions
from interpreter.language.walk import descendants

__all__ = ["tail_calls"]


def tail_calls(functions: Functions, context: Context) -> Functions:
    """Return functions in which stretches call their successor if it is known."""
    changed = {name: _with_tail_calls(functions[name], context) for name in context.stretches}
    return {**functions, **changed}


def _with_tail_calls(function: ops.Function, context: Context) -> ops.Function:
    allocates = any(isinstance(op, ops.Call) for op in descendants(function.body))

    def jump(number: int) -> tuple[ops.Statement, ...]:
        if number < 0:
            return (ops.Return(ops.Constant(number)),)
        cleared = (ops.Set(ops.Global("arena"), ops.Global("arena_start")),) if allocates else ()
        return (*cleared, ops.TailCall(context.stretches[number], (ops.Global("frame"),)))

    def change(op: ops.Return) -> ops.Part:
        match op.value:
            case ops.Constant(number):
                return jump(number)
            case ops.Select(test, ops.Constant(then), ops.Constant(otherwise)):
                return (ops.If(test, jump(then), jump(otherwise)),)
            case _:
                return op

    return function.rewritten(change, ops.Return)
