"""``regelwerk verify``: what it tells and keeps. What it finds is in tests/testing/test_verify.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def heap(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new game in which the last stones cannot be taken."""
    monkeypatch.chdir(tmp_path)
    run("new", "game", "heap", "--in", ".")
    family = tmp_path / "heap" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    wrong = text.replace("require number <= heap\n", "require number <= heap and heap > 4\n")
    assert wrong != text
    family.write_text(wrong, encoding="utf-8")
    return "heap/heap.yaml"


def test_a_finding_for_programs_and_its_scenario_in_a_file(run: Run, heap: str) -> None:
    result = run("verify", heap, "-n", "2", "-p", "2", "-o", "json", "--write", "heap/scenarios")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["ruleset"], data["file"]) == ("heap", "heap/scenarios/verify-heap-1.yaml")
    (finding,) = data["findings"]
    assert (finding["kind"], finding["players"]) == ("dead end", 2)
    assert finding["place"].startswith("heap/family.yaml:")
    assert finding["scenario"] in Path(data["file"]).read_text(encoding="utf-8")
    kept = run("test", data["file"])
    assert (kept.exit_code, kept.stdout.splitlines()[-1]) == (1, "0 passed, 1 failed")


def test_what_was_left_out_is_told(run: Run) -> None:
    result = run("verify", "goofspiel", "--time", "0", "-n", "3")
    assert result.exit_code == 0
    checked, *skipped = result.stderr.splitlines()
    assert checked.startswith("checked closely: ")
    assert "of 0 decisions, 0 pairs of games; more with --games or --time" in checked
    assert skipped == ["skipped: 3 games, since the time of 0 s was over"]
    data = json.loads(run("verify", "goofspiel", "-n", "2", "-o", "json").stdout)
    assert data["skipped"] == []
    assert 0 < data["closely"] < data["decisions"]
    assert data["pairs"] > 0


def test_rules_that_came_into_play_are_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("new", "game", "heap", "--in", ".")
    family = Path("heap/family.yaml")
    never = "        if heap < 0:\n          give_back(who)\n"
    back = "  give_back(who):\n    does: before = 0\n\n"
    text = family.read_text(encoding="utf-8")
    changed = text.replace("        if heap > 0:\n", f"{never}        if heap > 0:\n").replace(
        "  most:\n", f"{back}  most:\n"
    )
    family.write_text(changed.replace("{number: int}", "{number: int, who: seat}"), encoding="utf-8")
    data = json.loads(run("verify", "heap/heap.yaml", "-n", "4", "-o", "json").stdout)
    assert (data["rules"], data["unplayed"], data["findings"]) == (5, ["give_back"], [])
    assert "rules in play: 4 of 5 (80 %)" in run("verify", "heap/heap.yaml", "-n", "4").stderr.splitlines()


def test_without_a_finding_nothing_is_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("verify", "goofspiel", "-n", "1", "-o", "json", "--write", "kept")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["games"], data["file"], data["findings"]) == (0, 1, None, [])
    assert not Path("kept").exists()
