"""Progress of long commands off a terminal: a line from time to time, of the same kind everywhere."""

from __future__ import annotations

import re
import runpy
from importlib.util import find_spec
from pathlib import Path
from time import sleep

import pytest

from interpreter.cli import progress
from tests.cli.conftest import Run
from tests.play.toy import changed

COUNTED = {
    "simulate": "simulate {ruleset} -n 40 --seed 1 --jobs 1",
    "simulate --round-robin": "simulate {ruleset} -n 40 --players 2 --seed 1 --jobs 1 --round-robin eager,random",
    "compare --games": "compare {ruleset} {other} --games 4 --seed 1 --jobs 1",
    "compare --each": "compare {ruleset} {other} --games 2 --seed 1 --jobs 1 --each",
    "compare --all": "compare --all {ruleset} {other}",
    "compare --all --games": "compare --all {ruleset} {other} --games 4 --jobs 1 --report {folder}/all.html",
    "whatif": "whatif {log} --at 0 --change most=1 -n 20 --seed 1",
    "bench": "bench {ruleset} --seconds 0.01 --rounds 1",
    "coverage --games": "coverage {example} --rulebook customs --games 3",
    "test": "test {scenarios}",
    "tune": "tune weighed --for {ruleset} --players 2 --seed 1 -n 2 --generations 2 --population 4 --check 2 --jobs 1",
    "verify": "verify {ruleset} -n 2",
}
NAMED = {
    "validate": "validate {ruleset}",
    "lint": "lint {ruleset}",
    "coverage --mutate": "coverage {example} --rulebook customs --mutate",
}
EXAMPLE = next((Path(__file__).parents[2] / "docs" / "examples" / "lantern-wharf").glob("*/lantern-wharf.yaml"))
SCENARIO = """
language: 2
scenarios: pebbles/of-mine
title: Of mine
is:
  - {name: it begins, ruleset: pebbles, players: 3, then: ["round == 1"]}
"""


@pytest.fixture
def names(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    folder = changed(tmp_path / "a", "family.yaml", "black: 6", "black: 7")
    path = changed(tmp_path / "b", "family.yaml", "otherwise 3", "otherwise 4") / "pebbles" / "pebbles.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("ruleset: pebbles", "ruleset: marbles"), encoding="utf-8")
    scenarios = folder / "pebbles" / "scenarios" / "of-mine.yaml"
    scenarios.parent.mkdir()
    scenarios.write_text(SCENARIO.lstrip(), encoding="utf-8")
    ruleset, log = str(folder / "pebbles" / "pebbles.yaml"), str(tmp_path / "game.jsonl")
    assert run("run", ruleset, "--seed", "1", "--log", log).exit_code == 0
    monkeypatch.setattr(progress, "EVERY", 0.0002)
    return {
        **{"ruleset": ruleset, "other": str(path), "log": log, "scenarios": str(scenarios), "folder": str(tmp_path)},
        "example": str(EXAMPLE),
    }


@pytest.mark.parametrize("call", COUNTED)
def test_counted_work_tells_how_much_is_done(call: str, names: dict[str, str], run: Run) -> None:
    if call == "tune" and find_spec("cma") is None:
        pytest.skip("needs `pip install 'regelwerk[tune]'`")
    told = run(*COUNTED[call].format(**names).split()).stderr
    assert re.search(r"^[^:]+: [\d,]+ of [\d,]+(, [\d,.]+/s, [\d,]+ s left)?$", told, re.MULTILINE), told


@pytest.mark.parametrize("call", NAMED)
def test_other_work_tells_what_it_looks_at(call: str, names: dict[str, str], run: Run) -> None:
    told = run(*NAMED[call].format(**names).split()).stderr
    assert re.search(r"^(checking|loading|looking (at|for)) \S+", told, re.MULTILINE), told


def test_a_line_comes_every_ten_seconds_whether_or_not_something_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert runpy.run_path(progress.__file__)["EVERY"] == 10
    monkeypatch.setattr(progress, "EVERY", 0.05)
    told: list[str] = []

    def wait_for(line: str) -> None:
        while not (told and re.fullmatch(line, told[-1])):
            sleep(0.01)
            told.extend(capsys.readouterr().err.splitlines())

    with progress.counting("games", 12_000, 2_000) as tell:
        wait_for("games: 2,000 of 12,000")
        tell(1_000)
        wait_for(r"games: 3,000 of 12,000, [\d,.]+/s, \d+ s left")
    capsys.readouterr()
    sleep(0.1)
    assert capsys.readouterr().err == ""


def test_quick_work_tells_nothing(names: dict[str, str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 60.0)
    assert run("simulate", names["ruleset"], "-n", "4", "--seed", "1", "--jobs", "1").stderr == ""
