"""Decisions of the fast form: what lists the values of an alternative, accepts some, and goes on with them."""

from __future__ import annotations

import ast

from interpreter.compiler import lower as l
from interpreter.compiler.fast.letters import ACCEPTS, LISTS, TAKES
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.reads import gathered
from interpreter.compiler.fast.scope import Hoister, Scope, Unsupported
from interpreter.compiler.fast.statements import Block, no_loop_in_iterable
from interpreter.compiler.fast.writer import Writer
from interpreter.language import core as c

__all__ = ["Decisions"]


class Decisions(Writer):
    """Writes three functions for each alternative of a decision."""

    def write(self, index: int, stretch: l.Stretch, ask: c.Ask) -> None:
        """All of the decision at the end of a stretch."""
        for number in range(len(ask.options)):
            self._option(index, stretch, ask, number)
            self._take(index, stretch, ask, number)
            self._accepts(index, stretch, ask, number)

    def listing(self, index: int, number: int) -> str:
        key = (index, number)
        if key not in self.emitter.done.options:
            stretch = self.program.stretches[index]
            self.emitter.done.options[key] = self.emitter.named(LISTS, stretch.procedure.split("@")[0])
        return self.emitter.done.options[key]

    def _option(self, index: int, stretch: l.Stretch, ask: c.Ask, number: int) -> None:
        """A generator of the legal values of an alternative."""
        option = ask.options[number]
        name = self.listing(index, number)
        q, x = self.quote, self.expressions
        try:
            with self.emitter.write(option.span, LISTS, "") as writing:
                scope = Scope(self.emitter.stretches.labels(stretch.procedure))
                found = self.emitter.stretches.unpack(stretch.procedure, scope)
                if option.guard is not None:
                    found.extend(q.statements("if not _0:\n    return", x.expression(option.guard, scope)))
                found.extend(self._choices(option, 0, scope))
                if not any(isinstance(node, ast.Yield) for statement in found for node in ast.walk(statement)):
                    found.extend(q.statements("yield from ()"))
                writing.add(gathered(q.function(name, ["state", "env"], found), q))
        except Unsupported:
            with self.emitter.write(option.span, LISTS, "") as writing:
                body = q.statements(
                    "yield from plain_values(_0, _1, state, env)", q.constant(index), q.constant(number)
                )
                writing.add(q.function(name, ["state", "env"], body))

    def _accepts(self, index: int, stretch: l.Stretch, ask: c.Ask, number: int) -> None:
        """Whether some values of an alternative are legal; nothing is listed for it."""
        option = ask.options[number]
        name = self.emitter.done.accepts[index, number] = self.emitter.named(ACCEPTS, option.name)
        q, x = self.quote, self.expressions
        try:
            with self.emitter.write(option.span, ACCEPTS, "") as writing:
                scope = Scope(self.emitter.stretches.labels(stretch.procedure))
                found = self.emitter.stretches.unpack(stretch.procedure, scope)
                tests = [x.expression(option.guard, scope)] if option.guard is not None else []
                found.extend(q.statements("if not _0:\n    return False", *tests) if tests else [])
                for position, choice in enumerate(option.choices):
                    q.at(choice.span)
                    value = q.expression("values[_0]", q.constant(position))
                    inside = q.expression("_0 in _1", value, x.items(choice.items, scope))
                    found.extend(q.statements("if not _0:\n    return False", inside))
                    found.append(q.assign(scope.label(choice.variable), value))
                holds = x.all_of([x.expression(test, scope) for test in option.tests])
                found.append(q.placed(ast.Return(holds)))
                writing.add(q.function(name, ["state", "env", "values"], found))
        except Unsupported:
            with self.emitter.write(option.span, ACCEPTS, "") as writing:
                listed = q.call(self.listing(index, number), [q.name("state"), q.name("env")])
                found = q.statements("return values in list(_0)", listed)
                writing.add(q.function(name, ["state", "env", "values"], found))

    def _choices(self, option: c.Option, position: int, scope: Scope) -> Block:
        q, x = self.quote, self.expressions
        if position == len(option.choices):
            test = x.all_of([x.expression(each, scope) for each in option.tests])
            values = q.tuple([x.local(scope, choice.variable) for choice in option.choices])
            if is_constant(test):
                return q.statements("yield _0", values) if value_of(test) else []
            return q.statements("if _0:\n    yield _1", test, values)
        choice = option.choices[position]
        q.at(choice.span)
        short = x.loops.known_items(choice.items, scope)
        if short is not None:
            written: Block = []
            for item in short:
                scope.names[choice.variable] = q.constant(item)
                written.extend(self._choices(option, position + 1, scope))
            del scope.names[choice.variable]
            return written
        items = x.items(choice.items, scope)
        variable = scope.label(choice.variable)
        hoister = Hoister({variable}, items)
        scope.loops.append(hoister)
        body = self._choices(option, position + 1, scope)
        scope.loops.pop()
        q.at(choice.span)
        return self.emitter.shortlists.loop(variable, items, hoister.clauses, body, lasting=True)

    def _take(self, index: int, stretch: l.Stretch, ask: c.Ask, number: int) -> None:
        """Records that an option was chosen, and goes on."""
        option = ask.options[number]
        name = self.emitter.named(TAKES, option.name)
        self.emitter.done.takes[index, number] = name
        self.emitter.asking[name] = index
        q, x = self.quote, self.expressions
        with self.emitter.write(option.span, TAKES, "") as writing:
            scope = Scope(self.emitter.stretches.labels(stretch.procedure))
            found = q.statements("env = frame[1]")
            found.extend(self.emitter.stretches.unpack(stretch.procedure, scope))
            actor = x.expression(ask.seat, scope)
            about = [x.expression(value, scope) for _, value in ask.context]
            named = [x.fresh("about") for _ in about]
            context = q.tuple([q.name(label) for label in named])
            seen = [
                self.statements.visible_in(q.name(label), value.type)
                for label, (_, value) in zip(named, ask.context, strict=True)
            ]
            for position, choice in enumerate(option.choices):
                seen.append(self.statements.visible_in(q.expression("values[_0]", q.constant(position)), choice.type))
            found.extend(q.assign(label, value) for label, value in zip(named, about, strict=True))
            values = q.name("values") if option.choices else q.constant(())
            site = q.name(f"OPTION_{index}_{number}")
            record = q.tuple([q.constant(2), site, q.name("frame"), actor, values, context, q.tuple(seen)])
            found.extend(q.statements("L.append(_0)", record))
            found.extend(self._chosen(index, stretch, number))
            writing.add(q.function(name, ["state", "frame", "values"], found))

    def _chosen(self, index: int, stretch: l.Stretch, number: int) -> Block:
        """Goes on after the record of a choice; in place, if nothing in it is left to the plain form."""
        q = self.quote
        end = stretch.end
        assert isinstance(end, l.Asks)
        option = end.ask.options[number]
        try:
            scope = self.emitter.stretches.scope(stretch.procedure)
            self.emitter.stretches.stack = []
            found = q.statements("up = frame[2]")
            if option.choices:
                targets: list[ast.expr] = [q.store(scope.label(choice.variable)) for choice in option.choices]
                found.append(q.placed(ast.Assign([q.placed(ast.Tuple(targets, ast.Store()))], q.name("values"))))
                found.extend(self._given(option))
            found.extend(self.emitter.stretches.flow(end.bodies[number], scope))
            for statement in found:
                no_loop_in_iterable(statement)
            return found
        except Unsupported:
            return q.statements(
                "return plain_choice(_0, _1, state, frame, values)", q.constant(index), q.constant(number)
            )

    def _given(self, option: c.Option) -> Block:
        """Lists that were chosen may come from the plain form, which has longer ones."""
        if all(choice.type.form == "bag" or not self.sizes.weight(choice.type) for choice in option.choices):
            return []
        return self.quote.statements("fits(values)")
