"""Fuel removal: charges remain only where a module could otherwise run for long without one.

The builder charges each function and each loop. A function keeps its charge only if it calls several others: loops are
charged anyway, and a chain of calls is no longer than the text. A short loop loses its charge if it contains no loop
and only a few calls of cheap functions: functions without loops, or functions that fill memo tables, which are charged
themselves. A helper may take long over a list.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from interpreter.compiler.ir import ops
from interpreter.compiler.passes.context import Context, Functions
from interpreter.language.walk import descendants, rewritten

__all__ = ["fuel"]

CallsOf = Callable[[str], int | None]

SHORT = ops.Constant(256)
FEW = 64
"""Maximum number of calls in code without a charge. It is needed since functions that call each other twice double the
number at each step.
"""


def fuel(functions: Functions, context: Context) -> Functions:
    result: dict[str, ops.Function] = {}
    counts: dict[str, int | None] = {"alloc": 0}  # it has no loop

    def calls_of(name: str) -> int | None:
        """Return the number of calls in one call of a function, itself included; None: many or unknown."""
        if name not in counts:
            function = functions.get(name)
            counts[name] = None  # in case it calls itself
            if function is not None:
                below = 0 if function.rare else _calls(function.body, calls_of)
                counts[name] = None if below is None else below + 1
        return counts[name]

    def change(op: ops.Block | ops.While | ops.Within | ops.If) -> ops.Part:
        if isinstance(op, ops.If):
            return replace(op, then=_less(op.then, calls_of), otherwise=_less(op.otherwise, calls_of))
        return replace(op, body=_less(op.body, calls_of))

    for name, function in functions.items():
        body = function.body
        calls = sum(called in functions for called in function.called)
        is_charged = bool(body) and isinstance(body[0], ops.Charge) and name not in context.roots and not function.rare
        if is_charged and (calls < 2 or calls_of(name) is not None):
            body = body[1:]
        if ops.While in map(type, function.ops):
            body = _less(rewritten(body, change, ops.Block, ops.While, ops.Within, ops.If), calls_of)
        result[name] = function if body is function.body else replace(function, body=body)
    return result


def _charged(after: tuple[ops.Statement, ...]) -> ops.While | None:
    """Return the loop that a charge is for, given the statements behind it: variables are set, then the loop begins.

    A loop without a test of its own may run as long as the rules say; it is charged inside.
    """
    first = next((statement for statement in after if not isinstance(statement, ops.Set)), None)
    return first if isinstance(first, ops.While) and not isinstance(first.test, ops.Constant) else None


def _calls(body: ops.Part, calls_of: CallsOf) -> int | None:
    """Return the maximum number of calls in ops; None: too many, or inside a loop."""
    total = 0
    for op in descendants(body):
        if isinstance(op, ops.While):
            return None
        if isinstance(op, ops.Call):
            below = calls_of(op.function)
            if below is None:
                return None
            total += below
    return total if total <= FEW else None


def _less(body: tuple[ops.Statement, ...], calls_of: CallsOf) -> tuple[ops.Statement, ...]:
    result: list[ops.Statement] = []
    for number, statement in enumerate(body):
        if isinstance(statement, ops.Charge):
            loop = _charged(body[number + 1 :])
            if loop is not None and _calls((loop.test, loop.body, loop.step), calls_of) is not None:
                if isinstance(statement.steps, ops.Constant) and statement.steps.value <= SHORT.value:
                    continue
                statement = ops.If(statement.steps > SHORT, (statement,))
        result.append(statement)
    return tuple(result)
