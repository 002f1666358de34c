"""Policies and overlays drawn at random play the same in every form, game after game, and from the cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.drawn import Case, draw, in_short, other_process, play_alike
from tests.small import FAMILY, write

CASES = Path(__file__).parents[1] / "cases"
RULESETS = [
    ("goofspiel", 3, 6),
    ("envelopes", 3, 4),
    ("germany-2018", 3, 2),
    ("outpost", 2, 1),
    ("tiles", 2, 4),
    ("rows", 2, 3),
    ("hex", 2, 3),
]
DRAWN = [(name, players, seed) for name, players, seeds in RULESETS for seed in range(seeds)]

POLICY = """\
language: 2
policies: small/drawn
title: Drawn
is:
  drawn:
    act:
      prefer: |
        LINE
        any
"""


@pytest.mark.parametrize(
    "line",
    [
        "go number where (worth(number) <= 3 or amount > 2) by worth(number), as listed",
        "go number where (amount > 2 or worth(number) < 6) by worth(number), as listed",
    ],
)
def test_one_side_of_an_or_need_not_hold(line: str, tmp_path: Path) -> None:
    """What orders the options stands in their condition too; only one side of that has to be true."""
    act = "while amount < 90:\n  choose act by seats[0]:\n    go number in 0 .. 7:\n      amount += number + 1\n"
    rules = "worth(number) -> int: (number - 4) * (number - 4)\n"
    path = write(tmp_path, f"{act}end game", rules, "", FAMILY)
    (tmp_path / "small" / "policies").mkdir()
    (tmp_path / "small" / "policies" / "drawn.yaml").write_text(POLICY.replace("LINE", line))
    play_alike(Case(tmp_path, str(path), 2, 1, ()), times=2)


def test_an_argument_that_is_read_twice_stands_twice(tmp_path: Path) -> None:
    """What may fail is worked out although the function does not need it, and once more for the cell that it names."""
    act = "while amount < 90:\n  choose act by seats[0]:\n    go number in 0 .. 7:\n      amount += number + 1\n"
    rules = """\
other(number) -> seat: seats[0]
total_of(who) -> int: sum(c.number for c in who.hand) + who.score
"""
    path = write(tmp_path, f"{act}end game", rules, "", FAMILY)
    (tmp_path / "small" / "policies").mkdir()
    line = "go number where number >= total_of(other(10 div amount))"
    (tmp_path / "small" / "policies" / "drawn.yaml").write_text(POLICY.replace("LINE", line))
    play_alike(Case(tmp_path, str(path), 2, 1, ()), times=2)


def test_what_a_condition_leaves_out_is_not_asked_by_others(tmp_path: Path) -> None:
    """The one number that a line may choose is known before the choice; where it is none, nothing else is asked."""
    act = "while amount < 90:\n  choose act by seats[0]:\n    go number in 0 .. 7:\n      amount += number + 1\n"
    path = write(tmp_path, f"{act}end game", "", "", FAMILY)
    (tmp_path / "small" / "policies").mkdir()
    line = "go number where 10 div (amount - 1) > 0 and number == 90 div amount"
    (tmp_path / "small" / "policies" / "drawn.yaml").write_text(POLICY.replace("LINE", line))
    play_alike(Case(tmp_path, str(path), 2, 1, ()), times=2)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "players", "seed"), DRAWN)
def test_drawn_games_are_the_same(
    name: str, players: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGELWERK_PATH", str(CASES))
    play_alike(replace(draw(tmp_path, name, players, seed), most=200))


def test_random_layers_are_drawn_at_all(tmp_path: Path) -> None:
    """The checker refuses some of them, but not all."""
    assert any(draw(tmp_path / str(seed), "goofspiel", 3, seed).overlays for seed in range(4))


@pytest.mark.slow
def test_another_process_plays_from_the_cache_what_this_one_kept(tmp_path: Path) -> None:
    case = draw(tmp_path, "germany-2018", 3, 1)
    assert other_process(case) == in_short(play_alike(case))
