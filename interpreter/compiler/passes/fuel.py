"""Fuel: steps are charged where a module could run for long without being charged elsewhere.

The builder charges each function and each loop. A function need not be charged unless it calls several others: loops
are, and a chain of calls is no longer than the text. A loop need not be charged that is short, and goes through nothing
that takes long: it has no loop in it, and calls only functions without loops or those that fill tables, which are
charged themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["fuel"]

SHORT = o.Constant(256)


def fuel(functions: Functions, context: Context) -> Functions:
    """Functions with fewer charges."""
    found: dict[str, o.Function] = {}
    quiet: dict[str, bool] = {}

    def is_quiet(name: str) -> bool:
        if name not in quiet:
            function = functions.get(name)
            quiet[name] = False  # for a function that calls itself
            if function is not None:
                quiet[name] = function.rare or all(_is_quiet(op, is_quiet) for op in inner(function.body))
        return quiet[name]

    def change(op: Any) -> Any:
        body = getattr(op, "body", None)
        if isinstance(op, o.Block | o.While | o.Within) and body:
            return replace(op, body=_less(body, is_quiet))
        if isinstance(op, o.If):
            return replace(op, then=_less(op.then, is_quiet), otherwise=_less(op.otherwise, is_quiet))
        return op

    for name, function in functions.items():
        body = function.body
        if body and isinstance(body[0], o.Charge) and name not in context.roots and not function.rare:
            calls = sum(isinstance(op, o.Call) and op.function in functions for op in inner(body))
            if calls < 2 or is_quiet(name):
                body = body[1:]
        found[name] = replace(function, body=_less(rewritten(body, change), is_quiet))
    return found


def _charged(after: tuple[o.Statement, ...]) -> o.While | None:
    """The loop that a charge is for, given what stands behind it: variables are set, then it begins. A loop without a
    test of its own goes on as long as the rules say, and is charged inside."""
    for statement in after:
        if isinstance(statement, o.While) and not isinstance(statement.test, o.Constant):
            return statement
        if not isinstance(statement, o.Set):
            return None
    return None


def _is_quiet(op: Any, is_quiet: Any) -> bool:
    return not isinstance(op, o.While) and (not isinstance(op, o.Call) or is_quiet(op.function))


def _less(body: tuple[o.Statement, ...], is_quiet: Any) -> tuple[o.Statement, ...]:
    """Statements in which short loops are not charged."""
    found: list[o.Statement] = []
    for number, statement in enumerate(body):
        if isinstance(statement, o.Charge):
            loop = _charged(body[number + 1 :])
            if loop is not None and all(_is_quiet(op, is_quiet) for op in inner((loop.test, loop.body, loop.step))):
                if isinstance(statement.steps, o.Constant) and statement.steps.value <= SHORT.value:
                    continue
                statement = o.If(o.Compare("gt", statement.steps, SHORT), (statement,))
        found.append(statement)
    return tuple(found)
