"""How fast a ruleset is played: games and decisions a second, and what copies, undo and digests cost.

Games are played by one policy on all seats, in the package's own loop: it reads options as codes and keeps all records.
Python's search for cycles of objects is off meanwhile: states and logs have none, and looking costs more than the game.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from interpreter.engine.game import Game
from interpreter.engine.ruleset import Ruleset
from interpreter.kernel.chance import Seeded
from interpreter.play.bots.named import policies_for

__all__ = ["Speed", "bench", "moments"]

MOST_MOMENTS = 300


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured in so many seconds. ``repeated``: decisions that the plain form had to do again."""

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


def bench(
    ruleset: Ruleset,
    players: int,
    policy: str = "bench",
    seconds: float = 1.0,
    clock: Callable[[], float] = perf_counter,
) -> Speed:
    """Plays games in the package's loop for so long. ``KeyError`` where the ruleset has no such policy."""
    table = ruleset.table(players, ruleset.settings({}))
    machine = table.machine
    prefer = machine.preferring(policies_for(ruleset)[policy])
    draw = random.Random(1).random
    before, games, decisions, rounds = machine.abandoned, 0, 0, 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = clock()
        while (spent := clock() - start) < seconds:
            state, chance = table.first.clone(), Seeded(games)
            machine.start(state, chance)
            decisions += machine.play(state, chance, prefer, lambda n: int(draw() * n))
            rounds += state.cells[machine.constants.layout.base["round"]]
            games += 1
    finally:
        if collecting:
            gc.enable()
    return Speed(games, decisions, rounds, spent, machine.abandoned - before)


def moments(ruleset: Ruleset, players: int, round_: int = 6, seed: int = 1) -> dict[str, float]:
    """Microseconds for a clone, an undo and a digest in a round, with the log present."""
    game = ruleset.new_game(players, seed)
    base = game.machine.constants.layout.base["round"]
    while game.state.cells[base] < round_ and game.decision is not None:
        game.apply(game.decision.options[0])
    return {
        "clone": _each(game.clone),
        "undo": _undo(game),
        "digest": _each(game.digest),
    }


def _each(do: Callable[[], object]) -> float:
    start = perf_counter()
    for _ in range(MOST_MOMENTS):
        do()
    return (perf_counter() - start) / MOST_MOMENTS * 1e6


def _undo(game: Game) -> float:
    spent = 0.0
    for _ in range(MOST_MOMENTS):
        decision = game.decision
        if decision is None:
            return 0.0
        game.apply(decision.options[0])
        start = perf_counter()
        game.undo()
        spent += perf_counter() - start
    return spent / MOST_MOMENTS * 1e6
