"""``regelwerk coverage`` for rulesets of an author's own, in a folder that nothing else names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run

POND = Path(__file__).parent.parent / "bad/_base/pond"


@pytest.fixture
def pond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a game that follows a rulebook: P-01 and P-03 are cited by what its family declares, P-02 not."""
    shutil.copytree(POND, tmp_path / "pond")
    monkeypatch.chdir(tmp_path)
    _change(tmp_path / "pond/editions/classic.yaml", "players:", "rulebook: pond\nplayers:")
    _change(tmp_path / "pond/family.yaml", "    cites: [P-02]\n", "")
    return tmp_path / "pond"


def _change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def _counts(run: Run, *arguments: str) -> tuple[int, int, list[str]]:
    result = run("coverage", *arguments, "-o", "json")
    (book,) = json.loads(result.stdout)
    return book["counted"], book["cited"], [each["id"] for each in book["uncited"]]


@pytest.mark.parametrize("named", ["--ruleset=pond", "--ruleset=pond/pond.yaml", "--rulebook=pond"])
def test_statements_of_the_folder_are_counted(run: Run, pond: Path, named: str) -> None:
    assert _counts(run, named) == (3, 2, ["P-02"])


def test_what_a_part_or_the_head_of_a_file_cites_is_cited(run: Run, pond: Path) -> None:
    _change(pond / "maps/lake.yaml", "kinds:", "cites: [P-02]\nkinds:")
    assert _counts(run, "--ruleset=pond") == (3, 3, [])
    text = (
        "parts:\n  high:\n    when: water > 1\n    cites: [P-02]\n    rules:\n      leap_cost:\n        wraps: pond\n"
        "        is: base(who, place)\n"
    )
    _change(pond / "maps/lake.yaml", "cites: [P-02]\n", text)
    assert _counts(run, "--ruleset=pond") == (3, 3, [])
    assert "Turn up the topmost card" in run("rulebook", "pond").stdout


def test_a_scenario_for_what_nothing_cites_is_no_more_than_all(run: Run, pond: Path) -> None:
    (pond / "scenarios").mkdir()
    (pond / "scenarios/all.yaml").write_text(
        "language: 2\nscenarios: pond/all\nis:\n"
        "  - {name: all, ruleset: pond, players: 2, cites: [P-01, P-02, P-03], then: [water == 1]}\n",
        encoding="utf-8",
    )
    assert "shown    2  100 %" in run("coverage", "--ruleset", "pond").stdout


def test_a_scenario_that_cannot_be_read_is_not_left_out(run: Run, pond: Path) -> None:
    (pond / "scenarios").mkdir()
    (pond / "scenarios/all.yaml").write_text("language: 2\nscenarios: pond/all\nis: [{name: all}\n", encoding="utf-8")
    result = run("coverage", "--ruleset", "pond")
    assert (result.exit_code, "scenarios/all.yaml:3:5: E001" in result.stderr) == (1, True)


def test_nothing_found_is_an_error(run: Run, pond: Path) -> None:
    _change(pond / "statements/pond.csv", ",pond,", ",another,")
    result = run("coverage", "--ruleset", "pond")
    assert result.exit_code == 1
    assert "no statements of the rulebook `pond` found in `<family>/statements/*.csv`" in result.stderr
    _change(pond / "editions/classic.yaml", "rulebook: pond\n", "")
    result = run("coverage", "--ruleset", "pond")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: `pond` follows no rulebook; `rulebook` of an edition names one\n",
    )


@pytest.mark.parametrize("named", ["pond", "pond/pond.yaml"])
def test_a_ruleset_may_be_named_without_the_option(run: Run, pond: Path, named: str) -> None:
    assert _counts(run, named) == (3, 2, ["P-02"])
    assert run("coverage", named, "--ruleset", "pond").exit_code == 2


@pytest.mark.parametrize("arguments", [["--rulebook", "pond"], []])
def test_all_rulesets_that_follow_a_book_are_looked_at_wherever_they_stand(
    run: Run, pond: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    names = ["pond", *(f"pond-{number}" for number in range(4))]
    text = (pond / "pond.yaml").read_text(encoding="utf-8")
    for name in names:
        (pond / f"{name}.yaml").write_text(text.replace("ruleset: pond\n", f"ruleset: {name}\n"), encoding="utf-8")
    outside = run("coverage", *arguments, "-o", "json").stdout
    (book,) = json.loads(outside)
    assert (book["rulebook"], book["rulesets"]) == ("pond", names)
    monkeypatch.setenv("REGELWERK_PATH", str(pond.parent))
    assert run("coverage", *arguments, "-o", "json").stdout == outside
    monkeypatch.chdir(pond)
    assert run("coverage", *arguments, "-o", "json").stdout == outside
    if arguments:
        monkeypatch.chdir("/")
        assert run("coverage", *arguments, "-o", "json").stdout == outside


def test_who_asks_for_a_book_that_no_ruleset_here_follows_is_told_how_to_name_one(run: Run, pond: Path) -> None:
    result = run("coverage", "--rulebook", "meadow")
    assert result.exit_code == 2
    assert "name a ruleset of another book by its path: --ruleset PATH" in " ".join(result.stderr.split())


def test_a_book_of_an_overlay_that_no_scenario_plays_needs_a_scenario(run: Run, pond: Path) -> None:
    head = "language: 2\noverlay: pond/tide\ntitle: Tide\nover: [pond]\nrulebook: tide\n"
    (pond / "overlays").mkdir()
    (pond / "overlays/tide.yaml").write_text(head, encoding="utf-8")
    result = run("coverage", "--rulebook", "tide")
    assert result.exit_code == 1
    wanted = "no scenario plays `pond/tide`, for `tide`: write one with `with: [pond/tide]`"
    assert wanted in " ".join(result.stderr.split())


ISLANDS = POND.parents[3] / "docs/examples/islands/power-grid"


def test_of_a_board_of_ones_own_the_own_book_is_told(run: Run) -> None:
    path = str(ISLANDS / "skerries-2018.yaml")
    books = json.loads(run("coverage", path, "-o", "json").stdout)
    assert [book["rulebook"] for book in books] == ["skerries"]
    (book,) = json.loads(run("coverage", path, "--rulebook", "germany-usa-2018", "-o", "json").stdout)
    assert book["rulebook"] == "germany-usa-2018"  # who asks for another one has it
