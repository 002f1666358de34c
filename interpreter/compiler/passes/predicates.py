"""Inline predicates: a test that is an inlined function jumps where its answer leads, without the answer in between.

``if f(x)``, where ``f`` gives one truth wherever it returns early and a value at its end, has become a block that sets
a variable, and a test of that. The block is opened: what leaves it early leaves the branch, which stands at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, pairwise
from typing import Any

from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.rewrite import inner, rewritten, sequences
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["inline_predicates"]


def inline_predicates(functions: Functions, context: Context) -> Functions:
    """Functions in which tests of inlined functions are jumps."""
    found = {}
    for name, function in functions.items():
        numbers = count(1)

        def change(op: Any, numbers: Iterator[int] = numbers) -> Any:
            return _opened(op, numbers) if isinstance(op, o.If) else op

        found[name] = replace(function, body=rewritten(function.body, change))
    return found


def _opened(branch: o.If, numbers: Iterator[int]) -> Any:
    """The branch, or the statements that it becomes."""
    test, then, otherwise = branch.test, branch.then, branch.otherwise
    while isinstance(test, o.Not):
        test, then, otherwise = test.value, otherwise, then
    match test:
        case o.Within((*before, o.Block(label, (*body, o.Set(last_var, last), o.Break(leaves)))), o.Get(answer)) if (
            last_var == answer and leaves == label
        ):
            early = _early(tuple(body), answer, label)
        case _:
            return branch
    if early is None:
        return branch
    holds = last
    if early:
        then, otherwise, holds = otherwise, then, o.Not(last)
    gone = f"{label}.gone{next(numbers)}"

    def change(op: Any) -> Any:
        match op:
            case o.Set(var) if var == answer:
                return ()
            case o.Break(name) if name == label:
                return o.Break(gone)
            case _:
                return op

    opened: tuple[o.Statement, ...] = rewritten(tuple(body), change)
    if not (isinstance(last, o.Constant) and bool(last.value) != bool(early)):
        opened = (*opened, o.If(o.Not(holds), (o.Break(gone),), span=branch.span))
    if not otherwise:
        return (*before, o.Block(gone, (*opened, *then), span=branch.span))
    over = f"{label}.over{next(numbers)}"
    first = o.Block(gone, (*opened, *then, o.Break(over)), span=branch.span)
    return (*before, o.Block(over, (first, *otherwise), span=branch.span))


def _early(body: tuple[o.Statement, ...], answer: o.Var, label: str) -> int | None:
    """The constant that is the answer wherever a body is left early; none where it is not always the same, or not set
    just then."""
    found: set[int] = set()
    sets = leaves = pairs = 0
    for op in inner(body):
        match op:
            case o.Set(var, value) if var == answer:
                if not isinstance(value, o.Constant):
                    return None
                found.add(value.value)
                sets += 1
            case o.Get(var) if var == answer:
                return None
            case o.Break(name) if name == label:
                leaves += 1
    for statements in sequences(body):
        for one, two in pairwise(statements):
            pairs += isinstance(one, o.Set) and one.var == answer and two == o.Break(label)
    return found.pop() if sets == leaves == pairs and len(found) == 1 else None
