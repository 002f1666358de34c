"""Watches: the checks that a machine runs after a change so that standing rules hold.

A standing rule that begins with all seats becomes one watch for each seat, as long as a word of a module has a bit for
each watch; any other is one watch. A change of a cell that a watch reads wakes it. If a rule reads only cells of its
own seat, changes to other seats' cells do not wake it.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from interpreter.kernel.state import Layout
from interpreter.language import core
from interpreter.language.model import Model, StandingRule
from interpreter.language.types import SEAT
from interpreter.lowering.effect_analysis import Reader
from interpreter.lowering.lower import Program

__all__ = ["MOST_WATCHES", "Watch", "wakes", "watches", "with_matches"]


MOST_WATCHES = 64
"""Number of watches that a module has room for."""


class Watch(Struct, frozen=True):
    """A standing rule, or its instance for one seat: the value of its first binder."""

    rule: StandingRule
    seat: int | None

    @property
    def binders(self) -> tuple[tuple[int, core.Expression], ...]:
        """Return the remaining binders."""
        return self.rule.binders if self.seat is None else self.rule.binders[1:]


def watches(model: Model, seats: tuple[int, ...]) -> tuple[Watch, ...]:
    """Return the watches of a model in the order in which they are checked."""
    found: list[Watch] = []
    for left, rule in zip(range(len(model.standing) - 1, -1, -1), model.standing.values(), strict=True):
        is_split = _is_of_seats(rule) and len(found) + len(seats) + left <= MOST_WATCHES
        found.extend(Watch(rule, seat) for seat in (seats if is_split else (None,)))
    return tuple(found)


def wakes(program: Program, layout: Layout, watched: tuple[Watch, ...]) -> list[int]:
    """Return a bit mask for each cell: the watches that a change of the cell wakes."""
    reader = Reader(program)
    own = {rule.name: _own_groups(reader, rule) for rule in program.model.standing.values()}
    masks = [0] * layout.size
    for name, count in layout.groups:
        for number, watch in enumerate(watched):
            if name not in program.reach.standing_reads[watch.rule.name]:
                continue
            mine = watch.seat is not None and name in own[watch.rule.name]
            for owner in range(count):
                if not mine or owner == watch.seat:
                    masks[layout.base[name] + owner] |= 1 << number
    return masks


def with_matches(pending: int, first: int, match: Callable[[int], object]) -> int:
    """Return the pending watches that have a match, as bits.

    ``first`` is known to have one; ``match`` is called for each later watch.
    """
    matching, remaining = 1 << first, pending >> first + 1 << first + 1
    while remaining:
        lowest = remaining & -remaining
        if match(lowest.bit_length() - 1) is not None:
            matching |= lowest
        remaining ^= lowest
    return matching


def _is_of_seats(rule: StandingRule) -> bool:
    return bool(rule.binders) and isinstance(rule.binders[0][1], core.AllSeats)


def _own_groups(reader: Reader, rule: StandingRule) -> set[str]:
    """Return the groups of which a rule for each seat reads only that seat's own cell."""
    if not _is_of_seats(rule):
        return set()
    (variable, _), *others = rule.binders
    reads = reader.reads((rule.test, *(items for _, items in others)), (variable,))
    return {name for name, owners in reads.items() if owners and reader.program.model.groups[name].owner == SEAT}
