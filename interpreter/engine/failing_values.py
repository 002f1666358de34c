"""Failing values: the values that make a condition false."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from interpreter.compiler.constants import Env
from interpreter.engine.values import Names
from interpreter.kernel.state import State, Value
from interpreter.language import core as c
from interpreter.language.types import item_type

__all__ = ["Because", "text_of"]


def text_of(node: c.Core) -> str:
    """Return the source of a condition on one line."""
    return " ".join(node.span.text.split())


def _nothing(node: c.Expression, env: Env) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Because:
    """Looks at conditions of a state. It tells values as they are: for who may see all that a condition speaks of.

    ``compile`` makes a function of an expression. ``said`` tells what another verdict says, where a condition is
    nothing but a call of it.
    """

    compile: Callable[[c.Expression], Callable[[State, Env], Value]]
    state: State
    names: Names
    said: Callable[[c.Expression, Env], Iterable[str]] = _nothing

    def value(self, node: c.Expression, env: Env) -> Value:
        return self.compile(node)(self.state, env)

    def text(self, node: c.Expression, env: Env) -> str:
        """The value of an expression, as it is named."""
        return self.names.text(self.value(node, env), node.type)

    def why_not(self, node: c.Expression, env: Env) -> Iterator[str]:
        """The values that make a condition fail."""
        match node:
            case c.Comparison(_, left, right):
                yield from self._values((left, right), env)
            case c.MemberOf(item, items, _):
                yield from self._values((item, items), env)
            case c.Logic("and", left, right):
                yield from self.why_not(right if self.value(left, env) else left, env)
            case c.Logic("or", left, right):
                yield from self.why_not(left, env)
                yield from self.why_not(right, env)
            case c.Negation(value):
                yield self.names.frame("because.holds", text=text_of(value))
            case c.Fold(variable, items, test, "all") if test is not None:
                yield from self._first_that_fails(variable, items, test, env)
            case c.CallRule() | c.CallBase():
                yield from self.said(node, env)
            case _:
                return

    def _first_that_fails(self, variable: int, items: c.Expression, test: c.Expression, env: Env) -> Iterator[str]:
        of = item_type(items.type)
        for item in self.value(items, env):
            env[variable] = item
            if of is not None and not self.value(test, env):
                yield self.names.frame("because.fails_for", item=self.names.text(item, of))
                yield from self.why_not(test, env)
                return

    def _values(self, nodes: Iterable[c.Expression], env: Env) -> Iterator[str]:
        for node in nodes:
            if not isinstance(node, c.Const | c.MakeList):
                yield self.names.frame("because.is", text=text_of(node), value=self.text(node, env))
