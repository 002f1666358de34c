"""What an option does first, for who thinks of it: no more than is sure, and what then comes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from interpreter.bots.registry import bots_of
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game
from interpreter.engine.views import lines_since
from interpreter.loading.load import load
from interpreter.play.keyboard import MOST_LINES, numbered
from interpreter.play.match import Match
from interpreter.play.option_preview import Foresight
from tests.play.test_hidden import SECRET
from tests.small import loaded, write

LUCK = "luck() -> int: mood * 2\n"
SILENT = 'says:\n  act.go: ""\n'


def asked(game: Game) -> Decision:
    assert game.decision is not None
    return game.decision


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("note said(amount)", "1"),
        ("amount += 3\nnote said(amount)\nnote said(7)", "4"),
        ("move take(1, deck) to pile\nnote said(count(pile))", ""),
        ("let lot = pick from seats as lots\nnote said(amount)", ""),
        ("shuffle deck as cards\nnote said(amount)", ""),
        ("row = [row[9]]\nnote said(amount)", ""),
        ("amount += 1", ""),
    ],
)
def test_neither_chance_nor_what_is_hidden_comes_before_it(does: str, told: str, tmp_path: Path) -> None:
    body = "\n".join(f"    {line}" for line in does.splitlines())
    game = loaded(write(tmp_path, f"choose act by seats[0]:\n  go:\n{body}\n", sections=SILENT)).new_game(2, 1)
    assert Foresight(game, asked(game)).first((0, ())) == told


HIDDEN = {
    "the first card of a stack": "note said(first(deck).number)",
    "the cards of another hand": "note said(sum(c.number for c in seats[1].hand))",
    "the tokens of another pool": "note said(seats[1].money)",
    "a value of another seat": "note said(seats[1].die)",
    "a value that no one sees": "note said(mood + 1)",
    "a value worked out from one": "amount = mood * 2\nnote said(amount)",
    "which event comes": "if mood > 2:\n  note said(1)\nelse:\n  note said(2)",
    "whether one comes": "if seats[1].money > 2:\n  note said(1)\nnote said(2)",
    "a rule that looks": "note said(luck())",
    "a hidden local": "note said(seen)",
}


@pytest.mark.parametrize("does", HIDDEN)
def test_what_a_player_cannot_work_out_is_not_told(does: str, tmp_path: Path) -> None:
    body = "\n".join(f"    {line}" for line in HIDDEN[does].splitlines())
    act = f"""
move take(1, deck) to seats[1].hand
let seen = mood
choose act by seats[0]:
  go:
{body}
  stay if seen > 100
"""
    game = loaded(write(tmp_path, act, rules=LUCK, sections=SILENT, family=SECRET)).new_game(2, 1)
    assert Foresight(game, asked(game)).first((0, ())) == ""


@pytest.mark.parametrize("mood", [1, 6])
def test_what_may_follow_a_block_that_waits_in_secret_is_not_told(mood: int, tmp_path: Path) -> None:
    """Whether one waits makes no difference."""
    act = f"""
mood = {mood}
if mood > 3:
  at end of phase:
    mood = 2
at end of phase:
  note said(4)
choose act by seats[0]:
  go
"""
    game = loaded(write(tmp_path, act, sections=SILENT, family=SECRET)).new_game(2, 1)
    assert Foresight(game, asked(game)).first((0, ())) == ""


def test_own_things_are_told(tmp_path: Path) -> None:
    act = "choose act by seats[1]:\n  go:\n    move 2 from seats[1].money to bank\n    note said(seats[1].money)\n"
    game = loaded(write(tmp_path, act, sections=SILENT, family=SECRET)).new_game(2, 1)
    assert Foresight(game, asked(game)).first((0, ())) == "3"


@pytest.mark.parametrize(("seat", "told"), [(0, "2"), (1, "")])
def test_what_follows_an_own_turn_is_not_told(seat: int, told: str, tmp_path: Path) -> None:
    turn = "for each turn who in seats:\n  choose act by who:\n    go:\n      amount += 1\n"
    act = f"{turn}      if who == seats[0]:\n        note said(amount)\nnote said(amount)\n"
    game = loaded(write(tmp_path, act, sections=SILENT)).new_game(2, 1)
    for _ in range(seat):
        game.apply({"do": "go"})
    assert Foresight(game, asked(game)).first((0, ())) == told


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", ["germany-2018", "bsw-france", "outpost"])
def test_it_comes_true(ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, told = random.Random(3), 0
    game = load(ruleset).new_game(3, 3)
    monkeypatch.setattr(game.runner, "plain", True)
    while game.decision is not None:
        decision, option = game.decision, rng.choice(game.decision.options)
        at, words = len(game.state.log), Foresight(game, decision).first(option.code)
        game.apply(option)
        if words:
            lines = [
                line.text for line in lines_since(game.table, game.state, at, decision.actor) if line.kind == "event"
            ]
            assert lines[0].endswith(words)
            told += 1
    assert told > 5


def test_prices_stand_beside_what_is_typed() -> None:
    ruleset = load("germany-2018")
    match = Match(ruleset, bots_of("sensible", ruleset, 4), 7)
    shown: dict[str, list[str]] = {}
    while len(shown.get("build", ())) <= MOST_LINES or "buy" not in shown:
        decision = asked(match.game)
        codes = [option.code for option in decision.options]
        shown[decision.name] = numbered(match.game, decision, codes)
        match.step()
    first, *_, last = shown["build"]
    assert first.split(maxsplit=1) == [
        "1",
        "connect city=Flensburg      connects Flensburg for 10 (place 10, links 0: Flensburg)",
    ]
    assert last.split() == [str(len(shown["build"])), "stop"]
    assert shown["buy"][1].split(maxsplit=1) == ["2", "take kind=coal number=2  buys 2 coal for 6"]


def test_a_price_is_told_where_the_money_of_others_is_hidden() -> None:
    ruleset = load("bsw-germany")
    match = Match(ruleset, bots_of("greedy", ruleset, 3), 3)
    while asked(match.game).name != "build":
        match.step()
    decision = asked(match.game)
    option = decision.options[0]
    told = Foresight(match.game, decision).first(option.code)
    assert told.startswith(f"connects {option.as_dict()['city']} for 1")
