"""Cache of checked rulesets between runs. An entry is valid as long as nothing that the load read has changed.

The key is the request, the interpreter's source and the Python version. An entry has parts, which hold if
their dependencies (:mod:`interpreter.reading.dependencies`) are unchanged. The part that a game needs is unpickled at
once, YAML values and statements on demand. :mod:`interpreter.base.store` describes where entries are and
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
from collections.abc import Callable, Iterable
from functools import cache, partial
from math import inf
from pathlib import Path
from time import monotonic
from types import FunctionType, MethodWrapperType
from typing import TypeVar, cast

from msgspec import Struct

from interpreter.base.lazy import Lazy
from interpreter.base.paths import ruleset_roots, schema_folder
from interpreter.base.plain_data import Value
from interpreter.base.source import SourceFile
from interpreter.base.store import Store, digest_of, store
from interpreter.base.tree import Placed
from interpreter.reading.dependencies import Evidence, found_again, found_now

__all__ = [
    "UNREADABLE",
    "Entry",
    "Modules",
    "Part",
    "Question",
    "Writer",
    "interpreter_key",
    "pickled",
    "request_for",
    "unpickled",
]

T = TypeVar("T")

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

    def kept(self, make: Callable[..., T]) -> tuple[T, str] | None:
        """Return what ``make`` makes of the parts in the cache, and the digest of their dependencies; None if there is
        no valid entry."""
        entry = Entry(self.store.get(self.key))
        parts = [*entry.answers.values()]
        if not parts or not entry.holds(parts[0]):  # all have the same dependencies
            return None
        found_again(entry.evidence(parts[0]))
        try:
            return make(*(partial(entry.value, part) for part in parts)), _digest(entry.looks)
        except UNREADABLE:
            return None

    def keep(self, parts: Iterable[object], evidence: Evidence) -> str | None:
        """Store the parts of a load, unless a file changed meanwhile. Return the digest of its files."""
        if not evidence.steady:
            return None
        writer = Writer()
        try:
            for number, part in reversed([*enumerate(parts)]):  # a writer gets the first one last
                writer.add_new((str(number),), part, evidence)
        except UNREADABLE:
            return None
        self.store.put(self.key, writer.written())
        return _digest(writer.looks)


Part = Callable[[], Value]
"""Part of an entry, which is unpickled when it is called."""


def _digest(looks: Iterable[Look]) -> str:
    return digest_of(json.dumps([*looks])).hex()


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
        return disk.get(self._key(name)) if disk is not None else None

    def keep(self, name: str, data: bytes) -> None:
        disk = store()
        if disk is not None:
            disk.put(self._key(name), data)

    def _key(self, name: str) -> bytes:
        return digest_of("module", interpreter_key(), name, *self.names)


# -- entries -----------------------------------------------------------------------------------------------------------


Question = tuple[str, ...]
Look = tuple[str, str, str]
"""An access: what of which path, and the result."""
File = tuple[str, str]
"""Name and text of a file that positions in an answer lie in."""


class Kept(Struct):
    """An answer in an entry: numbers of its accesses and of the files that its pickle names, and the pickle."""

    looks: tuple[int, ...]
    files: tuple[int, ...]
    data: bytes


class Entry:
    """Answers of a topic as they are stored. Accesses and files have numbers, as many answers share them."""

    def __init__(self, data: bytes | None = None) -> None:
        looks: list[Look]
        files: list[File]
        try:
            looks, files, answers = marshal.loads(data) if data is not None else ([], [], [])
        except (EOFError, TypeError, ValueError):
            looks, files, answers = [], [], []
        self.looks, self.files = looks, files
        self.answers = {question: Kept(*answer) for question, *answer in answers}
        self._sources = Lazy[int, SourceFile](lambda number: SourceFile(*files[number]))
        self._current = Lazy[int, bool](lambda number: found_now(*looks[number][:2]) == looks[number][2])

    def holds(self, answer: Kept) -> bool:
        """Return whether all accesses that led to an answer would have the same results."""
        return all(self._current[number] for number in answer.looks)

    def evidence(self, answer: Kept) -> Evidence:
        looks = (self.looks[number] for number in answer.looks)
        return Evidence({(what, path): found for what, path, found in looks})

    def value(self, answer: Kept) -> object:
        """Unpickle an answer. Raises one of ``UNREADABLE``."""
        return unpickled(memoryview(answer.data), lambda number: self._sources[answer.files[number]])


class Writer:
    """Collects answers for an entry, the most important first, up to a number of them and about a number of bytes."""

    def __init__(self, most: float = inf, most_bytes: float = inf) -> None:
        self._most, self._most_bytes = most, most_bytes
        self.looks: dict[Look, int] = {}
        self.files: dict[File, int] = {}
        self.answers: dict[Question, Kept] = {}
        self.size = 0

    def add_new(self, question: Question, answer: object, evidence: Evidence) -> None:
        """Add an answer. Raises one of ``UNREADABLE``."""
        data, files = pickled(answer)
        looks = [(*look, found) for look, found in evidence.found.items()]
        self.add(question, looks, [(file.name, file.text) for file in files], data)

    def add(self, question: Question, looks: list[Look], files: list[File], data: bytes) -> None:
        """Add an answer, unless there is a newer one or no room."""
        if question in self.answers or len(self.answers) >= self._most or self.size > self._most_bytes:
            return
        self.size += len(data) + 8 * len(looks) + sum(len(file[1]) for file in files if file not in self.files)
        self.answers[question] = Kept(
            tuple(self.looks.setdefault(look, len(self.looks)) for look in looks),
            tuple(self.files.setdefault(file, len(self.files)) for file in files),
            data,
        )

    def add_all(self, entry: Entry, questions: list[Question]) -> None:
        """Add answers of an entry."""
        for question in questions:
            answer = entry.answers[question]
            looks = [entry.looks[number] for number in answer.looks]
            self.add(question, looks, [entry.files[number] for number in answer.files], answer.data)

    def written(self) -> bytes:
        answers = [(question, each.looks, each.files, each.data) for question, each in reversed(self.answers.items())]
        return marshal.dumps((list(self.looks), list(self.files), answers))


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


Lookup = Callable[[Value], Value]


def _source(number: int) -> SourceFile:
    """Placeholder for files in pickles; the unpickler replaces it."""
    raise pickle.UnpicklingError(f"file {number} is in no entry")


def _table_of(look: MethodWrapperType) -> tuple[Callable[[dict[Value, Value]], Lookup], tuple[object]]:
    """Pickle a bound `__getitem__` as its table."""
    if look.__name__ != "__getitem__":
        raise pickle.PicklingError(f"{look} does not belong in a ruleset")
    return _look_into, (look.__self__,)


def _look_into(table: dict[Value, Value]) -> Lookup:
    return table.__getitem__


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: memoryview, source: Callable[[int], SourceFile]) -> None:
        super().__init__(io.BytesIO(data))
        self._source = source

    def find_class(self, module: str, name: str) -> object:
        """Allow classes of this package and a few others: a second line of defence, as entries are trusted already."""
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


def pickled(value: object) -> tuple[bytes, list[SourceFile]]:
    """Pickle a value. Files are not in it, but named by their numbers in the list that is returned too.

    Types are dispatched by a table, so that other objects cost no call. It must not refer to the pickler: many loads in
    a row run without the cycle collector, and a pickler keeps all that it has seen.
    """
    sources: dict[int, tuple[int, SourceFile]] = {}

    def numbered(file: SourceFile) -> tuple[Callable[[int], SourceFile], tuple[int]]:
        return _source, sources.setdefault(id(file), (len(sources), file))[:1]

    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=5)
    pickler.dispatch_table = copyreg.dispatch_table | {SourceFile: numbered, MethodWrapperType: _table_of}
    pickler.dump(value)
    return file.getvalue(), [source for _, source in sources.values()]


def unpickled(data: memoryview, source: Callable[[int], SourceFile]) -> Value:
    return _Unpickler(data, source).load()
