"""Failing values: explains false conditions by the values in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from interpreter.engine.values import Names
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.types import item_type
from interpreter.plain.closures import Env

__all__ = ["Because", "text_of"]


def text_of(node: core.Core) -> str:
    """Return the source of a condition on one line."""
    return node.span.on_one_line


class Because(Struct, frozen=True):
    """Explains conditions of a state. Values are not masked, so callers must check who reads them.

    ``compile`` turns an expression into a function. ``said`` returns the reasons of a verdict that a condition calls.
    """

    compile: Callable[[core.Expression], Callable[[State, Env], Value]]
    state: State
    names: Names
    said: Callable[[core.Expression, Env], Iterable[str]] = lambda node, env: ()

    def value(self, node: core.Expression, env: Env) -> Value:
        return self.compile(node)(self.state, env)

    def text(self, node: core.Expression, env: Env) -> str:
        """Format the value of an expression."""
        return self.names.text(self.value(node, env), node.type)

    def failing(self, node: core.Expression, env: Env) -> core.Expression:
        """Return the first part that makes a condition fail; its locals are set in ``env``."""
        match node:
            case core.Logic("and", left, right):
                return self.failing(right if self.value(left, env) else left, env)
            case core.Fold(test=test, operation="all") if test is not None:
                for _ in self._failing_item(node, test, env):
                    return self.failing(test, env)
        return node

    def why_not(self, node: core.Expression, env: Env) -> Iterator[str]:
        """Yield the values that make a condition fail."""
        match node:
            case core.Comparison(_, left, right):
                yield from self._values((left, right), env)
            case core.MemberOf(item, items, _):
                yield from self._values((item, items), env)
            case core.Logic("and", left, right):
                yield from self.why_not(right if self.value(left, env) else left, env)
            case core.Logic("or", left, right):
                yield from self.why_not(left, env)
                yield from self.why_not(right, env)
            case core.Negation(value):
                yield self.names.frame("because.holds", text=text_of(value))
            case core.Fold(test=test, operation="all") if test is not None and (of := item_type(node.items.type)):
                for item in self._failing_item(node, test, env):
                    yield self.names.frame("because.fails_for", item=self.names.text(item, of))
                    yield from self.why_not(test, env)
            case core.CallRule() | core.CallBase():
                yield from self.said(node, env)

    def _failing_item(self, loop: core.Fold, test: core.Expression, env: Env) -> Iterator[Value]:
        """Yield the first item of a loop that fails its test, if there is one, with its local set."""
        for item in self.value(loop.items, env):
            env[loop.variable] = item
            if not self.value(test, env):
                yield item
                return

    def _values(self, nodes: Iterable[core.Expression], env: Env) -> Iterator[str]:
        for node in nodes:
            if not isinstance(node, core.Const | core.MakeList):
                yield self.names.frame("because.is", text=text_of(node), value=self.text(node, env))
