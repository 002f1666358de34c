"""What rooms take of a bag, as :mod:`interpreter.kernel.bags` says it, with what is known of the rooms kept."""

from __future__ import annotations

from interpreter.compiler.fast.budget import Abandoned
from interpreter.kernel import bags

__all__ = ["Claims", "overflow_in", "space_in"]

MOST_BAGS_KNOWN = 64
MOST_KINDS_SHARED = 8

Sets = tuple[tuple[tuple[int, ...], int], ...]
"""Sets of kinds, each with what the rooms that take one of them hold in all."""


class Claims:
    """What sets of kinds can claim of some rooms: kinds that share no room one by one, then sets of those that do.

    ``known`` remembers how much of a bag is left outside, ``spaces`` how much of each kind has room beside it: the same
    few bags are asked for again and again.
    """

    __slots__ = ("alone", "known", "parts", "singles", "spaces")

    def __init__(self, rooms: bags.Rooms, width: int) -> None:
        alone = [0] * width
        mixed = []
        for kinds, capacity in rooms:
            if len(kinds) == 1:
                alone[kinds[0]] += capacity
            elif kinds:
                mixed.append((frozenset(kinds), capacity))
        self.known: dict[bags.Bag, int] = {}
        self.spaces: dict[bags.Bag, tuple[int, ...]] = {}
        self.alone = tuple(alone)
        self.singles: tuple[tuple[int, int], ...] = tuple(enumerate(alone))
        self.parts: tuple[Sets, ...] = ()
        if mixed:
            self._share(alone, mixed)

    def _share(self, alone: list[int], mixed: list[tuple[frozenset[int], int]]) -> None:
        parts: list[frozenset[int]] = []
        for together, _ in mixed:
            touched = [part for part in parts if part & together]
            parts = [part for part in parts if not part & together]
            parts.append(together.union(*touched))
        shared = frozenset().union(*parts)
        self.singles = tuple((kind, capacity) for kind, capacity in self.singles if kind not in shared)
        self.parts = tuple(_sets(sorted(part), alone, mixed) for part in parts)


def _sets(kinds: list[int], alone: list[int], mixed: list[tuple[frozenset[int], int]]) -> Sets:
    if len(kinds) > MOST_KINDS_SHARED:
        raise Abandoned
    found = []
    for chosen in range(1, 1 << len(kinds)):
        members = tuple(kind for i, kind in enumerate(kinds) if chosen >> i & 1)
        capacity = sum(alone[kind] for kind in members)
        capacity += sum(room for together, room in mixed if not together.isdisjoint(members))
        found.append((members, capacity))
    return tuple(found)


def overflow_in(bag: bags.Bag, claimed: Claims) -> int:
    """As :func:`~interpreter.kernel.bags.overflow`."""
    known = claimed.known
    if bag in known:
        return known[bag]
    total = 0
    for kind, capacity in claimed.singles:
        if bag[kind] > capacity:
            total += bag[kind] - capacity
    for part in claimed.parts:
        most = 0
        for kinds, capacity in part:
            tokens = -capacity
            for kind in kinds:
                tokens += bag[kind]
            if tokens > most:
                most = tokens
        total += most
    if len(known) >= MOST_BAGS_KNOWN:
        known.clear()
    known[bag] = total
    return total


def space_in(bag: bags.Bag, claimed: Claims, wanted: int) -> int:
    """As :func:`~interpreter.kernel.bags.space`."""
    row = claimed.spaces.get(bag)
    if row is None:
        if len(claimed.spaces) >= MOST_BAGS_KNOWN:
            claimed.spaces.clear()
        row = claimed.spaces[bag] = _spaces(bag, claimed)
    return row[wanted]


def _spaces(bag: bags.Bag, claimed: Claims) -> tuple[int, ...]:
    """For each kind how much more of it there is room for."""
    if overflow_in(bag, claimed):
        return (0,) * len(bag)
    found = [capacity - number for capacity, number in zip(claimed.alone, bag, strict=True)]
    for part in claimed.parts:
        for kind in part[-1][0]:
            found[kind] = -1
        for kinds, capacity in part:
            left = capacity - sum([bag[kind] for kind in kinds])
            for kind in kinds:
                if found[kind] < 0 or left < found[kind]:
                    found[kind] = left
    return tuple(found)
