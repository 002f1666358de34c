"""What reading looked at is noted when somebody wants to know, and told apart from what is there later."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from interpreter.reading import dependencies as noting
from interpreter.reading.dependencies import Evidence, looked_at, noted
from interpreter.reading.files import Shelf, files_at, files_below
from interpreter.reading.statements import statements_of

ROOT = Path(__file__).parents[2] / "rulesets"


def test_nothing_is_noted_unasked(tmp_path: Path) -> None:
    looked_at("file", tmp_path / "a")
    with noted() as outer:
        looked_at("form", tmp_path)
        with noted() as inner:
            looked_at("form", tmp_path / "a")
    assert [path for _, path in outer.found] == [str(tmp_path), str(tmp_path / "a")]
    assert [path for _, path in inner.found] == [str(tmp_path / "a")]


def states(path: Path) -> Iterator[str]:
    """What can stand at a path, one after another."""
    yield "nothing"
    path.write_text("one")
    yield "a file"
    path.write_text("two")
    yield "another file"
    path.unlink()
    path.mkdir()
    yield "a folder"
    (path / "b").write_text("")
    yield "a folder with a file"
    (path / "b").rename(path / "c")
    yield "a folder with another file"
    path.rename(path.with_name("d"))
    path.symlink_to("d")
    yield "a link to that folder"


@pytest.mark.parametrize(("what", "wanted"), [("file", 4), ("folders", 1), ("form", 3), ("place", 2)])
def test_each_look_tells_a_change(what: str, wanted: int, tmp_path: Path) -> None:
    seen: list[str] = []
    for _ in states(tmp_path / "a"):
        with noted() as evidence:
            looked_at(what, tmp_path / "a")
        assert evidence.holds()
        assert Evidence(dict(evidence.found)).holds()
        seen.extend(evidence.found.values())
    assert 1 + sum(a != b for a, b in pairwise(seen)) == wanted


def test_what_changed_meanwhile_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with noted() as evidence:
        for text in ("one", "two", "one"):
            path.write_text(text)
            looked_at("file", path)
    assert not evidence.holds()


def test_large_files_are_told_by_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noting, "MOST_BYTES", 10)
    path = tmp_path / "a"
    path.write_text("x" * 11)
    with noted() as evidence:
        looked_at("file", path)
    assert evidence.found["file", str(path)].startswith("11 bytes")


@pytest.mark.parametrize(
    "place", ["*/{}.yaml", "*/*.yaml", "power-grid/maps/*.yaml", "*/statements/*.csv", "*/*", "no/*"]
)
def test_files_are_found_as_by_glob(place: str) -> None:
    place = place.format("germany-2018")
    assert files_at(ROOT, place) == sorted(path for path in ROOT.glob(place) if path.is_file())


def test_all_files_below_are_found_as_by_glob() -> None:
    assert files_below(ROOT, "*.yaml") == sorted(ROOT.rglob("*.yaml"))


def test_new_statements_are_read_in_the_same_process(tmp_path: Path) -> None:
    path = tmp_path / "a" / "statements" / "book.csv"
    path.parent.mkdir(parents=True)
    for text in ("one", "two"):
        path.write_text(f"id,kind,statement\nX-1,rule,{text}\n")
        assert statements_of(Shelf([tmp_path]))["X-1"].text == text
