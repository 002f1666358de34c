"""What a player gets to know of a game, and the game as it could be as well, for all that the player may see.

If hidden is hidden, a player knows the same of both. Who compares is left to others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.show import board_of, lines_since
from interpreter.kernel.state import Value

__all__ = ["Draw", "hidden_from", "known", "otherwise", "shown", "shuffled"]

Draw = Callable[[int], int]
"""Gives a number from 0 up to another."""


def shown(game: Game, player: int | None) -> dict[str, Any]:
    """The view and the boards, as the player may see them; what the end of a game shows is open to all."""
    boards = [board for board in game.ruleset.model.boards if board.when != "end of game"]
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


def otherwise(
    game: Game, player: int, draw: Draw, fixed: Collection[int] = (), *, tokens: bool = True, log: bool = True
) -> Game:
    """The same game with everything changed that the player may not see: hidden cards lie in another order, except
    those that are ``fixed``, and a top card whose back is open is one with the same back; there are more hidden
    ``tokens``. Its ``log`` is the same, or empty."""
    other = game.clone(log=log)
    model, layout, cells = game.ruleset.model, game.machine.constants.layout, other.state.cells
    for cell in hidden_from(game, player):
        group = model.groups[layout.owner_of(cell)[0]]
        if group.type.form == "zone":
            back = None if group.top_shows is None else game.machine.expressions.compile(group.top_shows)
            shows = (lambda card, back=back: back(game.state, [card])) if back is not None else None
            cells[cell] = _reordered(cells[cell], shows, draw, fixed)
        elif group.type.form == "pool" and tokens:
            more = draw(500) + 1
            old = cells[cell]
            cells[cell] = tuple(number + more for number in old) if isinstance(old, tuple) else old + more
    return other


def _reordered(
    cards: tuple[int, ...], back: Callable[[int], Value] | None, draw: Draw, fixed: Collection[int]
) -> tuple[int, ...]:
    """Cards in another order; where their backs are open, the top one's back is as it was."""
    places = [place for place, card in enumerate(cards) if card not in fixed]
    order = shuffled(places, draw)
    if back is not None and 0 in places:
        alike = [place for place in order if back(cards[place]) == back(cards[0])]
        order.remove(alike[0])
        order.insert(places.index(0), alike[0])
    found = list(cards)
    for place, source in zip(places, order, strict=True):
        found[place] = cards[source]
    return tuple(found)


def shuffled(items: Sequence[Value], draw: Draw) -> list[Value]:
    """The items in another order, by chance."""
    found = list(items)
    for last in range(len(found) - 1, 0, -1):
        other = draw(last + 1)
        found[last], found[other] = found[other], found[last]
    return found
