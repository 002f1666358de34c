"""Divergence of two rulesets: play both in lock step until their decisions differ.

Takes two rulesets and bots. Both games of a pair have the same seed, and every choice of the first is repeated in the
second. Returns, for each game, the first decision that differs and the cause: the difference that was exercised since
the choice before, or else when values of the states last moved apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plain_data import Json, grouped
from interpreter.base.stepwise import Steps, at_once
from interpreter.bots.compiled_bots import whole_for
from interpreter.bots.player import Bot
from interpreter.compare.common_values import CommonValues
from interpreter.compare.differences import Comparison, Difference
from interpreter.compare.variation import renumbered
from interpreter.engine.citations import Citation
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.settings import public_settings
from interpreter.engine.setup import Table
from interpreter.engine.views import Spoken, prompt_of
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State, Value
from interpreter.language.model import Model
from interpreter.play.match import LONG, Match
from interpreter.play.narration import words_of
from interpreter.testing.instrumentation import key_of, watched

if TYPE_CHECKING:
    from interpreter.compiler.wasm.whole_games import Whole

__all__ = ["BEGINNING", "Apart", "Beside", "Line", "LockStep", "Parting", "causes", "from_the_start"]

BEGINNING = "beginning"
"""Path of a divergence that no exercised difference explains: caused by the set-up or the components."""

_MOST_OPTIONS = 400
"""Largest number of options of a decision that are compared."""
_LEFT = 2
"""Number of choices before a divergence that are repeated to find its cause."""
_SOON = 16
"""Number of choices after which games are first thought to diverge."""
_SETTINGS = ("settings", "interpretations")

_Choices: TypeAlias = Sequence[Option | Mapping[str, Json]]
_Named: TypeAlias = dict[str, list[Option]]


class Parting(Struct, frozen=True):
    """Divergence of a game: its seed, number of choices, round, and the differing prompts or options of both sides.

    ``path`` is the difference that caused it. Games that never diverge have no path; ``choices`` is then their length.
    """

    seed: int
    choices: int
    round: int
    a: str = ""
    b: str = ""
    path: str = ""

    @property
    def is_apart(self) -> bool:
        return bool(self.a or self.b)


class Apart(Struct, frozen=True):
    """Games that diverge because of a difference: their number and share, the means of their choices and rounds before
    they do, and the earliest one."""

    path: str
    games: int = 0
    share: float = 0.0
    choices: float | None = None
    round: float | None = None
    example: Parting | None = None

    @classmethod
    def of(cls, path: str, total: int, partings: Sequence[Parting]) -> Self:
        """Return what these divergences of ``total`` games have in common."""
        if not partings:
            return cls(path)
        choices, rounds = fmean(each.choices for each in partings), fmean(each.round for each in partings)
        first = min(partings, key=lambda parting: parting.choices)
        return cls(path, len(partings), len(partings) / total, choices, rounds, first)


def causes(partings: Sequence[Parting]) -> list[Apart]:
    """Return the differences that made games diverge after a choice, most frequent first."""
    later = [parting for parting in partings if parting.path and parting.choices]
    paths = dict.fromkeys(parting.path for parting in later)
    found = [Apart.of(path, len(partings), [each for each in later if each.path == path]) for path in paths]
    return sorted(found, key=lambda cause: (-cause.games, cause.choices or 0))


def from_the_start(partings: Sequence[Parting]) -> Counter[str]:
    """Return the differences by which games differ in the first decision already, and in how many games."""
    return Counter(parting.path for parting in partings if parting.path and not parting.choices)


class _Found(Exception):
    """Raised when a part is exercised, if that ends the search."""


class _Parts(set[str]):
    """Set of the parts that were exercised, which remembers their order. With ``stops``, the first one is enough."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.stops = False

    def add(self, key: str, /) -> None:
        if self.stops:
            raise _Found(key)
        if key not in self:
            self.order.append(key)
        super().add(key)

    def take(self) -> list[str]:
        """Return the parts exercised since the last call, in order."""
        keys, self.order = self.order, []
        self.clear()
        return keys


class _Moment(NamedTuple):
    """A moment before or after a choice: the parts that were exercised on both sides since the choice before, and the
    cells of both states."""

    parts: list[str]
    cells: list[list[Value]]


class Line:
    """A game of bots that others are played in lock step with: the choices that are made in it, as far as one of the
    others needed them. Raises :class:`ValueError` for invalid numbers of players or settings."""

    def __init__(self, ruleset: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, object]) -> None:
        self.ruleset, self.bots, self.seed, self.settings = ruleset, bots, seed, settings
        self._begun = self.begun(ruleset)
        self._choices: list[Option] = []
        self._noting: Whole | None = None
        """The module that has noted choices."""
        self._notes, self._limit = b"", 0
        """Its notes, and how many choices were asked for."""

    @cached_property
    def _match(self) -> Match:
        return Match(self.ruleset, self.bots, self.seed, self.ruleset.own_settings(self.settings))

    def begun(self, ruleset: Ruleset) -> Game:
        """Return a game of a ruleset with the same seed. Raises :class:`ValueError` for invalid numbers of players or
        settings."""
        return ruleset.new_game(len(self.bots), self.seed, ruleset.own_settings(self.settings))

    def choice(self, number: int, game: Game) -> Option:
        """Return the choice that is made after a number of others, at which a game of the ruleset stands."""
        if self._noting is not None and game.decision is not None:
            code = self._noting.choice(self._notes, number, game.decision.named.index)
            if code is not None:
                return game.decision.legal_option(code)
        while len(self._choices) <= number:
            self._match.step()
            last = self._match.game.last_choice
            assert last is not None
            self._choices.append(last)
        return self._choices[number]

    def made(self, count: int) -> list[Option]:
        """Return the first choices."""
        game, made = self._begun.clone(), list[Option]()
        for number in range(count):
            made.append(self.choice(number, game))
            game.apply(made[-1])
        return made

    def beside(self, b: Ruleset, guess: int = LONG) -> Beside:
        """Return this game and one of another ruleset, after the choices up to which modules find that the same is
        asked. The last ones are left, so that they can be taken back. Without modules, and where choices or the values
        shown with them are lists, records or texts, all that follow are left.

        It takes least time if ``guess`` is a little more than the number of these choices. Raises :class:`ValueError`
        for invalid numbers of players or settings.
        """
        games = self._begun.clone(), self.begun(b)
        noting, following = whole_for(games[0].runner, games[0].ruleset, self.bots), games[1].runner.whole(())
        if noting is None or following is None:
            return Beside(self, 0, *games)
        first = max(0, self._agreed(*noting, following[0], games[1].table.called, guess) - _LEFT)
        modules = noting[0], following[0]
        later = (self._after(first, *each) for each in zip(games, modules, strict=True))
        return Beside(self, first, *(later if first else games))

    def _agreed(self, noting: Whole, bots: Sequence[int], following: Whole, called: bytes, guess: int) -> int:
        """Return the number of choices up to which modules find that the same is asked."""
        if self._noting is not noting:
            self._noting, self._limit = noting, 0
        count = 0
        for limit in sorted({min(guess, LONG), LONG}):
            if limit > self._limit:
                self._notes = noting.noted(self.seed, bots, limit, self._begun.table.called)
                self._limit = limit
            count = following.followed(self.seed, self._notes, called, limit)
            if count < limit:
                break
        return count

    def _after(self, count: int, game: Game, module: Whole) -> Game:
        """Return the game after the first noted choices."""
        made = module.followed(self.seed, self._notes, game.table.called, count)
        assert made == count
        state, chance = game.table.first.clone(), Seeded(self.seed)
        module.built.adopt(state, chance)
        return Game(game.ruleset, game.table, state, chance, game.origin)


class Beside(NamedTuple):
    """A game of bots, and one of another ruleset with the same choices, both after the ``first`` of them."""

    line: Line
    first: int
    a: Game
    b: Game

    def in_step(self) -> Steps[Parting]:
        """Play both on until they diverge, with a step for each choice. Return the divergence, without its cause."""
        line, number, a, b = self
        while (told := _difference(a, b)) is None and a.decision is not None:
            yield
            made = line.choice(number, a)
            a.apply(made)
            number += 1
            try:
                b.apply(_like(b, made))
            except IllegalMove as refusal:  # not among the compared options
                told = " ".join(map(str, made.as_dict().values())), str(refusal)
                break
        return Parting(line.seed, number, a.round, *(told or ()))


class LockStep:
    """Plays both sides of a comparison in lock step, with bots of the first."""

    def __init__(
        self, comparison: Comparison, bots: Sequence[Bot], settings: Mapping[str, object] | None = None
    ) -> None:
        self.bots, self.settings = bots, dict(settings or {})
        self.a, self.b = comparison.a, comparison.b
        self._parts = _Parts()
        self._guess = _SOON
        left, right = (self._chosen(ruleset) for ruleset in (self.a, self.b))
        others = {name for name in left.keys() & right.keys() if left[name] != right[name]}
        sought = [d for d in comparison.differences if d.section not in _SETTINGS or d.name in others]
        self._paths: dict[str, str] = {}
        """Paths of differences by the keys of the parts that are watched for them."""
        both = (self.a, self.b), (self.b, self.a)
        self._watched = [self._watching(own, other, sought) for own, other in both]

    def _chosen(self, ruleset: Ruleset) -> dict[str, Json]:
        """Return the values of all settings and interpretations in the games of a side, by public names."""
        values = ruleset.settings(ruleset.own_settings(self.settings))
        public = public_settings(ruleset.model, ruleset.names, values)
        return {name: public.get(name) for name in values}

    @cached_property
    def _tables(self) -> tuple[Table, Table]:
        """The tables of the instrumented copies."""
        a, b = (of.table(len(self.bots), of.settings(of.own_settings(self.settings))) for of in self._watched)
        return a, b

    @cached_property
    def _common(self) -> CommonValues:
        return CommonValues(*self._tables)

    def _watching(self, own: Ruleset, other: Ruleset, differences: Iterable[Difference]) -> Ruleset:
        cited = [(part, each.path) for each in differences for part in _citations(own.model, other.model, each)]
        self._paths |= {key_of(part): path for part, path in cited}
        return watched(own, [part for part, _ in cited], self._parts)

    def steps(self, seed: int) -> Steps[Parting]:
        """Play the seed on both sides, in steps, and return the divergence. Raises :class:`ValueError` for invalid
        numbers of players or settings."""
        both = Line(self.a, self.bots, seed, self.settings).beside(self.b, self._guess)
        parting = yield from both.in_step()
        self._guess = max(_SOON, 2 * parting.choices)
        if not parting.is_apart:
            return parting
        for table in self._tables:
            table.runner.plain = True
        path = (yield from self._cause(both)) if both.first or both.b.last_choice else self._first(both)
        return replace(parting, path=path)

    def _first(self, both: Beside) -> str:
        """Return the first part that the set-up or the first decision exercises in the instrumented copies."""
        self._parts.stops = True
        try:
            at_once(self._exercised(both, ([], []), whole=True))
        except _Found as found:
            return self._paths[str(found)]
        finally:
            self._parts.stops = False
        return BEGINNING

    def _cause(self, both: Beside) -> Steps[str]:
        """Repeat choices in the instrumented copies. Return the part exercised since the last choice that came after
        the fewest choices before, the first of these.

        If there is none, but values of the states differ, it is that of the last moment at which they began to, or
        changed how. If all parts since the last choice belong to one difference, what came before does not matter:
        games are taken back. The choice before the last is made for what is then remembered of the state, as in a whole
        game.
        """
        a, b = ([choice for _, choice in game.choices] for game in (both.a, both.b))
        moments = None
        if both.first or len(b) > _LEFT:
            moments = yield from self._exercised(both, (a, b), whole=False)
        if moments is None or len({self._paths[key] for key in moments[-1].parts}) > 1:
            moments = yield from self._exercised(both, (a, b), whole=True)
        assert moments is not None
        begun = [both.line.begun(side).state.cells for side in (self.a, self.b)] if not moments[-1].parts else []
        if begun and self._is_moved(_Moment([], begun), moments[-1]):
            moments = yield from self._exercised(both, (a, b), whole=True)
            assert moments is not None
            while len(moments) > 1 and not (moments[-1].parts and self._is_moved(*moments[-2:])):
                moments.pop()
        *earlier, last = moments
        times = Counter(key for moment in earlier for key in {*moment.parts})
        return self._paths[min(last.parts, key=times.__getitem__)] if last.parts and earlier else BEGINNING

    def _is_moved(self, before: _Moment, now: _Moment) -> bool:
        """Return whether values of both states differ in another way than before."""
        return self._common.differing(*now.cells) != self._common.differing(*before.cells)

    def _exercised(self, both: Beside, made: tuple[_Choices, _Choices], *, whole: bool) -> Steps[list[_Moment] | None]:
        """Return the moments before, between and after choices that are ``made`` on both sides.

        Unless ``whole`` games are played, they are taken back by some choices, and the moments are only those since
        then. They are unknown (None) if a game cannot be taken back, or if a choice changes nothing, so that results of
        functions are still remembered.
        """
        line, moments, count = both.line, list[_Moment](), len(made[1])
        known: _Choices = line.made(both.first) if whole else []
        sides = zip(self._watched, self._tables, (both.a, both.b), made, strict=True)
        for copy, table, played, choices in sides:
            self._parts.take()
            if whole:
                game = line.begun(copy)
            elif all(played.undo() for _ in choices[count - _LEFT :]):
                frame = renumbered(played.state.frame, played.ruleset.program, copy.program)
                game = Game(copy, table, State(played.state.cells[:], frame), Seeded(line.seed), played.origin)
            else:
                return None
            again = [*known, *choices[:count]] if whole else choices[count - _LEFT : count]
            moments = moments or [_Moment([], []) for _ in range(len(again) + 1)]
            for number, moment in enumerate(moments):
                if number:
                    yield
                    game.apply(again[number - 1])
                if number == len(again) and (decision := game.decision) is not None:
                    _ = decision.codes
                moment.parts.extend(self._parts.take())
                moment.cells.append(game.state.cells[:])
                if not whole and number == 1 and moment.cells[-1] == moments[0].cells[-1]:
                    return None
        return moments


def _citations(model: Model, other: Model, difference: Difference) -> Iterator[Citation]:
    """Yield the parts of a side that games exercise where the difference matters."""
    section, name = difference.section, difference.name
    match section:
        case "rules":
            yield from _layers(model, name)
        case "round":
            begun = set(_begun(other))
            yield from (part for phase in _begun(model) if phase not in begun for part in _layers(model, phase[0]))
        case "triggers" | "standing" | "tables" | "settings" | "interpretations":
            if (declaration := getattr(model, section).get(name)) is not None:
                yield Citation(section, name, declaration.span.file.name, declaration.span, ())


def _layers(model: Model, name: str) -> Iterator[Citation]:
    for layer in model.rules[name].layers if name in model.rules else ():
        if layer.form != "permits" or layer.body:
            yield Citation("rules", name, layer.file, layer.span, (), (layer.layer,))


def _begun(model: Model) -> Iterator[tuple[str, str, str]]:
    """Yield each phase with what it begins after, and its condition."""
    for before, phase, guard in zip(("", *model.phases), model.phases, model.phase_guards, strict=False):
        yield phase, before, guard.value.span.on_one_line if guard else ""


def _named(game: Game) -> _Named:
    """Return the options of the pending decision by public names, at most :data:`_MOST_OPTIONS`."""
    options = game.decision.options if game.decision is not None else ()
    return grouped((str(option), option) for option in islice(options, _MOST_OPTIONS))


def _like(game: Game, made: Option) -> Option:
    """Return the option that is called like a choice, if possible with the same code; else the choice itself."""
    return min(_named(game).get(str(made), ()), key=lambda option: option.code != made.code, default=made)


def _difference(first: Game, second: Game) -> tuple[str, str] | None:
    """Return descriptions of both decisions if they differ in what both sides must agree on: the actor, the name, the
    context and the options."""
    a, b = first.decision, second.decision
    if a is None and b is None:
        return None
    if a is None or b is None or (a.name, a.actor) != (b.name, b.actor):
        return _prompt(first), _prompt(second)
    options_a, options_b = _named(first), _named(second)
    if options_a.keys() != options_b.keys():
        return _only(first, a, options_a, options_b), _only(second, b, options_b, options_a)
    if a.context != b.context:
        left, right = (", ".join(f"{name} {value}" for name, value in each.context.items()) for each in (a, b))
        return left, right
    return None


def _prompt(game: Game) -> str:
    """Return the prompt of the pending decision, or its name if the ruleset has no prompt for it."""
    decision = game.decision
    if decision is None:
        return "the game is over"
    prompt = prompt_of(game.table, game.state, decision)
    return prompt or f"player {decision.actor + 1}: {decision.name.replace('_', ' ')}"


def _only(game: Game, decision: Decision, own: _Named, others: _Named) -> str:
    """Describe the options that only one side has, in the words of the log."""
    extra = [options[-1] for name, options in own.items() if name not in others]
    if not extra:
        return f"player {decision.actor + 1} has no option that only this side has"
    spoken = Spoken(game.table, game.state, "en")
    shown = "; ".join(words_of(spoken, decision, option.code) or str(option) for option in extra[:3])
    more = f"; and {len(extra) - 3} more" if len(extra) > 3 else ""
    return f"player {decision.actor + 1} has options only here: {shown}{more}"
