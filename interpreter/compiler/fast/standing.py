"""Standing rules of the fast form: for each watch a function that finds its first match."""

from __future__ import annotations

import ast

from interpreter.compiler.fast.expressions import Hoister, Scope, Unsupported
from interpreter.compiler.fast.reads import gathered
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.writer import Writer
from interpreter.language import core as c

__all__ = ["Standing"]


class Standing(Writer):
    """Writes what a machine asks before it settles."""

    def write(self) -> None:
        q = self.quote
        for number, watch in enumerate(self.constants.watches):
            rule = watch.rule
            name = self.emitter.named("W", rule.name)
            try:
                with self.emitter.write(rule.span, "W", "") as writing:
                    layer = self.program.reach.procedures[rule.procedure]
                    scope = Scope(layer.local_names)
                    if watch.seat is not None:
                        scope.names[rule.binders[0][0]] = q.constant(watch.seat)
                    body = self._matches(rule.binders, len(rule.binders) - len(watch.binders), rule.test, scope)
                    function = q.function(name, ["state"], [*body, *q.statements("return None")])
                    writing.add(gathered(function, q))
            except Unsupported:
                with self.emitter.write(rule.span, "W", "") as writing:
                    body = q.statements("return plain_match(_0, state)", q.constant(number))
                    writing.add(q.function(name, ["state"], body))
            self.emitter.done.standing.append(name)

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
