"""Store of cached bytes between runs, in a folder that only this user can write to.

All content can be recomputed from other files, so nothing here fails: an entry that cannot or must not be read counts
as missing, and one that cannot be written is dropped. Data may be unpickled as far as the folder is trusted: entries
that others could have written, or that were damaged, are never returned.
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
"""A process trims the store when it has added more than one ``SOME``-th of the maximum."""
_MAGIC = b"regelwerk 1\n"
_SIZE = 32
_SUFFIX, _UNFINISHED = ".kept", ".part"
_A_MINUTE = 60
_A_DAY = 24 * 60 * _A_MINUTE

_put: dict[Path, tuple[int, int]] = {}
"""Entries and bytes that this process has added since the last trim, by folder."""


def store() -> Store | None:
    """Return the store in the folder ``REGELWERK_CACHE``, or in the user's cache folder; None if it is off."""
    named = os.environ.get("REGELWERK_CACHE")
    if named is not None:
        return None if named.strip().lower() in ("", "off") else Store(Path(named))
    from platformdirs import user_cache_path

    try:
        return Store(user_cache_path("regelwerk", appauthor=False))
    except RuntimeError:  # no home folder
        return None


def digest_of(*parts: bytes | str) -> bytes:
    """Return a hash of several parts, including their boundaries."""
    digest = blake2b(digest_size=_SIZE)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


class Store:
    """Entries by key, one file each: magic, key, digest of the data, data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, key: bytes) -> bool:
        """Return whether there is a file for a key. It is validated only when read."""
        return self._path(key).exists()

    def get(self, key: bytes) -> bytes | None:
        """Return the entry stored under a key if it is complete and trusted, else None."""
        if not self._is_safe():
            return None
        try:
            content = _read(self._path(key))
        except OSError:
            return None
        head = _MAGIC + key
        if content is None or not content.startswith(head):
            return None
        data = content[len(head) + _SIZE :]
        return data if content[len(head) : len(head) + _SIZE] == digest_of(data) else None

    def put(self, key: bytes, data: bytes) -> None:
        """Store data under a key, atomically replacing any old entry."""
        self.put_all({key: data})

    def put_all(self, entries: Mapping[bytes, bytes]) -> None:
        """Store several entries."""
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
        """Create the folder if needed; return whether it can be used."""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700)
        except FileExistsError:
            pass
        except OSError:
            return False
        return self._is_safe()

    def _is_safe(self) -> bool:
        """Return whether the folder is a real one that belongs to this user and that others cannot write to."""
        try:
            status = os.lstat(self.folder)
        except (OSError, ValueError):
            return False
        return stat.S_ISDIR(status.st_mode) and _is_own(status)

    def _trim_at_times(self, number: int, size: int) -> None:
        """Trim at the first write of a process, and then whenever it has added a fraction of the maximum."""
        before = _put.get(self.folder)
        added = (0, 0) if before is None else (before[0] + number, before[1] + size)
        if before is None or added[0] > MOST_ENTRIES // SOME or added[1] > MOST_IN_ALL // SOME:
            self._trim()
            added = (0, 0)
        _put[self.folder] = added

    def _trim(self) -> None:
        """Delete the oldest entries beyond the maximum, and unfinished files older than a day."""
        try:
            with os.scandir(self.folder) as listed:
                files = [
                    (entry.stat(follow_symlinks=False), entry.name)
                    for entry in listed
                    if entry.name.endswith((_SUFFIX, _UNFINISHED))
                ]
        except OSError:
            return
        total = 0
        ages = sorted(((status.st_mtime, name, status.st_size) for status, name in files), reverse=True)
        for number, (_, name, size) in enumerate(file for file in ages if file[1].endswith(_SUFFIX)):
            total += size
            if number >= MOST_ENTRIES or total > MOST_IN_ALL:
                _remove(self.folder / name)
        for age, name, _ in ages:
            if name.endswith(_UNFINISHED) and age < time.time() - _A_DAY:
                _remove(self.folder / name)


def _is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows keeps others out of a user's folders by other means
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: Path) -> bytes | None:
    """Read a regular file of this user, or return None. It is checked after opening, so that it cannot be swapped."""
    if not hasattr(os, "O_NOFOLLOW") and path.is_symlink():
        return None
    flags = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    descriptor = os.open(path, os.O_RDONLY | sum(getattr(os, name, 0) for name in flags))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not _is_own(status) or status.st_size > MOST_BYTES + 1024:
            return None
        if status.st_mtime < time.time() - _A_MINUTE:  # not on every read, for speed
            os.utime(path)  # mark as recently used, so that it is trimmed last
        return file.read()


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
