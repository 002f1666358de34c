"""Many games by bots, a row for each.

Game number i of a simulation has the seed ``seed + i``, so that each can be played again alone. Where all bots are such
that a module can play by them, it plays games whole (:class:`WholeGames`); others go from decision to decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from time import process_time
from typing import TypedDict

from interpreter.base.cycles import no_search
from interpreter.bots.compiled_bots import wanted
from interpreter.bots.player import Bot
from interpreter.compiler.constants import RuleFailure
from interpreter.compiler.wasm.compiled_machine import CompiledMachine
from interpreter.compiler.wasm.whole_games import MEASURED, Facts, Games, Whole
from interpreter.compiler.wasm.whole_layout import MOST_GAMES
from interpreter.engine.game import Game
from interpreter.engine.rules import Rules
from interpreter.play.match import MAXIMUM_DECISIONS, Match
from interpreter.simulate.measurements import Packed, Taken, reading, taken

__all__ = ["Row", "WholeGames", "played", "simulate"]


class RowData(TypedDict):
    """One game, to be written."""

    seed: int
    decisions: int
    free_decisions: int
    rounds: int
    places: list[int]
    keys: list[list[int]]
    measures: dict[str, list[tuple[int, list[int | str | None], int | None]]]


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
    taken: Mapping[str, list[Taken]]

    def as_dict(self) -> RowData:
        """The row without the time that it took: the same wherever and whenever it is played."""
        return {
            "seed": self.seed,
            "decisions": self.decisions,
            "free_decisions": self.free,
            "rounds": self.rounds,
            "places": list(self.places),
            "keys": [list(keys) for keys in self.keys],
            "measures": {
                name: [(each.round, list(each.of), each.value) for each in numbers]
                for name, numbers in self.taken.items()
            },
        }

    @classmethod
    def from_dict(cls, data: RowData, seconds: float) -> Row:
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
        """Return whether a seat can win; one that the rules play may only stand in the way. Without an end all can."""
        return not self.places or bool(self.places[seat])

    def share(self, seat: int) -> float:
        """Return a seat's share of the win: all, a part, or nothing."""
        return 1 / self.places.count(1) if self.places and self.places[seat] == 1 else 0.0


def simulate(
    ruleset: Rules, bots: Sequence[Bot], games: int, seed: int = 0, settings: Mapping[str, object] | None = None
) -> Iterator[Row]:
    """Plays so many games, one row after another. ``ValueError`` for players or settings that are not allowed."""
    return played(ruleset, bots, range(seed, seed + games), settings)


def played(
    ruleset: Rules,
    bots: Sequence[Bot],
    seeds: Iterable[int],
    settings: Mapping[str, object] | None = None,
    stopped: Callable[[], bool] = bool,
    whole: WholeGames | None = None,
) -> Iterator[Row]:
    """A row for each seed, until it is to be ``stopped``; a game that goes on then is given up, unless it is played
    ``whole``."""
    many = len(seeds) if isinstance(seeds, Sized) else 1
    whole = whole or WholeGames(ruleset, bots)
    for number, seed in enumerate(seeds):
        if stopped():
            return
        row = whole.row(seed, settings, many - number) or whole.plain_row(seed, settings, stopped)
        if row is None:
            return
        yield row


MOST_GIVEN_UP = 4
"""Where the module gives up more games than this and as many as it plays, it is not asked again."""
MAKING = 1.0
"""So many seconds a module takes at most until it is made: where more is left to be played, it is made at once."""


class WholeGames:
    """Plays games of one table in its module, where that can be."""

    def __init__(self, ruleset: Rules, bots: Sequence[Bot]) -> None:
        self.ruleset, self.bots = ruleset.for_players(len(bots)), bots
        self._wanted = [wanted(self.ruleset, bot) for bot in bots]
        self._can = None not in self._wanted
        self._machine: CompiledMachine | None = None
        self._whole: Whole | None = None
        self._numbers: list[int] = []
        self._settings: Mapping[str, object] | None = None
        self._reading: tuple[CompiledMachine, Facts] | None = None
        self._played = self._given_up = 0
        self._others = 0
        self._spent = 0.0
        """So many seconds took the games that were played otherwise."""

    @property
    def reading(self) -> Facts:
        """Return the decoder of the games that were played last."""
        assert self._reading is not None
        return self._reading[1]

    def _ready(self, settings: Mapping[str, object] | None, left: int) -> Whole | None:
        """The module with all bots, where there is one by now; ``left``: so many games are still to be played."""
        if not self._can:
            return None
        if self._machine is None or self._settings != settings:
            players = len(self.bots)
            self.ruleset.check_players(players)
            Game.seated(
                self.ruleset.table(players, self.ruleset.settings(settings or {})), 0, None
            )  # or what refuses them
            self._machine = self.ruleset.table(players, self.ruleset.settings(settings or {})).machine
            self._settings = settings
        return self._with(self._machine, left)

    def _with(self, machine: CompiledMachine, left: int) -> Whole | None:
        """The module of a machine."""
        if not self._can:
            return None
        known, self._machine = self._whole, machine
        if known is not None and known.built is machine.module:
            return known
        if machine.plain:
            return None
        if self._spent * left > MAKING * max(1, self._others):
            machine.patience = 0.0
        found = machine.whole([each for each in self._wanted if each is not None])
        if found is None:
            return None
        if self._reading is None or self._reading[0] is not machine:
            self._reading = machine, reading(found[0], self.ruleset.model, self.ruleset.names)
        self._whole, self._numbers = found
        return self._whole

    def games(
        self, seeds: Sequence[int], settings: Mapping[str, object] | None = None, what: int = MEASURED, left: int = 1
    ) -> Games | None:
        """Games from their start: the first ones of these, as many as are played in one call. None, or no game, where
        the plain form is to play the first. ``ValueError`` for players or settings that the ruleset does not allow."""
        whole = self._ready(settings, left)
        if whole is None:
            return None
        with no_search():
            found = whole.games(seeds[:MOST_GAMES], self._numbers, MAXIMUM_DECISIONS, what)
        self._count(found)
        return found

    def row(self, seed: int, settings: Mapping[str, object] | None = None, left: int = 1) -> Row | None:
        """A game from its start. None where the plain form is to play it. ``ValueError`` as for :meth:`games`."""
        start = process_time()
        return self.last(self.games([seed], settings, MEASURED, left), seed, start)

    def plain_row(self, seed: int, settings: Mapping[str, object] | None, stopped: Callable[[], bool]) -> Row | None:
        """The same by the plain form; none where it is given up, as it is to be ``stopped``."""
        try:
            with no_search():
                row = _row(self.ruleset, self.bots, seed, settings, stopped)
        except RuleFailure as failure:
            failure.message += f" (in the game with seed {seed})"
            raise
        self._others += 1
        self._spent += row.seconds if row is not None else 0.0
        return row

    def rest(self, game: Game, seed: int) -> Row | None:
        """The rest of a game from where it stands, by bots whose streams begin with a seed: as of :meth:`row`."""
        machine = game.machine
        whole = self._with(machine, 1) if not game.is_over else None
        data = machine.data(game.state, game.chance) if whole is not None else None
        if whole is None or data is None:
            return None
        before = taken(game)
        found = whole.rest(data, seed, self._numbers, MAXIMUM_DECISIONS)
        self._count(found)
        row = self.last(found, seed, 0.0)
        if row is None:
            return None
        numbers = row.taken if not any(before.values()) else {n: [*before[n], *row.taken[n]] for n in before}
        return replace(row, free=0, seconds=0.0, taken=numbers)

    def _count(self, games: Games) -> None:
        self._played += len(games)
        self._given_up += not games
        self._can = self._given_up <= max(MOST_GIVEN_UP, self._played)

    def last(self, games: Games | None, seed: int, start: float) -> Row | None:
        """The last of some games, which has a seed and began at a time of the processor."""
        if not games:
            return None
        assert self._whole is not None
        return Row(
            seed,
            games.decisions[-1],
            games.free[-1],
            games.rounds[-1],
            process_time() - start,
            games.places[-1],
            tuple(tuple(each[-1] for each in keys) for keys in games.keys),
            Packed(self.reading, self._whole.records),
        )


def _row(
    ruleset: Rules, bots: Sequence[Bot], seed: int, settings: Mapping[str, object] | None, stopped: Callable[[], bool]
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
