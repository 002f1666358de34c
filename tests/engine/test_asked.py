"""What a program asks of a game: values of expressions, and what is under way, as a seat may see it."""

from __future__ import annotations

from pathlib import Path

import pytest

import interpreter
from interpreter.base.diagnostics import RulesetError
from interpreter.engine.game import Game
from interpreter.lowering.constants import RuleFailure
from tests.hiding import game_of


def offered(ruleset: str) -> Game:
    """A game in which a plant was just offered."""
    game = interpreter.load(ruleset).new_game(players=3, seed=1)
    while game.decision is not None and game.decision.name != "answer":
        game.apply(game.decision.options[0])
    return game


def test_the_value_of_an_expression() -> None:
    game = offered("germany-2018")
    assert game.value("price_of(coal, 1)") == 1
    assert game.value("[who.money for who in seats]", player=2) == [50, 50, 50]
    assert game.value("first(plant_market)") == game.view()["plant_market"][0]
    with pytest.raises(RulesetError, match="unknown rule `prize_of`"):
        game.value("prize_of(coal, 1)")


def test_no_value_tells_what_a_seat_may_not_see() -> None:
    game = offered("bsw-germany")
    assert game.value("seats[1].money", player=1) == 50
    assert game.value("count(deck)", player=1) == len(game.value("deck"))
    for hidden in ("seats[0].money", "[who.money for who in seats]", "first(deck)", "price_of(coal, bank)"):
        with pytest.raises(ValueError, match="may not see"):
            game.value(hidden, player=1)


def test_the_view_tells_what_is_asked_about() -> None:
    game = offered("germany-2018")
    assert game.decision is not None
    assert (
        game.view(0)["context"]
        == game.decision.context
        == {
            "what": game.value("first(plant_market)"),
            "price": 1,
        }
    )


@pytest.mark.parametrize("plain", [True, False])
def test_options_that_fail_fail_at_every_reading(plain: bool, tmp_path: Path) -> None:
    act = "choose say by seats[0]:\n  tell n in 1 .. 2\n  stop if first(pile).number > 2\n  pass"
    game = game_of(tmp_path, act)
    game.runner.plain = plain or game.runner.ready() is None
    decision = game.decision
    assert decision is not None
    for _ in range(2):
        with pytest.raises(RuleFailure, match="`first` finds nothing"):
            list(decision.options)
        with pytest.raises(RuleFailure, match="`first` finds nothing"):
            len(decision.options)
    assert [str(option) for option in (decision.options[0], decision.options[1])] == ["tell n=1", "tell n=2"]
