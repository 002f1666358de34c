"""Gin rummy. OpenSpiel asks in two steps what our players do in one, a knock and its discard, and for the draw that is
forced after both have passed; the rest is one to one. Its player 0 is who does not deal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from tests.openspiel import Actions

TAKE, DRAW, PASS, KNOCK, MELDS = 52, 53, 54, 55, 56
SUITS = "SCDH"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
WORDS = {"take": TAKE, "draw": DRAW, "pass": PASS, "done": PASS}


def _card(name: Any) -> int:
    return SUITS.index(name[-1]) * 13 + RANKS.index(name[:-1])


def _meld(names: Any) -> int:
    """Sets by rank, then by the suit that they lack; runs by length, suit and lowest rank."""
    cards = sorted(map(_card, names))
    suits, rank = [card // 13 for card in cards], cards[0] % 13
    if suits[0] != suits[1]:
        lacks = {0, 1, 2, 3}.difference(suits)
        return rank * 5 + (lacks.pop() if lacks else 4)
    return {3: 65, 4: 109, 5: 149}[len(cards)] + suits[0] * (14 - len(cards)) + rank


def _number(option: Option) -> int:
    match option.do:
        case "lay":
            return MELDS + _meld(option["meld"])
        case "discard" | "knock" | "add":
            return _card(option["card"])
        case word:
            return WORDS[word]


class GinRummy:
    ruleset = "gin-rummy/gin-rummy/gin-rummy.yaml"
    players = 2
    spiel = "gin_rummy"
    overlooked = frozenset({KNOCK})  # it counts one of several arrangements that meld equally many points

    def seats(self, game: Game) -> Sequence[int]:
        order: Any = game.view()["turn_order"]
        return list(order)

    def outcomes(self, game: Game) -> Iterator[int]:
        view: Any = game.view()
        hands = [view["seats"][seat]["hand"] for seat in self.seats(game)]
        return map(_card, (*hands[0], *hands[1], *view["discards"], *view["stock"]))

    def actions(self, game: Game, state: Any) -> Actions:
        assert game.decision is not None
        phase, options = state.current_phase().name, game.decision.options
        if phase == "FIRST_UPCARD" and game.decision.name != "first_upcard":
            return {DRAW: ()}
        is_told = phase == "KNOCK"  # OpenSpiel knows of the knock, and asks with which card
        knocks = {_number(each): (each,) for each in options if each.do == "knock"}
        if knocks and is_told:
            return knocks
        return {_number(each): (each,) for each in options if each.do != "knock"} | ({KNOCK: ()} if knocks else {})

    def returns(self, game: Game) -> Sequence[float]:
        assert game.result is not None
        return [score for (score,) in game.result.keys]


GAME = GinRummy()
