"""Backgammon. OpenSpiel asks for two moves at once, and after a double for two more; our rules for one at a time.

So an action is a pair of our moves: each legal move is played on a copy of the game, and paired with what is legal
then. OpenSpiel numbers a pair by its points, counted from where White begins, and by whether the higher die comes
first. If nothing can be moved, our rules go on to the next throw, while OpenSpiel wants a pass; the number of throws
tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from interpreter.kernel.chance import drawn
from tests.openspiel import Actions

__all__ = ["GAME"]

_BAR, _PASS = 24, 25
_LOW_FIRST = 26 * 26
"""Added to the number of an action if the lower die is played first."""
_PASSES = _PASS * 26 + _PASS + _LOW_FIRST
_UNEQUAL = [dice for low, high in combinations(range(1, 7), 2) for dice in ((low, high), (high, low))]
_THROWS = [*_UNEQUAL, *((die, die) for die in range(1, 7))]
"""Throws in OpenSpiel's order. The first throw is one of unequal dice, in ascending order if White begins."""


class Backgammon:
    ruleset = "backgammon/backgammon/backgammon.yaml"
    players = 2
    spiel = "backgammon(scoring_type=full_scoring)"
    overlooked: frozenset[int] = frozenset()

    def seats(self, game: Game) -> Sequence[int]:
        return (0, 1)

    def outcomes(self, game: Game) -> Iterator[int]:
        view: Any = game.view()
        yield _THROWS.index(tuple(sorted(view["dice"], reverse=view["turn_order"][0] == 1)))
        seed, number = game.origin["seed"], 0
        while True:
            yield _THROWS.index((1 + drawn(6, seed, "dice", number), 1 + drawn(6, seed, "dice", number + 1)))
            number += 2

    def actions(self, game: Game, state: Any) -> Actions:
        """Return pairs of moves. Our rules are ahead if they have thrown more often: then nothing could be moved."""
        throws = sum(each.player < 0 for each in state.full_history()) - 1
        if game.is_over or _throws(game) > throws:
            return {_PASSES: ()}
        assert game.decision is not None
        dice: Any = game.decision.context["dice"]
        return {_number(pair, max(dice)): pair for pair in _pairs(game)}

    def returns(self, game: Game) -> Sequence[float]:
        view: Any = game.view()
        return [seat["points"] for seat in view["seats"]]


def _throws(game: Game) -> int:
    """Return the number of throws after the first, which decides who begins."""
    return game.chance_used()["dice"] // 2


def _pairs(game: Game) -> Iterator[list[Option]]:
    """Yield what can be moved one after the other in this turn; a single move if no other can follow."""
    assert game.decision is not None
    for first in game.decision.options:
        later = game.clone()
        later.apply(first)
        if later.decision is None or _throws(later) > _throws(game):
            yield [first]
        else:
            yield from ([first, second] for second in later.decision.options)


def _number(pair: Sequence[Option], high: int) -> int:
    """Return the number of one or two moves: their points as digits to the base 26, or a pass for a missing move."""
    points = [_BAR if option.do == "enter" else 24 - int(str(option["point"])) for option in pair]
    first, second = points if len(points) == 2 else (*points, _PASS)
    return second * 26 + first + (0 if pair[0]["die"] == high else _LOW_FIRST)


GAME = Backgammon()
