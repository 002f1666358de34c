"""Inlining of small functions, and of functions that are called in one place.

A call becomes :class:`~interpreter.compiler.ir.ops.Within`: variables for the parameters are set, the statements run,
and the value follows. An argument that is a constant or a variable replaces its parameter, unless the parameter is set.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.lazy import Lazy
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.call_order import callees_first
from interpreter.compiler.passes.context import Context, Functions
from interpreter.language.walk import rewritten

__all__ = ["inline"]

SMALL = 500
"""Maximum size of a small function, in ops."""
ONCE = 2_000
"""Maximum size of a function that is inlined because it is called in one place."""
LARGE = 10_000
"""Size up to which other functions are inlined into a function."""


def inline(functions: Functions, context: Context) -> Functions:
    """Return functions with calls inlined; functions that are no longer called are dropped."""
    return _Inliner(functions, context).done()


class _Callee(Struct, frozen=True):
    """A function after inlining: its size in ops, how many of them return, and the variables that it sets."""

    function: ops.Function
    size: int
    returns: int
    assigned: frozenset[ops.Var | ops.Global]


class _Inliner:
    def __init__(self, functions: Functions, context: Context) -> None:
        self._functions, self._roots = functions, context.roots
        self._result: dict[str, ops.Function] = {}
        self._callees: dict[str, _Callee] = {}
        self._left: dict[str, set[str]] = {}
        """The functions that each one still calls."""
        self._calls = Counter(name for function in functions.values() for name in function.called)

    def done(self) -> Functions:
        for name in callees_first(self._functions):
            function = self._functions[name]
            self._count, self._size = 0, len(function.ops)
            self._called = self._left[name] = set[str]()
            self._result[name] = done = function.rewritten(self._change, ops.Call, ops.Do)
            if self._calls[name]:
                returns = list(map(type, done.ops)).count(ops.Return)
                assigned = frozenset([op.var for op in done.ops if type(op) is ops.Set])
                self._callees[name] = _Callee(done, len(done.ops), returns, assigned)
        reached, found = set[str](), set(self._roots)
        while found:
            reached |= found
            found = {called for name in found for called in self._left.get(name, ())} - reached
        return {name: self._result[name] for name in self._functions if name in reached}

    def _taken(self, name: str) -> _Callee | None:
        callee = self._callees.get(name)
        most = ONCE if self._calls[name] == 1 else SMALL
        if callee is None or callee.function.rare or callee.size > most or self._size + callee.size > LARGE:
            self._called.add(name)
            return None
        self._called |= self._left[name]
        self._size += callee.size
        return callee

    def _change(self, op: ops.Op) -> ops.Part:
        match op:
            case ops.Call(name, arguments):
                callee = self._taken(name)
                if callee is not None and callee.function.result is not None:
                    within = self._inlined(callee, arguments)
                    return within if within.body else within.value
            case ops.Do(ops.Call(name, arguments)):
                callee = self._taken(name)
                if callee is not None and callee.function.result is None:
                    return self._inlined(callee, arguments).statements
        return op

    def _inlined(self, callee: _Callee, arguments: tuple[ops.Value, ...]) -> ops.Within:
        """Return what replaces a call; without a result, its value means nothing."""
        self._count += 1
        number, function = self._count, callee.function
        body = function.body
        if callee.returns:
            is_straight = callee.returns == 1 and isinstance(body[-1], ops.Return)
        else:  # a function with a result but no return always traps
            is_straight = function.result is None

        def unlike(name: str) -> str:
            """Return a name that is unique in the caller: names of built variables never begin like this."""
            return f"{function.name}.{name}.{number}"

        renamed = Lazy[ops.Var, ops.Var](lambda var: ops.Var(unlike(var.name), var.rep))
        given: dict[ops.Var, ops.Value] = {}
        statements: list[ops.Statement] = []
        for var, argument in zip(function.parameters, arguments, strict=True):
            if var not in callee.assigned and isinstance(argument, ops.Constant | ops.Var):
                given[var] = argument
            else:
                statements.append(ops.Set(renamed[var], argument))
        label, answer = unlike("end"), ops.Var(unlike("answer"), function.result or "i32")

        def change(op: ops.Op) -> ops.Part:
            match op:
                case ops.Var():
                    return given.get(op) or renamed[op]
                case ops.Set(ops.Var() as var):
                    return replace(op, var=renamed[var])
                case ops.Block() | ops.While() | ops.Break() | ops.Within() if op.label:
                    return replace(op, label=unlike(op.label))
                case ops.Return(value) if not is_straight:
                    return (ops.Set(answer, value), ops.Break(label)) if value is not None else ops.Break(label)
                case _:
                    return op

        replaced = (*statements, *rewritten(body, change))
        if not is_straight:
            return ops.Within(replaced, answer, label)
        match replaced:
            case (*before, ops.Return(ops.Operand() as value)):
                return ops.Within(tuple(before), value)
            case (*before, ops.Return()):
                return ops.Within(tuple(before), answer)
            case _:
                return ops.Within(replaced, answer)
