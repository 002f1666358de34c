"""Parser of printed tables: lines of cells between ``|`` become a header and rows, with the position of each cell.

The meaning of cells (keys, numbers, names, empty) is left to the readers of declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Excerpt, Span

__all__ = ["Cell", "PrintedTable", "read_printed"]

MAXIMUM_ROWS = 5_000
MAXIMUM_CELLS = 100_000
_OTHER_SEPARATORS = re.compile(r"[,;\t]| {2,}")


class Cell(Struct, frozen=True):
    """Cell between two ``|``, without the spaces around it. The span of an empty cell is one character."""

    text: str
    span: Span


class PrintedTable(Struct, frozen=True):
    """A header and rows of the same number of cells."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]


def read_printed(excerpt: Excerpt) -> tuple[PrintedTable, list[Diagnostic]]:
    """Parse a table. Blank lines and comments are skipped; rows of the wrong length are reported and dropped."""
    empty = PrintedTable((), ())
    places = list(_lines(excerpt.text))
    if not places:
        return empty, [Diagnostic("E022", "the table is empty, want a header and rows", excerpt.span(0, 1))]
    if len(places) > MAXIMUM_ROWS + 1:
        message = f"got {len(places) - 1:,} rows, want at most {MAXIMUM_ROWS:,}"
        return empty, [Diagnostic("E023", message, excerpt.span(*places[MAXIMUM_ROWS + 1]))]
    header, *rows = (tuple(_cells(excerpt, start, end)) for start, end in places)
    if (foreign := _foreign(excerpt, header, *places[0])) is not None:
        return empty, [foreign]
    if len(rows) * len(header) > MAXIMUM_CELLS:
        message = f"got {len(rows):,} rows of {len(header):,} cells, want at most {MAXIMUM_CELLS:,} cells"
        return empty, [Diagnostic("E023", message, header[0].span)]
    fitting = tuple(row for row in rows if len(row) == len(header))
    wrong = (_wrong_length(header, row) for row in rows if len(row) != len(header))
    return PrintedTable(header, fitting), [*_check_header(header), *wrong]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line with cells."""
    start = 0
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            yield start, start + len(line)
        start += len(line) + 1


def _cells(excerpt: Excerpt, start: int, end: int) -> Iterator[Cell]:
    for part in excerpt.text[start:end].split("|"):
        text = part.strip()
        if text:
            first = start + part.index(text)
            yield Cell(text, excerpt.span(first, first + len(text)))
        else:
            first = min(start, len(excerpt.text) - 1)
            yield Cell("", excerpt.span(first, first + 1))
        start += len(part) + 1


def _foreign(excerpt: Excerpt, header: tuple[Cell, ...], start: int, end: int) -> Diagnostic | None:
    """Report a table in another format: with `|` at the ends of lines, or with other separators."""
    if excerpt.text[start:end].lstrip().startswith("|"):
        remedy = "remove the `|` at the ends of all lines, and the line of dashes"
        return Diagnostic("E022", "got a `|` before the first cell, want it between cells", header[0].span, help=remedy)
    if len(header) == 1 and _OTHER_SEPARATORS.search(header[0].text):
        return Diagnostic("E022", "got a header of one cell, want `|` between cells", header[0].span)
    return None


def _check_header(header: tuple[Cell, ...]) -> Iterator[Diagnostic]:
    seen: dict[str, Cell] = {}
    for cell in header:
        if not cell.text:
            yield Diagnostic("E022", "got a column without a name, want a name in each cell", cell.span)
        elif (first := seen.setdefault(cell.text, cell)) is not cell:
            notes = (Note("first given here", first.span),)
            yield Diagnostic("E021", f"column `{cell.text}` is given twice, want it once", cell.span, notes)


def _wrong_length(header: tuple[Cell, ...], row: tuple[Cell, ...]) -> Diagnostic:
    got = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
    note = Note(f"the header has {len(header)}", header[0].span.to(header[-1].span))
    return Diagnostic("E020", f"got {got}, want {len(header)}", row[0].span.to(row[-1].span), (note,))
