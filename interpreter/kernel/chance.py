"""Sources of random outcomes: our own integer mixing, or a script of outcomes.

In goes the name of a use of chance, how often that name was used before in this game (its counter), and what there is
to shuffle or to draw from; out comes the outcome. Sources hold no position in a stream: the counters belong to the
state of the game, so that a clone, an undo and a save need nothing from here. The numbers are the same on every machine
and with every version of Python; the test vectors in ``tests/kernel/test_chance.py`` are part of the promise.

Values are those of the running game (mostly ints); what a person wrote is turned into them before a script is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from operator import mod
from struct import Struct
from typing import Protocol, TypeGuard, TypeVar

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Value

__all__ = [
    "AHEAD",
    "FEW",
    "ChanceError",
    "ChanceSource",
    "Draws",
    "Scripted",
    "Seeded",
    "bounded",
    "drawn",
    "mix",
    "name_hash",
    "shuffled",
]

T = TypeVar("T")

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
"""The odd step of SplitMix64: 2**64 divided by the golden ratio."""
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
FEW = (1 << 30) - 1
"""From the numbers but the last so many, an outcome of so many can be drawn at once."""
_COMMON = (1 << 64) - FEW

_LANES = AHEAD = 32
"""So many numbers are worked out at once, and a bot may draw for one decision."""
_EACH = sum(1 << 128 * lane for lane in range(_LANES))
"""Times a number: that number in each lane."""
_IN_LANES = _MASK * _EACH
_STEPS = sum(((lane + 1) * _STEP & _MASK) << 128 * lane for lane in range(_LANES))
_ONE_STEP = _STEP * _EACH
_numbers_of = Struct("<" + "Q8x" * _LANES).unpack
"""The numbers of the lanes, from their bytes."""


def mix(seed: int, name: str, counter: int) -> int:
    """A number of 64 bits for use number ``counter`` (from 0) of ``name`` in the game with this seed.

    It is output number ``counter`` of the SplitMix64 generator whose state starts as
    ``finalise(finalise(seed + step) ^ fnv1a(name))``. The seed counts modulo 2**64, the name by its UTF-8 bytes.
    """
    return _output(_start(seed, name), counter)


def bounded(bits: Callable[[int], int], n: int) -> int:
    """A number from 0 to ``n - 1``, each as likely as the others, from numbers of 64 bits.

    ``bits(0)`` is used unless it lies in the incomplete last run of ``n`` numbers below 2**64; then ``bits(1)`` is
    tried, and so on. ``ValueError`` where ``n`` is below 1 or above 2**64.
    """
    if not 1 <= n <= _MASK + 1:
        raise ValueError(f"got {n} outcomes, want 1 to 2**64")
    limit = _MASK + 1 - (_MASK + 1) % n
    attempt = 0
    while (value := bits(attempt)) >= limit:
        attempt += 1
    return value % n


def shuffled(items: tuple[T, ...], seed: int, name: str, counter: int) -> tuple[T, ...]:
    """The items in random order (Fisher-Yates from the front).

    Swap ``i`` reads a stream of its own, derived from ``mix(seed, name, counter)`` and ``i``: a number that was
    rejected in one swap does not shift the numbers of the next.
    """
    result = list(items)
    last = len(result) - 1
    start = mix(seed, name, counter)
    sure = _MASK - len(result)
    for first in range(0, last, _LANES):
        numbers = _run(start, first)[: last - first]
        if max(numbers) > sure:  # hardly ever
            found = enumerate(numbers, first)
            numbers = tuple(n if n <= sure else bounded(_stream(_output(start, i)), last + 1 - i) for i, n in found)
        for i, further in enumerate(map(mod, numbers, range(last + 1 - first, 1, -1)), first):
            j = i + further
            result[i], result[j] = result[j], result[i]
    return tuple(result)


def drawn(n: int, seed: int, name: str, counter: int) -> int:
    """A random index below ``n``; ``ValueError`` where ``n`` is below 1."""
    start = mix(seed, name, counter)
    number = _output(start, 0)
    return number % n if 0 < n <= _MASK - number else bounded(_stream(start), n)


class Draws:
    """Random numbers of one seed and name, one after another.

    A choice of a bot takes a number or more, so several are worked out at once, each in a lane of one long integer. A
    lane is twice as wide as a number: no product reaches the next one.
    """

    __slots__ = ("_name", "_seed", "_start", "ahead", "draw", "end", "signed_origin")

    draw: Callable[[], int]
    """The next number of 64 bits, of which ``draw() % n`` is as likely one as another of up to ``FEW`` outcomes. It may
    be called ``AHEAD`` times after :meth:`ready`; ``IndexError`` where no number is ahead."""

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self._start = _start(seed, name)
        self.signed_origin = self._start - (1 << 64) if self._start >> 63 else self._start
        """The state of the generator before the first number, as a number with a sign."""
        self.ahead: list[int] = []
        """Numbers that come next, the last of them first."""
        self.end = 0
        """So many numbers were drawn or are ahead."""
        self.draw = self.ahead.pop

    @property
    def used(self) -> int:
        """Return the number of numbers drawn."""
        return self.end - len(self.ahead)

    def ready(self) -> None:
        """Works out the numbers that come next."""
        if len(self.ahead) < AHEAD:
            numbers = _run(self._start, self.end)
            if max(numbers) >= _COMMON:  # hardly ever
                numbers = tuple(map(_common, numbers))
            self.ahead[:0] = numbers[::-1]
            self.end += _LANES

    def go_to(self, used: int) -> None:
        """Goes on as if so many had been drawn."""
        self.end = used
        self.ahead.clear()

    def below(self, n: int) -> int:
        """A number from 0 to ``n - 1``, each as likely as the others; ``ValueError`` where ``n`` is below 1."""
        if not self.ahead:
            self.ready()
        if 0 < n <= FEW:
            return self.draw() % n
        used = self.used
        self.draw()
        return drawn(n, self._seed, self._name, used)


def _common(number: int) -> int:
    """Another number for one of the last, of which some outcomes would come up more often; any other as it is."""
    while number >= _COMMON:
        number = _finalise(number)
    return number


def _run(start: int, counter: int) -> tuple[int, ...]:
    """For as many counters as there are lanes, the first number of the stream that each of them has."""
    streams = _finalise_lanes((((start + counter * _STEP) & _MASK) * _EACH + _STEPS) & _IN_LANES)
    return _numbers_of(_finalise_lanes((streams + _ONE_STEP) & _IN_LANES).to_bytes(16 * _LANES, "little"))


def _finalise_lanes(z: int) -> int:
    """``_finalise`` of the number in each lane."""
    z = ((z ^ ((z >> 30) & _IN_LANES)) * _FIRST) & _IN_LANES
    z = ((z ^ ((z >> 27) & _IN_LANES)) * _SECOND) & _IN_LANES
    return z ^ ((z >> 31) & _IN_LANES)


class ChanceError(Exception):
    """A use of chance that its source cannot answer; ``counter`` counts the uses of ``name`` from 0."""

    def __init__(self, name: str, counter: int, message: str) -> None:
        super().__init__(name, counter, message)
        self.name = name
        self.counter = counter
        self.message = message

    def __str__(self) -> str:
        return f"`{self.name}`, use {self.counter + 1}: {self.message}"


class ChanceSource(Protocol):
    """Answers each use of chance from its name and counter alone, the same way each time it is asked."""

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        """The items in a new order."""
        ...

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        """The index of the option that comes up; ``ChanceError`` where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Seeded:
    """Every outcome follows from one number."""

    seed: int

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        return shuffled(items, self.seed, name, counter)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        if not options:
            raise ChanceError(name, counter, "nothing to draw from")
        return drawn(len(options), self.seed, name, counter)


@dataclass(frozen=True, slots=True)
class Scripted:
    """Outcomes given beforehand, by name and in order: number ``counter`` of a name answers its use with that counter.

    For a shuffle an outcome is a sequence of the first items, or of all. The others follow in their present order, or
    as ``then`` shuffles them. For a draw an outcome is the option that comes up (the first equal one). A use beyond the
    last outcome of its name goes to ``then``. ``ChanceError`` where an outcome does not suit the game, or where none is
    left and there is no ``then``; ``TypeError`` where the outcomes of a name are no sequence. ``said`` gives, by
    name and item, the words of who wrote the script; ``alike`` what an item may stand for, as copies of a card.
    """

    outcomes: Mapping[str, Sequence[object]]
    then: ChanceSource | None = None
    said: Mapping[tuple[str, object], str] = field(default_factory=dict, repr=False, compare=False)
    alike: Mapping[object, Sequence[object]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, outcomes in self.outcomes.items():
            if not _is_sequence(outcomes):
                raise TypeError(f"got {outcomes!r} for `{name}`, want a sequence of outcomes")
        kept = {name: tuple(outcomes) for name, outcomes in self.outcomes.items()}
        object.__setattr__(self, "outcomes", kept)

    def shuffle(self, name: str, counter: int, items: tuple[int, ...]) -> tuple[int, ...]:
        if self._has(name, counter):
            first, rest = self._parted(name, counter, self.outcomes[name][counter], items)
            return first + (self.then.shuffle(name, counter, rest) if self.then is not None and rest else rest)
        return self._next(name, counter).shuffle(name, counter, items)

    def draw(self, name: str, counter: int, options: tuple[object, ...]) -> int:
        if not self._has(name, counter):
            return self._next(name, counter).draw(name, counter, options)
        outcome = self._one_of(self.outcomes[name][counter], options)
        if outcome not in options:
            raise ChanceError(name, counter, f"{self._said(name, outcome)} is not among the {len(options)} options")
        return options.index(outcome)

    def unused(self, counters: Mapping[str, int]) -> list[str]:
        """Names with outcomes left, in the order of the script; ``counters`` says how often each name was used."""
        return [name for name, outcomes in self.outcomes.items() if counters.get(name, 0) < len(outcomes)]

    def _has(self, name: str, counter: int) -> bool:
        return counter < len(self.outcomes.get(name, ()))

    def _next(self, name: str, counter: int) -> ChanceSource:
        if self.then is None:
            count = len(self.outcomes.get(name, ()))
            raise ChanceError(name, counter, f"the script has no outcome left, it gives {count}")
        return self.then

    def _said(self, name: str, item: object) -> str:
        try:
            return self.said.get((name, item), repr(item))
        except TypeError:  # a list is no key
            return repr(item)

    def _parted(
        self, name: str, counter: int, outcome: object, items: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The items that a shuffle's outcome puts first, and the others in their present order."""
        if not _is_sequence(outcome):
            raise ChanceError(name, counter, f"got {outcome!r}, want a sequence of items")
        rest = list(items)
        first: list[int] = []
        for named in outcome:
            item = self._one_of(named, rest)
            first.append(item)
            if item in rest:
                rest.remove(item)
            elif item in items:
                raise ChanceError(name, counter, f"{self._said(name, item)} is named more often than it is there")
            else:
                raise ChanceError(name, counter, f"{self._said(name, item)} is not among the {len(items)} items")
        return tuple(first), tuple(rest)

    def _one_of(self, item: object, items: Sequence[Value]) -> Value:
        """The item, or the first one like it that is there."""
        if item in items or not self.alike:
            return item
        return next((other for other in self.alike.get(item, ()) if other in items), item)


def _is_sequence(value: object) -> TypeGuard[Sequence[int]]:
    """Return whether it is a sequence other than a text; what its elements are is looked at by the caller."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _finalise(z: int) -> int:
    """The output function of SplitMix64: a bijection of the numbers of 64 bits that spreads every bit over all."""
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def _output(start: int, index: int) -> int:
    """Output number ``index`` (from 0) of SplitMix64 from the state ``start``."""
    return _finalise((start + (index + 1) * _STEP) & _MASK)


def _stream(start: int) -> Callable[[int], int]:
    return lambda index: _output(start, index)


@lru_cache(maxsize=64)
def _start(seed: int, name: str) -> int:
    """The state of the generator for one use of chance in a game: the uses of a name follow each other."""
    return _finalise(_finalise((seed + _STEP) & _MASK) ^ name_hash(name))


@lru_cache(maxsize=1024)
def name_hash(text: str) -> int:
    """FNV-1a, 64 bits, over the UTF-8 bytes."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value
