"""Paired games of two rulesets: each seed is played in both, and again in lock step until they diverge.

A pair depends on its seed alone, so any number of workers can play pairs (:mod:`interpreter.simulate.workers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.bots.registry import bots_of
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.divergence import LockStep, Parting, own_settings
from interpreter.compare.operands import sides_of
from interpreter.kernel.state import Value
from interpreter.simulate.simulation import Row, Unfinished, WholeGames, played
from interpreter.simulate.workers import Work, WorkersLost

__all__ = ["Pair", "PairPlan", "compared_by"]


class PairPlan(Struct, frozen=True):
    """Pairs of games: two names for :func:`sides_of`, and the set-up of the games. ``known`` are the settings of the
    comparison, as internal values."""

    names: tuple[str, str]
    overlays: tuple[str, ...]
    digests: tuple[str, str]
    players: int
    bots: str
    settings: tuple[tuple[str, Json], ...] = ()
    known: tuple[tuple[str, Value], ...] = ()

    def work(self, given: Comparison | None = None, /) -> Work[Pair | Unfinished]:
        """Prepare a pair for each seed, or a game that does not end in its place."""
        comparison = given or compared_by(self)
        sides = comparison.a, comparison.b
        whole = [WholeGames(side, bots_of(self.bots, side, self.players)) for side in sides]
        settings = [own_settings(side, dict(self.settings)) for side in sides]
        lock = LockStep(comparison, whole[0].bots, dict(self.settings))

        def work(seeds: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Pair | Unfinished]:
            for seed in seeds:
                rows = [
                    row
                    for side, games, own in zip(sides, whole, settings, strict=True)
                    for row in played(side, games.bots, [seed], own, stopped, games)
                ]
                if len(rows) < len(sides) or stopped():
                    return
                match rows:
                    case [Row() as a, Row() as b]:
                        yield Pair(seed, a, b, lock.play(seed))
                    case _:
                        yield next(row for row in rows if isinstance(row, Unfinished))

        return work


class Pair(Struct, frozen=True):
    """One seed: the game of each ruleset, and their divergence in lock step."""

    seed: int
    a: Row
    b: Row
    parting: Parting


def compared_by(plan: PairPlan) -> Comparison:
    """Repeat the comparison in a worker. Raises :class:`WorkersLost` if its rules differ from those of the plan."""
    try:
        a, b = (side.for_players(plan.players) for side in sides_of(*plan.names, plan.overlays))
    except RulesetError as error:
        why = error.diagnostics[0].message
        raise WorkersLost(f"a worker cannot load {' and '.join(plan.names)}: {why}") from None
    if (a.digest, b.digest) != plan.digests:
        raise WorkersLost(f"a worker has other rules for {' or '.join(plan.names)} than this machine")
    return differences(Compared(a), Compared(b), dict(plan.known), plan.players)
