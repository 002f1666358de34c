"""Bots that a module can play on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interpreter.bots.planless import RandomBot
from interpreter.bots.player import Bot
from interpreter.bots.policy import PolicyBot
from interpreter.compiler.wasm.runner import Runner
from interpreter.compiler.wasm.turn import Peeks
from interpreter.engine.game import Ruleset
from interpreter.language.preferences import Policy

if TYPE_CHECKING:
    from interpreter.compiler.wasm.whole_games import Whole

__all__ = ["announce", "needs_of", "whole_for"]


def needs_of(ruleset: Ruleset, bot: Bot) -> tuple[Policy | None, Peeks | None] | None:
    """Return what a module must contain to play as a bot, or None if it cannot."""
    if type(bot) is RandomBot:
        return None, None
    return bot.followed(ruleset) if type(bot) is PolicyBot else None


def whole_for(runner: Runner, ruleset: Ruleset, bots: Sequence[Bot]) -> tuple[Whole, list[int]] | None:
    """Return a playout runner for these bots in a module, and their numbers there; None if the module
    cannot play them, or not yet."""
    needs = [need for bot in bots if (need := needs_of(ruleset, bot)) is not None]
    return runner.whole(needs) if len(needs) == len(bots) else None


def announce(runner: Runner, ruleset: Ruleset, bots: Sequence[Bot]) -> None:
    """Tell a runner in advance which policies will choose, so that it compiles one module for all of them."""
    policies = [bot.followed(ruleset) for bot in bots if type(bot) is PolicyBot]
    if policies:
        runner.whole(policies)
