"""What rooms take of a bag, as :mod:`interpreter.kernel.bags` says it, with what is known of the rooms kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from interpreter.compiler.fast.budget import Abandoned
from interpreter.kernel import bags

__all__ = ["Claims", "RoomsOfCards", "claims"]

MOST_ROOMS_KNOWN = 1_024
MOST_BAGS_KNOWN = 256
MOST_SHARED = 4_096
"""So many bags are one object each."""
MOST_KINDS_SHARED = 8
MOST_SUMMED = 16
"""Sets of kinds, of each of which a sum has a digit."""
CAPACITIES = 1 << 12
"""What all rooms for one set of kinds hold is less: the base of these digits."""

Sets = tuple[tuple[tuple[int, ...], int], ...]
"""Sets of kinds, each with what the rooms that take one of them hold in all."""


class Claims:
    """What sets of kinds can claim of some rooms: kinds that share no room one by one, then sets of those that do.

    ``outside`` gives how much of a bag is left outside, ``space`` how much more of each kind there is room for beside a
    bag. Both remember what they gave: the same few bags are asked for again and again.
    """

    __slots__ = ("alone", "outside", "parts", "singles", "space")

    def __init__(self, alone: list[int], mixed: list[tuple[frozenset[int], int]]) -> None:
        self.outside, self.space = _Outside(self), _Space(self)
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


class _Outside(dict[bags.Bag, int]):
    """As :func:`~interpreter.kernel.bags.overflow`."""

    __slots__ = ("claims",)

    def __init__(self, claims: Claims) -> None:
        self.claims = claims

    def __missing__(self, bag: bags.Bag) -> int:
        total = 0
        for kind, capacity in self.claims.singles:
            if bag[kind] > capacity:
                total += bag[kind] - capacity
        for part in self.claims.parts:
            most = 0
            for kinds, capacity in part:
                tokens = -capacity
                for kind in kinds:
                    tokens += bag[kind]
                if tokens > most:
                    most = tokens
            total += most
        if len(self) >= MOST_BAGS_KNOWN:
            self.clear()
        self[_shared(bag)] = total
        return total


class _Space(dict[bags.Bag, tuple[int, ...]]):
    """As :func:`~interpreter.kernel.bags.space`, for each kind."""

    __slots__ = ("claims",)

    def __init__(self, claims: Claims) -> None:
        self.claims = claims

    def __missing__(self, bag: bags.Bag) -> tuple[int, ...]:
        if len(self) >= MOST_BAGS_KNOWN:
            self.clear()
        found = self[_shared(bag)] = _shared(_spaces(bag, self.claims))
        return found


@lru_cache(maxsize=MOST_SHARED)
def _shared(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The same numbers as one object: what many tables know takes little memory then, which is soon reached."""
    return numbers


@lru_cache(maxsize=4 * MOST_ROOMS_KNOWN)
def claims(rooms: bags.Rooms, width: int) -> Claims:
    """What can be claimed of rooms over so many kinds. Rooms that come to the same share what they remember."""
    if _sorts([kinds for kinds, _ in rooms], width) > bags.MOST_GROUPS:
        raise Abandoned  # the kernel refuses them
    alone = [0] * width
    mixed: dict[tuple[int, ...], int] = {}
    for kinds, capacity in rooms:
        if len(kinds) == 1:
            alone[kinds[0]] += capacity
        elif kinds:
            together = tuple(sorted(set(kinds)))
            mixed[together] = mixed.get(together, 0) + capacity
    return _claims_of(tuple(alone), tuple(sorted(mixed.items())))


@lru_cache(maxsize=MOST_ROOMS_KNOWN)
def _claims_of(alone: tuple[int, ...], mixed: tuple[tuple[tuple[int, ...], int], ...]) -> Claims:
    return Claims(list(alone), [(frozenset(kinds), capacity) for kinds, capacity in mixed])


class RoomsOfCards(dict[int, Claims]):
    """What can be claimed of the rooms of some cards, of which each has the same room whenever it is asked.

    ``rooms`` are by the card. ``numbers`` has a number for each card that has one; the sum of those of some cards, each
    there once, says how much all rooms for the same kinds hold, and is what their claims are looked up by: there are
    far fewer such sums than sets of cards.
    """

    __slots__ = ("kinds", "numbers", "rooms", "width")

    def __init__(self, rooms: Mapping[int, tuple[tuple[int, ...], int]], width: int) -> None:
        self.rooms, self.width = dict(rooms), width
        self.kinds = list(dict.fromkeys(kinds for kinds, _ in rooms.values() if kinds))
        places = {kinds: CAPACITIES**place for place, kinds in enumerate(self.kinds)}
        found = {card: capacity * places.get(kinds, 0) for card, (kinds, capacity) in rooms.items()}
        self.numbers = tuple(map(found.get, range(max(found, default=-1) + 1)))

    @property
    def is_few(self) -> bool:
        """Whether sums are not long and tell apart what they must, and no cards have rooms of too many sorts."""
        capacities = [capacity for _, capacity in self.rooms.values()]
        fine = min(capacities, default=0) >= 0 and sum(capacities) < CAPACITIES
        return fine and len(self.kinds) <= MOST_SUMMED and _sorts(self.kinds, self.width) <= bags.MOST_GROUPS

    def __missing__(self, held: int) -> Claims:
        left, rooms = held, []
        for kinds in self.kinds:
            left, capacity = divmod(left, CAPACITIES)
            if capacity:
                rooms.append((kinds, capacity))
        if len(self) >= MOST_ROOMS_KNOWN:
            self.clear()
        found = self[held] = claims(tuple(rooms), self.width)
        return found

    def __repr__(self) -> str:
        return f"claims of {self.rooms} over {self.width} kinds"

    def __reduce__(self) -> tuple[type[RoomsOfCards], tuple[object, int]]:
        return RoomsOfCards, (self.rooms, self.width)


def _sorts(sets: Sequence[tuple[int, ...]], width: int) -> int:
    """How many sorts of kinds there are, of which each is taken by other rooms. Some of the rooms have no more."""
    return len({tuple([kind in kinds for kinds in sets]) for kind in range(width)})


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


def _spaces(bag: bags.Bag, claims: Claims) -> tuple[int, ...]:
    """For each kind how much more of it there is room for."""
    if claims.outside[bag]:
        return (0,) * len(bag)
    found = [capacity - number for capacity, number in zip(claims.alone, bag, strict=True)]
    for part in claims.parts:
        for kind in part[-1][0]:
            found[kind] = -1
        for kinds, capacity in part:
            left = capacity - sum([bag[kind] for kind in kinds])
            for kind in kinds:
                if found[kind] < 0 or left < found[kind]:
                    found[kind] = left
    return tuple(found)
