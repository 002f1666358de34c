"""A kept game that goes on otherwise: what is changed, and that nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.player import Bot
from interpreter.bots.registry import bots_of
from interpreter.compare.counterfactual import Fork, at_once, changes_of, compared, continuations, forked
from interpreter.compare.variation import broken_laws, going_on, varied
from interpreter.compiler.wasm import runner
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.queries import value_of
from interpreter.engine.refusal import IllegalMove
from interpreter.loading.load import load
from interpreter.simulate.simulation import Row, finished
from tests.play.toy import changed


def bots(ruleset: Ruleset) -> list[Bot]:
    return bots_of("random", ruleset, 2)


def test_what_does_not_matter_changes_nothing(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    before = game.digest()
    fork = forked(game, changes_of(game, ["most=3"]), None)  # as many as without the setting
    pairs = list(finished(continuations(fork, bots, range(5))))
    assert len({row.as_dict()["decisions"] for row, _ in pairs}) > 1
    assert [a.as_dict() for a, _ in pairs] == [b.as_dict() for _, b in pairs]
    assert compared(pebbles, pairs).other_winner == 0
    assert (at_once(fork).options, at_once(fork).state) == ([7, 7], [])  # six of them take pebbles
    assert game.digest() == before


def test_a_setting_changes_from_there_on(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    fork = forked(game, changes_of(game, ["most=1", "last_pebble=goes"]), None)
    assert at_once(fork).options == [7, 3]
    pairs = list(finished(continuations(fork, bots, range(6))))
    assert all(after.decisions >= 15 for _, after in pairs)  # each takes one pebble, or none
    found: Any = compared(pebbles, pairs)
    assert found.rounds.difference == found.rounds.after - found.rounds.before > 0


def test_another_choice(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    assert game.decision is not None
    kept = game.decision.options[0].as_dict()
    fork = forked(game, changes_of(game, ["pull black 2"]), kept)
    found = at_once(fork)
    assert {"path": "heap.black", "before": 6, "after": 4} in found.state
    assert {"path": "heap.white", "before": 8, "after": 9} in found.state
    pairs = list(finished(continuations(fork, bots, range(3))))
    assert all(a.decisions for a, _ in pairs)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["mots=1"], "unknown setting `mots`; did you mean `most`"),
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
    share = compared(pebbles, [(first, second), (first, first)]).share[1]
    assert (share.difference, share.low, share.high) == (0.5, -1, 1)


def test_what_no_pair_has_in_both_branches_has_no_line(tmp_path: Path) -> None:
    """A measure without values, as one that only counts, and a thing that one branch alone has."""
    counts = 'value: "heap[kind]", when: [start of round, end of game]'
    folder = changed(tmp_path, "family.yaml", counts, "value: none, when: [start of round, end of game]")
    ruleset = load(folder / "pebbles" / "pebbles.yaml")
    fork = forked(ruleset.new_game(2, seed=1), changes_of(ruleset.new_game(2, seed=1), ["most=1"]), None)
    found: Any = compared(ruleset, list(finished(continuations(fork, bots, range(3)))))
    assert "pebbles" in found.measures
    lines = chain(*found.measures.values(), *found.curves.values())
    assert all(each.games for each in lines)


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


HEAD = """
language: 2
overlay: pebbles/{name}
title: Another
over: [pebbles]

"""
ONE_AT_A_TIME = "rules:\n  largest:\n    replaces: pebbles\n    is: 1\n"
BEFORE_THE_FORK = """events:
  greeted: {with: {who: seat}, says: "{who} is greeted"}
rules:
  prepare:
    wraps: pebbles
    does: |
      base()
      for each who in sitting:
        note greeted(who)
        choose greet by who:
          greet:
            note greeted(who)
"""
LAST_ROUND = """rules:
  pulling:
    replaces: pebbles
    does: |
      for each turn who in sitting:
        choose draw(on_heap = left()) by who:
          pull kind in pebble, number in 1 .. largest() where may_pull(kind, number):
            move number of kind from heap to who.taken
            note took(who, number)
          wait if left() > largest():
            note took(who, 0)
      end game
"""
CARRIED_OUT = "decisions:\n  draw:\n    wraps: |\n      pull where number == 1:\n        base()\n"
COMPONENTS = "state:\n  pulled_so_far: {value: int, start: 0}\n"


def with_overlay(folder: Path, text: str) -> Ruleset:
    root = changed(folder, "family.yaml", "black: 6", "black: 6") / "pebbles"
    (root / "overlays").mkdir(exist_ok=True)
    (root / "overlays" / "other.yaml").write_text(HEAD.lstrip().format(name="other") + text, encoding="utf-8")
    return load(root / "pebbles.yaml", ["pebbles/other"])


def forked_with(game: Game, ruleset: Ruleset, again: Callable[[Ruleset, str], Game] | None = None) -> Fork:
    return forked(game, changes_of(game, ["pebbles/other"], ["pebbles/other"]), None, ruleset, again)


def test_an_overlay_applies_from_there_on(pebbles: Ruleset, tmp_path: Path) -> None:
    game = pebbles.new_game(2, seed=1)
    fork = forked_with(game, with_overlay(tmp_path, ONE_AT_A_TIME))
    assert (fork.other, at_once(fork).options) == (None, [7, 3])
    assert all(b.decisions > a.decisions for a, b in finished(continuations(fork, bots, range(5))))
    assert game.ruleset is pebbles


@pytest.mark.parametrize("patience", [0, 2], ids=["module", "plain"])
def test_an_overlay_that_only_changes_what_is_over_changes_nothing(
    patience: int, pebbles: Ruleset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stretches have other numbers, and decisions that the game never meets."""
    monkeypatch.setattr(runner, "PATIENCE", patience)
    game, other = pebbles.new_game(2, seed=1), with_overlay(tmp_path, BEFORE_THE_FORK)
    assert len(other.program.stretches) > len(pebbles.program.stretches)
    for _ in range(3):
        assert game.decision is not None
        game.apply(game.decision.options[-1])
        fork = forked_with(game, other)
        assert (fork.other, at_once(fork).state) == (None, [])
        pairs = list(finished(continuations(fork, bots, range(4))))
        assert [a.as_dict() for a, _ in pairs] == [b.as_dict() for _, b in pairs]


@pytest.mark.parametrize("patience", [0, 2], ids=["module", "plain"])
def test_a_rule_that_is_being_carried_out_ends_as_it_began(
    patience: int, pebbles: Ruleset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next time it is the other."""
    monkeypatch.setattr(runner, "PATIENCE", patience)
    game = pebbles.new_game(2, seed=1)
    fork = forked_with(game, with_overlay(tmp_path, LAST_ROUND))
    assert (fork.other, at_once(fork).options) == (None, [7, 7])
    assert {b.decisions for _, b in finished(continuations(fork, bots, range(5)))} == {4}
    assert (fork.changed(0).runner.compiled is not None) == (patience == 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [(CARRIED_OUT, "this changes `pulling`, which is being carried out"), (COMPONENTS, "this changes the components")],
    ids=["carried out", "components"],
)
def test_an_overlay_that_cannot_join_applies_from_the_beginning(
    text: str, why: str, pebbles: Ruleset, tmp_path: Path
) -> None:
    game, other = pebbles.new_game(2, seed=1), with_overlay(tmp_path, text)
    with pytest.raises(ValueError, match=f"{why}: a game in progress cannot continue with it"):
        forked_with(game, other)
    begun: list[str] = []

    def again(rules: Ruleset, because: str) -> Game:
        begun.append(because)
        assert isinstance(rules, Ruleset)
        return rules.new_game(2, seed=1)

    fork = forked_with(game, other, again)
    assert (begun, fork.why, fork.other is not None) == ([why], why, True)
    assert all(b.decisions for _, b in finished(continuations(fork, bots, range(3))))
