"""Confidence intervals of numbers from games, at 95 %."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist, fmean, stdev

__all__ = ["CONFIDENCE", "NORMAL_95", "mean_interval", "share_interval", "student"]

CONFIDENCE = 0.95
NORMAL_95 = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""So many standard deviations to either side hold 95 % of a normal distribution."""

_FEW = 40
"""From so many degrees of freedom on the expansion is good to six digits."""


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Wilson's interval for a share of so many: it keeps within 0 and 1, also for few and for rare."""
    z = NORMAL_95 * NORMAL_95 / count
    centre = (share + z / 2) / (1 + z)
    reach = NORMAL_95 / (1 + z) * sqrt(share * (1 - share) / count + z / (4 * count))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval of a mean, of two values or more, by Student's distribution."""
    mean, reach = fmean(values), student(len(values) - 1) * stdev(values) / sqrt(len(values))
    return mean - reach, mean + reach


@lru_cache(maxsize=256)
def student(freedom: int) -> float:
    """So many standard errors to either side hold 95 % of Student's distribution."""
    return _by_halves(freedom) if freedom < _FEW else _expanded(freedom)


def _by_halves(freedom: int) -> float:
    """The quantile of the exact distribution."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < CONFIDENCE else (low, middle)
    return low


def _within(reach: float, freedom: int) -> float:
    """Return the probability mass of Student's distribution within so many standard errors: a finite sum for whole
    degrees."""
    angle = atan(reach / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for number in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (number - 1) / number * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _expanded(freedom: int) -> float:
    """The quantile by the expansion of Cornish and Fisher."""
    z = NORMAL_95
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
