"""Answers kept between runs are those that a run without them gives, whatever changes in between."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interpreter.authoring import validator
from interpreter.authoring.validation import validate
from interpreter.base import paths
from interpreter.base.diagnostics import Diagnostic, rendered, unique
from interpreter.base.source import SourceFile
from interpreter.engine import answers as kept
from interpreter.engine import cache as caches
from interpreter.engine.answers import Answers, kept_answers
from interpreter.loading import pipeline
from interpreter.loading.pipeline import Examined
from interpreter.reading.dependencies import looked_at
from interpreter.reading.files import Document, Shelf
from interpreter.reading.unsaved_files import unsaved
from tests.cli.conftest import Run

TOP = Path(__file__).parents[2]

FILES = {
    "overlays/deep.yaml": "overlay: pond/deep\nover: [pond]\nrules:\n  fewest:\n    wraps: pond\n    is: base() + 1\n",
    "overlays/dry.yaml": "overlay: pond/dry\nover: [pond/classic]\nrules:\n  dry() -> int: 1\n",
    "overlays/wet.yaml": "overlay: pond/wet\nover: [pond]\nstate:\n  puddles: {value: int, start: 0}\n",
    "policies/calm.yaml": "policies: pond/calm\nis:\n  calm:\n    hop: {prefer: any}\n",
    "scenarios/all.yaml": "scenarios: pond/all\nis:\n  - {name: a, ruleset: pond, players: 2, then: [water == 1]}\n",
    "waivers.yaml": "waivers: pond\nis:\n  - {id: P-03, reason: as A-01 says}\n",
    "words/de.yaml": 'words: pond/de\nis:\n  blew: "Der Wind bringt {card}"\n',
}
"""Files of a family beside those of every case in `tests/bad`."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGELWERK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def pond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """The folder of a family with files of all kinds, the only one that there is."""
    root = tmp_path / "own"
    shutil.copytree(TOP / "tests/bad/_base", root)
    for name, text in FILES.items():
        added(f"{name}", f"language: 2\n{text}")(root / "pond")
    replaced("family.yaml", "    laws:\n", "    laws:\n      - start_shells[2] > fewest()\n")(root / "pond")
    replaced("family.yaml", "\nrules:\n", "\nrules:\n  fewest() -> int: 3\n")(root / "pond")
    monkeypatch.setattr(paths, "sources", lambda: [paths.Root(root, "test")])
    monkeypatch.chdir(tmp_path)
    return root / "pond"


# --- one answer -------------------------------------------------------------------------------------------------------


def asked(path: Path, found: object = "new") -> object:
    """The answer to a question about a file."""

    def find() -> object:
        looked_at("file", path)
        return found

    with kept_answers("test") as answers:
        return answers.to(("what",), find)


def test_an_answer_is_kept_until_a_file_changes(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    assert [asked(path, 1), asked(path, 2)] == [1, 1]
    path.write_text("two")
    assert [asked(path, 3), asked(path, 4)] == [3, 3]
    path.write_text("one")
    assert asked(path, 5) == 5


def test_what_changed_while_it_was_found_is_not_kept(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a"

    def find() -> int:
        for text in ("one", "two"):
            path.write_text(text)
            looked_at("file", path)
        return 1

    def inner() -> int:
        with kept_answers("inner") as answers:
            return answers.to((), find)

    for expected in (1, 2):
        with kept_answers("test") as answers:
            assert answers.to((), inner if expected == 1 else lambda: 2) == expected
        path.write_text("two")


def test_positions_are_kept(tmp_path: Path, cache: Path) -> None:
    found = Diagnostic("E301", "unknown", SourceFile("a.yaml", "some text").at(5, 4))
    assert [asked(tmp_path, found), asked(tmp_path)] == [found, found]


def test_unsaved_texts_are_seen_and_never_stored(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    assert asked(path, 1) == 1
    with unsaved({path: "two"}):
        assert [asked(path, 2), asked(path, 3)] == [2, 3]
    with unsaved({path: "one"}):
        assert asked(path, 4) == 1
    assert asked(path, 5) == 1


def test_two_runs_at_once_keep_what_both_found(tmp_path: Path, cache: Path) -> None:
    with kept_answers("test") as one, kept_answers("test") as two:
        assert one.to(("a",), lambda: 1) == 1
        assert two.to(("b",), lambda: 2) == 2
    with kept_answers("test") as answers:
        assert [answers.to((name,), lambda: 3) for name in "ab"] == [1, 2]


def test_threads_may_store_at_once(tmp_path: Path, cache: Path) -> None:
    def ask(number: int) -> int:
        with kept_answers("test") as answers:
            return answers.to((str(number % 5),), lambda: number % 5)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(40))) == [number % 5 for number in range(40)]


def test_a_damaged_entry_counts_as_missing(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a"
    assert asked(path, 1) == 1
    (entry,) = cache.glob("*.kept")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert [asked(path, 2), asked(path, 3)] == [2, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such modes there")
def test_a_folder_that_cannot_be_written_to_keeps_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left on device")

    path = tmp_path / "a"
    assert asked(path, 1) == 1
    path.write_text("one")
    monkeypatch.setattr(os, "replace", full)
    assert [asked(path, 2), asked(path, 3)] == [2, 3]
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    assert [asked(path, 4), asked(path, 5)] == [4, 5]


def test_the_oldest_answers_go_first(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_ANSWERS", 2)
    for name in "abc":
        with kept_answers("test") as answers:
            answers.to((name,), lambda: 1)
    with kept_answers("test") as answers:
        assert [answers.to((name,), lambda: 2) for name in "cba"] == [1, 1, 2]


# --- validation -------------------------------------------------------------------------------------------------------


def told(*targets: str) -> object:
    """All that a validation finds."""
    result = validate(targets)
    rest = sorted(map(str, result.files)), sorted(result.rulesets), sorted(result.paths.items()), result.alone
    return rendered(result.reported), [str(each.span) for each in result.diagnostics], rest


def anew(monkeypatch: pytest.MonkeyPatch, *targets: str) -> object:
    """All that a validation without anything kept finds."""
    with monkeypatch.context() as patch:
        patch.setenv("REGELWERK_CACHE", "off")
        return told(*targets)


def replaced(place: str, old: str, new: str) -> Callable[[Path], None]:
    def change(family: Path) -> None:
        text = (family / place).read_text(encoding="utf-8")
        assert old in text, (place, old)
        (family / place).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def added(place: str, text: str) -> Callable[[Path], None]:
    def change(family: Path) -> None:
        (family / place).parent.mkdir(parents=True, exist_ok=True)
        (family / place).write_text(text, encoding="utf-8")

    return change


def removed(place: str) -> Callable[[Path], None]:
    return lambda family: (family / place).unlink()


def linked(place: str) -> Callable[[Path], None]:
    """Move a file out of the folder and leave a link to it."""

    def change(family: Path) -> None:
        moved = family.parent.parent / "moved.yaml"
        (family / place).rename(moved)
        (family / place).symlink_to(moved)

    return change


def a_folder(place: str) -> Callable[[Path], None]:
    def change(family: Path) -> None:
        (family / place).unlink()
        (family / place).mkdir()

    return change


CHANGES = {
    "a map": replaced("maps/lake.yaml", "Reed", "Rush"),
    "a broken map": replaced("maps/lake.yaml", "language: 2", "language: 3"),
    "a family": replaced("family.yaml", "- all(start_shells[n] >=", "- all(start_shells[n] <="),
    "a text of a family": replaced("family.yaml", "let card = first(sky)", "let card = first(skyy)"),
    "a name that an overlay has": replaced(
        "family.yaml", "  wind:\n    cites", "  dry() -> int: 1\n  wind:\n    cites"
    ),
    "an edition": replaced("editions/classic.yaml", "2..3", "2..5"),
    "a ruleset": replaced("pond.yaml", "deck: pond/winds\n", ""),
    "a library": replaced("tools.yaml", "most(a, b)", "most(a, c)"),
    "an overlay": replaced("overlays/dry.yaml", "int: 1", "int: one"),
    "a rule that a law calls": replaced("overlays/deep.yaml", "base() + 1", "base() + 9"),
    "a rule below the one that a law calls": replaced("family.yaml", "int: 3", "int: 11"),
    "a rule that a law calls no more": replaced("overlays/deep.yaml", "wraps", "removes"),
    "players for whom a law does not hold": replaced("overlays/deep.yaml", "rules:", "players: 2..4\nrules:"),
    "two overlays that meet": replaced("overlays/wet.yaml", "state:", "rules:\n  dry() -> int: 2\nstate:"),
    "policies": replaced("policies/calm.yaml", "hop:", "hopp:"),
    "policies that serve": replaced("policies/calm.yaml", "prefer: any", "prefer: anyy"),
    "words": replaced("words/de.yaml", "blew", "blow"),
    "an unknown placeholder": replaced("words/de.yaml", "{card}", "{cart}"),
    "a scenario": replaced("scenarios/all.yaml", "water == 1", "watter == 1"),
    "another ruleset of a scenario": replaced("scenarios/all.yaml", "ruleset: pond", "ruleset: pont"),
    "statements": replaced("statements/pond.csv", "P-01,pond,table", "P-09,pond,table"),
    "a row of statements": replaced("statements/pond.csv", "P-02,pond,rule", "P-02,pond,role"),
    "a waiver": replaced("waivers.yaml", "P-03", "[]"),
    "a new overlay": added(
        "overlays/new.yaml", "language: 2\noverlay: pond/new\nover: [pond]\nrules: {wind: {amends: pond}}\n"
    ),
    "a new ruleset": added(
        "fen.yaml", "language: 2\nruleset: fen\nfamily: pond\nedition: pond/classic\nmap: pond/fen\n"
    ),
    "a new map": added("maps/fen.yaml", "language: 2\nmap: pond/fen\nrules: {}\n"),
    "new policies": added(
        "policies/odd.yaml", "language: 2\npolicies: pond/odd\nis:\n  odd:\n    hopp: {prefer: any}\n"
    ),
    "new statements": added("statements/more.csv", "id,kind\nP-07,rule\n"),
    "a file that uses a name": added("notes/deep/more.yaml", "language: 2\nnotes: dry\n"),
    "another folder with the id": added("../other/pond.yaml", "language: 2\nruleset: pond\nfamily: pond\n"),
    "no map": removed("maps/lake.yaml"),
    "no overlay": removed("overlays/dry.yaml"),
    "no policies": removed("policies/calm.yaml"),
    "no statements": removed("statements/pond.csv"),
    "a link that leads out": linked("maps/lake.yaml"),
    "a folder in place of a map": a_folder("maps/lake.yaml"),
    "a folder in place of an overlay": a_folder("overlays/dry.yaml"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_kept_is_what_would_be_found_anew(pond: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    targets: list[tuple[str, ...]] = [
        (),
        ("own",),
        ("pond",),
        ("own/pond/maps/lake.yaml",),
        ("own/pond/overlays/dry.yaml",),
    ]
    before = [told(*each) for each in targets]
    assert before == [told(*each) for each in targets] == [anew(monkeypatch, *each) for each in targets]
    CHANGES[name](pond)
    after = [told(*each) for each in targets]
    assert after == [anew(monkeypatch, *each) for each in targets]
    assert after == [told(*each) for each in targets]


def test_the_changes_are_noticed(pond: Path) -> None:
    """Most of them lead to an error, and none of the files has one before."""
    assert not [each for each in validate([]).diagnostics if each.severity == "error"]
    silent = {"a file that uses a name", "a ruleset", "a library", "a new map", "no overlay", "no policies"}
    for name, change in CHANGES.items():
        copy = pond.parent.parent / "kept"
        shutil.copytree(pond.parent, copy)
        change(pond)
        assert name in silent or validate([]).diagnostics, name
        shutil.rmtree(pond.parent)
        copy.rename(pond.parent)


def test_only_what_depends_on_a_changed_file_is_done_again(pond: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examined: list[tuple[str, ...]] = []
    thorough = pipeline.examine

    def counted(shelf: Shelf, document: Document, overlays: Iterable[str] = (), *, answers: Answers) -> Examined:
        examined.append((document.id, *overlays))
        return thorough(shelf, document, overlays, answers=answers)

    monkeypatch.setattr(validator, "examine", counted)
    validate([])
    everything = [("pond",), ("pond", "pond/deep"), ("pond", "pond/dry"), ("pond", "pond/wet")]
    assert sorted(examined) == everything
    examined.clear()
    validate([])
    replaced("overlays/dry.yaml", "int: 1", "int: 2")(pond)
    validate([])
    replaced("scenarios/all.yaml", "water == 1", "water == 2")(pond)
    validate([])
    assert examined == [("pond", "pond/dry")]
    caches.interpreter_key.cache_clear()
    monkeypatch.setattr("interpreter.engine.cache._version", lambda package: b"another")
    validate([])
    assert sorted(examined[1:]) == everything
    caches.interpreter_key.cache_clear()


def test_nothing_is_read_where_nothing_changed(pond: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = told()
    monkeypatch.setattr("interpreter.authoring.validator.validated", None)
    assert told() == expected


def test_what_is_found_in_the_ruleset_at_hand_comes_first(pond: Path) -> None:
    """That is the first one in the file's own folder, then the others by their ids."""
    own = pond.parent.parent / "mine"
    (own / "pond/overlays").mkdir(parents=True)
    for name, text in (("fen", "family: pond\nedition: pond/classic\nmap: pond/lake\ndeck: pond/winds\n"),):
        (own / "pond/zoo.yaml").write_text(
            f"language: 2\nruleset: zoo\n{text}overlays: [pond/odd]\n".replace("fen", name)
        )
    overlay = "language: 2\noverlay: pond/odd\nover: [pond/classic]\nrules:\n  odd() -> int: one\n"
    (own / "pond/overlays/odd.yaml").write_text(overlay)
    replaced("editions/classic.yaml", "extends: pond", "extends: pond\nrules: {even: {is: two}}")(pond)
    seen: list[str] = []
    result = validate([str(own / "pond/overlays/odd.yaml")], tell=seen.append)
    assert seen[0] == "zoo"
    assert 0 < result.at_hand < len(result.diagnostics)
    assert result.reported[0] == result.diagnostics[0] or result.at_hand > 1
    assert sorted(map(str, result.reported)) == sorted(map(str, unique(result.diagnostics)))


# --- lint and coverage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a map", "a text of a family", "an overlay", "a scenario", "a new overlay", "no overlay", "a library"]
)
@pytest.mark.parametrize("targets", [(), ("own/pond/overlays/dry.yaml",)])
def test_findings_are_those_that_would_be_found_anew(
    run: Run, pond: Path, monkeypatch: pytest.MonkeyPatch, name: str, targets: tuple[str, ...]
) -> None:
    def both() -> list[object]:
        kept = [run("lint", *targets) for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setenv("REGELWERK_CACHE", "off")
            kept.append(run("lint", *targets))
        return [(each.exit_code, each.stdout, each.stderr) for each in kept]

    for change in (lambda _: None, CHANGES[name]):
        change(pond)
        first, again, anew = both()
        assert first == again == anew


@pytest.mark.parametrize("name", ["a map", "a scenario", "statements", "a row of statements", "a waiver", "an overlay"])
def test_coverage_is_the_one_that_would_be_found_anew(
    run: Run, pond: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    cited = replaced("scenarios/all.yaml", "name: a, ", "name: a, cites: [P-01], ")
    proved = replaced("scenarios/all.yaml", "water == 1", "seats[0].shells == 12")
    for change in (lambda _: None, cited, proved, CHANGES[name]):
        if name == "a scenario" and change is CHANGES[name]:
            change = replaced("scenarios/all.yaml", "== 12", ">= 1")
        change(pond)
        told = [run("coverage", "--mutate") for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setenv("REGELWERK_CACHE", "off")
            told.append(run("coverage", "--mutate"))
        first, again, anew = [(each.exit_code, each.stdout, each.stderr) for each in told]
        assert first == again == anew
