"""Bytes that are kept between runs. What rulesets make of it is tried in ``tests/engine/test_cache.py``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from interpreter.base import store as stores
from interpreter.base.store import Store, digest_of, store


def test_what_is_put_is_got(tmp_path: Path) -> None:
    kept = Store(tmp_path / "new" / "cache")
    assert kept.get(digest_of("a")) is None
    kept.put(digest_of("a"), b"first")
    kept.put(digest_of("b"), b"")
    kept.put(digest_of("a"), b"second")
    assert kept.get(digest_of("a")) == b"second"
    assert kept.get(digest_of("b")) == b""
    assert len(list(kept.folder.iterdir())) == 2


def test_too_much_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_BYTES", 10)
    kept = Store(tmp_path / "cache")
    kept.put(digest_of("a"), b"x" * 11)
    assert not kept.folder.exists()


def test_entries_are_counted_at_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look at thousands of files takes longer than to add one."""
    monkeypatch.setattr(stores, "MOST_ENTRIES", 2 * stores.SOME)
    kept = Store(tmp_path / "cache")
    most = 0
    for number in range(5 * stores.SOME):
        kept.put(digest_of(str(number)), b"x")
        most = max(most, len(list(kept.folder.iterdir())))
    assert 2 * stores.SOME < most <= 2 * stores.SOME + 3
    others = Store(tmp_path / "other")
    monkeypatch.setattr(stores, "MOST_ENTRIES", 1_000 * stores.SOME)
    for number in range(5 * stores.SOME):
        others.put(digest_of(str(number)), b"x")
    monkeypatch.setattr(stores, "MOST_ENTRIES", 10)
    monkeypatch.setattr(stores, "_put", {})  # as in another process
    others.put(digest_of("one more"), b"x")
    assert len(list(others.folder.iterdir())) == 10


@pytest.mark.parametrize(("limit", "most"), [("MOST_ENTRIES", 3), ("MOST_IN_ALL", 3 * 90)])
def test_the_oldest_are_dropped(limit: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, limit, most)
    kept = Store(tmp_path / "cache")
    now = time.time()
    for number in range(3):
        kept.put(digest_of(str(number)), b"x")
        os.utime(kept._path(digest_of(str(number))), (now - 100 + number, now - 100 + number))
    kept.put(digest_of("3"), b"x")
    assert [kept.get(digest_of(str(number))) for number in range(4)] == [None, b"x", b"x", b"x"]


def test_what_is_used_grows_young(tmp_path: Path) -> None:
    kept = Store(tmp_path / "cache")
    kept.put(digest_of("a"), b"x")
    path = kept._path(digest_of("a"))
    before = time.time() - 100  # on the same day others come by the dozen: one command asks for all rulesets
    os.utime(path, (before, before))
    assert kept.get(digest_of("a")) == b"x"
    assert path.stat().st_mtime > before + 50


def test_what_was_left_unfinished_goes_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store(tmp_path / "cache")
    kept.put(digest_of("a"), b"x")
    old, new, foreign = (kept.folder / name for name in ("old.part", "new.part", "notes.txt"))
    for path in (old, new, foreign):
        path.write_text("")
    os.utime(old, (1000, 1000))
    os.utime(foreign, (1000, 1000))
    monkeypatch.setattr(stores, "_put", {})  # as in another process
    kept.put(digest_of("b"), b"x")
    assert [path.exists() for path in (old, new, foreign)] == [False, True, True]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    kept = Store(tmp_path / "cache")
    kept.put(digest_of("a"), b"x")
    path = kept._path(digest_of("a"))
    path.unlink()
    os.mkfifo(path)
    assert kept.get(digest_of("a")) is None


def test_parts_of_a_key_are_told_apart() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")
    assert digest_of("a") == digest_of(b"a")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="folders of another system")
def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def place() -> Path | None:
        found = store()
        return found.folder if found else None

    monkeypatch.delenv("REGELWERK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert place() == tmp_path / "regelwerk"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place() == tmp_path / ".cache" / "regelwerk"
    monkeypatch.setenv("REGELWERK_CACHE", "/somewhere")
    assert place() == Path("/somewhere")
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    assert place() is None
