"""Sources of random outcomes: seeded, with a documented algorithm, or scripted.

A source gets the name of a chance, its counter (how often the name was used before in this game) and the items, and
returns the outcome. Sources have no state: the counters belong to the state of the game, so clone, undo and save need
nothing from here. The numbers are the same on every machine and Python version; the test vectors in
``tests/kernel/test_chance.py`` are part of this guarantee.

Values are internal ones (mostly ints); public names are converted before a script is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, TypeGuard, TypeVar

from msgspec import Struct

from interpreter.base.plain_data import Value

__all__ = ["ChanceError", "ChanceSource", "Draws", "Scripted", "Seeded", "drawn", "mix", "name_hash", "shuffled"]

T = TypeVar("T")

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
"""Odd increment of SplitMix64: 2**64 divided by the golden ratio."""
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_FEW = (1 << 30) - 1
"""Maximum number of outcomes for which :class:`Draws` avoids the last numbers of the range, which would bias them."""
_COMMON = (1 << 64) - _FEW


def mix(seed: int, name: str, counter: int) -> int:
    """Return the 64-bit number for use number ``counter`` (from 0) of ``name`` in a game with this seed.

    It is output number ``counter`` of the SplitMix64 generator whose state starts as ``finalise(finalise(seed + step) ^
    fnv1a(name))``. The seed is taken modulo 2**64, the name as UTF-8 bytes.
    """
    return _output(_start(seed, name), counter)


def bounded(bits: Callable[[int], int], n: int) -> int:
    """Return a uniformly distributed number from 0 to ``n - 1``, using 64-bit random numbers.

    ``bits(0)`` is used unless it lies in the incomplete last run of ``n`` numbers below 2**64; then ``bits(1)`` is
    tried, and so on. Raises ``ValueError`` if ``n`` is below 1 or above 2**64.
    """
    if not 1 <= n <= _MASK + 1:
        raise ValueError(f"got {n} outcomes, want 1 to 2**64")
    limit = _MASK + 1 - (_MASK + 1) % n
    attempt = 0
    while (value := bits(attempt)) >= limit:
        attempt += 1
    return value % n


def shuffled(items: tuple[T, ...], seed: int, name: str, counter: int) -> tuple[T, ...]:
    """Return the items in random order (Fisher-Yates from the front).

    Each swap has its own stream, derived from ``mix(seed, name, counter)`` and the index of the swap, so a rejected
    number does not shift later swaps.
    """
    result = list(items)
    start = mix(seed, name, counter)
    for i in range(len(result) - 1):
        j = i + _below(len(result) - i, _output(start, i))
        result[i], result[j] = result[j], result[i]
    return tuple(result)


def drawn(n: int, seed: int, name: str, counter: int) -> int:
    """Return a uniformly distributed index below ``n``. Raises ``ValueError`` if ``n`` is below 1."""
    return _below(n, mix(seed, name, counter))


class Draws:
    """Sequence of random numbers of one seed and name; ``used`` is how many were drawn."""

    __slots__ = ("_start", "signed_origin", "used")

    def __init__(self, seed: int, name: str) -> None:
        self._start = _start(seed, name)
        self.signed_origin = self._start - (1 << 64) if self._start >> 63 else self._start
        """Initial state of the generator as a signed number."""
        self.used = 0

    def below(self, n: int) -> int:
        """Return a uniformly distributed number from 0 to ``n - 1``. Raises ``ValueError`` if ``n`` is below 1."""
        self.used += 1
        stream = _finalise((self._start + self.used * _STEP) & _MASK)
        if not 0 < n <= _FEW:
            return _below(n, stream)
        number = _finalise((stream + _STEP) & _MASK)
        while number >= _COMMON:
            number = _finalise(number)
        return number % n


def _below(n: int, stream: int) -> int:
    """Return a uniformly distributed number below ``n`` from the numbers of a stream."""
    return bounded(lambda attempt: _output(stream, attempt), n)


class ChanceError(Exception):
    """Raised if a source has no valid outcome; ``counter`` counts the uses of ``name`` from 0."""

    def __init__(self, name: str, counter: int, message: str) -> None:
        super().__init__(name, counter, message)
        self.name, self.counter, self.message = name, counter, message

    def __str__(self) -> str:
        return f"`{self.name}`, use {self.counter + 1}: {self.message}"


class ChanceSource(Protocol):
    """Source of random outcomes. The outcome depends on name and counter only, so repeated calls agree."""

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        """Return the items in a new order."""
        ...

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        """Return the index of the drawn option. Raises ``ChanceError`` if there are no options."""
        ...


class Seeded(Struct, frozen=True):
    """Source in which every outcome follows from the seed."""

    seed: int

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        return shuffled(items, self.seed, name, counter)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        if not options:
            raise ChanceError(name, counter, "nothing to draw from")
        return drawn(len(options), self.seed, name, counter)


@dataclass(frozen=True, slots=True)
class Scripted:
    """Source of given outcomes, by name and counter.

    The outcome of a shuffle is a sequence of the first items, or of all; the rest keeps its order, or is shuffled by
    ``then``. The outcome of a draw is an option (the first equal one). Uses beyond the last outcome of a name go to
    ``then``. ``said`` has the author's words by name and item, for messages; ``alike`` the items that an item may stand
    for, such as copies of a card.

    Raises ``ChanceError`` if an outcome does not suit the game, or if none is left and there is no ``then``;
    ``TypeError`` if the outcomes of a name are no sequence.
    """

    outcomes: Mapping[str, Sequence[object]]
    then: ChanceSource | None = None
    said: Mapping[tuple[str, object], str] = field(default_factory=dict, repr=False, compare=False)
    alike: Mapping[object, Sequence[object]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, outcomes in self.outcomes.items():
            if not _is_sequence(outcomes):
                raise TypeError(f"got {outcomes!r} for `{name}`, want a sequence of outcomes")
        frozen = {name: tuple(outcomes) for name, outcomes in self.outcomes.items()}
        object.__setattr__(self, "outcomes", frozen)

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        outcomes = self.outcomes.get(name, ())
        if counter >= len(outcomes):
            return self._next(name, counter).shuffle(name, counter, items)
        first, rest = self._parted(name, counter, outcomes[counter], items)
        return first + (self.then.shuffle(name, counter, rest) if self.then is not None and rest else rest)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        outcomes = self.outcomes.get(name, ())
        if counter >= len(outcomes):
            return self._next(name, counter).draw(name, counter, options)
        outcome = self._one_of(outcomes[counter], options)
        if outcome not in options:
            raise ChanceError(name, counter, f"{self._said(name, outcome)} is not among the {len(options)} options")
        return options.index(outcome)

    def unused(self, counters: Mapping[str, int]) -> list[str]:
        """Return the names with outcomes left, in the order of the script; ``counters`` are the numbers of uses."""
        return [name for name, outcomes in self.outcomes.items() if counters.get(name, 0) < len(outcomes)]

    def _next(self, name: str, counter: int) -> ChanceSource:
        if self.then is None:
            count = len(self.outcomes.get(name, ()))
            raise ChanceError(name, counter, f"the script has no outcome left, it gives {count}")
        return self.then

    def _said(self, name: str, item: object) -> str:
        try:
            return self.said.get((name, item), repr(item))
        except TypeError:  # unhashable
            return repr(item)

    def _parted(
        self, name: str, counter: int, outcome: object, items: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Split the items of a shuffle into those that the outcome puts first and the rest in its present order."""
        if not _is_sequence(outcome):
            raise ChanceError(name, counter, f"got {outcome!r}, want a sequence of items")
        rest = list(items)
        first: list[int] = []
        for named in outcome:
            item = self._one_of(named, rest)
            if item not in rest:
                why = "named more often than it occurs" if item in items else f"not among the {len(items)} items"
                raise ChanceError(name, counter, f"{self._said(name, item)} is {why}")
            first.append(item)
            rest.remove(item)
        return tuple(first), tuple(rest)

    def _one_of(self, item: object, items: Sequence[Value]) -> Value:
        """Return the item, or the first available one like it."""
        if item in items or not self.alike:
            return item
        return next((other for other in self.alike.get(item, ()) if other in items), item)


def _is_sequence(value: object) -> TypeGuard[Sequence[int]]:
    """Return whether a value is a sequence other than text; its elements are not checked."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _finalise(z: int) -> int:
    """Output function of SplitMix64: a bijection of 64-bit numbers that mixes all bits."""
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def _output(start: int, index: int) -> int:
    """Return output number ``index`` (from 0) of SplitMix64 from the state ``start``."""
    return _finalise((start + (index + 1) * _STEP) & _MASK)


@lru_cache(maxsize=64)
def _start(seed: int, name: str) -> int:
    """Return the initial state of the generator for a named chance in a game."""
    return _finalise(_finalise((seed + _STEP) & _MASK) ^ name_hash(name))


@lru_cache(maxsize=1024)
def name_hash(text: str) -> int:
    """Return the 64-bit FNV-1a hash of the UTF-8 bytes."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value
