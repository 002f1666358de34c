"""Bots without a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from interpreter.bots.player import Code, Stream
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game

__all__ = ["RandomBot", "RareBot"]


class RandomBot:
    """Chooses at random: all legal options are equally likely."""

    name = "random"

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        codes = decision.codes
        return decision.legal_option(self.among(game, decision, codes, random))

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        return codes[random.below(len(codes))] if len(codes) > 1 else codes[0]


class RareBot(RandomBot):
    """Chooses the alternative, and then the values, that it has chosen least often at a decision, and so leads games to
    the corners of the rules.

    It keeps its counts across games. One choice in four is random, so that two such bots do not end in a cycle.
    """

    name = "rare"

    def __init__(self) -> None:
        self._done: Counter[tuple[str, int]] = Counter()
        self._chosen: Counter[tuple[str, Code]] = Counter()

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        name = decision.name
        fewest = min(self._done[name, number] for number, _ in codes)
        candidates = [code for code in codes if self._done[name, code[0]] == fewest]
        fewest = min(self._chosen[name, code] for code in candidates)
        candidates = [code for code in candidates if self._chosen[name, code] == fewest]
        if random.below(4) == 0:
            candidates = list(codes)
        choice = super().among(game, decision, candidates, random)
        self._done[name, choice[0]] += 1
        self._chosen[name, choice] += 1
        return choice
