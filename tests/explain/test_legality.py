"""Why a choice is legal, by the rules in force, and why not, by the reason that matters first."""

from __future__ import annotations

import random
import shutil
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.explain.legality import Asked, conditions_of
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.game_records import write_log
from interpreter.reading.files import Shelf
from interpreter.testing.channels import MOST_REFUSED, _choices
from tests.small import loaded, write


def cited(condition: Asked) -> set[str]:
    return {quote.id for quote in condition.cites}


def played_to(id: str, decision: str, seed: int = 5) -> Game:
    game, chance = load(id).new_game(3, seed=seed), random.Random(seed)
    while game.decision is not None and game.decision.name != decision:
        game.apply(chance.choice(list(islice(game.decision.options, 50))))
    return game


# --- legal


def test_a_legal_choice_cites_the_rules_that_make_it_legal(tmp_path: Path) -> None:
    game = played_to("germany-2018", "nominate")
    marked = game.view()["discounted"]
    assert game.decision is not None
    conditions = conditions_of(game, {"do": "offer", "plant": marked, "bid": 1})
    assert all(condition.holds for condition in conditions)
    (least,) = [condition for condition in conditions if condition.text.startswith("minimum_bid(plant)")]
    assert "GU-117" in cited(least)
    other = next(choice for choice in (each.as_dict() for each in game.decision.options) if choice["plant"] != marked)
    assert not any("GU-117" in cited(condition) for condition in conditions_of(game, other)), (
        "that layer is not in force"
    )
    log = tmp_path / "game.jsonl"
    with log.open("w", encoding="utf-8") as file:
        write_log(game, file.write)
    told = CliRunner().invoke(cli, ["explain", str(log), f"offer {marked} 1"])
    assert told.exit_code == 0
    assert "is legal" in told.output
    assert told.output.count("GU-117") == 1


@pytest.mark.parametrize("id", ["germany-2018", "bsw-germany", "outpost", "goofspiel"])
def test_every_condition_of_a_legal_choice_cites_what_it_calls(id: str) -> None:
    """A condition quotes its own statements and those of the rules that it calls, else those of its rule."""
    game, chance = load(id).new_game(3, seed=2), random.Random(2)
    citing = {
        layer.spoken for layer in game.ruleset.program.reach.procedures.values() if game.ruleset.own_cites(layer.cites)
    }
    for _ in range(100):
        if game.decision is None:
            break
        options = list(islice(game.decision.options, 50))
        for option in chance.sample(options, min(3, len(options))):
            for condition in conditions_of(game, option.as_dict()):
                assert condition.holds
                assert condition.cites or condition.rule not in citing, condition
        game.apply(chance.choice(options))


# --- refused


@pytest.mark.parametrize("id", ["germany-2018", "bsw-germany", "outpost", "goofspiel"])
def test_the_reason_of_the_refusal_comes_first(id: str) -> None:
    game, chance, refused = load(id).new_game(3, seed=3), random.Random(3), 0
    for _ in range(100):
        if game.decision is None:
            break
        for option in game.decision.site.options:
            for choice in islice(_choices(game, option), MOST_REFUSED):
                try:
                    game.clone().apply(choice)
                    continue
                except RuleFailure:
                    continue
                except IllegalMove as error:
                    if not error.reasons:
                        continue
                    reason = error.reasons[0]
                found = conditions_of(game, choice, "en", game.decision.actor)
                assert (found[0].place, found[0].rule) == (str(reason.span), reason.rule)
                assert [c.holds for c in found] == sorted((c.holds for c in found), key=[False, None, True].index)
                refused += 1
        game.apply(chance.choice(list(islice(game.decision.options, 50))))
    assert refused > 20


def test_no_room_matters_before_a_number(tmp_path: Path) -> None:
    """What refuses any number is told before what refuses this one, and before the range."""
    act = """
      choose act by seats[0]:
        take n in 1 .. amount - 1 where may_take(n)
        stop
      end game
    """
    rules = """
    may_take(n):
      permits: |
        require n >= 2
        require n <= 5
        require amount > n
        require n != 6
    """
    game = loaded(write(tmp_path, act, rules)).new_game(2)
    told = {}
    for number in (1, 3, 6, 7):
        with pytest.raises(IllegalMove) as refused:
            game.apply({"do": "take", "n": number})
        told[number] = str(refused.value)
        found = conditions_of(game, {"do": "take", "n": number})
        assert found[0].place == str(refused.value.reasons[0].span)
    assert all("`amount > n` does not hold" in told[number] for number in (3, 6, 7))
    assert "`n >= 2` does not hold" in told[1]


BASE = Path(__file__).parents[1] / "bad" / "_base"
HIDES = """\
language: 2
overlay: pond/cited
over: [pond]
state:
  mood: {value: int, start: 0, seen: no one}
rules:
  reach:
    when: mood > MOOD
    wraps: pond
    cites: [P-03]
    is: base(who) + 1
  hop:
    replaces: pond
    cites: [P-02]
    does: |
      for each turn who in seats:
        choose hop by who:
          swim n in 1 .. 2 where n <= reach(who):
            water = water
          stay
      end game
"""


def test_a_seat_does_not_learn_from_the_statements_which_layer_is_in_force(tmp_path: Path) -> None:
    shutil.copytree(BASE, tmp_path / "rulesets")
    family = tmp_path / "rulesets/pond/family.yaml"
    text = family.read_text(encoding="utf-8")
    family.write_text(text.replace("rules:\n", 'rules:\n  reach(who) -> int: {cites: [P-01], is: "1"}\n', 1), "utf-8")
    overlay = tmp_path / "rulesets/pond/overlays/cited.yaml"
    overlay.parent.mkdir()
    told: list[dict[int | None, set[str]]] = []
    for mood in ("5", "-5"):
        overlay.write_text(HIDES.replace("MOOD", mood), encoding="utf-8")
        game = load("pond", ["pond/cited"], Shelf([tmp_path / "rulesets"])).new_game(2, seed=1)
        of = {player: conditions_of(game, {"do": "swim", "n": 1}, "en", player) for player in (None, 0)}
        told.append({player: set().union(*map(cited, conditions)) for player, conditions in of.items()})
    assert told[0][None] == {"P-01", "P-02"}
    assert told[1][None] == {"P-01", "P-02", "P-03"}
    assert told[0][0] == told[1][0] == {"P-02"}
