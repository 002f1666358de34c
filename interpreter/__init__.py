"""Regelwerk: rulebooks as data, and one interpreter that plays, explains and measures any valid combination.

``load("some-ruleset").new_game(players=4, seed=7)`` returns a game at its first decision; ``game.apply`` makes a
choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interpreter.base.diagnostics import RulesetError
    from interpreter.engine.game import Game, Ruleset
    from interpreter.engine.refusal import IllegalMove
    from interpreter.kernel.chance import Scripted
    from interpreter.loading.load import load
    from interpreter.lowering.constants import RuleFailure

__all__ = ["Game", "IllegalMove", "RuleFailure", "Ruleset", "RulesetError", "Scripted", "__version__", "load"]

__version__ = "0.1.0"

_HOMES = {
    "Game": "interpreter.engine.game",
    "IllegalMove": "interpreter.engine.refusal",
    "RuleFailure": "interpreter.lowering.constants",
    "Ruleset": "interpreter.engine.game",
    "RulesetError": "interpreter.base.diagnostics",
    "Scripted": "interpreter.kernel.chance",
    "load": "interpreter.loading.load",
}


def __getattr__(name: str) -> object:
    """Import a public name on first access, so that `import interpreter` stays fast."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Register ``%load_ext interpreter``, which displays games and rulesets in notebooks with their boards."""
    from interpreter.pages.notebook import register

    register(shell)
