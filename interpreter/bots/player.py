"""Interface of bots: they see a game at a decision and return a legal option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.kernel.chance import Draws
from interpreter.plain.machine import Code

__all__ = ["Bot", "BotFailed", "Code", "Stream", "how_to_choose"]


class BotFailed(Exception):
    """Raised if a program that plays as a bot gives no legal choice. What it ``said`` can tell what its seat sees."""

    def __init__(self, what: str, said: str = "") -> None:
        super().__init__(what, said)
        self.what, self.said = what, said

    def __str__(self) -> str:
        return f"{self.what}: {self.said}" if self.said else self.what


class Stream(Draws):
    """Random numbers of one bot, derived from a seed and a name and independent of the game's own.

    Its streams cannot collide with those of a ruleset: names of chances there are single words, ``name`` here is not.
    """

    __slots__ = ()

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, f"bot {name}")


class Bot(Protocol):
    """An automatic player; ``name`` identifies it in results."""

    name: str

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        """Return one of the decision's options."""
        ...

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        """Break a tie among options of another seat's decision; that seat's policy leaves it to this one."""
        ...


def how_to_choose(policy: str, decision: str) -> str:
    """Return the help for a policy without lines for a decision."""
    example = f"policies: {{{policy}: {{{decision}: {{prefer: any}}}}}}"
    return f"add lines in the policy's file or in an overlay: `{example}`"
