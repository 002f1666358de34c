"""Tournaments and ratings."""

from __future__ import annotations

import json
import random
from collections import Counter
from math import log

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.simulate.ratings import MEAN, rated
from interpreter.simulate.round_robin import Outcome, lineups, standing


@pytest.mark.parametrize(("bots", "players"), [(2, 2), (3, 2), (2, 3), (3, 4), (4, 3), (2, 6), (8, 6), (3, 8)])
def test_each_bot_sits_as_often_on_every_seat(bots: int, players: int) -> None:
    orders = lineups(bots, players)
    assert len(set(orders)) == len(orders)
    seats = Counter((bot, seat) for order in orders for seat, bot in enumerate(order))
    assert len(seats) == bots * players
    for bot in range(bots):
        assert len({seats[bot, seat] for seat in range(players)}) == 1
    assert len({sum(seats[bot, seat] for seat in range(players)) for bot in range(bots)}) == 1
    for order in orders:
        counts = Counter(order)
        assert max(counts.values()) - min(counts[bot] for bot in range(bots)) <= 1


def test_two_bots_differ_by_the_odds() -> None:
    games = [[(0, 1, 1.0)]] * 300 + [[(0, 1, 0.0)]] * 100
    first, second = rated(2, games)
    assert first.rating + second.rating == pytest.approx(2 * MEAN)
    assert first.rating - second.rating == pytest.approx(400 * log(3, 10), abs=1.5)  # three to one
    assert first.low < first.rating < first.high
    # the interval of a share of 400 games, on the same scale
    share = 400 / log(10) * 1.96 * (0.75 * 0.25 / 400) ** 0.5 / (0.75 * 0.25)
    assert first.high - first.rating == pytest.approx(share / 2, rel=0.03)


def test_strengths_are_found_again_and_intervals_hold_them() -> None:
    dice, true = random.Random(4), [1700.0, 1550.0, 1450.0, 1300.0]
    held = 0
    for _ in range(40):
        games = []
        for _ in range(150):
            a, b = dice.sample(range(4), 2)
            chance = 1 / (1 + 10 ** ((true[b] - true[a]) / 400))
            games.append([(a, b, float(dice.random() < chance))])
        found = rated(4, games)
        held += sum(each.low <= rating <= each.high for each, rating in zip(found, true, strict=True))
    assert 0.88 <= held / 160 <= 0.99


def test_a_bot_that_always_wins_has_a_rating() -> None:
    first, second = rated(2, [[(0, 1, 1.0)]] * 50)
    assert 1700 < first.rating < 2500
    assert second.rating < 1300


def test_a_game_of_many_seats_counts_for_each_pair() -> None:
    outcome = Outcome(0, (2, 0, 2, 1), (1, 2, 3, 3))
    assert outcome.pairs == [(2, 0, 1.0), (2, 1, 1.0), (0, 2, 1.0), (0, 1, 1.0), (2, 1, 0.5)]
    table = standing(["a", "b", "c"], [outcome])
    assert table.ahead["c"] == {"a": 0.5, "b": 0.75}
    assert {each.name: each.share for each in table.entrants} == {"a": 0, "b": 0, "c": 0.5}


def _table(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(cli, ["simulate", "goofspiel", "--seed", "1", "-o", "json", *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def test_bots_are_ranked_whoever_plays() -> None:
    arguments = ("-n", "120", "--players", "2", "--round-robin", "random,sensible,bench")
    found = _table(*arguments, "-j", "1")
    assert [each["name"] for each in found["bots"]] == ["sensible", "bench", "random"]  # type: ignore[attr-defined]
    assert found["games"] == 120
    assert _table(*arguments, "-j", "2") == found


def test_what_does_not_go_together_is_refused() -> None:
    for arguments, message in [
        (["--round-robin", "random"], "want two bots or more"),
        (["--round-robin", "random,random"], "each once"),
        (["--round-robin", "random,nobody"], "unknown bot `nobody`"),
        (["--round-robin", "random,bench", "--bots", "random"], "goes without --bots"),
    ]:
        result = CliRunner().invoke(cli, ["simulate", "goofspiel", *arguments])
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())


def test_the_text_has_ratings_and_pairs() -> None:
    command = ["simulate", "goofspiel", "-n", "10", "--players", "3", "--seed", "2", "-j", "1"]
    result = CliRunner().invoke(cli, [*command, "--round-robin", "random,bench"])
    assert "12 games, so that each of 6 seatings is played equally often" in result.stderr
    assert "goofspiel: 12 games of 3 players, seed 2" in result.stdout
    assert "ahead of" in result.stdout
