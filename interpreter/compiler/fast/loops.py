"""Loops in expressions of the fast form, and whether something is among what a loop goes through.

What a loop does not change is worked out before it; a loop over a few known things is written out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from interpreter.compiler.fast.knowledge import MOST_UNROLLED
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.scope import Hoister, Scope, Unsupported
from interpreter.compiler.fast.terms import cheap, free_names, shown
from interpreter.language import core as c
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.fast.expressions import Expressions

__all__ = ["Loops"]

FEW_CARDS = 2
"""No more cards are looked for in a zone in place of going through it."""


class Loops:
    """Writes loops, for :class:`~interpreter.compiler.fast.expressions.Expressions`."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.emitter, self.quote, self.knowledge = expressions.emitter, expressions.quote, expressions.knowledge
        self.program, self.constants = expressions.program, expressions.constants

    def loop(self, node: c.Loop, scope: Scope) -> ast.expr:
        """What a loop gives."""
        q, x = self.quote, self.expressions
        match node.operation:
            case "filter" | "map":
                unrolled = self.unrolled(node, scope) if node.operation == "map" else None
                if unrolled is not None and not (node.value and self.emitter.sizes.is_large(node.value)):
                    return x.made(node, q.tuple(unrolled))
                found = self.listed(node, scope)
                if not (isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and found.func.id == "tuple"):
                    found = q.expression("tuple(_0)", found)
                return x.made(node, found) if node.operation == "map" else self._but_for_few(node, found, scope)
            case "count":
                unrolled = self.unrolled(node, scope)
                if unrolled is not None and node.test is None:
                    return q.constant(len(unrolled))
                return q.expression("len(_0)", self.listed(node, scope))
            case "any" | "all":
                return self._any_all(node, scope)
            case "first" | "last":
                return self._first_last(node, scope)
            case _:
                return self._ordered(node, scope)

    def listed(self, node: c.Loop, scope: Scope, *, kept: bool = True) -> ast.expr:
        x = self.expressions
        if node.operation == "map":
            assert node.value is not None
            value = node.value
            given = partial(x.kept, value, own=scope.leaky) if kept else partial(x.expression, value)
            return self.comprehension(node, scope, given, False)
        if node.test is None and not scope.leaky:
            return (
                x.items(node.items, scope)
                if node.operation == "count"
                else self.quote.expression("list(_0)", x.items(node.items, scope))
            )
        placed = self._by_position(node, scope)
        if placed is not None:
            return placed
        found = self.comprehension(node, scope, self._variable(node), False)
        if self._is_remembered(node, found, scope):
            return x.calls.outlined(node.operation, self.quote.expression("tuple(_0)", found))
        return found

    def _but_for_few(self, node: c.Loop, found: ast.expr, scope: Scope) -> ast.expr:
        """Cards of a zone that pass a test which only a card or two fail: all of them, where none of these is there."""
        fail = self.few_are_there(node, scope, passing=False)
        return (
            found
            if fail is None
            else self.quote.expression("_0 if _1 else _2", found, fail, self.expressions.items(node.items, scope))
        )

    def _by_position(self, node: c.Loop, scope: Scope) -> ast.expr | None:
        """Cards of a zone that are asked for by their places there: none of them is looked for."""
        x = self.expressions
        match node:
            case c.Loop(
                "filter",
                variable,
                c.Read(c.Cell(owner=None, group=group)) as items,
                c.Comparison(
                    (">" | ">=" | "<" | "<=") as sign,
                    c.Builtin("position", (c.Local(index), c.Read(c.Cell(owner=None, group=same)))),
                    least,
                ),
            ) if index == variable and group == same and items.type.form == "list" and not scope.leaky:
                limit = x.expression(least, scope)
                if not is_constant(limit):
                    return None
                place = self.quote.constant(max(0, value_of(limit) + (sign in (">", "<="))))
                return self.quote.expression(
                    "_0[_1:]" if sign in (">", ">=") else "_0[:_1]", x.items(items, scope), place
                )
            case _:
                return None

    def _is_remembered(self, node: c.Loop, found: ast.expr, scope: Scope) -> bool:
        """Whether a list is remembered by the locals that it is worked out of: if it needs no state, but long work for
        each item."""
        is_long = any(isinstance(each, c.Builtin) and each.name == "connected" for each in descendants(node.test))
        return is_long and not scope.loops and not scope.leaky and not free_names(found) & {"S", "M", "state"}

    def few_are_there(self, node: c.Loop, scope: Scope, *, passing: bool) -> ast.expr | None:
        """Whether a zone has a card that passes a loop's test, or fails it: it is looked for, if few cards do."""
        x = self.expressions
        if node.test is None or scope.leaky or not isinstance(node.items, c.Read) or node.items.type.form != "list":
            return None
        told = self.emitter.told_of_cards(node, node.test)
        if told is None:
            return None
        few = [card for card, passes in told.items() if passes == passing]
        items = x.items(node.items, scope)
        if len(few) > FEW_CARDS or not cheap(items):
            return None
        return x.any_of([self.quote.expression("_0 in _1", self.quote.constant(card), items) for card in few])

    def unrolled(self, node: c.Loop, scope: Scope) -> list[ast.expr] | None:
        """For each item of a short known list the value, or the test."""
        x = self.expressions
        if scope.leaky:
            return None
        items = self.known_items(node.items, scope)
        if items is None or (node.operation == "map" and node.test is not None):
            return None
        wanted = node.value if node.operation == "map" else node.test
        found = []
        for item in items:
            scope.names[node.variable] = self.quote.constant(item)
            found.append(x.expression(wanted, scope) if wanted is not None else self.quote.constant(True))
        del scope.names[node.variable]
        return found

    def known_items(self, node: c.Expression, scope: Scope) -> tuple[Any, ...] | None:
        """The items of a list that is known and short."""
        if not isinstance(node, c.Const | c.AllSeats | c.Local):
            return None
        items = self.expressions.expression(node, scope)
        if is_constant(items) and isinstance(value_of(items), tuple) and len(value_of(items)) <= MOST_UNROLLED:
            return value_of(items)  # type: ignore[no-any-return]
        return None

    # --- comprehensions

    def comprehension(
        self, node: c.Loop, scope: Scope, element: Callable[[Scope], ast.expr], generator: bool
    ) -> ast.expr:
        """``[element for x in items if test]``, with what the loop does not change before it."""
        x = self.expressions
        variable = scope.label(node.variable)
        if scope.leaky:
            return self._leaky(node, scope, element, generator)
        items = x.items(node.items, scope)
        hoister = Hoister({variable}, items)
        scope.loops.append(hoister)
        kept = scope.names.pop(node.variable, None)
        test = x.calls.row_of_test(node, scope)
        if test is None and node.test is not None:
            test = x.expression(node.test, scope)
        value = element(scope)
        if kept is not None:
            scope.names[node.variable] = kept
        scope.loops.pop()
        if test is not None and not generator and isinstance(value, ast.Name) and value.id == variable:
            short = self.emitter.shortlists.passing(variable, items, [test], dict(hoister.clauses))
            if short is not None:
                return self.quote.expression("tuple(_0)", short)
        clauses = [
            ast.comprehension(
                self.quote.store(name),
                self.quote.tuple([what]) if not is_constant(what) else self.quote.placed(ast.Tuple([what], ast.Load())),
                [],
                0,
            )
            for name, what in hoister.clauses
        ]
        tests = [] if test is None or (is_constant(test) and value_of(test)) else [test]
        clauses.append(ast.comprehension(self.quote.store(variable), items, tests, 0))
        made = ast.GeneratorExp(value, clauses) if generator else ast.ListComp(value, clauses)
        return self.quote.placed(made)  # type: ignore[no-any-return]

    def _leaky(self, node: c.Loop, scope: Scope, element: Callable[[Scope], ast.expr], generator: bool) -> ast.expr:
        """As ``comprehension``, and the variable stays as it was last."""
        x = self.expressions
        if scope.frozen:
            raise Unsupported("a loop over a loop whose variable is kept")
        scope.frozen = True
        items = x.items(node.items, scope)
        scope.frozen = False
        passing = x.fresh("each")
        variable = scope.label(node.variable)
        kept = self.quote.expression("(_0 := _1)", self.quote.name(variable), self.quote.name(passing))
        tests = [x.expression(node.test, scope)] if node.test is not None else []
        match tests:
            case [ast.Compare(ast.Name(asked)) as test] if asked == variable:
                test.left = kept
            case _:
                tests.insert(0, self.quote.placed(ast.List([kept], ast.Load())))
        clause = ast.comprehension(self.quote.store(passing), items, tests, 0)
        value = element(scope)
        made = ast.GeneratorExp(value, [clause]) if generator else ast.ListComp(value, [clause])
        return self.quote.placed(made)  # type: ignore[no-any-return]

    def _variable(self, node: c.Loop) -> Callable[[Scope], ast.expr]:
        return lambda scope: self.quote.name(scope.label(node.variable))

    # --- any and all, first and last

    def _any_all(self, node: c.Loop, scope: Scope) -> ast.expr:
        q, x = self.quote, self.expressions
        few = self.few_are_there(node, scope, passing=node.operation == "any")
        if few is not None:
            return few if node.operation == "any" else x.negated(few)
        unrolled = self.unrolled(node, scope)
        if node.operation == "any":
            if unrolled is not None:
                return x.any_of(unrolled)
            if node.test is None:
                return (
                    q.expression("len(_0) > 0", self.listed(node, scope))
                    if not scope.leaky
                    else self._any_true(node, scope)
                )
            return self._any_true(node, scope)
        if unrolled is not None:
            return self._all_of(unrolled)
        if node.test is None:
            if scope.leaky:
                return q.expression("all(_0)", self.comprehension(node, scope, lambda _: q.constant(True), True))
            return q.expression("(_0, True)[1]", x.items(node.items, scope))
        test = node.test
        bare = c.Loop("map", node.variable, node.items, None, (), None, type=node.type, span=node.span)
        return q.expression("all(_0)", self.comprehension(bare, scope, lambda inner: x.expression(test, inner), True))

    def _any_true(self, node: c.Loop, scope: Scope) -> ast.expr:
        true = self.comprehension(node, scope, lambda _: self.quote.constant(True), True)
        return self.quote.expression("any(_0)", true)

    def _all_of(self, tests: list[ast.expr]) -> ast.expr:
        if any(is_constant(test) and not value_of(test) for test in tests[:1]):
            return self.quote.constant(False)
        return self.expressions.all_of(tests)

    def _first_last(self, node: c.Loop, scope: Scope) -> ast.expr:
        q = self.quote
        if node.operation == "first":
            found = q.expression("next(_0, None)", self.comprehension(node, scope, self._variable(node), True))
        else:
            found = q.call("last_or_none", [self.comprehension(node, scope, self._variable(node), False)])
        return found if node.or_none else q.call("sure", [found])

    # --- in order

    def _ordered(self, node: c.Loop, scope: Scope) -> ast.expr:
        if scope.leaky and scope.frozen:
            raise Unsupported("a loop in what orders a loop whose variable is kept")
        q = self.quote
        items = self._ordered_items(node, scope)
        if not scope.leaky and self.knowledge.is_end(node, node.items):
            return self.end(node, items)
        ordered: dict[str, ast.expr] = {}
        key = self._key(node, scope)
        if key is not None:
            ordered["key"] = key
        if node.operation == "sorted":
            return q.expression("tuple(_0)", self.keyed("sorted", [items], ordered))
        function = "max" if node.operation == "max" else "min"
        if scope.leaky:
            return self._best_kept(node, scope, function, items, ordered)
        if node.or_none:
            ordered["default"] = q.constant(None)
        return self.keyed(function, [items], ordered)

    def _ordered_items(self, node: c.Loop, scope: Scope) -> ast.expr:
        if node.test is None and not scope.leaky:
            return self.expressions.items(node.items, scope)
        return self.comprehension(node, scope, self._variable(node), False)

    def _key(self, node: c.Loop, scope: Scope) -> ast.expr | None:
        if not node.keys:
            return None
        q = self.quote
        if len(node.keys) == 1:
            (only,) = node.keys
            if isinstance(only, c.Static) and isinstance(only.of, c.Local) and only.of.index == node.variable:
                values = list(self.constants.statics[only.attribute])  # a list's own method is quicker than a tuple's
                return q.name(self.emitter.bind(f"{only.attribute} of", values.__getitem__))
        variable = scope.label(node.variable)
        scope.loops.append(Hoister({variable}))
        frozen, scope.frozen = scope.frozen, True
        kept = scope.names.pop(node.variable, None)
        keys = [self.expressions.expression(key, scope) for key in node.keys]
        if kept is not None:
            scope.names[node.variable] = kept
        scope.frozen = frozen
        scope.loops.pop()
        body = keys[0] if len(keys) == 1 else q.tuple(keys)
        arguments = ast.arguments([], [q.placed(ast.arg(variable, None))], None, [], [], None, [])
        return q.placed(ast.Lambda(arguments, body))  # type: ignore[no-any-return]

    def keyed(self, function: str, arguments: list[ast.expr], named: dict[str, ast.expr]) -> ast.expr:
        keywords = [self.quote.placed(ast.keyword(name, value)) for name, value in named.items()]
        return self.quote.placed(ast.Call(self.quote.name(function), arguments, keywords))  # type: ignore[no-any-return]

    def _best_kept(
        self, node: c.Loop, scope: Scope, function: str, items: ast.expr, ordered: dict[str, ast.expr]
    ) -> ast.expr:
        """The variable stays what was found, or, where that is nothing, what was looked at last."""
        q = self.quote
        variable, found = q.name(scope.label(node.variable)), q.name(self.expressions.fresh("found"))
        if not node.or_none:
            return q.expression("(_0 := _1)", variable, self.keyed(function, [items], ordered))
        best = q.expression("(_0 := _1)", variable, self.keyed(function, [found], ordered))
        return q.expression("_0 if (_1 := _2) else None", best, found, items)

    def end(self, node: c.Loop, items: ast.expr) -> ast.expr:
        """The least or the most of items that are in that order."""
        q, is_least = self.quote, node.operation == "min"
        if node.or_none and not cheap(items):
            return q.call("first_or_none" if is_least else "last_or_none", [items])
        return q.expression("_0[_1] if _0 else None" if node.or_none else "_0[_1]", items, q.constant(-(not is_least)))

    def end_number(self, node: c.Expression, default: object, scope: Scope) -> ast.expr | None:
        """The least or the most that an attribute of items is which are in that order, if that is so."""
        x = self.expressions
        match node:
            case c.Builtin(name, (c.Loop(items=listed, value=c.Static(attribute)),), or_none) if (
                not scope.leaky and self.knowledge.is_end_number(node)
            ):
                q, items = self.quote, x.items(listed, scope)
                if cheap(items):
                    found = x.static(attribute, q.expression("_0[_1]", items, q.constant(-(name[:3] == "max"))))
                    return q.expression("_0 if _1 else _2", found, items, q.constant(default)) if or_none else found
            case _:
                pass
        return None

    # --- membership

    def member(
        self, node: c.MemberOf, item: c.Expression, items: c.Expression, negated: bool, scope: Scope
    ) -> ast.expr:
        q, x = self.quote, self.expressions
        one = x.expression(item, scope)
        passes = self._passes(one, items, scope)
        if passes is not None:
            return x.negated(passes) if negated else passes
        if isinstance(items, c.RangeFrom):
            first, last = x.expression(items.first, scope), x.expression(items.last, scope)
            template = "_0 not in numbers(_1, _2)" if negated else "_0 in numbers(_1, _2)"
            return q.expression(template, one, first, last)
        whole = x.items(items, scope)
        if shown(whole) in self._gone_through(one, scope):
            return q.constant(not negated)
        hoisted = self._as_set(whole, scope)
        return q.expression("_0 not in _1" if negated else "_0 in _1", one, hoisted)

    def _passes(self, one: ast.expr, items: c.Expression, scope: Scope) -> ast.expr | None:
        """Whether what a loop goes through is among those of the same things that pass a test: the row of the test
        tells."""
        x = self.expressions
        gone_through = self._gone_through(one, scope)
        if not gone_through or not isinstance(items, c.CallRule | c.CallBase) or scope.frozen:
            return None
        layer = self.program.reach.procedures[self.program.target(items)]
        body = layer.body
        if not isinstance(body, c.Loop) or body.operation != "filter" or layer.form != "is" or layer.when is not None:
            return None
        given = {index: x.expression(argument, scope) for index, argument in enumerate(items.arguments)}
        inner = Scope(layer.local_names, names=given, lifted=scope.lifted, loops=scope.loops)
        if shown(x.items(body.items, inner)) not in gone_through:
            return None
        inner.names[body.variable] = one
        return x.calls.row_of_test(body, inner)

    def _gone_through(self, one: ast.expr, scope: Scope) -> set[str]:
        """What the loop goes through of which this is the item."""
        if not isinstance(one, ast.Name):
            return set()
        return {shown(each.items) for each in scope.loops if one.id in each.variables and each.items}

    def _as_set(self, whole: ast.expr, scope: Scope) -> ast.expr:
        """A list that was worked out before a loop is looked up as a set in it."""
        x = self.expressions
        if not isinstance(whole, ast.Name):
            return whole
        if any(whole.id == name for loop in scope.loops for name, _ in loop.clauses):
            wanted = self.quote.expression("frozenset(_0)", whole)
            return x.hoisted(x.calls.remembered("set", wanted, scope) or wanted, scope)
        return whole
