"""Simulation: many games by bots, a row for each.

Game i has seed ``seed + i``, so that each game can be replayed alone. If every bot can be compiled, the module plays
whole games (:class:`WholeGames`); otherwise they are played decision by decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from time import process_time
from typing import TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from interpreter.base.cycles import no_search
from interpreter.base.plain_data import Json
from interpreter.base.stepwise import Steps, at_once
from interpreter.bots.compiled_bots import needs_of
from interpreter.bots.player import Bot
from interpreter.compiler.wasm.driver import MOST_GAMES
from interpreter.compiler.wasm.runner import Runner
from interpreter.compiler.wasm.whole_games import MEASURED, Games, Whole
from interpreter.engine.game import Game, Ruleset
from interpreter.lowering.constants import Endless, RuleFailure
from interpreter.play.match import MAXIMUM_DECISIONS, Match
from interpreter.simulate.measurements import Decoder, Packed, Taken, reading, taken

__all__ = ["Row", "Unfinished", "WholeGames", "finished", "played", "simulate"]


R = TypeVar("R")


class Row(Struct, frozen=True, rename={"free": "free_decisions", "taken": "measures"}):
    """One finished game. ``free`` counts the decisions with more than one option; ``keys`` are the values that rank the
    seats; ``taken`` are the measurements. The seed determines everything except ``seconds`` (CPU time)."""

    seed: int
    decisions: int
    free: int
    rounds: int
    seconds: float
    places: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    taken: Mapping[str, list[Taken]]

    def as_dict(self) -> dict[str, Json]:
        """Return the row without its CPU time: reproducible on any machine."""
        data: dict[str, Json] = to_builtins(self, enc_hook=dict)
        del data["seconds"]
        return data

    @classmethod
    def of(cls, match: Match, seed: int, free: int = 0, seconds: float = 0.0) -> Row:
        """Return the row of a match that is over."""
        result = match.game.result
        places, keys = (result.places, result.keys) if result else ((), ())
        return cls(seed, match.decisions, free, match.game.round, seconds, places, keys, taken(match.game))

    def counts(self, seat: int) -> bool:
        """Return whether a seat can win; one that the rules play may not. True for all seats of an unfinished game."""
        return not self.places or bool(self.places[seat])

    def share(self, seat: int) -> float:
        """Return a seat's share of the win, from 0 to 1."""
        return 1 / self.places.count(1) if self.places and self.places[seat] == 1 else 0.0


class Unfinished(Struct, frozen=True):
    """A game that does not end. ``why`` says what repeats, in words."""

    ruleset: str
    seed: int
    round: int
    why: str

    @classmethod
    def of(cls, ruleset: Ruleset, seed: int, endless: Endless) -> Unfinished:
        return cls(ruleset.id, seed, endless.round, endless.message)

    def __str__(self) -> str:
        return f"{self.ruleset}, seed {self.seed}, round {self.round}: {self.why}"


def finished(games: Iterable[R | Unfinished]) -> Iterator[R]:
    """Yield the results of the games that are over."""
    return (game for game in games if not isinstance(game, Unfinished))


def simulate(
    ruleset: Ruleset, bots: Sequence[Bot], games: int, seed: int = 0, settings: Mapping[str, object] | None = None
) -> Iterator[Row]:
    """Play ``games`` games and yield a row for each that ends. Raises :class:`ValueError` for invalid numbers of
    players or settings."""
    return finished(played(WholeGames(ruleset, bots), range(seed, seed + games), settings))


def played(
    whole: WholeGames,
    seeds: Iterable[int],
    settings: Mapping[str, object] | None = None,
    stopped: Callable[[], bool] = bool,
) -> Iterator[Row | Unfinished]:
    """Yield a row for each seed, or what repeats in a game that does not end, until ``stopped`` returns True. A game in
    progress is then abandoned, unless the module plays it."""
    count = len(seeds) if isinstance(seeds, Sized) else 1
    for number, seed in enumerate(seeds):
        if stopped():
            return
        row = whole.row(seed, settings, count - number) or whole.plain_row(seed, settings, stopped)
        if row is None:
            return
        yield row


MANY = 12
"""Number of games for which a module is compiled at once: it soon pays, and costs small games no more than them."""


class WholeGames:
    """Plays games of one table in its module, if that is possible."""

    def __init__(self, ruleset: Ruleset, bots: Sequence[Bot]) -> None:
        self.ruleset, self.bots = ruleset.for_players(len(bots)), bots
        self._needs = [needs_of(self.ruleset, bot) for bot in bots]
        self._runner: Runner | None = None
        self._settings: Mapping[str, object] | None = None
        self._whole: Whole | None = None
        self._numbers: list[int] = []
        self.reading: Decoder
        """The decoder of the last games' measurements."""

    def _ready(self, settings: Mapping[str, object] | None, left: int) -> Whole | None:
        """Return the module with all bots, if it is ready. ``left`` is the number of games still to play."""
        if None in self._needs:
            return None
        if self._runner is None or self._settings != settings:
            self.ruleset.check_players(len(self.bots))
            table = self.ruleset.table(len(self.bots), self.ruleset.settings(settings or {}))
            Game.seated(self.ruleset, table, 0, None)  # raises for settings that rules refuse
            self._runner, self._settings = table.runner, settings
        return self._with(self._runner, left)

    def _with(self, runner: Runner, left: int) -> Whole | None:
        """Return the module of a table with all bots, if it is ready and does not give up too many games."""
        whole, self._runner = self._whole, runner
        if whole is None or whole.built is not runner.module:
            if runner.plain:
                return None
            if left >= MANY:
                runner.patience = 0.0
            policies = [policy for policy in self._needs if policy is not None]
            compiled = runner.whole(policies) if len(policies) == len(self._needs) else None
            if compiled is None:
                return None
            self._whole, self._numbers = whole, _ = compiled
            self.reading = reading(whole, self.ruleset.model, self.ruleset.names)
        return None if whole.gives_up else whole

    def games(
        self, seeds: Sequence[int], settings: Mapping[str, object] | None = None, what: int = MEASURED, left: int = 1
    ) -> Games | None:
        """Play the first of these games, as many as fit into one call. Returns None or no game if the plain form must
        play the first one. Raises :class:`ValueError` for invalid numbers of players or settings."""
        whole = self._ready(settings, left)
        if whole is None:
            return None
        with no_search():
            return whole.games(seeds[:MOST_GAMES], self._numbers, MAXIMUM_DECISIONS, what)

    def row(self, seed: int, settings: Mapping[str, object] | None = None, left: int = 1) -> Row | None:
        """Play one game. Returns None if the plain form must play it. Raises :class:`ValueError` like :meth:`games`."""
        start = process_time()
        return self.last(self.games([seed], settings, MEASURED, left), seed, start)

    def plain_row(
        self, seed: int, settings: Mapping[str, object] | None, stopped: Callable[[], bool]
    ) -> Row | Unfinished | None:
        """Play one game decision by decision. Returns None if it was ``stopped``."""
        with no_search():
            return at_once(self.plain_steps(seed, settings), stopped)

    def steps(self, seed: int, settings: Mapping[str, object] | None) -> Steps[Row | Unfinished]:
        """Play one game in steps: in the module, or decision by decision."""
        return self.row(seed, settings) or (yield from self.plain_steps(seed, settings))

    def plain_steps(self, seed: int, settings: Mapping[str, object] | None) -> Steps[Row | Unfinished]:
        """Play one game with a step for each decision."""
        start, free = process_time(), 0
        try:
            match = Match(self.ruleset, self.bots, seed, settings)
            while not match.game.is_over:
                yield
                free += match.game.runner.is_free(match.game.state)
                match.step()
            return Row.of(match, seed, free, process_time() - start)
        except Endless as endless:
            return Unfinished.of(self.ruleset, seed, endless)
        except RuleFailure as failure:
            failure.message += f" (in the game with seed {seed})"
            raise

    def rest(self, game: Game, seed: int) -> Row | None:
        """Play the rest of a game, with bots seeded by ``seed``. Returns None like :meth:`row`."""
        runner = game.runner
        whole = self._with(runner, 1) if not game.is_over else None
        data = runner.data(game.state, game.chance) if whole is not None else None
        if whole is None or data is None:
            return None
        before = taken(game)
        games = whole.rest(data, seed, self._numbers, MAXIMUM_DECISIONS)
        row = self.last(games, seed, 0.0)
        if row is None:
            return None
        numbers = row.taken if not any(before.values()) else {n: [*before[n], *row.taken[n]] for n in before}
        return replace(row, free=0, seconds=0.0, taken=numbers)

    def last(self, games: Games | None, seed: int, start: float) -> Row | None:
        """Return the row of the last of some games. ``start`` is the CPU time at its start."""
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
            tuple(tuple(values[-1] for values in keys) for keys in games.keys),
            Packed(self.reading, self._whole.records),
        )
