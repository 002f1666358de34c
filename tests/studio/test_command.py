"""The command `studio`: its folder, its options, and what it tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from interpreter.cli.main import cli


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command would serve."""
    found: dict[str, Any] = {}
    monkeypatch.setattr(
        "interpreter.cli.commands.studio.run", lambda *values, **named: found.update(named, values=values)
    )
    return found


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["studio", *arguments], prog_name="regelwerk")


def test_a_folder_is_made_beside_others(tmp_path: Path, served: dict[str, Any]) -> None:
    data = ("--data", str(tmp_path / "tables.sqlite"))
    result = call(str(tmp_path / "mine"), *data, "--no-browser")
    assert (result.exit_code, result.stderr) == (0, f"created the folder `{tmp_path / 'mine'}`\n")
    assert served["path"].startswith("/?key=")
    assert served["browser"] is False
    assert f"files in {tmp_path / 'mine'}" in served["values"]
    far = call(str(tmp_path / "none" / "mine"), *data)
    assert (far.exit_code, (tmp_path / "none").exists()) == (2, False)
    assert "there is no folder" in far.stderr


def test_options_of_the_static_site_go_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "go with --export" in call("--wheels", str(tmp_path)).stderr
    asked: list[object] = []
    monkeypatch.setattr("interpreter.studio.export.export", lambda folder, **how: asked.append((folder, how["wheels"])))
    result = call("--export", str(tmp_path / "site"), "--wheels", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert asked == [(tmp_path / "site", tmp_path)]


def test_a_folder_that_is_no_authors_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("interpreter.studio.workbench.MOST_ENTRIES", 1)
    for name in "abc":
        (tmp_path / name).touch()
    result = call(str(tmp_path))
    assert result.exit_code == 1
    assert "too many files" in result.stderr
