"""Effect sizes: pairs of games with the same seed in two rulesets, and the differences of their measures.

A measure of several seats or subjects counts as their mean at the end of a game. The share of wins of a seat, or of the
only seat that met an event, is a measure too: several winners of a game have equal parts of it. Each pair gives one
difference per measure. The result is the mean difference with its 95 % confidence interval (Student's distribution),
and an effect size: the mean difference in units of its standard deviation between pairs (Cohen's d for paired samples).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import copysign, fsum, inf, sqrt

from msgspec import Struct

from interpreter.base.plain_data import grouped
from interpreter.language.model import Measure
from interpreter.simulate.confidence import NORMAL_95, student
from interpreter.simulate.simulation import Row
from interpreter.simulate.totals import Of, final

__all__ = ["Effect", "Ratio", "by_size", "effects", "ratio_effect"]

Ratio = tuple[float, int]
"""A part and its whole, such as what was paid and the number of purchases."""

_WINS = " wins, %"
"""End of the names of shares of wins."""
_NOISE = 1e-9
"""Spread, in units of the means, that comes from rounding."""


class Effect(Struct, frozen=True):
    """Effect on one measure. ``values`` are the values of all games on both sides, for charts. The ``size`` is infinite
    if all pairs differ by the same amount."""

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
    unsaid = ("values",)

    @property
    def is_sure(self) -> bool:
        """Return whether the interval excludes 0."""
        return not self.low <= 0 <= self.high

    @property
    def is_of_wins(self) -> bool:
        """Return whether the measure is a share of wins."""
        return self.name.endswith(_WINS)


def effects(a: Sequence[Row], b: Sequence[Row], measures: Sequence[Measure]) -> list[Effect]:
    """Return the effects on every measure that both sides have and on the shares of wins, from rows of paired games."""
    numbers_a, numbers_b = ([{**_numbers(row, measures), **_wins(row, measures)} for row in rows] for rows in (a, b))
    names = dict.fromkeys(name for row in numbers_a for name in row)
    results = []
    for name in names:
        pairs = [
            ((x, 1), (y, 1))
            for left, right in zip(numbers_a, numbers_b, strict=True)
            if (x := left.get(name)) is not None and (y := right.get(name)) is not None
        ]
        if len(pairs) > 1:
            results.append(ratio_effect(name, *zip(*pairs, strict=True)))
    return results


def by_size(effects: Iterable[Effect]) -> list[Effect]:
    """Sort effects: significant ones first, then by size."""
    return sorted(effects, key=lambda effect: (not effect.is_sure, -abs(effect.size)))


def _numbers(row: Row, measures: Sequence[Measure]) -> dict[str, float]:
    """Return each measure of a game as one number: the mean over all seats that count and all subjects. A measure with
    an integer key has one number per key, as for stages of a game."""
    results: dict[str, float] = {"rounds": row.rounds}
    others = {seat for seat in range(len(row.places)) if not row.counts(seat)}
    for measure in measures:
        own, values = measure.seat, final(measure, row).items()
        known = [(of, n) for of, n in values if n is not None and (own is None or of[own] not in others)]
        by_name = {measure.name: [value for _, value in known]}
        if measure.numbers:
            by_name = grouped((_by_number(measure, of), value) for of, value in known)
        results |= {name: sum(of_name) / len(of_name) for name, of_name in by_name.items() if of_name}
    return {**results, "decisions": row.free}


def _wins(row: Row, measures: Sequence[Measure]) -> dict[str, float]:
    """Return the share of the win, in percent, of each seat that counts, and of the only seat that met an event with
    these numbers."""
    if not row.places:
        return {}
    owners = {f"player {seat + 1}": {seat} for seat in range(len(row.places)) if row.counts(seat)}
    for measure in measures:
        own = measure.seat
        if measure.event is not None and own is not None and measure.is_numbered:
            for of in final(measure, row):
                owners.setdefault(_by_number(measure, of), set()).add(of[own])
    return {f"{name}{_WINS}": 100 * row.share(*seats) for name, seats in owners.items() if len(seats) == 1}


def _by_number(measure: Measure, of: Of) -> str:
    return " ".join([measure.name, *(str(of[place]) for place in measure.numbers)]) if measure.numbers else measure.name


def ratio_effect(name: str, a: Sequence[Ratio], b: Sequence[Ratio]) -> Effect:
    """Return the effect on a ratio of totals, such as the mean price of all purchases, from paired games.

    A game's part in the difference is what it adds to either ratio, by linear approximation; this is exact if all
    wholes are 1, as for the mean of a measure. Only games with a whole count as degrees of freedom.
    """
    totals = [sum(whole for _, whole in side) for side in (a, b)]
    means = [fsum(part for part, _ in side) / total for side, total in zip((a, b), totals, strict=True)]
    values = [tuple(part / whole for part, whole in side if whole) for side in (a, b)]
    (before, after), count = means, len(a)
    difference = after - before
    parts = [
        (y - after * n) * count / totals[1] - (x - before * m) * count / totals[0]
        for (x, m), (y, n) in zip(a, b, strict=True)
    ]
    middle = fsum(parts) / count  # `statistics.stdev` adds fractions, which takes seven times as long
    spread = sqrt(fsum((part - middle) ** 2 for part in parts) / (count - 1))
    if spread <= _NOISE * max(map(abs, means)):
        spread = 0.0
    reach = student(min(map(len, values)) - 1) * spread / sqrt(count)
    size = difference / spread if spread else copysign(inf, difference) if difference else 0.0
    around = NORMAL_95 * sqrt(1 / count + size * size / (2 * count)) if spread else 0.0
    low, high = difference - reach, difference + reach
    both = values[0], values[1]
    return Effect(name, before, after, difference, low, high, size, size - around, size + around, both)
