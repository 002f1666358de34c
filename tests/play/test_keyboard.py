"""What a person reads and types."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base.plain_data import number_in
from interpreter.bots.player import Code
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.play.keyboard import numbered, understood
from tests.play.toy import changed


@pytest.fixture
def game(pebbles: Ruleset) -> Game:
    return pebbles.new_game(2, seed=1)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("-3", -3),
        ("007", 7),
        ("²", "²"),
        ("--5", "--5"),
        ("٣", "٣"),
        ("9" * 5000, "9" * 5000),
        ("", ""),
        ("1\n", "1\n"),
    ],
)
def test_a_number_is_digits_that_python_converts(text: str, number: int | str) -> None:
    assert number_in(text) == number


def listed(game: Game) -> list[str]:
    decision = game.decision
    assert decision is not None
    codes: list[Code] = list(game.machine.options(game.state, decision.env, decision.site))
    return [line.strip() for line in numbered(game, decision, codes)]


def test_options_in_words(game: Game) -> None:
    assert listed(game)[:2] == ["1  pulls 1 white", "2  pulls 2 white"]
    assert listed(game)[-1] == "7  wait"


def test_many_options_share_lines(tmp_path: Path) -> None:
    root = changed(tmp_path, "family.yaml", "{white: 9, black: 6}", "{white: 30, black: 5}")
    game = load(root / "pebbles" / "pebbles.yaml").new_game(2, settings={"most": 25})
    assert listed(game) == [
        "1–25  pull kind=white number=1..25",
        "26–30  pull kind=black number=1..5",
        "31  wait",
    ]


def test_a_line_for_many_tells_of_the_first_and_the_last(tmp_path: Path) -> None:
    changed(tmp_path, "family.yaml", '"{who} pulls {number} {kind}"', '""')
    path = tmp_path / "pebbles" / "family.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("white: 9", "white: 30"), encoding="utf-8")
    game = load(tmp_path / "pebbles" / "pebbles.yaml").new_game(2, settings={"most": 25})
    assert listed(game)[0] == "1–25  pull kind=white number=1..25  has 1 more … has 25 more"
    assert listed(game)[1] == "26–31  pull kind=black number=1..6  has 1 more … has 6 more"


@pytest.mark.parametrize(
    "text",
    [
        "pull white 2",
        "pulls 2 white",
        "Pulls  2 white",
        "pull kind=white number=2",
        "pull number=2 kind=White",
        "p white number=2",
        "pull number 2 kind white",
        "pull white number 2",
        "PULL white 2",
    ],
)
def test_typed_choices(game: Game, text: str) -> None:
    assert game.decision is not None
    assert understood(game, game.decision, text) == {"do": "pull", "kind": "white", "number": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pulls white 2", "`pulls` is not one of `pull`, `wait`; did you mean `pull`?"),
        ("pull white 2 3", "takes 2 values, and `3` is one more"),
        ("pull colour=white", "`pull` takes no `colour`"),
        ("pull 'white", "not complete"),
        ("", "nothing was typed"),
    ],
)
def test_what_is_not_understood(game: Game, text: str, message: str) -> None:
    assert game.decision is not None
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        understood(game, game.decision, text)
