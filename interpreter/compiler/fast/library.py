"""What may be put in place of a call in finished functions, and where it is worth it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.trees import copied, stored_in, takes_state

__all__ = ["LEAVE", "SHARED", "Library", "over"]

LEAVE = "leave"
"""What a stretch calls that goes back to its caller: ``leave(state, up, value)``; or, where only one place calls it,
``leave(state, up, value, stretch, into)``: what goes on there, and which of its locals gets the value (-1: none)."""

MOST_OF_ONE = 600
"""A function with more nodes is called."""
MOST_OF_SEVERAL = 160
"""A function with more nodes is called, if it is called from several places."""
MOST_OF_MANY = 90
"""A function with more nodes is called, if it is called from more than :data:`SEVERAL` places."""
SEVERAL = 4

SHARED = frozenset({"state", "S", "L", "M"})
"""Names that are the same in all functions."""


def over(phase: int) -> int:
    """The end of a phase, in the place of a stretch."""
    return -1 - phase


@dataclass
class Library:
    """What may be put in place: functions by name; of stretches what their functions are called and how many locals
    they have, and which others go on there with what a call gave."""

    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    stretches: dict[int, tuple[str, int]] = field(default_factory=dict)
    backs: dict[int, str] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _straight: dict[str, bool] = field(default_factory=dict)
    _locals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _calls: Counter[str] = field(default_factory=Counter)

    def add(self, functions: list[ast.stmt]) -> None:
        """Copies are kept: what is handed in may be changed afterwards."""
        for function in functions:
            if isinstance(function, ast.FunctionDef) and not function.decorator_list and takes_state(function):
                self.functions[function.name] = copied(function)
                for node in walk(function):
                    match node:
                        case ast.Call(ast.Name(name), [_, _, _, ast.Constant(int(stretch)), _]) if name == LEAVE:
                            self._calls[self.stretches[stretch][0]] += 1
                        case ast.Call(ast.Name(name)):
                            self._calls[name] += 1

    def size(self, name: str) -> int:
        if name not in self._sizes:
            self._sizes[name] = sum(1 for _ in walk(self.functions[name]))
        return self._sizes[name]

    def is_worth_it(self, name: str, given: Sequence[ast.expr]) -> bool:
        """Whether a function may stand in place: it is short, there is hardly another place for it, or most of it goes
        by what it is given."""
        calls = self._calls[name]
        if calls <= SEVERAL and any(self._is_told_apart(name, at) for at in _constants(given)):
            return self.size(name) <= MOST_OF_ONE
        most = MOST_OF_ONE if calls == 1 else MOST_OF_SEVERAL if calls <= SEVERAL else MOST_OF_MANY
        return self.size(name) <= most

    def _is_told_apart(self, name: str, place: int) -> bool:
        """Whether a function has several cases by one of its parameters."""
        function = self.functions[name]
        parameter = function.args.args[place].arg
        cases = 0
        for node in walk(function):
            match node:
                case ast.If(ast.Compare(ast.Name(asked), [ast.Eq()], [ast.Constant()])) if asked == parameter:
                    cases += 1
        return cases > 1

    def locals(self, name: str) -> tuple[str, ...]:
        """The names that belong to a function."""
        if name not in self._locals:
            function = self.functions[name]
            own = {parameter.arg for parameter in function.args.args} | stored_in(function)
            self._locals[name] = tuple(sorted(own - SHARED))
        return self._locals[name]

    def is_straight(self, name: str) -> bool:
        """Whether a function is done when its last statement is, and gives nothing."""
        if name not in self._straight:
            *first, last = self.functions[name].body
            inner = [node for each in first for node in walk(each)]
            if not isinstance(last, ast.Return):
                inner.extend(walk(last))
            leaves = any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Try) for node in inner)
            gives = isinstance(last, ast.Return) and not (last.value is None or _is_none(last.value))
            self._straight[name] = not leaves and not gives
        return self._straight[name]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _constants(given: Sequence[ast.expr]) -> list[int]:
    return [place for place, each in enumerate(given) if isinstance(each, ast.Constant)]
