"""Watches: the checks that a machine runs after a change so that standing rules hold.

A standing rule that begins with all seats becomes one watch for each seat, as long as a word of a module has a bit for
each watch; any other is one watch. A change of a cell that a watch reads wakes it. If a rule reads only cells of its
own seat, changes to other seats' cells do not wake it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from interpreter.kernel.state import Layout
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.model import Model, StandingRule
from interpreter.language.walk import descendants
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
    own = {rule.name: _own_groups(program, rule) for rule in program.model.standing.values()}
    masks = [0] * layout.size
    for name, count in layout.groups:
        woken = program.reach.wakes(name)
        for number, watch in enumerate(watched):
            if watch.rule.name not in woken:
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


def _own_groups(program: Program, rule: StandingRule) -> frozenset[str]:
    """Return the groups of which a rule for each seat reads only that seat's own cell."""
    if not _is_of_seats(rule):
        return frozenset()
    trees = (rule.test, *(items for _, items in rule.binders[1:]))
    own: set[str] = set()
    others: set[str] = set()
    seen: set[tuple[str, frozenset[int]]] = set()
    open_: list[tuple[object, frozenset[int]]] = [(trees, frozenset((rule.binders[0][0],)))]
    while open_:
        tree, subjects = open_.pop()
        bound = {node.variable for node in descendants(tree) if isinstance(node, core.Loop)}
        bound |= {node.index for node in descendants(tree) if isinstance(node, core.SetLocal | core.Picks)}
        bound |= {node.variable for node in descendants(tree) if isinstance(node, core.Iterate)}
        mine = subjects - bound
        for node in descendants(tree):
            for cell in _read_by(node):
                if not isinstance(cell, core.Cell):
                    return frozenset()
                (own if _is_subject(cell.owner, mine) else others).add(cell.group)
            if isinstance(node, core.CallRule | core.CallBase):
                passed = frozenset(i for i, each in enumerate(node.arguments) if _is_subject(each, mine))
                for target in _layers(program, program.target(node)):
                    if (target, passed) not in seen:
                        seen.add((target, passed))
                        layer = program.reach.procedures[target]
                        open_.append(((layer.body, layer.when), passed))
    return frozenset(own - others)


def _is_subject(node: object, subjects: frozenset[int]) -> bool:
    return isinstance(node, core.Local) and node.index in subjects


def _read_by(node: object) -> Iterator[core.Expression]:
    match node:
        case core.Read(cell):
            yield cell
        case core.CallBuiltin(Builtin(reads=True), arguments):
            yield arguments[0]
        case _:
            pass


def _layers(program: Program, target: str) -> Iterator[str]:
    """Yield a layer of a rule and those below it, which run if its condition is false."""
    layer = program.reach.procedures[target]
    for number in range(layer.layer, -1, -1):
        yield f"{layer.rule}@{number}"
