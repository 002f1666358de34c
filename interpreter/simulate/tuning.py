"""Weights of a policy, improved by games: CMA-ES proposes them, games against the policy as it is judge them.

All proposals of a generation play the same seeds on the same seats, so they are compared game by game. What comes out
is judged once more with seeds that the search has not seen.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from interpreter.base.plain_data import Json
from interpreter.bots.registry import bots_of
from interpreter.compiler.constants import RuleFailure
from interpreter.engine.ruleset import Ruleset, load
from interpreter.simulate.confidence import mean_interval
from interpreter.simulate.simulation import Row, WholeGames, played

__all__ = ["Found", "Generation", "Judgement", "Question", "TuneUnavailable", "asked", "diff_of", "judged", "tuned"]

SPREAD = 0.3
"""By so much of its size does a weight vary at first."""
LEAST = 1.0
"""No weight varies by less at first."""
APART = 1_000_000
"""The seeds with which the outcome is judged begin so far behind those of the search."""


class TuneUnavailable(Exception):
    """Nothing can be tuned here; says what is missing."""


@dataclass(frozen=True)
class Question:
    """What is tuned: a policy of a ruleset, for so many players. ``others`` are who has the other seats: names with
    commas between, dealt to them in turn."""

    ruleset: str
    overlays: tuple[str, ...]
    players: int
    policy: str
    others: str
    settings: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True)
class Generation:
    """What a generation of the search came to: the best share of the win, that of its mean, and the best weights."""

    number: int
    best: float
    mean: float
    weights: dict[str, int]


@dataclass(frozen=True)
class Judgement:
    """Shares of the win before and after, with 95 % intervals, and the interval of their difference, game by game."""

    games: int
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    difference: tuple[float, float, float]

    @property
    def is_better(self) -> bool:
        """Whether all of the interval of the difference is above 0."""
        return self.difference[1] > 0


@dataclass(frozen=True)
class Found:
    """The weights before and after the search."""

    before: dict[str, int]
    after: dict[str, int]


# --- games


@lru_cache(maxsize=2)
def _ruleset(question: Question) -> Ruleset:
    return load(question.ruleset, question.overlays).for_players(question.players)


def asked(question: Question, weights: Mapping[str, int], seeds: Sequence[int]) -> list[float]:
    """What the policy with these weights has of the win in each game: each seed is played once on every seat.

    Each proposal has a table of its own: a module holds few policies, and these would be kept for nothing. With weights
    that make a rule fail, as where something is divided by one, all games are lost.
    """
    ruleset = replace(_ruleset(question), _tables={}, _looked_at=None)
    spec = ":".join([question.policy, *(f"{name}={value}" for name, value in weights.items())])
    found: list[float] = []
    for seat in range(question.players):
        others = question.others.split(",")
        names = [others[number % len(others)] for number in range(question.players - 1)]
        names.insert(seat, spec)
        bots = bots_of(",".join(names), ruleset, question.players)
        rows: Iterator[Row] = played(ruleset, bots, seeds, dict(question.settings), whole=WholeGames(ruleset, bots))
        try:
            found += [row.share(seat) for row in rows]
        except RuleFailure:
            return [0.0] * (question.players * len(seeds))
    return found


def _summary(values: Sequence[float]) -> tuple[float, float, float]:
    mean = sum(values) / len(values)
    return (mean, *mean_interval(values)) if len(values) > 1 else (mean, mean, mean)


def judged(
    question: Question, found: Found, seeds: Sequence[int], at_once: Callable[..., list[list[float]]]
) -> Judgement:
    """Plays the weights before and after with the same seeds."""
    before, after = at_once([(found.before, seeds), (found.after, seeds)])
    size = question.players
    pairs = [
        # the games of one seed hang together: its mean is one number
        [sum(values[place :: len(seeds)]) / size for place in range(len(seeds))]
        for values in (before, after)
    ]
    difference = [right - left for left, right in zip(*pairs, strict=True)]
    return Judgement(len(before), _summary(pairs[0]), _summary(pairs[1]), _summary(difference))


# --- the search


def tuned(
    weights: Mapping[str, int],
    at_once: Callable[[Sequence[tuple[Mapping[str, int], Sequence[int]]]], list[list[float]]],
    *,
    seed: int,
    games: int,
    generations: int,
    population: int,
    told: Callable[[Generation], object],
    stopped: Callable[[], bool] = bool,
) -> Found:
    """Looks for better weights, generation by generation. ``at_once`` plays proposals with seeds; ``games`` is how many
    seeds each plays. :class:`TuneUnavailable` without ``cma``."""
    try:
        import cma
    except ImportError:
        raise TuneUnavailable("tuning needs cma: `pip install 'regelwerk[tune]'`") from None

    names = list(weights)
    scales = [max(LEAST, SPREAD * abs(weights[name])) for name in names]
    start = [weights[name] / scale for name, scale in zip(names, scales, strict=True)]
    padded = start + [0.0] * (len(start) == 1)  # CMA-ES wants two dimensions; the second one changes nothing
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
        shares = [sum(each) / len(each) for each in at_once([(proposal, seeds) for proposal in proposals])]
        search.tell(points, [-share for share in shares])
        best = max(range(len(shares)), key=shares.__getitem__)
        told(Generation(number + 1, shares[best], sum(shares) / len(shares), proposals[best]))
    return Found(dict(weights), rounded(search.result.xfavorite))


def _whole(value: float, before: int) -> int:
    """A weight as files hold it: a whole number, and none below 0 where there was none."""
    found = round(value)
    return max(0, found) if before >= 0 else found


# --- the file


def diff_of(path: Path, found: Found) -> tuple[str, str]:
    """The text of a policies file with other weights, and what changes as a unified diff."""
    text = path.read_text(encoding="utf-8")
    lines, inside = text.splitlines(keepends=True), False
    for number, line in enumerate(lines):
        if re.match(r"\S", line):
            inside = line.startswith("weights:")
            continue
        entry = re.match(r"(\s+)(\w+)(:\s+)(-?\d+)(\s*)(.*)", line, re.DOTALL)
        if inside and entry and entry[2] in found.after:
            value = str(found.after[entry[2]])
            space = entry[5] if not entry[6].startswith("#") else " " * max(1, len(entry[4] + entry[5]) - len(value))
            lines[number] = f"{entry[1]}{entry[2]}{entry[3]}{value}{space}{entry[6]}"
    after = "".join(lines)
    name = str(path)
    return after, "".join(
        difflib.unified_diff(text.splitlines(keepends=True), after.splitlines(keepends=True), name, name)
    )


def in_turn(question: Question, wanted: Sequence[tuple[Mapping[str, int], Sequence[int]]]) -> list[list[float]]:
    """Plays proposals in this process."""
    return [asked(question, weights, seeds) for weights, seeds in wanted]


def by_workers(
    executor: Executor, question: Question, wanted: Sequence[tuple[Mapping[str, int], Sequence[int]]]
) -> list[list[float]]:
    """Plays proposals by the workers of an executor, in parts of each one's seeds."""
    return list(executor.map(partial(_one, question), wanted))


def _one(question: Question, wanted: tuple[Mapping[str, int], Sequence[int]]) -> list[float]:
    return asked(question, *wanted)
