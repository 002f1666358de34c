"""What a browser runs, run by Node: the package under Pyodide, with Python 3.14 and the modules of JavaScript."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interpreter.studio import persistent

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDERS = ("base", "kernel", "reading", "language")
MODULES = ("test_builtins.py", "test_resident.py")
"""Tests of modules beside the plain form: values, choices, undo, copies, failures."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, pyodide: Path) -> Any:
    """A function that runs a program under Pyodide and returns what it prints."""
    folder, bytecode = tmp_path_factory.mktemp("packages"), tmp_path_factory.mktemp("bytecode")
    for wheel in pyodide.glob("*.whl"):
        shutil.unpack_archive(wheel, folder, "zip")
    shutil.copy(persistent.__file__, folder / "rpds.py")
    site = Path(pytest.__file__).parents[1]

    def run(program: str, *arguments: str) -> str:
        places = [pyodide, HERE / program, bytecode, ROOT, folder, site]
        command = ["node", str(HERE / "run.mjs"), *map(str, places), "--", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    return run


@pytest.fixture
def hypothesis(pyodide: Path) -> None:
    """Tests that need a wheel of hypothesis, which a copy of what the studio needs does not have."""
    if not list(pyodide.glob("hypothesis-*.whl")):
        pytest.skip(f"{pyodide} has no wheel of hypothesis")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "players", "bots", "games"),
    [("germany-2018", "4", "bench", "1000"), ("goofspiel", "3", "sensible", "50"), ("outpost", "2", "random", "20")],
)
def test_games_are_those_played_here(node: Any, name: str, players: str, bots: str, games: str) -> None:
    here = subprocess.run(
        [sys.executable, str(HERE / "games.py"), name, players, bots, games], capture_output=True, cwd=ROOT, check=True
    )
    told, wanted = json.loads(node("games.py", name, players, bots, games)), json.loads(here.stdout)
    assert wanted["compiled"]
    assert told == wanted


@pytest.mark.slow
def test_unit_tests_pass_with_the_python_of_a_browser(node: Any, hypothesis: None) -> None:
    node("units.py", *(str(ROOT / "tests" / folder) for folder in FOLDERS))


@pytest.mark.slow
def test_modules_of_javascript_pass_the_tests_of_modules(node: Any, hypothesis: None) -> None:
    node("units.py", *(str(ROOT / "tests" / "compiler" / name) for name in MODULES))
