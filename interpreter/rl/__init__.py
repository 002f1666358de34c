"""Reinforcement learning: numbered actions, observations as vectors, and adapters for other libraries.

``make("some-ruleset", players=4, n=1024)`` steps many games at once. Other libraries are imported on first use: NumPy
for everything (extra ``rl``), PettingZoo, Gymnasium and OpenSpiel for their adapters.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from interpreter.rl.game_batch import Games, make
from interpreter.rl.numbering import Limits
from interpreter.rl.space import Space, space_of

if TYPE_CHECKING:
    from interpreter.rl.aec import GameEnv
    from interpreter.rl.spiel import register
    from interpreter.rl.vector import SeatEnv

__all__ = ["GameEnv", "Games", "Limits", "SeatEnv", "Space", "make", "register", "space_of"]

_ADAPTERS = {"GameEnv": "aec", "SeatEnv": "vector", "register": "spiel"}
"""Modules that import other libraries at once."""


def __getattr__(name: str) -> object:
    if name not in _ADAPTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ADAPTERS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
