"""Jump threading: a test of several parts jumps where its result leads.

An inlined test computes an answer, which an `if` then tests. Where the answer is known, one jump replaces both.
"""

from __future__ import annotations

from itertools import count
from typing import TypeAlias

from interpreter.base.source import Span
from interpreter.compiler.ir import ops
from interpreter.compiler.passes.context import Context, Functions
from interpreter.language.walk import rewritten

__all__ = ["jump_threading"]

Body: TypeAlias = tuple[ops.Statement, ...]


def jump_threading(functions: Functions, context: Context) -> Functions:
    return {name: function.rewritten(_Threader().change, ops.If) for name, function in functions.items()}


class _Threader:
    """Rewrites the `if`s of one function. Its labels are numbered."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def change(self, op: ops.If) -> ops.Part:
        if _has_parts(op.test) or isinstance(op.test, ops.Constant):
            return self._branch(op.test, op.then, op.otherwise, op.span)
        return op

    def _branch(self, test: ops.Value, then: Body, otherwise: Body, span: Span) -> Body:
        """Return an `if`. A branch that is reached from several places is only reached by jumps."""
        if not _has_parts(test) or (_is_jump(then) and _is_jump(otherwise)):
            return self._jump(test, then, otherwise, span)
        number = next(self._numbers)
        out, no = ops.Break(f"out.{number}"), ops.Break(f"no.{number}")
        if not otherwise:
            inside = (*self._jump(test, (), (out,), span), *then)
        elif not then:
            inside = (*self._jump(test, (out,), (), span), *otherwise)
        else:
            inside = (ops.Block(no.label, (*self._jump(test, (), (no,), span), *then, out)), *otherwise)
        return (ops.Block(out.label, inside),)

    def _jump(self, test: ops.Value, yes: Body, no: Body, span: Span) -> Body:
        """Return the statements that jump by the result of a test; they continue behind them for an empty jump."""
        match test:
            case ops.Constant(number):
                return yes if number else no
            case ops.Binary("eq", opposite, ops.Constant(0, "i32")) if _has_parts(opposite):
                return self._jump(opposite, no, yes, span)
            case ops.Select(first, then, otherwise):
                return self._branch(first, self._jump(then, yes, no, span), self._jump(otherwise, yes, no, span), span)
            case ops.Within(body, answer, label) if label:
                end = (ops.Break(label),)

                def change(op: ops.Set) -> ops.Part:
                    return self._jump(op.value, yes or end, no or end, op.span) if op.var == answer else op

                return (ops.Block(label, rewritten(body, change, ops.Set)),)
            case ops.Within(before, value):
                return (*before, *self._jump(value, yes, no, span))
            case _:
                return (ops.If(test, yes, no, span=span),)


def _has_parts(test: ops.Value) -> bool:
    while isinstance(test, ops.Binary) and (test.operator, test.right) == ("eq", ops.Constant(0)):
        test = test.left
    return isinstance(test, (ops.Select, ops.Within))


def _is_jump(body: Body) -> bool:
    return not body or (len(body) == 1 and isinstance(body[0], ops.Break | ops.Fail))
