"""Tuning of a policy's weights: CMA-ES proposes weights, games against the current policy evaluate them.

All proposals of a generation play the same seeds on the same seats, so they are compared game by game. The result is
evaluated with seeds that the search has not used.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from interpreter.base.extras import Unavailable, install_command
from interpreter.base.plain_data import Json
from interpreter.bots.registry import bots_of
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.simulate.confidence import mean_interval
from interpreter.simulate.simulation import Row, WholeGames, played

__all__ = [
    "Estimate",
    "Generation",
    "Judgement",
    "Question",
    "TunedWeights",
    "diff_of",
    "judged",
    "tuned",
    "win_shares",
]

SPREAD = 0.3
"""Initial standard deviation of a weight, relative to its size."""
LEAST = 1.0
"""Smallest initial standard deviation of a weight."""
APART = 1_000_000
"""Offset of the evaluation seeds from the seeds of the search."""


class Question(Struct, frozen=True):
    """Subject of tuning: a policy of a ruleset for a number of players. ``others`` are the opponents, comma-separated
    names that are dealt to the other seats in turn."""

    ruleset: str
    overlays: tuple[str, ...]
    players: int
    policy: str
    others: str
    settings: tuple[tuple[str, Json], ...] = ()


class Generation(Struct, frozen=True):
    """Result of a generation: the best and the mean share of wins."""

    number: int
    best: float
    mean: float


class Estimate(Struct, frozen=True):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean * 100:.1f} % ({self.low * 100:.1f} to {self.high * 100:.1f} %)"


class Judgement(Struct, frozen=True):
    """Shares of wins before and after, and their difference game by game."""

    games: int
    before: Estimate
    after: Estimate
    difference: Estimate

    @property
    def is_better(self) -> bool:
        """Return whether the whole interval of the difference is above 0."""
        return self.difference.low > 0


class TunedWeights(Struct, frozen=True):
    """Weights before and after the search."""

    before: dict[str, int]
    after: dict[str, int]


# --- games


@lru_cache(maxsize=2)
def _ruleset(question: Question) -> Ruleset:
    return load(question.ruleset, question.overlays).for_players(question.players)


def win_shares(question: Question, weights: Mapping[str, int], seeds: Sequence[int]) -> list[float]:
    """Return the policy's share of the win with these weights in each game. Each seed is played once on every seat.

    Each proposal gets its own table: a module holds few policies, and these are used only once. Nobody wins
    a game that does not end. Weights that make a rule fail, such as a division by zero, lose all games.
    """
    ruleset = dataclasses.replace(_ruleset(question), _tables={}, source=None)
    spec = ":".join([question.policy, *(f"{name}={value}" for name, value in weights.items())])
    shares: list[float] = []
    for seat in range(question.players):
        others = question.others.split(",")
        names = [others[number % len(others)] for number in range(question.players - 1)]
        names.insert(seat, spec)
        whole = WholeGames(ruleset, bots_of(",".join(names), ruleset, question.players))
        rows = played(whole, seeds, dict(question.settings))
        try:
            shares += [row.share(seat) if isinstance(row, Row) else 0.0 for row in rows]
        except RuleFailure:
            return [0.0] * (question.players * len(seeds))
    return shares


def _summary(values: Sequence[float]) -> Estimate:
    mean = sum(values) / len(values)
    return Estimate(mean, *mean_interval(values)) if len(values) > 1 else Estimate(mean, mean, mean)


def judged(
    question: Question, weights: TunedWeights, seeds: Sequence[int], at_once: Callable[..., list[list[float]]]
) -> Judgement:
    """Play the weights before and after with the same seeds."""
    before, after = at_once([(weights.before, seeds), (weights.after, seeds)])
    size = question.players
    pairs = [
        # the games of one seed are not independent: use their mean
        [sum(values[place :: len(seeds)]) / size for place in range(len(seeds))]
        for values in (before, after)
    ]
    difference = [right - left for left, right in zip(*pairs, strict=True)]
    return Judgement(len(before), *map(_summary, (*pairs, difference)))


# --- the search


def tuned(
    weights: Mapping[str, int],
    at_once: Callable[[Sequence[tuple[Mapping[str, int], Sequence[int]]]], list[list[float]]],
    *,
    seed: int,
    games: int,
    generations: int,
    population: int,
    report: Callable[[Generation], object],
    stopped: Callable[[], bool] = bool,
) -> TunedWeights:
    """Search for better weights. ``at_once`` plays proposals with seeds; each proposal plays ``games`` seeds.
    ``report`` is called after each generation. Raises :class:`Unavailable` without ``cma``."""
    try:
        import cma
    except ImportError:
        raise Unavailable(f"tuning needs cma: `{install_command('tune')}`") from None

    names = list(weights)
    scales = [max(LEAST, SPREAD * abs(weights[name])) for name in names]
    start = [weights[name] / scale for name, scale in zip(names, scales, strict=True)]
    padded = start + [0.0] * (len(start) == 1)  # CMA-ES needs two dimensions; the second one has no effect
    options = {"popsize": population, "seed": (seed % (2**31 - 2)) + 1, "verbose": -9, "maxiter": generations}
    search = cma.CMAEvolutionStrategy(padded, 1.0, options)

    def rounded(point: Sequence[float]) -> dict[str, int]:
        return {name: _whole(x * scale, weights[name]) for name, x, scale in zip(names, point, scales, strict=False)}

    for number in range(generations):
        if stopped() or search.stop().keys() - {"maxiter"}:
            break
        points = search.ask()
        seeds = range(seed + number * games, seed + (number + 1) * games)
        proposals = [rounded(point) for point in points]
        shares = [sum(wins) / len(wins) for wins in at_once([(proposal, seeds) for proposal in proposals])]
        search.tell(points, [-share for share in shares])
        report(Generation(number + 1, max(shares), sum(shares) / len(shares)))
    return TunedWeights(dict(weights), rounded(search.result.xfavorite))


def _whole(value: float, before: int) -> int:
    """Round a weight to an integer; not below 0 unless it was before."""
    rounded = round(value)
    return max(0, rounded) if before >= 0 else rounded


# --- the file


def diff_of(path: Path, weights: TunedWeights) -> tuple[str, str]:
    """Return the text of a policies file with the new weights, and the unified diff."""
    text = path.read_text(encoding="utf-8")
    lines, inside = text.splitlines(keepends=True), False
    for number, line in enumerate(lines):
        if re.match(r"\S", line):
            inside = line.startswith("weights:")
            continue
        entry = re.match(r"(\s+)(\w+)(:\s+)(-?\d+)(\s*)(.*)", line, re.DOTALL)
        if inside and entry and entry[2] in weights.after:
            value = str(weights.after[entry[2]])
            space = entry[5] if not entry[6].startswith("#") else " " * max(1, len(entry[4] + entry[5]) - len(value))
            lines[number] = f"{entry[1]}{entry[2]}{entry[3]}{value}{space}{entry[6]}"
    after = "".join(lines)
    diff = difflib.unified_diff(text.splitlines(keepends=True), lines, str(path), str(path))
    return after, "".join(diff)
