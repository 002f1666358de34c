"""What rooms take of a bag, as :mod:`interpreter.kernel.bags` says it, with what is known of the rooms kept."""

from __future__ import annotations

from functools import lru_cache

from interpreter.compiler.fast.budget import Abandoned
from interpreter.kernel import bags

__all__ = ["Claims", "RoomsOfCards", "claims"]

MOST_ROOMS_KNOWN = 1_024
MOST_BAGS_KNOWN = 256
MOST_SHARED = 4_096
MOST_KINDS_SHARED = 8
MOST_SUMMED, CAPACITIES = 16, 1 << 12

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

    ``rooms``: the room of each card, none where it has none. ``numbers`` has a number for each card; the sum of those
    of some cards says how much all rooms for the same kinds hold, and is what their claims are looked up by: there are
    far fewer such sums than sets of cards.
    """

    __slots__ = ("kinds", "numbers", "rooms", "width")

    def __init__(self, rooms: tuple[tuple[tuple[int, ...], int] | None, ...], width: int) -> None:
        self.rooms, self.width = rooms, width
        self.kinds = list(dict.fromkeys(room[0] for room in rooms if room is not None and room[0]))
        places = {kinds: CAPACITIES**place for place, kinds in enumerate(self.kinds)}
        self.numbers = tuple(None if room is None else room[1] * places.get(room[0], 0) for room in rooms)

    @property
    def is_few(self) -> bool:
        """Whether sums tell apart what they must, and are not long."""
        capacities = [room[1] for room in self.rooms if room is not None]
        return len(self.kinds) <= MOST_SUMMED and min(capacities, default=0) >= 0 and sum(capacities) < CAPACITIES

    def __missing__(self, held: int) -> Claims:
        left, rooms = held, []
        for kinds in self.kinds:
            left, capacity = divmod(left, CAPACITIES)
            rooms.append((kinds, capacity))
        if len(self) >= MOST_ROOMS_KNOWN:
            self.clear()
        found = self[held] = claims(tuple(rooms), self.width)
        return found

    def __repr__(self) -> str:
        return f"claims of {self.rooms} over {self.width} kinds"

    def __reduce__(self) -> tuple[type[RoomsOfCards], tuple[object, int]]:
        return RoomsOfCards, (self.rooms, self.width)


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
