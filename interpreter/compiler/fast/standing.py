"""Standing rules of the fast form: a function that finds the first match of each."""

from __future__ import annotations

import ast

from interpreter.compiler.fast.expressions import Hoister, Scope, Unsupported
from interpreter.compiler.fast.reads import cells_read, gathered
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.writer import Writer
from interpreter.language import core as c
from interpreter.language.model import StandingRule

__all__ = ["Standing"]


class Standing(Writer):
    """Writes what a machine asks before it settles."""

    def write(self) -> None:
        q, x = self.quote, self.expressions
        for number, rule in enumerate(self.constants.model.standing.values()):
            name = self.emitter.named("W", rule.name)
            try:
                with self.emitter.write(rule.span, "W", "") as writing:
                    layer = self.program.reach.procedures[rule.procedure]
                    scope = Scope(layer.local_names)
                    body = self._seen_matches(rule, scope) or self._matches(rule.binders, 0, rule.test, scope)
                    function = q.function(name, ["state"], [*body, *q.statements("return None")])
                    writing.add(gathered(function, q))
            except Unsupported:
                with self.emitter.write(rule.span, "W", "") as writing:
                    body = q.statements("return plain_match(_0, state)", q.constant(number))
                    writing.add(q.function(name, ["state"], body))
            self.emitter.done.standing.append(name)
        _ = x

    def _seen_matches(self, rule: StandingRule, scope: Scope) -> Block | None:
        """A rule about each of a few things: no thing is looked at again while the cells that decide are the same."""
        if len(rule.binders) != 1 or rule.test is None:
            return None
        ((index, items),) = rule.binders
        q, number = self.quote, len(self.emitter.cached)
        found = q.statements("seen = M[_0]", q.constant(number))
        for item in self.expressions.short(items, scope) or ():
            scope.names[index] = q.constant(item)
            test = self.expressions.expression(rule.test, scope)
            cells = cells_read(test)
            if not cells:
                del scope.names[index]
                return None
            same = [q.expression("seen.get(_0) is not S[_0]", q.constant(cell)) for cell in cells]
            known: Block = [each for cell in cells for each in q.statements("seen[_0] = S[_0]", q.constant(cell))]
            found.extend(
                q.statements(
                    "if _0:\n    if _1:\n        return _2\n    body",
                    same[0] if len(same) == 1 else q.placed(ast.BoolOp(ast.Or(), same)),
                    test,
                    q.constant((item,)),
                    body=known,
                )
            )
        if index not in scope.names:
            return None
        del scope.names[index]
        self.emitter.cached.append((rule.name, frozenset()))
        assert number == len(self.emitter.cached) - 1
        return found

    def _matches(
        self, binders: tuple[tuple[int, c.Expression], ...], position: int, test: c.Expression | None, scope: Scope
    ) -> Block:
        q, x = self.quote, self.expressions
        if position == len(binders):
            values = q.tuple([x.local(scope, index) for index, _ in binders])
            holds = x.expression(test, scope) if test is not None else q.constant(True)
            return q.statements("if _0:\n    return _1", holds, values)
        index, items_ = binders[position]
        short = x.short(items_, scope)
        if short is not None:
            written: Block = []
            for item in short:
                scope.names[index] = q.constant(item)
                written.extend(self._matches(binders, position + 1, test, scope))
            del scope.names[index]
            return written
        items = x.items(items_, scope)
        hoister = Hoister({scope.label(index)})
        scope.loops.append(hoister)
        body = self._matches(binders, position + 1, test, scope)
        scope.loops.pop()
        found = [q.assign(name, what) for name, what in hoister.clauses]
        return [*found, q.placed(ast.For(q.store(scope.label(index)), items, body, [], None))]
