"""Inlining of small functions, and of functions that are called in one place.

A call becomes :class:`~interpreter.compiler.ir.ops.Within`: variables for the parameters are set, the statements run,
and the value follows. An argument that is a constant or a variable replaces its parameter, unless the parameter is set.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from interpreter.compiler.ir import ops
from interpreter.compiler.ir.rewrite import inner, rewritten
from interpreter.compiler.passes.context import Context, Functions

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


class _Inliner:
    def __init__(self, functions: Functions, context: Context) -> None:
        self._functions, self._roots = functions, context.roots
        self._result: dict[str, ops.Function] = {}
        self._sizes: dict[str, int] = {}
        self._open: set[str] = set()
        self._calls = Counter(called for function in functions.values() for called in _calls(function.body))

    def done(self) -> Functions:
        for name in self._functions:
            self._visit(name)
        reached: set[str] = set()
        stack = [name for name in self._roots if name in self._result]
        while stack:
            name = stack.pop()
            if name not in reached:
                reached.add(name)
                stack.extend(called for called in _calls(self._result[name].body) if called in self._result)
        return {name: self._result[name] for name in self._functions if name in reached}

    def _visit(self, name: str) -> None:
        if name in self._result or name in self._open:
            return
        self._open.add(name)
        function = self._functions[name]
        for called in _calls(function.body):
            if called in self._functions:
                self._visit(called)
        self._count, self._size = 0, sum(1 for _ in inner(function.body))
        body = rewritten(function.body, self._change)
        self._result[name] = replace(function, body=body)
        self._sizes[name] = sum(1 for _ in inner(body))
        self._open.discard(name)

    def _taken(self, name: str) -> ops.Function | None:
        """Return the function if a call of it is to be inlined, else None."""
        function = self._result.get(name)
        if function is None or function.rare:
            return None
        size = self._sizes[name]
        if (size > SMALL and not (self._calls[name] == 1 and size <= ONCE)) or self._size + size > LARGE:
            return None
        self._size += size
        return function

    def _change(self, op: Any) -> Any:
        match op:
            case ops.Call(name, arguments):
                function = self._taken(name)
                if function is not None and function.result is not None:
                    return self._value(function, arguments)
            case ops.Do(ops.Call(name, arguments)):
                function = self._taken(name)
                if function is not None and function.result is None:
                    body, _ = self._inlined(function, arguments)
                    return body
            case ops.Do(ops.Within(body, value), True):
                return (*body, ops.Do(value, True))
            case _:
                return op
        return op

    def _value(self, function: ops.Function, arguments: tuple[ops.Value, ...]) -> ops.Value:
        body, value = self._inlined(function, arguments)
        assert value is not None
        return ops.Within(body, value) if body else value

    def _inlined(
        self, function: ops.Function, arguments: tuple[ops.Value, ...]
    ) -> tuple[tuple[ops.Statement, ...], ops.Value | None]:
        """Return the statements that replace a call, and its value."""
        self._count += 1
        end = f".{self._count}"
        is_set = {op.var for op in inner(function.body) if isinstance(op, ops.Set)}
        known: dict[ops.Var, ops.Value] = {}
        statements: list[ops.Statement] = []
        for var, argument in zip(function.parameters, arguments, strict=True):
            if var not in is_set and isinstance(argument, ops.Constant | ops.Data | ops.Get):
                known[var] = argument
                continue
            new = ops.Var(_unlike(function.name, var.name, end), var.rep)
            known[var] = ops.Get(new)
            statements.append(ops.Set(new, argument))
        body = function.body
        returns = sum(isinstance(op, ops.Return) for op in inner(body))
        bare = returns == 0 and function.result is None  # a function with a result but no return always traps
        if bare or (returns == 1 and isinstance(body[-1], ops.Return)):
            renamed = self._renamed(function, body, known, end, None, "")
            if returns:
                last = renamed[-1]
                assert isinstance(last, ops.Return)
                return (*statements, *renamed[:-1]), last.value
            return (*statements, *renamed), None
        label = _unlike(function.name, "end", end)
        answer = ops.Var(_unlike(function.name, "answer", end), function.result) if function.result else None
        renamed = self._renamed(function, body, known, end, answer, label)
        return (*statements, ops.Block(label, renamed)), ops.Get(answer) if answer is not None else None

    def _renamed(
        self,
        function: ops.Function,
        body: tuple[ops.Statement, ...],
        known: dict[ops.Var, ops.Value],
        end: str,
        answer: ops.Var | None,
        label: str,
    ) -> tuple[ops.Statement, ...]:
        name = function.name

        def change(op: Any) -> Any:
            match op:
                case ops.Get(var):
                    return known.get(var) or ops.Get(ops.Var(_unlike(name, var.name, end), var.rep))
                case ops.Set(var, value):
                    replacement = known.get(var)
                    new = (
                        replacement.var
                        if isinstance(replacement, ops.Get)
                        else ops.Var(_unlike(name, var.name, end), var.rep)
                    )
                    return replace(op, var=new)
                case ops.Block() | ops.While() | ops.Break():
                    return replace(op, label=_unlike(name, op.label, end))
                case ops.Return(value) if label:
                    return (
                        *((ops.Set(answer, value),) if answer is not None and value is not None else ()),
                        ops.Break(label),
                    )
                case _:
                    return op

        result: tuple[ops.Statement, ...] = rewritten(body, change)
        return result


def _unlike(function: str, name: str, end: str) -> str:
    """Return a name that is unique in the caller: names of built variables never begin like this."""
    return f"{function}.{name}{end}"


def _calls(body: Any) -> list[str]:
    return [op.function for op in inner(body) if isinstance(op, ops.Call | ops.TailCall)]
