"""Decisions of several seats at once: in any order, unseen until all have chosen, then carried out seat by seat."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.player import Stream
from interpreter.engine.determinization import Worlds
from interpreter.engine.game import Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.play.game_records import Recorder, read_saved_game, replay_game
from tests.compiler.pair import Pair, play
from tests.small import examined, loaded, write

pytestmark = pytest.mark.usefixtures("at_once")

ACT = """\
choose bid(amount) by each s in seats where s.counts, at once:
  pay value in 0 .. s.money where value != 2 or s == seats[0]:
    let here = count(row)
    move value from s.money to bank
    s.score += value * 10 + here
    add value to row
  pass if s != seats[2]
    note said(s.number)
  stop
if count(row) > 5:
  end game
"""
ACT = ACT.replace("  pass if s != seats[2]\n", "  pass if s != seats[2]:\n")


@pytest.fixture
def ruleset(tmp_path: Path) -> Ruleset:
    return loaded(write(tmp_path, ACT))


CHOICES: list[tuple[int, dict[str, Any]]] = [
    (0, {"do": "pay", "value": 2}),
    (1, {"do": "pass"}),
    (2, {"do": "pay", "value": 3}),
]


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_leads_to_the_same(order: tuple[int, ...], plain: bool, ruleset: Ruleset) -> None:
    """What is chosen stays unknown till all have chosen, and is done in the order of the list."""
    games = ruleset.new_game(3, 1), ruleset.new_game(3, 1)
    games[0].runner.plain = plain
    for (by, choice), number in zip(CHOICES, order, strict=True):
        games[0].apply(choice, by)
        seat, other = CHOICES[number]
        assert games[1].view()["seats"] == ruleset.new_game(3, 1).view()["seats"]
        games[1].apply(other, by=seat)
    assert games[0].digest() == games[1].digest()
    assert [seat["score"] for seat in games[1].view()["seats"]] == [20, 0, 31]
    assert games[0].runner.bailouts == 0


def test_who_has_not_chosen_may_choose(ruleset: Ruleset) -> None:
    game = ruleset.new_game(3, 1)
    assert [decision.actor for decision in game.decisions] == [0, 1, 2]
    assert {"do": "pass"} not in [option.as_dict() for option in game.decisions[2].options]
    before = game.digest()
    assert game.accepts({"do": "pass"}, by=1)
    assert not game.accepts({"do": "pass"}, by=2)
    with pytest.raises(IllegalMove):
        game.apply({"do": "pay", "value": 2}, by=1)
    assert game.digest() == before
    game.apply({"do": "pass"}, by=1)
    assert [decision.actor for decision in game.decisions] == [0, 2]
    with pytest.raises(IllegalMove, match="seat 1 does not decide now"):
        game.apply({"do": "stop"}, by=1)
    copy = game.clone()
    copy.apply({"do": "stop"}, by=2)
    assert [decision.actor for decision in copy.decisions] == [0]
    assert copy.undo()
    assert copy.digest() == game.digest()
    assert game.undo()
    assert game.digest() == before
    assert [decision.actor for decision in game.decisions] == [0, 1, 2]


def test_others_hear_of_it_when_all_have_chosen(ruleset: Ruleset) -> None:
    game = ruleset.new_game(3, 1)
    for by, choice in CHOICES[:2]:
        game.apply(choice, by)
    told = [line.values.get("value") for line in game.log(1) if line.actor == 0]
    game.apply(CHOICES[2][1], 2)
    assert told == [None]
    assert [line.values["value"] for line in game.log(1) if line.values.get("value")] == [2, 3]


def test_kept_games_and_saves_have_any_order(ruleset: Ruleset) -> None:
    game = ruleset.new_game(3, 1)
    written: list[str] = []
    recorder = Recorder(written.append)
    recorder.begin(game)
    for by, choice in reversed(CHOICES):
        decision = game.decision_of(by)
        assert decision is not None
        game.apply(choice, by)
        option = game.last_choice
        assert option is not None
        recorder.chosen(game, decision, option)
    saved = game.to_json()
    assert ruleset.load_game(saved).digest() == game.digest()
    assert replay_game(ruleset, read_saved_game("".join(written))).digest() == game.digest()


@pytest.mark.parametrize("log", [True, False])
def test_a_search_does_not_know_what_others_chose(log: bool, ruleset: Ruleset) -> None:
    """It knows what its own seat chose, and deals the rest anew: also in a copy that has no log."""
    game = ruleset.new_game(3, 1)
    game.apply(CHOICES[0][1], 0)
    game.apply(CHOICES[2][1], 2)
    copy, draw = game.clone(log=log), Stream(1, "test").below
    scores = []
    for number in range(12):
        world = Worlds(copy, 2).deal(number, draw)
        world.apply({"do": "pass"}, 1)
        scores.append([seat["score"] for seat in world.view()["seats"]])
    assert len({score[0] for score in scores}) > 2
    assert {score[2] // 10 for score in scores} == {3}
    assert copy.digest() == game.digest()


def test_both_forms_play_the_same(tmp_path: Path) -> None:
    import random

    for seed in range(3):
        pair = Pair(str(write(tmp_path, ACT)), 3, seed)
        play(pair, random.Random(seed))
        assert pair.fast.bailouts == 0


def test_at_once_wants_seats(tmp_path: Path) -> None:
    wrong = examined(write(tmp_path, "choose bid by each s in deck, at once:\n  stop\nend game\n"))
    assert [d.code for d in wrong.diagnostics] == ["E401"]
