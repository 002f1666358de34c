"""Values of the state that both games of a pair have.

Rulesets number their cards and nodes, and place their cells, each in its own way. Two values are the same if they have
the same name and owner, and equal if they are written alike. Locals of what is being carried out and delayed blocks
have no such names: they are compared if both rulesets number all things alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from functools import cache

from interpreter.compare.variation import numbered
from interpreter.engine.setup import Table
from interpreter.kernel.state import Frame, State, Value
from interpreter.language.model import Model
from interpreter.language.types import Type
from interpreter.lowering.lower import Program

__all__ = ["CommonValues", "frames"]


class CommonValues:
    """The values that states of both tables have."""

    def __init__(self, a: Table, b: Table) -> None:
        self._tables = a, b
        left, right = _cells(a), _cells(b)
        self._both = [(*left[name], *right[name]) for name in left if name in right]
        self._public = cache(a.names.public), cache(b.names.public)
        self._is_alike = _are_alike(a.model, b.model)

    def differing(self, a: State, b: State) -> dict[Hashable, int | None]:
        """Return by how much each number of the second state is larger, where they differ, and None for other values
        that differ."""
        of_a, of_b = self._public
        told = [(x, of_a(a.cells[x], x_type), of_b(b.cells[y], y_type)) for x, x_type, y, y_type in self._both]
        unnamed = self._unnamed(a, b) if self._is_alike else ()
        return {x: _more(left, right) for x, left, right in (*told, *unnamed) if left != right}

    def _unnamed(self, a: State, b: State) -> Iterator[tuple[Hashable, Value, Value]]:
        kept_a, kept_b = (
            state.cells[table.machine.constants.layout.base["kept"]]
            for state, table in zip((a, b), self._tables, strict=True)
        )
        yield "kept", kept_a, kept_b
        left, right = (frames(state.frame, table.program) for state, table in zip((a, b), self._tables, strict=True))
        for (of_a, _, locals_a), (of_b, _, locals_b) in zip(left, right, strict=False):
            if (of_a, len(locals_a)) != (of_b, len(locals_b)):
                return
            yield from (((of_a, n), x, y) for n, (x, y) in enumerate(zip(locals_a, locals_b, strict=True)))


def frames(frame: Frame | None, program: Program) -> Iterator[tuple[str, int, tuple[Value, ...]]]:
    """Yield what is being carried out, the innermost first: each procedure with its stretch and locals."""
    while frame is not None:
        at, locals_, frame, _ = frame
        if at < len(program.stretches):
            yield program.stretches[at].procedure, at, locals_


def _are_alike(a: Model, b: Model) -> bool:
    """Return whether both number cards, nodes, seats and the kinds that both have alike. Phases do not matter."""
    (cards_a, kinds_a, _, *others_a), (cards_b, kinds_b, _, *others_b) = numbered(a), numbered(b)
    kinds = all(kinds_a[name] == kinds_b[name] for name in kinds_a if name in kinds_b)
    return kinds and (cards_a, others_a) == (cards_b, others_b)


def _more(left: Value, right: Value) -> int | None:
    return right - left if type(left) is type(right) is int else None


def _cells(table: Table) -> dict[tuple[str, int], tuple[int, Type]]:
    """Return the cells of all values, with their types, by what they are called; alike ones are counted."""
    layout, times = table.machine.constants.layout, Counter[str]()
    found = {}
    for name, group in table.model.groups.items():
        for cell in layout.cells(name):
            called = table.census.effects.names(cell)
            found[called, times[called]] = cell, group.type
            times[called] += 1
    return found
