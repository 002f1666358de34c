"""What a player gets to know of a game. Worlds, in which hidden things are others, are dealt elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.show import board_of, is_shown, lines_since
from interpreter.kernel.state import Value

__all__ = ["Draw", "hidden_from", "known", "shown", "shuffled"]

Draw = Callable[[int], int]
"""Gives a number from 0 up to another."""


def shown(game: Game, player: int | None) -> dict[str, Any]:
    """The view and the boards, as the player may see them; what the end of a game shows is open to all."""
    boards = [each for each in game.ruleset.model.boards if each.when != "end of game" and is_shown(game, each, player)]
    return {"view": game.view(player), "boards": [board_of(game, board, "en", player) for board in boards]}


def known(game: Game, player: int, start: int = 0) -> dict[str, Any]:
    """All that a player gets to know of a game that waits for a decision, with the log from a record on."""
    decision = game.decision
    mine = decision is not None and decision.actor == player
    return {
        **shown(game, player),
        "log": [(line.text, line.values) for line in lines_since(game, start, player)],
        "decision": None if decision is None else (decision.name, decision.actor, decision.context if mine else None),
        "options": _options(decision) if decision is not None and mine else None,
    }


def _options(decision: Decision) -> list[dict[str, Any]]:
    return [option.as_dict() for option in decision.options[:300]]


def hidden_from(game: Game, player: int) -> list[int]:
    """The cells that hold what the player may not see."""
    return [cell for cell, seats in game.machine.constants.seen_by.items() if player not in seats]


def shuffled(items: Sequence[Value], draw: Draw) -> list[Value]:
    """The items in another order, by chance."""
    found = list(items)
    for last in range(len(found) - 1, 0, -1):
        other = draw(last + 1)
        found[last], found[other] = found[other], found[last]
    return found
