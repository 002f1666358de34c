"""Ratings of bots from games against each other: Bradley-Terry model, Elo scale.

A game with more than two seats counts as a game between each pair of its bots, won by the better place. As the pairs of
a game are not independent, intervals are computed from whole games (sandwich estimator).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log
from operator import add

from msgspec import Struct

from interpreter.simulate.confidence import NORMAL_95

__all__ = ["MEAN", "Pair", "Rating", "rated"]

MEAN = 1500.0
"""Mean of all ratings."""
SCALE = 400 / log(10)
"""Elo points per unit of strength: a bot with 400 points more wins ten times as often as it loses."""
PRIOR = 0.5
"""Weight of a drawn game added between each two bots, so that a bot that always wins has a finite rating."""
STEPS, EXACT = 200, 1e-10

Pair = tuple[int, int, float]
"""Two bots of a game and the score of the first: 1, 0.5 or 0."""
Matrix = list[list[float]]


class Rating(Struct, frozen=True):
    """The rating of a bot, with its 95 % interval."""

    rating: float
    low: float
    high: float


def rated(count: int, games: Iterable[Sequence[Pair]]) -> list[Rating]:
    """Return the ratings of ``count`` bots from the pairs of each game. Maximises the likelihood by Newton's method."""
    played = [list(pairs) for pairs in games]
    every = [pair for pairs in played for pair in pairs]
    prior = [(a, b, 0.5) for a in range(count) for b in range(a)]
    strengths = [0.0] * count
    for _ in range(STEPS):
        gradient, hessian = _derivatives(strengths, every, 1.0)
        slopes, curves = _derivatives(strengths, prior, PRIOR)
        # with 1 more, the sum of all strengths is fixed, which the likelihood leaves undetermined
        hessian = [
            [a + b + 1.0 for a, b in zip(row, more, strict=True)] for row, more in zip(hessian, curves, strict=True)
        ]
        step = _solved(hessian, list(map(add, gradient, slopes)))
        largest = max(map(abs, step), default=0.0)
        strengths = [old + new * min(1.0, 2 / max(largest, 1e-300)) for old, new in zip(strengths, step, strict=True)]
        if largest < EXACT:
            break
    errors = _errors(strengths, played, hessian if every or prior else [])
    middle = sum(strengths) / count
    return [
        Rating(*(MEAN + SCALE * (strength - middle + side * NORMAL_95 * error) for side in (0, -1, 1)))
        for strength, error in zip(strengths, errors, strict=True)
    ]


def _derivatives(strengths: Sequence[float], pairs: Iterable[Pair], weight: float) -> tuple[list[float], Matrix]:
    """Return the gradient of the log-likelihood, and its negative Hessian."""
    gradient, hessian = [0.0] * len(strengths), [[0.0] * len(strengths) for _ in strengths]
    for a, b, share in pairs:
        chance = 1 / (1 + exp(strengths[b] - strengths[a]))  # that a wins
        surprise, value = weight * (share - chance), weight * chance * (1 - chance)
        gradient[a] += surprise
        gradient[b] -= surprise
        hessian[a][a] += value
        hessian[b][b] += value
        hessian[a][b] -= value
        hessian[b][a] -= value
    return gradient, hessian


def _solved(matrix: Matrix, right: Sequence[float]) -> list[float]:
    """Solve linear equations by Gaussian elimination with partial pivoting."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            for place in range(column, size + 1):
                rows[row][place] -= factor * rows[column][place]
    solution = [0.0] * size
    for row in range(size - 1, -1, -1):
        rest = sum(rows[row][place] * solution[place] for place in range(row + 1, size))
        solution[row] = (rows[row][size] - rest) / rows[row][row]
    return solution


def _errors(strengths: Sequence[float], games: Sequence[Sequence[Pair]], hessian: Matrix) -> list[float]:
    """Return the standard error of each strength."""
    size = len(strengths)
    spread = [[0.0] * size for _ in strengths]
    for pairs in games:
        gradient, _ = _derivatives(strengths, pairs, 1.0)
        for row, own in enumerate(gradient):
            if own:
                for place, other in enumerate(gradient):
                    spread[row][place] += own * other
    inverse = [_solved(hessian, [float(row == column) for row in range(size)]) for column in range(size)]
    variances = (
        sum(column[row] * spread[row][place] * column[place] for row in range(size) for place in range(size))
        for column in inverse
    )
    return [max(0.0, variance) ** 0.5 for variance in variances]
