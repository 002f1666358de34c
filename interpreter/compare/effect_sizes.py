"""Effect sizes: pairs of games with the same seed in two rulesets, and the differences of their measures.

Of a measure of several seats or things the mean of a game is taken, as it ends. A pair gives one difference for each
measure; from these come a mean difference with the interval in which it lies with 95 % confidence (by Student's
distribution), and an effect size: the mean difference in units of its standard deviation between pairs (Cohen's d for
pairs).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, floor, inf, log10, sqrt
from statistics import fmean, stdev

from interpreter.base.frozen import dataclass
from interpreter.bots.registry import default_bots, policies_for
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Measure
from interpreter.language.types import IntType
from interpreter.simulate.confidence import NORMAL_95, mean_interval
from interpreter.simulate.simulation import Row
from interpreter.simulate.totals import final

__all__ = ["Effect", "bots_for_all", "effects", "histogram"]

_PREFERRED = "sensible"


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect on one measure: values of all games on both sides and the size of the difference. ``values`` are the
    values of all games, for pictures. The ``size`` has no end where all pairs differ by the same."""

    name: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    size: float
    size_low: float
    size_high: float
    values: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def is_sure(self) -> bool:
        """Return whether no difference at all lies outside of the interval."""
        return not self.low <= 0 <= self.high


def bots_for_all(*rulesets: Ruleset) -> str:
    """The bot that all of these are played with where nothing is said."""
    if all(_PREFERRED in policies_for(each) for each in rulesets):
        return _PREFERRED
    names = {default_bots(each) for each in rulesets}
    return names.pop() if len(names) == 1 else "random"


def effects(a: Sequence[Row], b: Sequence[Row], measures: Sequence[Measure]) -> list[Effect]:
    """The effects of every measure that both have, from rows of games in pairs."""
    mine, its = ([_numbers(row, measures) for row in rows] for rows in (a, b))
    names = dict.fromkeys(name for row in mine for name in row)
    found = []
    for name in names:
        pairs = [
            (x, y)
            for one, other in zip(mine, its, strict=True)
            if (x := one.get(name)) is not None and (y := other.get(name)) is not None
        ]
        if len(pairs) > 1:
            found.append(_effect(name, pairs))
    return found


def _numbers(row: Row, measures: Sequence[Measure]) -> dict[str, float]:
    """The measures of a game, each as one number: the mean of all seats that count and of all things. Each stage has
    its own."""
    found: dict[str, float] = {"rounds": row.rounds}
    for measure in measures:
        numbers = [place for place, key in enumerate(measure.keys) if isinstance(key.type, IntType)]
        values: dict[str, list[int]] = {}
        for of, value in final(measure, row).items():
            if value is not None and (measure.seat is None or row.counts(of[measure.seat])):
                values.setdefault(" ".join([measure.name, *(str(of[place]) for place in numbers)]), []).append(value)
        found.update((name, fmean(each)) for name, each in values.items())
    return {**found, "decisions": row.free}


def _effect(name: str, pairs: Sequence[tuple[float, float]]) -> Effect:
    count = len(pairs)
    changes = [y - x for x, y in pairs]
    mean, spread = fmean(changes), stdev(changes)
    low, high = mean_interval(changes)
    size = mean / spread if spread else copysign(inf, mean) if mean else 0.0
    around = NORMAL_95 * sqrt(1 / count + size * size / (2 * count)) if spread else 0.0
    one, other = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
    return Effect(name, fmean(one), fmean(other), mean, low, high, size, size - around, size + around, (one, other))


def histogram(effect: Effect, most: int = 24) -> list[tuple[float, int, int]]:
    """Both sides' values in bins of equal width, which is a round number: where each begins, and how many games of
    either side are in it."""
    one, other = effect.values
    low, high = min(*one, *other), max(*one, *other)
    whole = all(value == int(value) for value in (*one, *other))
    width = _round_width((high - low) / (most - 1), whole)
    first = floor(low / width + _SLIP)
    counts = [[0, 0] for _ in range(floor(high / width + _SLIP) - first + 1)]
    for side, values in enumerate((one, other)):
        for value in values:
            counts[floor(value / width + _SLIP) - first][side] += 1
    return [(round((first + number) * width, 9), a, b) for number, (a, b) in enumerate(counts)]


_SLIP = 1e-9
"""What a quotient may be short of the whole number that it should be."""


def _round_width(least: float, whole: bool) -> float:
    """The least of 1, 2, 5, 10, 20 … and, where values are not whole, of 0.5, 0.2, 0.1 … that is large enough."""
    if least <= 0 or (whole and least <= 1):
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - _SLIP))
