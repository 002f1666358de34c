"""What a player can see of a game, and the first difference between two games that a player can see."""

from __future__ import annotations

from interpreter.base.plain_data import Json
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.views import board_of, is_shown, pending
from interpreter.kernel.state import Value

__all__ = ["known_apart", "shown", "shown_apart"]


def shown(game: Game, player: int | None) -> dict[str, Value]:
    """Return the view and the boards as a player may see them, without the boards of the end of the game."""
    boards = [board for board in game.ruleset.model.boards if board.when != "end of game"]
    boards = [board for board in boards if is_shown(game.table, game.state, board, player)]
    return {
        "view": game.view(player),
        "boards": [board_of(game.table, game.state, board, "en", player) for board in boards],
    }


def shown_apart(game: Game, other: Game, player: int) -> tuple[str, object, object] | None:
    """Return the first difference that a player can see between two games at one table, or None.

    Boards and views are functions of the visible state: if that is equal, only the pending decision can differ.
    """
    if game.table.sight.shown_apart(game.state, other.state, player) is None:
        return _first_apart(
            {"view": pending(game.table, game.state, player)}, {"view": pending(other.table, other.state, player)}
        )
    return _first_apart(shown(game, player), shown(other, player))


def known_apart(game: Game, other: Game, player: int) -> tuple[str, object, object] | None:
    """Return the first difference that a player can see, including the pending decision and its options."""
    return shown_apart(game, other, player) or _first_apart(_asked_of(game, player), _asked_of(other, player))


def _first_apart(mine: dict[str, object], others: dict[str, object]) -> tuple[str, object, object] | None:
    return next(((name, value, others[name]) for name, value in mine.items() if value != others[name]), None)


def _asked_of(game: Game, player: int) -> dict[str, object]:
    decision = game.decision
    mine = decision is not None and decision.actor == player
    return {
        "decision": None if decision is None else (decision.name, decision.actor, decision.context if mine else None),
        "options": _options(decision) if decision is not None and mine else None,
    }


def _options(decision: Decision) -> list[dict[str, Json]]:
    return [option.as_dict() for option in decision.options[:300]]
