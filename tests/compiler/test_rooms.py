"""What rooms take of a bag, as the fast form keeps it: the same as the kernel says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interpreter.compiler.fast.rooms import claims
from interpreter.kernel.bags import Bag, Rooms, overflow, space
from tests.kernel.test_bags import BAGS, ROOMS, WIDTH


@given(st.lists(BAGS, min_size=1, max_size=4), ROOMS)
def test_what_is_kept_of_rooms_agrees_with_the_kernel(bags: list[Bag], rooms: Rooms) -> None:
    claimed = claims(rooms, WIDTH)
    for bag in [*bags, *bags]:
        assert claimed.outside[bag] == overflow(bag, rooms)
        assert claimed.space[bag] == tuple(space(bag, rooms, kind) for kind in range(WIDTH))


@given(BAGS, ROOMS, st.integers(0, WIDTH - 1), st.integers(1, 6))
def test_more_of_a_kind_fits_where_there_is_space_for_it(bag: Bag, rooms: Rooms, kind: int, number: int) -> None:
    """On this law the fast form asks for space where a rule asks whether anything is left outside."""
    more = tuple(count + number * (place == kind) for place, count in enumerate(bag))
    assert (overflow(more, rooms) == 0) == (number <= space(bag, rooms, kind))
