"""The statements of the rulebooks: one sentence of fact each, with an id that rules cite."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic, readable
from interpreter.base.frozen import dataclass
from interpreter.reading.files import Shelf

__all__ = ["Statement", "check_statements", "statements_of"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of fact of a rulebook (``kind`` rule, table, example, component, advice or ui), a fill or a gap."""

    id: str
    book: str
    kind: str
    phase: str
    text: str
    reading: str = ""


def statements_of(shelf: Shelf) -> dict[str, Statement]:
    """All statements of all folders of rulesets, by id."""
    found: dict[str, Statement] = {}
    for path, _ in _files(shelf):
        for statement in _read(path)[0]:
            found.setdefault(statement.id, statement)
    return found


def check_statements(shelf: Shelf) -> list[Diagnostic]:
    """Files of statements that cannot be read."""
    found = ((name, _read(path)[1]) for path, name in _files(shelf))
    return [Diagnostic("E603", f"cannot read `{name}`: {problem}", None) for name, problem in found if problem]


def _files(shelf: Shelf) -> Iterator[tuple[Path, str]]:
    for root in shelf.roots:
        for path in sorted(root.glob("*/statements/*.csv")):
            yield path, path.relative_to(root).as_posix()


@lru_cache(maxsize=64)
def _read(path: Path) -> tuple[tuple[Statement, ...], str]:
    """The statements of a file, and why it cannot be read where it cannot."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in ("id", "kind", "statement") if name not in (reader.fieldnames or ())]
            if missing:
                return (), f"the first line names no column `{missing[0]}`"
            return tuple(_statement(row, path) for row in reader), ""
    except UnicodeDecodeError:
        return (), "it is not UTF-8"
    except (OSError, csv.Error) as error:
        return (), (getattr(error, "strerror", None) or str(error)).lower()


def _statement(row: dict[str, str | None], path: Path) -> Statement:
    def cell(name: str) -> str:
        return row.get(name) or ""

    book = cell("book") or path.stem
    texts = (cell("id"), book, cell("kind"), cell("phase"), cell("statement"), cell("reading"))
    return Statement(*map(readable, texts))
