"""Many games of a ruleset, to their ends: nothing may break, and what is rare must be seen.

Not part of the suite (it takes many minutes):

    python -m tests.soak germany-2018 --games 1000 --bots random --players 3,4,5,6
"""

from __future__ import annotations

import argparse
import collections
import itertools
import time
from typing import Any

import interpreter
from interpreter.engine.game import Game
from interpreter.kernel.effects import CHOICE, MARK, NOTE
from interpreter.play.bots.named import bots_of
from interpreter.play.match import Match

Counts = collections.Counter[str]


def rare(game: Game) -> Counts:
    """What of the rare happened in a finished game, read from the records of its log."""
    found: Counts = collections.Counter()
    model, names = game.ruleset.model, game.ruleset.names
    due = model.tables["resupply"].cells
    kinds, reasons = model.kinds["resource"].members, model.kinds["reason"].members
    phase, stage, rounds = "", 1, 0
    cities: collections.Counter[int] = collections.Counter()
    for record in game.state.log:
        if record[0] == MARK:
            word = record[2].removeprefix("start of ")
            phase = word if word in model.phases else phase
            rounds += record[2] == "start of round"
        elif record[0] == CHOICE and record[1].ask.name == "discard":
            found["owner chooses what to lose"] += 1
        elif record[0] == NOTE:
            event = record[2]
            values = dict(zip(model.events[event].fields, record[3], strict=True))
            match event:
                case "drew" if names.card(values["card"]) == "stage_3":
                    found[f"stage 3 drawn in {phase}"] += 1
                    found["stage 3 before stage 2"] += stage == 1
                case "stage_began":
                    stage = values["number"]
                case "lost":
                    found["tokens lost"] += 1
                case "left_market":
                    found[f"left the market: {reasons[values['why']].replace('_', ' ')}"] += 1
                case "built":
                    cities[values["who"]] += 1
                case "order_set" if rounds > 1:
                    pairs = itertools.pairwise(values["order"])
                    found["tie in turn order"] += any(cities[a] == cities[b] for a, b in pairs)
                case "resupplied":
                    wanted = due[len(game.machine.constants.seats), values["kind"], stage]
                    found["refill cut short by tokens"] += values["number"] < min(wanted, values["due"])
                    found[f"refill of {kinds[values['kind']]} stopped"] += values["due"] < wanted
    result = game.result
    assert result is not None
    best = sorted((keys[0] for keys in result.keys), reverse=True)
    found["tie in what decides first"] += best[0] == best[1]
    return found


def play(ruleset: Any, players: int, bots: str, seed: int) -> tuple[Game, int]:
    match = Match(ruleset, bots_of(bots, ruleset, players), seed)
    match.play()
    return match.game, match.decisions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ruleset")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--bots", default="random")
    parser.add_argument("--players", default="3,4,5,6")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    ruleset = interpreter.load(arguments.ruleset)
    total: Counts = collections.Counter()
    for players in (int(number) for number in arguments.players.split(",")):
        began, decisions, rounds = time.perf_counter(), 0, []
        for seed in range(arguments.seed, arguments.seed + arguments.games):
            game, made = play(ruleset, players, arguments.bots, seed)
            decisions += made
            broken = game.check()
            if game.result is None or broken:
                raise SystemExit(f"{players} players, seed {seed}: {broken or 'no result'}")
            rounds.append(game.view()["round"])
            total.update(rare(game))
        spent = time.perf_counter() - began
        print(
            f"{players} players: {len(rounds)} games, {decisions} decisions, {sum(rounds) / len(rounds):.1f} rounds "
            f"({min(rounds)}-{max(rounds)}), {spent:.0f} s",
            flush=True,
        )
    for name, count in total.most_common():
        print(f"{count:8d}  {name}")


if __name__ == "__main__":
    main()
