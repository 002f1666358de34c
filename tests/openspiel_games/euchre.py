"""Euchre, one to one. Cards are numbered by rank, then by suit, and dealt one by one, the first to the dealer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from tests.openspiel import Actions

SUITS = "CDHS"
RANKS = ("9", "10", "J", "Q", "K", "A")
NAMES = {"clubs": 25, "diamonds": 26, "hearts": 27, "spades": 28}
WORDS = {"pass": 24, "go_alone": 29, "with_partner": 30}


def _card(name: Any) -> int:
    return RANKS.index(name[:-1]) * 4 + SUITS.index(name[-1])


def _number(option: Option, upcard: int) -> int:
    match option.do:
        case "play" | "bury":
            return _card(option["card"])
        case "name":
            return NAMES[str(option["trumps"])]
        case "order_up":
            return 25 + upcard % 4
        case word:
            return WORDS[word]


class Euchre:
    ruleset = "euchre/euchre/euchre.yaml"
    players = 4
    spiel = "euchre"
    overlooked: frozenset[int] = frozenset()

    def seats(self, game: Game) -> Sequence[int]:
        return range(4)

    def outcomes(self, game: Game) -> Iterator[int]:
        view: Any = game.view()
        dealer = view["dealer"]
        self.upcard = _card(view["upcard"][0])
        yield dealer
        for number in range(20):
            yield _card(view["seats"][(dealer + number) % 4]["hand"][number // 4])
        yield self.upcard

    def actions(self, game: Game, state: Any) -> Actions:
        assert game.decision is not None
        return {_number(each, self.upcard): (each,) for each in game.decision.options}

    def returns(self, game: Game) -> Sequence[float]:
        assert game.result is not None
        return [score for (score,) in game.result.keys]


GAME = Euchre()
