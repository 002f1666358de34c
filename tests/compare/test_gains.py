"""Which cards, nodes and members of kinds gain: what measures say of them in pairs of games."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import inf, sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from interpreter.base.source import NOWHERE
from interpreter.bots.planless import RandomBot
from interpreter.cli.main import cli
from interpreter.compare.effect_sizes import effects, ratio_effect
from interpreter.compare.gains import Gain, gains
from interpreter.engine.game import Ruleset
from interpreter.language import core as c
from interpreter.language.model import Measure, MeasureKey
from interpreter.language.types import INT, SEAT, TEXT, CardType, Type
from interpreter.loading.load import load
from interpreter.pages.gain_section import things_told
from interpreter.pages.page import Folded, Grid
from interpreter.pages.text import lines_of
from interpreter.simulate.confidence import student
from interpreter.simulate.measurements import Taken
from interpreter.simulate.simulation import Row, simulate
from interpreter.simulate.summary import summary
from tests.pages.reading import Read
from tests.play.toy import ROOT, changed

PEBBLES = ROOT / "pebbles" / "pebbles.yaml"
PLAY = ["--players", "2", "--games", "8", "--seed", "1", "--bots", "random", "--jobs", "1"]


def measure(*keys: Type, name: str = "bought", sums: bool = False) -> Measure:
    """A measure of an event, by a seat and these keys."""
    named = [MeasureKey(("who", "tool", "with")[place], place, key) for place, key in enumerate((SEAT, *keys))]
    return Measure(name, (), "buys", (), None, tuple(named), c.Const(None), sums, 2, NOWHERE)


TOOLS = measure(TEXT)


def row(seed: int, winners: Sequence[int], *bought: tuple[int, Any, int | None]) -> Row:
    """A game of two seats, in which seats buy things at a price."""
    places = tuple(1 if seat in winners else 2 for seat in range(2))
    numbers = [Taken(1, (who, thing), price) for who, thing, price in bought]
    return Row(seed, 9, 5, 4, 0.0, places, ((), ()), {"bought": numbers})


def found(a: Sequence[Row], b: Sequence[Row], of: Measure = TOOLS, other: Measure | None = None) -> dict[str, Gain]:
    """Return the gains by these measures, by the names of their things."""
    sides = load(PEBBLES), load(PEBBLES)
    sides[0].model.measures[:], sides[1].model.measures[:] = [of], [other or of]
    return {each.name: each for each in gains(a, b, sides)}


def test_how_often_at_what_price_and_with_the_winner() -> None:
    """In 10 pairs the saw is bought twice on one side and once on the other, dearer, and by the winner."""
    a = [row(seed, [0], (0, "saw", 2), (1, "saw", 4), (1, "axe", 9)) for seed in range(10)]
    b = [row(seed, [0], *([(0, "saw", 6 + seed % 2)] if seed < 6 else []), (1, "axe", 9)) for seed in range(10)]
    saw = found(a, b)["saw"]
    assert saw.of == {"tool": "saw"}
    assert [(each.a, each.b) for each in saw.effects] == [(2, 0.6), (3, 6.5), (100, 60)]
    assert all(each.is_sure for each in saw.effects)
    axe = found(a, b)["axe"]
    assert [(each.a, each.b, each.size) for each in axe.effects] == [(1, 1, 0), (9, 9, 0), (0, 0, 0)]
    assert not axe.is_sure


def test_a_shared_win_counts_in_parts_and_a_seat_once() -> None:
    a = [row(seed, [0, 1], (0, "saw", 1), (0, "saw", 1)) for seed in range(3)]
    b = [row(seed, [0, 1], (0, "saw", 1), (1, "saw", 1)) for seed in range(3)]
    winner = found(a, b)["saw"].winner
    assert winner is not None
    assert (winner.a, winner.b) == (50, 100)


def test_the_largest_effects_come_first() -> None:
    a = [row(seed, [0], (1, "axe", 1 + seed % 2), (1, "saw", seed % 3), (1, "nail", 3)) for seed in range(9)]
    b = [row(seed, [0], (1, "axe", 3 + seed % 3), (1, "saw", seed % 2), (1, "nail", 8)) for seed in range(9)]
    assert list(found(a, b)) == ["nail", "axe", "saw"]
    assert found(a, b)["nail"].size == inf, "it always costs five more"


def test_the_mean_of_a_thing_that_is_not_in_every_game() -> None:
    """Each price counts, also where the other game of the pair has none; few of them are no mean."""
    a = [row(seed, [0], *([(0, "saw", 3 + seed % 2)] if seed < 5 else [])) for seed in range(10)]
    b = [row(seed, [0], *([(0, "saw", 5)] if seed >= 5 else [])) for seed in range(10)]
    mean = found(a, b)["saw"].mean
    assert mean is not None
    assert (mean.a, mean.b) == (3.4, 5)
    left = [2 * (3 + seed % 2 - 3.4) if seed < 5 else 0 for seed in range(10)]
    assert mean.high - mean.difference == pytest.approx(student(4) * stdev(left) / sqrt(10))
    assert found(a[1:], b[1:])["saw"].mean is None


def test_a_ratio_of_whole_games_is_a_mean_of_differences() -> None:
    values = [(1, 4), (2, 2), (3, 9), (5, 5), (8, 7)]
    found = ratio_effect("", *([(value, 1) for value in side] for side in zip(*values, strict=True)))
    changes = [b - a for a, b in values]
    assert found.difference == pytest.approx(sum(changes) / 5)
    assert found.high - found.difference == pytest.approx(student(4) * stdev(changes) / sqrt(5))
    assert found.size == pytest.approx(found.difference / stdev(changes))


def test_what_one_side_lacks_counts_unless_most_things_differ() -> None:
    """A new card is compared with none; the nodes of another board are not."""
    a = [row(seed, [0], (0, "saw", 1), (0, "axe", 1)) for seed in range(3)]
    more = [row(seed, [0], (0, "saw", 1), (0, "axe", 1), (1, "drill", 1)) for seed in range(3)]
    other = [row(seed, [0], (0, "saw", 1), (1, "drill", 1), (1, "plane", 1)) for seed in range(3)]
    assert (found(a, more)["drill"].times.a, found(a, more)["drill"].times.b) == (0, 1)
    assert list(found(a, other)) == ["saw"]


def test_a_thing_of_one_side_has_its_name_there() -> None:
    """Torgelow lies on the older board of Germany, Stralsund on the other."""
    sides = load("germany-2004"), load("germany-2018")

    def paid(*cities: str) -> list[Row]:
        numbers = [Taken(1, (0, city), 10) for city in ("Berlin", "Essen", "Köln", *cities)]
        return [replace(row(seed, [0]), taken={"city_price": numbers}) for seed in range(3)]

    names = [each.name for each in gains(paid("Torgelow"), paid("Stralsund"), sides)]
    assert sorted(names) == ["Berlin", "Essen", "Köln", "Stralsund", "Torgelow"]


def test_sums_count_each_seat_once() -> None:
    a = [row(seed, [0], (0, "saw", 1), (0, "saw", 2), (1, "saw", 3)) for seed in range(6)]
    saw = found(a, a, measure(TEXT, sums=True))["saw"]
    assert saw.mean is not None
    assert (saw.times.a, saw.mean.a) == (2, 3)


def test_only_measures_of_both_sides_by_things() -> None:
    """Seats and numbers have their lines among the effects."""
    rows = [replace(row(seed, [0], (0, 7, 1)), taken={"bought": [Taken(1, (0, 7), 1)]}) for seed in range(3)]
    assert found(rows, rows, measure(INT)) == {}
    assert [each.name for each in effects(rows, rows, [measure(INT)]) if "bought" in each.name] == [
        "bought 7",
        "bought 7 wins, %",
    ]
    assert found(rows, rows, TOOLS, measure(CardType("plank"))) == {}
    assert found(rows, rows, TOOLS, measure(TEXT, name="sold")) == {}
    assert found(rows[:1], rows[:1]) == {}, "a single pair has no interval"


def test_tables_cut_and_align() -> None:
    a = [row(seed, [0], (0, "saw", 1 + seed), (0, "axe", 100)) for seed in range(6)]
    b = [row(seed, [0], (0, "saw", 2 * seed), (1, "axe", 90)) for seed in range(6)]
    every = list(found(a, b).values())
    (told,) = things_told(every)
    assert isinstance(told, Folded)
    (table,) = told.blocks
    assert isinstance(table, Grid)
    assert (told.summary, table.titles) == ("bought, by tool: 2, 1 significant", ["", "times", "mean", "winner, %"])
    assert [cells[2] for cells in table.rows] == ["100.0 → 90.0 ± 0.0 *", "  3.5 →  5.0 ± 2.0"]
    assert table.marked_rows == {0}
    short, *_, more = lines_of(things_told(every, 1), 80)
    assert (short, more) == ("", "--full shows all")
    assert "bought, by tool: 1 of 2, 1 significant" in lines_of(things_told(every, 1), 80)


def test_gains_agree_with_the_summary_of_either_side(pebbles: Ruleset) -> None:
    bots = [RandomBot(), RandomBot()]
    rows = list(simulate(pebbles, bots, 12, 1))
    things = summary(pebbles, ["random", "random"], rows)["tables"]["pulled"]
    every = {each.name: each for each in gains(rows, rows, (pebbles, pebbles)) if each.measure == "pulled"}
    assert set(every) == {thing["name"] for thing in things} == {"white", "black"}
    for thing in things:
        gain = every[thing["name"]]
        assert gain.mean is not None
        assert gain.times.a == thing["times"] / 12
        assert gain.mean.a == pytest.approx(thing["mean"], abs=1e-4)


def test_the_command_says_who_gains(tmp_path: Path) -> None:
    other = changed(tmp_path, "family.yaml", "white: 9", "white: 30") / "pebbles" / "pebbles.yaml"
    command = ["compare", str(PEBBLES), str(other), *PLAY]
    said = CliRunner().invoke(cli, command).stdout
    section = said[said.index("Cards, nodes and kinds") : said.index("First divergence")].splitlines()
    assert "  pulled, by kind: 2, 2 significant" in section
    assert any(line.startswith("  white") and line.endswith("*") for line in section)
    data = json.loads(CliRunner().invoke(cli, [*command, "-o", "json"]).stdout)["gains"]
    assert {(each["measure"], each["name"]) for each in data} == {
        (measure, kind) for measure in ("on_heap", "pulled") for kind in ("white", "black")
    }
    assert {"a", "b", "difference", "low", "high", "size"} <= set(data[0]["times"])
    assert all(each["winner"] is None for each in data if each["measure"] == "on_heap"), "the heap is nobody's"
    page = Read(CliRunner().invoke(cli, [*command, "-o", "html"]).stdout)
    assert {"seats", "gains"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids)), "several charts are on one page"
    assert {"pulled, by kind: 2, 2 significant", "pulled, white"} <= set(page.words)


def test_full_shows_all(tmp_path: Path) -> None:
    """Nine kinds of pebbles have nine rows; five are shown at first. Names have what is left of 80 columns."""
    kinds = ", ".join(f"{colour}_{'pebble' * 5}: {{}}" for colour in "abcdefg")
    names = [
        str(changed(tmp_path / name, "family.yaml", "white: 9", f"white: 9, {kinds.format(*numbers)}") / "pebbles")
        for name, numbers in (("a", [3] * 7), ("b", range(2, 9)))
    ]
    command = ["compare", *(f"{name}/pebbles.yaml" for name in names), *PLAY]
    brief, full = (CliRunner().invoke(cli, [*command, *more]).stdout for more in ([], ["--full"]))
    assert re.search("pulled, by kind: 5 of 9, [1-9] significant", brief)
    assert brief.count("  --full shows all") == 1
    assert re.search("pulled, by kind: 9, [1-9] significant", full)
    assert "--full" not in full
    gained = full[full.index("Cards, nodes and kinds") : full.index("First divergence")]
    assert max(map(len, gained.splitlines()[3:])) == 80
    assert len(re.findall(r"^  [a-g] .* → .* ± .* → .* ± ", gained, re.MULTILINE)) >= 7


def test_equal_games_have_no_lines() -> None:
    said = CliRunner().invoke(cli, ["compare", str(PEBBLES), str(PEBBLES), *PLAY]).stdout
    assert "  pulled, by kind: 0 of 2, 0 significant\n\n" in said


def test_a_family_without_such_measures_is_told(tmp_path: Path) -> None:
    text = PEBBLES.with_name("family.yaml").read_text(encoding="utf-8")
    left = "".join(line for line in text.splitlines(True) if not line.startswith(("  on_heap: {", "  pulled: {")))
    other = changed(tmp_path, "family.yaml", text, left) / "pebbles" / "pebbles.yaml"
    said = CliRunner().invoke(cli, ["compare", str(other), str(other), *PLAY]).stdout
    assert "no measure of both sides is by a card, node or kind" in said
