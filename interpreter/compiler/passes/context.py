"""Context of passes: memory, cells and the entry points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interpreter.compiler.codegen.memory import Memory
from interpreter.compiler.ir import ops

__all__ = ["Context", "Functions", "Touched"]

Functions = Mapping[str, ops.Function]


@dataclass
class Touched:
    """Dirty bits to set when a cell of a group changes.

    ``alone``: functions with one row of results. ``all_rows`` and ``own_row``: functions with a row for each seat, of
    which a change concerns all rows or the row of the cell's owner. ``all_wholes`` and ``own_whole``: functions with a
    row for each thing that cells are parts of.
    """

    alone: int = 0
    all_rows: int = 0
    own_row: int = 0
    all_wholes: int = 0
    own_whole: int = 0


@dataclass
class Context:
    """Input and output of passes.

    ``of_seats`` names the groups of cells that belong to seats; ``owners`` is the address of a table of the seats of
    pieces. The machine calls ``roots`` by name and ``stretches`` by number. Passes store results here: ``dirty`` is the
    address of a 64-bit word for each seat and one more, and ``touched`` has the bits to set when a cell changes.
    ``dirty_parts`` is that of the words behind them, one for each of the ``wholes`` that cells are parts of.
    """

    memory: Memory
    of_seats: frozenset[str]
    owners: int
    seats: int
    roots: frozenset[str] = frozenset()
    stretches: tuple[str, ...] = ()
    wholes: int = 0
    dirty: int = 0
    dirty_parts: int = 0
    touched: dict[str, Touched] = field(default_factory=dict)
