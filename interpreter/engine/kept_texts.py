"""Cache of YAML values, syntax trees and schema checks between runs, for loads that miss the cache of rulesets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from interpreter.base.lazy import Lazy
from interpreter.base.plain_data import Value
from interpreter.base.source import Excerpt, SourceFile
from interpreter.base.store import Store, digest_of, store
from interpreter.engine.cache import UNREADABLE, interpreter_key, pickled, unpickled
from interpreter.language.parse import Trees, remembered, remembering
from interpreter.reading.yaml import knowing

__all__ = ["KeptTrees", "kept_trees"]


class KeptOfFiles:
    """Cache of values between runs, by name and text of the file that they come from."""

    def __init__(self, kept_in: Store, kind: str) -> None:
        self._store, self._kind = kept_in, kind
        self._known = Lazy(self._stored)
        self._new: dict[SourceFile, Value] = {}

    def get(self, file: SourceFile) -> Value | None:
        return self._known[file]

    def _stored(self, file: SourceFile) -> Value | None:
        data = self._store.get(self._key(file))
        try:
            return unpickled(memoryview(data), lambda number: file) if data is not None else None
        except UNREADABLE:
            return None

    def add(self, file: SourceFile, value: Value) -> None:
        self._known[file] = self._new[file] = value

    def keep(self) -> None:
        """Store the new values that lie in their file alone."""
        entries: dict[bytes, bytes] = {}
        for file, value in self._new.items():
            try:
                data, sources = pickled(value)
            except UNREADABLE:
                continue
            if all(source == file for source in sources):
                entries[self._key(file)] = data
        self._store.put_all(entries)
        self._new.clear()

    def _key(self, file: SourceFile) -> bytes:
        return digest_of(self._kind, interpreter_key(), file.name, file.text)


class KeptTrees(Trees):
    """Cache of parsed rule texts between runs, by file.

    The first lookup of a text loads all trees of its file. Texts with errors are not cached.
    """

    def __init__(self, kept_in: Store) -> None:
        super().__init__()
        self.files = KeptOfFiles(kept_in, "trees")
        self._of: dict[SourceFile, list[tuple[str, Excerpt | str, Value]]] = {}
        """Cached texts by file: grammar start symbol, text and tree."""

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        file = _file_of(key)
        if file is None or file in self._of:
            return False
        self._of[file] = list(self.files.get(file) or ())
        self.update(((start, text), (tree, [])) for start, text, tree in self._of[file])
        return super().__contains__(key)

    def __setitem__(self, key: tuple[str, Excerpt | str], value: Value) -> None:
        super().__setitem__(key, value)
        file = _file_of(key)
        if file is not None and not value[1]:
            self._of.setdefault(file, []).append((*key, value[0]))
            self.files.add(file, self._of[file])


def _file_of(key: Value) -> SourceFile | None:
    """Return the file of a parsed text; None for a text without position."""
    text = key[1]
    return None if isinstance(text, str) else text.file


@contextmanager
def kept_trees() -> Iterator[None]:
    """Use the caches of parsed texts, YAML values and schema checks inside, and store new entries at the end."""
    disk = store()
    if disk is None or remembering.value is not None:
        with remembered():
            yield
        return
    trees, values = KeptTrees(disk), KeptOfFiles(disk, "values")
    with remembered(trees), knowing(values):
        try:
            yield
        finally:
            trees.files.keep()
            values.keep()
