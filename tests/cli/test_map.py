"""`regelwerk map`: pictures to stdout and files, games, figures, and what is refused."""

from __future__ import annotations

import json
import struct
import sys
from collections import Counter
from pathlib import Path

import pytest

import interpreter
from tests.cli.conftest import Run
from tests.drawing.seen import seen

ISLES = str(Path(__file__).parents[1] / "cases" / "building" / "isles.yaml")
PNG = b"\x89PNG\r\n\x1a\n"


def test_an_svg_goes_to_stdout_or_to_a_file(run: Run, tmp_path: Path) -> None:
    shown = run("map", ISLES)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert len(seen(shown.stdout).discs) == 6
    file = tmp_path / "isles.SVG"
    written = run("map", ISLES, str(file))
    assert written.stdout == ""
    assert written.stderr == f"{file}: Huts on isles, 6 nodes, 6 links\n"
    assert file.read_text(encoding="utf-8") == shown.stdout == run("map", ISLES, "-").stdout


def test_a_png_is_twice_as_large(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    file = tmp_path / "isles.png"
    assert run("map", ISLES, str(file)).exit_code == 0
    data = file.read_bytes()
    assert data.startswith(PNG)
    width, height = struct.unpack(">II", data[16:24])
    drawn = seen(run("map", ISLES).stdout)
    assert (width, height) == (pytest.approx(2 * drawn.width, abs=1), pytest.approx(2 * drawn.height, abs=1))


def test_without_resvg_a_png_is_refused_with_a_remedy(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    monkeypatch.setattr(sys, "executable", "/opt/my games/bin/python")
    file = tmp_path / "isles.png"
    result = run("map", ISLES, str(file))
    assert result.exit_code == 1
    remedy = "'/opt/my games/bin/python' -m pip install 'regelwerk[png]'"
    assert result.stderr == f"Error: a PNG needs resvg: `{remedy}`; an SVG needs nothing\n"
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["goofspiel"], 1, "Error: `goofspiel` has no graph to draw"),
        (["goofspiel", "--stats"], 1, "Error: `goofspiel` has no graph"),
        (["germny-2018"], 1, "did you mean `germany-2018`?"),
        ([ISLES, "isles.pdf"], 2, "got `isles.pdf`, want a file that ends in .svg, .png, .csv, "),
        ([ISLES, "isles"], 2, "got `isles`, want a file that ends in .svg, .png, .csv, "),
        ([ISLES, "isles.svg", "--stats"], 2, "--stats goes to stdout, not to a file"),
        ([ISLES, "-o", "json"], 2, "-o json goes with --stats"),
        ([ISLES, "--first", "3"], 2, "--first goes with --stats"),
        ([ISLES, "--stats", "--first", "0"], 2, "got `0`, want a number from 1 to 12"),
        ([ISLES, "/no/such/folder/isles.svg"], 1, "Error: /no/such/folder/isles.svg: no such file or directory"),
        (["nothing.jsonl"], 2, "nothing.jsonl: no such file"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], code: int, message: str) -> None:
    result = run("map", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_a_board_that_breaks_laws_is_drawn_and_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path))
    lines = ["language: 2", "map: power-grid/tiny", "title: Tiny", "kinds: {region: [north, south]}"]
    lines += [
        "nodes: |",
        "  name | region",
        "  A | north",
        "  B | south",
        "links: |",
        "  from | to | cost",
        "  A | B | 3",
    ]
    (tmp_path / "power-grid" / "maps").mkdir(parents=True)
    (tmp_path / "power-grid" / "maps" / "tiny.yaml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    result = run("map", "tiny-2018")
    assert result.exit_code == 0
    assert len(seen(result.stdout).discs) == 2
    assert "tiny.yaml:4:9: E414 `regions_in_play` breaks its law `enough_regions`" in result.stderr
    lines[-1] = "  A | C | 3"
    (tmp_path / "power-grid" / "maps" / "tiny.yaml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert (run("map", "tiny-2018").exit_code, run("map", "tiny-2018").stdout) == (1, "")


def test_a_folder_cannot_be_written(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    result = run("map", ISLES, str(folder))
    assert (result.exit_code, result.stderr) == (1, f"Error: {folder}: is a directory\n")


def test_the_pieces_of_a_kept_game(run: Run, tmp_path: Path) -> None:
    """As many pieces of each seat as the game itself counts, at its end and after some choices."""
    log = str(tmp_path / "game.jsonl")
    run("run", "germany-2018", "--players", "3", "--seed", "5", "--log", log)
    drawn = []
    for where in (log, f"{log}@150"):
        built = json.loads(run("try", where, "[count(network(who)) for who in seats]", "-o", "json").stdout)["value"]
        found = seen(run("map", where).stdout)
        assert Counter(number for number, _ in found.pieces) == Counter(
            {str(seat + 1): count for seat, count in enumerate(built) if count}
        )
        assert [words for words in found.legend if words.startswith("player")] == ["player 1", "player 2", "player 3"]
        assert found.overlaps() == []
        drawn.append(sum(built))
    assert drawn[0] > drawn[1] > 0


def test_each_piece_stands_where_it_was_built(run: Run, tmp_path: Path) -> None:
    log = str(tmp_path / "game.jsonl")
    run("run", "usa-2018", "--players", "4", "--seed", "2", "--log", log)
    expression = "[count(p in c.places where p.piece != none) for c in city]"
    built = json.loads(run("try", log, expression, "-o", "json").stdout)["value"]
    found = seen(run("map", log).stdout)
    there = [
        sum((x - left) ** 2 + (y - top) ** 2 < radius**2 for _, (x, y) in found.pieces)
        for _, (left, top), radius, _ in found.discs
    ]
    assert there == built
    assert sum(built) > 20


def test_a_save_is_a_kept_game(run: Run, tmp_path: Path) -> None:
    game = interpreter.load("germany-2018").new_game(players=3, seed=5)
    for _ in range(60):
        assert game.decision is not None
        game.apply(game.decision.options[0])
    file = tmp_path / "game.json"
    file.write_text(game.to_json(), encoding="utf-8")
    answer = run("try", str(file), "[count(network(who)) for who in seats]", "-o", "json")
    built = json.loads(answer.stdout)["value"]
    assert len(seen(run("map", str(file)).stdout).pieces) == sum(built)
    assert ": 60 choices, all the same, not finished" in run("replay", str(file)).stdout


# --- figures


def test_figures_as_text(run: Run) -> None:
    assert run("map", ISLES, "--stats", "--first", "3").stdout.splitlines() == [
        "Huts on isles",
        "  6 nodes in one piece; 6 links, 2.0 at each isle, 6.5 long on average",
        "  diameter: 30, Ask – Far Rock",
        "  bridges: Dun – Insel Ö (2), Insel Ö – Far Rock (20)",
        "",
        "  isle      links  mean distance  longest  first 3  which are",
        "  Col           2            7.6       23        3  Dun, Insel Ö",
        "  Dun           3            7.6       22        3  Col, Insel Ö",
        "  Insel Ö       2            8.4       20        3  Dun, Col",
        "  Bo            2            9.2       27        5  Col, Dun",
        "  Ask           2           11.6       30        7  Bo, Col",
        "  Far Rock      1           24.4       30       22  Insel Ö, Dun",
    ]


def test_figures_as_json(run: Run) -> None:
    data = json.loads(run("map", ISLES, "--stats", "-o", "json").stdout)
    assert {key: data[key] for key in ("nodes", "links", "parts", "length", "total", "first")} == {
        "nodes": 6,
        "links": 6,
        "parts": 1,
        "length": "cost",
        "total": 39,
        "first": 7,
    }
    assert data["bridges"][0] == {"from": "Dun", "to": "Insel Ö", "length": 2}
    ask = data["rows"][0]
    assert ask["distances"] == {"Bo": 3, "Col": 7, "Dun": 8, "Insel Ö": 10, "Far Rock": 30}
    assert ask["first"] == {"length": 30, "exact": True, "nodes": ["Ask", "Bo", "Col", "Dun", "Insel Ö", "Far Rock"]}


def test_figures_of_a_shipped_map(run: Run) -> None:
    """Seven of the east of the USA, counted on the board: 0 + 3 + 5 + 3 + 7 + 0."""
    data = json.loads(run("map", "usa-2018", "--stats", "-o", "json").stdout)
    first = next(row["first"] for row in data["rows"] if row["name"] == "New York")
    want = {"New York", "Philadelphia", "Washington", "Norfolk", "Raleigh", "Savannah", "Jacksonville"}
    assert (set(first["nodes"]), first["length"]) == (want, 18)


def test_dealt_lengths_are_those_of_the_kept_game(run: Run, tmp_path: Path) -> None:
    """Before cards are dealt onto the links, none has a length."""
    figures = json.loads(run("map", "outpost", "--stats", "-o", "json").stdout)
    assert (figures["length"], figures["total"]) == (None, figures["links"])
    kept = tmp_path / "kept.jsonl"
    run("run", "outpost", "-p", "3", "--seed", "2", "--log", str(kept))
    figures = json.loads(run("map", str(kept), "--stats", "-o", "json").stdout)
    assert figures["length"] == "cost"
    assert figures["total"] > figures["links"]
    assert run("map", str(kept)).exit_code == 0
