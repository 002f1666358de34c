"""Commands without arguments in the folder of an author, who has rulesets of his own beside those shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ELSEWHERE = "skipped: the scenarios of other folders; `regelwerk test --all` runs all scenarios\n"


def test_scenarios_of_the_current_folder_are_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("new", "map", "my-town", "--for", "germany-2018", "--in", ".")
    none = run("test")
    assert (none.exit_code, none.stdout, none.stderr) == (
        1,
        "this folder has no scenarios; `regelwerk test --record RULESET --to FILE` writes one\n",
        ELSEWHERE,
    )
    run("new", "game", "heap", "--in", ".")
    for folder in (".", "heap", "heap/scenarios"):
        monkeypatch.chdir(tmp_path / folder)
        found = run("test")
        assert (found.exit_code, found.stdout, found.stderr) == (0, "2 passed\n", ELSEWHERE)
    monkeypatch.chdir(tmp_path)
    few = json.loads(run("test", "-k", "nonsense", "-o", "json").stdout)
    assert few["skipped"] == ["2 scenarios that do not match `nonsense`", ELSEWHERE.strip().removeprefix("skipped: ")]
    assert run("test", "heap", "--all").exit_code == 2


def test_without_files_of_ones_own_all_scenarios_are_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    few = run("test", "-k", "F-04")
    assert few.exit_code == 0
    assert few.stderr.startswith("skipped: ")
    assert "that do not match `F-04`" in few.stderr
    assert "other folders" not in few.stderr


def test_files_of_the_current_folder_are_checked(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of other kinds, such as those of a forge, are none of them."""
    monkeypatch.chdir(tmp_path)
    run("new", "game", "heap", "--in", ".")
    (tmp_path / "other.yaml").write_text("on: push\n", encoding="utf-8")
    for folder in (".", "heap"):
        monkeypatch.chdir(tmp_path / folder)
        checked = run("validate")
        assert checked.stdout == "5 files, 1 ruleset, no errors\n"
        assert checked.stderr == ("skipped: files of other folders; `regelwerk validate --all` checks all files\n")
    data = json.loads(run("validate", "-o", "json").stdout)
    assert (data["rulesets"], len(data["skipped"])) == (["heap"], 1)
    linted = json.loads(run("lint", "-o", "json").stdout)
    assert (linted["rulesets"], linted["elsewhere"]) == (["heap"], True)
    for command in ("validate", "lint"):
        assert run(command, "heap", "--all").exit_code == 2
