"""Bags of tokens: sums, whether tokens fit into rooms, and the mixes that can be taken out.

A bag is a tuple with one count for each member of its kind, in the order of the kind. Functions take bags and return
new ones; holders and moves are handled elsewhere.
"""

from __future__ import annotations

from functools import lru_cache

from interpreter.base.plain_data import grouped

__all__ = ["Bag", "Rooms", "add", "mixes", "overflow", "space", "subtract"]

MOST_GROUPS = 10
MOST_KINDS = 64
MOST_MIXED = 100_000
"""Maximum number of counts in all mixes of one result."""

Bag = tuple[int, ...]
Rooms = tuple[tuple[tuple[int, ...], int], ...]
"""For each room, the members of the kind that it takes in any mix, and its capacity in tokens."""


def add(a: Bag, b: Bag) -> Bag:
    """Return the sum of two bags. Raises ``ValueError`` if they have different numbers of members."""
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def subtract(a: Bag, b: Bag) -> Bag:
    """Return ``a`` minus ``b``; counts may be negative. Raises ``ValueError`` as :func:`add` does."""
    return tuple([x - y for x, y in zip(a, b, strict=True)])


def overflow(bag: Bag, rooms: Rooms) -> int:
    """Return the minimum number of tokens that do not fit into the rooms.

    Tokens flow from their kinds into rooms, so the maximum number inside is the minimum cut: any set of kinds claims
    all rooms that take one of them, and no more of its tokens than these rooms hold can be inside. The overflow is thus
    the maximum of ``tokens of the set - capacity of the rooms that take any of it`` over all sets of kinds; the empty
    set gives 0. Counts and capacities are 0 or more.
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
    """Return the number of further tokens of a kind that fit beside the bag; 0 if the bag itself does not fit.

    It is the minimum space left to any set of kinds that includes this one (see :func:`overflow`).
    """
    least: int | None = None
    for kinds, capacity in _claims(rooms, len(bag)):
        space_left = capacity
        for member in kinds:
            space_left -= bag[member]
        if space_left < 0:
            return 0
        if kind in kinds and (least is None or space_left < least):
            least = space_left
    return least or 0


@lru_cache(maxsize=64)
def mixes(number: int, kinds: tuple[int, ...], bag: Bag) -> tuple[Bag, ...]:
    """Return all bags of exactly ``number`` tokens of the given kinds that can be taken from the bag.

    The order is that of nested loops over the kinds as listed, each from the lowest count to the highest. Number 0
    gives one empty bag; an impossible number gives none. Raises ``ValueError`` if there are too many.
    """
    kinds = tuple(kind for kind in dict.fromkeys(kinds) if bag[kind] > 0)
    if len(kinds) > MOST_KINDS:
        raise ValueError(f"got tokens of {len(kinds)} kinds to mix, want at most {MOST_KINDS}")
    available = [0]
    for kind in reversed(kinds):
        available.append(available[-1] + bag[kind])
    available.reverse()
    found: list[Bag] = []
    partial: list[tuple[int, int, tuple[int, ...]]] = [(0, number, ())] if 0 <= number <= available[0] else []
    while partial:
        place, rest, counts = partial.pop()
        if place == len(kinds):
            mix = dict(zip(kinds, counts, strict=True))
            found.append(tuple([mix.get(kind, 0) for kind in range(len(bag))]))
            if len(found) * len(bag) > MOST_MIXED:
                raise ValueError("there are too many mixes")
            continue
        most, least = min(rest, bag[kinds[place]]), max(0, rest - available[place + 1])
        if most - least > MOST_MIXED:
            raise ValueError("there are too many mixes")
        partial.extend((place + 1, rest - count, (*counts, count)) for count in range(most, least - 1, -1))
    return tuple(found)


@lru_cache(maxsize=256)
def _claims(rooms: Rooms, width: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return the sets of kinds that can decide a cut, each with the capacity of all rooms that take one of them.

    Kinds that the same rooms take stay together, because each further one adds tokens but no room. The work doubles
    with every such group; rulebooks have few. Raises ``ValueError`` for more than ``MOST_GROUPS``.
    """
    groups = grouped((tuple(kind in kinds for kinds, _ in rooms), kind) for kind in range(width))
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"these rooms part the kinds into {len(groups)} sorts; at most {MOST_GROUPS}")
    claims: list[tuple[tuple[int, ...], tuple[bool, ...]]] = [((), (False,) * len(rooms))]
    for taken_by, kinds in groups.items():
        claims += [((*had, *kinds), tuple(map(max, used, taken_by))) for had, used in claims]
    return tuple(
        (kinds, sum(room[1] for room, use in zip(rooms, used, strict=True) if use)) for kinds, used in claims[1:]
    )
