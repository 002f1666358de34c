"""Bags of tokens: how many there are of each kind, whether they fit into rooms, which mixes can be taken out.

A bag is a tuple with one count for each member of its kind, in the order of the kind. Functions take bags and give new
ones; who holds a bag and where its tokens go is left to others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

__all__ = ["Bag", "Rooms", "add", "mixes", "overflow", "space", "subtract", "total"]

MOST_GROUPS = 10
MOST_KINDS = 64
MOST_MIXED = 100_000
"""So many numbers may all mixes hold together that one question gives."""
MOST_KNOWN = 4096
MOST_KEPT = 1_000

Bag = tuple[int, ...]
Rooms = tuple[tuple[tuple[int, ...], int], ...]
"""Each room: the members of the kind that it takes, in any mix, and how many tokens it takes in all."""


_known: dict[tuple[int, tuple[int, ...], Bag], tuple[Bag, ...]] = {}


def add(a: Bag, b: Bag) -> Bag:
    """The tokens of both; ``ValueError`` where they are bags over different kinds."""
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def subtract(a: Bag, b: Bag) -> Bag:
    """The tokens of ``a`` without those of ``b``; a count goes below 0 where ``b`` has more. Errors as in ``add``."""
    return tuple([x - y for x, y in zip(a, b, strict=True)])


def total(bag: Bag) -> int:
    """Return the total number of tokens of all kinds."""
    return sum(bag)


def overflow(bag: Bag, rooms: Rooms) -> int:
    """The least number of tokens that stay outside when the rooms are filled as well as possible.

    Tokens flow from their kinds into rooms, so the greatest number that is housed is the least cut: any set of kinds
    claims all rooms that take one of them, and no more of its tokens than these rooms hold can be inside. What stays
    outside is thus the greatest of ``tokens of the set - capacity of the rooms that take any of it`` over all sets of
    kinds, and the empty set gives 0. Counts and capacities are 0 or more.
    """
    most = 0
    for kinds, capacity in _claims(rooms, len(bag)):
        tokens = -capacity
        for kind in kinds:
            tokens += bag[kind]
        if tokens > most:
            most = tokens
    return most


def space(bag: Bag, rooms: Rooms, kind: int) -> int:
    """Return how many more tokens of a kind fit beside the bag; 0 if the bag itself does not fit.

    It is the least room that is left to any set of kinds which includes this one (see ``overflow``).
    """
    least: int | None = None
    for kinds, capacity in _claims(rooms, len(bag)):
        left = capacity
        for member in kinds:
            left -= bag[member]
        if left < 0:
            return 0
        if kind in kinds and (least is None or left < least):
            least = left
    return least or 0


def mixes(number: int, kinds: tuple[int, ...], bag: Bag) -> tuple[Bag, ...]:
    """All bags of exactly ``number`` tokens that the bag holds and that consist of the given kinds, each named once.

    The order is that of nested loops, one a kind as listed, each from the least count to the greatest: by the count of
    the first kind, then by that of the second. Number 0 gives one empty bag; a number that cannot be had gives none.
    ``ValueError`` where there are too many.
    """
    key = (number, kinds, bag)
    found = _known.get(key)
    if found is None:
        found = tuple(_mixes(number, tuple(kind for kind in dict.fromkeys(kinds) if bag[kind] > 0), bag))
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        if len(found) * len(bag) <= MOST_KEPT:
            _known[key] = found
    return found


def _mixes(number: int, kinds: tuple[int, ...], bag: Bag) -> Iterator[Bag]:
    """``mixes`` of kinds that the bag holds; no way is gone that leads to none."""
    if len(kinds) > MOST_KINDS:
        raise ValueError(f"got tokens of {len(kinds)} kinds to mix, want at most {MOST_KINDS}")
    left = [0]
    for kind in reversed(kinds):
        left.append(left[-1] + bag[kind])
    left.reverse()
    if not 0 <= number <= left[0]:
        return
    open_ways: list[tuple[int, int, tuple[int, ...]]] = [(0, number, ())]
    found = 0
    while open_ways:
        place, rest, counts = open_ways.pop()
        if place == len(kinds):
            mix = [0] * len(bag)
            for kind, count in zip(kinds, counts, strict=True):
                mix[kind] = count
            found += 1
            if found * len(bag) > MOST_MIXED:
                raise ValueError("there are too many mixes")
            yield tuple(mix)
            continue
        most, least = min(rest, bag[kinds[place]]), max(0, rest - left[place + 1])
        if most - least > MOST_MIXED:
            raise ValueError("there are too many mixes")
        open_ways.extend((place + 1, rest - count, (*counts, count)) for count in range(most, least - 1, -1))


@lru_cache(maxsize=256)
def _claims(rooms: Rooms, width: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Sets of kinds, each with the capacity of all rooms that take one of them, as far as they can decide a cut.

    Kinds that the same rooms take are kept together, since each more of them adds tokens and no room. The work doubles
    with every such group; rulebooks have few, and ``ValueError`` is raised where there are more than ``MOST_GROUPS``.
    """
    groups: dict[tuple[bool, ...], tuple[int, ...]] = {}
    for kind in range(width):
        taken_by = tuple(kind in kinds for kinds, _ in rooms)
        groups[taken_by] = (*groups.get(taken_by, ()), kind)
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"these rooms part the kinds into {len(groups)} sorts; at most {MOST_GROUPS}")
    claims: list[tuple[tuple[int, ...], tuple[bool, ...]]] = [((), (False,) * len(rooms))]
    for taken_by, kinds in groups.items():
        claims += [(had + kinds, tuple(map(max, used, taken_by))) for had, used in claims]
    return tuple(
        (kinds, sum(room[1] for room, use in zip(rooms, used, strict=True) if use)) for kinds, used in claims[1:]
    )
