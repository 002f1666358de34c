"""A sample of games on both sides, ours and OpenSpiel's. ``python -m tests.openspiel GAME`` plays more."""

from __future__ import annotations

import pytest

from tests.openspiel import Sides, same_game, same_games

pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install 'regelwerk[spiel]'")

GAMES = 40


@pytest.mark.parametrize("name", same_games())
def test_a_game_is_that_of_openspiel(name: str) -> None:
    sides = Sides(same_game(name))
    for seed in range(GAMES):
        sides.play(seed)
    assert (sides.tally.games, sides.tally.overlooked) == (GAMES, 0)
    assert len(sides.tally.returns) > 1, "all games ended alike"
    assert sides.ours.reasons_for_plain == [], "a module plays every choice"
