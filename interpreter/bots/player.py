"""Interface of automatic players: they see a game at a decision and return a legal option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game
from interpreter.kernel.chance import Draws
from interpreter.kernel.state import Value

__all__ = ["Bot", "Code", "Stream"]

Code = tuple[int, tuple[Value, ...]]
"""An option as the machine lists it: the alternative's number at its decision, and its values."""


class Stream(Draws):
    """Random numbers of one bot: they follow from a seed and a name, and are apart from the chance of the game.

    No use of chance in a ruleset can share a stream with a bot: those are single words, and ``name`` here is not.
    """

    __slots__ = ()

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, f"bot {name}")


class Bot(Protocol):
    """An automatic player. ``name`` is what it is called in results."""

    name: str

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        """One of the decision's options."""
        ...

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        """One of these options of another seat's decision: the other's policy leaves the end of a tie to this one."""
        ...
