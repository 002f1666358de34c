"""Legality of a choice: evaluates all its conditions, with the values of their sides.

:mod:`interpreter.engine.refusal` stops at the first failing condition; this module reports all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from interpreter.engine.failing_values import text_of
from interpreter.engine.game import Game
from interpreter.engine.refusal import decoded, domain_text, trait_of
from interpreter.engine.sight import Unseen, known_locals
from interpreter.engine.views import Spoken
from interpreter.explain.cross_reference import Quote, quote
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.walk import descendants
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.closures import Evaluate

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
    cites: tuple[Quote, ...]


def conditions_of(
    game: Game, choice: Mapping[str, object], language: str = "en", player: int | None = None
) -> list[Asked]:
    """Return the conditions of a choice at the pending decision, in source order, as far as a player may know them;
    without a player, all of them.

    Raises ``IllegalMove`` if there is no such alternative, or a value has the wrong type.
    """
    number, values = decoded(game.table, game.decision, choice, language)
    return list(_Asker(game, language, player).of_choice(number, values))


class _Asker:
    def __init__(self, game: Game, language: str, player: int | None) -> None:
        self._game, self._player = game, player
        self._names = Spoken(game.table, game.state, language, player)
        self._state = self._names.state

    def of_choice(self, number: int, values: tuple[Value, ...]) -> Iterator[Asked]:
        game, decision = self._game, self._game.decision
        assert decision is not None
        option = decision.site.options[number]
        layer = game.ruleset.program.reach.procedures[decision.site.procedure]
        cites = option.core.cites or layer.cites
        env = known_locals(game.table, decision.frame, self._player)
        if option.core.guard is not None:
            yield from self._asked(option.core.guard, env, layer.spoken, cites)
        for variable, items, value, choice in zip(
            option.variables, option.items, values, option.core.choices, strict=True
        ):
            yield self._offered(choice, items, env, value, layer.spoken, cites)
            env[variable] = value
        for test in option.core.tests:
            yield from self._asked(test, env, layer.spoken, cites)

    def _offered(
        self, choice: core.Choice, items: Evaluate, env: list[Value], value: Value, rule: str, cites: tuple[str, ...]
    ) -> Asked:
        text, place = f"{choice.name} in {text_of(choice.items)}", str(choice.span)
        shown = [(choice.name, self._names.text(value, choice.type))]
        try:
            domain = items(self._state, env)
            is_offered = value in domain
            if trait := trait_of(self._names, domain, choice.type):
                shown.append((f"{choice.name}.{trait.name}", self._names.text(trait.values[value], trait.type)))
            shown.append((text_of(choice.items), domain_text(self._names, domain, choice)))
        except Unseen:
            return Asked(text, None, tuple(shown), rule, place, self._quotes(cites))
        return Asked(text, is_offered, tuple(shown), rule, place, self._quotes(cites))

    def _asked(self, node: core.Expression, env: list[Value], rule: str, cites: tuple[str, ...]) -> Iterator[Asked]:
        """Evaluate a condition or, if it only calls a verdict, the lines of the verdict."""
        lines = self._verdict(node, env)
        if lines is not None:
            yield from lines
            return
        if isinstance(node, core.Const) and node.value:
            return  # `require yes` is no condition
        value = self._value(node, env)
        holds = None if value is _UNKNOWN else bool(value)
        yield Asked(text_of(node), holds, tuple(self._sides(node, env)), rule, str(node.span), self._quotes(cites))

    def _verdict(self, node: core.Expression, env: list[Value]) -> Iterator[Asked] | None:
        if not isinstance(node, core.CallBase | core.CallRule):
            return None
        target = self._game.ruleset.program.target(node)
        if self._game.ruleset.program.reach.procedures[target].form != "permits":
            return None
        arguments = [self._value(argument, env) for argument in node.arguments]
        return None if _UNKNOWN in arguments else self._lines(target, arguments)

    def _lines(self, verdict: str, values: list[Value]) -> Iterator[Asked]:
        """Evaluate the lines of the uppermost layer in force."""
        layer = self._game.ruleset.program.reach.procedures[verdict]
        env: list[Value] = [*values, *([None] * (layer.local_count - len(values)))]
        if layer.guard is not None and (applies := self._value(layer.guard, env)) is not True:
            if applies is _UNKNOWN:
                yield from self._asked(layer.guard, env, layer.spoken, layer.cites)
            yield from self._lines(layer.below, values)
            return
        assert isinstance(layer.body, tuple)
        for line in layer.body:
            assert isinstance(line, core.Requirement)
            if line.bind is None:
                yield from self._asked(line.test, env, layer.spoken, line.cites or layer.cites)
            else:
                env[line.bind] = self._value(line.test, env)

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
        self._game.machine.meter.refill()
        try:
            value = self._game.machine.expressions.compile(node)(self._state, env)
            hash(value)  # reads every part, so that a veil raises
        except (RuleFailure, LookupError, TypeError, Unseen):  # excluded by another condition, or hidden
            return _UNKNOWN
        return value

    def _quotes(self, cites: tuple[str, ...]) -> tuple[Quote, ...]:
        return tuple(quote(self._game.ruleset, id) for id in self._game.ruleset.own_cites(cites))


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
