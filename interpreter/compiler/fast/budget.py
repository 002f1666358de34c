"""What the fast form may use up: work, memory, and how long its lists are.

Emitted functions are written with what they cost (:mod:`interpreter.compiler.fast.cost`). Where that has a known and
small bound nothing is counted but the cost of the whole function, at its head; a loop that may be long, or does much
for each item, pays for all of its items before it looks at the first. Whoever has nothing left gives up, and the plain
form, which counts by itself, does the decision again.

A unit is about one node of a syntax tree that is worked out, 20 to 40 ns. The limits of both forms need not be the
same: a decision that is too much for the fast form alone succeeds in the plain one.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from functools import partial
from operator import lt
from typing import Any

from interpreter.compiler.constants import MAXIMUM_STEPS, MAXIMUM_WEIGHT, Constants, Meter, is_bounded, numbers_in
from interpreter.compiler.plain.evaluate import MAXIMUM_ITEMS
from interpreter.kernel import bags
from interpreter.kernel.state import State, Value

__all__ = ["DECISION", "FEW", "LITTLE", "MOST_FOLLOWED", "Abandoned", "Budget"]

DECISION = 4_000_000
"""So many units are left at least when a decision begins. All of them take some tenths of a second."""

MEMORY, ENTRY, NUMBER = 200_000_000, 256, 8
"""Bytes: of all that may be remembered, of one answer, and of a number in it."""

FEW = 8
"""So many mixes are part of what it costs to ask for them."""

MOST_MIXES_KNOWN = 16_384

SELDOM = 8
"""How much is remembered is looked at whenever the budget was filled so often."""

LITTLE = 60_000
"""So many units are taken off for what the machine calls once in a decision, and no more is taken off there; and as
many for what is done after something was paid for the last time, up to the next decision."""

MOST_FOLLOWED = 8
"""Where the plain form changes more cells nothing is remembered: what follows a change can be long."""

UNITS_OF_A_STEP = 10
"""What the plain form does for the fast one is paid for too; its steps are longer."""


MOST_REMEMBERED = 16_384
"""So many answers of one function are remembered."""


class Told(dict[Any, Any]):
    """A function of one value that remembers what it gave; to look an answer up is quicker than any call."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.__name__ = function.__name__

    def __missing__(self, asked: Any) -> Any:
        found = self.function(asked)
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        self[asked] = found
        return found


class Abandoned(Exception):
    """The fast form cannot go on here."""


class Budget:
    """Of one machine. ``left`` is a list of one number, so that emitted code can change it without a call.

    ``longest``: no list that the fast form works with has more items (ranges that are only looked through may). It is
    the length of the longest thing that the game has anyway, so what is put together of cards, nodes or seats fits.
    A state that has longer lists was made by the plain form, and stays there.
    """

    def __init__(self, constants: Constants, longest: int) -> None:
        self.left = [2 * DECISION]
        self.longest = longest
        base = constants.layout.base
        self._kept = base["kept"]
        cells: list[int] = []
        for name, count in constants.layout.groups:
            group = constants.model.groups.get(name)
            if group is not None and group.type.form in ("list", "set", "record", "room"):
                cells.extend(range(base[name], base[name] + count))
        self._cells = tuple(cells)
        self._remembering: list[tuple[Callable[[], int], Callable[[], None], int]] = []
        self._filled = 0

    def forgets(self, functions: Iterable[Any], weights: dict[str, int]) -> None:
        """Functions that remember what they gave are told to forget it when there is too much of it."""
        for function in functions:
            if isinstance(function, Told):
                size, clear = function.__len__, function.clear
            elif hasattr(function, "cache_clear"):
                size, clear = partial(_size, function), function.cache_clear
            else:
                continue
            weight = weights.get(function.__name__, self.longest)
            self._remembering.append((size, clear, ENTRY + NUMBER * weight))

    def refill(self, state: State) -> None:
        """What is remembered was paid for when it was worked out; so it need not be looked at more often than here."""
        self.left[0] = 4 * DECISION
        answers = [len(found) for found in state.caches or () if type(found) is dict]
        if sum(answers) * (ENTRY + NUMBER * self.longest) > MEMORY:
            state.forget()
        self._filled += 1
        if self._filled % SELDOM == 0 and sum([size() * weight for size, _, weight in self._remembering]) > MEMORY:
            for _, clear, _ in self._remembering:
                clear()

    def check(self, state: State) -> None:
        """Gives up where a state has lists that are too long for the fast form."""
        cells = state.cells
        self.fits([cells[cell] for cell in self._cells])
        for block in cells[self._kept]:
            self.fits(block[3])
        frame = state.frame
        while frame is not None:
            self.fits(frame[1])
            frame = frame[2]

    def fits(self, values: Iterable[Value]) -> None:
        longest = self.longest
        for value in values:
            if type(value) is tuple and value:
                if len(value) > longest:
                    raise Abandoned
                self.fits(value)

    def names(self) -> dict[str, Any]:
        """What emitted code calls."""
        left, longest = self.left, self.longest

        def spent(items: Any, units: int) -> Any:
            left[0] -= len(items) * units
            if left[0] < 0:
                raise Abandoned
            return items

        def numbers(first: int, last: int, units: int = 0) -> range:
            found = range(first, last + 1)
            size = len(found)
            left[0] -= size * units
            if size > MAXIMUM_ITEMS or left[0] < 0:
                raise Abandoned
            return found

        def short(items: Iterable[Value]) -> Value:
            found = tuple(items)
            if len(found) > longest:
                raise Abandoned
            return found

        def joined(one: Value, other: Value) -> Value:
            if len(one) + len(other) > longest:
                raise Abandoned
            return (*one, *other)

        return {
            "LEFT": left,
            **_of_the_last_list(left),
            "spent": spent,
            "numbers": numbers,
            "short": short,
            "joined": joined,
            "mixes": _Mixes(self),
            "bounded": bounded,
            "fits": self.fits,
            "weighed": weighed,
        }

    def pay_for(self, meter: Meter) -> None:
        """For what the plain form did since its meter was filled."""
        self.left[0] -= UNITS_OF_A_STEP * (MAXIMUM_STEPS - meter.left)
        if self.left[0] < 0:
            raise Abandoned


def _of_the_last_list(left: list[int]) -> dict[str, Any]:
    """Helpers that ask again and again about one list, and pay for it once: where each of its items stands."""
    known: Value = ()
    places: dict[Value, int] = {}
    is_rising = True

    def look_at(items: Value) -> None:
        """At a list that was not the last one."""
        nonlocal known, places, is_rising
        left[0] -= 4 * len(items)
        if left[0] < 0:
            raise Abandoned
        is_rising = None not in items and all(map(lt, items, items[1:]))
        known, places = items, {items[place]: place for place in reversed(range(len(items)))}

    def each_once(items: Value) -> bool:
        """Whether all items of a list are different."""
        if items is not known:
            look_at(items)
        return len(places) == len(items)

    def enter(values: list[Value], item: Value, items: Value) -> None:
        """Puts an item among some of a list, in the order of that; not if it is none of the list."""
        left[0] -= len(items)
        if left[0] < 0:
            raise Abandoned
        if items is not known:
            look_at(items)
        if item in places:
            if is_rising:
                insort(values, item)
            else:
                insort(values, item, key=places.__getitem__)

    return {"each_once": each_once, "enter": enter}


class _Mixes(dict[tuple[int, tuple[int, ...], bags.Bag], Value]):
    """As :func:`~interpreter.kernel.bags.mixes`, by what it is given."""

    __slots__ = ("budget",)

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def __missing__(self, asked: tuple[int, tuple[int, ...], bags.Bag]) -> Value:
        found = bags.mixes(*asked)
        if len(found) > FEW:
            left, size = self.budget.left, len(found) * len(asked[2])
            left[0] -= 4 * size
            if len(found) > self.budget.longest or left[0] < 0:
                raise Abandoned
        else:
            if len(self) >= MOST_MIXES_KNOWN:
                self.clear()
            self[asked] = found
        return found


def _size(function: Any) -> int:
    return function.cache_info().currsize  # type: ignore[no-any-return]


def bounded(number: Value) -> Value:
    """A number, or a bag of them, that may be kept."""
    if not is_bounded(number):
        raise Abandoned
    return number


def weighed(value: Value) -> Value:
    """A value that may be kept, of lists in lists."""
    if numbers_in(value) > MAXIMUM_WEIGHT:
        raise Abandoned
    return value
