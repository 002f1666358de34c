"""Bytes that are kept between runs, in a folder that only this user can write to.

What is kept was worked out from other files and can be worked out again. So nothing here fails: what cannot be read,
or must not be, is not there, and what cannot be written is not kept. What is read may be trusted with the running of
code as far as the folder is trusted: nothing comes back that others could have written, nor what was damaged since.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

__all__ = ["Store", "digest_of", "store"]

MOST_ENTRIES = 4096
MOST_BYTES = 32 * 1024 * 1024
MOST_IN_ALL = 512 * 1024 * 1024
SOME = 32
"""A process counts what is there when it has added one part of so many of what is kept at most."""
_MAGIC = b"regelwerk 1\n"
_SIZE = 32
_SUFFIX, _UNFINISHED = ".kept", ".part"
_A_MINUTE = 60
_A_DAY = 24 * 60 * _A_MINUTE

_put: dict[Path, tuple[int, int]] = {}
"""By folder the entries, and their bytes, that this process has added since it last counted what is there."""


def store() -> Store | None:
    """The folder that ``REGELWERK_CACHE`` names, else one in the user's folder of caches; nothing where it is off."""
    named = os.environ.get("REGELWERK_CACHE")
    if named is not None:
        return None if named.strip().lower() in ("", "off") else Store(Path(named))
    from platformdirs import user_cache_path

    try:
        return Store(user_cache_path("regelwerk", appauthor=False))
    except RuntimeError:  # there is no home
        return None


def digest_of(*parts: bytes | str) -> bytes:
    """One digest of several parts; where one ends and the next begins matters."""
    digest = blake2b(digest_size=_SIZE)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


class Store:
    """Entries by key, a file each: magic, key, digest of the data, data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, key: bytes) -> bool:
        """Return whether there is a file for a key; what it is worth is seen when it is read."""
        return self._path(key).exists()

    def get(self, key: bytes) -> bytes | None:
        """Return the entry stored under a key, if it is complete and trusted."""
        if not self._is_safe():
            return None
        try:
            found = _read(self._path(key))
        except OSError:
            return None
        head = _MAGIC + key
        if found is None or not found.startswith(head):
            return None
        data = found[len(head) + _SIZE :]
        return data if found[len(head) : len(head) + _SIZE] == digest_of(data) else None

    def put(self, key: bytes, data: bytes) -> None:
        """Keeps data under a key, in place of what was there; whoever reads meanwhile sees the one or the other."""
        self.put_all({key: data})

    def put_all(self, entries: Mapping[bytes, bytes]) -> None:
        """Keeps data under several keys."""
        fitting = {key: data for key, data in entries.items() if len(data) <= MOST_BYTES}
        if not fitting or not self._make():
            return
        for key, data in fitting.items():
            self._write(key, data)
        self._trim_at_times(len(fitting), sum(len(_MAGIC) + 2 * _SIZE + len(data) for data in fitting.values()))

    def _write(self, key: bytes, data: bytes) -> None:
        path = self._path(key)
        unfinished = path.with_name(f"{path.stem}-{os.getpid()}-{time.monotonic_ns()}{_UNFINISHED}")
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with open(descriptor, "wb") as file:
                file.writelines((_MAGIC, key, digest_of(data), data))
            os.replace(unfinished, path)
        except OSError:
            _remove(unfinished)

    def _path(self, key: bytes) -> Path:
        return self.folder / f"{key.hex()}{_SUFFIX}"

    def _make(self) -> bool:
        """Return whether there is a folder to write to, made now where there was none."""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700)
        except FileExistsError:
            pass
        except OSError:
            return False
        return self._is_safe()

    def _is_safe(self) -> bool:
        """Return whether the folder is a real one of this user, and others cannot put files there."""
        try:
            about = os.lstat(self.folder)
        except (OSError, ValueError):
            return False
        return stat.S_ISDIR(about.st_mode) and _is_own(about)

    def _trim_at_times(self, number: int, size: int) -> None:
        """Trims at the first entries of a process, and then whenever it has added a part of what is kept at most."""
        before = _put.get(self.folder)
        added = (0, 0) if before is None else (before[0] + number, before[1] + size)
        if before is None or added[0] > MOST_ENTRIES // SOME or added[1] > MOST_IN_ALL // SOME:
            self._trim()
            added = (0, 0)
        _put[self.folder] = added

    def _trim(self) -> None:
        """Drops the entries that are oldest, and what was left unfinished a day ago."""
        try:
            with os.scandir(self.folder) as listed:
                found = [
                    (entry.stat(follow_symlinks=False), entry.name)
                    for entry in listed
                    if entry.name.endswith((_SUFFIX, _UNFINISHED))
                ]
        except OSError:
            return
        total = 0
        ages = sorted(((about.st_mtime, name, about.st_size) for about, name in found), reverse=True)
        for number, (_, name, size) in enumerate(each for each in ages if each[1].endswith(_SUFFIX)):
            total += size
            if number >= MOST_ENTRIES or total > MOST_IN_ALL:
                _remove(self.folder / name)
        for age, name, _ in ages:
            if name.endswith(_UNFINISHED) and age < time.time() - _A_DAY:
                _remove(self.folder / name)


def _is_own(about: os.stat_result) -> bool:
    """Return whether something belongs to this user and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows keeps others out of a user's folders by other means
    return about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: Path) -> bytes | None:
    """A regular file of this user's. It is looked at when it is open already, so that it cannot be exchanged."""
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():
        return None
    flags = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    descriptor = os.open(path, os.O_RDONLY | sum(getattr(os, name, 0) for name in flags))
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or not _is_own(about) or about.st_size > MOST_BYTES + 1024:
            return None
        if about.st_mtime < time.time() - _A_MINUTE:  # not each time: many are read one after another
            os.utime(path)  # it is of use: others are dropped before it
        return file.read()


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
