"""Many games by bots, a row for each.

Game number i of a simulation has the seed ``seed + i``, so that each can be played again alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from time import process_time
from typing import Any

from interpreter.base.cycles import no_search
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.game import places_of
from interpreter.engine.ruleset import Ruleset
from interpreter.play.bots.base import Bot
from interpreter.play.bots.policy import PolicyBot
from interpreter.play.bots.random import RandomBot
from interpreter.play.match import MAXIMUM_DECISIONS, Match, streams_for
from interpreter.play.measures import Taken, read, taken

__all__ = ["Row", "played", "simulate"]

MANY = 3
"""So many games pay for a module."""


@dataclass(frozen=True, slots=True)
class Row:
    """One game. ``free`` counts the decisions with more than one option; ``keys`` are what ranks the seats; ``taken``
    has all numbers that the ruleset's `measures` took. All but ``seconds`` (processor time) follows from the seed."""

    seed: int
    decisions: int
    free: int
    rounds: int
    seconds: float
    places: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    taken: dict[str, list[Taken]]

    def as_dict(self) -> dict[str, Any]:
        """The row without the time that it took: the same wherever and whenever it is played."""
        return {
            "seed": self.seed,
            "decisions": self.decisions,
            "free_decisions": self.free,
            "rounds": self.rounds,
            "places": list(self.places),
            "keys": [list(keys) for keys in self.keys],
            "measures": {
                name: [[each.round, list(each.of), each.value] for each in numbers]
                for name, numbers in self.taken.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], seconds: float) -> Row:
        return cls(
            data["seed"],
            data["decisions"],
            data["free_decisions"],
            data["rounds"],
            seconds,
            tuple(data["places"]),
            tuple(tuple(keys) for keys in data["keys"]),
            {
                name: [Taken(number, tuple(of), value) for number, of, value in numbers]
                for name, numbers in data["measures"].items()
            },
        )

    def counts(self, seat: int) -> bool:
        """Whether a seat can win; one that the rules play may only stand in the way. Without an end all can."""
        return not self.places or bool(self.places[seat])

    def share(self, seat: int) -> float:
        """What a seat has of the win: all, a part that it shares, or nothing."""
        return 1 / self.places.count(1) if self.places and self.places[seat] == 1 else 0.0


def simulate(
    ruleset: Ruleset, bots: Sequence[Bot], games: int, seed: int = 0, settings: Mapping[str, Any] | None = None
) -> Iterator[Row]:
    """Plays so many games, one row after another. ``ValueError`` for players or settings that are not allowed."""
    return played(ruleset, bots, range(seed, seed + games), settings)


def played(
    ruleset: Ruleset,
    bots: Sequence[Bot],
    seeds: Iterable[int],
    settings: Mapping[str, Any] | None = None,
    stopped: Callable[[], bool] = bool,
) -> Iterator[Row]:
    """A row for each seed, until it is to be ``stopped``; a game that goes on then is given up."""
    whole = _Whole(ruleset, bots, settings)
    if isinstance(seeds, Sized) and len(seeds) >= MANY:
        whole.hurry()
    with no_search():  # rows stay: looking through all of them after every few games takes longer than the games
        for seed in seeds:
            if stopped():
                return
            try:
                row = whole.row(seed) or _row(ruleset, bots, seed, settings, stopped)
            except RuleFailure as failure:
                failure.message += f" (in the game with seed {seed})"
                raise
            if row is None:
                return
            yield row


class _Whole:
    """Games that the module of a table plays whole, where it knows all the bots."""

    def __init__(self, ruleset: Ruleset, bots: Sequence[Bot], settings: Mapping[str, Any] | None) -> None:
        self.ruleset = ruleset.for_players(len(bots))
        self.bots, self._settings = bots, settings
        self.machine = self.ruleset.table(len(bots), self.ruleset.settings(settings or {})).machine
        self._module: Any = None
        self._players: list[int] | None = None
        self._is_allowed = False
        """Whether a game could be begun: players and settings are looked at when the plain form begins one."""

    def hurry(self) -> None:
        """So many games are to come that a module pays at once."""
        self.machine.patience = 0

    def row(self, seed: int) -> Row | None:
        """The row of a game; none where the plain form must play it."""
        start = process_time()
        if not self._is_allowed:
            Match(self.ruleset, self.bots, seed, self._settings)
            self._is_allowed = True
        players = self._numbers()
        if players is None:
            return None
        found = self.machine.row(seed, players, streams_for(seed, len(self.bots)), MAXIMUM_DECISIONS)
        if found is None:
            return None
        measures = read(found.taken, self.machine, self.ruleset.names)
        places = places_of(found.keys, self.machine.constants.statics["seat.counts"])
        spent = process_time() - start
        return Row(seed, found.decisions, found.free, found.rounds, spent, places, found.keys, measures)

    def _numbers(self) -> list[int] | None:
        """The numbers of the bots in the module, which may be made anew for one of them."""
        if self.machine.module is None:
            return None
        if self._module is not self.machine.module:
            found = [self._number(bot) for bot in self.bots]
            self._players = [number for number in found if number is not None]
            if len(self._players) < len(self.bots):
                self._players = None
            self._module = self.machine.module
        return self._players

    def _number(self, bot: Bot) -> int | None:
        return bot.player(self.machine, self.ruleset.model) if isinstance(bot, PolicyBot | RandomBot) else None


def _row(
    ruleset: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, Any] | None, stopped: Callable[[], bool]
) -> Row | None:
    start = process_time()
    match = Match(ruleset, bots, seed, settings)
    game = match.game
    free = 0
    while not game.is_over:
        if stopped():
            return None
        free += game.machine.is_free(game.state)
        match.step()
    result = game.result
    return Row(
        seed,
        match.decisions,
        free,
        game.state.cells[game.machine.constants.layout.base["round"]],
        process_time() - start,
        result.places if result else (),
        result.keys if result else (),
        taken(game),
    )
