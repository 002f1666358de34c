"""Many rulesets beside each other: boards in figures, games in means, and the page of a family."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from interpreter.bots.registry import bots_of
from interpreter.cli.family_matrix import nearest
from interpreter.cli.main import cli
from interpreter.compare.graph_figures import Distances, network_of
from interpreter.compare.side_by_side import boards_of, means_of
from interpreter.loading.load import load
from interpreter.pages.text import lines_of
from interpreter.reading.files import shelf_for
from interpreter.simulate.simulation import WholeGames
from interpreter.simulate.summary import summed_up
from interpreter.simulate.totals import Totals, totalled
from tests.pages.reading import Read
from tests.play.toy import ROOT, changed
from tests.serve.served import browser

LINE = Distances(((0, 5, 6, None), (5, 0, 1, None), (6, 1, 0, None), (None, None, None, 0)), (5, 1), False)
"""Three nodes in a row, the second and third close together, and one that no way leads to."""


@pytest.mark.parametrize(("size", "length"), [(1, 0), (2, 1), (3, 6), (4, None)])
def test_a_network_grows_to_the_nearest_node(size: int, length: int | None) -> None:
    assert network_of(LINE, size) == length


def test_a_board_is_measured_once() -> None:
    (japan,) = boards_of([load("japan-2004"), load("japan-2018")])
    assert [ruleset.id for ruleset in japan.rulesets] == ["japan-2004", "japan-2018"]
    assert (japan.title, japan.figures.nodes, japan.figures.links) == ("Japan", 35, 53)
    assert list(japan.networks) == sorted(length for length in japan.networks if length is not None)


def test_rulesets_without_a_graph_have_no_board() -> None:
    assert boards_of([load("goofspiel")]) == []


def test_means_are_taken_over_players_and_rounds() -> None:
    curve = [{"round": 1, "games": 4, "mean": 10.0}, {"round": 2, "games": 1, "mean": 20.0}]
    summary: Any = {
        "rounds": {"mean": 7.5},
        "measures": {"money": [{"mean": 10.0}, {"mean": 30.0}], "left": {"mean": None}},
        "curves": {"money": [], "price": [{"name": "coal", "rounds": curve}]},
        "tables": {
            "first": [{"of": {}, "share": 0.25, "numbered": True}],
            "place": [{"of": {"place": n}, "share": s, "numbered": True} for n, s in ((1, 0.75), (2, 0.25))],
            "by_plant": [{"of": {"plant": key}, "share": 0.5, "numbered": False} for key in (3, "sun")],
        },
    }
    found = means_of(summary)
    assert found.end == {
        "rounds": 7.5,
        "money": 20.0,
        "first wins, %": 25.0,
        "place 1 wins, %": 75.0,
        "place 2 wins, %": 25.0,
    }
    assert found.rounds == {"price, coal": 12.0}


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    other = changed(tmp_path, "family.yaml", "black: 6", "black: 4") / "pebbles" / "pebbles.yaml"
    names = [str(ROOT / "pebbles" / "pebbles.yaml"), str(other)]
    report = tmp_path / "all.html"
    options = ["--games", "4", "--players", "2", "--seed", "1", "--jobs", "1", "--bots", "random"]
    result = CliRunner().invoke(cli, ["compare", "--all", *names, *options, "--report", str(report)])
    assert result.exit_code == 0, result.output
    read = Read(report.read_text(encoding="utf-8"))
    assert {"games", "at-the-end-of-games", "differences"} <= set(read.ids)
    assert "4 games of each, 2 players by the bot random, seeds 1 to 4" in report.read_text(encoding="utf-8")
    again = CliRunner().invoke(cli, ["compare", "--all", *names, *options, "-o", "html"])
    assert again.stdout == report.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def boards_page() -> str:
    command = "compare --all germany-2004 germany-2018 japan-2004 japan-2018 -n 2 -p 3 --jobs 1 --seed 1 -o html"
    result = CliRunner().invoke(cli, command.split())
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_page_draws_each_board_once_and_names_rulesets(boards_page: str) -> None:
    read = Read(boards_page)
    assert re.findall(r"<figcaption>(.*?)</figcaption>", boards_page) == [
        "Germany (board of 2004): 42 nodes, 83 links. Rulesets: Germany (second edition).",
        "Germany (board of 2018): 42 nodes, 83 links. Rulesets: Germany (rules of 2018).",
        "Japan: 35 nodes, 53 links. Rulesets: Japan (second edition), Japan (rules of 2018).",
    ]
    assert boards_page.count("<svg xmlns=") == 3
    assert len(read.ids) == len(set(read.ids)), "the masks of two boards have different ids"
    assert all(f"#{id}" in boards_page for id in read.ids if id.startswith("land"))
    assert not re.search(r"germany-20|japan-20", boards_page), "rulesets are called by their titles"


def test_boards_stand_side_by_side_in_the_order_of_reading(boards_page: str, tmp_path: Path) -> None:
    path = tmp_path / "boards.html"
    path.write_text(boards_page, encoding="utf-8")
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        first, second, third = (each.bounding_box() for each in page.query_selector_all("figure.board"))
    assert first["y"] == second["y"] < third["y"]
    assert first["x"] == third["x"] < second["x"]


def test_bars_show_numbers_as_parts_of_the_largest(boards_page: str) -> None:
    table = boards_page[boards_page.index('id="boards"') : boards_page.index('id="drawings"')]
    assert '<th scope="col" class="number">longest distance</th>' in table
    cells = re.findall(
        r'<td class="number"><svg class="bar" width="([\d.]+)%" aria-hidden="true"></svg>([\d.]+)</td>', table
    )
    assert [cell for cell in cells if cell[1] in ("92", "170")] == [("54.1", "92"), ("54.1", "92"), ("100.0", "170")]


def test_columns_are_sorted_by_mouse_and_keyboard(boards_page: str, tmp_path: Path) -> None:
    """The page is a file; without scripts it has the same tables."""
    path = tmp_path / "boards.html"
    path.write_text(boards_page, encoding="utf-8")
    assert "<button" not in boards_page[boards_page.index("<table") :]
    with browser() as running:
        page, wrong = running.new_page(), []
        page.on("pageerror", lambda error: wrong.append(error))
        page.goto(path.as_uri())

        def column(number: int) -> tuple[list[str], str | None]:
            head = page.locator("#boards thead th").nth(number)
            rows = page.locator("#boards tbody tr").all()
            return [row.locator("th, td").nth(number).inner_text() for row in rows], head.get_attribute("aria-sort")

        assert column(4) == (["92", "92", "170"], None)
        page.get_by_role("button", name="longest distance").focus()
        page.keyboard.press("Enter")
        assert column(4) == (["170", "92", "92"], "descending")
        page.keyboard.press("Space")
        assert column(4) == (["92", "92", "170"], "ascending")
        page.locator("#boards").get_by_role("button", name="board").click()
        assert (column(0)[0][0], column(0)[1], column(4)[1]) == ("Germany (board of 2004)", "ascending", None)
        page.locator("#boards").get_by_role("button", name="board").click()
        assert (column(0)[0][0], column(0)[1]) == ("Japan", "descending")
        assert wrong == []


BOARDS = re.findall(
    r"^\| ([^|]+) \| ([\d.]+), (\d+) \| (\d+), (\d+), (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$",
    (Path(__file__).parents[2] / "docs" / "boards.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize("name", ["germany", "middle-east", "baden-wuerttemberg"])
@pytest.mark.slow
def test_the_page_about_boards_has_their_figures(name: str) -> None:
    """Each line has those of the board in its newest edition, and those of games of every edition."""
    ids = [id for id in (f"{name}-2004", f"{name}-2018", f"bsw-{name}") if shelf_for(None).find("ruleset", id)]
    rulesets = [load(id) for id in ids if not (id.startswith("bsw") and len(ids) > 1)]
    board = boards_of(rulesets)[-1]
    title = board.title.split(" (")[0]
    (line,) = [line for line in BOARDS if line[0] == title]
    distances = f"{board.figures.mean_distance:.1f}", str(board.figures.longest_distance)
    assert line[1:6] == (*distances, *map(str, board.networks))
    found: dict[str, list[str]] = {
        "rounds": [],
        "scarcity": [],
        "first_order 1 wins, %": [],
        "first_order 4 wins, %": [],
    }
    for ruleset in (ruleset.for_players(4) for ruleset in rulesets):
        totals = Totals()
        for part in totalled(WholeGames(ruleset, bots_of("sensible", ruleset, 4)), range(1, 501)):
            totals += part
        means = means_of(summed_up(ruleset, ["sensible"] * 4, totals))
        for measure, numbers in found.items():
            number = {**means.end, **means.rounds}[measure]
            numbers.append(f"{number:.1f} %" if measure.endswith("%") else f"{number:.1f}")
    assert line[6:] == tuple(map(", ".join, found.values()))


def test_a_number_of_players_that_a_ruleset_refuses_is_told(tmp_path: Path) -> None:
    command = "compare --all goofspiel japan-2004 -n 2 -p 6 --jobs 1 -o html"
    result = CliRunner().invoke(cli, command.split())
    assert result.exit_code == 0, result.output
    assert "Goofspiel is not played: " in result.stdout


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Four rulesets: one, and three copies that differ from it and from each other in one to three numbers."""
    names = [str(ROOT / "pebbles" / "pebbles.yaml")]
    for place, id in enumerate(("marbles", "stones", "shells"), 1):
        folder = tmp_path_factory.mktemp(id)
        changed(folder, "family.yaml", "black: 6", f"black: {6 + place}")
        path = folder / "pebbles" / "pebbles.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("ruleset: pebbles", f"ruleset: {id}"), "utf-8")
        names.append(str(path))
    return names


def test_a_matrix_that_fits_shows_all_pairs(members: list[str]) -> None:
    result = CliRunner().invoke(cli, ["compare", "--all", *members], env={"COLUMNS": "40"})
    assert result.stdout.splitlines()[2:] == [
        "            1    2    3",
        "1  pebbles  ·",
        "2  marbles  0/1  ·",
        "3  stones   0/1  0/1  ·",
        "4  shells   0/1  0/1  0/1",
    ]
    assert result.stderr == ""


def test_a_matrix_that_is_too_wide_shows_the_nearest_rulesets(members: list[str]) -> None:
    result = CliRunner().invoke(cli, ["compare", "--all", *members], env={"COLUMNS": "24"})
    _, blank, *lines = result.stdout.splitlines()
    assert (blank, lines) == (
        "",
        [
            "         nearest",
            "pebbles  marbles 0/1",
            "marbles  pebbles 0/1",
            "stones   pebbles 0/1",
            "shells   pebbles 0/1",
        ],
    )
    assert result.stderr == "only the nearest are shown; all 6 pairs: -o json, or a page with --report FILE\n"
    data = json.loads(CliRunner().invoke(cli, ["compare", "--all", *members, "-o", "json"]).stdout)
    assert [(pair["a"], pair["b"]) for pair in data][-1] == ("stones", "shells")
    assert len(data) == 6


def test_no_line_of_a_large_matrix_is_wider_than_the_terminal() -> None:
    ids = [f"board-number-{number}-of-the-family" for number in range(39)]
    counts = {(x, y): (y - x, 2 * (y - x)) for y in range(39) for x in range(y)}
    lines = list(lines_of([nearest(ids, counts, 80)], 80))
    assert len(lines) == 40
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == [ids[0], ids[1], "1/2"]


def test_games_are_played_for_a_page_alone() -> None:
    result = CliRunner().invoke(cli, ["compare", "--all", "japan-2004", "japan-2018", "--games", "5"])
    assert result.exit_code == 2
    assert "--report FILE or -o html" in result.output
