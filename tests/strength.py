"""Strength of a bot among others, and its thinking time.

Not part of the suite. The bot plays one seat, the rival all others; game i has seed ``--seed`` + i, and the bot's seat
rotates. Seconds are CPU time, for decisions with more than one option.

    python -m tests.strength germany-2018 outpost --bot search:100 --rival sensible --games 40
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from statistics import fmean
from time import process_time

from interpreter.bots.player import Bot, Code, Stream
from interpreter.bots.registry import bots_of
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.simulate.confidence import share_interval


class Timed:
    """A bot that records the CPU time of its decisions with more than one option."""

    def __init__(self, bot: Bot) -> None:
        self.bot, self.name = bot, bot.name
        self.seconds: list[float] = []

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        is_free = game.runner.is_free(game.state)
        start = process_time()
        option = self.bot.choose(game, decision, random)
        if is_free:
            self.seconds.append(process_time() - start)
        return option

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        return self.bot.among(game, decision, codes, random)


def shares(ruleset: Ruleset, players: int, names: tuple[str, str], seeds: range) -> Iterator[tuple[float, list[float]]]:
    """Yield, for each game, the bot's share of the win and the seconds of its decisions."""
    ruleset = ruleset.for_players(players)
    ruleset.table(players, ruleset.settings({})).runner.patience = 0.0
    for number, seed in enumerate(seeds):
        mine = number % players
        bots = bots_of(",".join(names[seat != mine] for seat in range(players)), ruleset, players)
        timed = Timed(bots[mine])
        bots[mine] = timed
        result = Match(ruleset, bots, seed).play()
        won = result is not None and result.places[mine] == 1
        yield (1 / result.places.count(1) if won and result else 0.0), timed.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rulesets", nargs="+")
    parser.add_argument("--bot", default="search")
    parser.add_argument("--rival", default="sensible")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    for name in arguments.rulesets:
        won: list[float] = []
        seconds: list[float] = []
        seeds = range(arguments.seed, arguments.seed + arguments.games)
        for share, times in shares(load(name), arguments.players, (arguments.bot, arguments.rival), seeds):
            won.append(share)
            seconds += times
            print(f"\r{name} {len(won)}: {fmean(won):.1%}", end="", file=sys.stderr, flush=True)
        low, high = share_interval(fmean(won), len(won))
        late = sorted(seconds)[int(len(seconds) * 0.95)]
        print(
            f"\r{name}: {arguments.bot} won {fmean(won):.1%} of {len(won)} games ({low:.1%} to {high:.1%}) against "
            f"{arguments.rival}; {fmean(seconds):.3f} s a decision, 95 % under {late:.3f} s, the longest "
            f"{max(seconds):.3f} s; {len(seconds) / len(won):.0f} free decisions a game",
            flush=True,
        )


if __name__ == "__main__":
    main()
