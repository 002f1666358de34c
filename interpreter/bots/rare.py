"""A bot that prefers rare choices and so leads games to the corners of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from interpreter.bots.player import Code, Stream
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game

__all__ = ["RareBot"]


class RareBot:
    """Chooses the alternative, and then the values, that it has chosen least often at a decision.

    It keeps its counts across games. One choice in four is random, so that two such bots do not end in a cycle.
    """

    name = "rare"

    def __init__(self) -> None:
        self._done: Counter[tuple[str, int]] = Counter()
        self._chosen: Counter[tuple[str, Code]] = Counter()

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        codes = decision.codes
        return decision.option(self.among(game, decision, codes, random))

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        name = decision.name
        fewest = min(self._done[name, number] for number, _ in codes)
        candidates = [code for code in codes if self._done[name, code[0]] == fewest]
        fewest = min(self._chosen[name, code] for code in candidates)
        candidates = [code for code in candidates if self._chosen[name, code] == fewest]
        if random.below(4) == 0:
            candidates = list(codes)
        choice = candidates[random.below(len(candidates))] if len(candidates) > 1 else candidates[0]
        self._done[name, choice[0]] += 1
        self._chosen[name, choice] += 1
        return choice
