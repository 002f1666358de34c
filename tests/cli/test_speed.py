"""Speed of the author's loop: processor time of the commands that are run after each edit of a map.

The limits of the project are 0.5 s for ``validate``, 1 s for ``test``, 5 s (cold) and 1 s (warm) for ``lint``. Here
they are wider, as machines differ and others run beside the tests: a failure means work that is done several times.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from interpreter.base.diagnostics import Diagnostic
from interpreter.reading.files import Document, Shelf
from tests.cli.conftest import Run
from tests.cli.test_process import ENVIRONMENT

SLACK = 4
SCENARIOS = """
language: 2
scenarios: power-grid/my-town
title: My town
is:
  - {name: money at the start, ruleset: my-town-2018, players: 3, then: ["seats[0].money == 50"]}
"""


@pytest.fixture
def town(run: Run, tmp_path: Path) -> Path:
    """A map of the size of Germany's, in a folder of its own."""
    assert run("new", "map", "my-town", "--for", "germany-2018", "--in", str(tmp_path)).exit_code == 0
    (tmp_path / "power-grid/scenarios").mkdir()
    (tmp_path / "power-grid/scenarios/my-town.yaml").write_text(SCENARIOS.lstrip())
    return tmp_path / "power-grid/maps/my-town.yaml"


def seconds(folder: Path, *arguments: str) -> float:
    """Processor time of a command of its own, with what it kept in earlier runs."""
    environment = {**ENVIRONMENT, "REGELWERK_CACHE": str(folder / "kept"), "REGELWERK_PATH": str(folder)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "interpreter", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
def test_commands_after_an_edit_of_a_map_are_quick(town: Path) -> None:
    folder = town.parents[2]
    map_, scenarios = (str(path.relative_to(folder)) for path in (town, town.parents[1] / "scenarios/my-town.yaml"))
    assert seconds(folder, "lint", map_) < 5 * SLACK
    assert seconds(folder, "lint", map_) < 1 * SLACK
    for command, limit, title in (("validate", 0.5, "An edit"), ("test", 1, "Another edit")):
        lines = [f"title: {title}" if line.startswith("title: ") else line for line in town.read_text().splitlines()]
        town.write_text("\n".join(lines) + "\n")
        assert seconds(folder, command, map_ if command == "validate" else scenarios) < limit * SLACK


def misspelt(text: str) -> str:
    """Text with a letter more in every name that is called or has a member: hundreds of unknown names."""
    return re.sub(r"(?<=[ (-])([a-z_]+)(?=[(.][a-z)])", r"\1q", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("validate", "power-grid/policies/sensible.yaml"),
        ("validate", "power-grid/family.yaml"),
        ("lint", "outpost/family.yaml"),
        ("lint", "power-grid/family.yaml"),
    ],
)
@pytest.mark.parametrize("change", [str, misspelt], ids=["whole", "misspelt"])
def test_checks_of_a_large_family_take_a_minute_and_a_gigabyte_at_most(
    tmp_path: Path, command: str, path: str, change: Callable[[str], str]
) -> None:
    """As `docs/security.md` promises, with an empty cache. A second of the project's machine may be several here."""
    shutil.copytree(Path("rulesets"), tmp_path / "rulesets")
    file = tmp_path / "rulesets" / path
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    environment = {
        **ENVIRONMENT,
        "REGELWERK_CACHE": str(tmp_path / "kept"),
        "REGELWERK_PATH": str(tmp_path / "rulesets"),
    }
    words = [sys.executable, "-m", "interpreter", command, str(file)]
    running = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ended, most = 0, 0
    while not ended:
        with suppress(OSError):  # what the system tells at its end counts the memory of its parent, too
            peak = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{running.pid}/status").read_text(encoding="ascii"))
            most = max(most, int(peak[1]) if peak is not None else 0)
        ended, status, used = os.wait4(running.pid, os.WNOHANG)
        time.sleep(0.02)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == (change is misspelt)
    assert used.ru_utime + used.ru_stime < 60
    assert (most or used.ru_maxrss) < 1_000_000, "kilobytes"


@pytest.mark.parametrize(("command", "said"), [("validate", "no errors"), ("lint", "nothing found")])
def test_maps_of_other_rulesets_are_not_read_for_a_map(
    run: Run, town: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    """Nor are scenarios: the map has no rules that one could show, or that another file could have too."""
    read: set[tuple[str, str]] = set()
    original = Shelf.read

    def noted(self: Shelf, kind: str, id: str, *asked: Any) -> tuple[Document | None, list[Diagnostic]]:
        read.add((kind, id))
        return original(self, kind, id, *asked)

    monkeypatch.setattr(Shelf, "read", noted)
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    assert said in run(command, str(town)).stdout
    assert {each for each in read if each[0] in ("map", "scenarios")} == {("map", "power-grid/my-town")}


def test_shipped_files_are_not_looked_at_for_ones_own_ruleset(
    run: Run, town: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(town.parents[2])
    for arguments in ((), ("power-grid/maps/my-town.yaml",)):
        assert json.loads(run("lint", *arguments, "-o", "json").stdout)["rulesets"] == ["my-town-2004", "my-town-2018"]
