"""Tables stay inside 80 columns: those of every command, with long names too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import interpreter.cli as cli_package
from interpreter.cli.main import COMMANDS
from interpreter.pages.page import Grid
from interpreter.pages.text import lines_of
from tests.cli.conftest import Run
from tests.play.toy import ROOT, changed

CLI = Path(cli_package.__file__).parent
LONG = "pebbles-with-an-id-that-is-longer-than-anybody-would-like-to-type"
NO_TABLES = {
    "studio",
    "build",
    "engine",
    "fmt",
    "lint",
    "lsp",
    "new",
    "play",
    "rulebook",
    "serve",
    "test",
    "try",
    "tune",
    "validate",
}
"""Commands that print lines, messages and texts of files."""
CALLS = {
    "bench": ["bench {long} --seconds 0.001 --rounds 1", "bench {long} --seconds 0.001 --rounds 1 --baseline {kept}"],
    "compare": [
        "compare {long} {other}",
        "compare {long} {other} --full --games 4 --seed 1 --each --jobs 1",
        "compare {long} {other} --games 4 --seed 1 --jobs 1",
        "compare --all {long} {other}",
        "compare --all germany-2004 usa-2018 usa-2004 benelux-2018 russia-2004 quebec-2004 china-2004",
        "compare germany-2004 germany-2018 --full",
        "compare goofspiel germany-2018 --full",
    ],
    "coverage": ["coverage --rulebook konzern-2018"],
    "explain": ["explain {long} left", "explain germany-2018 GU-117", "explain {log} 5"],
    "help": ["help", "help E301"],
    "list": ["list"],
    "map": ["map germany-2018 --stats"],
    "replay": ["replay {log} --numbers"],
    "run": ["run {long} --seed 1", "run germany-2018 --players 6 --seed 1 --bots bench"],
    "show": [
        *("show {long}", "show {long} --layers", "show {long} --events", "show {long} --interpretations"),
        *("show {long} --chance", "show {long} --passes", "show {long} --policy eager"),
        *("show germany-2018", "show germany-2018 --events", "show germany-2018 --policy sensible"),
    ],
    "simulate": [
        "simulate {long} -n 4 --seed 1 --jobs 1",
        "simulate {long} --players 3 -n 4 --seed 1 --jobs 1 --round-robin eager,random,rare",
        "simulate germany-2018 --players 6 -n 4 --seed 1 --bots bench --jobs 1",
    ],
    "verify": ["verify {long} -n 1"],
    "whatif": ["whatif {log} --at 0 --change most=1 -n 3 --seed 1"],
}
SLOW = ("bench", "compare", "coverage")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The small ruleset under long names, with many measures and rounds; a game of it; figures of its speed."""
    folder = tmp_path_factory.mktemp("long")
    family = changed(folder, "family.yaml", "black: 6", "black: 60") / "pebbles" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    for name in ("pebbles", "on_heap", "pulled"):
        text = re.sub(rf"^  {name}: {{", f"  {name}_of_a_measure_with_a_long_name: {{", text, flags=re.MULTILINE)
    text = text.replace("columns: {white:", "columns: {the_white_ones_that_lie_on_the_heap_of_them_all: '0', white:")
    family.write_text(text, encoding="utf-8")
    path = folder / "pebbles" / "pebbles.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("ruleset: pebbles", f"ruleset: {LONG}"), encoding="utf-8")
    return {"long": str(path), "other": str(ROOT / "pebbles" / "pebbles.yaml"), "folder": str(folder / "new")}


@pytest.mark.parametrize(
    "command", [pytest.param(each, marks=pytest.mark.slow if each in SLOW else ()) for each in CALLS]
)
def test_tables_of_a_command_are_not_too_wide(
    command: str, names: dict[str, str], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = {**names, "log": str(tmp_path / "game.jsonl"), "kept": str(tmp_path / "kept.json")}
    if command in ("explain", "replay", "whatif"):
        run("run", names["long"], "--seed", "1", "--log", names["log"])
    if command == "bench":
        run("bench", names["long"], "--seconds", "0.001", "--rounds", "1", "--save", names["kept"])
    for call in CALLS[command]:
        result = run(*(word.format(**names) for word in call.split()))
        assert result.exit_code != 2, result.stderr
        assert [line for line in result.stdout.splitlines() if len(line) > 80 and "  " in line.strip()] == [], call


def aligned(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return list(lines_of([Grid(columns, rows)], 80))


def test_a_table_with_many_columns_is_folded() -> None:
    rows = [[f"player {seat}", *range(100, 125)] for seat in (1, 2)]
    lines = aligned(["", *map(str, range(1, 26))], rows)
    assert (lines[0].split()[-1], lines[1].split()[1], lines[3].split()[0]) == ("13", "1", "14")
    assert [line.split()[:2] for line in lines[4:]] == [["player", "1"], ["player", "2"]]
    assert max(map(len, lines)) <= 80
    assert aligned(["-", "-", "-"], [["a", "to be wrapped " * 9, "b"]])[1:] == [
        "a  to be wrapped to be wrapped to be wrapped to be wrapped to be wrapped to    b",
        "   be wrapped to be wrapped to be wrapped to be wrapped",
    ]


def test_words_stay_whole_where_there_is_room() -> None:
    path, text = "a/path/that/is/long/and/has/no/blanks.yaml:12:5", "a text of many words"
    lines = aligned(["-", "-", "-"], [[path, f"{text} {text}", text]])[1:]
    assert (lines[0].partition("  ")[0], len(lines), max(map(len, lines)) <= 80) == (path, 3, True)
    lines = aligned(["-", "-"], [[path, path]])[1:]
    assert (lines[0].split("  ")[0], len(lines), max(map(len, lines))) == (path, 2, 80)


def test_one_function_lays_out_all_tables() -> None:
    """Others pad what is no table: figures as they come, and names before texts."""
    padding = {path.name for path in CLI.rglob("*.py") if re.search(r"\.[lr]just\(", path.read_text(encoding="utf-8"))}
    assert padding == {"bench.py", "new.py"}


def test_every_command_is_looked_at() -> None:
    assert {*CALLS, *NO_TABLES} == {*COMMANDS}
