"""A bot that follows a policy: ordered preferences among the legal options, declared beside the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plain_data import Json, grouped
from interpreter.bots.hidden_reads import Peeks, groups_peeked, peeks_of
from interpreter.bots.player import Bot, Code, Stream, how_to_choose
from interpreter.compiler.wasm.turn import Peeks as Watched
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.kernel.state import State, Value
from interpreter.language import core
from interpreter.language.preferences import Line, Pattern, Policy, Preferences, pinned_by
from interpreter.language.types import cards_in, has_cards, renamed
from interpreter.language.walk import descendants
from interpreter.lowering.constants import Caller, RuleFailure
from interpreter.plain.closures import Env, Evaluate
from interpreter.plain.machine import AskSite, Machine, OptionSite

if TYPE_CHECKING:
    from interpreter.compiler.wasm.module import Compiled

__all__ = ["PolicyBot"]


class _Pattern(Struct, frozen=True):
    """A compiled pattern for one decision. ``pins`` are choices for which the conditions leave a single value."""

    number: int | None
    pins: dict[int, Evaluate]
    tests: tuple[Evaluate, ...]
    keys: tuple[Evaluate, ...]
    size: int


class _Line(Struct, frozen=True):
    line: Line
    patterns: tuple[_Pattern, ...]
    asked: Evaluate | None


class _Way(Struct, frozen=True):
    """Compiled preferences of one layer for one decision."""

    when: Evaluate | None
    lines: tuple[_Line, ...]
    preferences: Preferences


class PolicyBot:
    """Follows a policy. ``table`` has the bots of all seats, for lines that leave a tie to another seat.

    If the policy reads something that its seat may not see, it decides in a redealt world, as a search does, unless the
    game is such a world already (``in_world``).
    """

    def __init__(self, policy: Policy, table: Sequence[Bot] = (), *, in_world: bool = False) -> None:
        self.policy, self.table = policy, table
        self.name = policy.name
        self.in_world = in_world
        self._machine: Machine | None = None
        self._module: Compiled | None = None
        self._player: int | None = None
        """Number of the policy in the module."""
        self._ways: dict[int, tuple[_Way, ...]] = {}
        self._peeks: dict[int, Peeks] = {}

    def followed(self, ruleset: Ruleset) -> tuple[Policy, Watched | None]:
        """Return the policy and its hidden reads, which a module needs."""
        return self.policy, None if self.in_world else partial(groups_peeked, ruleset.model, self.policy)

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        named = decision.named
        if decision.turn is not None and not game.state.is_heard:
            code = named.runner.chosen(game.state, game.chance, self, random) or self._chosen(game, random)
            if code is not None:
                return named.option(code)
        if self._is_blind(game, decision):
            return self._guess(game, decision, random)
        return self._slowly(game, decision, random)

    def __getstate__(self) -> dict[str, Json]:
        """Drop cached code: a copy, or the bot in another process, finds its module again."""
        return {**vars(self), "_module": None, "_player": None, "_machine": None, "_ways": {}, "_peeks": {}}

    def _chosen(self, game: Game, random: Stream) -> Code | None:
        """Return the choice of the module of a table, or None if it cannot choose by the policy."""
        runner = game.runner
        is_known = self._player is not None or not runner.aside  # else a module with the policy may come later
        if runner.compiled is None or runner.compiled is not self._module or not is_known:
            self._player = runner.player(*self.followed(game.ruleset))
            self._module = runner.compiled
        return runner.choose(game.state, game.chance, self._player, self, random) if self._player is not None else None

    def _is_blind(self, game: Game, decision: Decision) -> bool:
        """Return whether the policy reads something here that its seat may not see."""
        if self.in_world:
            return False
        self._sit_at(game.machine)
        peeks = self._peeks.get(decision.named.index)
        if peeks is None:
            peeks = self._peeks[decision.named.index] = peeks_of(game.ruleset.model, self.policy, decision.site.ask)
        return bool(peeks) and peeks.at(game, decision)

    def _imagined(self, game: Game, decision: Decision, random: Stream) -> tuple[Game, Decision]:
        """Return a redealt world and its decision, which shows other cards for those that its seat may not see."""
        from interpreter.engine.determinization import Worlds

        world = Worlds(game, decision.actor, replay=False).deal(0, random.below)
        assert world.decision is not None
        stretch, env, caller, result = world.decision.frame
        world = world.stood_at((stretch, _with_other_cards(game, decision, env, random), caller, result))
        assert world.decision is not None
        return world, world.decision

    def _guess(self, game: Game, decision: Decision, random: Stream) -> Option:
        """Return the policy's choice in a redealt world if it is legal here, else its most preferred legal option."""
        from interpreter.engine.determinization import OPTIONS

        world, imagined = self._imagined(game, decision, random)
        code = self._slowly(world, imagined, random).code
        option = decision.option(code)
        if game.accepts(option):
            return option
        codes = decision.codes[:OPTIONS]
        preferred = self._preferred(world, imagined, self._way(world, imagined), codes, random)
        return decision.option(codes[0] if preferred is None else preferred)

    def _slowly(self, game: Game, decision: Decision, random: Stream) -> Option:
        """Choose in the plain form, for policies or decisions that the module does not cover."""
        way = self._way(game, decision)
        game.machine.meter.refill()
        code = self._preferred(game, decision, way, None, random)
        if code is None:
            last = way.preferences.lines[-1]
            if not any(pattern.alternative == "" for pattern in last.patterns):
                message = f"the policy `{self.name}` leaves `{decision.name}` without a choice"
                raise RuleFailure(f"{message}; a last line `any` takes what there is", last.span)
            code = next(game.machine.options(game.state, decision.env, decision.site))
        return decision.legal_option(code)

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        """Choose by its own preferences for this decision, without asking further seats; the first option if it has
        none. It reads what the seat that decides may see, like that seat's own policy."""
        preferred = self.preferred(game, decision, codes, random) if decision.name in self.policy.decisions else None
        return codes[0] if preferred is None else preferred

    def preferred(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code | None:
        """Return one of these options of a decision. None if no line leaves one."""
        if self._is_blind(game, decision):
            game, decision = self._imagined(game, decision, random)
        return self._preferred(game, decision, self._way(game, decision), codes, random)

    def _preferred(
        self, game: Game, decision: Decision, way: _Way, codes: Sequence[Code] | None, random: Stream
    ) -> Code | None:
        for line in way.lines:
            if line.line.chance is not None and random.below(line.line.chance[1]) >= line.line.chance[0]:
                continue
            try:
                preferred = self._by_line(game, decision, line, codes, random)
            except RuleFailure as failure:
                failure.chain.append(Caller(self.name, line.line.span, "in the policy"))
                raise
            if preferred is not None:
                return preferred
        return None

    def _by_line(
        self, game: Game, decision: Decision, line: _Line, codes: Sequence[Code] | None, random: Stream
    ) -> Code | None:
        """Return the best option of a line of the policy, with ties broken; None if no option matches."""
        around = [decision.actor, *(value(game.state, decision.env) for _, value in decision.site.context)]
        matches = chain.from_iterable(_passing(game, decision, pattern, around, codes) for pattern in line.patterns)
        if line.line.tie == "first":
            return next((code for _, code in matches), None)
        ranked = list(matches)
        if not ranked:
            return None
        if line.line.tie == "by":
            return min(ranked, key=lambda entry: entry[0])[1]
        tied = list(dict.fromkeys(code for _, code in ranked))
        if line.line.tie == "random":
            return tied[random.below(len(tied))] if len(tied) > 1 else tied[0]
        return tied[0] if codes is not None else self._tie_by_seat(game, decision, line, around, tied, random)

    def _tie_by_seat(
        self, game: Game, decision: Decision, line: _Line, around: list[Value], codes: list[Code], random: Stream
    ) -> Code:
        assert line.asked is not None
        seat = line.asked(game.state, [*around, *([None] * line.line.local_count)])
        tie_breaker = self.table[seat] if seat < len(self.table) else None
        if len(codes) == 1 or tie_breaker is None or tie_breaker is self:
            return codes[0]
        return tie_breaker.among(game, decision, codes, random)

    # --- compiling

    def _sit_at(self, machine: Machine) -> None:
        """Forget what is compiled for another table."""
        if machine is not self._machine:
            self._machine, self._ways, self._peeks = machine, {}, {}
            machine.learn(self.policy)

    def _way(self, game: Game, decision: Decision) -> _Way:
        """Return the uppermost preferences whose guard holds. Raises :class:`RuleFailure` if there are none."""
        self._sit_at(game.machine)
        ways = self._ways.get(decision.named.index)
        if ways is None:
            ways = self._ways[decision.named.index] = tuple(self._ready(game.machine, decision.site))
        for way in ways:
            if way.when is None or way.when(game.state, [decision.actor, *([None] * way.preferences.local_count)]):
                return way
        message = f"the policy `{self.name}` ({self.policy.file}) has no lines for `{decision.name}`"
        remedy = how_to_choose(self.name.partition(":")[0], decision.name)
        raise RuleFailure(f"{message}; {remedy}", decision.site.ask.span)

    def _ready(self, machine: Machine, site: AskSite) -> Iterator[_Way]:
        compile_ = machine.expressions.compile
        for preferences in self.policy.decisions.get(site.ask.name, ()):
            when = compile_(preferences.when) if preferences.when is not None else None
            lines = tuple(_ready_line(machine, site, line) for line in preferences.lines)
            yield _Way(when, lines, preferences)


def _ready_line(machine: Machine, site: AskSite, line: Line) -> _Line:
    """Compile a line for one decision, without patterns for alternatives that it does not offer."""
    numbers = {option.name: number for number, option in enumerate(site.options)}
    patterns = tuple(
        _ready_pattern(machine, site, pattern, numbers.get(pattern.alternative))
        for pattern in line.patterns
        if pattern.alternative in ("", *numbers)
    )
    return _Line(line, patterns, machine.expressions.compile(line.asked) if line.asked is not None else None)


def _ready_pattern(machine: Machine, site: AskSite, pattern: Pattern, number: int | None) -> _Pattern:
    compile_ = machine.expressions.compile
    first = 1 + len(site.context)
    count = len(site.options[number].variables) if number is not None else 0
    pinned = [pin for test in reversed(pattern.tests) if (pin := pinned_by(test, first, count)) is not None]
    pins = {choice: compile_(value) for choice, value in pinned}  # the first one counts
    tests = tuple(compile_(test) for test in pattern.tests)
    keys = tuple(compile_(key) for key in pattern.keys)
    return _Pattern(number, pins, tests, keys, pattern.local_count)


def _with_other_cards(game: Game, decision: Decision, env: tuple[Value, ...], random: Stream) -> tuple[Value, ...]:
    """Return locals in which each hidden card of a decision's context is any hidden card of its kind."""
    sight, state, model = game.table.sight, game.state, game.ruleset.model
    hidden = grouped((model.cards[card].kind, card) for card in sight.hidden_cards(state, decision.actor))
    others = list(env)
    for node in descendants(decision.site.ask.context):
        if isinstance(node, core.Local) and has_cards(node.type, model.records):
            value = decision.frame[1][node.index]
            if not sight.shows(state, value, node.type, decision.actor):
                swapped = {}
                for card in cards_in(value, node.type, model.records):
                    pool = hidden.get(model.cards[card].kind, [card])
                    swapped[card] = pool[random.below(len(pool))]
                others[node.index] = renamed(value, node.type, model.records, swapped)
    return tuple(others)


# --- matching options


def _passing(
    game: Game, decision: Decision, pattern: _Pattern, around: list[Value], codes: Sequence[Code] | None
) -> Iterator[tuple[tuple[Value, ...], Code]]:
    """Yield the options that match a pattern, with their keys, in the order of the options."""
    state = game.state
    env: Env = [*around, *([None] * pattern.size)]
    first = len(around)
    for code in _named(game, decision, pattern, around) if codes is None else codes:
        if pattern.number not in (None, code[0]):
            continue
        if pattern.number is not None:
            env[first : first + len(code[1])] = code[1]
        if all(test(state, env) for test in pattern.tests):
            yield tuple([key(state, env) for key in pattern.keys]), code


def _named(game: Game, decision: Decision, pattern: _Pattern, around: list[Value]) -> Iterator[Code]:
    """Yield the legal options of an alternative, or of all; a pinned choice is computed instead of searched."""
    machine, state, site = game.machine, game.state, decision.site
    if pattern.number is None:
        yield from machine.options(state, decision.env, site)
        return
    option = site.options[pattern.number]
    if pattern.pins:
        items = tuple(_domain(option, pattern, around, place) for place in range(len(option.items)))
        option = replace(option, items=items)
    yield from ((pattern.number, values) for values in machine.values(state, decision.env, option))


def _domain(option: OptionSite, pattern: _Pattern, around: list[Value], place: int) -> Evaluate:
    """Return a function that returns the values of a choice: at most one if it is pinned to a value that is known."""
    every, pin = option.items[place], pattern.pins.get(place)
    if pin is None:
        return every

    def domain(state: State, env: Env) -> Sequence[Value]:
        items: Sequence[Value] = every(state, env)
        before = [env[variable] for variable in option.variables[:place]]
        try:
            value = pin(state, [*around, *before, *([None] * pattern.size)])
        except RuleFailure:  # earlier choices are untested; if they are legal, the test itself will fail
            return items
        return (value,) if value in items else ()

    return domain
