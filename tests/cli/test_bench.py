"""The command that measures: what it tells, keeps and compares. How fast anything is, is not tested here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interpreter.reading.files import shelf_for
from interpreter.simulate.baseline import FIGURES, read_report
from interpreter.simulate.throughput import Sample, Subject
from tests.cli.conftest import Run
from tests.instructions import SUBJECTS, Counts
from tests.play.toy import ROOT, changed

TOP = Path(__file__).parents[2]
SHORT = ("--seconds", "0.001", "--rounds", "1")
SAMPLES: dict[tuple[str, int, str], Sample] = {}
SPEEDS, TIMES = ("games", "decisions", "applied"), ("clone", "undo", "digest", "load", "setup")


@pytest.fixture(autouse=True)
def no_other_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh process and the loop that is the measure of the machine take a second each, as does the cycle collector
    among all that tests share: one test has them."""
    if request.node.get_closest_marker("fresh") is None:
        monkeypatch.setattr(Subject, "fresh", lambda self: (0.5, 40_000))
        monkeypatch.setattr("interpreter.simulate.throughput.calibration", lambda: 0.01)


@pytest.fixture
def measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure each table once: these tests are about what is compared."""
    sample, known = Subject.sample, SAMPLES

    def once(self: Subject, seconds: float) -> Sample:
        key = self.title, self.players, self.policy
        return known.get(key) or known.setdefault(key, sample(self, seconds))

    monkeypatch.setattr(Subject, "sample", once)


def kept(run: Run, folder: Path, change: Callable[[dict[str, Any]], None]) -> str:
    """Figures that were kept, with something changed."""
    path = folder / "kept.json"
    assert run("bench", "pebbles", *SHORT, "--save", str(path)).exit_code == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


def slower(times: float) -> Callable[[dict[str, Any]], None]:
    """The figures of a slower (or faster) package on the same machine."""

    def change(data: dict[str, Any]) -> None:
        for row in data["rows"]:
            for name in row["relative"]:
                row["relative"][name] *= 1 / times if name in SPEEDS else times

    return change


def test_a_table(run: Run) -> None:
    result = run("bench", "pebbles", "goofspiel", "--players", "2", "--players", "3", *SHORT)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[::3] == [
        "ruleset, players, bot",
        *("pebbles, 2 players, random", "pebbles, 3 players, random"),
        *("goofspiel, 2 players, bench", "goofspiel, 3 players, bench"),
    ]
    head, *rows = [
        re.findall(r"\S+(?: \S+)?", "  ".join(lines[start : start + 2])) for start in range(1, len(lines), 3)
    ]
    assert head == [figure.title for figure in FIGURES.values()]
    assert all(len(row) == len(head) and all(float(cell) > 0 for cell in row) for row in rows)


def test_each_row_is_told_when_it_is_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ruleset that cannot be measured does not take away what was."""
    result = run("bench", "pebbles", "nowhere", *SHORT)
    assert (result.exit_code, result.stdout.count("pebbles")) == (1, 1)


@pytest.mark.fresh
def test_as_json_with_a_fresh_process(run: Run) -> None:
    data = json.loads(run("bench", "pebbles", *SHORT, "-o", "json").stdout)
    (row,) = data["rows"]
    assert (row["ruleset"], row["players"], row["policy"], data["rounds"]) == ("pebbles", 4, "random", 1)
    assert set(row["figures"]) == {*SPEEDS, *TIMES, "free", "rounds", "memory"}
    assert set(row["relative"]) == {*SPEEDS, *TIMES}
    assert all(value > 0 for value in (*row["figures"].values(), *row["relative"].values(), data["calibration"]))
    assert "changes" not in data


def test_all_that_allow_the_number(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from interpreter.reading.files import Shelf

    wider = str(changed(tmp_path, "plain.yaml", "2..4", "2..5") / "pebbles" / "pebbles.yaml")
    monkeypatch.setattr(Shelf, "ids", lambda self, kind: ["pebbles", wider] if kind == "ruleset" else [])
    result = run("bench", "--players", "5", *SHORT, "-o", "json")
    assert [row["players"] for row in json.loads(result.stdout)["rows"]] == [5]
    assert result.stderr == "pebbles: not for 5 players\n"
    assert run("bench", "--players", "19", *SHORT).exit_code == 2


def test_what_cannot_be_measured(run: Run) -> None:
    result = run("bench", "pebbles", "--players", "5", *SHORT)
    assert (result.exit_code, "is for 2 to 4 players" in result.stderr) == (1, True)
    result = run("bench", "pebbles", "--bots", "egaer", *SHORT)
    assert (result.exit_code, "unknown bot `egaer`; did you mean `eager`?" in result.stderr) == (2, True)
    result = run("bench", "pebbles", "--bots", "stubborn", *SHORT)
    assert (result.exit_code, "leaves `draw` without a choice" in result.stderr) == (1, True)
    assert run("bench", "pebbles", "--seconds", "0").exit_code == 2
    result = run("bench", "--with", "robots:2", *SHORT)
    assert (result.exit_code, "go with the name of a ruleset" in result.stderr) == (2, True)
    result = run("bench", "nowhere", *SHORT)
    assert (result.exit_code, "`nowhere`" in result.stderr) == (1, True)


@pytest.mark.parametrize("policy", ["moody", "polite"])
def test_any_policy(run: Run, policy: str) -> None:
    """Also one that the module cannot choose by at some decision: the plain form does."""
    result = run("bench", "pebbles", "--bots", policy, *SHORT, "-o", "json")
    assert (json.loads(result.stdout)["rows"][0]["policy"], result.stderr) == (policy, "")


@pytest.mark.usefixtures("measured_once")
def test_nothing_is_worse(run: Run, tmp_path: Path) -> None:
    result = run("bench", "pebbles", *SHORT, "--baseline", kept(run, tmp_path, slower(1000)))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("0 of 11 figures worse by more than 15 %\n")


@pytest.mark.usefixtures("measured_once")
def test_something_is_worse(run: Run, tmp_path: Path) -> None:
    path = kept(run, tmp_path, slower(1 / 1000))
    result = run("bench", "pebbles", *SHORT, "--baseline", path)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[7].split()[:4] == ["ruleset", "players", "figure", "before"]
    worse = {line.split()[2] for line in lines if line.endswith("worse")}
    assert worse == {"games/s", "decisions/s", "applied/s", "clone", "undo", "digest", "load", "set-up"}
    assert lines[-1] == "8 of 11 figures worse by more than 15 %"
    result = run("bench", "pebbles", *SHORT, "--baseline", path, "-o", "json")
    changes = {change["figure"]: change for change in json.loads(result.stdout)["changes"]}
    assert (result.exit_code, changes["games"]["worse"], changes["rounds"]["worse"]) == (1, True, False)
    assert changes["games"]["percent"] < -15 < 15 < changes["clone"]["percent"]
    assert changes["memory"]["percent"] == 0


@pytest.mark.usefixtures("measured_once")
def test_a_slower_machine_is_no_change_for_the_worse(run: Run, tmp_path: Path) -> None:
    """Only what is relative to the calibration is compared."""

    def change(data: dict[str, Any]) -> None:
        slower(1000)(data)
        for name in SPEEDS:
            data["rows"][0]["figures"][name] *= 1_000_000

    assert run("bench", "pebbles", *SHORT, "--baseline", kept(run, tmp_path, change)).exit_code == 0


@pytest.mark.usefixtures("measured_once")
def test_what_is_not_the_same(run: Run, tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        slower(1000)(data)
        data["python"] = "3.0"
        data["rows"][0]["figures"]["free"] += 1

    path = kept(run, tmp_path, change)
    result = run("bench", "pebbles", "--players", "4", "--players", "2", *SHORT, "--baseline", path)
    told = result.stderr.splitlines()
    assert told[0] == "pebbles, 2 players, random: nothing to compare with"
    assert told[1].startswith("the baseline was measured with Python 3.0, these figures with 3.")
    assert told[2] == "pebbles: games have another length than in the baseline, so games a second are not comparable"
    assert result.exit_code == 0


@pytest.mark.parametrize("text", ["", "a list", "[]", '{"report": 1}', '{"report": 1, "rows": [{}]}', '{"report": 9}'])
def test_a_file_that_keeps_no_figures(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    result = run("bench", "pebbles", *SHORT, "--baseline", str(path))
    assert (result.exit_code, str(path) in result.stderr, result.stdout) == (2, True, "")


def test_the_figures_that_are_kept_here() -> None:
    """Of all that is shipped: `regelwerk bench --save docs/performance.json` writes them anew. `python -m
    tests.instructions --save` adds those of the simulated processor."""
    text = (TOP / "docs" / "performance.json").read_text(encoding="utf-8")
    kept = read_report(text)
    assert [set(row) for row in json.loads(text)["instructions"].values()] == [set(Counts._fields)] * len(SUBJECTS)
    shipped = shelf_for().ids("ruleset")
    assert {row["ruleset"].partition(" with ")[0] for row in kept["rows"]} <= set(shipped)
    assert all(row["relative"].keys() < FIGURES.keys() == row["figures"].keys() for row in kept["rows"])


def test_a_ruleset_by_its_path(run: Run, tmp_path: Path) -> None:
    result = run("bench", str(ROOT / "pebbles" / "pebbles.yaml"), *SHORT, "-o", "json")
    assert json.loads(result.stdout)["rows"][0]["ruleset"] == "pebbles"
    root = changed(tmp_path, "family.yaml", "heap[kind] >= number", "haep[kind] >= number")
    result = run("bench", str(root / "pebbles" / "pebbles.yaml"), *SHORT)
    assert (result.exit_code, "E301 unknown name `haep`" in result.stderr) == (1, True)


def test_measuring_leaves_games_as_they_are(toy_subject: Subject) -> None:
    """The form in which games run is the same afterwards, and so are the games."""
    before = toy_subject.ruleset.new_game(2, 5)
    form = toy_subject.table.runner.plain
    toy_subject.package(0.001)
    toy_subject.sample(0.001)
    after = toy_subject.ruleset.new_game(2, 5)
    assert toy_subject.table.runner.plain == form
    assert before.digest() == after.digest()
    assert before.decision is not None
    assert after.decision is not None
    assert list(map(str, before.decision.options)) == list(map(str, after.decision.options))


def test_both_loops_play_whole_games(toy_subject: Subject) -> None:
    ticks = iter(range(100))
    own = toy_subject.package(5, lambda: next(ticks))  # calls of 1, 2, 4, 4 and 2 games: as many as should fit
    for speed, games in ((own, 13), (toy_subject.applied(5, lambda: next(ticks)), 5)):
        assert (speed.games, speed.seconds, speed.repeated) == (games, 5, 0)
        assert speed.decisions >= speed.rounds >= speed.games


def test_the_length_of_games_is_always_the_same(toy_subject: Subject) -> None:
    again = Subject("pebbles", 2, ruleset=toy_subject.ruleset)
    assert again.lengths == toy_subject.lengths
    assert again.lengths[0] > again.lengths[1] > 1


def test_from_python(toy_subject: Subject) -> None:
    speed = toy_subject.package(0.001)
    assert speed.games_a_second * speed.seconds == pytest.approx(speed.games)
    assert all(spent > 0 for spent in toy_subject.moments().values())
    with pytest.raises(ValueError, match="unknown bot"):
        Subject("pebbles", 2, "egaer", toy_subject.ruleset)


@pytest.fixture
def toy_subject(monkeypatch: pytest.MonkeyPatch) -> Subject:
    monkeypatch.setenv("REGELWERK_PATH", str(ROOT))
    return Subject("pebbles", 2)
