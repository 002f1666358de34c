"""Both forms of a ruleset play the same game: decisions, options, records, digests, results and failures."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.engine.game import Game
from interpreter.kernel.chance import Seeded
from interpreter.kernel.effects import undo
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import State, Value
from tests.compiler.pair import (
    MOST_DECISIONS,
    Pair,
    fits,
    machines,
    named,
    picked,
    play,
    records,
    ruleset,
    tables,
    tables_of,
    told,
)

ANY_TABLE = st.deferred(lambda: st.sampled_from(tables()))


@pytest.mark.slow
@pytest.mark.parametrize("name", named())
def test_random_games_are_the_same(name: str) -> None:
    if not fits(name):
        pytest.skip("it does not fit")
    for _, players in tables_of(name):
        machines(name, players)[1].bailouts = 0
        pair = Pair(name, players, seed=players)
        play(pair, random.Random(players))
        failed = pair.failure is not None
        assert pair.fast.bailouts == failed, "an emitted function failed, and the plain form does not"


@given(table=ANY_TABLE, seed=st.integers(0, 2**32), choices=st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_any_game_is_the_same(table: tuple[str, int], seed: int, choices: int) -> None:
    machines(*table)[1].bailouts = 0
    pair = Pair(*table, seed)
    play(pair, random.Random(choices))
    assert pair.fast.bailouts == (pair.failure is not None)


@given(table=ANY_TABLE, seed=st.integers(0, 1000), choices=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_a_game_goes_on_in_the_other_form(table: tuple[str, int], seed: int, choices: int) -> None:
    """Forms are changed, choices undone and the state copied at random; a second game stays in the plain form."""
    random_ = random.Random(choices)
    plain, fast, first = machines(*table)
    steady, mixed = first.clone(), first.clone()
    chance = Seeded(seed)
    if told(lambda: plain.start(steady, chance)) is not None:
        return
    (fast if random_.random() < 0.5 else plain).start(mixed, chance)
    for _ in range(300):
        assert steady.digest() == mixed.digest()
        if steady.frame is None:
            break
        index, locals_, _, _ = steady.frame
        options = list(plain.machine.options(steady, list(locals_), plain.machine.asks[index]))
        assert options == list(fast.machine.options(mixed, list(locals_), fast.machine.asks[index]))
        assert plain.is_free(steady) == fast.is_free(mixed) == (len(options) > 1)
        option = picked(options, random_)
        if random_.random() < 0.2:
            before = mixed.digest()
            some = fast if random_.random() < 0.5 else plain
            if told(partial(some.go, mixed, chance, picked(options, random_))) is None:
                assert undo(mixed) is not None
            assert mixed.digest() == before
        if random_.random() < 0.1:
            mixed = mixed.clone()
        failures = []
        for runner, state in ((plain, steady), (fast if random_.random() < 0.5 else plain, mixed)):
            failures.append(told(partial(runner.go, state, chance, option)))
        assert failures[0] == failures[1]
        if failures[0] is not None:
            break


@pytest.mark.parametrize("name", named())
def test_whole_games_end_alike(name: str) -> None:
    if not fits(name):
        pytest.skip("it does not fit")
    players = ruleset(name).composition.players.low
    if told(lambda: ruleset(name).new_game(players, seed=5)) is not None:
        return
    games = [ruleset(name).new_game(players, seed=5) for _ in range(2)]
    chance = random.Random(5)
    for _ in range(MOST_DECISIONS):
        fast, plain = games
        if fast.decision is None:
            break
        option = picked([option.code for option in fast.decision.options], chance)
        failures = [
            told(partial(_apply, fast, option, in_plain=False)),
            told(partial(_apply, plain, option, in_plain=True)),
        ]
        assert failures[0] == failures[1]
        assert fast.digest() == plain.digest()
        if failures[0] is not None:
            break
    assert games[0].result == games[1].result
    assert games[0].choices == games[1].choices
    assert [str(line) for line in games[0].log()] == [str(line) for line in games[1].log()]


def _apply(game: Game, option: tuple[int, tuple[Value, ...]], *, in_plain: bool) -> None:
    decision = game.decision
    assert decision is not None
    game.runner.plain = in_plain
    try:
        game.apply(decision.option(option))
    finally:
        game.runner.plain = False


def _hears(heard: list[tuple[str, list[Value]]], state: State, word: str) -> None:
    heard.append((word, state.cells[:]))


@pytest.mark.parametrize("name", ["germany-2018", "goofspiel"])
def test_whoever_listens_hears_the_same(name: str) -> None:
    """Of each mark while it happens, with the cells as they are then."""
    heard: dict[str, list[tuple[str, list[Value]]]] = {"plain": [], "fast": []}
    pair = Pair(name, 4, seed=3)
    for form, state in (("plain", pair.a), ("fast", pair.b)):
        listen(state, partial(_hears, heard[form]))
    pair.fast.bailouts, chance = 0, random.Random(1)
    for _ in range(50):
        pair.choose(chance.choice(pair.options()))
    assert len(heard["plain"]) > 20
    assert heard["plain"] == heard["fast"]
    assert records(pair.a) == records(pair.b)
    assert pair.fast.bailouts == 0
