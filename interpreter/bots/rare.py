"""A bot that does what was seldom done: it leads games to the corners of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from interpreter.bots.player import Code, Stream
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game

__all__ = ["RareBot"]


class RareBot:
    """Chooses the alternative that it chose least often at a decision, with the value that it chose least often there;
    it remembers that as long as it is used. Now and then it takes what comes, so that two of it are not caught in a
    ring."""

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
        left = [code for code in codes if self._done[name, code[0]] == fewest]
        fewest = min(self._chosen[name, code] for code in left)
        left = [code for code in left if self._chosen[name, code] == fewest]
        if random.below(4) == 0:
            left = list(codes)
        found = left[random.below(len(left))] if len(left) > 1 else left[0]
        self._done[name, found[0]] += 1
        self._chosen[name, found] += 1
        return found
