"""Policies in the fast form: what a policy prefers at one decision, as one Python function.

The function takes the state, the locals of the decision and a source of random numbers, and gives the alternative's
number and its values. It chooses what a bot that reads the same lines would choose, draws in the same order, and never
enumerates a choice that a line pins to a value.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

from interpreter.compiler import lower as l
from interpreter.compiler.fast.letters import GOES_ON, PREFERS
from interpreter.compiler.fast.pins import pinned
from interpreter.compiler.fast.quote import Quote, is_constant, value_of
from interpreter.compiler.fast.scope import Hoister, Scope, Unsupported
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.truths import asks_for_some
from interpreter.kernel.chance import AHEAD, FEW
from interpreter.language import core as c
from interpreter.language.policies import Line, Pattern, Preferences
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["PreferenceWriter"]


def going_on(name: str) -> str:
    """The name of the function that goes on with what another one chooses."""
    return f"{GOES_ON}{name.removeprefix(PREFERS)}"


class _Takes(ast.NodeTransformer):
    """Goes on with a choice where it would be given back."""

    def __init__(self, writer: PreferenceWriter, quote: Quote) -> None:
        self.writer, self.quote = writer, quote

    def visit_Return(self, node: ast.Return) -> Any:
        q = self.quote
        q.stay(node)
        match node.value:
            case ast.Tuple([ast.Constant(int(number)), values]):
                return q.statements("return _0(state, frame, _1)", q.name(self.writer.taken(number)), values)
            case ast.Constant((int(number), values)):
                return q.statements(
                    "return _0(state, frame, _1)", q.name(self.writer.taken(number)), q.constant(values)
                )
            case ast.expr() as value:
                found = q.statements("number, values = _0", value)
                names = [self.writer.taken(number) for number in self.writer.numbers.values()]
                for number, name in enumerate(names[:-1]):
                    go_on = "if number == _0:\n    return _1(state, frame, values)"
                    found.extend(q.statements(go_on, q.constant(number), q.name(name)))
                return [*found, *q.statements("return _0(state, frame, values)", q.name(names[-1]))]
            case _:
                return node


def _most_draws(preferences: Preferences) -> int:
    """How many random numbers a decision may take; endless where one of them has more outcomes than fit."""
    found = sum((line.chance is not None) + (line.tie not in ("first", "by")) for line in preferences.lines)
    fits = all(line.chance is None or line.chance[1] <= FEW for line in preferences.lines)
    return found if fits else AHEAD + 1


class PreferenceWriter:
    """Writes the preferences for the decision at one stretch; ``Unsupported`` for lines that ask another seat."""

    def __init__(self, emitter: Emitter, index: int) -> None:
        self.emitter = emitter
        self.quote, self.expressions = emitter.quote, emitter.expressions
        self.index, self.stretch = index, emitter.program.stretches[index]
        assert isinstance(self.stretch.end, l.Asks)
        self.ask = self.stretch.end.ask
        self.numbers = {option.name: number for number, option in enumerate(self.ask.options)}
        self.only: int | None = None
        """The only alternative that the line at hand can choose."""

    def write(self, preferences: Preferences) -> str:
        """Gives the function's name. ``preferences`` has no guard."""
        q, emitter = self.quote, self.emitter
        name = emitter.named(PREFERS, self.ask.name)
        with emitter.write(self.stretch.span, PREFERS, "") as writing:
            self.scope = Scope(emitter.stretches.labels(self.stretch.procedure))
            body = emitter.stretches.unpack(self.stretch.procedure, self.scope)
            self.around = self._around(body)
            if _most_draws(preferences) > AHEAD:
                raise Unsupported("more random numbers than are there at once")
            for line in preferences.lines:
                body.extend(self._line(line))
            body.extend(q.statements("give_up()"))
            function = emitter.read_once(q.function(name, ["state", "env", "draw"], body))
            writing.add(function)
            writing.add(self._going_on(function))
        emitter.asking[going_on(name)] = self.index
        return name

    def _going_on(self, function: ast.FunctionDef) -> ast.FunctionDef:
        """The same preferences, for a machine that goes on with what they give at once."""
        q = self.quote
        body = _Takes(self, q).visit(copy.deepcopy(function)).body
        return q.function(going_on(function.name), ["state", "frame", "draw"], [*q.statements("env = frame[1]"), *body])

    def taken(self, number: int) -> str:
        """What takes an alternative of the decision."""
        return self.emitter.takes[self.index, number]

    def _around(self, body: Block) -> list[ast.expr]:
        """The actor and the context, each in a local where it is more than a name."""
        found: list[ast.expr] = []
        for node in (self.ask.seat, *(value for _, value in self.ask.context)):
            value = self.expressions.expression(node, self.scope)
            if not isinstance(value, ast.Name | ast.Constant):
                local = self.expressions.fresh("around")
                body.append(self.quote.assign(local, value))
                value = self.quote.name(local)
            found.append(value)
        return found

    def _line(self, line: Line) -> Block:
        q = self.quote
        if line.tie == "asking":
            raise Unsupported("a line that asks another seat")
        patterns = [p for p in line.patterns if p.alternative in ("", *self.numbers)]
        named = {self.numbers.get(pattern.alternative, -1) for pattern in patterns}
        self.only = named.pop() if len(named) == 1 and -1 not in named else 0 if len(self.numbers) == 1 else None
        match line.tie:
            case "first":
                found = [statement for pattern in patterns for statement in self._pattern(pattern, "first", "")]
            case "by":
                found = self._by(patterns)
            case _:
                found = self._random(patterns)
        if line.chance is None:
            return found
        return q.statements(
            "if draw() % _0 < _1:\n    body", q.constant(line.chance[1]), q.constant(line.chance[0]), body=found
        )

    def _by(self, patterns: list[Pattern]) -> Block:
        q = self.quote
        best, key = self.expressions.fresh("best"), self.expressions.fresh("key")
        looked = [each for pattern in patterns for each in self._pattern(pattern, "by", best, key)]
        found = [q.assign(best, q.constant(None)), q.assign(key, q.name("ENDLESS")), *looked]
        return [*found, *q.statements("if _0 is not None:\n    return _1", q.name(best), self._code(q.name(best)))]

    def _random(self, patterns: list[Pattern]) -> Block:
        q = self.quote
        listed = self.expressions.fresh("found")
        if len(patterns) == 1 and self._plain_alternative(patterns[0]):
            return self._pattern(patterns[0], "first", "")
        found = q.statements("_0 = []", q.name(listed))
        for pattern in patterns:
            found.extend(self._pattern(pattern, "random", listed))
        names = [pattern.alternative for pattern in patterns]
        if "" in names or len(set(names)) < len(names):
            found.extend(q.statements("_0 = remembered_order(_0)", q.name(listed)))
        one = q.expression("_0[draw() % len(_0)] if len(_0) > 1 else _0[0]", q.name(listed))
        found.extend(q.statements("if _0:\n    return _1", q.name(listed), self._code(one)))
        return found

    def _code(self, found: ast.expr) -> ast.expr:
        """What a line chooses: the alternative with its values. Where a line names only one, it looks for values."""
        return found if self.only is None else self.quote.tuple([self.quote.constant(self.only), found])

    def _plain_alternative(self, pattern: Pattern) -> bool:
        return pattern.alternative != "" and not self.ask.options[self.numbers[pattern.alternative]].choices

    # --- patterns

    def _pattern(self, pattern: Pattern, use: str, target: str, key: str = "") -> Block:
        """Every option that a pattern names and that passes: returned, kept as the best, or listed."""
        numbers = [self.numbers[pattern.alternative]] if pattern.alternative else list(range(len(self.ask.options)))
        found: Block = []
        for number in numbers:
            found.extend(self._option(pattern, number, use, target, key))
        return found

    def _option(self, pattern: Pattern, number: int, use: str, target: str, key: str) -> Block:
        option = self.ask.options[number]
        first = len(self.around)
        own = Scope((), prefix=f"{self.expressions.fresh('p')}_", loops=self.scope.loops)
        own.names.update(enumerate(self.around))
        if pattern.alternative:
            for position, choice in enumerate(option.choices):
                own.names[first + position] = self.quote.name(self.scope.label(choice.variable))
        self.first = first
        body = self._choices(pattern, option, 0, own, (number, use, target, key))
        if option.guard is not None:
            return self._if(self.expressions.expression(option.guard, self.scope), body)
        return body

    def _if(self, test: ast.expr, body: Block) -> Block:
        if is_constant(test):
            return body if value_of(test) else []
        match body:
            case [ast.If(further, inner, [])]:
                return self.quote.statements("if _0:\n    body", self.expressions.all_of([test, further]), body=inner)
        return self.quote.statements("if _0:\n    body", test, body=body)

    def _choices(
        self, pattern: Pattern, option: c.Option, position: int, own: Scope, end: tuple[int, str, str, str]
    ) -> Block:
        q, x = self.quote, self.expressions
        if position == len(option.choices):
            return self._passing(pattern, option, own, end)
        choice = option.choices[position]
        variable = self.scope.label(choice.variable)
        pin = self._pin(pattern, option, position, own) if pattern.alternative else None
        if pin is not None and is_constant(pin):
            self.scope.names[choice.variable] = own.names[self.first + position] = pin
            inside = self._inside(choice.items, pin)
            body = self._if(inside, self._choices(pattern, option, position + 1, own, end))
            del self.scope.names[choice.variable]
            return body
        if pin is not None:
            inside = self._inside(choice.items, q.name(variable))
            body = self._choices(pattern, option, position + 1, own, end)
            if not isinstance(pin, ast.Name):
                inside, body = pinned(inside, variable, pin), [pinned(each, variable, pin) for each in body]
            return [q.assign(variable, pin), *self._if(inside, body)]
        short = x.loops.known_items(choice.items, self.scope)
        if short is not None:
            written: Block = []
            for item in short:
                known = self.scope.names[choice.variable] = q.constant(item)
                if pattern.alternative:
                    own.names[self.first + position] = known
                written.extend(self._choices(pattern, option, position + 1, own, end))
            del self.scope.names[choice.variable]
            return written
        items = x.items(choice.items, self.scope)
        hoister = Hoister({variable}, items)
        self.scope.loops.append(hoister)
        body = self._choices(pattern, option, position + 1, own, end)
        self.scope.loops.pop()
        return self.emitter.shortlists.loop(variable, items, hoister.clauses, body, lasting=False)

    def _inside(self, items: c.Expression, value: ast.expr) -> ast.expr:
        if isinstance(items, c.RangeFrom):
            first = self.expressions.expression(items.first, self.scope)
            return self.expressions.all_of([self._not_above(first, value), *self._below_last(value, items.last)])
        return self._within(self.expressions.items(items, self.scope), value)

    def _within(self, items: ast.expr, value: ast.expr) -> ast.expr:
        match items:
            case ast.Call(ast.Name("numbers"), [first, last]):
                return self.expressions.all_of([self._not_above(first, value), self._not_above(value, last)])
            case ast.Tuple([only]):
                return self.quote.expression("_0 == _1", value, only)
            case ast.IfExp(test, then, otherwise):
                yes, no = self._within(then, value), self._within(otherwise, value)
                return self.quote.expression("_0 if _1 else _2", yes, test, no)
            case _:
                return self.quote.expression("_0 in _1", value, items)

    def _not_above(self, small: ast.expr, large: ast.expr) -> ast.expr:
        if is_constant(small) and is_constant(large):
            return self.quote.constant(value_of(small) <= value_of(large))
        return self.quote.expression("_0 <= _1", small, large)

    def _below_last(self, value: ast.expr, last: c.Expression) -> list[ast.expr]:
        """Below the least of several is below each."""
        if isinstance(last, c.Builtin) and last.name == "min":
            return [test for each in last.arguments for test in self._below_last(value, each)]
        found = self._not_above(value, self.expressions.expression(last, self.scope))
        return [asks_for_some(found) if self.emitter.knowledge.is_count(last) else found]

    def _pin(self, pattern: Pattern, option: c.Option, position: int, own: Scope) -> ast.expr | None:
        """The only value that a pattern's conditions leave for a choice, where it can be known before the choice."""
        first, count = len(self.around), len(option.choices)
        for test in pattern.tests:
            if not isinstance(test, c.Comparison) or test.operator != "==":
                continue
            for side, other in ((test.left, test.right), (test.right, test.left)):
                if isinstance(side, c.Local) and side.index == first + position:
                    used = {node.index for node in descendants(other) if isinstance(node, c.Local)}
                    known = not any(side.index <= index < first + count for index in used)
                    if known and self._is_sure(other):
                        return self.expressions.expression(other, own)
        return None

    def _is_sure(self, value: c.Expression) -> bool:
        """Whether something always has a value, which is not none."""
        return not value.type.optional and self.emitter.knowledge.is_total(value)

    def _passing(self, pattern: Pattern, option: c.Option, own: Scope, end: tuple[int, str, str, str]) -> Block:
        q, x = self.quote, self.expressions
        number, use, target, key = end
        tests = [x.expression(test, self.scope) for test in option.tests]
        named = sorted(pattern.tests, key=lambda test: not self._names_a_choice(pattern, option, test))
        tests += [x.expression(test, own) for test in named if not self._is_pin(pattern, option, test, own)]
        values = q.tuple([x.local(self.scope, choice.variable) for choice in option.choices])
        code = values if self.only is not None else q.tuple([q.constant(number), values])
        match use:
            case "first":
                body = [q.placed(ast.Return(self._code(code)))]
            case "random":
                body = q.statements("_0.append(_1)", q.name(target), code)
            case _:
                keys = [x.expression(each, own) for each in pattern.keys]
                rank = keys[0] if len(keys) == 1 else q.tuple(keys)
                body = []
                if not isinstance(rank, ast.Name | ast.Constant):
                    mine = x.fresh("mine")
                    body.append(q.assign(mine, rank))
                    rank = q.name(mine)
                first = "_1 < _2" if len(keys) == 1 else "_0 is None or _1 < _2"
                body.extend(
                    q.statements(f"if {first}:\n    _0 = _3\n    _2 = _1", q.name(target), rank, q.name(key), code)
                )
        return self._if(x.all_of(tests), body)

    def _names_a_choice(self, pattern: Pattern, option: c.Option, test: c.Expression) -> bool:
        """Whether a condition leaves one value of a choice. The plain form asks nothing of others, for which the other
        conditions may fail: so it comes first."""
        first, last = len(self.around), len(self.around) + len(option.choices)
        if not pattern.alternative or not isinstance(test, c.Comparison) or test.operator != "==":
            return False
        for side, other in ((test.left, test.right), (test.right, test.left)):
            if isinstance(side, c.Local) and first <= side.index < last:
                used = {node.index for node in descendants(other) if isinstance(node, c.Local)}
                if not any(side.index <= index < last for index in used):
                    return True
        return False

    def _is_pin(self, pattern: Pattern, option: c.Option, test: c.Expression, own: Scope) -> bool:
        """Whether a condition holds since its choice was pinned by it."""
        if not pattern.alternative or not isinstance(test, c.Comparison) or test.operator != "==":
            return False
        first, count = len(self.around), len(option.choices)
        for side, other in ((test.left, test.right), (test.right, test.left)):
            if isinstance(side, c.Local) and first <= side.index < first + count:
                alone = (
                    sum(1 for each in pattern.tests if isinstance(each, c.Comparison) and each.operator == "==") == 1
                )
                used = {node.index for node in descendants(other) if isinstance(node, c.Local)}
                known = not any(side.index <= index < first + count for index in used)
                return alone and known and self._is_sure(other)
        return False
