"""`sensible` plays better than `greedy`, in games of an ordinary length."""

from __future__ import annotations

import pytest

from interpreter.bots.registry import bots_of
from interpreter.loading.load import load
from interpreter.play.match import Match


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "games", "won", "rounds"), [("germany-2018", 8, 4, (8, 14)), ("outpost", 8, 4, (8, 14))]
)
def test_one_among_greedy_ones_wins_more_than_its_share(
    name: str, games: int, won: int, rounds: tuple[int, int]
) -> None:
    ruleset = load(name)
    wins = 0
    for number in range(games):
        seat = number % 4
        spec = ",".join("sensible" if each == seat else "greedy" for each in range(4))
        match = Match(ruleset, bots_of(spec, ruleset, 4), seed=number)
        result = match.play()
        assert result is not None
        wins += seat in result.winners
        cells = match.game.state.cells
        assert rounds[0] <= cells[match.game.machine.constants.layout.base["round"]] <= rounds[1]
    assert wins >= won, "one of four wins a quarter by chance"
