"""Ablation: the effect of each difference of two rulesets by itself.

The games of two editions often part at the same place, and then nothing is known of what differs behind it. So each
rule, trigger, standing rule and table that differs is put into the first ruleset alone
(:mod:`interpreter.compare.graft`), and that is played in lock step with the first ruleset as it is. Rules and tables
that only one side has do nothing by themselves: they are asked with what names them.

A difference depends on no other, so they can be played by any number of workers (:mod:`interpreter.simulate.workers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from statistics import fmean

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import RulesetError
from interpreter.base.frozen import dataclass
from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of
from interpreter.compare.differences import Comparison
from interpreter.compare.divergence import Parting, in_step, own_settings
from interpreter.compare.graft import GRAFTED, grafted
from interpreter.compare.paired_games import PairPlan, compared_by
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.ruleset import Ruleset
from interpreter.simulate.workers import Batch, Crew, Work, batch_of, shared

__all__ = ["Alone", "one_at_a_time", "ranked", "singles"]


@dataclass(frozen=True, slots=True)
class Alone:
    """A thing that differs, by the path of its first difference, and what it does by itself.

    ``partings`` are those of the games that part, of ``games``. ``why`` says why it cannot be played by itself.
    """

    path: str
    games: int
    partings: tuple[Parting, ...] = ()
    why: str = ""

    @property
    def share(self) -> float:
        return len(self.partings) / self.games if self.games else 0.0

    @property
    def choices(self) -> float:
        """After how many choices games part, in the mean."""
        return fmean([each.choices for each in self.partings] or [0])

    @property
    def round(self) -> float:
        return fmean([each.round for each in self.partings] or [0])


def ranked(found: Iterable[Alone]) -> list[Alone]:
    """Sort effects: largest first, of these the earliest; unplayable ones last."""
    return sorted(found, key=lambda each: (bool(each.why), -each.share, each.choices, each.path))


def singles(comparison: Comparison) -> list[tuple[str, str, str]]:
    """List the differences that can be applied to the first ruleset alone: section, name and path of the first change.

    A rule or table that only one side has is nothing by itself.
    """
    found: dict[tuple[str, str], str] = {}
    for each in comparison.differences:
        section, _, name = each.path.partition(".")
        is_needed = section in ("rules", "tables") and (each.a is None or each.b is None) and not each.cell
        if section in GRAFTED and not is_needed:
            found.setdefault((section, name.partition("[")[0]), each.path)
    return [(*thing, path) for thing, path in found.items()]


def one_at_a_time(
    plan: PairPlan,
    comparison: Comparison,
    seeds: Sequence[int],
    crew: AbstractContextManager[Crew] | None = None,
    alone: float = 0.0,
    stopped: Callable[[], bool] = bool,
) -> Iterator[list[Alone]]:
    """Everything that differs, some at a time, in any order: here, or by a crew."""
    numbers = range(len(singles(comparison)))
    here = _playing(plan, comparison, tuple(seeds))
    return shared(here, partial(_play_batch, plan, tuple(seeds)), numbers, crew, alone, stopped)


def _play_batch(plan: PairPlan, seeds: tuple[int, ...], numbers: Sequence[int]) -> Batch[Alone]:
    return batch_of(lambda: _ready(plan, seeds), numbers)


@lru_cache(maxsize=1)
def _ready(plan: PairPlan, seeds: tuple[int, ...]) -> Work[Alone]:
    return _playing(plan, compared_by(plan), seeds)


def _playing(plan: PairPlan, comparison: Comparison, seeds: tuple[int, ...]) -> Work[Alone]:
    bots = bots_of(plan.bots, comparison.a, plan.players)
    things = singles(comparison)

    def work(numbers: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Alone]:
        for number in numbers:
            found = _alone(comparison, things[number], bots, seeds, dict(plan.settings), stopped)
            if stopped():
                return
            yield found

    return work


def _alone(
    comparison: Comparison,
    thing: tuple[str, str, str],
    bots: Sequence[Bot],
    seeds: Sequence[int],
    settings: Mapping[str, object],
    stopped: Callable[[], bool],
) -> Alone:
    section, name, path = thing
    try:
        changed = grafted(comparison.a, comparison.b, section, name)
        changed.table(len(bots), changed.settings(own_settings(changed, settings)))
    except (RulesetError, RuleFailure) as failure:
        first = failure.diagnostics[0] if isinstance(failure, RulesetError) else failure
        return Alone(path, 0, why=first.message)
    partings = [_parting(comparison.a, changed, bots, seed, settings) for seed in seeds if not stopped()]
    return Alone(path, len(seeds), tuple(each for each in partings if each.is_apart))


def _parting(
    ruleset: Ruleset, changed: Ruleset, bots: Sequence[Bot], seed: int, settings: Mapping[str, object]
) -> Parting:
    """A rule that fails among others than it was written for makes another game, too."""
    with no_search():
        try:
            return in_step(ruleset, changed, bots, seed, settings)[0]
        except RuleFailure as failure:
            return Parting(seed, 0, 0, b=failure.message)
