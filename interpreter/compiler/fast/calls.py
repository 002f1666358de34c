"""Calls of rules in the fast form: a constant, the rule's body in place, a place of a row, or a call of a function.

Also parts of expressions that become functions of their own, so that what they give is remembered.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interpreter.base.source import Span
from interpreter.compiler.constants import RuleFailure
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.scope import Scope, Unsupported
from interpreter.compiler.fast.terms import CALLED, CellsAsNames, cheap, free_names, harmless, in_place, rename
from interpreter.compiler.fast.trees import copied
from interpreter.language import core as c
from interpreter.language.model import RuleLayer
from interpreter.language.types import Type
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.fast.expressions import Expressions

__all__ = ["Calls", "RowOf"]


@dataclass(frozen=True, slots=True)
class RowOf:
    """An expression and the local for each value of which it is kept; ``others`` are the locals that it has beside."""

    label: str
    tree: c.Expression
    variable: int
    type: Type | None
    others: tuple[int, ...]
    labels: tuple[str, ...]
    span: Span
    total: bool = True


class Calls:
    """Writes calls of rules, for :class:`~interpreter.compiler.fast.expressions.Expressions`."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.emitter, self.quote, self.knowledge = expressions.emitter, expressions.quote, expressions.knowledge
        self.program = expressions.program

    def call(self, node: c.CallRule | c.CallBase, scope: Scope, items: bool = False) -> ast.expr:
        """What a call gives. ``items``: it is only looked through, so it need not be a tuple."""
        x = self.expressions
        target = self.program.target(node)
        layer = self.program.reach.procedures[target]
        if layer.form == "does":
            arguments = [x.kept(argument, scope) for argument in node.arguments]
            return self.quote.call(self.emitter.functions.procedure(target), [self.quote.name("state"), *arguments])
        if node.type.is_holder:
            cell = self.knowledge.cell_of(node)
            if isinstance(cell, c.Cell):
                return x.address(cell, scope)
        match self.program.answer(node), node.arguments:
            case c.Loop(_, _, c.Local(0), None) as loop, (given,) if self.knowledge.is_end(loop, given):
                return x.loops.end(loop, x.items(given, scope))
            case _:
                pass
        arguments = [x.expression(argument, scope) for argument in node.arguments]
        row = self._row_of(target, layer, arguments, scope)
        if row is not None:
            return row
        sure = [self.knowledge.is_total(argument) for argument in node.arguments]
        self.quote.at(node.span)
        return self.call_with(target, arguments, sure, scope, items)

    def call_with(
        self, target: str, arguments: list[ast.expr], sure: list[bool], scope: Scope, items: bool = False
    ) -> ast.expr:
        """A call of a function with arguments already written. ``sure``: those that cannot fail."""
        x = self.expressions
        facts = self.knowledge.facts(target)
        if facts.lifted == () and all(is_constant(argument) for argument in arguments):
            found = self._known(target, tuple(value_of(argument) for argument in arguments))
            if found is not None:
                return found
        if facts.inline and all(
            harmless(argument) or (safe and (cheap(argument) or uses <= 1))
            for argument, safe, uses in zip(arguments, sure, facts.uses, strict=True)
        ):
            return self._inlined(target, arguments, scope, items)
        if facts.lifted is not None:
            name, kept = self.emitter.functions.value_function(target, items)
            cells = [  # passes change nodes in place: each use of an argument has nodes of its own
                x.read_of(group, copied(arguments[index]) if index is not None else None, scope)
                for group, index in facts.lifted
            ]
            call = self.quote.call(name, [*cells, *(arguments[index] for index in kept)])
            for index, argument in enumerate(arguments):
                if index not in kept and not sure[index] and not harmless(argument):
                    call = self.quote.expression("(_0, _1)[1]", argument, call)
            return x.hoisted(call, scope) if facts.total else call
        if scope.lifted is not None:
            raise Unsupported(target)
        name = self.emitter.functions.state_function(target, items)
        call = self.quote.call(name, [self.quote.name("S"), self.quote.name("M"), *arguments])
        return x.hoisted(call, scope) if facts.total else call

    def _known(self, target: str, values: tuple[Any, ...]) -> ast.expr | None:
        """What a function that reads no state gives; nothing where it fails."""
        try:
            found = self.emitter.evaluated(target, values)
        except RuleFailure:
            return None
        return self.quote.constant(found)

    def _inlined(self, target: str, arguments: list[ast.expr], scope: Scope, items: bool) -> ast.expr:
        """The body of a function in place of a call, and those of the layers below it where its own does not apply."""
        x = self.expressions
        layer = self.program.reach.procedures[target]
        inner = Scope(
            layer.local_names,
            prefix=f"{x.fresh(layer.rule)}_",
            names=dict(enumerate(arguments)),
            lifted=scope.lifted,
            loops=scope.loops,
            frozen=scope.frozen,
        )
        below = self.knowledge.below(layer)
        body = self._body(target, inner, items)
        if below is None or layer.when is None:
            return body
        holds = x.expression(layer.when, inner)
        if is_constant(holds) and value_of(holds):
            return body
        other = self.call_with(below, arguments, [True] * len(arguments), inner, items)
        if is_constant(holds):
            return other
        return self.quote.expression("_0 if _1 else _2", body, holds, other)

    def _body(self, target: str, scope: Scope, items: bool) -> ast.expr:
        """The body of a function or verdict that is one expression."""
        x = self.expressions
        layer = self.program.reach.procedures[target]
        if layer.form != "permits":
            assert not isinstance(layer.body, tuple)
            return x.items(layer.body, scope) if items else x.expression(layer.body, scope)
        tests = [x.expression(line.test, scope) for line in layer.body if isinstance(line, c.Requirement)]  # type: ignore[union-attr]
        return x.all_of(tests)

    # --- rows

    def _row_of(self, target: str, layer: RuleLayer, arguments: list[ast.expr], scope: Scope) -> ast.expr | None:
        """A call with one argument that a loop goes through: all its values are kept in a row.

        Where it may fail for some of them, the row has none there, which is not looked for where it fails by itself.
        """
        if isinstance(layer.body, tuple) or layer.when is not None or scope.lifted is not None or scope.frozen:
            return None
        facts = self.knowledge.facts(target)
        if not arguments or facts.lifted is not None or not all(harmless(argument) for argument in arguments):
            return None
        through = [i for i, argument in enumerate(arguments) if self._is_loop_variable(argument, scope)]
        used = [i for i, uses in enumerate(facts.uses) if uses]
        if len(through) > 1 or not (facts.total or (through and layer.body.type.form == "int")):
            return None
        if not through and len(used) != 1:
            return None
        index = through[0] if through else used[0]
        others = tuple(i for i in used if i != index)
        given = [arguments[i] for i in others]
        if not all(isinstance(each, ast.Name | ast.Constant) for each in given):
            return None
        type_ = layer.parameters[index][1]
        of = RowOf(layer.rule, layer.body, index, type_, others, layer.local_names, layer.span, facts.total)
        row = self.emitter.functions.row(of)
        if row is None:
            return None
        state = [self.quote.name("S"), self.quote.name("M")]
        if not through:
            return self.quote.expression("_0[_1]", self.quote.call(row, [*state, *given]), arguments[index])
        found = self.quote.expression(
            "_0[_1]", self.expressions.hoisted(self.quote.call(row, [*state, *given]), scope), arguments[index]
        )
        return found if facts.total else self.quote.call("sure", [found])

    def _is_loop_variable(self, node: ast.expr, scope: Scope) -> bool:
        return isinstance(node, ast.Name) and any(node.id in loop.variables for loop in scope.loops)

    def row_of_test(self, node: c.Loop, scope: Scope) -> ast.expr | None:
        """The test of a loop, where it looks through something itself: its values are kept in a row."""
        x = self.expressions
        test = node.test
        if test is None or scope.lifted is not None or scope.frozen or not self.knowledge.is_total(test):
            return None
        if not any(isinstance(each, c.Loop) for each in descendants(test)) or node.items.type.of is None:
            return None
        bound = {each.variable for each in descendants(test) if isinstance(each, c.Loop)} | {node.variable}
        outer = sorted({each.index for each in descendants(test) if isinstance(each, c.Local)} - bound)
        others = [x.local(scope, index) for index in outer]
        if not all(isinstance(other, ast.Name | ast.Constant) for other in others):
            return None
        of = RowOf("test", test, node.variable, node.items.type.of, tuple(outer), scope.labels, test.span)
        row = self.emitter.functions.row(of)
        if row is None:
            return None
        call = self.quote.call(row, [self.quote.name("S"), self.quote.name("M"), *others])
        return self.quote.expression("_0[_1]", x.hoisted(call, scope), x.local(scope, node.variable))

    # --- parts of expressions as functions

    def remembered(self, label: str, node: ast.expr, scope: Scope) -> ast.expr | None:
        """A call of a function that remembers what is worked out of an answer that is remembered itself."""
        known = {name: value for loop in scope.loops for name, value in loop.clauses}
        node = in_place(node, known)
        used = free_names(node)
        names = sorted(used - CALLED - {"S", "M"})
        if used & {"state", "L"} or not {"S", "M"} <= used or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
            return None
        given = [f"A_{number}" for number in range(len(names))]
        rename(node, dict(zip(names, given, strict=True)))
        name = self.emitter.functions.remembered(label, given, node)
        if name is None:
            return None
        return self.quote.call(name, [self.quote.name("S"), self.quote.name("M"), *map(self.quote.name, names)])

    def outlined(self, label: str, node: ast.expr) -> ast.expr:
        """A call of a function of the cells and locals that an expression reads: what it gives is remembered."""
        cells = CellsAsNames()
        body = cells.visit(copy.deepcopy(node))
        used = free_names(body)
        if used & {"S", "M", "state"}:
            return node
        names = sorted(used - CALLED - set(cells.names.values()))
        given = [f"A_{number}" for number in range(len(names))]
        rename(body, dict(zip(names, given, strict=True)))
        name = self.emitter.functions.outlined(label, [*cells.names.values(), *given], body)
        return self.quote.call(name, [*cells.reads, *(self.quote.name(each) for each in names)])
