"""What is hidden makes no difference to who may not see it: not to what they see, are told and may choose."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import interpreter
from interpreter.bots.registry import bots_of
from interpreter.engine.determinization import otherwise
from interpreter.engine.game import Game
from interpreter.engine.views import BoardTable
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.play.narration import Narrator
from tests.looks import known_apart, shown

OPEN = ("germany-2004", "germany-2018")
HIDDEN = ("bsw-germany", "bsw-baden-wuerttemberg")


def moments(ruleset: str, players: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Game]:
    """A random game, now and then; in the plain form, for the fast one takes longer to make than one game."""
    rng = random.Random(seed)
    game = interpreter.load(ruleset).new_game(players=players, seed=seed)
    monkeypatch.setattr(game.runner, "plain", True)
    number = 0
    while (decision := game.decision) is not None:
        if number % 61 == 0:
            yield game
        game.apply(rng.choice(decision.options))
        number += 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ruleset", "players"),
    [("germany-2004", 4), ("germany-2018", 3), ("bsw-germany", 5), ("bsw-baden-wuerttemberg", 3), ("outpost", 3)],
)
def test_what_is_hidden_makes_no_difference_to_the_others(
    ruleset: str, players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(players)
    changed = 0
    for game in moments(ruleset, players, players, monkeypatch):
        for player in range(players):
            other = otherwise(game, player, rng.randrange)
            other.state.log = game.state.log[:]
            changed += game.state.cells != other.state.cells
            assert shown(other, player) == shown(game, player)
            assert other.log(player) == game.log(player)
            assert known_apart(other, game, player) is None
    assert changed > 15  # and something was changed


@pytest.mark.parametrize("ruleset", OPEN)
def test_money_is_open_with_the_printed_rules(ruleset: str) -> None:
    view = interpreter.load(ruleset).new_game(players=3, seed=1).view(0)
    assert [seat["money"] for seat in view["seats"]] == [50, 50, 50]
    assert isinstance(view["bank"], int)


@pytest.mark.parametrize("ruleset", HIDDEN)
def test_money_is_hidden_on_brettspielwelt(ruleset: str) -> None:
    game = interpreter.load(ruleset).new_game(players=3, seed=1)
    assert [seat["money"] for seat in game.view(1)["seats"]] == ["…", 50, "…"]
    assert game.view(1)["bank"] == "…"
    assert [seat["money"] for seat in game.view()["seats"]] == [50, 50, 50]


def test_any_edition_can_be_played_with_hidden_money() -> None:
    game = load("germany-2004", ["power-grid/hidden-money"]).new_game(players=2, seed=1)
    assert [seat["money"] for seat in game.view(0)["seats"]] == [50, "…"]


def test_the_stack_is_hidden_and_only_in_2018_the_back_of_its_top_card_is_open() -> None:
    older = interpreter.load("germany-2004").new_game(players=3, seed=1).view(0)
    assert older["deck"] == {"count": 27}
    assert older["left_out"] == {"count": 8}
    newer = interpreter.load("germany-2018").new_game(players=3, seed=1).view(0)
    assert newer["deck"] == {"count": 27, "top": "plug"}


def test_who_plays_is_told_of_the_own_money_alone() -> None:
    ruleset = interpreter.load("bsw-germany")
    told: list[Any] = []
    match = Match(ruleset, bots_of("greedy", ruleset, 3), 1, watchers=[Narrator(told.append, player=1)])
    match.play()
    money = [
        (row[0], row[1])
        for each in told
        if isinstance(each, BoardTable) and each.name == "players"
        for row in each.rows
    ]
    assert all((player == "player 2") == (amount != "…") for player, amount in money)
    assert len(money) > 10
    (outcome,) = (each for each in told if isinstance(each, BoardTable) and each.name == "outcome")
    assert "…" not in str(outcome)
