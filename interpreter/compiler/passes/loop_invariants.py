"""Loop invariants: what each pass of a loop works out anew, and is the same in all, is worked out before the loop.

That is done with what the first pass surely works out, if there is one: a test of the loop stands around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.rewrite import inner, parts, rewritten
from interpreter.compiler.passes.common_subexpressions import Known
from interpreter.compiler.passes.context import Context, Functions

__all__ = ["loop_invariants"]


def loop_invariants(functions: Functions, context: Context) -> Functions:
    """Functions whose loops look before they begin."""
    known = Known(functions, context)
    found = {}
    for name, function in functions.items():
        if any(isinstance(op, o.While) for op in inner(function.body)):
            function = replace(function, body=rewritten(function.body, _Hoister(known).changed))
        found[name] = function
    return found


class _Hoister:
    """Goes through the loops of one function, the inner ones first."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._count = 0

    def changed(self, op: Any) -> Any:
        if not isinstance(op, o.While) or any(isinstance(part, o.Call | o.Within) for part in inner(op.test)):
            return op
        change = self._known.changed(op)
        hoisted: dict[Any, o.Var] = {}
        for each in _surely(op.body):
            if not self._known.is_worth(each) or each in hoisted:
                continue
            if not self._known.depends(each).ends(change):
                self._count += 1
                hoisted[each] = o.Var(f"invariant.{self._count}", each.rep)
        if not hoisted:
            return op

        def hoist(each: Any) -> Any:
            return o.Get(hoisted[each]) if self._known.is_worth(each) and each in hoisted else each

        loop = replace(op, body=rewritten(op.body, hoist), step=rewritten(op.step, hoist))
        whole: tuple[o.Statement, ...] = (*(o.Set(var, each) for each, var in hoisted.items()), loop)
        return whole if isinstance(op.test, o.Constant) else o.If(op.test, whole, span=op.span)


def _surely(ops: Any) -> Iterator[Any]:
    """The ops that surely run, up to where control may go elsewhere."""
    for op, runs in _run(ops):
        if not runs:
            return
        yield op


def _run(op: Any) -> Iterator[tuple[Any, bool]]:
    """Ops in the order in which they run; one that is marked false is where it is not sure that more follows."""
    match op:
        case tuple():
            for each in op:
                yield from _run(each)
        case o.Select(test):
            yield from _run(test)
        case o.If(test):
            yield from _run(test)
            if any(
                isinstance(each, o.Break | o.Continue | o.Return | o.TailCall)
                for each in inner((op.then, op.otherwise))
            ):
                yield op, False
        case o.While() | o.Break() | o.Continue() | o.Return() | o.TailCall() | o.Fail():
            yield op, False
        case o.Block():
            yield from _run(op.body)
        case _:
            for part in parts(op):
                yield from _run(part)
            yield op, True
