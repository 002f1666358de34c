"""Lengths of links by an expression: also by cells of a table, as dues by region are printed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interpreter.compare.variation import varied
from interpreter.lowering.constants import RuleFailure
from tests.small import MAP, examined, loaded, outcome, write

DUES = """\
map: small/isles
tables:
  dues:
    keys: [colour]
    gives: int?
    is: |
      colour | red | blue
      dues   | 3   | 10
graph: {amends: small, length: LENGTH}
"""
WAYS = """
    note said(distance(["Ayr"], "Bute", [t in town]))
    note said(distance(["Bute"], "Ayr", [t in town]))
    note said(distance(["Ayr"], "Coll", [t in town]) otherwise 99)
    end game
"""


def ruleset_of(folder: Path, length: str, ways: str = WAYS) -> Path:
    path = write(folder, ways)
    text = MAP.replace("map: small/isles\n", DUES.replace("LENGTH", length))
    (folder / "small/maps/isles.yaml").write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("length", "told"),
    [
        ('"link.cost + (dues[to.colour] otherwise 0)"', ["11", "4", "16"]),
        ('"none if dues[to.colour] == none else link.cost * 2"', ["2", "2", "6"]),
    ],
)
def test_a_length_reads_cells_of_a_table(tmp_path: Path, length: str, told: list[str]) -> None:
    path = ruleset_of(tmp_path, length)
    assert outcome(path) == "plays"
    assert [line.text for line in loaded(path).new_game(2).log() if line.kind == "event"] == told
    assert [each.message for each in examined(path).diagnostics if "dues" in each.message] == []


def test_another_cell_is_another_length(tmp_path: Path) -> None:
    """What `whatif` and `coverage --mutate` change is changed for links too."""
    ruleset = varied(
        loaded(ruleset_of(tmp_path, '"link.cost + (dues[to.colour] otherwise 0)"')), [("dues", ("blue",), "20")]
    )
    assert [line.text for line in ruleset.new_game(2).log() if line.kind == "event"] == ["21", "4", "26"]


def test_a_length_that_becomes_negative_fails_in_both_forms(tmp_path: Path) -> None:
    """It leads to where the search begins, so the search alone would not notice it."""
    ways = '\n    note said(distance(["Ayr"], "Bute", ["Ayr", "Bute"]))\n    end game\n'
    printed = loaded(ruleset_of(tmp_path, '"link.cost + (dues[to.colour] otherwise 0)"', ways))
    for plain in (True, False):
        ruleset = varied(printed, [("dues", ("red",), "-30")])
        runner = ruleset.table(2, ruleset.settings({})).runner
        runner.plain = plain
        assert plain or runner.ready() is not None
        with pytest.raises(RuleFailure, match="got a length of -[0-9]+, want 0 or more"):
            ruleset.new_game(2)


@pytest.mark.parametrize(
    ("length", "told"),
    [
        ('"link.cost + amount"', "E710 this may depend only on printed values of nodes, links and tables"),
        ('"link.cost + by_number[7]"', "E710 `by_number` has no such cell for each link"),
    ],
)
def test_what_no_print_tells_is_refused(tmp_path: Path, length: str, told: str) -> None:
    path = ruleset_of(tmp_path, length)
    isles = tmp_path / "small/maps/isles.yaml"
    more = "  by_number:\n    keys: [number]\n    gives: int\n    is: |\n      number | 1\n      fee    | 2\n"
    isles.write_text(isles.read_text(encoding="utf-8").replace("tables:\n", f"tables:\n{more}"), encoding="utf-8")
    assert told in outcome(path).splitlines()


@pytest.mark.parametrize("function", ["distance", "path"])
def test_a_path_without_lengths_is_refused(tmp_path: Path, function: str) -> None:
    path = write(tmp_path, f'    let way = {function}(["Ayr"], "Bute", [t in town]) otherwise none\n    end game\n')
    family = tmp_path / "small/family.yaml"
    family.write_text(family.read_text(encoding="utf-8").replace("  length: cost\n", ""), encoding="utf-8")
    assert "E304 links between each town have no length" in outcome(path).splitlines()


def test_a_length_with_an_error_is_told_once(tmp_path: Path) -> None:
    assert outcome(ruleset_of(tmp_path, '"link.cots"')).count("E304") == 1


@pytest.mark.parametrize("plain", [True, False])
def test_a_dealt_card_of_a_negative_length_fails_in_both_forms(tmp_path: Path, plain: bool) -> None:
    """It lies on the last link. The lengths that were read before it are forgotten with it."""
    folder = tmp_path / "causeways"
    shutil.copytree(Path(__file__).parents[1] / "cases" / "causeways", folder)
    family, stones = folder / "family.yaml", folder / "decks" / "stones.yaml"
    stones.write_text(stones.read_text(encoding="utf-8").replace("moss      | 1 ", "moss      | -1"), encoding="utf-8")
    text = family.read_text(encoding="utf-8").replace("all of laid to quarry", "all of laid to top of quarry")
    text = text.replace("where s.steps > 0] to laid", "where s != first(quarry)] to laid")
    hop = '          hop:\n            who.steps += distance(["Mid"], "West", [r in rock])\n'
    family.write_text(text.replace("          swap:\n", f"{hop}          swap:\n"), encoding="utf-8")
    ruleset = loaded(folder / "causeways.yaml")
    walk, hop_ = {"do": "to", "there": "East"}, {"do": "hop"}
    for seed in range(8):
        game, measured = ruleset.new_game(2, seed), ruleset.new_game(2, seed)
        game.runner.plain = plain
        assert plain or game.runner.ready() is not None
        game.apply(walk)
        game.apply({"do": "swap"})
        with pytest.raises(RuleFailure, match="length"):
            game.apply(walk)
        game.undo()
        game.apply(hop_)
        measured.runner.plain = True
        measured.apply(walk)
        measured.apply(hop_)
        assert game.value("seats[1].steps") == measured.value("seats[1].steps"), seed
