"""Throughput of batches: ``python -m tests.rl.pace [RULESET] [PLAYERS] [GAMES]``."""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from interpreter.rl import make

DECISIONS = 1_000_000


def main(ruleset: str = "germany-2018", players: str = "4", games: str = "256") -> None:
    """Print decisions per CPU second, with random actions."""
    batch = make(ruleset, int(players), int(games))
    random = np.random.default_rng(0)
    steps = max(1, DECISIONS // batch.n)
    for _ in range(steps // 10):
        batch.step(batch.sample(random))
    began = process_time()
    for _ in range(steps):
        batch.step(batch.sample(random))
    took = process_time() - began
    form = "module" if batch.is_compiled else "plain form"
    print(f"{ruleset}, {players} players, {games} games ({form}): {steps * batch.n / took:,.0f} decisions/s")


if __name__ == "__main__":
    main(*sys.argv[1:4])
