"""Fuel: steps are charged where a module could run for long without being charged elsewhere.

The builder charges each function and each loop. A function need not be charged unless it calls several others: loops
are, and a chain of calls is no longer than the text. A loop need not be charged that is short, and goes through nothing
that takes long: it has no loop in it, and no more than a few calls begin in it, of functions without loops or of those
that fill tables, which are charged themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["fuel"]

CallsOf = Callable[[str], int | None]

SHORT = ops.Constant(256)
FEW = 64
"""So many calls may begin in what is not charged. Functions that call each other twice double them at each step."""


def fuel(functions: Functions, context: Context) -> Functions:
    """Functions with fewer charges."""
    found: dict[str, ops.Function] = {}
    begun: dict[str, int | None] = {}

    def calls_of(name: str) -> int | None:
        """Return the number of calls in one call of a function, itself included; None: many or unknown."""
        if name not in begun:
            function = functions.get(name)
            begun[name] = None  # for a function that calls itself
            if function is not None:
                below = 0 if function.rare else _calls(function.body, calls_of)
                begun[name] = None if below is None else below + 1
        return begun[name]

    def change(op: Any) -> Any:
        body = getattr(op, "body", None)
        if isinstance(op, ops.Block | ops.While | ops.Within) and body:
            return replace(op, body=_less(body, calls_of))
        if isinstance(op, ops.If):
            return replace(op, then=_less(op.then, calls_of), otherwise=_less(op.otherwise, calls_of))
        return op

    for name, function in functions.items():
        body = function.body
        if body and isinstance(body[0], ops.Charge) and name not in context.roots and not function.rare:
            calls = sum(isinstance(op, ops.Call) and op.function in functions for op in inner(body))
            if calls < 2 or calls_of(name) is not None:
                body = body[1:]
        found[name] = replace(function, body=_less(rewritten(body, change), calls_of))
    return found


def _charged(after: tuple[ops.Statement, ...]) -> ops.While | None:
    """The loop that a charge is for, given what stands behind it: variables are set, then it begins. A loop without a
    test of its own goes on as long as the rules say, and is charged inside."""
    for statement in after:
        if isinstance(statement, ops.While) and not isinstance(statement.test, ops.Constant):
            return statement
        if not isinstance(statement, ops.Set):
            return None
    return None


def _calls(body: Any, calls_of: CallsOf) -> int | None:
    """Return the maximum number of calls in ops; None: too many, or inside a loop."""
    total = 0
    for op in inner(body):
        if isinstance(op, ops.While):
            return None
        if isinstance(op, ops.Call):
            below = calls_of(op.function)
            if below is None:
                return None
            total += below
    return total if total <= FEW else None


def _less(body: tuple[ops.Statement, ...], calls_of: CallsOf) -> tuple[ops.Statement, ...]:
    """Statements in which short loops are not charged."""
    found: list[ops.Statement] = []
    for number, statement in enumerate(body):
        if isinstance(statement, ops.Charge):
            loop = _charged(body[number + 1 :])
            if loop is not None and _calls((loop.test, loop.body, loop.step), calls_of) is not None:
                if isinstance(statement.steps, ops.Constant) and statement.steps.value <= SHORT.value:
                    continue
                statement = ops.If(ops.Compare("gt", statement.steps, SHORT), (statement,))
        found.append(statement)
    return tuple(found)
