"""A bot without a plan: all legal options are equally likely."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.bots.player import Code, Stream
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game

__all__ = ["RandomBot"]


class RandomBot:
    """Chooses at random."""

    name = "random"

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        codes = decision.codes
        return decision.option(self.among(game, decision, codes, random))

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        return codes[random.below(len(codes))] if len(codes) > 1 else codes[0]
