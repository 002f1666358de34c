"""Rulesets that were loaded without error, kept between runs as long as nothing that the load looked at has changed.

An entry is found by what was asked for and by who asks: this source, this Python. It tells first what was looked at
(:mod:`interpreter.reading.dependencies`); only where all that is as it was is the rest read. What a game needs is
unpickled at once, the files' values and the statements when they are asked for. Where entries lie, and why they can be
trusted with being unpickled, is told in :mod:`interpreter.base.store`.
"""

from __future__ import annotations

import copyreg
import io
import json
import marshal
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MethodWrapperType
from typing import TYPE_CHECKING, Any, cast

from interpreter.base.paths import ruleset_roots, schema_folder
from interpreter.base.plain_data import Value
from interpreter.base.source import SourceFile
from interpreter.base.store import Store, digest_of, store
from interpreter.language.grammar import Text
from interpreter.language.parse import Trees
from interpreter.reading.dependencies import Evidence, found_again

if TYPE_CHECKING:
    from interpreter.reading.yaml import Mapping

__all__ = ["KeptTrees", "Late", "Modules", "Request", "kept_trees", "request_for"]

_SOURCES = (".py", ".lark", ".json", ".wat")
_WRONG = (pickle.PickleError, AttributeError, EOFError, ImportError, LookupError, RecursionError, TypeError, ValueError)


class Request:
    """Cache request: words that lead to an entry."""

    def __init__(self, kept_in: Store, key: bytes) -> None:
        self.store, self.key = kept_in, key

    def kept(self) -> tuple[tuple[object, ...], Late, bytes] | None:
        """Return what a game needs from the cache, a loader for the rest, and a digest; nothing if no entry is
        valid."""
        data = self.store.get(self.key)
        if data is None:
            return None
        try:
            index, files, now, late = _parts(data)
            looks = {(what, path): found for what, path, found in json.loads(bytes(index))}
            evidence = Evidence(looks)
            if not evidence.holds():
                return None
            found_again(evidence)
            sources = _sources_in(files)
            return _unpickled(now, sources.__getitem__), Late(late, sources), digest_of(bytes(index))
        except _WRONG:
            return None

    def keep(self, now: object, late: object, evidence: Evidence) -> bytes | None:
        """Keeps what a game needs and the rest, if it is still what the files say; a digest of what was looked at."""
        if not evidence.steady:
            return None
        sources: dict[int, tuple[int, SourceFile]] = {}
        try:
            pickles = [_pickled(each, sources) for each in (now, late)]
        except _WRONG:
            return None
        index = json.dumps([(*look, found) for look, found in evidence.found.items()]).encode()
        self.store.put(self.key, _joined(index, _files(sources), *pickles))
        return digest_of(index)


class Late:
    """A part of an entry that is unpickled when it is asked for."""

    def __init__(self, data: memoryview, sources: list[SourceFile]) -> None:
        self._data, self._sources = data, sources

    def read(self) -> tuple[object, ...]:
        return cast("tuple[object, ...]", _unpickled(self._data, self._sources.__getitem__))


def request_for(
    name: str | Path, overlays: tuple[str, ...], roots: Iterable[Path] | None, ahead: int = 0
) -> Request | None:
    """The entry of an id or path with overlays, looked for in these folders of rulesets or in the common ones; the
    first ``ahead`` of them go before the others.

    Nothing where the cache is off.
    """
    found = store()
    if found is None:
        return None
    text = str(name)
    is_path = isinstance(name, Path) or text.endswith((".yaml", ".yml")) or os.path.isfile(text)
    folders = [str(root) for root in (ruleset_roots() if roots is None else roots)]
    try:
        is_here = is_path or any(overlay.endswith((".yaml", ".yml")) for overlay in overlays)
        here = os.getcwd() if is_here or not all(map(os.path.isabs, folders)) else ""
    except OSError:  # the working folder is gone
        return None
    is_beside = is_path and roots is None  # the folder that the file lies in goes before the others
    asked = [text, is_path, here, list(map(str, overlays)), is_beside, ahead, folders]
    return Request(found, digest_of("ruleset", _asker(), json.dumps(asked)))


# -- compiled modules --------------------------------------------------------------------------------------------------


class Modules:
    """Compiled modules of one table. ``names``: what they were made of, as what was looked at, players and settings."""

    def __init__(self, *names: str | bytes) -> None:
        self.names = names

    def has(self, what: str) -> bool:
        """Return whether an entry is there, be it whole or not."""
        found = store()
        return found is not None and found.has(self._key(what))

    def kept(self, what: str) -> bytes | None:
        found = store()
        data = found.get(self._key(what)) if found else None
        return bytes(data) if data is not None else None

    def keep(self, what: str, data: bytes) -> None:
        found = store()
        if found is not None:
            found.put(self._key(what), data)

    def _key(self, what: str) -> bytes:
        return digest_of("module", _asker(), what, *self.names)


# -- parsed texts ------------------------------------------------------------------------------------------------------


class KeptTrees(Trees):
    """Cache of parsed rule texts between runs, by file.

    A file's trees are fetched when the first of its texts is asked for. Texts with mistakes are not kept.
    """

    def __init__(self, kept_in: Store) -> None:
        super().__init__()
        self._store = kept_in
        self._of: dict[SourceFile, list[tuple[str, Text | str, Value]]] = {}
        """By file what is kept of it: what a text was parsed as, the text, and its tree."""
        self._changed: set[SourceFile] = set()

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        file = _file_of(key)
        if file is None or file in self._of:
            return False
        self._of[file] = self._fetched(file)
        self.update(((start, text), (tree, [])) for start, text, tree in self._of[file])
        return super().__contains__(key)

    def __setitem__(self, key: tuple[str, Text | str], value: Value) -> None:
        super().__setitem__(key, value)
        file = _file_of(key)
        if file is not None and not value[1]:
            self._of.setdefault(file, []).append((*key, value[0]))
            self._changed.add(file)

    def keep(self) -> None:
        """Keeps what was parsed anew."""
        entries: dict[bytes, bytes] = {}
        for file in self._changed:
            sources: dict[int, tuple[int, SourceFile]] = {}
            try:
                data = _pickled(self._of[file], sources)
            except _WRONG:
                continue
            if all(source == file for _, source in sources.values()):
                entries[self._key(file)] = data
        self._store.put_all(entries)
        self._changed.clear()

    def _fetched(self, file: SourceFile) -> list[tuple[str, Text | str, Value]]:
        data = self._store.get(self._key(file))
        try:
            return list(_unpickled(memoryview(data), lambda number: file)) if data is not None else []
        except _WRONG:
            return []

    def _key(self, file: SourceFile) -> bytes:
        return digest_of("trees", _asker(), file.name, file.text)


class KeptValues:
    """Cache of YAML values of valid files between runs, by name and text of the file."""

    def __init__(self, kept_in: Store) -> None:
        self._store = kept_in
        self._new: dict[SourceFile, Mapping] = {}

    def get(self, file: SourceFile) -> Mapping | None:
        data = self._store.get(self._key(file))
        try:
            found = _unpickled(memoryview(data), lambda number: file) if data is not None else None
        except _WRONG:
            return None
        return found

    def add(self, file: SourceFile, root: Mapping) -> None:
        self._new[file] = root

    def keep(self) -> None:
        """Keeps what was read anew."""
        self._store.put_all({self._key(file): _pickled(root, {}) for file, root in self._new.items()})
        self._new.clear()

    def _key(self, file: SourceFile) -> bytes:
        return digest_of("values", _asker(), file.name, file.text)


MOST_FITS = 2_000
"""Of so many texts it is known that they fit, those that were met last."""


class KeptFits:
    """Texts of files that fit the schema of their kind, by digests that are kept between runs in one entry."""

    def __init__(self, kept_in: Store) -> None:
        self._store = kept_in
        self._known: dict[bytes, None] | None = None
        self._changed = False

    def has(self, kind: str, text: str) -> bool:
        return digest_of(kind, text) in self._all()

    def add(self, kind: str, text: str) -> None:
        self._all()[digest_of(kind, text)] = None
        self._changed = True

    def keep(self) -> None:
        """Keeps what is known to fit, where there is more of it."""
        if self._changed:
            self._store.put(self._key(), b"".join(list(self._all())[-MOST_FITS:]))
        self._changed = False

    def _all(self) -> dict[bytes, None]:
        if self._known is None:
            data, size = self._store.get(self._key()) or b"", len(digest_of())
            self._known = dict.fromkeys(data[start : start + size] for start in range(0, len(data), size))
        return self._known

    def _key(self) -> bytes:
        return digest_of("fits", _asker())


def _file_of(key: Value) -> SourceFile | None:
    """The file of a text that was parsed; nothing for what has no place."""
    text = key[1]
    return None if isinstance(text, str) else text.span(0, 0).file


@contextmanager
def kept_trees() -> Iterator[None]:
    """In here texts that were parsed, now or in an earlier run, are not parsed again, nor is the YAML of files, and
    files that fit their schema are not held against it again."""
    from interpreter.language.parse import is_remembering, remembered
    from interpreter.reading.schema import fitting
    from interpreter.reading.yaml import knowing

    found = store()
    if found is None or is_remembering():
        with remembered():
            yield
        return
    kept = trees, fits, values = KeptTrees(found), KeptFits(found), KeptValues(found)
    with remembered(trees), fitting(fits), knowing(values):
        try:
            yield
        finally:
            for each in kept:
                each.keep()


# -- who asks ----------------------------------------------------------------------------------------------------------


@cache
def _asker() -> bytes:
    """This source, by its version and the place, size and time of its files, and this Python."""
    package = Path(__file__).resolve().parent.parent
    version = _version(package)
    files = sorted({*_sources(str(package)), *_sources(str(schema_folder()))})
    return digest_of(version, sys.version, str(sys.implementation.cache_tag), repr(files))


def _version(package: Path) -> bytes:
    """The file that says the version, as a package may be unpacked with times that tell nothing."""
    return (package / "__init__.py").read_bytes()


def _sources(folder: str) -> list[tuple[str, int, int]]:
    found = []
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.is_dir():
                found.extend([] if entry.name in ("__pycache__", "rulesets", "docs") else _sources(entry.path))
            elif entry.name.endswith(_SOURCES):
                about = entry.stat()
                found.append((entry.path, about.st_size, about.st_mtime_ns))
    return found


# -- pickles -----------------------------------------------------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Leaves out the texts of files: they stand once in the entry, and are named by number. By type, so that no other
    object costs a call."""

    def __init__(self, file: io.BytesIO, sources: dict[int, tuple[int, SourceFile]]) -> None:
        super().__init__(file, protocol=5)
        self._sources = sources
        self.dispatch_table = copyreg.dispatch_table | {SourceFile: self._source, MethodWrapperType: _table_of}

    def _source(self, file: SourceFile) -> tuple[Callable[[int], SourceFile], tuple[int]]:
        return _source, self._sources.setdefault(id(file), (len(self._sources), file))[:1]


def _source(number: int) -> SourceFile:
    """Stands in pickles for the files of an entry."""
    raise pickle.UnpicklingError(f"file {number} is of no entry")


def _table_of(look: Any) -> tuple[Any, tuple[Any]]:
    """A look into a table is the table."""
    if look.__name__ != "__getitem__":
        raise pickle.PicklingError(f"{look} has no place in a ruleset")
    return _look_into, (look.__self__,)


def _look_into(table: Any) -> Any:
    return table.__getitem__


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: memoryview, source: Callable[[int], SourceFile]) -> None:
        super().__init__(io.BytesIO(data))
        self._source = source

    def find_class(self, module: str, name: str) -> object:
        """Classes of this package and a few plain ones. That entries are ours is made sure before; this is a fence."""
        if (module, name) == (_source.__module__, _source.__name__):
            return self._source
        if module.startswith("interpreter.") or (module, name) in _OTHERS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a ruleset")


_OTHERS = frozenset(
    {("builtins", name) for name in ("frozenset", "range", "set")}
    | {("pathlib", name) for name in ("PosixPath", "WindowsPath")}
    | {("pathlib._local", name) for name in ("PosixPath", "WindowsPath")}
)


def _pickled(value: object, sources: dict[int, tuple[int, SourceFile]]) -> bytes:
    file = io.BytesIO()
    _Pickler(file, sources).dump(value)
    return file.getvalue()


def _unpickled(data: memoryview, source: Callable[[int], SourceFile]) -> Value:
    return _Unpickler(data, source).load()


def _files(sources: dict[int, tuple[int, SourceFile]]) -> bytes:
    return marshal.dumps([(file.name, file.text) for _, file in sources.values()])


def _sources_in(files: memoryview) -> list[SourceFile]:
    return [SourceFile(name, text) for name, text in marshal.loads(files)]


def _joined(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def _parts(data: bytes) -> list[memoryview]:
    """The parts of an entry, each behind its length."""
    rest = memoryview(data)
    found = []
    while rest:
        end = 8 + int.from_bytes(rest[:8], "little")
        found.append(rest[8:end])
        rest = rest[end:]
    return found
