"""Answers kept between runs: what was found out about files, valid as long as nothing that was looked at has changed.

A question is a list of words; its answer is a value that can be pickled, with all accesses to files, folders and paths
that led to it (:mod:`interpreter.reading.dependencies`). What else an answer depends on belongs to the question. The
answers of one topic are one entry of the store, so that many of them are read at once, and each access that they share
is looked up once. Answers that depend on unsaved texts are never stored.
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from msgspec import Struct

from interpreter.base.paths import ruleset_roots
from interpreter.base.plain_data import Value
from interpreter.base.source import SourceFile
from interpreter.base.store import Store, digest_of, store
from interpreter.engine.cache import UNREADABLE, interpreter_key, pickled, unpickled
from interpreter.reading.dependencies import Evidence, Now, found_again, noted
from interpreter.reading.unsaved_files import has_unsaved

__all__ = ["Answers", "kept_answers"]

MOST_ANSWERS = 4_000
MOST_BYTES = 8 * 1024 * 1024
"""Limits of an entry; the answers that were used last stay."""

T = TypeVar("T")
Question = tuple[str, ...]
_Look = tuple[str, str, str]
"""An access: what of which path, and the result."""
_File = tuple[str, str]
"""Name and text of a file that positions in an answer lie in."""


class _Kept(Struct):
    """An answer in an entry: numbers of its accesses and of the files that its pickle names, and the pickle."""

    looks: tuple[int, ...]
    files: tuple[int, ...]
    data: bytes


class _Entry:
    """Answers of a topic as they are stored. Accesses and files have numbers, as many answers share them."""

    def __init__(self, data: bytes | None = None) -> None:
        looks, files, answers = _read(data)
        self.looks: list[_Look] = looks
        self.files: list[_File] = files
        self.answers = {question: _Kept(*answer) for question, *answer in answers}
        self._sources: dict[int, SourceFile] = {}
        self._current: dict[int, bool] = {}

    def holds(self, answer: _Kept, now: Now) -> bool:
        """Return whether all accesses that led to an answer would have the same results."""
        return all(self._is_current(number, now) for number in answer.looks)

    def _is_current(self, number: int, now: Now) -> bool:
        known = self._current.get(number)
        if known is None:
            what, path, found = self.looks[number]
            known = self._current[number] = now[what, path] == found
        return known

    def evidence(self, answer: _Kept) -> Evidence:
        looks = (self.looks[number] for number in answer.looks)
        return Evidence({(what, path): found for what, path, found in looks})

    def value(self, answer: _Kept) -> object:
        """Unpickle an answer. Raises one of ``UNREADABLE``."""
        return unpickled(memoryview(answer.data), lambda number: self._source(answer.files[number]))

    def _source(self, number: int) -> SourceFile:
        if number not in self._sources:
            self._sources[number] = SourceFile(*self.files[number])
        return self._sources[number]


def _read(data: bytes | None) -> tuple[Value, Value, Value]:
    try:
        looks, files, answers = marshal.loads(data) if data is not None else ([], [], [])
    except (EOFError, TypeError, ValueError):
        return [], [], []
    return looks, files, answers


class _Writer:
    """Collects answers for an entry, the most important first."""

    def __init__(self) -> None:
        self.looks: dict[_Look, int] = {}
        self.files: dict[_File, int] = {}
        self.answers: dict[Question, _Kept] = {}
        self.size = 0

    def add(self, question: Question, looks: list[_Look], files: list[_File], data: bytes) -> None:
        """Add an answer, unless there is a newer one or no room."""
        if question in self.answers or len(self.answers) >= MOST_ANSWERS or self.size > MOST_BYTES:
            return
        self.size += len(data) + 8 * len(looks) + sum(len(file[1]) for file in files if file not in self.files)
        self.answers[question] = _Kept(
            tuple(self.looks.setdefault(look, len(self.looks)) for look in looks),
            tuple(self.files.setdefault(file, len(self.files)) for file in files),
            data,
        )

    def add_all(self, entry: _Entry, questions: list[Question]) -> None:
        """Add answers of an entry."""
        for question in questions:
            answer = entry.answers[question]
            looks = [entry.looks[number] for number in answer.looks]
            self.add(question, looks, [entry.files[number] for number in answer.files], answer.data)

    def written(self) -> bytes:
        answers = [(question, each.looks, each.files, each.data) for question, each in reversed(self.answers.items())]
        return marshal.dumps((list(self.looks), list(self.files), answers))


class Answers:
    """Answers of one topic: those of earlier runs, and new ones."""

    def __init__(self, kept_in: Store | None, key: bytes, now: Now | None = None) -> None:
        self._store, self._key = kept_in, key
        self._data = kept_in.get(key) if kept_in is not None else None
        self._old = _Entry(self._data)
        self._used: dict[Question, object] = {}
        """Old answers that were asked for and still hold."""
        self._new: dict[Question, tuple[object, Evidence]] = {}
        self.now = Now() if now is None else now

    def to(self, question: Question, find: Callable[[], T]) -> T:
        """Return the answer to a question: a kept one that still holds, or a new one from ``find``."""
        if question in self._new:
            answer, evidence = self._new[question]
            found_again(evidence)
            return cast(T, answer)
        if self._has(question):
            found_again(self._old.evidence(self._old.answers[question]))
            return cast(T, self._used[question])
        with noted() as evidence:
            found = find()
        self._new[question] = found, evidence
        return found

    def _has(self, question: Question) -> bool:
        """Return whether a kept answer holds, and make it ready."""
        if question in self._used:
            return True
        kept = self._old.answers.get(question)
        if kept is None or not self._old.holds(kept, self.now):
            return False
        try:
            self._used[question] = self._old.value(kept)
        except UNREADABLE:
            return False
        return True

    def keep(self) -> None:
        """Store the new answers, those that were used, and as many others as there is room for."""
        if self._store is None or not self._new or has_unsaved():
            return
        writer = _Writer()
        for question, (answer, evidence) in reversed(self._new.items()):
            if evidence.steady:
                sources: dict[int, tuple[int, SourceFile]] = {}
                try:
                    data = pickled(answer, sources)
                except UNREADABLE:
                    continue
                files = [(file.name, file.text) for _, file in sources.values()]
                writer.add(question, [(*look, found) for look, found in evidence.found.items()], files, data)
        writer.add_all(self._old, list(reversed(self._used)))
        entry = self._store.get(self._key)  # another process may have stored answers meanwhile
        latest = self._old if entry == self._data else _Entry(entry)
        writer.add_all(latest, list(reversed(latest.answers)))
        self._store.put(self._key, writer.written())


@contextmanager
def kept_answers(*topic: str, now: Now | None = None) -> Iterator[Answers]:
    """Yield the answers of a topic and store the new ones at the end. Topics of other folders of rulesets and of
    another current folder are others."""
    try:
        here = os.getcwd()
    except OSError:  # the folder was deleted
        here = None
    disk = store() if here is not None else None
    key = digest_of("answers", interpreter_key(), json.dumps([topic, here, list(map(str, ruleset_roots()))]))
    answers = Answers(disk, key, now)
    try:
        yield answers
    finally:
        answers.keep()
