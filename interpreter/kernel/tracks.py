"""Tracks: rows of priced spaces, one row for each member of a kind.

Counts of tokens on a track go in, prices and free spaces come out. Tokens leave from the cheapest filled space and
enter at the dearest free one, so they always fill the dearest spaces, and one count for each row describes the track.
Counts are stored, and payments made, elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate

__all__ = ["Track"]


@dataclass(frozen=True, slots=True)
class Track:
    """For each member of the kind, its spaces as (price of a token, capacity in tokens).

    Spaces may be given in any order and are sorted by price; of two with equal price, the later one counts as dearer.
    Raises ``ValueError`` if a capacity is negative. In all methods ``kind`` is the index of a member, and ``count`` the
    number of its tokens on the track; they raise ``ValueError`` if it is negative or above the capacity.
    """

    spaces: tuple[tuple[tuple[int, int], ...], ...]
    _prices: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    _sums: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for row in self.spaces:
            for price, capacity in row:
                if capacity < 0:
                    raise ValueError(f"got a capacity of {capacity} at price {price}, want 0 or more")
        spaces = tuple(tuple(sorted(row, key=lambda space: space[0])) for row in self.spaces)
        prices = tuple(tuple(price for price, capacity in row for _ in range(capacity)) for row in spaces)
        object.__setattr__(self, "spaces", spaces)
        object.__setattr__(self, "_prices", prices)
        object.__setattr__(self, "_sums", tuple(tuple(accumulate(row, initial=0)) for row in prices))

    def capacity(self, kind: int) -> int:
        """Return the capacity of the track for a kind."""
        return len(self._prices[kind])

    def capacities(self) -> tuple[int, ...]:
        """Return a full track, as a bag."""
        return tuple(map(len, self._prices))

    def room(self, kind: int, count: int) -> int:
        """Return the number of free spaces for a kind."""
        capacity = len(self._prices[kind])
        if not 0 <= count <= capacity:
            raise ValueError(f"got {count} tokens on a track, want 0 to {capacity}")
        return capacity - count

    def prices(self, kind: int) -> tuple[int, ...]:
        """Return the price of each token space of the row, cheapest first."""
        return self._prices[kind]

    def price(self, kind: int, count: int, number: int) -> int:
        """Return the price of the cheapest ``number`` tokens; ``ValueError`` if it is negative or above ``count``."""
        free = self.room(kind, count)
        if not 0 <= number <= count:
            raise ValueError(f"got {number} tokens to take, want 0 to {count}")
        sums = self._sums[kind]
        return sums[free + number] - sums[free]

    def price_of(self, present: tuple[int, ...], wanted: tuple[int, ...]) -> int:
        """Return the price of tokens, the cheapest of each kind; both arguments are bags over the kind of the track.

        Raises ``ValueError`` if more is wanted than is present, or a bag has another number of members.
        """
        pairs = zip(range(len(self.spaces)), present, wanted, strict=True)
        return sum(self.price(kind, count, number) for kind, count, number in pairs)

    def spaces_filled(self, kind: int, count: int) -> tuple[tuple[int, int, int], ...]:
        """Return each space as (price, tokens on it, capacity), cheapest first."""
        free = self.room(kind, count)
        filled = []
        for price, capacity in self.spaces[kind]:
            empty = min(free, capacity)
            free -= empty
            filled.append((price, capacity - empty, capacity))
        return tuple(filled)
