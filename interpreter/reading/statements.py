"""Statements of rulebooks: sentences of fact with the ids that rules cite."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from io import StringIO
from pathlib import Path

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note, readable
from interpreter.base.plurals import counted
from interpreter.base.source import SourceFile, Span
from interpreter.base.suggest import did_you_mean
from interpreter.reading.dependencies import digest, looked_at, looks_once
from interpreter.reading.files import Shelf, files_at

__all__ = ["Statement", "check_statements", "statement_places", "statements_of", "unknown_statement"]

REQUIRED = ("id", "kind", "statement")
STATEMENT_KINDS = ("rule", "table", "component", "example", "advice", "ui", "gap", "fill")


class Statement(Struct, frozen=True):
    """A sentence of fact of a rulebook (``kind``: rule, table, example, component, advice or ui), a fill or a gap."""

    id: str
    book: str
    kind: str
    phase: str
    text: str
    reading: str = ""

    @property
    def told(self) -> str:
        """Return the text, for a gap with the reading that the rules follow."""
        return f"{self.text} → {self.reading}" if self.reading else self.text


@looks_once
def statements_of(shelf: Shelf) -> dict[str, Statement]:
    """Return all statements in the folders of rulesets, by id."""
    statements: dict[str, Statement] = {}
    for path, _ in _files(shelf):
        for statement in _statements(path.stem, _bytes(path)[0])[0]:
            statements.setdefault(statement.id, statement)
    return statements


@looks_once
def statement_places(shelf: Shelf) -> dict[str, tuple[Path, int]]:
    """Return the file and line of each statement, by id, in files whose first column has the ids."""
    return {
        line.partition(b",")[0].strip(b'"').decode("utf-8", "replace"): (path, number)
        for path, _ in reversed([*_files(shelf)])
        for number, line in enumerate(_bytes(path)[0].splitlines(), 1)
    }


@looks_once
def check_statements(shelf: Shelf, family: str) -> list[Diagnostic]:
    """Report files of a family's statements that cannot be read, and rows that are not as the first line says."""
    diagnostics: list[Diagnostic] = []
    for path, name in _files(shelf):
        if name.startswith(f"{family}/"):
            data, problem = _bytes(path)
            if problem := problem or _statements(path.stem, data)[1]:
                diagnostics.append(Diagnostic("E603", f"cannot read `{name}`: {problem}", None))
            else:
                diagnostics += _check_rows(name, data)
    return diagnostics


def unknown_statement(id: str, span: Span, statements: dict[str, Statement]) -> Diagnostic:
    """Return the error for an unknown statement. It suggests ids with the same letters, if there are any."""
    letters = id.rpartition("-")[0]
    alike = [known for known in statements if known.rpartition("-")[0] == letters] or statements
    return Diagnostic("E601", f"unknown statement `{id}`{did_you_mean(id, alike)}", span)


def _files(shelf: Shelf) -> Iterator[tuple[Path, str]]:
    for root in shelf.roots:
        for path in files_at(root, "*/statements/*.csv"):
            yield path, path.relative_to(root).as_posix()


def _bytes(path: Path) -> tuple[bytes, str]:
    """Return the content of a file, and the reason if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        looked_at("file", path)
        return b"", (error.strerror or str(error)).lower()
    looked_at("file", path, digest(data))
    return data, ""


@lru_cache(maxsize=64)
def _statements(stem: str, data: bytes) -> tuple[tuple[Statement, ...], str]:
    """Return the statements of a file with this content, and the reason if it holds none."""
    try:
        reader = csv.DictReader(StringIO(_text(data), newline=""))
        if missing := [name for name in REQUIRED if name not in (reader.fieldnames or ())]:
            return (), f"the first line has no column `{missing[0]}`"
        return tuple(_statement(row, stem) for row in reader), ""
    except UnicodeDecodeError:
        return (), "it is not UTF-8"
    except csv.Error as error:
        return (), str(error).lower()


def _text(data: bytes) -> str:
    """Return the text of a file, without the mark that spreadsheets put before it."""
    return data.decode("utf-8-sig")


@lru_cache(maxsize=64)
def _check_rows(name: str, data: bytes) -> tuple[Diagnostic, ...]:
    """Report the rows that do not fit the first line, once for all rulesets of the family."""
    return tuple(_misfits(SourceFile(name, _text(data))))


def _misfits(file: SourceFile) -> Iterator[Diagnostic]:
    rows = csv.reader(StringIO(file.text, newline=""))
    columns = next(rows)
    first: dict[str, Span] = {}
    after = rows.line_num
    for row in rows:
        begin, after = file.line_starts[min(after, len(file.line_starts) - 1)], rows.line_num  # lines may end with \r
        span = Span(file, begin, begin + len(file.line(file.position(begin)[0])))
        cells = dict(zip(columns, row, strict=False))
        id, kind = cells.get("id"), cells.get("kind")
        if row and len(row) != len(columns):
            message = f"got {counted(len(row), 'cell')}, want {len(columns)}"
            yield Diagnostic("E603", message, span, help="put text with a comma in double quotes")
        elif missing := [name for name in REQUIRED if row and not cells[name]]:
            yield Diagnostic("E603", f"a row without `{missing[0]}`", span)
        elif kind is not None and kind not in STATEMENT_KINDS:
            yield Diagnostic("E603", f"unknown kind `{kind}`{did_you_mean(kind, STATEMENT_KINDS)}", span)
        if id and (known := first.setdefault(id, span)) is not span:
            yield Diagnostic("E603", f"`{id}` is given twice", span, (Note("first given here", known),))


def _statement(row: dict[str, str | None], stem: str) -> Statement:
    columns = {"id": "", "book": stem, "kind": "", "phase": "", "statement": "", "reading": ""}
    return Statement(*(readable(row.get(name) or default) for name, default in columns.items()))
