"""Tournaments: bots play each other, each as often on every seat, and their games become ratings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, combinations_with_replacement, permutations

from interpreter.base.plain_data import Json
from interpreter.bots.compiled_bots import whole_for
from interpreter.bots.registry import bots_of
from interpreter.compiler.wasm.compiled_machine import MOST_POLICIES
from interpreter.engine.ruleset import Ruleset, load
from interpreter.simulate.confidence import share_interval
from interpreter.simulate.ratings import Pair, rated
from interpreter.simulate.simulation import WholeGames, played
from interpreter.simulate.workers import Batch, Crew, Work, WorkersLost, batch_of, shared

__all__ = ["Entrant", "Outcome", "Standing", "Tournament", "lineups", "outcomes", "standing"]

MOST_LINEUPS = 720
"""So many orders of bots on the seats are played at most: where there are more, bots only go round the table."""


@dataclass(frozen=True)
class Tournament:
    """What is played: bots by name, and a ruleset for so many players. ``digest`` is that of the ruleset."""

    ruleset: str
    overlays: tuple[str, ...]
    digest: str
    players: int
    bots: tuple[str, ...]
    seed: int
    settings: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """One game: its number, the bots on the seats by their numbers, and the places of the seats."""

    number: int
    lineup: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def pairs(self) -> list[Pair]:
        """What happened between each two of its bots."""
        if not self.places:
            return []
        seats = range(len(self.lineup))
        return [
            (
                self.lineup[a],
                self.lineup[b],
                0.5 + (self.places[a] < self.places[b]) / 2 - (self.places[a] > self.places[b]) / 2,
            )
            for a, b in combinations(seats, 2)
            if self.lineup[a] != self.lineup[b]
        ]


def lineups(bots: int, players: int) -> list[tuple[int, ...]]:
    """The orders in which bots sit, so that each sits as often on every seat, and with each other one.

    Where there are fewer bots than seats, each sits as often as another one, or once more.
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


# --- games


@lru_cache(maxsize=2)
def _ready(tournament: Tournament) -> Work[Outcome]:
    ruleset = load(tournament.ruleset, tournament.overlays).for_players(tournament.players)
    if ruleset.digest != tournament.digest:
        raise WorkersLost(f"a worker has another `{ruleset.id}` than this machine: its rules differ")
    return _playing(tournament, ruleset)


def _playing(tournament: Tournament, ruleset: Ruleset) -> Work[Outcome]:
    """Plays games by their numbers: each lineup in turn, all lineups with the same seeds."""
    orders = lineups(len(tournament.bots), tournament.players)
    settings = dict(tournament.settings)
    tables: dict[tuple[int, ...], WholeGames] = {}

    def made(order: tuple[int, ...]) -> WholeGames:
        if order not in tables:
            names = ",".join(tournament.bots[bot] for bot in order)
            tables[order] = WholeGames(ruleset, bots_of(names, ruleset, tournament.players, commands=True))
        return tables[order]

    def work(numbers: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Outcome]:
        if len(tournament.bots) <= MOST_POLICIES:  # one module with all of them, not one after another
            every = [bot for order in orders for bot in made(order).bots]
            table = ruleset.table(tournament.players, ruleset.settings(settings))
            whole_for(table.machine, ruleset, every)
        for number in numbers:
            order = orders[number % len(orders)]
            whole = made(order)
            seed = tournament.seed + number // len(orders)
            for row in played(ruleset, whole.bots, [seed], settings, stopped, whole):
                yield Outcome(number, order, row.places)

    return work


def _there(tournament: Tournament, numbers: Sequence[int]) -> Batch[Outcome]:
    return batch_of(lambda: _ready(tournament), numbers)


def outcomes(
    tournament: Tournament,
    ruleset: Ruleset,
    games: int,
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[Outcome]]:
    """So many games, shared out as :func:`shared` says."""
    here = _playing(tournament, ruleset)
    return shared(here, partial(_there, tournament), range(games), crew, alone, stopped)


# --- what they come to


@dataclass(frozen=True)
class Entrant:
    """A bot in the table: its rating with the interval, its seats, and what it has of the win, with that interval."""

    name: str
    rating: float
    low: float
    high: float
    seats: int
    share: float
    share_low: float
    share_high: float


@dataclass(frozen=True)
class Standing:
    """The table, the best first, and how often each bot was ahead of each other one where they met: by their names."""

    games: int
    entrants: tuple[Entrant, ...]
    ahead: dict[str, dict[str, float | None]]


def standing(bots: Sequence[str], done: Sequence[Outcome]) -> Standing:
    """What games come to, in whatever order they were played."""
    ordered = sorted(done, key=lambda outcome: outcome.number)
    ratings = rated(len(bots), (outcome.pairs for outcome in ordered))
    seats, wins = [0] * len(bots), [0.0] * len(bots)
    met: Counter[tuple[int, int]] = Counter()
    won: defaultdict[tuple[int, int], float] = defaultdict(float)  # halves are counted, too
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
    return Standing(len(ordered), tuple(sorted(entrants, key=lambda each: -each.rating)), ahead)
