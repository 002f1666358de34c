"""The program as a process: what it loads, and how it ends when nobody reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.play.toy import ROOT

TOP = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TOP), "REGELWERK_PATH": str(ROOT), "NO_COLOR": "1"}
HEAVY = {"click", "yaml", "lark", "jsonschema", "referencing", "rich", "platformdirs"}


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return done.stdout


def loaded(*arguments: str) -> set[str]:
    """The heavy modules that a command has loaded."""
    out = python(f"""
import sys
from interpreter.cli.main import main
sys.argv = ["regelwerk", *{list(arguments)!r}]
try:
    main()
except SystemExit:
    pass
print("loaded", *sorted({{name.partition(".")[0] for name in sys.modules}}))
""")
    return HEAVY & set(out.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["play", "--help"], ["bench", "--help"]]
)
def test_help_loads_nothing_but_click(arguments: list[str]) -> None:
    assert loaded(*arguments) == {"click"}


def test_the_list_reads_files_and_checks_none() -> None:
    assert loaded("list") == {"click", "yaml"}


def process(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "interpreter", *arguments],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("arguments", [["run", "pebbles", "--seed", "1"], ["list"], ["help"]])
def test_a_reader_that_goes_away_ends_it_quietly(arguments: list[str]) -> None:
    running = process(*arguments)
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.close()
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["list"], 0),
        (["run", "pebbles", "--players", "9"], 1),
        (["validate", "pebbles/others"], 1),
        (["run", "pebbles", "--set", "most=0"], 2),
        (["simulate"], 2),
    ],
)
def test_exit_status(arguments: list[str], code: int) -> None:
    running = process(*arguments)
    _, errors = running.communicate()
    assert "Traceback" not in errors
    assert running.returncode == code


def test_rows_are_written_without_a_word_of_the_library(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    running = process("simulate", "pebbles", "-n", "2", "--seed", "1", "--rows", str(tmp_path / "games.parquet"))
    assert (running.communicate()[1], running.returncode) == ("", 0)


@pytest.mark.skipif(os.name != "posix", reason="closes a file by its number")
def test_a_closed_stdout_ends_it_quietly() -> None:
    command = [sys.executable, "-m", "interpreter", "list"]
    ended = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], env=ENVIRONMENT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_log_is_kept_to_the_end_though_nobody_reads(tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    running = process("run", "germany-2018", "--players", "3", "--seed", "1", "--log", str(log))
    assert running.stdout is not None
    running.stdout.readline()
    running.stdout.close()
    running.wait(timeout=60)
    assert '"places"' in log.read_text(encoding="utf-8").splitlines()[-1]
