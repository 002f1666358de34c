"""Looking for trouble by play: games by several bots, with all numbers of players and other settings, each looked at
from decision to decision.

In goes a ruleset, out come findings, each once: what is wrong, and the game in which it was. What is wrong with a game
is said by :mod:`interpreter.testing.soundness`; findings are made short in :mod:`interpreter.testing.shrink`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TypeVar

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.base.plurals import counted
from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of, default_bots
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.game import Game
from interpreter.engine.observation import shuffled
from interpreter.engine.ruleset import Ruleset
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import State
from interpreter.language.types import BoolType, KindType
from interpreter.play.match import streams_for, who_decides
from interpreter.testing.soundness import Examiner, Trouble, drawing, some_option, trouble_of

__all__ = ["Course", "Finding", "Moment", "Played", "verify"]

BOTS = ("random", "rare")
KEPT = 8
"""So many starts of phases are remembered, the last ones."""
REFUSED = 4
"""So many times as many games are begun as are asked for, where settings by chance are refused."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Course:
    """Set-up and bots of a game."""

    players: int
    seed: int
    settings: dict[str, Json]
    bots: str

    def __str__(self) -> str:
        settings = "".join(f", {name}={value}" for name, value in self.settings.items())
        return f"{counted(self.players, 'player')}, seed {self.seed}, bots {self.bots}{settings}"


@dataclass(frozen=True, slots=True)
class Moment:
    """The start of a phase: how many choices were made before it, and the state."""

    made: int
    phase: str
    round: int
    state: State = field(repr=False)


@dataclass(frozen=True)
class Finding:
    """A trouble, and the game that shows it: its choices, the last of which shows it, and the last starts of phases."""

    trouble: Trouble
    asked: Ruleset = field(repr=False)
    """The ruleset without what the number of players takes in."""
    ruleset: Ruleset = field(repr=False)
    course: Course
    choices: tuple[tuple[int, dict[str, Json]], ...] = field(repr=False)
    moments: tuple[Moment, ...] = field(repr=False)
    set_up: int = 0
    """So many of the choices belong to the set-up."""


@dataclass
class Played:
    """Games played so far. ``watch`` is called with each decision. ``watch`` is called with each decision."""

    games: int = 0
    decisions: int = 0
    closely: int = 0
    """So many of the decisions were looked at in ways that take long."""
    cut: int = 0
    """So many games were not played to their end, since the time was over."""
    refused: int = 0
    """So many times others were drawn, since the ruleset refuses settings that were drawn by chance."""
    watch: Callable[[], None] = field(default=lambda: None, repr=False)


def verify(
    ruleset: Ruleset,
    seed: int = 0,
    games: int | None = None,
    seconds: float | None = None,
    players: Sequence[int] = (),
    settings: Mapping[str, Json] | None = None,
    played: Played | None = None,
) -> Iterator[Finding]:
    """Plays so many games, or so long, whichever is over first, and gives each trouble once. ``played`` tells how far
    it is.

    Games follow from the seed; ``settings`` are given to all of them, others vary. ``ValueError`` for what the ruleset
    does not allow.
    """
    played = played if played is not None else Played()
    end = monotonic() + seconds if seconds is not None else None
    tables: dict[tuple[int, str], list[Bot]] = {}
    found: set[object] = set()
    looked: Counter[tuple[object, ...]] = Counter()
    for number, course in enumerate(_courses(ruleset, seed, players, dict(settings or {}))):
        if (games is not None and (played.games >= games or number >= REFUSED * games)) or _is_over(end):
            return
        key = (course.players, course.bots)
        if key not in tables:
            tables[key] = bots_of(course.bots, ruleset, course.players)
        for finding in _played(ruleset, course, tables[key], played, end, looked):
            if finding.trouble.key not in found:
                found.add(finding.trouble.key)
                yield finding


def _is_over(end: float | None) -> bool:
    return end is not None and monotonic() > end


def _courses(ruleset: Ruleset, seed: int, players: Sequence[int], settings: dict[str, Json]) -> Iterator[Course]:
    """Every number of players with every bot, with settings as they are and then with others, and again. All bots play
    with the same other settings: a table that was set for them is worth its time only where it is used again."""
    numbers = list(players) or list(range(ruleset.players.low, ruleset.players.high + 1))
    for number in numbers:
        ruleset.check_players(number)
    names = list(dict.fromkeys(("random", default_bots(ruleset), *BOTS)))
    for index in count():
        people, turn = numbers[index % len(numbers)], index // len(numbers)
        given = dict(settings)
        if turn // len(names) % 2:
            which = turn // len(names) // 2 * len(numbers) + index % len(numbers)
            given = {**_others(ruleset.for_players(people), seed, which), **given}
        course = Course(people, seed + index, given, names[turn % len(names)])
        yield course


def _others(ruleset: Ruleset, seed: int, which: int) -> dict[str, Json]:
    """Other readings, and settings of which all values are known. Each has all its values in turn, in an order by
    chance, so that few games meet all of them, in many combinations."""

    def turn(name: str, values: Sequence[T]) -> T:
        go, place = divmod(which, len(values))
        return values[shuffled(range(len(values)), drawing(seed, f"settings {go} {name}"))[place]]

    found: dict[str, Json] = {}
    for doubt in ruleset.model.interpretations.values():
        reading = turn(doubt.name, list(doubt.readings))
        if reading != doubt.default:
            found[doubt.name] = reading
    for setting in ruleset.model.settings.values():
        if turn(f"whether {setting.name}", (True, False)):
            continue
        if setting.range is not None:
            low, high = setting.range
            found[setting.name] = low + drawing(seed, f"settings {which} {setting.name}")(high - low + 1)
        elif isinstance(setting.type, BoolType):
            found[setting.name] = bool(drawing(seed, f"settings {which} {setting.name}")(2))
        elif isinstance(setting.type, KindType):
            found[setting.name] = turn(setting.name, ruleset.names.members(setting.type.name))
    return found


def _played(
    ruleset: Ruleset,
    course: Course,
    bots: Sequence[Bot],
    played: Played,
    end: float | None,
    looked: Counter[tuple[object, ...]],
) -> Iterator[Finding]:
    """One game, to its end, its first failure or the end of the time. ``looked``: what was looked at in all games."""
    asked, ruleset = ruleset, ruleset.for_players(course.players)
    moments: list[Moment] = []
    try:
        game = Game.seated(ruleset.table(course.players, ruleset.settings(course.settings)), course.seed, None)
    except (ValueError, RulesetError):  # settings by chance that the ruleset refuses
        played.refused += 1
        return
    played.games += 1
    layout, phases = game.machine.constants.layout, ruleset.model.phases
    made, set_up = 0, 0

    def heard(state: State, word: str) -> None:
        nonlocal set_up
        if word == "start of round" and state.cells[layout.base["round"]] == 1:
            set_up = made
        phase = word.removeprefix("start of ")
        if phase != word and phase in phases:
            moments.append(Moment(made, phase, state.cells[layout.base["round"]], state.clone()))
            del moments[:-KEPT]

    def finding(trouble: Trouble) -> Finding:
        choices = game.choices
        if trouble.choice is not None and game.decision is not None:
            choices.append((game.decision.actor, dict(trouble.choice)))
        return Finding(trouble, asked, ruleset, course, tuple(choices), tuple(moments), set_up)

    listen(game.state, heard)
    streams = streams_for(course.seed, course.players)
    examiner = Examiner(game, drawing(course.seed, "game"), compares=not course.settings, looked=looked)
    try:
        game.start()
        while True:
            yield from (finding(t) for t in examiner.look())
            decision = game.decision
            if decision is None:
                return
            if _is_over(end):
                played.cut += 1
                return
            bot = who_decides(bots, decision, ruleset)
            try:
                option = bot.choose(game, decision, streams[decision.actor])
            except RuleFailure:  # a policy that is at its wits' end is no fault of the rules
                option = some_option(decision, examiner.draw)
            made += 1
            troubles = list(examiner.make(option))
            played.decisions += 1
            played.watch()
            yield from (finding(t) for t in troubles)
            if any(trouble.kind in ("failure", "dead end", "endless") for trouble in troubles):
                return
    except RuleFailure as failure:
        yield finding(trouble_of(failure))
    finally:
        played.closely += examiner.closely
