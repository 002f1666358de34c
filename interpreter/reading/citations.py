"""The statements of the rulebooks: one sentence of fact each, with an id that rules cite."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from interpreter.reading.files import Shelf

__all__ = ["Statement", "statements_of"]


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
    for root in shelf.roots:
        for path in sorted(root.glob("*/statements/*.csv")):
            for statement in _read(path):
                found.setdefault(statement.id, statement)
    return found


@lru_cache(maxsize=64)
def _read(path: Path) -> tuple[Statement, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(
            Statement(
                row["id"],
                row.get("book") or path.stem,
                row["kind"],
                row.get("phase") or "",
                row["statement"],
                row.get("reading") or "",
            )
            for row in csv.DictReader(file)
        )
