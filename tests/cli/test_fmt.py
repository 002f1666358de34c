"""``regelwerk fmt``: what it writes, what it says, how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base import paths
from tests.cli.conftest import Run

CROOKED = "language: 1\nfamily: a\nround: [ b,c ]\n"
STRAIGHT = "language: 1\nfamily: a\nround: [b, c]\n"


@pytest.fixture
def crooked(tmp_path: Path) -> Path:
    (tmp_path / "straight.yaml").write_text(STRAIGHT, encoding="utf-8")
    (tmp_path / "crooked.yaml").write_text(CROOKED, encoding="utf-8")
    return tmp_path


def test_fmt_writes_and_has_nothing_to_do_then(run: Run, crooked: Path) -> None:
    result = run("fmt", str(crooked))
    assert (result.exit_code, result.stdout) == (0, f"formatted {crooked}/crooked.yaml\n")
    assert result.stderr == "2 files: 1 formatted, 1 unchanged\n"
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == STRAIGHT
    assert run("fmt", "--check", str(crooked)).exit_code == 0


def test_check_writes_nothing(run: Run, crooked: Path) -> None:
    result = run("fmt", "--check", str(crooked))
    assert (result.exit_code, result.stdout) == (1, f"would change {crooked}/crooked.yaml\n")
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == CROOKED


def test_diff(run: Run, crooked: Path) -> None:
    result = run("fmt", "--diff", str(crooked / "crooked.yaml"))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-2:] == ["-round: [ b,c ]", "+round: [b, c]"]
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == CROOKED
    assert run("fmt", "--diff", "--check", str(crooked)).exit_code == 1


def test_from_stdin(run: Run) -> None:
    assert run("fmt", "-", input=CROOKED).stdout == STRAIGHT
    assert run("fmt", "-", "--check", input=CROOKED).exit_code == 1
    assert run("fmt", "-", "a.yaml").exit_code == 2


def test_what_cannot_be_read_is_told_and_left(run: Run, crooked: Path) -> None:
    wrong = "language: 1\nfamily: a\nrules:\n  b: {is: 1 +}\n"
    (crooked / "wrong.yaml").write_text(wrong, encoding="utf-8")
    result = run("fmt", str(crooked))
    assert result.exit_code == 1
    assert "wrong.yaml:4:14: E201" in result.stderr
    assert (crooked / "wrong.yaml").read_text(encoding="utf-8") == wrong
    assert (crooked / "crooked.yaml").read_text(encoding="utf-8") == STRAIGHT
    assert run("fmt", str(crooked / "none.yaml")).exit_code == 1


def test_without_a_path_it_looks_at_all_rulesets(run: Run, crooked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "ruleset_roots", lambda: [crooked])
    assert "crooked.yaml" in run("fmt", "--check").stdout
