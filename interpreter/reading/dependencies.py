"""Dependencies of a load: bytes of files, names in folders, targets of paths. They decide whether a cache is valid.

Readers report every access with :func:`looked_at`. Accesses are recorded only within :func:`noted`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import wraps
from hashlib import blake2b
from typing import ParamSpec, TypeVar, cast

from interpreter.base.lazy import Scoped
from interpreter.reading.unsaved_files import unsaved_bytes

__all__ = [
    "PAUSE",
    "SETTLED",
    "Evidence",
    "at_one_moment",
    "digest",
    "folders_in",
    "found_again",
    "found_now",
    "found_once",
    "looked_at",
    "looks_once",
    "marks_of",
    "names_in",
    "noted",
    "words_in",
]

P = ParamSpec("P")
K = TypeVar("K")
T = TypeVar("T")

PAUSE, SETTLED = 0.1, 0.03
"""Seconds between two looks at files, and those without a change after which a file counts as completely written."""
MOST_BYTES = 8 * 1024 * 1024
"""Larger files, of which at most the beginning is read, are identified by size and modification time."""


def digest(data: bytes) -> str:
    """Return the digest of bytes."""
    return blake2b(data, digest_size=16).hexdigest()


class Evidence:
    """Accesses as (what, path), each with its result. ``steady`` is false if a repeated one had another result."""

    def __init__(self, found: dict[tuple[str, str], str] | None = None) -> None:
        self.found = found or {}
        self.steady = True

    def add(self, what: str, path: str, found: str) -> None:
        self.steady &= self.found.setdefault((what, path), found) == found

    @property
    def paths(self) -> set[str]:
        """Files and folders to watch: a change elsewhere does not affect the results."""
        return {os.path.dirname(path) if what == "names" else path for what, path in self.found}

    def holds(self) -> bool:
        """Return whether all accesses would have the same results now."""
        return self.steady and all(found_now(*look) == found for look, found in self.found.items())


_noting = Scoped[Evidence | None]("noting", None)


@contextmanager
def noted() -> Iterator[Evidence]:
    """Record all accesses within the context. They are also recorded in an enclosing one."""
    evidence = Evidence()
    try:
        with _noting(evidence):
            yield evidence
    finally:
        found_again(evidence)


def marks_of(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Return the modification time and size of each path, to see whether one changes; None if it does not exist."""
    return {path: _mark(path) for path in paths}


def _mark(path: str) -> tuple[int, int] | None:
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return about.st_mtime_ns, about.st_size


def found_again(evidence: Evidence) -> None:
    """Record the accesses of other evidence, with the same results, in the active one."""
    active = _noting.value
    if active is not None:
        first = active.found.setdefault
        active.steady &= evidence.steady and all(first(*access) == access[1] for access in evidence.found.items())


_moment = Scoped[dict[tuple[object, ...], tuple[object, Evidence]] | None]("moment", None)


@contextmanager
def at_one_moment() -> Iterator[None]:
    """Take all files as they are when they are first looked at: within the context, and others in it, readers that
    :func:`looks_once` look nothing up again."""
    with _moment({} if _moment.value is None else _moment.value):
        yield


def looks_once(read: Callable[P, T]) -> Callable[P, T]:
    """Make a reader of files remember its results, and the accesses that led to them, within :func:`at_one_moment`."""

    @wraps(read)
    def remembered(*args: P.args, **keywords: P.kwargs) -> T:
        known = _moment.value
        if known is None:
            return read(*args, **keywords)
        return cast(T, found_once(known, (read, *args, *keywords.items()), lambda: read(*args, **keywords)))

    return remembered


def found_once(known: dict[K, tuple[T, Evidence]], question: K, find: Callable[[], T]) -> T:
    """Return what is known of a question, with the accesses that led to it; else find it."""
    if question in known:
        found_again(known[question][1])
    else:
        with noted() as evidence:
            found = find()
        known[question] = found, evidence
    return known[question][0]


def looked_at(what: str, path: str | os.PathLike[str], found: str | None = None) -> None:
    """Record an access to a path.

    ``what`` is the content of a ``file``, the ``names`` in a folder that match the last part of the path, the
    ``folders`` in it, its ``form`` (file, folder or other), the ``place`` that links lead to, or ``words`` with a list:
    those of the list that a file contains. ``found`` is the result if it is known already.
    """
    evidence = _noting.value
    if evidence is not None:
        path = os.path.abspath(path)
        evidence.add(what, path, found_now(what, path) if found is None else found)


@looks_once
def found_now(what: str, path: str) -> str:
    """Return the result of an access; empty if it fails."""
    try:
        of, *words = what.split(" ")
        if of == "words":
            return " ".join(words_in(path, words))
        return _LOOKS[what](path)
    except (OSError, ValueError):
        return ""


def _file(path: str) -> str:
    unsaved = unsaved_bytes(path)
    if unsaved is not None:
        return digest(unsaved)
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        return ""
    if about.st_size > MOST_BYTES:
        return f"{about.st_size} bytes of {about.st_mtime_ns}"
    with open(path, "rb") as file:
        return digest(file.read())


def names_in(folder: str | os.PathLike[str], pattern: str) -> list[str]:
    """Return the names in a folder that match a pattern."""
    try:
        return [name for name in os.listdir(folder) if fnmatch(name, pattern)]
    except (OSError, ValueError):
        return []


def words_in(path: str | os.PathLike[str], words: Sequence[str]) -> list[str]:
    """Return those of some words that a file contains as whole words. A link or a large file contains none."""
    text, known = _text(path)
    for word in words:
        if word not in known:
            known[word] = word in text and bool(re.search(rf"\b{re.escape(word)}\b", text))
    return [word for word in words if known[word]]


@looks_once
def _text(path: str | os.PathLike[str]) -> tuple[str, dict[str, bool]]:
    """Return the text of a file, and what is known of the words in it."""
    try:
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
            return "", {}
        data = unsaved_bytes(path)
        if data is None:
            with open(path, "rb") as file:
                data = file.read()
    except (OSError, ValueError):
        return "", {}
    return data.decode("utf-8", "replace"), {}


def folders_in(folder: str | os.PathLike[str]) -> list[str]:
    """Return the names of the folders in a folder."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except (OSError, ValueError):
        return []


def _listed(names: list[str]) -> str:
    return digest("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))


def _names(path: str) -> str:
    """Return the digest of the names in a folder that match a pattern, with a mark on those that are no files."""
    folder, pattern = os.path.split(path)
    with os.scandir(folder) as entries:
        return _listed([e.name if e.is_file() else f"{e.name}/" for e in entries if fnmatch(e.name, pattern)])


def _form(path: str) -> str:
    mode = os.stat(path).st_mode
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


_LOOKS: dict[str, Callable[[str], str]] = {
    "file": _file,
    "names": _names,
    "folders": lambda path: _listed(folders_in(path)),
    "form": _form,
    "place": os.path.realpath,
}
