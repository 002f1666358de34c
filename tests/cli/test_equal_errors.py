"""Many errors that say the same: a few are shown, the others counted, in every output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interpreter.base.diagnostics import MOST_ALIKE, Diagnostic, RulesetError, few, rendered
from interpreter.serve.hall import errors_of
from tests.cli.conftest import Run
from tests.play.toy import changed

MANY = 41
UNKNOWN = "unknown name `haep`; did you mean `heap`?"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return the path of a ruleset in which one name is misspelt many times."""
    misspelt = "\n".join(["heap[kind] >= number", *["      require count(haep) > 0"] * MANY])
    root = changed(tmp_path, "family.yaml", "heap[kind] >= number", misspelt)
    text = '{name: a, ruleset: pebbles, players: 2, then: ["count(heap) == 15"]}'
    scenarios = root / "pebbles" / "scenarios" / "some.yaml"
    scenarios.parent.mkdir()
    scenarios.write_text(f"language: 2\nscenarios: pebbles/some\nis:\n  - {text}\n", encoding="utf-8")
    return str(root / "pebbles" / "pebbles.yaml")


def test_what_says_the_same_is_counted() -> None:
    one, other = Diagnostic("E301", UNKNOWN, None), Diagnostic("E301", "unknown name `x`", None)
    kept = few([one, other, *[one] * MOST_ALIKE, other, Diagnostic("E302", UNKNOWN, None)])
    assert [(d.code, d.message, d.more) for d in kept] == [
        ("E301", one.message, 0),
        ("E301", other.message, 0),
        *[("E301", one.message, number == 2) for number in range(1, MOST_ALIKE)],
        ("E301", other.message, 0),
        ("E302", one.message, 0),
    ]
    assert few(few([one] * 9)) == few([one] * 9)
    assert rendered([one] * MOST_ALIKE) == [f"E301 {UNKNOWN}"] * MOST_ALIKE


@pytest.mark.parametrize("command", ["run", "show", "simulate", "test", "lint", "validate", "rulebook"])
def test_equal_errors_are_counted_in_text(run: Run, path: str, command: str) -> None:
    result = run(command, str(Path(path).parent) if command == "test" else path)
    assert result.exit_code == 1
    assert result.output.count(UNKNOWN) == MOST_ALIKE
    assert result.output.count(f"   note: {MANY - MOST_ALIKE} more like this\n") == 1
    if command != "test":
        assert f"{MANY} errors; `regelwerk help E301` explains the first\n" in result.output


def test_equal_errors_are_counted_as_data(run: Run, path: str) -> None:
    for command in ("validate", "test"):
        data = json.loads(run(command, str(Path(path).parent), "-o", "json").stdout)
        alike = [each["more"] for each in data["diagnostics"] if each["message"] == UNKNOWN]
        assert alike == [0] * (MOST_ALIKE - 1) + [MANY - MOST_ALIKE]
    assert json.loads(run("validate", path, "-o", "json").stdout)["errors"] == MANY
    lines = run("validate", path, "-o", "github").stdout.splitlines()
    assert [line.endswith(f" ({MANY - MOST_ALIKE} more like this)") for line in lines] == [False, False, True]


def test_equal_errors_are_counted_on_pages() -> None:
    error = RulesetError(Diagnostic("E301", f"{UNKNOWN}", None) for _ in range(2))
    assert len(error.diagnostics) == 1, "at one place, they are the same"
    error.diagnostics *= MANY
    assert len(errors_of(error)) == MOST_ALIKE
    assert errors_of(error)[-1].endswith(f"{MANY - MOST_ALIKE} more like this")


def test_equal_findings_are_counted(run: Run, tmp_path: Path) -> None:
    rules = "".join(f"  spare_{n}() -> int: |\n    {n}  # {'x' * 120}\n" for n in range(9))
    path = str(changed(tmp_path, "family.yaml", "rules:\n", f"rules:\n{rules}") / "pebbles" / "pebbles.yaml")
    data = json.loads(run("lint", path, "-o", "json").stdout)
    assert [each["more"] for each in data["findings"] if each["code"] == "L012"] == [0, 0, 6]
    assert data["found"] == len(data["findings"]) + 6
    text = run("lint", path).stdout
    assert "   note: 6 more like this\n" in text
    assert f"\n{data['found']} found; `regelwerk help {data['findings'][0]['code']}` explains the first\n" in text
