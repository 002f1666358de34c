"""Dependencies of a load: files with their bytes, names in folders by a pattern, paths with their targets.

As long as all that is as it was, reading would find the same. Who reads says what it looks at; nothing is noted unless
somebody asks for it with :func:`noted`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatch
from hashlib import blake2b

from interpreter.reading.unsaved_files import unsaved_bytes

__all__ = ["Evidence", "digest", "folders_in", "found_again", "looked_at", "names_in", "noted"]


MOST_BYTES = 8 * 1024 * 1024
"""Larger files, of which nobody reads more than the beginning, are told by their size and time."""


def digest(data: bytes) -> str:
    """Return the digest of bytes."""
    return blake2b(data, digest_size=16).hexdigest()


class Evidence:
    """Observed files, folders and paths. ``steady`` as long as none had changed when it was looked at again. ``steady``
    as long as nothing was found changed when it was looked at again."""

    def __init__(self, found: dict[tuple[str, str], str] | None = None) -> None:
        self.found = found or {}
        self.steady = True

    def add(self, what: str, path: str, found: str) -> None:
        self.steady &= self.found.setdefault((what, path), found) == found

    @property
    def paths(self) -> set[str]:
        """All files and folders in which a change may change what was found."""
        return {os.path.dirname(path) if what == "names" else path for what, path in self.found}

    def holds(self) -> bool:
        """Return whether all is still as it was found."""
        return self.steady and all(_LOOKS[what](path) == found for (what, path), found in self.found.items())


_now: ContextVar[Evidence | None] = ContextVar("evidence", default=None)


@contextmanager
def noted() -> Iterator[Evidence]:
    """All that is looked at from here on; who notes it around this has it too."""
    evidence = Evidence()
    token = _now.set(evidence)
    try:
        yield evidence
    finally:
        _now.reset(token)
        found_again(evidence)


def found_again(evidence: Evidence) -> None:
    """Notes what was looked at elsewhere, and is still as it was found."""
    around = _now.get()
    if around is not None:
        for (what, path), found in evidence.found.items():
            around.add(what, path, found)


def looked_at(what: str, path: str | os.PathLike[str], found: str | None = None) -> None:
    """Notes what is at a path: the digest of a ``file`` (as ``found``, where it was read already), the ``names`` that
    its last part fits, the ``folders`` in it, the ``form`` of what is there, or the ``place`` that it leads to.
    """
    evidence = _now.get()
    if evidence is not None:
        path = os.path.abspath(path)
        evidence.add(what, path, _LOOKS[what](path) if found is None else found)


def _file(path: str) -> str:
    unsaved = unsaved_bytes(path)
    if unsaved is not None:
        return digest(unsaved)
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            return ""
        if about.st_size > MOST_BYTES:
            return f"{about.st_size} bytes of {about.st_mtime_ns}"
        with open(path, "rb") as file:
            return digest(file.read())
    except (OSError, ValueError):
        return ""


def names_in(folder: str | os.PathLike[str], pattern: str) -> list[str]:
    """The names in a folder that a pattern fits."""
    try:
        return [name for name in os.listdir(folder) if fnmatch(name, pattern)]
    except (OSError, ValueError):
        return []


def folders_in(folder: str | os.PathLike[str]) -> list[str]:
    """The names of the folders in a folder."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except (OSError, ValueError):
        return []


def _listed(names: list[str]) -> str:
    return digest("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))


def _form(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def _place(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return ""


_LOOKS: dict[str, Callable[[str], str]] = {
    "file": _file,
    "names": lambda path: _listed(names_in(*os.path.split(path))),
    "folders": lambda path: _listed(folders_in(path)),
    "form": _form,
    "place": _place,
}
