"""Confidence intervals of simulation results, at 95 %."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist, fmean, stdev

__all__ = ["CONFIDENCE", "NORMAL_95", "interval_around", "mean_interval", "share_interval", "student"]

CONFIDENCE = 0.95
NORMAL_95 = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Half-width of the central 95 % of a normal distribution, in standard deviations."""

_FEW = 40
"""Degrees of freedom from which the expansion is accurate to six digits."""


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Return Wilson's interval of a share of ``count`` games, within 0 and 1 even for few games or rare events."""
    z = NORMAL_95 * NORMAL_95 / count
    centre = (share + z / 2) / (1 + z)
    reach = NORMAL_95 / (1 + z) * sqrt(share * (1 - share) / count + z / (4 * count))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval of the mean of at least two values, by Student's distribution."""
    return interval_around(fmean(values), stdev(values), len(values))


def interval_around(mean: float, deviation: float, count: int) -> tuple[float, float]:
    """Return the interval of a mean of ``count`` values with this standard deviation."""
    reach = student(count - 1) * deviation / sqrt(count)
    return mean - reach, mean + reach


@lru_cache(maxsize=256)
def student(freedom: int) -> float:
    """Return the half-width of the central 95 % of Student's distribution, in standard errors."""
    return _by_halves(freedom) if freedom < _FEW else _expanded(freedom)


def _by_halves(freedom: int) -> float:
    """Return the quantile of the exact distribution, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < CONFIDENCE else (low, middle)
    return low


def _within(reach: float, freedom: int) -> float:
    """Return the probability mass of Student's distribution within ``reach`` standard errors: a finite sum for integer
    degrees of freedom."""
    angle = atan(reach / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for number in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (number - 1) / number * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _expanded(freedom: int) -> float:
    """Return the quantile by the Cornish-Fisher expansion."""
    z = NORMAL_95
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
