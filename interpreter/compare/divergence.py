"""Divergence of two rulesets: play both in lock step until their decisions differ.

Takes two rulesets and bots. Both games of a pair have the same seed, and every choice of the first is repeated in the
second. Returns, for each game, the first decision that differs and its cause (:mod:`interpreter.compare.causes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.stepwise import Steps
from interpreter.bots.player import Bot
from interpreter.compare.causes import Causes
from interpreter.compare.differences import Comparison
from interpreter.compare.lock_step import Line, Parting

__all__ = ["Apart", "LockStep", "causes", "from_the_start"]

_SOON = 16
"""Number of choices after which games are first thought to diverge."""


class Apart(Struct, frozen=True):
    """Games that diverge because of a difference: their number and share, the means of their choices and rounds before
    they do, and the earliest one."""

    path: str
    games: int = 0
    share: float = 0.0
    choices: float | None = None
    round: float | None = None
    example: Parting | None = None

    @classmethod
    def of(cls, path: str, total: int, partings: Sequence[Parting]) -> Self:
        """Return what these divergences of ``total`` games have in common."""
        if not partings:
            return cls(path)
        choices, rounds = fmean(each.choices for each in partings), fmean(each.round for each in partings)
        first = min(partings, key=lambda parting: parting.choices)
        return cls(path, len(partings), len(partings) / total, choices, rounds, first)


def causes(partings: Sequence[Parting]) -> list[Apart]:
    """Return the differences that made games diverge after a choice, most frequent first."""
    later = [parting for parting in partings if parting.path and parting.choices]
    paths = dict.fromkeys(parting.path for parting in later)
    found = [Apart.of(path, len(partings), [each for each in later if each.path == path]) for path in paths]
    return sorted(found, key=lambda cause: (-cause.games, cause.choices or 0))


def from_the_start(partings: Sequence[Parting]) -> Counter[str]:
    """Return the differences by which games differ in the first decision already, and in how many games."""
    return Counter(parting.path for parting in partings if parting.path and not parting.choices)


class LockStep:
    """Plays both sides of a comparison in lock step, with bots of the first."""

    def __init__(
        self, comparison: Comparison, bots: Sequence[Bot], settings: Mapping[str, object] | None = None
    ) -> None:
        self.bots, self.settings = bots, dict(settings or {})
        self.a, self.b = comparison.a, comparison.b
        self._causes = Causes(comparison, len(bots), self.settings)
        self._guess = _SOON

    def steps(self, seed: int) -> Steps[Parting]:
        """Play the seed on both sides, in steps, and return the divergence. Raises :class:`ValueError` for invalid
        numbers of players or settings."""
        both = Line(self.a, self.bots, seed, self.settings).beside(self.b, self._guess)
        parting = yield from both.in_step()
        self._guess = max(_SOON, 2 * parting.choices)
        if not parting.is_apart:
            return parting
        path = yield from self._causes.found(both)
        return replace(parting, path=path)
