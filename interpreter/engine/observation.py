"""Observations of a player. ``determinization`` deals worlds with other hidden things. Worlds, in which hidden things
are others, are dealt elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interpreter.base.plain_data import Json
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.sight import look_alike, seen_by
from interpreter.engine.views import asked, board_of, is_shown
from interpreter.kernel.state import Value

__all__ = ["Draw", "hidden_from", "known_apart", "shown", "shown_apart", "shuffled"]

Draw = Callable[[int], int]
"""Gives a number from 0 up to another."""


def shown(game: Game, player: int | None) -> dict[str, Value]:
    """The view and the boards, as the player may see them; what the end of a game shows is open to all."""
    seen = seen_by(game.table, game.state, player)
    boards = [each for each in game.ruleset.model.boards if each.when != "end of game"]
    boards = [each for each in boards if is_shown(game.table, game.state, each, player, seen)]
    return {
        "view": game.view(player),
        "boards": [board_of(game.table, game.state, each, "en", player, seen) for each in boards],
    }


def shown_apart(game: Game, other: Game, player: int) -> tuple[str, object, object] | None:
    """The first of all that two games at one table show a player that is not the same. Boards and views are worked out
    over what the player sees: where that is the same, only the decision can be told apart."""
    if look_alike(game.table, game.state, other.state, player):
        return _first_apart(
            {"view": asked(game.table, game.state, player)}, {"view": asked(other.table, other.state, player)}
        )
    return _first_apart(shown(game, player), shown(other, player))


def known_apart(game: Game, other: Game, player: int) -> tuple[str, object, object] | None:
    """The same for two games that wait for a decision, with what is known of that."""
    return shown_apart(game, other, player) or _first_apart(_asked_of(game, player), _asked_of(other, player))


def _first_apart(mine: dict[str, object], theirs: dict[str, object]) -> tuple[str, object, object] | None:
    return next(((what, value, theirs[what]) for what, value in mine.items() if value != theirs[what]), None)


def _asked_of(game: Game, player: int) -> dict[str, object]:
    decision = game.decision
    mine = decision is not None and decision.actor == player
    return {
        "decision": None if decision is None else (decision.name, decision.actor, decision.context if mine else None),
        "options": _options(decision) if decision is not None and mine else None,
    }


def _options(decision: Decision) -> list[dict[str, Json]]:
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
