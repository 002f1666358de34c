"""Games of two rulesets in pairs: each seed is played in both, and once more in lock step until they part.

A pair depends on its seed alone, so that pairs can be played by any number of workers
(:mod:`interpreter.simulate.workers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial

from interpreter.base.diagnostics import RulesetError
from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Json
from interpreter.bots.registry import bots_of
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.divergence import LockStep, Parting, own_settings
from interpreter.compare.operands import sides_of
from interpreter.kernel.state import Value
from interpreter.simulate.simulation import Row, WholeGames, played
from interpreter.simulate.workers import Batch, Crew, Work, WorkersLost, batch_of, shared

__all__ = ["Pair", "PairPlan", "compared_by", "pairs"]


@dataclass(frozen=True, slots=True)
class PairPlan:
    """Job description for pairs of games: two names as :func:`sides_of` takes them, and how to set up their games.
    ``known`` are the settings by which the two are compared, as games hold them."""

    names: tuple[str, str]
    overlays: tuple[str, ...]
    digests: tuple[str, str]
    players: int
    bots: str
    settings: tuple[tuple[str, Json], ...] = ()
    known: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """One seed: the game of either ruleset, and where the two part in lock step."""

    seed: int
    a: Row
    b: Row
    parting: Parting


def pairs(
    plan: PairPlan,
    comparison: Comparison,
    seeds: Sequence[int],
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[Pair]]:
    """All pairs, some at a time, in any order: here, or by a crew (:func:`interpreter.simulate.workers.shared`)."""
    return shared(_playing(plan, comparison), partial(_play_batch, plan), seeds, crew, alone, stopped)


def _play_batch(plan: PairPlan, seeds: Sequence[int]) -> Batch[Pair]:
    return batch_of(lambda: _ready(plan), seeds)


@lru_cache(maxsize=1)
def _ready(plan: PairPlan) -> Work[Pair]:
    return _playing(plan, compared_by(plan))


def compared_by(plan: PairPlan) -> Comparison:
    """The comparison, made anew by a worker, of the same rules. Raises :class:`WorkersLost` where they are others."""
    try:
        a, b = (side.for_players(plan.players) for side in sides_of(*plan.names, plan.overlays))
    except RulesetError as error:
        why = error.diagnostics[0].message
        raise WorkersLost(f"a worker cannot load {' and '.join(plan.names)}: {why}") from None
    if (a.digest, b.digest) != plan.digests:
        raise WorkersLost(f"a worker has other rules for {' or '.join(plan.names)} than there were before")
    return differences(Compared(a), Compared(b), dict(plan.known), plan.players)


def _playing(plan: PairPlan, comparison: Comparison) -> Work[Pair]:
    sides = comparison.a, comparison.b
    bots = [bots_of(plan.bots, side, plan.players) for side in sides]
    settings = [own_settings(side, dict(plan.settings)) for side in sides]
    whole = [WholeGames(side, table) for side, table in zip(sides, bots, strict=True)]
    lock = LockStep(comparison, bots[0], dict(plan.settings))

    def work(seeds: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Pair]:
        for seed in seeds:
            rows = [
                row
                for side, table, own, games in zip(sides, bots, settings, whole, strict=True)
                for row in played(side, table, [seed], own, stopped, games)
            ]
            if len(rows) < len(sides) or stopped():
                return
            yield Pair(seed, rows[0], rows[1], lock.play(seed))

    return work
