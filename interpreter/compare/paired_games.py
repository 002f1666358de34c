"""Paired games of two rulesets: each seed is played in both, and again in lock step until they diverge.

A pair depends on its seed alone, so any number of workers can play pairs (:mod:`interpreter.simulate.workers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import Json
from interpreter.base.stepwise import Steps, at_once
from interpreter.bots.registry import bots_of
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.divergence import LockStep
from interpreter.compare.lock_step import Parting
from interpreter.compare.operands import sides_of
from interpreter.engine.game import Ruleset
from interpreter.kernel.state import Value
from interpreter.loading.load import load
from interpreter.simulate.simulation import Row, Unfinished, WholeGames
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
    layers: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """Overlays of each side, ids or paths; the names are then those of rulesets."""

    def sides(self) -> tuple[Ruleset, Ruleset]:
        """Load both rulesets. Raises :class:`RulesetError`."""
        if self.layers is None:
            return sides_of(*self.names, self.overlays)
        (a, b), (over_a, over_b) = self.names, self.layers
        return load(a, over_a), load(b, over_b)

    def work(self, given: Comparison | None = None, /) -> Work[Pair | Unfinished]:
        """Prepare a pair for each seed, or a game that does not end in its place."""
        steps = self.steps(given or compared_by(self))

        def work(seeds: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Pair | Unfinished]:
            for seed in seeds:
                with no_search():
                    pair = at_once(steps(seed), stopped)
                if pair is None:
                    return
                yield pair

        return work

    def steps(self, comparison: Comparison) -> Callable[[int], Steps[Pair | Unfinished]]:
        """Prepare pairs that are played in steps."""
        sides = comparison.a, comparison.b
        whole = [WholeGames(side, bots_of(self.bots, side, self.players)) for side in sides]
        settings = [side.own_settings(dict(self.settings)) for side in sides]
        lock = LockStep(comparison, whole[0].bots, dict(self.settings))

        def steps(seed: int) -> Steps[Pair | Unfinished]:
            rows = []
            for games, own in zip(whole, settings, strict=True):
                row = yield from games.steps(seed, own)
                if isinstance(row, Unfinished):
                    return row
                rows.append(row)
            a, b = rows
            return Pair(seed, a, b, (yield from lock.steps(seed)))

        return steps


class Pair(Struct, frozen=True):
    """One seed: the game of each ruleset, and their divergence in lock step."""

    seed: int
    a: Row
    b: Row
    parting: Parting


def compared_by(plan: PairPlan) -> Comparison:
    """Repeat the comparison in a worker. Raises :class:`WorkersLost` if its rules differ from those of the plan."""
    try:
        a, b = (side.for_players(plan.players) for side in plan.sides())
    except RulesetError as error:
        why = error.diagnostics[0].message
        raise WorkersLost(f"a worker cannot load {' and '.join(plan.names)}: {why}") from None
    if (a.digest, b.digest) != plan.digests:
        raise WorkersLost(f"a worker has other rules for {' or '.join(plan.names)} than this machine")
    return differences(Compared(a), Compared(b), dict(plan.known), plan.players)
