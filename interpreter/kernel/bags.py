"""Bags of tokens: how many there are of each kind, whether they fit into rooms, which mixes can be taken out.

A bag is a tuple with one count for each member of its kind, in the order of the kind. Functions take bags and give new
ones; who holds a bag and where its tokens go is left to others.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["Bag", "Rooms", "add", "at_least", "mixes", "overflow", "space", "subtract", "total"]

Bag = tuple[int, ...]
Rooms = tuple[tuple[tuple[int, ...], int], ...]
"""Each room: the members of the kind that it takes, in any mix, and how many tokens it takes in all."""


def add(a: Bag, b: Bag) -> Bag:
    """The tokens of both; ``ValueError`` where they are bags over different kinds."""
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def subtract(a: Bag, b: Bag) -> Bag:
    """The tokens of ``a`` without those of ``b``; a count goes below 0 where ``b`` has more. Errors as in ``add``."""
    return tuple([x - y for x, y in zip(a, b, strict=True)])


def total(bag: Bag) -> int:
    """How many tokens there are of all kinds."""
    return sum(bag)


def at_least(a: Bag, b: Bag) -> bool:
    """Whether ``a`` holds every token of ``b``. Errors as in ``add``."""
    return all([x >= y for x, y in zip(a, b, strict=True)])  # noqa: C419 a list looks at every pair, and is faster


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
    """How many more tokens of the kind fit beside the bag; 0 where the bag itself does not fit.

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
    """
    return _mixes(number, kinds, bag)


@lru_cache(maxsize=4096)
def _mixes(number: int, kinds: tuple[int, ...], bag: Bag) -> tuple[Bag, ...]:
    """``mixes``, kept by value: rules ask for the same few again and again."""
    if not 0 <= number <= sum(bag[kind] for kind in kinds):
        return ()
    if not kinds:
        return ((0,) * len(bag),)
    first, others = kinds[0], kinds[1:]
    return tuple(
        (*mix[:first], count, *mix[first + 1 :])
        for count in range(min(number, bag[first]) + 1)
        for mix in _mixes(number - count, others, bag)
    )


@lru_cache(maxsize=4096)
def _claims(rooms: Rooms, width: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Sets of kinds, each with the capacity of all rooms that take one of them, as far as they can decide a cut.

    Kinds that the same rooms take are kept together, since each more of them adds tokens and no room. The work doubles
    with every such group; rulebooks have few.
    """
    groups: dict[tuple[bool, ...], tuple[int, ...]] = {}
    for kind in range(width):
        taken_by = tuple(kind in kinds for kinds, _ in rooms)
        groups[taken_by] = (*groups.get(taken_by, ()), kind)
    claims: list[tuple[tuple[int, ...], tuple[bool, ...]]] = [((), (False,) * len(rooms))]
    for taken_by, kinds in groups.items():
        claims += [(had + kinds, tuple(map(max, used, taken_by))) for had, used in claims]
    return tuple(
        (kinds, sum(room[1] for room, use in zip(rooms, used, strict=True) if use)) for kinds, used in claims[1:]
    )
