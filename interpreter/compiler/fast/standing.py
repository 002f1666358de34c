"""Standing rules of the fast form: for each watch a function that finds its first match."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from interpreter.compiler.fast.letters import SETTLES, WATCH
from interpreter.compiler.fast.reads import gathered
from interpreter.compiler.fast.scope import Hoister, Scope, Unsupported
from interpreter.compiler.fast.statements import Block
from interpreter.compiler.fast.writer import Writer
from interpreter.language import core as c
from interpreter.language.model import StandingRule

if TYPE_CHECKING:
    from interpreter.compiler.fast.emit import Emitter

__all__ = ["Became", "Standing"]

Became = Literal["any", "fewer tokens", "one card more"]
"""What has become of a cell: anything, a bag that has fewer tokens, or a zone that has one card more."""

MOST_IN_ONE = 16
MOST_ASKED = 40
"""A question of no more nodes is asked when something that it depends on has changed."""


class Standing(Writer):
    """Writes what a machine asks before it settles."""

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter)
        self.written: dict[str, ast.FunctionDef] = {}

    def write(self) -> None:
        q = self.quote
        for number, watch in enumerate(self.constants.watches):
            rule = watch.rule
            name = self.emitter.named(WATCH, rule.name)
            try:
                with self.emitter.write(rule.span, WATCH, "") as writing:
                    layer = self.program.reach.procedures[rule.procedure]
                    scope = Scope(layer.local_names)
                    if watch.seat is not None:
                        scope.names[rule.binders[0][0]] = q.constant(watch.seat)
                    body = self._matches(rule.binders, len(rule.binders) - len(watch.binders), rule.test, scope)
                    function = q.function(name, ["state"], [*body, *q.statements("return None")])
                    writing.add(gathered(function, q))
                    self.written[name] = function
            except Unsupported:
                with self.emitter.write(rule.span, WATCH, "") as writing:
                    body = q.statements("return plain_match(_0, state)", q.constant(number))
                    self.written[name] = q.function(name, ["state"], body)
                    writing.add(self.written[name])
            self.emitter.done.standing.append(name)
        if self.is_in_one:
            self._in_one()

    def matches_for(self, group: str, owner: ast.expr) -> ast.expr | None:
        """Whether what a change of somebody's cell wakes has a match for that seat.

        Nothing where that is more than one rule, or not a short question.
        """
        rule = self._only_rule(group)
        if rule is None or rule.test is None:
            return None
        here = self.quote.name("here")
        scope = Scope(self.program.reach.procedures[rule.procedure].local_names)
        scope.names[rule.binders[0][0]] = owner
        try:
            found = self.expressions.expression(rule.test, scope)
        except Unsupported:
            return None
        finally:
            self.quote.stay(here)
        nodes = list(ast.walk(found))
        long = any(isinstance(node, ast.ListComp | ast.GeneratorExp | ast.Lambda | ast.NamedExpr) for node in nodes)
        return None if long or len(nodes) > MOST_ASKED else found

    def matches_after(self, became: Became, group: str, owner: ast.expr) -> ast.expr | None:
        """The same after some change; false where a rule that had no match has none after such a change either."""
        matches = self.matches_for(group, owner)
        sleeps_on = {"fewer tokens": self._looks_for_more, "one card more": self._has_more_room}.get(became)
        if matches is not None and sleeps_on is not None and sleeps_on(matches, group):
            return self.quote.constant(False)
        return matches

    def _looks_for_more(self, matches: ast.expr, group: str) -> bool:
        """Whether a question asks only if there is more in a bag of a group than rooms can take.

        Where it has no match, it has none when there is less.
        """
        match matches:
            case ast.Compare(
                ast.Subscript(ast.Attribute(ast.Call(ast.Name(), rooms), "outside"), bag), [ast.Gt()], [ast.Constant(0)]
            ):
                others = [self._group(each) for each in rooms]
                return self._group(bag) == group and group not in others and "" not in others
            case _:
                return False

    def _has_more_room(self, matches: ast.expr, group: str) -> bool:
        """Whether a question asks only if there is more in a bag than the rooms of a zone's cards can take.

        Where it has no match, it has none when one card more is there: each card has a room, which holds no less than
        nothing.
        """
        match matches:
            case ast.Compare(
                ast.Subscript(ast.Attribute(ast.Call(ast.Name(name), [cards]), "outside"), bag),
                [ast.Gt()],
                [ast.Constant(0)],
            ):
                of_cards = name in self.emitter.functions.rooms and self._group(cards) == group
                return of_cards and self._group(bag) not in (group, "")
            case _:
                return False

    def crowds(self, group: str, owner: ast.expr | None, number: ast.expr, kind: ast.expr) -> ast.expr | None:
        """What asks, before somebody's bag gets so many more of a kind, whether that rule has a match with them.

        There is no room for them, then: how much there is was often asked before, since nobody may take more. A bag
        that does not fit itself has room for none, and does not fit with more either. Nothing for other rules.
        """
        matches = self.matches_for(group, owner) if owner is not None else None
        match matches:
            case ast.Compare(ast.Subscript(ast.Attribute(claims), bag)) if self._looks_for_more(matches, group):
                space = self.quote.expression("_0.space[_1]", claims, bag)
                space.heavy = self.emitter.sizes.sets  # type: ignore[attr-defined]
                return self.quote.expression("_0[_1] < _2", space, kind, number)
            case _:
                return None

    def _group(self, cell: ast.expr) -> str:
        """The group of the cell that is read, if it can be told."""
        match cell:
            case ast.Subscript(
                ast.Name("S"), ast.Constant(int(first)) | ast.BinOp(ast.Constant(int(first)), ast.Add(), ast.Name())
            ):
                return self.constants.layout.owner_of(first)[0]
            case _:
                return ""

    def _only_rule(self, group: str) -> StandingRule | None:
        """The only rule that a change of a group's cells wakes, each for the seat of that cell."""
        first, wakes, watches = self.constants.layout.base[group], self.constants.effects.wakes, self.constants.watches
        rules: list[StandingRule] = []
        for seat in range(self.constants.layout.count(group)):
            woken = wakes[first + seat]
            watch = watches[woken.bit_length() - 1] if woken and not woken & (woken - 1) else None
            if watch is None or watch.seat != seat or len(watch.rule.binders) > 1:
                return None
            rules.append(watch.rule)
        return rules[0] if rules and all(rule is rules[0] for rule in rules) else None

    @property
    def is_in_one(self) -> bool:
        """Whether one function looks at all watches: where there are few."""
        return 0 < len(self.constants.watches) <= MOST_IN_ONE

    def _in_one(self) -> None:
        """Looks at those watches that are pending, each in place if that is a single test."""
        q = self.quote
        watches = self.constants.watches
        with self.emitter.write(watches[0].rule.span, SETTLES, "settle") as writing:
            self.emitter.done.settles = writing.name
            place = q.constant(self.constants.layout.base["pending"])
            found = q.statements("pending = S[_0]", place)
            for number, name in enumerate(self.emitter.done.standing):
                at = [q.constant(1 << number), q.constant(number)]
                match self.written[name].body:
                    case [ast.If(test, [ast.Return(ast.expr() as values)], []), ast.Return()]:
                        found.extend(
                            q.statements(
                                "if pending & _0 and _2:\n    return matched(state, back, _1, pending, _3)",
                                *at,
                                test,
                                values,
                            )
                        )
                    case _:
                        found.extend(
                            q.statements(
                                "if pending & _0:\n"
                                "    values = _2(state)\n"
                                "    if values is not None:\n"
                                "        return matched(state, back, _1, pending, values)",
                                *at,
                                q.name(name),
                            )
                        )
            found.extend(q.statements("S[_0] = 0\nreturn None", place))
            writing.add(q.function(writing.name, ["state", "back"], found))

    def _matches(
        self, binders: tuple[tuple[int, c.Expression], ...], position: int, test: c.Expression | None, scope: Scope
    ) -> Block:
        q, x = self.quote, self.expressions
        if position == len(binders):
            values = q.tuple([x.local(scope, index) for index, _ in binders])
            holds = x.expression(test, scope) if test is not None else q.constant(True)
            return q.statements("if _0:\n    return _1", holds, values)
        index, items_ = binders[position]
        short = x.loops.known_items(items_, scope)
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
