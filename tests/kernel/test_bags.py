"""Bags: sums, the exact overflow against brute force, mixes in their order."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.kernel.bags import Bag, Rooms, add, mixes, overflow, space, subtract

WIDTH = 4
BAGS = st.tuples(*[st.integers(0, 4)] * WIDTH)
KINDS = st.sets(st.integers(0, WIDTH - 1)).map(lambda kinds: tuple(sorted(kinds)))
ROOMS = st.lists(st.tuples(KINDS, st.integers(0, 5)), max_size=3).map(tuple)


def housed(bag: Bag, rooms: Rooms) -> int:
    """The most tokens that rooms can take, by trying every way to fill them one after another."""
    if not rooms:
        return 0
    (kinds, capacity), others = rooms[0], rooms[1:]
    choices = [range(min(bag[kind], capacity) + 1) if kind in kinds else range(1) for kind in range(len(bag))]
    fillings = [put for put in product(*choices) if sum(put) <= capacity]
    return max(sum(put) + cached_housed(subtract(bag, put), others) for put in fillings)


cached_housed = cache(housed)


@given(BAGS, ROOMS)
def test_overflow_agrees_with_trying_everything(bag: Bag, rooms: Rooms) -> None:
    assert overflow(bag, rooms) == sum(bag) - cached_housed(bag, rooms)


@given(BAGS, ROOMS, st.integers(0, WIDTH - 1))
def test_space_is_what_can_be_added(bag: Bag, rooms: Rooms, kind: int) -> None:
    more = space(bag, rooms, kind)
    one = tuple(int(member == kind) for member in range(WIDTH))
    with_more = add(bag, tuple(more * count for count in one))
    assert more == 0 or overflow(with_more, rooms) == 0
    assert overflow(add(with_more, one), rooms) > 0


def test_overflow_with_shared_rooms() -> None:
    rooms: Rooms = (((0,), 4), ((0, 1), 4))
    assert overflow((4, 4), rooms) == 0
    assert overflow((6, 2), rooms) == 0
    assert overflow((5, 4), rooms) == 1
    assert overflow((2, 5), rooms) == 1
    assert overflow((0, 0), ()) == 0
    assert overflow((1, 2), ()) == 3
    assert overflow((), ()) == 0


def test_space_with_shared_rooms() -> None:
    rooms: Rooms = (((0,), 4), ((0, 1), 4))
    assert space((0, 0, 0), rooms, 0) == 8
    assert space((0, 0, 0), rooms, 1) == 4
    assert space((6, 0, 0), rooms, 1) == 2
    assert space((0, 0, 0), rooms, 2) == 0, "no room takes it"
    assert space((0, 5, 0), rooms, 0) == 0, "the bag itself does not fit"


def test_many_kinds_for_the_same_rooms() -> None:
    bag = (1,) * 60
    assert overflow(bag, ((tuple(range(30)), 25), (tuple(range(60)), 20))) == 15


def test_sums() -> None:
    assert add((1, 2), (3, 4)) == (4, 6)
    assert subtract((1, 2), (3, 1)) == (-2, 1)


def test_bags_over_different_kinds() -> None:
    for function in (add, subtract):
        with pytest.raises(ValueError, match=r"zip\(\)"):
            function((1, 2), (1, 2, 3))


def test_mixes_in_their_order() -> None:
    assert mixes(2, (0, 1), (5, 5, 5)) == ((0, 2, 0), (1, 1, 0), (2, 0, 0))
    assert mixes(2, (1, 0), (5, 5, 5)) == ((2, 0, 0), (1, 1, 0), (0, 2, 0))
    assert mixes(3, (0, 2), (1, 9, 2)) == ((1, 0, 2),)
    assert mixes(2, (0, 1, 2), (1, 1, 1)) == ((0, 1, 1), (1, 0, 1), (1, 1, 0))


def test_mixes_at_the_edges() -> None:
    assert mixes(0, (0, 1), (2, 2)) == ((0, 0),)
    assert mixes(0, (), (2, 2)) == ((0, 0),)
    assert mixes(1, (), (2, 2)) == ()
    assert mixes(5, (0, 1), (2, 2)) == ()
    assert mixes(-1, (0, 1), (2, 2)) == ()


@given(st.integers(0, 8), KINDS, BAGS)
def test_mixes_agree_with_nested_loops(number: int, kinds: tuple[int, ...], bag: Bag) -> None:
    choices = [range(count + 1) if kind in kinds else range(1) for kind, count in enumerate(bag)]
    assert mixes(number, kinds, bag) == tuple(mix for mix in product(*choices) if sum(mix) == number)
