"""Lines of a log: what they cite. Prompts: what they read."""

from __future__ import annotations

from pathlib import Path

import interpreter as rules
from interpreter.engine.game import Game
from interpreter.engine.views import prompt_of
from tests.small import loaded, write


def test_the_start_of_a_phase_cites_only_layers_whose_condition_holds() -> None:
    ruleset = rules.load("bsw-baden-wuerttemberg")

    def cited(**settings: str) -> tuple[str, ...]:
        lines = ruleset.new_game(players=3, seed=3, settings=settings).log()
        return next(line.cites for line in lines if line.name == "start of order")

    assert cited() == ("IT-068", "IT-069", "IT-070", "BW-027")
    assert cited(player_order_is_set="after_the_auction") == ("A-35",)


def test_a_prompt_follows_the_state() -> None:
    """GU-130: nobody may decline in round 1, so nobody is told that they may."""
    game = rules.load("germany-2018").new_game(players=3, seed=1)
    assert asked_for(game) == "player 2: put a plant up for auction"
    while game.decision is None or game.decision.name != "nominate" or game.view(None)["round"] == 1:
        assert game.decision is not None
        game.apply(game.decision.options[0])
    assert asked_for(game).endswith(": put a plant up for auction, or take none in this round")


def test_a_prompt_shows_nothing_hidden(tmp_path: Path) -> None:
    sections = 'asks: {say: "{actor}: {amount} and {first(deck).number}"}\n'
    text = "choose say by seats[1]:\n  tell number in 1 .. 3:\n    amount = number\nend game"
    game = loaded(write(tmp_path, text, sections=sections)).new_game(2, seed=1)
    assert asked_for(game, 1) == "player 2: 1 and …"
    assert asked_for(game) != "player 2: 1 and …"


def asked_for(game: Game, player: int | None = None) -> str:
    assert game.decision is not None
    return prompt_of(game.table, game.state, game.decision, "en", player)
