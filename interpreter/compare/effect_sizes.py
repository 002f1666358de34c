"""Effect sizes: pairs of games with the same seed in two rulesets, and the differences of their measures.

A measure of several seats or subjects counts as their mean at the end of a game. The share of wins of a seat, or of the
only seat that met an event, is a measure too: several winners of a game have equal parts of it. Each pair gives one
difference per measure. The result is the mean difference with its 95 % confidence interval (Student's distribution),
and an effect size: the mean difference in units of its standard deviation between pairs (Cohen's d for paired samples).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, floor, inf, log10, sqrt
from statistics import fmean, stdev

from msgspec import Struct

from interpreter.bots.registry import default_bots, policies_for
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Measure
from interpreter.language.types import IntType
from interpreter.simulate.confidence import NORMAL_95, mean_interval
from interpreter.simulate.simulation import Row
from interpreter.simulate.totals import Of, final

__all__ = ["WINS", "Effect", "bots_for_all", "effects", "histogram"]

WINS = " wins, %"
"""End of the names of shares of wins."""
_PREFERRED = "sensible"


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

    @property
    def is_sure(self) -> bool:
        """Return whether the interval excludes 0."""
        return not self.low <= 0 <= self.high


def bots_for_all(*rulesets: Ruleset) -> str:
    """Return the default bot for a comparison of these rulesets."""
    if all(_PREFERRED in policies_for(ruleset) for ruleset in rulesets):
        return _PREFERRED
    names = {default_bots(ruleset) for ruleset in rulesets}
    return names.pop() if len(names) == 1 else "random"


def effects(a: Sequence[Row], b: Sequence[Row], measures: Sequence[Measure]) -> list[Effect]:
    """Return the effects on every measure that both sides have and on the shares of wins, from rows of paired games."""
    numbers_a, numbers_b = ([{**_numbers(row, measures), **_wins(row, measures)} for row in rows] for rows in (a, b))
    names = dict.fromkeys(name for row in numbers_a for name in row)
    results = []
    for name in names:
        pairs = [
            (x, y)
            for left, right in zip(numbers_a, numbers_b, strict=True)
            if (x := left.get(name)) is not None and (y := right.get(name)) is not None
        ]
        if len(pairs) > 1:
            results.append(_effect(name, pairs))
    return results


def _numbers(row: Row, measures: Sequence[Measure]) -> dict[str, float]:
    """Return each measure of a game as one number: the mean over all seats that count and all subjects. A measure with
    an integer key has one number per key, as for stages of a game."""
    results: dict[str, float] = {"rounds": row.rounds}
    for measure in measures:
        values: dict[str, list[int]] = {}
        for of, value in final(measure, row).items():
            if value is not None and (measure.seat is None or row.counts(of[measure.seat])):
                values.setdefault(_by_number(measure, of), []).append(value)
        results.update((name, fmean(of_name)) for name, of_name in values.items())
    return {**results, "decisions": row.free}


def _wins(row: Row, measures: Sequence[Measure]) -> dict[str, float]:
    """Return the share of the win, in percent, of each seat that counts, and of the only seat that met an event with
    these numbers."""
    if not row.places:
        return {}
    owners = {f"player {seat + 1}": {seat} for seat in range(len(row.places)) if row.counts(seat)}
    for measure in measures:
        own = measure.seat
        others = (key for place, key in enumerate(measure.keys) if place != own)
        if measure.event is not None and own is not None and all(isinstance(key.type, IntType) for key in others):
            for of in final(measure, row):
                owners.setdefault(_by_number(measure, of), set()).add(of[own])
    return {f"{name}{WINS}": 100 * row.share(*seats) for name, seats in owners.items() if len(seats) == 1}


def _by_number(measure: Measure, of: Of) -> str:
    """Return the name of a measure with its integer keys."""
    numbers = (str(part) for key, part in zip(measure.keys, of, strict=True) if isinstance(key.type, IntType))
    return " ".join([measure.name, *numbers])


def _effect(name: str, pairs: Sequence[tuple[float, float]]) -> Effect:
    count = len(pairs)
    changes = [y - x for x, y in pairs]
    mean, spread = fmean(changes), stdev(changes)
    low, high = mean_interval(changes)
    size = mean / spread if spread else copysign(inf, mean) if mean else 0.0
    around = NORMAL_95 * sqrt(1 / count + size * size / (2 * count)) if spread else 0.0
    left, right = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
    return Effect(name, fmean(left), fmean(right), mean, low, high, size, size - around, size + around, (left, right))


def histogram(effect: Effect, most: int = 24) -> list[tuple[float, int, int]]:
    """Return both sides' values in bins whose width is a round number: the start of each bin, and the number of games
    of either side in it."""
    left, right = effect.values
    low, high = min(*left, *right), max(*left, *right)
    whole = all(value == int(value) for value in (*left, *right))
    width = _round_width((high - low) / (most - 1), whole)
    first = floor(low / width + _SLIP)
    counts = [[0, 0] for _ in range(floor(high / width + _SLIP) - first + 1)]
    for side, values in enumerate((left, right)):
        for value in values:
            counts[floor(value / width + _SLIP) - first][side] += 1
    return [(round((first + number) * width, 9), a, b) for number, (a, b) in enumerate(counts)]


_SLIP = 1e-9
"""Tolerance for quotients slightly below an integer."""


def _round_width(least: float, whole: bool) -> float:
    """Return the smallest sufficient width of 1, 2, 5, 10, 20 … and, unless values are integers, of 0.5, 0.2, 0.1 …"""
    if least <= 0 or (whole and least <= 1):
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - _SLIP))
