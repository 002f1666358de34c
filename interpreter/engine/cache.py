"""Cache of checked rulesets between runs. An entry is valid as long as nothing that the load read has changed.

The key is the request, the interpreter's source and the Python version. An entry begins with its dependencies
(:mod:`interpreter.reading.dependencies`); the rest is read only if they are unchanged. The data that a game needs is
unpickled at once, YAML values and statements on demand. :mod:`interpreter.base.store` describes where entries are and
why it is safe to unpickle them.
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
from time import monotonic
from types import FunctionType, MethodWrapperType
from typing import TYPE_CHECKING, cast

from interpreter.base.paths import ruleset_roots, schema_folder
from interpreter.base.plain_data import Value
from interpreter.base.source import Excerpt, SourceFile
from interpreter.base.store import Store, digest_of, store
from interpreter.base.tree import Placed
from interpreter.language.parse import Trees
from interpreter.reading.dependencies import Evidence, found_again

if TYPE_CHECKING:
    from interpreter.reading.yaml import Mapping

__all__ = [
    "UNREADABLE",
    "KeptTrees",
    "Late",
    "Modules",
    "Request",
    "interpreter_key",
    "kept_trees",
    "pickled",
    "request_for",
    "unpickled",
]

MOMENT = 0.05
"""Seconds for which an entry that was missing is taken to be missing still."""
_SOURCES = (".py", ".lark", ".json", ".wat")
_UNFIT = (AttributeError, EOFError, ImportError, LookupError, RecursionError, TypeError, ValueError)
UNREADABLE = (pickle.PickleError, *_UNFIT)
"""Errors of values that cannot be pickled, and of damaged pickles."""


class Request:
    """Cache lookup for an id or path with overlays."""

    def __init__(self, kept_in: Store, key: bytes) -> None:
        self.store, self.key = kept_in, key

    def kept(self) -> tuple[tuple[object, ...], Late, bytes] | None:
        """Return what a game needs from the cache, a loader for the rest, and a digest; None if there is no valid
        entry."""
        data = self.store.get(self.key)
        if data is None:
            return None
        try:
            index, files, now, late = _parts(data)
            looks = {(kind, path): result for kind, path, result in json.loads(bytes(index))}
            evidence = Evidence(looks)
            if not evidence.holds():
                return None
            found_again(evidence)
            sources = _sources_in(files)
            return unpickled(now, sources.__getitem__), Late(late, sources), digest_of(bytes(index))
        except UNREADABLE:
            return None

    def keep(self, now: object, late: object, evidence: Evidence) -> bytes | None:
        """Store a load, unless a file changed meanwhile. Return the digest of its dependencies, or None."""
        if not evidence.steady:
            return None
        sources: dict[int, tuple[int, SourceFile]] = {}
        try:
            pickles = [pickled(part, sources) for part in (now, late)]
        except UNREADABLE:
            return None
        index = json.dumps([(*look, result) for look, result in evidence.found.items()]).encode()
        self.store.put(self.key, _joined(index, _files(sources), *pickles))
        return digest_of(index)


class Late:
    """Part of an entry that is unpickled on demand."""

    def __init__(self, data: memoryview, sources: list[SourceFile]) -> None:
        self._data, self._sources = data, sources

    def read(self) -> tuple[object, ...]:
        return cast("tuple[object, ...]", unpickled(self._data, self._sources.__getitem__))


def request_for(
    name: str | Path, overlays: tuple[str, ...], roots: Iterable[Path] | None, ahead: int = 0
) -> Request | None:
    """Return the cache lookup for an id or path with overlays; None if the cache is off.

    ``roots`` are the ruleset folders (default: the common ones); the first ``ahead`` of them take precedence.
    """
    disk = store()
    if disk is None:
        return None
    text = str(name)
    is_path = isinstance(name, Path) or text.endswith((".yaml", ".yml")) or os.path.isfile(text)
    folders = [str(root) for root in (ruleset_roots() if roots is None else roots)]
    try:
        is_here = is_path or any(overlay.endswith((".yaml", ".yml")) for overlay in overlays)
        here = os.getcwd() if is_here or not all(map(os.path.isabs, folders)) else ""
    except OSError:  # the working folder was deleted
        return None
    is_beside = is_path and roots is None  # the file's own folder takes precedence
    request = [text, is_path, here, list(map(str, overlays)), is_beside, ahead, folders]
    return Request(disk, digest_of("ruleset", interpreter_key(), json.dumps(request)))


# -- compiled modules --------------------------------------------------------------------------------------------------


class Modules:
    """Cache of compiled modules of one table. ``names`` are the rest of the key: dependencies, players and settings."""

    def __init__(self, *names: str | bytes) -> None:
        self.names = names
        self._missing: dict[str, float] = {}
        """Entries that were looked for in vain, and when to look again: the plain form asks before each choice."""

    def has(self, name: str) -> bool:
        """Return whether there is an entry, valid or not, or was none a moment ago."""
        now = monotonic()
        if now < self._missing.get(name, 0):
            return False
        disk = store()
        found = disk is not None and disk.has(self._key(name))
        if not found:
            self._missing[name] = now + MOMENT
        return found

    def kept(self, name: str) -> bytes | None:
        disk = store()
        data = disk.get(self._key(name)) if disk else None
        return bytes(data) if data is not None else None

    def keep(self, name: str, data: bytes) -> None:
        disk = store()
        if disk is not None:
            disk.put(self._key(name), data)

    def _key(self, name: str) -> bytes:
        return digest_of("module", interpreter_key(), name, *self.names)


# -- parsed texts ------------------------------------------------------------------------------------------------------


class KeptTrees(Trees):
    """Cache of parsed rule texts between runs, by file.

    The first lookup of a text loads all trees of its file. Texts with errors are not cached.
    """

    def __init__(self, kept_in: Store) -> None:
        super().__init__()
        self._store = kept_in
        self._of: dict[SourceFile, list[tuple[str, Excerpt | str, Value]]] = {}
        """Cached texts by file: grammar start symbol, text and tree."""
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

    def __setitem__(self, key: tuple[str, Excerpt | str], value: Value) -> None:
        super().__setitem__(key, value)
        file = _file_of(key)
        if file is not None and not value[1]:
            self._of.setdefault(file, []).append((*key, value[0]))
            self._changed.add(file)

    def keep(self) -> None:
        """Store the newly parsed texts."""
        entries: dict[bytes, bytes] = {}
        for file in self._changed:
            sources: dict[int, tuple[int, SourceFile]] = {}
            try:
                data = pickled(self._of[file], sources)
            except UNREADABLE:
                continue
            if all(source == file for _, source in sources.values()):
                entries[self._key(file)] = data
        self._store.put_all(entries)
        self._changed.clear()

    def _fetched(self, file: SourceFile) -> list[tuple[str, Excerpt | str, Value]]:
        data = self._store.get(self._key(file))
        try:
            return list(unpickled(memoryview(data), lambda number: file)) if data is not None else []
        except UNREADABLE:
            return []

    def _key(self, file: SourceFile) -> bytes:
        return digest_of("trees", interpreter_key(), file.name, file.text)


class KeptValues:
    """Cache of the YAML values of valid files between runs, by name and text of the file."""

    def __init__(self, kept_in: Store) -> None:
        self._store = kept_in
        self._new: dict[SourceFile, Mapping] = {}

    def get(self, file: SourceFile) -> Mapping | None:
        data = self._store.get(self._key(file))
        try:
            value = unpickled(memoryview(data), lambda number: file) if data is not None else None
        except UNREADABLE:
            return None
        return value

    def add(self, file: SourceFile, root: Mapping) -> None:
        self._new[file] = root

    def keep(self) -> None:
        """Store the newly read values."""
        self._store.put_all({self._key(file): pickled(root, {}) for file, root in self._new.items()})
        self._new.clear()

    def _key(self, file: SourceFile) -> bytes:
        return digest_of("values", interpreter_key(), file.name, file.text)


MOST_FITS = 2_000
"""Maximum number of texts in the entry; the most recent ones stay."""


class KeptFits:
    """Cache of texts that match the schema of their kind: digests, kept between runs in one entry."""

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
        """Store the digests if there are new ones."""
        if self._changed:
            self._store.put(self._key(), b"".join(list(self._all())[-MOST_FITS:]))
        self._changed = False

    def _all(self) -> dict[bytes, None]:
        if self._known is None:
            data, size = self._store.get(self._key()) or b"", len(digest_of())
            self._known = dict.fromkeys(data[start : start + size] for start in range(0, len(data), size))
        return self._known

    def _key(self) -> bytes:
        return digest_of("fits", interpreter_key())


def _file_of(key: Value) -> SourceFile | None:
    """Return the file of a parsed text; None for a text without position."""
    text = key[1]
    return None if isinstance(text, str) else text.file


@contextmanager
def kept_trees() -> Iterator[None]:
    """Use the caches of parsed texts, YAML values and schema checks inside the context, and store new entries at its
    end."""
    from interpreter.language.parse import is_remembering, remembered
    from interpreter.reading.schema import fitting
    from interpreter.reading.yaml import knowing

    disk = store()
    if disk is None or is_remembering():
        with remembered():
            yield
        return
    memories = trees, fits, values = KeptTrees(disk), KeptFits(disk), KeptValues(disk)
    with remembered(trees), fitting(fits), knowing(values):
        try:
            yield
        finally:
            for memory in memories:
                memory.keep()


# -- interpreter -------------------------------------------------------------------------------------------------------


@cache
def interpreter_key() -> bytes:
    """Return the key of this interpreter: version, path, size and time of its source files, and the Python version."""
    package = Path(__file__).resolve().parent.parent
    version = _version(package)
    files = sorted({*_sources(str(package)), *_sources(str(schema_folder()))})
    return digest_of(version, sys.version, str(sys.implementation.cache_tag), repr(files))


def _version(package: Path) -> bytes:
    """Return the file that contains the version: unpacked packages may have meaningless file times."""
    return (package / "__init__.py").read_bytes()


def _sources(folder: str) -> list[tuple[str, int, int]]:
    files = []
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.is_dir():
                files.extend([] if entry.name in ("__pycache__", "rulesets", "docs") else _sources(entry.path))
            elif entry.name.endswith(_SOURCES):
                status = entry.stat()
                files.append((entry.path, status.st_size, status.st_mtime_ns))
    return files


# -- pickles -----------------------------------------------------------------------------------------------------------


Look = Callable[[Value], Value]


def _source(number: int) -> SourceFile:
    """Placeholder for files in pickles; the unpickler replaces it."""
    raise pickle.UnpicklingError(f"file {number} is in no entry")


def _table_of(look: MethodWrapperType) -> tuple[Callable[[dict[Value, Value]], Look], tuple[object]]:
    """Pickle a bound `__getitem__` as its table."""
    if look.__name__ != "__getitem__":
        raise pickle.PicklingError(f"{look} does not belong in a ruleset")
    return _look_into, (look.__self__,)


def _look_into(table: dict[Value, Value]) -> Look:
    return table.__getitem__


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: memoryview, source: Callable[[int], SourceFile]) -> None:
        super().__init__(io.BytesIO(data))
        self._source = source

    def find_class(self, module: str, name: str) -> object:
        """Allow classes of this package and a few plain ones only: a second line of defence, as entries are trusted
        already."""
        if (module, name) == (_source.__module__, _source.__name__):
            return self._source
        if module.startswith("interpreter.") or (module, name) in _OTHERS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} does not belong in a ruleset")


_rebuild = cast(FunctionType, Placed().__reduce__()[0])
"""How records with keyword-only fields are unpickled."""
_OTHERS = frozenset(
    {("builtins", name) for name in ("frozenset", "range", "set")}
    | {(_rebuild.__module__, _rebuild.__name__)}
    | {("pathlib", name) for name in ("PosixPath", "WindowsPath")}
    | {("pathlib._local", name) for name in ("PosixPath", "WindowsPath")}
)


def pickled(value: object, sources: dict[int, tuple[int, SourceFile]]) -> bytes:
    """Pickle a value. The text of a file is stored once, in ``sources``, and named by its number.

    Types are dispatched by a table, so that other objects cost no call. It must not refer to the pickler: many loads in
    a row run without the cycle collector, and a pickler keeps all that it has seen.
    """

    def numbered(file: SourceFile) -> tuple[Callable[[int], SourceFile], tuple[int]]:
        return _source, sources.setdefault(id(file), (len(sources), file))[:1]

    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=5)
    pickler.dispatch_table = copyreg.dispatch_table | {SourceFile: numbered, MethodWrapperType: _table_of}
    pickler.dump(value)
    return file.getvalue()


def unpickled(data: memoryview, source: Callable[[int], SourceFile]) -> Value:
    return _Unpickler(data, source).load()


def _files(sources: dict[int, tuple[int, SourceFile]]) -> bytes:
    return marshal.dumps([(file.name, file.text) for _, file in sources.values()])


def _sources_in(files: memoryview) -> list[SourceFile]:
    return [SourceFile(name, text) for name, text in marshal.loads(files)]


def _joined(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def _parts(data: bytes) -> list[memoryview]:
    """Split an entry into its parts, each of which follows its length."""
    rest = memoryview(data)
    parts = []
    while rest:
        end = 8 + int.from_bytes(rest[:8], "little")
        parts.append(rest[8:end])
        rest = rest[end:]
    return parts
