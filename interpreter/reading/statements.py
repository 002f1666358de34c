"""Statements of rulebooks: sentences of fact with the ids that rules cite."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from io import StringIO
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic, readable
from interpreter.base.frozen import dataclass
from interpreter.reading.dependencies import digest, looked_at
from interpreter.reading.files import Shelf, files_at

__all__ = ["Statement", "check_statements", "statements_of"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of fact of a rulebook (``kind``: rule, table, example, component, advice or ui), a fill or a gap."""

    id: str
    book: str
    kind: str
    phase: str
    text: str
    reading: str = ""


def statements_of(shelf: Shelf) -> dict[str, Statement]:
    """Return all statements in the folders of rulesets, by id."""
    statements: dict[str, Statement] = {}
    for path, _ in _files(shelf):
        for statement in _read(path)[0]:
            statements.setdefault(statement.id, statement)
    return statements


def check_statements(shelf: Shelf) -> list[Diagnostic]:
    """Report files of statements that cannot be read."""
    problems = ((name, _read(path)[1]) for path, name in _files(shelf))
    return [Diagnostic("E603", f"cannot read `{name}`: {problem}", None) for name, problem in problems if problem]


def _files(shelf: Shelf) -> Iterator[tuple[Path, str]]:
    for root in shelf.roots:
        for path in files_at(root, "*/statements/*.csv"):
            yield path, path.relative_to(root).as_posix()


def _read(path: Path) -> tuple[tuple[Statement, ...], str]:
    """Return the statements of a file, and the reason if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        looked_at("file", path)
        return (), (error.strerror or str(error)).lower()
    looked_at("file", path, digest(data))
    return _statements(path.stem, data)


@lru_cache(maxsize=64)
def _statements(stem: str, data: bytes) -> tuple[tuple[Statement, ...], str]:
    try:
        reader = csv.DictReader(StringIO(data.decode("utf-8"), newline=""))
        missing = [name for name in ("id", "kind", "statement") if name not in (reader.fieldnames or ())]
        if missing:
            return (), f"the first line has no column `{missing[0]}`"
        return tuple(_statement(row, stem) for row in reader), ""
    except UnicodeDecodeError:
        return (), "it is not UTF-8"
    except csv.Error as error:
        return (), str(error).lower()


def _statement(row: dict[str, str | None], stem: str) -> Statement:
    def cell(name: str) -> str:
        return row.get(name) or ""

    book = cell("book") or stem
    texts = (cell("id"), book, cell("kind"), cell("phase"), cell("statement"), cell("reading"))
    return Statement(*map(readable, texts))
