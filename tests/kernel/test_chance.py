"""Chance: the published numbers, fair outcomes, scripts and what is wrong with them."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.kernel import chance
from interpreter.kernel.chance import ChanceError, ChanceSource, Draws, Scripted, Seeded, bounded, drawn, mix, shuffled

ANY_SEED = st.integers(-(2**70), 2**70)

# Kept games replay by these numbers: a change here breaks every one of them.
MIXED = [
    (0, "", 0, 0x0D7293FE83B1A2BC),
    (7, "deck", 0, 0xE810325DBE05DC04),
    (7, "deck", 1, 0x30E2D9A52F0C1FC7),
    (7, "déck", 0, 0x4CBBC216D70AB8A6),
    (-1, "deck", 0, 0x8C5521C44CDEC940),
    (2**64 - 1, "deck", 0, 0x8C5521C44CDEC940),
    (2**63, "a longer name", 1000, 0x851F4483C536B8BF),
]


@pytest.mark.parametrize(("seed", "name", "counter", "number"), MIXED)
def test_published_numbers(seed: int, name: str, counter: int, number: int) -> None:
    assert mix(seed, name, counter) == number


def test_published_outcomes() -> None:
    assert shuffled(tuple(range(10)), 7, "deck", 0) == (8, 6, 2, 9, 3, 7, 1, 4, 5, 0)
    assert shuffled(tuple(range(10)), 7, "deck", 1) == (8, 9, 5, 7, 4, 3, 1, 2, 6, 0)
    assert [drawn(6, 7, "die", counter) for counter in range(12)] == [3, 0, 1, 3, 1, 0, 3, 1, 0, 0, 2, 3]


def test_parts_agree_with_the_vectors_of_their_authors() -> None:
    outputs = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    assert [chance._output(1234567, index) for index in range(5)] == outputs
    assert chance._output(0, 0) == 0xE220A8397B1DCDAF
    assert chance.name_hash("") == 0xCBF29CE484222325
    assert chance.name_hash("a") == 0xAF63DC4C8601EC8C
    assert chance.name_hash("foobar") == 0x85944171F73967E8


def test_bounded_tries_again_in_the_incomplete_last_run() -> None:
    numbers = [2**64 - 1, 2**64 - 1, 5]
    assert bounded(numbers.__getitem__, 3) == 2
    assert bounded(lambda attempt: 2**64 - 1, 2**64) == 2**64 - 1
    assert bounded(lambda attempt: 2**64 - 2, 3) == (2**64 - 2) % 3


@pytest.mark.parametrize("n", [0, -1, 2**64 + 1])
def test_bounded_refuses_other_numbers_of_outcomes(n: int) -> None:
    with pytest.raises(ValueError, match="want 1 to 2"):
        bounded(lambda attempt: 0, n)


@given(st.integers(1, 1000), ANY_SEED, st.text(max_size=8), st.integers(0, 10**6))
def test_drawn_is_below_n(n: int, seed: int, name: str, counter: int) -> None:
    assert 0 <= drawn(n, seed, name, counter) < n


@given(st.lists(st.integers()), ANY_SEED, st.integers(0, 50))
def test_shuffled_keeps_the_items(items: list[int], seed: int, counter: int) -> None:
    assert Counter(shuffled(tuple(items), seed, "pile", counter)) == Counter(items)


def test_orders_and_draws_are_equally_likely() -> None:
    orders = Counter(shuffled((0, 1, 2, 3), 1, "pile", counter) for counter in range(24_000))
    assert len(orders) == 24
    assert all(850 < count < 1150 for count in orders.values())
    draws = Counter(drawn(6, seed, "die", 0) for seed in range(6_000))
    assert all(850 < draws[side] < 1150 for side in range(6))


def test_seed_name_and_counter_each_matter() -> None:
    items = tuple(range(30))
    orders = {shuffled(items, *use) for use in [(1, "a", 0), (2, "a", 0), (1, "b", 0), (1, "a", 1)]}
    assert len(orders) == 4


def test_seeded() -> None:
    source: ChanceSource = Seeded(7)
    assert source.shuffle("deck", 0, tuple(range(10))) == shuffled(tuple(range(10)), 7, "deck", 0)
    assert source.draw("die", 3, ("a", "b", "c", "d", "e", "f")) == 3
    assert source.shuffle("deck", 0, ()) == ()
    with pytest.raises(ChanceError, match="`die`, use 1: nothing to draw from"):
        source.draw("die", 0, ())


def test_scripted_shuffles() -> None:
    source: ChanceSource = Scripted({"deck": [[3, 1], [], (2, 1, 0, 3)]})
    assert source.shuffle("deck", 0, (0, 1, 2, 3)) == (3, 1, 0, 2)
    assert source.shuffle("deck", 1, (0, 1, 2, 3)) == (0, 1, 2, 3)
    assert source.shuffle("deck", 2, (0, 1, 2, 3)) == (2, 1, 0, 3)
    assert source.shuffle("deck", 0, (0, 1, 2, 3)) == (3, 1, 0, 2), "no use is remembered"


def test_scripted_shuffle_of_equal_items() -> None:
    assert Scripted({"bag": [[1, 1]]}).shuffle("bag", 0, (0, 1, 0, 1, 1)) == (1, 1, 0, 0, 1)


def test_scripted_draws() -> None:
    source = Scripted({"die": [6, 1], "tile": [(0, 2)]})
    assert source.draw("die", 0, (1, 2, 3, 4, 5, 6)) == 5
    assert source.draw("die", 1, (1, 2, 3, 4, 5, 6)) == 0
    assert source.draw("tile", 0, ((0, 1), (0, 2))) == 1


def test_the_rest_comes_from_the_next_source() -> None:
    source = Scripted({"deck": [[3]], "die": [2]}, then=Seeded(7))
    assert source.shuffle("deck", 0, tuple(range(6))) == (3, *shuffled((0, 1, 2, 4, 5), 7, "deck", 0))
    assert source.shuffle("deck", 1, tuple(range(6))) == shuffled(tuple(range(6)), 7, "deck", 1)
    assert source.draw("die", 1, (1, 2, 3)) == drawn(3, 7, "die", 1)
    assert source.draw("other", 0, (1, 2, 3)) == drawn(3, 7, "other", 0)
    strict = Scripted({"deck": [[1, 0]]}, then=Scripted({}))
    assert strict.shuffle("deck", 0, (0, 1)) == (1, 0), "a whole order asks nobody else"


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ([0, 7], "`deck`, use 1: 7 is not among the 3 items"),
        ([0, 1, 0], "`deck`, use 1: 0 is named more often than it occurs"),
        (2, "`deck`, use 1: got 2, want a sequence of items"),
        ("012", "`deck`, use 1: got '012', want a sequence of items"),
        ([[0]], r"`deck`, use 1: \[0\] is not among the 3 items"),
    ],
)
def test_scripted_shuffle_that_the_game_contradicts(outcome: object, message: str) -> None:
    with pytest.raises(ChanceError, match=message):
        Scripted({"deck": [outcome]}, then=Seeded(1)).shuffle("deck", 0, (0, 1, 2))


def test_scripted_draw_that_the_game_contradicts() -> None:
    with pytest.raises(ChanceError, match="`die`, use 1: 9 is not among the 2 options"):
        Scripted({"die": [9]}).draw("die", 0, (1, 2))


def test_exhausted_script() -> None:
    source = Scripted({"deck": [[0]]})
    with pytest.raises(ChanceError, match="`deck`, use 2: the script has no outcome left, it gives 1") as caught:
        source.shuffle("deck", 1, (0, 1))
    assert (caught.value.name, caught.value.counter) == ("deck", 1)
    with pytest.raises(ChanceError, match="`die`, use 1: the script has no outcome left, it gives 0"):
        source.draw("die", 0, (0, 1))


def test_unused_names() -> None:
    source = Scripted({"b": [1, 2], "a": [1], "none": [], "never": [1]})
    assert source.unused({"b": 1, "a": 3, "other": 2}) == ["b", "never"]
    assert source.unused({"b": 2, "a": 1, "never": 1}) == []


def test_a_script_is_a_value() -> None:
    outcomes = {"die": [1]}
    source = Scripted(outcomes)
    outcomes["die"].append(2)
    assert source == Scripted({"die": (1,)}), "later changes to what was given do not reach it"
    assert pickle.loads(pickle.dumps(source)) == source
    with pytest.raises(TypeError, match="got 'six' for `die`, want a sequence of outcomes"):
        Scripted({"die": "six"})


def test_errors_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(ChanceError("die", 2, "no")))
    assert str(error) == "`die`, use 3: no"


@given(seed=st.integers(-(2**70), 2**70), n=st.integers(1, 2**64), counter=st.integers(0, 10**6))
def test_draws_are_the_numbers_that_are_drawn(seed: int, n: int, counter: int) -> None:
    draws = Draws(seed, "bot seat 1")
    for used in (counter, counter + 1, counter + 40, counter):
        draws.used = used
        assert draws.below(n) == drawn(n, seed, "bot seat 1", draws.used - 1)
    with pytest.raises(ValueError, match="want 1 to 2"):
        draws.below(0)


def test_numbers_near_the_end_of_the_range_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are hardly any: here every second one is taken for one of them."""
    monkeypatch.setattr(chance, "_COMMON", 1 << 63)
    numbers = [drawn(1 << 64, 5, "bot seat 1", counter) for counter in range(200)]
    draws = Draws(5, "bot seat 1")
    for used, number in enumerate(numbers):
        if used % 7 == 0:
            draws.used = used
        found = draws.below(1 << 20)
        assert (found == number % (1 << 20)) == (number < 1 << 63)
        assert draws.used == used + 1
