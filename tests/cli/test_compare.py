"""What `compare` tells first: a summary of at most 25 lines, and all of it on demand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from interpreter.compare.comparable import Compared
from interpreter.compare.differences import differences
from interpreter.compare.largest import largest
from interpreter.loading.load import load
from tests.cli.conftest import Run
from tests.play.toy import ROOT, changed

PEBBLES = str(ROOT / "pebbles" / "pebbles.yaml")
PLAY = ("--games", "3", "--seed", "1", "--jobs", "1", "--players", "3")


def many_phases(folder: Path, more: int) -> str:
    """The small ruleset with forty phases with long names, each of which compares with another number."""
    phases = [f"a_phase_with_a_rather_long_name_{number}" for number in range(40)]
    family = changed(folder, "family.yaml", "round: [pulling]", f"round: [pulling, {', '.join(phases)}]")
    rules = "".join(
        f"  {name}:\n    does: |\n      for each who in sitting:\n        if left() == {number + more}:\n"
        "          note took(who, 0)\n"
        for number, name in enumerate(phases)
    )
    path = family / "pebbles" / "family.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("rules:\n", f"rules:\n{rules}", 1), encoding="utf-8")
    return str(family / "pebbles" / "pebbles.yaml")


def numbers(lines: list[str]) -> int:
    """Sum of the numbers behind the titles of chapters."""
    return sum(int(each) for line in lines for each in re.findall(r"(?<=  )\d+(?=  |$)", line))


@pytest.mark.parametrize(
    "names",
    [("germany-2004", "germany-2018"), ("germany-2018", "bsw-usa"), ("outpost", "outpost+konzern"), ()],
    ids=lambda names: " ".join(names) or "many phases",
)
def test_a_long_comparison_begins_with_a_summary(names: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    if not names:
        names = many_phases(tmp_path / "a", 0), many_phases(tmp_path / "b", 50)
    brief, full = run("compare", *names), run("compare", *names, "--full")
    lines = brief.stdout.splitlines()
    rows = json.loads(run("compare", *names, "-o", "json").stdout)["rows"]
    assert lines[0].endswith(f": {len(rows)} differences")
    assert len(lines) <= 25
    assert max(map(len, lines[1:])) <= 80
    assert numbers(lines[2 : lines.index("The largest differences in play") - 1]) == len(rows)
    assert len(lines[lines.index("The largest differences in play") :]) == 6
    assert brief.stderr == f"--full lists all {len(rows)} differences\n"
    assert full.stdout.startswith(brief.stdout)
    assert len(full.stdout.splitlines()) > 5 * len(lines) / 2
    assert full.stderr == ""


def test_with_games_the_largest_effects_come_first(run: Run) -> None:
    told = run("compare", "germany-2004", "germany-2018", *PLAY)
    first = told.stdout.splitlines()[:25]
    table = first[first.index("Effects on play") + 4 : first.index("Who wins") - 1]
    sizes = [abs(float(line.split("  ")[-1].strip(" *").replace("∞", "inf"))) for line in table]
    assert (len(sizes), sizes) == (5, sorted(sizes, reverse=True))
    assert "The largest differences in play" not in first
    assert numbers(first[2 : first.index("Effects on play") - 1]) == 51
    assert "first order 3 wins, %" in told.stdout
    assert re.search(r"^  3 of 3 games differ in the first decision already: rules\.\w+$", told.stdout, re.MULTILINE)
    assert "100%" not in told.stdout
    assert re.search(r"^--full lists all \d+ differences and every effect$", told.stderr, re.MULTILINE)
    full = run("compare", "germany-2004", "germany-2018", *PLAY, "--full").stdout
    assert len(full[full.index("Effects on play") : full.index("Who wins")].splitlines()) > 15


def test_games_are_for_a_number_of_players_that_both_allow(run: Run) -> None:
    """The Konzern plays with two."""
    names = "germany-2018", "germany-2018+power-grid/konzern"
    assert run("compare", *names, "--games", "2").exit_code == 0


def test_a_short_comparison_is_told_at_once(run: Run, tmp_path: Path) -> None:
    other = str(changed(tmp_path, "family.yaml", "black: 6", "black: 4") / "pebbles" / "pebbles.yaml")
    told = run("compare", PEBBLES, other)
    assert told.stdout.splitlines()[1:] == ["", "What the box holds", "  pebble.black  6  →  4"]
    assert told.stderr == ""
    assert run("compare", PEBBLES, other, "--full").stdout == told.stdout


def test_families_that_differ_are_said_to_differ(run: Run) -> None:
    told = run("compare", "goofspiel", "germany-2018")
    assert re.fullmatch(
        r"goofspiel → germany-2018: different families \(goofspiel and power-grid\), \d+ differences\n", told.stdout
    )
    assert len(run("compare", "goofspiel", "germany-2018", "--full").stdout.splitlines()) > 100


def test_the_largest_differences_have_most_words_of_their_own() -> None:
    a, b = (Compared(load(id)) for id in ("germany-2004", "germany-2018"))
    found = largest(differences(a, b), ("old", "new"))
    assert [each.size for each in found] == sorted((each.size for each in found), reverse=True)
    by_name = {each.name: each for each in found}
    assert len(by_name) == len(found)
    limit = by_name["plant_limit"]
    assert (limit.kind, limit.chapter, limit.short) == ("table", "Auction", "players 2: 4 → 3")
    assert by_name["stage_3_leaves"].size > by_name["minimum_bid"].size > limit.size
    assert by_name["unsold_leaves"].short.startswith("only new")


def test_a_layer_without_description_is_not_told_by_what_it_covers(tmp_path: Path) -> None:
    path = tmp_path / "power-grid/overlays/half.yaml"
    path.parent.mkdir(parents=True)
    half = "    is: base(who, city) div 2\n"
    path.write_text(
        "language: 2\noverlay: power-grid/half\nover: [power-grid]\n"
        f"rules:\n  place_price:\n    wraps: power-grid\n    when: round == 1\n{half}",
        encoding="utf-8",
    )
    plain, halved = Compared(load("germany-2018")), Compared(load("germany-2018", [str(path)]))
    for a, b in ((plain, halved), (halved, plain)):
        (found,) = largest(differences(a, b), ("old", "new"))
        assert found.short == "where round == 1: base(who, city) div 2"
