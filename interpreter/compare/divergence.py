"""Divergence of two rulesets: play both in lock step until their decisions differ.

Takes two rulesets and bots. Both games of a pair have the same seed, and every choice of the first is repeated in the
second. Returns, for each game, the first decision that differs and the cause: the first differing text or table that
was exercised since the decision before.
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
from interpreter.compare.differences import Comparison, Difference
from interpreter.compare.variation import renumbered
from interpreter.engine.citations import Citation
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.setup import Table
from interpreter.engine.views import Spoken, prompt_of
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State
from interpreter.play.match import LONG, Match
from interpreter.play.narration import words_of
from interpreter.testing.instrumentation import key_of, watched

if TYPE_CHECKING:
    from interpreter.compiler.wasm.whole_games import Whole

__all__ = ["BEGINNING", "Apart", "Beside", "Line", "LockStep", "Parting", "causes", "from_the_start", "own_settings"]

BEGINNING = "beginning"
"""Path of a divergence before any differing text or table is exercised: caused by the set-up or the components."""

_MOST_OPTIONS = 400
"""Largest number of options of a decision that are compared."""
_LEFT = 2
"""Number of choices before a divergence that are repeated to find its cause."""
_SOON = 16
"""Number of choices after which games are first thought to diverge."""
_SECTIONS = ("rules", "triggers", "standing", "tables")

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


def own_settings(ruleset: Ruleset, settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that the ruleset has."""
    return {name: value for name, value in settings.items() if ruleset.has_setting(name)}


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
        return Match(self.ruleset, self.bots, self.seed, own_settings(self.ruleset, self.settings))

    def table(self, ruleset: Ruleset) -> Table:
        """Return the table of a ruleset for these bots and settings."""
        return ruleset.table(len(self.bots), ruleset.settings(own_settings(ruleset, self.settings)))

    def begun(self, ruleset: Ruleset) -> Game:
        """Return a game of a ruleset with the same seed. Raises :class:`ValueError` for invalid numbers of players or
        settings."""
        return ruleset.new_game(len(self.bots), self.seed, own_settings(ruleset, self.settings))

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
        sought = [d for d in comparison.differences if d.path.partition(".")[0] in _SECTIONS]
        self._paths: dict[str, str] = {}
        self._watched = [self._watching(ruleset, sought) for ruleset in (self.a, self.b)]

    def _watching(self, ruleset: Ruleset, differences: Iterable[Difference]) -> Ruleset:
        cited = [(citation, each.path) for each in differences for citation in _citations(ruleset, each)]
        self._paths |= {key_of(citation): path for citation, path in cited}
        return watched(ruleset, [citation for citation, _ in cited], self._parts)

    def steps(self, seed: int) -> Steps[Parting]:
        """Play the seed on both sides, in steps, and return the divergence. Raises :class:`ValueError` for invalid
        numbers of players or settings."""
        both = Line(self.a, self.bots, seed, self.settings).beside(self.b, self._guess)
        for copy in self._watched:
            both.line.table(copy).runner.plain = True
        self._parts.take()
        parting = yield from both.in_step()
        self._guess = max(_SOON, 2 * parting.choices)
        if not parting.is_apart:
            return parting
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
        """Repeat choices in the instrumented copies. Return the first part exercised since the last choice, preferably
        one not exercised before.

        If all parts since then belong to one difference, what came before does not matter: games are taken back. The
        choice before the last is made for what is then remembered of the state, as in a whole game.
        """
        a, b = ([choice for _, choice in game.choices] for game in (both.a, both.b))
        last, before = None, set[str]()
        if both.first or len(b) > _LEFT:
            last, before = yield from self._exercised(both, (a, b), whole=False)
        if last is None or len({self._paths[key] for key in last}) > 1:
            last, before = yield from self._exercised(both, (a, b), whole=True)
        assert last is not None
        keys = [key for key in last if key not in before] or last
        return self._paths[keys[0]] if keys else BEGINNING

    def _exercised(
        self, both: Beside, made: tuple[_Choices, _Choices], *, whole: bool
    ) -> Steps[tuple[list[str] | None, set[str]]]:
        """Return the parts exercised since the last of the choices ``made`` on both sides, and before it.

        Unless ``whole`` games are played, they are taken back by some choices, and the latter are only those since
        then. The former are then unknown (None) if a game cannot be taken back, or if a choice changes nothing, so that
        results of functions are still remembered.
        """
        line, before, last = both.line, set[str](), list[str]()
        known: _Choices = line.made(both.first) if whole else []
        count = len(made[1])
        for copy, played, choices in zip(self._watched, (both.a, both.b), made, strict=True):
            self._parts.take()
            if whole:
                game = line.begun(copy)
            elif all(played.undo() for _ in choices[count - _LEFT :]):
                cells = played.state.cells[:]
                state = State(cells[:], renumbered(played.state.frame, played.ruleset.program, copy.program))
                game = Game(copy, line.table(copy), state, Seeded(line.seed), played.origin)
            else:
                return None, before
            windows = [self._parts.take()]
            for choice in [*known, *choices[:count]] if whole else choices[count - _LEFT : count]:
                yield
                game.apply(choice)
                windows.append(self._parts.take())
                if not whole and len(windows) == 2 and game.state.cells == cells:
                    return None, before
            if (decision := game.decision) is not None:
                _ = decision.codes
            last += [*windows.pop(), *self._parts.take()]
            before.update(*windows)
        return last, before


def _citations(ruleset: Ruleset, difference: Difference) -> Iterator[Citation]:
    section, _, name = difference.path.partition(".")
    name = name.partition("[")[0]
    model = ruleset.model
    match section:
        case "rules" if name in model.rules:
            for layer in model.rules[name].layers:
                if layer.form != "permits" or layer.body:
                    yield Citation(section, name, layer.file, layer.span, (), (layer.layer,))
        case "triggers" | "standing" | "tables":
            if (declaration := getattr(model, section).get(name)) is not None:
                yield Citation(section, name, declaration.file, declaration.span, ())


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
