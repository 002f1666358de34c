"""Divergence of two rulesets: play both in lock step until their decisions differ.

Takes two rulesets and bots. Both games of a pair have the same seed, and every choice of the first is repeated in the
second. Returns, for each game, the first decision that differs and the cause: the first differing text or table that
was exercised since the decision before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plain_data import Json
from interpreter.base.stepwise import Steps, at_once
from interpreter.bots.player import Bot
from interpreter.compare.differences import Comparison, Difference
from interpreter.compare.variation import renumbered
from interpreter.engine.citations import Citation
from interpreter.engine.decision import Code, Decision, Named, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.setup import Table
from interpreter.engine.views import Spoken, prompt_of
from interpreter.kernel.chance import Seeded
from interpreter.kernel.state import State
from interpreter.play.match import Match
from interpreter.play.narration import words_of
from interpreter.testing.instrumentation import key_of, watched

__all__ = ["BEGINNING", "Apart", "Line", "LockStep", "Parting", "causes", "from_the_start", "in_step", "own_settings"]

BEGINNING = "beginning"
"""Path of a divergence before any differing text or table is exercised: caused by the set-up or the components."""

_MOST_OPTIONS = 400
"""Largest number of options of a decision that are compared."""
_SECTIONS = ("rules", "triggers", "standing", "tables")


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


class _Noted(Exception):
    """Raised when a part is exercised, if that ends the search."""


class _Notes(set[str]):
    """Set of the parts that were exercised, which remembers their order. With ``stops``, the first one is enough."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.stops = False

    def add(self, key: str, /) -> None:
        if self.stops:
            raise _Noted(key)
        if key not in self:
            self.order.append(key)
        super().add(key)

    def take(self) -> list[str]:
        """Return the parts exercised since the last call, in order."""
        keys, self.order = self.order, []
        self.clear()
        return keys


class _Asked(NamedTuple):
    """A decision as far as both sides must agree: its actor, context and options, at most :data:`_MOST_OPTIONS`."""

    named: Named
    actor: int
    context: Mapping[str, Json]
    codes: list[Code]

    @classmethod
    def by(cls, decision: Decision) -> Self:
        return cls(decision.named, decision.actor, decision.context, decision.codes[:_MOST_OPTIONS])

    @property
    def options(self) -> dict[str, Option]:
        """The options by public names."""
        return {str(option): option for option in map(self.named.option, self.codes)}

    def is_like(self, other: _Asked, known: defaultdict[tuple[Named, Named], set[Code]]) -> bool:
        """Return whether both sides ask the same. ``known`` are codes of options that are called the same there."""
        mine, others = ((each.named.site.ask.name, each.actor, each.context) for each in (self, other))
        if mine != others:
            return False
        if self.codes == other.codes:
            alike = known[self.named, other.named]
            new = [pair for pair in zip(self.codes, other.codes, strict=True) if pair[0] not in alike]
            if all(str(self.named.option(a)) == str(other.named.option(b)) for a, b in new):
                alike.update(a for a, _ in new)
                return True
        return self.options.keys() == other.options.keys()

    def code_of(self, made: Option) -> Code | None:
        """Return the code of the option that is called like a choice."""
        first = [made.code] if made.code in self.codes else []
        return next((code for code in first + self.codes if str(self.named.option(code)) == str(made)), None)


class Line:
    """A game of bots that others are played in lock step with, played as far as one of them needed it.

    Raises :class:`ValueError` for invalid numbers of players or settings.
    """

    def __init__(self, ruleset: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, object]) -> None:
        self.ruleset, self.bots, self.seed, self.settings = ruleset, bots, seed, settings
        self._match = Match(ruleset, bots, seed, own_settings(ruleset, settings))
        self.choices: list[Option] = []
        self._moments = [self._moment()]

    def choice(self, number: int) -> Option:
        """Return a choice of the bots."""
        self.at(number + 1)
        return self.choices[number]

    def game(self, number: int) -> Game:
        """Return the game after a number of choices."""
        if number == len(self.choices):
            return self._match.game
        return self.replayed(self.ruleset, self.choices[:number])

    def table(self, ruleset: Ruleset) -> Table:
        """Return the table of a ruleset for these bots and settings."""
        return ruleset.table(len(self.bots), ruleset.settings(own_settings(ruleset, self.settings)))

    def replayed(self, ruleset: Ruleset, choices: Iterable[Option | Mapping[str, Json]] = ()) -> Game:
        """Return a game of a ruleset with the same seed after these choices. Raises :class:`ValueError` for invalid
        numbers of players or settings."""
        game = ruleset.new_game(len(self.bots), self.seed, own_settings(ruleset, self.settings))
        for choice in choices:
            game.apply(choice)
        return game

    def taken_back(self, game: Game, made: Sequence[Option | Mapping[str, Json]], number: int) -> Game:
        """Take a game in which these choices were made back to a number of them; if it cannot, repeat those."""
        return game if all(game.undo() for _ in made[number:]) else self.replayed(game.ruleset, made[:number])

    def at(self, number: int) -> tuple[_Asked | None, int]:
        """Return the decision after a number of choices (None: the game is over), and the round."""
        while len(self._moments) <= number:
            self._match.step()
            last = self._match.game.last_choice
            assert last is not None
            self.choices.append(last)
            self._moments.append(self._moment())
        return self._moments[number]

    def _moment(self) -> tuple[_Asked | None, int]:
        game = self._match.game
        return _Asked.by(game.decision) if game.decision is not None else None, game.round


def in_step(line: Line, b: Ruleset) -> Steps[tuple[Parting, Game]]:
    """Play another ruleset until it diverges, with a step for each choice. Return the divergence, without its cause,
    and the other game.

    Raises :class:`ValueError` for invalid numbers of players or settings.
    """
    other, number = line.replayed(b), 0
    known = defaultdict[tuple[Named, Named], set[Code]](set)
    while (decision := other.decision) is not None:
        first, second = line.at(number)[0], _Asked.by(decision)
        if first is None or not first.is_like(second, known):
            break
        yield
        made = line.choice(number)
        code = second.code_of(made)
        try:
            other.apply(decision.legal_option(code) if code is not None else made)
        except IllegalMove as refusal:  # not among the compared options
            taken = " ".join(map(str, made.as_dict().values()))
            return Parting(line.seed, number + 1, line.at(number + 1)[1], taken, str(refusal)), other
        number += 1
    told = _difference(line.game(number), other)
    return Parting(line.seed, number, line.at(number)[1], *(told or ())), other


class LockStep:
    """Plays both sides of a comparison in lock step, with bots of the first."""

    def __init__(
        self, comparison: Comparison, bots: Sequence[Bot], settings: Mapping[str, object] | None = None
    ) -> None:
        self.bots, self.settings = bots, dict(settings or {})
        self.a, self.b = comparison.a, comparison.b
        self._notes = _Notes()
        sought = [d for d in comparison.differences if d.path.partition(".")[0] in _SECTIONS]
        self._paths: dict[str, str] = {}
        self._watched = [self._watching(ruleset, sought) for ruleset in (self.a, self.b)]

    def _watching(self, ruleset: Ruleset, differences: Iterable[Difference]) -> Ruleset:
        cited = [(citation, each.path) for each in differences for citation in _citations(ruleset, each)]
        self._paths |= {key_of(citation): path for citation, path in cited}
        return watched(ruleset, [citation for citation, _ in cited], self._notes)

    def steps(self, seed: int) -> Steps[Parting]:
        """Play the seed on both sides, in steps, and return the divergence. Raises :class:`ValueError` for invalid
        numbers of players or settings."""
        line = Line(self.a, self.bots, seed, self.settings)
        for copy in self._watched:
            line.table(copy).runner.plain = True
        self._notes.take()
        parting, other = yield from in_step(line, self.b)
        if not parting.is_apart:
            return parting
        path = (yield from self._cause(line, other)) if other.last_choice else self._first(line, other)
        return replace(parting, path=path)

    def _first(self, line: Line, other: Game) -> str:
        """Return the first part that the set-up or the first decision exercises in the instrumented copies."""
        self._notes.stops = True
        try:
            at_once(self._exercised(line, other, (), 0))
        except _Noted as noted:
            return self._paths[str(noted)]
        finally:
            self._notes.stops = False
        return BEGINNING

    def _cause(self, line: Line, other: Game) -> Steps[str]:
        """Repeat choices in the instrumented copies. Return the first part exercised since the last choice, preferably
        one not exercised before.

        If all parts since then belong to one difference, what came before does not matter: games are taken back. The
        choice before the last is made for what is then remembered of the state, as in a whole game.
        """
        choices = [choice for _, choice in other.choices]
        last, before = yield from self._exercised(line, other, choices, max(0, len(choices) - 2))
        if last is None or len({self._paths[key] for key in last}) > 1:
            last, before = yield from self._exercised(line, other, choices, 0)
        assert last is not None
        keys = [key for key in last if key not in before] or last
        return self._paths[keys[0]] if keys else BEGINNING

    def _exercised(
        self, line: Line, other: Game, choices: Sequence[Option | Mapping[str, Json]], start: int
    ) -> Steps[tuple[list[str] | None, set[str]]]:
        """Return the parts exercised since the last choice, and before it, but not before choice number ``start``. The
        former are unknown (None) if that choice changes nothing, so that results of functions are still remembered."""
        before: set[str] = set()
        last: list[str] = []
        games = line.game(len(line.choices)), other
        for copy, played, made in zip(self._watched, games, (line.choices, choices), strict=True):
            self._notes.take()
            if not start:
                game = line.replayed(copy)
            else:
                played = line.taken_back(played, made, start)
                cells = played.state.cells[:]
                state = State(cells[:], renumbered(played.state.frame, played.ruleset.program, copy.program))
                game = Game(copy, line.table(copy), state, Seeded(line.seed), played.origin)
            windows = [self._notes.take()]
            for choice in made[start : len(choices)]:
                yield
                game.apply(choice)
                windows.append(self._notes.take())
                if start and len(windows) == 2 and game.state.cells == cells:
                    return None, before
            if (decision := game.decision) is not None:
                _ = decision.codes
            last += [*windows.pop(), *self._notes.take()]
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


def _difference(first: Game, second: Game) -> tuple[str, str] | None:
    """Return descriptions of both decisions if they differ."""
    a, b = first.decision, second.decision
    if a is None and b is None:
        return None
    if a is None or b is None or (a.name, a.actor) != (b.name, b.actor):
        return _prompt(first), _prompt(second)
    options_a, options_b = _Asked.by(a).options, _Asked.by(b).options
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


def _only(game: Game, decision: Decision, own: dict[str, Option], others: dict[str, Option]) -> str:
    """Describe the options that only one side has, in the words of the log."""
    extra = [option for name, option in own.items() if name not in others]
    if not extra:
        return f"player {decision.actor + 1} has no option that only this side has"
    spoken = Spoken(game.table, game.state, "en")
    shown = "; ".join(words_of(spoken, decision, option.code) or str(option) for option in extra[:3])
    more = f"; and {len(extra) - 3} more" if len(extra) > 3 else ""
    return f"player {decision.actor + 1} has options only here: {shown}{more}"
