"""Reinforcement learning: numbered actions, observations as vectors, and adapters for other libraries.

``make("some-ruleset", players=4, n=1024)`` steps many games at once. Other libraries are imported on first use: NumPy
for everything (extra ``rl``), PettingZoo, Gymnasium and OpenSpiel for their adapters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interpreter.rl.aec import GameEnv
    from interpreter.rl.game_batch import Games, make
    from interpreter.rl.numbering import Limits
    from interpreter.rl.space import Space, space_of
    from interpreter.rl.spiel import register
    from interpreter.rl.vector import SeatEnv

__all__ = ["GameEnv", "Games", "Limits", "SeatEnv", "Space", "make", "register", "space_of"]

_HOMES = {
    "GameEnv": "interpreter.rl.aec",
    "Games": "interpreter.rl.game_batch",
    "Limits": "interpreter.rl.numbering",
    "SeatEnv": "interpreter.rl.vector",
    "Space": "interpreter.rl.space",
    "make": "interpreter.rl.game_batch",
    "register": "interpreter.rl.spiel",
    "space_of": "interpreter.rl.space",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
