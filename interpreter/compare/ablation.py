"""Ablation: the effect of each difference of two rulesets by itself.

Games of two editions often diverge at the same place, which hides later differences. So each rule, trigger, standing
rule and table that differs is grafted alone into the first ruleset (:mod:`interpreter.compare.graft`), and the result
is played in lock step with the unchanged ruleset. Rules and tables that only one side has do nothing alone: they come
along with the rules that name them.

Differences are independent, so any number of workers can play them (:mod:`interpreter.simulate.workers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import RulesetError
from interpreter.base.stepwise import at_once
from interpreter.bots.registry import bots_of
from interpreter.compare.differences import Comparison
from interpreter.compare.divergence import Apart
from interpreter.compare.graft import GRAFTED, grafted
from interpreter.compare.lock_step import Line, Parting
from interpreter.compare.paired_games import PairPlan, compared_by
from interpreter.engine.game import Ruleset
from interpreter.language.parse import Trees, remembered
from interpreter.lowering.constants import RuleFailure
from interpreter.simulate.workers import Work

__all__ = ["Alone", "Singly", "ranked", "singles"]

MOST_LINES = 100
"""Number of games of the unchanged ruleset that are kept for all differences."""


class Alone(Apart, frozen=True):
    """Effect of a difference by itself, by the path of its first change, or why it cannot be played alone."""

    why_not: str = ""


def ranked(effects: Iterable[Alone]) -> list[Alone]:
    """Sort effects: largest share first, then earliest; unplayable ones last."""
    return sorted(effects, key=lambda effect: (bool(effect.why_not), -effect.share, effect.choices or 0, effect.path))


def singles(comparison: Comparison) -> list[tuple[str, str, str]]:
    """Return the differences that can be applied alone: section, name and path of the first change.

    Skips rules and tables that only one side has: they do nothing alone.
    """
    paths: dict[tuple[str, str], str] = {}
    for difference in comparison.differences:
        section, _, name = difference.path.partition(".")
        is_needed = (
            section in ("rules", "tables") and (difference.a is None or difference.b is None) and not difference.cell
        )
        if section in GRAFTED and not is_needed:
            paths.setdefault((section, name.partition("[")[0]), difference.path)
    return [(*thing, path) for thing, path in paths.items()]


class Singly(Struct, frozen=True):
    """Job of playing each difference by itself with these seeds. Differences have numbers: their places in
    :func:`singles`."""

    plan: PairPlan
    seeds: tuple[int, ...]

    def work(self, given: Comparison | None = None, /) -> Work[Alone]:
        comparison = given or compared_by(self.plan)
        bots = bots_of(self.plan.bots, comparison.a, self.plan.players)
        things = singles(comparison)
        known: dict[int, Line] = {}
        trees = Trees()

        def line(seed: int) -> Line:
            """Return the game of the unchanged ruleset, which is the same for all differences."""
            found = known.get(seed) or Line(comparison.a, bots, seed, dict(self.plan.settings))
            if len(known) < MOST_LINES:
                known[seed] = found
            return found

        def effect(section: str, name: str, path: str, stopped: Callable[[], bool]) -> Alone:
            try:
                with remembered(trees):  # all but one rule are parsed already
                    changed = grafted(comparison.a, comparison.b, section, name)
                changed.table(self.plan.players, changed.settings(changed.own_settings(dict(self.plan.settings))))
            except (RulesetError, RuleFailure) as failure:
                first = failure.diagnostics[0] if isinstance(failure, RulesetError) else failure
                return Alone(path, why_not=first.message)
            partings = [_parting(line(seed), changed) for seed in self.seeds if not stopped()]
            return Alone.of(path, len(self.seeds), [parting for parting in partings if parting.is_apart])

        def work(numbers: Sequence[int], stopped: Callable[[], bool]) -> Iterator[Alone]:
            for number in numbers:
                alone = effect(*things[number], stopped)
                if stopped():
                    return
                yield alone

        return work


def _parting(line: Line, changed: Ruleset) -> Parting:
    """Return the divergence of a game. A rule that fails in the changed ruleset counts as one, too."""
    with no_search():
        try:
            found = at_once(line.beside(changed).in_step())
        except RuleFailure as failure:
            return Parting(line.seed, 0, 0, b=failure.message)
    assert found is not None
    return found
