"""Legality of a choice: evaluates all its conditions, with the values of their sides.

:mod:`interpreter.engine.refusal` stops at the first failing condition; this module reports all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from interpreter.engine.failing_values import text_of
from interpreter.engine.game import Game
from interpreter.engine.refusal import decoded, domain_text, reasons_for, trait_of
from interpreter.engine.views import Spoken
from interpreter.explain.cross_reference import quote
from interpreter.hidden.sight import Unseen
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.walk import descendants
from interpreter.lowering.constants import Constants, RuleFailure
from interpreter.lowering.lower import Program
from interpreter.plain.closures import Called
from interpreter.plain.perform import Functions
from interpreter.reading.statements import Statement

__all__ = ["Asked", "conditions_of"]


class Asked(Struct, frozen=True):
    """An evaluated condition. ``holds`` is None if it cannot be evaluated, because another one fails or because it
    reads something hidden.

    ``values`` are the sides of the condition with their values; ``place`` is its source position.
    """

    text: str
    holds: bool | None
    values: tuple[tuple[str, str], ...]
    rule: str
    place: str
    cites: tuple[Statement, ...]


def conditions_of(
    game: Game, choice: Mapping[str, object], language: str = "en", player: int | None = None
) -> list[Asked]:
    """Return the conditions of a choice at the pending decision, in source order, as far as a player may know them;
    without a player, all of them.

    Raises ``IllegalMove`` if there is no such alternative, or a value has the wrong type.
    """
    number, values = decoded(game.table, game.decision, choice, language)
    assert game.decision is not None
    reasons = reasons_for(game.table, game.decision, number, values, language, player)
    first = {str(reason.span) for reason in reasons[:1]}
    asked = _Asker(game, language, player).of_choice(number, values)
    return sorted(asked, key=lambda each: (each.place not in first, (False, None, True).index(each.holds)))


class _Asker:
    def __init__(self, game: Game, language: str, player: int | None) -> None:
        self._game = game
        self._names = Spoken(game.table, game.state, language, player)
        self._state, self._player = self._names.state, player
        self._functions = _Traced(game.ruleset.program, game.machine.constants)

    def of_choice(self, number: int, values: tuple[Value, ...]) -> Iterator[Asked]:
        game, decision = self._game, self._game.decision
        assert decision is not None
        option = decision.site.options[number]
        layer = game.ruleset.program.reach.procedures[decision.site.procedure]
        own = option.core.cites
        env = game.table.sight.known_locals(decision.frame, self._player)
        if option.core.guard is not None:
            yield from self._asked(option.core.guard, env, layer, own)
        for variable, value, choice in zip(option.variables, values, option.core.choices, strict=True):
            yield self._offered(choice, env, value, layer, own)
            env[variable] = value
        for test in option.core.tests:
            yield from self._asked(test, env, layer, own)

    def _offered(
        self, choice: core.Choice, env: list[Value], value: Value, layer: RuleLayer, own: tuple[str, ...]
    ) -> Asked:
        shown = [(choice.name, self._names.text(value, choice.type))]
        domain, items = self._value(choice.items, env), text_of(choice.items)
        quotes, holds = self._quotes(own, layer.cites), None if domain is _UNKNOWN else value in domain
        if domain is not _UNKNOWN:
            if trait := trait_of(self._names, domain, choice.type):
                shown.append((f"{choice.name}.{trait.name}", self._names.text(trait.values[value], trait.type)))
            shown.append((items, domain_text(self._names, domain, choice)))
        return Asked(f"{choice.name} in {items}", holds, tuple(shown), layer.spoken, str(choice.span), quotes)

    def _asked(
        self, node: core.Expression, env: list[Value], layer: RuleLayer, own: tuple[str, ...] = ()
    ) -> Iterator[Asked]:
        """Evaluate a condition of a layer or, if it only calls a verdict, the lines of the verdict."""
        lines = self._verdict(node, env)
        if lines is not None:
            yield from lines
            return
        if isinstance(node, core.Const) and node.value:
            return  # `require yes` is no condition
        value = self._value(node, env)
        holds = None if value is _UNKNOWN else bool(value)
        quotes = self._quotes(own, layer.cites)
        yield Asked(text_of(node), holds, tuple(self._sides(node, env)), layer.spoken, str(node.span), quotes)

    def _verdict(self, node: core.Expression, env: list[Value]) -> Iterator[Asked] | None:
        if not isinstance(node, core.Call):
            return None
        target = self._game.ruleset.program.target(node)
        if self._game.ruleset.program.reach.procedures[target].form != "permits":
            return None
        arguments = [(self._value(argument, env), (*self._functions.cites,)) for argument in node.arguments]
        values = [value for value, _ in arguments]
        return None if _UNKNOWN in values else self._lines(target, values, dict(enumerate(c for _, c in arguments)))

    def _lines(self, verdict: str, values: list[Value], called: dict[int, tuple[str, ...]]) -> Iterator[Asked]:
        """Evaluate the lines of the uppermost layer in force. ``called`` are the statements of the rules that the
        locals come from."""
        layer = self._game.ruleset.program.reach.procedures[verdict]
        env: list[Value] = [*values, *([None] * (layer.local_count - len(values)))]
        if layer.guard is not None and (applies := self._value(layer.guard, env)) is not True:
            if applies is _UNKNOWN:
                yield from self._asked(layer.guard, env, layer)
            yield from self._lines(layer.below, values, called)
            return
        for line in layer.requirements:
            if line.bind is None:
                read = {each.index for each in descendants(line.test) if isinstance(each, core.Local)}
                cites = (*line.cites, *(cite for local in sorted(read) for cite in called.get(local, ())))
                yield from self._asked(line.test, env, layer, cites)
            else:
                env[line.bind], called[line.bind] = self._value(line.test, env), (*self._functions.cites,)

    def _sides(self, node: core.Expression, env: list[Value]) -> Iterator[tuple[str, str]]:
        """Yield the sides of a condition with their values, each text once."""
        seen: set[str] = set()
        for part in _parts(node):
            value, text = self._value(part, env), text_of(part)
            if text in seen or value is _UNKNOWN:
                continue
            seen.add(text)
            shown = tuple(value) if isinstance(value, range) else value
            yield text, self._names.text(shown, part.type)

    def _value(self, node: core.Expression, env: list[Value]) -> Value:
        self._functions.begin(self._state)
        try:
            value = self._functions.items(node)(self._state, env)
            hash(value)  # reads every part, so that a veil raises
        except (RuleFailure, LookupError, TypeError, Unseen):  # excluded by another condition, or hidden
            self._functions.cites.clear()
            return _UNKNOWN
        return value

    def _quotes(self, own: tuple[str, ...], others: tuple[str, ...]) -> tuple[Statement, ...]:
        """Return the statements of a condition: its own and those of the rules that its last evaluation has called. If
        there are none, return the other statements of the rule that contains it."""
        ruleset = self._game.ruleset
        cites = ruleset.own_cites((*own, *self._functions.cites)) or ruleset.own_cites(others)
        return tuple(quote(ruleset, id) for id in dict.fromkeys(cites))


class _Traced(Functions):
    """Functions that remember the statements of the layers that an expression calls itself."""

    def __init__(self, program: Program, constants: Constants) -> None:
        self.cites: list[str] = []
        self._rules: list[str] = []
        super().__init__(program, constants)

    def begin(self, state: State) -> None:
        self.cites.clear()
        self.meter.refill()
        state.memo.clear()  # else some calls are left out

    def _function(self, name: str) -> Called:
        call, layer = super()._function(name), self.program.reach.procedures[name]
        guard = self.compile(layer.guard) if layer.guard is not None else None

        def traced(state: State, values: tuple[Value, ...]) -> Value:
            if self._rules not in ([], [layer.rule]):
                return call(state, values)
            before, self._rules = self._rules, [layer.rule]
            try:
                if guard is None or guard(state, [*values, *[None] * (layer.local_count - len(values))]):
                    self.cites += layer.all_cites
                return call(state, values)
            finally:
                self._rules = before

        return traced


_UNKNOWN: Value = object()


def _parts(node: core.Expression) -> Iterator[core.Expression]:
    """Yield the sides of the comparisons in a condition, and the locals in its calls."""
    match node:
        case core.Logic(_, left, right):
            yield from _parts(left)
            yield from _parts(right)
        case core.Negation(value):
            yield from _parts(value)
        case core.Comparison(_, left, right) | core.MemberOf(left, right):
            yield from (side for side in (left, right) if not isinstance(side, core.Const | core.MakeList))
        case core.CallRule() | core.CallBase() | core.CallBuiltin():
            yield from (child for child in descendants(node) if isinstance(child, core.Local))
        case core.KindTest(value):
            yield value
