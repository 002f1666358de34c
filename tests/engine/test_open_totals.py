"""Tokens whose number follows from what is laid out, which depends on settings, readings and players."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base.diagnostics import RulesetError
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import differences
from interpreter.engine.game import Ruleset
from tests.small import FAMILY, loaded, write

POOLS = "bank: {of: coin, start: 50 if wealth == poor else 100}, mine: {of: gem, start: laid()}"
OPEN = (
    FAMILY.replace("coin: 90", "coin: open")
    .replace("{ruby: 9, onyx: 9, opal: 9}", "{ruby: open, onyx: 9, opal: open}")
    .replace("bank: {of: coin, start: rest}, mine: {of: gem, start: rest}", POOLS)
)
SECTIONS = """
settings: {rubies: {value: int, default: 3}}
interpretations: {wealth: {answers: [AB-1], default: poor, is: {poor: a little, rich: much}}}
"""
RULES = """
laid() -> bag of gem: rubies of ruby + 9 of onyx + players of opal
"""
ACT = """
choose take by seats[0]:
  coins n in 1 .. bank:
    move n from bank to seats[0].money
  stop
if round == 3:
  end game
"""


def open_game(tmp_path: Path, family: str = OPEN) -> Ruleset:
    statements = tmp_path / "small" / "statements" / "AB.csv"
    statements.parent.mkdir(parents=True, exist_ok=True)
    statements.write_text("id,kind,phase,statement\nAB-1,gap,act,How much?\n")
    return loaded(write(tmp_path, ACT, RULES, SECTIONS, family))


@pytest.mark.parametrize(
    ("players", "settings", "coins", "gems"),
    [(2, {}, 60, (3, 9, 2)), (3, {"rubies": 7, "wealth": "rich"}, 115, (7, 9, 3))],
)
def test_totals_follow_from_what_is_laid_out(
    tmp_path: Path, players: int, settings: dict[str, object], coins: int, gems: tuple[int, ...]
) -> None:
    ruleset = open_game(tmp_path)
    for is_plain in (True, False):
        game = ruleset.new_game(players, settings=settings)
        assert {each.name: each.totals for each in game.table.census.tokens} == {"coin": (coins,), "gem": gems}
        game.runner.plain = is_plain
        assert is_plain or game.runner.compile() is not None
        game.apply({"do": "coins", "n": coins - 5 * players})
        assert list(game.check()) == []


def test_numbers_that_are_declared_are_needed(tmp_path: Path) -> None:
    with pytest.raises(RulesetError, match="1 onyx have no place"):
        open_game(tmp_path, OPEN.replace("onyx: 9", "onyx: 10")).new_game(2)


def test_an_open_number_is_a_difference(tmp_path: Path) -> None:
    one = open_game(tmp_path / "a", OPEN.replace("ruby: open", "ruby: 3"))
    found = {each.path: each for each in differences(Compared(one), Compared(open_game(tmp_path / "b"))).differences}
    change = found["tokens.gem.ruby"]
    assert [side and side.value for side in (change.a, change.b)] == ["3", "open"]
