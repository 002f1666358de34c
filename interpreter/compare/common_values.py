"""Values of the state that both games of a pair have, by public names.

Rulesets number their cards and nodes, and place their cells, each in its own way. Two values are the same if they have
the same name and owner, and equal if they are written alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from interpreter.engine.setup import Table
from interpreter.kernel.state import Value
from interpreter.language.types import Type

__all__ = ["CommonValues"]


class CommonValues:
    """The declared values that states of both tables have."""

    def __init__(self, a: Table, b: Table) -> None:
        left, right = _cells(a), _cells(b)
        self._both = [(*left[name], *right[name]) for name in left if name in right]
        self._public = cache(a.names.public), cache(b.names.public)

    def differing(self, a: Sequence[Value], b: Sequence[Value]) -> dict[int, int | None]:
        """Return by how much each number of the second state is larger, where they differ, and None for other values
        that differ, given all cells of both states. Keys are cells of the first."""
        of_a, of_b = self._public
        told = ((x, of_a(a[x], x_type), of_b(b[y], y_type)) for x, x_type, y, y_type in self._both)
        return {x: _more(left, right) for x, left, right in told if left != right}


def _more(left: Value, right: Value) -> int | None:
    return right - left if isinstance(left, int) and isinstance(right, int) else None


def _cells(table: Table) -> dict[str, tuple[int, Type]]:
    """Return the cells of all declared values, with their types, by what they are called."""
    layout, groups = table.machine.constants.layout, table.model.groups
    declared = [(cell, group.type) for name, group in groups.items() if group.file for cell in layout.cells(name)]
    return {table.census.effects.names(cell): (cell, type_) for cell, type_ in declared}
