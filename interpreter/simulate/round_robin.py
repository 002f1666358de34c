"""Tournaments: bots play each other, equally often on every seat, and their games become ratings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations

from msgspec import Struct

from interpreter.bots.compiled_bots import whole_for
from interpreter.bots.registry import bots_of
from interpreter.compiler.wasm.runner import MOST_POLICIES
from interpreter.engine.game import Ruleset
from interpreter.simulate.confidence import share_interval
from interpreter.simulate.ratings import Pair, rated
from interpreter.simulate.simulation import Row, Unfinished, WholeGames, played
from interpreter.simulate.workers import Plan, Work

__all__ = ["Entrant", "Outcome", "Standing", "Tournament", "lineups", "standing"]

MOST_LINEUPS = 720
"""Largest number of seatings. If there are more, only rotations of each group are played."""


class Tournament(Struct, frozen=True):
    """A tournament of ``bots`` at the table of a plan.

    Games have numbers: they play each lineup in turn, and all lineups with the same seeds.
    """

    plan: Plan
    bots: tuple[str, ...]
    seed: int

    def work(self, given: Ruleset | None = None, /) -> Work[Outcome]:
        ruleset, players, settings = given or self.plan.loaded(), self.plan.players, dict(self.plan.settings)
        orders = lineups(len(self.bots), players)

        @cache
        def made(order: tuple[int, ...]) -> WholeGames:
            names = ",".join(self.bots[bot] for bot in order)
            return WholeGames(ruleset, bots_of(names, ruleset, players, commands=True))

        def work(numbers: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Outcome]:
            if len(self.bots) <= MOST_POLICIES:  # one module for all bots instead of one per lineup
                every = [bot for order in orders for bot in made(order).bots]
                whole_for(ruleset.table(players, ruleset.settings(settings)).runner, ruleset, every)
            for number in numbers:
                order = orders[number % len(orders)]
                seed, whole = self.seed + number // len(orders), made(order)
                for row in played(whole, [seed], settings, stopped):
                    places, unfinished = (row.places, None) if isinstance(row, Row) else ((), row)
                    yield Outcome(number, order, places, unfinished)

        return work


class Outcome(Struct, frozen=True):
    """One game: its number, the bot number and the place of each seat; or why it does not end."""

    number: int
    lineup: tuple[int, ...]
    places: tuple[int, ...]
    unfinished: Unfinished | None = None

    @property
    def pairs(self) -> list[Pair]:
        """Return the score of each pair of different bots."""
        seats = zip(self.lineup, self.places, strict=False)
        return [
            (a, b, 0.5 + (place < other) / 2 - (place > other) / 2)
            for (a, place), (b, other) in combinations(seats, 2)
            if a != b
        ]


def lineups(bots: int, players: int) -> list[tuple[int, ...]]:
    """Return the seatings of a tournament. Each bot sits equally often on every seat and with every other bot.

    With fewer bots than seats, the numbers of seats per bot in a game differ by at most one.
    """
    if bots >= players:
        groups = list(combinations(range(bots), players))
    else:
        groups = [
            group
            for group in combinations_with_replacement(range(bots), players)
            if max(counted := [Counter(group)[bot] for bot in range(bots)]) - min(counted) <= 1
        ]
    orders = [list(dict.fromkeys(permutations(group))) if players <= 6 else [] for group in groups]
    if players > 6 or sum(map(len, orders)) > MOST_LINEUPS:
        orders = [[group[turn:] + group[:turn] for turn in range(players)] for group in groups]
    return [order for group in orders for order in group]


# --- standings


class Entrant(Struct, frozen=True):
    """A bot in the standings: its rating, the number of seats it played, and its share of wins, with 95 % intervals."""

    name: str
    rating: float
    low: float
    high: float
    seats: int
    share: float
    share_low: float
    share_high: float


class Standing(Struct, frozen=True):
    """Standings, best bot first. ``ahead`` is the share of their meetings in which one bot beat the other, by name."""

    games: int
    entrants: tuple[Entrant, ...]
    ahead: dict[str, dict[str, float | None]]


def standing(bots: Sequence[str], done: Sequence[Outcome]) -> Standing:
    """Compute the standings of the games that end, given in any order."""
    over = (outcome for outcome in done if outcome.unfinished is None)
    ordered = sorted(over, key=lambda outcome: outcome.number)
    ratings = rated(len(bots), (outcome.pairs for outcome in ordered))
    seats, wins = [0] * len(bots), [0.0] * len(bots)
    met: Counter[tuple[int, int]] = Counter()
    won: defaultdict[tuple[int, int], float] = defaultdict(float)  # draws count half
    for outcome in ordered:
        first = outcome.places.count(1) or 1
        for bot, place in zip(outcome.lineup, outcome.places, strict=False):
            seats[bot] += 1
            wins[bot] += (place == 1) / first
        for a, b, share in outcome.pairs:
            met.update([(a, b), (b, a)])
            won[a, b] += share
            won[b, a] += 1 - share
    entrants = []
    for bot, (name, rating) in enumerate(zip(bots, ratings, strict=True)):
        share = wins[bot] / seats[bot] if seats[bot] else 0.0
        low, high = share_interval(share, seats[bot]) if seats[bot] else (0.0, 1.0)
        entrants.append(Entrant(name, rating.rating, rating.low, rating.high, seats[bot], share, low, high))
    ahead = {
        name: {other: won[a, b] / met[a, b] if met[a, b] else None for b, other in enumerate(bots) if a != b}
        for a, name in enumerate(bots)
    }
    return Standing(len(ordered), tuple(sorted(entrants, key=lambda entrant: -entrant.rating)), ahead)
