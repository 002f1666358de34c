"""Fuzzing by play: games of several bots, with all numbers of players and random settings, checked at every decision.

Takes a ruleset; returns findings without duplicates: a trouble and the game that shows it.
:mod:`interpreter.testing.soundness` checks a game; :mod:`interpreter.testing.shrink` shortens a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from time import monotonic
from typing import TypeVar

from msgspec import Struct

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.base.plurals import counted
from interpreter.bots.compiled_bots import announce
from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of, default_bots
from interpreter.engine.game import Game, Ruleset
from interpreter.hidden.dealing import shuffled
from interpreter.language.types import BoolType, KindType
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import streams_for, who_decides
from interpreter.testing.channels import CHANNELS, Channel
from interpreter.testing.openings import Phases, phases_of
from interpreter.testing.rules_in_play import RulesInPlay
from interpreter.testing.soundness import Examiner, Trouble, drawing, some_option, trouble_of

__all__ = ["Course", "Finding", "Played", "verify"]

BOTS = ("random", "rare")
REFUSED = 4
"""Largest number of attempts per requested game, as a ruleset may refuse random settings."""

T = TypeVar("T")


class Course(Struct, frozen=True):
    """Set-up and bots of a game."""

    players: int
    seed: int
    settings: dict[str, Json]
    bots: str

    def __str__(self) -> str:
        settings = "".join(f", {name}={value}" for name, value in self.settings.items())
        return f"{counted(self.players, 'player')}, seed {self.seed}, bots {self.bots}{settings}"


class Finding(Struct, frozen=True):
    """A trouble and the game that shows it: the choices up to the one that shows it, and what came before."""

    trouble: Trouble
    asked: Ruleset
    """The ruleset without the overlays of the number of players."""
    ruleset: Ruleset
    course: Course
    choices: tuple[tuple[int, dict[str, Json]], ...]
    phases: Phases


@dataclass
class Played:
    """Progress of a search. ``watch`` is called after each decision."""

    games: int = 0
    decisions: int = 0
    closely: int = 0
    """Number of decisions that had at least one slow check."""
    pairs: int = 0
    """Number of comparisons of a game with another that differs in hidden information only."""
    rules: RulesInPlay = field(default_factory=RulesInPlay)
    cut: int = 0
    """Number of games cut short by the time limit."""
    refused: int = 0
    """Number of games not started because the ruleset refuses the random settings."""
    watch: Callable[[], None] = field(default=lambda: None, repr=False)


def verify(
    ruleset: Ruleset,
    seed: int = 0,
    games: int | None = None,
    seconds: float | None = None,
    players: Sequence[int] = (),
    settings: Mapping[str, Json] | None = None,
    played: Played | None = None,
    channels: Mapping[str, Channel] = CHANNELS,
) -> Iterator[Finding]:
    """Play until ``games`` or ``seconds`` is reached, and yield each trouble once. ``played`` reports progress.

    The seed determines the games. ``settings`` apply to all of them; other settings vary. ``channels`` are those that
    must not leak. Raises :class:`ValueError` for a number of players that the ruleset does not allow.
    """
    played = played if played is not None else Played()
    search = _Search(ruleset, played, channels, monotonic() + (seconds if seconds is not None else inf))
    for number, course in enumerate(_courses(ruleset, seed, players, dict(settings or {}))):
        if (games is not None and (played.games >= games or number >= REFUSED * games)) or monotonic() > search.end:
            return
        yield from search.play(course)


def _bots(ruleset: Ruleset) -> list[str]:
    return list(dict.fromkeys(("random", default_bots(ruleset), *BOTS)))


def _courses(ruleset: Ruleset, seed: int, players: Sequence[int], settings: dict[str, Json]) -> Iterator[Course]:
    """Yield every number of players with every bot, first with default settings, then with random ones, and repeat.

    All bots share the same random settings, because preparing a table for them pays off only if it is reused.
    """
    numbers = list(players) or list(range(ruleset.players.low, ruleset.players.high + 1))
    for number in numbers:
        ruleset.check_players(number)
    names = _bots(ruleset)
    for index in count():
        people, turn = numbers[index % len(numbers)], index // len(numbers)
        chosen = dict(settings)
        if turn // len(names) % 2:
            variant = turn // len(names) // 2 * len(numbers) + index % len(numbers)
            chosen = {**_others(ruleset.for_players(people), seed, variant), **chosen}
        yield Course(people, seed + index, chosen, names[turn % len(names)])


def _others(ruleset: Ruleset, seed: int, variant: int) -> dict[str, Json]:
    """Return random readings and settings. Each cycles through its values in random order, so that few games cover all
    values in many combinations."""

    def pick(name: str, values: Sequence[T]) -> T:
        turn, place = divmod(variant, len(values))
        return values[shuffled(range(len(values)), drawing(seed, f"settings {turn} {name}"))[place]]

    settings: dict[str, Json] = {}
    for doubt in ruleset.model.interpretations.values():
        reading = pick(doubt.name, list(doubt.readings))
        if reading != doubt.default:
            settings[doubt.name] = reading
    for setting in ruleset.model.settings.values():
        name, draw = setting.name, drawing(seed, f"settings {variant} {setting.name}")
        if pick(f"whether {name}", (True, False)):
            continue
        if setting.range is not None:
            low, high = setting.range
            settings[name] = low + draw(high - low + 1)
        elif isinstance(setting.type, BoolType):
            settings[name] = bool(draw(2))
        elif isinstance(setting.type, KindType):
            settings[name] = pick(name, ruleset.model.members(setting.type.name))
    return settings


@dataclass
class _Search:
    """A search through many games, and what they have in common."""

    asked: Ruleset
    played: Played
    channels: Mapping[str, Channel]
    end: float
    """The time limit."""
    _found: set[object] = field(default_factory=set)
    _looked: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _begun: set[tuple[object, ...]] = field(default_factory=set)
    """Numbers of players with bots, and with settings, of the games so far."""
    _bots: dict[int, dict[str, list[Bot]]] = field(default_factory=dict)

    def play(self, course: Course) -> Iterator[Finding]:
        """Play a game to its end, its first failure or the time limit, and yield each new trouble.

        Games with new bots or settings are repeated in the plain form.
        """
        played, people = self.played, course.players
        ruleset = self.asked.for_players(people)
        try:
            table = ruleset.table(people, ruleset.settings(course.settings))
            game = Game.seated(ruleset, table, course.seed, None)
        except (ValueError, RulesetError):  # the ruleset refuses these random settings
            played.refused += 1
            return
        played.games += 1
        if people not in self._bots:
            self._bots[people] = {name: bots_of(name, self.asked, people) for name in _bots(self.asked)}
        announce(table.runner, ruleset, [bot for bots in self._bots[people].values() for bot in bots])
        table.runner.patience = 0
        known = {(people, course.bots), (people, *course.settings.items())}
        is_new = not known <= self._begun
        self._begun |= known
        draw = drawing(course.seed, "game")
        examiner = Examiner(game, draw, channels=self.channels, looked=self._looked)
        for trouble in self._troubles(examiner, self._bots[people][course.bots], is_new):
            if trouble.key not in self._found:
                self._found.add(trouble.key)
                yield self._finding(trouble, game, course)
        played.closely += examiner.closely
        played.pairs += examiner.pairs

    def _troubles(self, examiner: Examiner, bots: Sequence[Bot], is_new: bool) -> Iterator[Trouble]:
        game, played = examiner.game, self.played
        streams = streams_for(game.origin["seed"], len(bots))
        try:
            game.start()
            while True:
                yield from examiner.look()
                decision = game.decision
                if decision is None:
                    break
                if monotonic() > self.end:
                    played.cut += 1
                    break
                bot = who_decides(bots, decision)
                try:
                    option = bot.choose(game, decision, streams[decision.actor])
                except RuleFailure:  # a policy that fails is no fault of the rules
                    option = some_option(decision, examiner.draw)
                troubles = list(examiner.make(option))
                played.decisions += 1
                played.watch()
                yield from troubles
                if any(trouble.kind in ("failure", "dead end", "endless") for trouble in troubles):
                    return
            if is_new and not played.rules.repeat(game):
                yield Trouble("forms", "the plain form and the module give different results")
        except RuleFailure as failure:
            yield trouble_of(failure)

    def _finding(self, trouble: Trouble, game: Game, course: Course) -> Finding:
        choices = game.choices
        if trouble.choice is not None and game.decision is not None:
            choices.append((game.decision.actor, dict(trouble.choice)))
        return Finding(trouble, self.asked, game.ruleset, course, tuple(choices), phases_of(game, tuple(choices)))
