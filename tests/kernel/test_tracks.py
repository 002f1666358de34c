"""Tracks: prices and room follow from the counts alone."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.kernel.tracks import Track

TRACK = Track((((1, 3), (2, 3), (3, 3)), ((1, 1), (5, 1), (9, 2)), ()))

SPACES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=5).map(tuple)


def test_prices_from_the_cheapest() -> None:
    assert TRACK.prices(0) == (1, 1, 1, 2, 2, 2, 3, 3, 3)
    assert TRACK.prices(1) == (1, 5, 9, 9)
    assert TRACK.prices(2) == ()


def test_capacity_and_room() -> None:
    assert TRACK.capacities() == (9, 4, 0)
    assert [TRACK.capacity(kind) for kind in range(3)] == [9, 4, 0]
    assert TRACK.room(0, 7) == 2
    assert TRACK.room(2, 0) == 0


def test_price_of_the_cheapest_tokens() -> None:
    assert TRACK.price(0, 9, 1) == 1
    assert TRACK.price(0, 9, 4) == 5
    assert TRACK.price(0, 5, 3) == 2 + 2 + 3
    assert TRACK.price(0, 5, 0) == 0
    assert TRACK.price(1, 2, 2) == 18


def test_price_of_a_bag() -> None:
    assert TRACK.price_of((5, 3, 0), (3, 1, 0)) == 7 + 5
    assert TRACK.price_of((0, 0, 0), (0, 0, 0)) == 0
    with pytest.raises(ValueError, match="got 4 tokens to take, want 0 to 3"):
        TRACK.price_of((5, 3, 0), (3, 4, 0))
    with pytest.raises(ValueError, match=r"zip\(\)"):
        TRACK.price_of((5, 3), (3, 1))


def test_spaces_filled() -> None:
    assert TRACK.spaces_filled(0, 4) == ((1, 0, 3), (2, 1, 3), (3, 3, 3))
    assert TRACK.spaces_filled(1, 4) == ((1, 1, 1), (5, 1, 1), (9, 2, 2))
    assert TRACK.spaces_filled(2, 0) == ()


def test_spaces_are_kept_by_price() -> None:
    track = Track((((4, 1), (2, 2), (4, 3)),))
    assert track.spaces == (((2, 2), (4, 1), (4, 3)),)
    assert track == Track((((2, 2), (4, 1), (4, 3)),))
    assert track.spaces_filled(0, 4) == ((2, 0, 2), (4, 1, 1), (4, 3, 3))


def test_counts_and_numbers_that_cannot_be() -> None:
    for count in (-1, 10):
        with pytest.raises(ValueError, match=f"got {count} tokens on a track, want 0 to 9"):
            TRACK.room(0, count)
        with pytest.raises(ValueError, match="tokens on a track"):
            TRACK.price(0, count, 0)
        with pytest.raises(ValueError, match="tokens on a track"):
            TRACK.spaces_filled(0, count)
    for number in (-1, 4):
        with pytest.raises(ValueError, match=f"got {number} tokens to take, want 0 to 3"):
            TRACK.price(0, 3, number)
    with pytest.raises(ValueError, match="got a capacity of -1 at price 2, want 0 or more"):
        Track((((2, -1),),))


@given(SPACES, st.data())
def test_a_count_says_everything(spaces: tuple[tuple[int, int], ...], data: st.DataObject) -> None:
    track = Track((spaces,))
    capacity = sum(capacity for _, capacity in spaces)
    positions = sorted(price for price, capacity in spaces for _ in range(capacity))
    count = data.draw(st.integers(0, capacity))
    number = data.draw(st.integers(0, count))
    present = positions[capacity - count :]
    filled = track.spaces_filled(0, count)
    assert track.prices(0) == tuple(positions)
    assert track.price(0, count, number) == sum(present[:number])
    assert [price for price, tokens, _ in filled for _ in range(tokens)] == present
    assert [(price, room) for price, _, room in filled] == list(track.spaces[0])
    assert track.price(0, count, count) == track.price(0, count, number) + track.price(
        0, count - number, count - number
    )


def test_a_track_is_a_value() -> None:
    other = pickle.loads(pickle.dumps(TRACK))
    assert other == TRACK
    assert hash(other) == hash(TRACK)
    assert other.price(0, 9, 4) == 5
