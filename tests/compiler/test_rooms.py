"""What rooms take of a bag, as the fast form keeps it: the same as the kernel says."""

from __future__ import annotations

import pickle
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from interpreter.compiler.fast.rooms import RoomsOfCards, claims
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


@given(st.lists(BAGS, min_size=1, max_size=4), ROOMS, st.randoms())
def test_rooms_of_cards_are_summed(bags: list[Bag], rooms: Rooms, random: Random) -> None:
    """Each card has one of the rooms, and some of the cards are taken, in any order."""
    of_cards = [*rooms, ((), 3), *rooms, None]
    random.shuffle(of_cards)
    known = RoomsOfCards(tuple(of_cards), WIDTH)
    chosen = [card for card, room in enumerate(of_cards) if room is not None and random.random() < 0.5]
    random.shuffle(chosen)
    taken = tuple(room for card in chosen if (room := of_cards[card]) is not None)
    for copied in (known, pickle.loads(pickle.dumps(known))):
        found = copied[sum(number for card in chosen if (number := copied.numbers[card]) is not None)]
        for bag in bags:
            assert found.outside[bag] == overflow(bag, taken)
            assert found.space[bag] == tuple(space(bag, taken, kind) for kind in range(WIDTH))


def test_rooms_of_cards_are_not_summed_where_they_would_run_over() -> None:
    assert RoomsOfCards((((0,), 2_000), ((0,), 2_000)), 1).is_few
    assert not RoomsOfCards((((0,), 2_000), ((0,), 3_000)), 1).is_few
    assert not RoomsOfCards((((0,), -1),), 1).is_few
