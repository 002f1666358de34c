"""Ratings of bots by the games that they played against each other: Bradley and Terry's model, on the scale of Elo.

A game with more than two seats counts as a game between each pair of its bots: who has the better place has won. The
pairs of one game hang together, so intervals are worked out from whole games (the sandwich estimator).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log

from interpreter.base.frozen import dataclass
from interpreter.simulate.confidence import NORMAL_95

__all__ = ["MEAN", "Pair", "Rating", "rated"]

MEAN = 1500.0
"""The mean of all ratings."""
SCALE = 400 / log(10)
"""A bot that is better by 400 wins ten times as often as it loses."""
PRIOR = 0.5
"""Each two bots have drawn so many games more: a bot that always wins has a rating, too."""
STEPS, EXACT = 200, 1e-10

Pair = tuple[int, int, float]
"""Two bots that met in a game, and what the first one has of the win: 1, 0.5 or 0."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of a bot, with its 95 % interval."""

    rating: float
    low: float
    high: float


def rated(count: int, games: Iterable[Sequence[Pair]]) -> list[Rating]:
    """The ratings of so many bots, by what happened between pairs of them in each game."""
    played = [list(pairs) for pairs in games]
    every = [pair for pairs in played for pair in pairs]
    prior = [(a, b, 0.5) for a in range(count) for b in range(a)]
    strengths = [0.0] * count
    for _ in range(STEPS):
        slope, bend = _slope(strengths, every, 1.0), _bend(strengths, every, 1.0)
        for total, more in zip(slope, _slope(strengths, prior, PRIOR), strict=True):
            total[0] += more[0]
        for row, added in zip(bend, _bend(strengths, prior, PRIOR), strict=True):
            for place, value in enumerate(added):
                row[place] += value
        step = _solved(_anchored(bend), [each[0] for each in slope])
        largest = max(map(abs, step), default=0.0)
        strengths = [old + new * min(1.0, 2 / max(largest, 1e-300)) for old, new in zip(strengths, step, strict=True)]
        if largest < EXACT:
            break
    errors = _errors(strengths, played, bend if every or prior else [])
    middle = sum(strengths) / count
    return [
        Rating(
            MEAN + SCALE * (strength - middle),
            MEAN + SCALE * (strength - middle - NORMAL_95 * error),
            MEAN + SCALE * (strength - middle + NORMAL_95 * error),
        )
        for strength, error in zip(strengths, errors, strict=True)
    ]


def _chance(strengths: Sequence[float], a: int, b: int) -> float:
    """How likely a wins against b."""
    return 1 / (1 + exp(strengths[b] - strengths[a]))


def _slope(strengths: Sequence[float], pairs: Iterable[Pair], weight: float) -> list[list[float]]:
    """The slope of the likelihood."""
    found = [[0.0] for _ in strengths]
    for a, b, share in pairs:
        surprise = weight * (share - _chance(strengths, a, b))
        found[a][0] += surprise
        found[b][0] -= surprise
    return found


def _bend(strengths: Sequence[float], pairs: Iterable[Pair], weight: float) -> list[list[float]]:
    """The matrix of its second derivatives, with the other sign."""
    found = [[0.0] * len(strengths) for _ in strengths]
    for a, b, _ in pairs:
        chance = _chance(strengths, a, b)
        value = weight * chance * (1 - chance)
        found[a][a] += value
        found[b][b] += value
        found[a][b] -= value
        found[b][a] -= value
    return found


def _anchored(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """With the sum of all strengths held fast, which nothing else does."""
    return [[value + 1.0 for value in row] for row in matrix]


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of linear equations, by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            for place in range(column, size + 1):
                rows[row][place] -= factor * rows[column][place]
    found = [0.0] * size
    for row in range(size - 1, -1, -1):
        rest = sum(rows[row][place] * found[place] for place in range(row + 1, size))
        found[row] = (rows[row][size] - rest) / rows[row][row]
    return found


def _errors(
    strengths: Sequence[float], games: Sequence[Sequence[Pair]], bend: Sequence[Sequence[float]]
) -> list[float]:
    """The standard error of each strength."""
    size = len(strengths)
    spread = [[0.0] * size for _ in strengths]
    for pairs in games:
        slope = [each[0] for each in _slope(strengths, pairs, 1.0)]
        for row, own in enumerate(slope):
            if own:
                for place, other in enumerate(slope):
                    spread[row][place] += own * other
    anchored = _anchored(bend)
    inverse = [_solved(anchored, [float(row == column) for row in range(size)]) for column in range(size)]
    return [
        max(
            0.0,
            sum(
                inverse[own][row] * spread[row][place] * inverse[own][place]
                for row in range(size)
                for place in range(size)
            ),
        )
        ** 0.5
        for own in range(size)
    ]
