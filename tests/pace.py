"""Speed of a ruleset compared with a handwritten program for the same game.

Not part of the suite. The program is a Python file with `Game(map, plants, players, random)`, whose `play()` is a
generator that yields `(player, options)` and receives one of the options, and with `policy(options, random)`. The map
and the plants are its JSON files.

    python -m tests.pace program.py map.json plants.json --players 4

The program, the package's own loop and the loop over `decision` and `apply` take turns in one process, with Python's
cyclic garbage collector off. Seconds are CPU time.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any

from interpreter.simulate.simulation import simulate
from interpreter.simulate.throughput import Speed, Subject

MOST_ROUNDS = 60
"""Rounds after which a game of the program is abandoned."""
COUNTED = 200


@dataclass
class Loop:
    """Results of one of the three loops, run by run."""

    name: str
    runs: list[Speed] = field(default_factory=list)
    free: float = 0.0

    @property
    def games_a_second(self) -> float:
        return median(run.games_a_second for run in self.runs)

    @property
    def decisions_a_second(self) -> float:
        return median(run.decisions_a_second for run in self.runs)

    def a_game(self, what: str) -> float:
        return float(sum(getattr(run, what) for run in self.runs) / sum(run.games for run in self.runs))


class Program:
    """A handwritten program as a loop of games."""

    def __init__(self, path: Path, map_: Any, plants: Any, players: int) -> None:
        spec = importlib.util.spec_from_file_location("program", path)
        if spec is None or spec.loader is None:
            raise SystemExit(f"{path} is no Python file")
        self.module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.given, self.random = (map_, plants, players), random.Random(1)
        self.free = self.games = 0

    def play(self, seconds: float) -> Speed:
        games = decisions = rounds = free = 0
        policy, draw = self.module.policy, self.random
        start = process_time()
        while (spent := process_time() - start) < seconds or not games:
            game = self.module.Game(*self.given, draw)
            going = game.play()
            _, options = next(going)
            while True:
                decisions += 1
                free += len(options) > 1
                try:
                    _, options = going.send(policy(options, draw))
                except StopIteration:
                    break
                if game.round > MOST_ROUNDS:
                    break
            games += 1
            rounds += game.round
        self.free += free
        self.games += games
        return Speed(games, decisions, rounds, spent, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("map", type=Path)
    parser.add_argument("plants", type=Path)
    parser.add_argument("--ruleset", default="germany-2018")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5)
    arguments = parser.parse_args()

    gc.disable()
    map_, plants = (json.loads(path.read_text(encoding="utf-8")) for path in (arguments.map, arguments.plants))
    plants = plants["plants"] if isinstance(plants, dict) else plants
    program = Program(arguments.program, map_, plants, arguments.players)
    subject = Subject(arguments.ruleset, arguments.players)
    hand, own, applied = loops = [Loop("program"), Loop("package"), Loop("apply")]
    own.free = subject.lengths[0]
    applied.free = fmean(row.free for row in simulate(subject.ruleset, subject.bots, COUNTED))
    for _ in range(arguments.runs):
        for loop, play in zip(loops, (program.play, subject.package, subject.applied), strict=True):
            loop.runs.append(play(arguments.seconds))
            gc.collect()
    hand.free = program.free / program.games
    print(f"{arguments.ruleset}, {arguments.players} players, policy {subject.policy}; {arguments.runs} runs, medians")
    print(f"{'':10}{'games/s':>10}{'decisions/s':>13}{'decisions':>11}{'free':>8}{'rounds':>8}{'of program':>12}")
    for loop in loops:
        ratio = loop.games_a_second / hand.games_a_second
        print(
            f"{loop.name:10}{loop.games_a_second:10.1f}{loop.decisions_a_second:13.0f}{loop.a_game('decisions'):11.1f}"
            f"{loop.free:8.1f}{loop.a_game('rounds'):8.2f}{ratio:11.1%}"
        )
    repeated = sum(run.repeated for loop in loops for run in loop.runs)
    if repeated:
        print(f"{repeated} decisions were done again in the plain form")


if __name__ == "__main__":
    main()
