"""Answers kept between runs: what was found out about files, valid as long as nothing that was looked at has changed.

A question is a list of words; its answer is a value that can be pickled, with all accesses to files, folders and paths
that led to it (:mod:`interpreter.reading.dependencies`). What else an answer depends on belongs to the question. The
answers of one topic are one entry of the store, so that many of them are read at once, and each access that they share
is looked up once. Answers that depend on unsaved texts are never stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar, cast

from interpreter.base.paths import ruleset_roots
from interpreter.base.store import Store, digest_of, store
from interpreter.engine.cache import UNREADABLE, Entry, Question, Writer, interpreter_key
from interpreter.reading.dependencies import Evidence, found_again, found_once
from interpreter.reading.unsaved_files import unsaved

__all__ = ["Answers", "kept_answers"]

MOST_ANSWERS = 4_000
MOST_BYTES = 8 * 1024 * 1024
"""Limits of an entry; the answers that were used last stay."""

T = TypeVar("T")


class Answers:
    """Answers of one topic: those of earlier runs, and new ones."""

    def __init__(self, kept_in: Store | None, key: bytes) -> None:
        self._store, self._key = kept_in, key
        self._data = kept_in.get(key) if kept_in is not None else None
        self._old = Entry(self._data)
        self._used: dict[Question, object] = {}
        """Old answers that were asked for and still hold."""
        self._new: dict[Question, tuple[object, Evidence]] = {}

    def to(self, question: Question, find: Callable[[], T]) -> T:
        """Return the answer to a question: a kept one that still holds, or a new one from ``find``."""
        if question in self._new or not self._has(question):
            return cast(T, found_once(self._new, question, find))
        found_again(self._old.evidence(self._old.answers[question]))
        return cast(T, self._used[question])

    def _has(self, question: Question) -> bool:
        """Return whether a kept answer holds, and make it ready."""
        if question in self._used:
            return True
        kept = self._old.answers.get(question)
        if kept is None or not self._old.holds(kept):
            return False
        try:
            self._used[question] = self._old.value(kept)
        except UNREADABLE:
            return False
        return True

    def keep(self) -> None:
        """Store the new answers, those that were used, and as many others as there is room for."""
        if self._store is None or not self._new or unsaved.value:
            return
        writer = Writer(MOST_ANSWERS, MOST_BYTES)
        for question, (answer, evidence) in reversed(self._new.items()):
            if evidence.steady:
                with suppress(*UNREADABLE):
                    writer.add_new(question, answer, evidence)
        writer.add_all(self._old, list(reversed(self._used)))
        entry = self._store.get(self._key)  # another process may have stored answers meanwhile
        latest = self._old if entry == self._data else Entry(entry)
        writer.add_all(latest, list(reversed(latest.answers)))
        self._store.put(self._key, writer.written())


@contextmanager
def kept_answers(*topic: str) -> Iterator[Answers]:
    """Yield the answers of a topic and store the new ones at the end. Topics of other folders of rulesets and of
    another current folder are others."""
    try:
        here = os.getcwd()
    except OSError:  # the folder was deleted
        here = None
    disk = store() if here is not None else None
    key = digest_of("answers", interpreter_key(), json.dumps([topic, here, list(map(str, ruleset_roots()))]))
    answers = Answers(disk, key)
    try:
        yield answers
    finally:
        answers.keep()
