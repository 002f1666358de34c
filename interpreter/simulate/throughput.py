"""Throughput of a ruleset: games and decisions per second, and the cost of copies, undo, set-up and loading.

One policy plays all seats, in two loops: the package's own, which reads options as codes, and one over
:attr:`Game.decision` and :meth:`Game.apply`. Both keep the full log. Python's cycle collector (`gc`) is off during
measurements: states and logs have no cycles, and it takes longer than the game. Times are CPU time, so that other
processes hardly matter; times too short for its clock are medians of many. Callers take several samples in turn.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from statistics import fmean, median
from time import perf_counter, process_time

from msgspec import Struct

from interpreter.base.cycles import no_search
from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of, default_bots, policies_for
from interpreter.compiler.wasm.whole_games import GAMES_ALONE
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.lowering.constants import Endless
from interpreter.play.match import MAXIMUM_DECISIONS, Match, streams_for
from interpreter.simulate.simulation import Row, Unfinished, WholeGames

__all__ = ["Sample", "Speed", "Subject", "calibration", "held"]

POLICY = "bench"
"""Default policy, if the family has it."""
MOMENT = 6
"""Round in which clone, undo and digest are measured; shorter games are measured halfway."""
MOMENTS, AT_ONCE = 30, 30
UNDOS = 300
SET_UPS = 50
COUNTED = 30
"""Number of games for the mean length of a game."""
TURNS = 60_000

FRESH = """
import sys, time
start = time.process_time()
import interpreter
ruleset = interpreter.load(sys.argv[1], sys.argv[4:])
spent = time.process_time() - start
import json
from interpreter.simulate.throughput import held
players, settings = json.loads(sys.argv[2])
print(spent, held(ruleset, players, sys.argv[3], settings))
"""


class Speed(Struct, frozen=True):
    """Throughput in CPU seconds. ``repeated`` counts decisions that the plain form had to redo."""

    games: int
    decisions: int
    rounds: int
    seconds: float
    repeated: int

    @property
    def games_a_second(self) -> float:
        return self.games / self.seconds

    @property
    def decisions_a_second(self) -> float:
        return self.decisions / self.seconds


class Sample(Struct, frozen=True):
    """One measurement of all figures (:data:`interpreter.simulate.baseline.FIGURES`), and the speed of the machine."""

    figures: dict[str, float]
    calibration: float


class Subject:
    """A ruleset with a number of players and one policy on all seats, ready to be measured.

    Loads the ruleset ``name`` with ``overlays`` unless ``ruleset`` is given. Raises :class:`ValueError` for an invalid
    number of players, invalid settings or an unknown policy.
    """

    def __init__(
        self,
        name: str,
        players: int,
        policy: str | None = None,
        ruleset: Ruleset | None = None,
        overlays: Sequence[str] = (),
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.name, self.players, self.overlays, self.settings = name, players, tuple(overlays), dict(settings or {})
        ruleset = ruleset or load(name, overlays)
        ruleset.check_players(players)
        self.ruleset = ruleset.for_players(players)
        self.table = self.ruleset.table(players, self.ruleset.settings(self.settings))
        self.table.runner.patience = 0
        known = policies_for(self.ruleset)
        self.policy = (POLICY if POLICY in known else default_bots(self.ruleset)) if policy is None else policy
        self.whole = WholeGames(self.ruleset, self.bots)
        self.unfinished: dict[int, Unfinished] = {}
        """The games that do not end, by seed. They are left out of all figures."""
        self._package_seed, self._applied_seeds = 0, count()
        """Next seeds. Each run of a loop plays new games, so that a few unusually long games do not affect every
        run."""

    @property
    def title(self) -> str:
        """Return the title of a measurement: the ruleset with its overlays and settings."""
        added = [*self.overlays, *(f"{name}={value}" for name, value in self.settings.items())]
        return f"{self.ruleset.id} with {', '.join(added)}" if added else self.ruleset.id

    @property
    def bots(self) -> list[Bot]:
        return bots_of(self.policy, self.ruleset, self.players)

    def sample(self, seconds: float) -> Sample:
        """Measure all figures once, each of the two loops for ``seconds``. Raises :class:`Endless` if no game ends."""
        free, rounds = self.lengths  # first, because this reports errors best
        moments = self.moments()
        before = calibration()
        own, applied = self.package(seconds), self.applied(seconds)
        load_time, memory = self.fresh()
        figures = {
            "games": own.games_a_second,
            "decisions": own.decisions_a_second,
            "applied": applied.games_a_second,
            "free": free,
            "rounds": rounds,
            **moments,
            "load": load_time,
            "setup": self.set_up(),
            "memory": memory,
        }
        return Sample(figures, (before + calibration()) / 2)

    # --- the two loops

    def package(self, seconds: float, clock: Callable[[], float] = process_time) -> Speed:
        """Measure the package's loop."""
        decisions: list[int] = []
        rounds: list[int] = []
        again, spent = 0, 0.0
        with no_search():
            while spent < seconds or not rounds:
                start = clock()
                size = max(1, min(2 * len(rounds), int((seconds - spent) / max(spent, 1e-6) * len(rounds))))
                made, numbers, plain = self._whole(range(self._package_seed, self._package_seed + size))
                decisions, rounds, again = decisions + made, rounds + numbers, again + plain
                spent += clock() - start if made else 0.0
        return Speed(len(rounds), sum(decisions), sum(rounds), spent, again)

    def _whole(self, seeds: Sequence[int]) -> tuple[list[int], list[int], bool]:
        """Play the next games. Return their decisions and rounds, and whether the plain form had to play."""
        games = self.whole.games(seeds, self.settings, GAMES_ALONE)
        self._package_seed += len(games) if games else 1
        if games:
            return games.decisions, games.rounds, False
        row = self._plain(seeds[0])
        return ([row.decisions], [row.rounds], True) if row is not None else ([], [], True)

    def _plain(self, seed: int) -> Row | None:
        """Play a game in the plain form, or note that it does not end."""
        row = self.whole.plain_row(seed, self.settings, bool)
        if isinstance(row, Unfinished):
            self.unfinished[seed] = row
            return None
        return row

    def applied(self, seconds: float, clock: Callable[[], float] = process_time) -> Speed:
        """Measure the loop over ``decision`` and ``apply``, the public API."""
        runner, bots = self.table.runner, self.bots
        games = decisions = rounds = 0
        spent = 0.0
        with no_search():
            before = runner.bailouts
            while spent < seconds or not games:
                start, seed = clock(), next(self._applied_seeds)
                game = self.ruleset.new_game(self.players, seed, self.settings)
                streams = streams_for(seed, self.players)
                for made in range(MAXIMUM_DECISIONS):
                    decision = game.decision
                    if decision is None:
                        games, decisions, rounds = games + 1, decisions + made, rounds + game.round
                        spent += clock() - start
                        break
                    game.apply(bots[decision.actor].choose(game, decision, streams[decision.actor]))
        return Speed(games, decisions, rounds, spent, runner.bailouts - before)

    @cached_property
    def lengths(self) -> tuple[float, float]:
        """Mean number of decisions with more than one option, and of rounds: the same on every machine."""
        rows = [row for row in map(self._plain, range(COUNTED)) if row is not None]
        if not rows:
            raise Endless(f"none of {COUNTED} games ends: {self.unfinished[0].why}", None)
        return fmean(row.free for row in rows), fmean(row.rounds for row in rows)

    # --- single operations

    def moments(self) -> dict[str, float]:
        """Measure the seconds of a clone, an undo and a digest."""
        game = self._midway
        with no_search():
            return {"clone": _median_seconds(game.clone), "undo": _undo(game), "digest": _median_seconds(game.digest)}

    @cached_property
    def _midway(self) -> Game:
        """A game in round ``MOMENT`` with its full log, or halfway if it is over before."""
        match = Match(self.ruleset, self.bots, 1, self.settings)
        while match.game.round < MOMENT and match.step():
            pass
        if not match.game.is_over:
            return match.game
        half = Match(self.ruleset, self.bots, 1, self.settings)
        for _ in range(match.decisions // 2):
            half.step()
        return half.game

    def set_up(self) -> float:
        """Measure the seconds from a prepared table to the first decision."""
        with no_search():
            begin = partial(self.ruleset.new_game, self.players, settings=self.settings)
            return median(_spent(partial(begin, seed=seed)) for seed in range(SET_UPS))

    def fresh(self) -> tuple[float, float]:
        """Measure, in a new process without cache, the seconds to import the package and load the ruleset, and the
        bytes of a game."""
        path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
        table = json.dumps([self.players, self.settings])
        command = [sys.executable, "-P", "-c", FRESH, self.name, table, self.policy, *self.overlays]
        environment = {**os.environ, "PYTHONPATH": path, "REGELWERK_CACHE": "off"}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        spent, memory = done.stdout.split()
        return float(spent), float(memory)


def held(ruleset: Ruleset, players: int, policy: str, settings: Mapping[str, object] | None = None) -> int:
    """Measure the peak bytes of a game with its log, after a first game that makes what all of a table share."""
    bots = bots_of(policy, ruleset, players)
    whole = WholeGames(ruleset, bots)
    whole.ruleset.table(players, whole.ruleset.settings(settings or {})).runner.patience = 0
    seed = next(seed for seed in count() if isinstance(whole.plain_row(seed, settings, bool), Row))
    gc.collect()
    tracemalloc.start()
    try:
        Match(ruleset, bots, seed, settings).play()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def calibration(turns: int = TURNS) -> float:
    """Measure the iterations per second of a small Python loop that resembles a game, best of three. It must never
    change, or stored reports could not be compared."""
    with no_search():
        return max(turns / _turns(turns) for _ in range(3))


def _turns(turns: int) -> float:
    cells, seen, log, total = list(range(64)), {}, [], 0
    start = process_time()
    for turn in range(turns):
        place = (turn * 7 + total) & 63
        before = cells[place]
        cells[place] = (before + turn) % 97 if turn & 1 else before ^ 5
        seen[place, turn & 3] = before
        log.append((turn, place, before))
        total += len([cell for cell in cells[:8] if cell > before])
        if len(log) > 500:
            log.clear()
    return process_time() - start


def _spent(do: Callable[[], object], times: int = 1) -> float:
    start = perf_counter()
    for _ in range(times):
        do()
    return (perf_counter() - start) / times


def _median_seconds(do: Callable[[], object]) -> float:
    """Return the median seconds of an operation, which other processes hardly affect."""
    return median(_spent(do, AT_ONCE) for _ in range(MOMENTS))


def _undo(game: Game) -> float:
    """Return the median seconds of one undo after a choice, less the overhead of the clock."""

    def applied() -> float:
        decision = game.decision
        assert decision is not None
        game.apply(decision.options[0])
        return _spent(game.undo)

    return median(applied() for _ in range(UNDOS)) - median(_spent(lambda: None) for _ in range(UNDOS))
