"""A kept game that goes on otherwise: what is changed, and that nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of
from interpreter.compare.counterfactual import at_once, changes_of, compared, continuations, forked
from interpreter.compare.variation import broken_laws, going_on, varied
from interpreter.engine.queries import value_of
from interpreter.engine.refusal import IllegalMove
from interpreter.engine.rules import Rules
from interpreter.engine.ruleset import Ruleset, load
from interpreter.simulate.simulation import Row, finished


def bots(ruleset: Rules) -> list[Bot]:
    return bots_of("random", ruleset, 2)


def test_what_does_not_matter_changes_nothing(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    before = game.digest()
    fork = forked(game, changes_of(game, ["most=3"]), None)  # as many as without the setting
    pairs = list(finished(continuations(fork, bots, range(5))))
    assert len({row.as_dict()["decisions"] for row, _ in pairs}) > 1
    assert [a.as_dict() for a, _ in pairs] == [b.as_dict() for _, b in pairs]
    assert compared(pebbles, pairs)["other_winner"] == 0
    assert (at_once(fork)["options"], at_once(fork)["state"]) == ([7, 7], [])  # six of them take pebbles
    assert game.digest() == before


def test_a_setting_changes_from_there_on(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    fork = forked(game, changes_of(game, ["most=1", "last_pebble=goes"]), None)
    assert at_once(fork)["options"] == [7, 3]
    pairs = list(finished(continuations(fork, bots, range(6))))
    assert all(after.decisions >= 15 for _, after in pairs)  # each takes one pebble, or none
    found: Any = compared(pebbles, pairs)
    assert found["rounds"]["difference"] == found["rounds"]["after"] - found["rounds"]["before"] > 0


def test_another_choice(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    assert game.decision is not None
    kept = game.decision.options[0].as_dict()
    fork = forked(game, changes_of(game, ["pull black 2"]), kept)
    found = at_once(fork)
    assert {"path": "heap.black", "before": 6, "after": 4} in found["state"]
    assert {"path": "heap.white", "before": 8, "after": 9} in found["state"]
    pairs = list(finished(continuations(fork, bots, range(3))))
    assert all(a.decisions for a, _ in pairs)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["mots=1"], "unknown setting `mots`"),
        (["most=0"], "does not hold"),
        (["heap[white]=3"], "unknown table `heap`"),
        (["hop"], "`hop` is not one of"),
        (["most"], "`most` is a setting: give its value, `most=VALUE`"),
        (["most="], "`most` is a setting: give its value, `most=VALUE`"),
        (["pull white 1", "wait"], "give only one choice"),
    ],
)
def test_what_cannot_be_changed(pebbles: Ruleset, texts: list[str], message: str) -> None:
    game = pebbles.new_game(2, seed=1)
    with pytest.raises((ValueError, LookupError), match=message):
        forked(game, changes_of(game, texts), None)


def test_no_share_can_differ_by_more_than_all(pebbles: Ruleset) -> None:
    """Student's interval of two would hold six times as much."""
    first, second = (
        Row(1, 1, 1, 1, 0.0, places, ((0,), (0,)), {measure.name: [] for measure in pebbles.model.measures})
        for places in ((1, 2), (2, 1))
    )
    share = compared(pebbles, [(first, second), (first, first)])["share"][1]
    assert (share["difference"], share["low"], share["high"]) == (0.5, -1, 1)


def test_a_choice_that_the_changed_game_refuses(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    with pytest.raises(IllegalMove):
        forked(game, changes_of(game, ["most=1", "pull white 3"]), None)


def test_a_cell_of_a_table() -> None:
    ruleset = load("germany-2018")
    game = ruleset.new_game(4, seed=1)
    changed = going_on(game, varied(ruleset, [("stage_2_cities", ("4",), "6")]), {}, 5)
    assert [value_of(each.table, each.state, "stage_2_cities[players]")[0] for each in (game, changed)] == [7, 6]
    assert [law.split(" its")[0] for law in broken_laws(changed)] == ["`stage_2_cities` breaks"]
    assert list(broken_laws(game)) == []
    with pytest.raises(ValueError, match="want a whole number"):
        varied(ruleset, [("stage_2_cities", ("4",), "many")])
    with pytest.raises(LookupError, match=r"has no cell \[9\]"):
        varied(ruleset, [("stage_2_cities", ("9",), "6")])
