"""What rooms take of a bag, as the fast form keeps it: the same as the kernel says."""

from __future__ import annotations

import pickle
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.compiler.fast.budget import Abandoned
from interpreter.compiler.fast.rooms import RoomsOfCards, claims
from interpreter.kernel.bags import Bag, Rooms, overflow, space
from tests.compiler.pair import machines
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


@given(BAGS, ROOMS, ROOMS)
def test_one_room_more_leaves_no_more_outside(bag: Bag, rooms: Rooms, others: Rooms) -> None:
    """On this law a rule that looks for what has no room sleeps on where a card with a room comes."""
    for room in others:
        assert overflow(bag, (*rooms, room)) <= overflow(bag, rooms)


def test_a_rule_that_looks_for_what_has_no_room_is_asked_where_there_is_less() -> None:
    """A plant that comes gives room, and so do tokens that go; tokens that come are asked about before they do."""
    text = machines("germany-2018", 4)[1].emitted.text()
    (comes,) = re.findall(r"\ndef P\d+_to_plants\(.*\n((?:    .*\n)*)", text)
    assert re.search(r"if S\[\d+\]:\n +S\[\d+\] \|= WAKES\[to\]", comes)
    (taken,) = re.findall(r"\ndef T\d+_take\(.*\n((?:    .*\n)*)", text)
    assert re.search(r"crowded_N\d+ = Y\d+_claims\[[^\n]*\]\.space\[[^\n]*\] < number_2", taken)
    assert re.search(r"if S\[\d+\] or crowded_N\d+:\n +S\[\d+\] \|= WAKES", taken)
    (burnt,) = re.findall(r"\ndef T\d+_fire\(.*\n((?:    .*\n)*)", text)
    assert "WAKES" in burnt
    assert "outside" not in burnt + comes + taken


@given(st.lists(BAGS, min_size=1, max_size=4), ROOMS, st.randoms())
def test_rooms_of_cards_are_summed(bags: list[Bag], rooms: Rooms, random: Random) -> None:
    """Each card has one of the rooms, and some of the cards are taken, in any order."""
    shuffled = [*rooms, ((), 3), *rooms]
    random.shuffle(shuffled)
    of_cards = {2 * place + 1: room for place, room in enumerate(shuffled)}
    known = RoomsOfCards(of_cards, WIDTH)
    chosen = [card for card in of_cards if random.random() < 0.5]
    random.shuffle(chosen)
    taken = tuple(of_cards[card] for card in chosen)
    for copied in (known, pickle.loads(pickle.dumps(known))):
        found = copied[sum(number for card in chosen if (number := copied.numbers[card]) is not None)]
        for bag in bags:
            assert found.outside[bag] == overflow(bag, taken)
            assert found.space[bag] == tuple(space(bag, taken, kind) for kind in range(WIDTH))


def test_rooms_of_cards_are_not_summed_where_they_would_run_over() -> None:
    assert RoomsOfCards({0: ((0,), 2_000), 1: ((0,), 2_000)}, 1).is_few
    assert not RoomsOfCards({0: ((0,), 2_000), 1: ((0,), 3_000)}, 1).is_few
    assert not RoomsOfCards({0: ((0,), -1)}, 1).is_few
    assert RoomsOfCards({kind: ((kind,), 1) for kind in range(10)}, 10).is_few
    assert not RoomsOfCards({kind: ((kind,), 1) for kind in range(11)}, 11).is_few


def test_rooms_of_too_many_sorts_are_left_to_the_kernel() -> None:
    rooms = tuple(((kind,), 1) for kind in range(10))
    assert claims(rooms, 10).outside[(2,) * 10] == overflow((2,) * 10, rooms) == 10
    with pytest.raises(Abandoned):
        claims(rooms, 11)
    with pytest.raises(ValueError, match="11 sorts"):
        overflow((2,) * 11, rooms)
