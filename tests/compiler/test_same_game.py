"""Both forms of a ruleset play the same game: decisions, options, records, digests, results and failures."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.base.diagnostics import RulesetError
from interpreter.compiler.constants import RuleFailure
from interpreter.compiler.fast.machine import FastMachine
from interpreter.engine.game import Game
from interpreter.engine.ruleset import Ruleset, load
from interpreter.engine.setup import set_table
from interpreter.kernel.chance import Seeded
from interpreter.kernel.effects import CHOICE, undo
from interpreter.kernel.listening import listen
from interpreter.kernel.state import State, Value

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*/*.yaml"))
SHIPPED = ["germany-2018", "usa-2018+start-cities", "goofspiel"]
MOST_DECISIONS = 600
MOST_OPTIONS_READ = 3_000


@cache
def ruleset(name: str) -> Ruleset:
    """A shipped ruleset by its id, one of the cases by its path; overlays of the case's folder after a `+`."""
    path, _, overlay = name.partition("+")
    return load(path, [overlay] if overlay else [])


@cache
def named() -> list[str]:
    """Every ruleset, the small ones also with each overlay that fits."""
    found = list(SHIPPED)
    for path in CASES:
        if any(line.startswith("ruleset:") for line in path.read_text(encoding="utf-8").splitlines()):
            relative = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
            if fits(relative):
                found.append(relative)
            for overlay in sorted((path.parent / "overlays").glob("*.yaml")):
                name = f"{relative}+{path.parent.name}/{overlay.stem}"
                if fits(name):
                    found.append(name)
    return found


def fits(name: str) -> bool:
    """Whether a case can be played; those that cannot are told by the tests of the cases."""
    try:
        ruleset(name)
    except RulesetError:
        return False
    return True


@cache
def tables() -> list[tuple[str, int]]:
    return [
        (name, players)
        for name in named()
        for players in range(ruleset(name).composition.players.low, ruleset(name).composition.players.high + 1)
    ]


@dataclass
class Pair:
    """The same game in both forms."""

    name: str
    players: int
    seed: int
    plain: FastMachine = field(init=False)
    fast: FastMachine = field(init=False)
    a: State = field(init=False)
    b: State = field(init=False)

    def __post_init__(self) -> None:
        self.plain, self.fast, first = machines(self.name, self.players)
        self.a, self.b = first.clone(), first.clone()
        self.chance = Seeded(self.seed)
        self.failure: str | None = None
        self._both(lambda machine, state: machine.start(state, self.chance))

    def compare(self) -> None:
        assert self.a.frame == self.b.frame
        assert self.a.difference(self.b) == []
        assert records(self.a) == records(self.b)
        assert self.a.digest() == self.b.digest()

    def options(self) -> list[tuple[int, tuple[Value, ...]]]:
        assert self.a.frame is not None
        index, locals_, _, _ = self.a.frame
        plain = list(self.plain.options(self.a, list(locals_), self.plain.asks[index]))
        assert plain == list(self.fast.options(self.b, list(locals_), self.fast.asks[index]))
        assert plain
        return plain

    def choose(self, option: tuple[int, tuple[Value, ...]]) -> None:
        self._both(lambda machine, state: machine.take(state, self.chance, *option))

    def _both(self, do: Callable[[FastMachine, State], None]) -> None:
        """The same in both forms. A failure is the same too, with its place and chain; it ends the game."""
        failures = [told(lambda: do(self.plain, self.a)), told(lambda: do(self.fast, self.b))]
        assert failures[0] == failures[1]
        self.failure = failures[0]


def records(state: State) -> list[tuple[Value, ...]]:
    """The log; each form has its own site of an option."""
    return [(*r[:1], r[1].core, *r[2:]) if r[0] == CHOICE else r for r in state.log]


def told(do: Callable[[], object]) -> str | None:
    try:
        do()
    except RuleFailure as failure:
        return f"{failure.code} {failure}"
    return None


@cache
def machines(name: str, players: int) -> tuple[FastMachine, FastMachine, State]:
    played = ruleset(name).for_players(players)
    program, values = played.program, played.settings({})
    plain, fast = set_table(program, players, values), set_table(program, players, values)
    plain.machine.plain, fast.machine.plain = True, False
    assert fast.machine.is_written  # made at the first choice otherwise, and games would begin in the plain form
    assert plain.first.cells == fast.first.cells
    return plain.machine, fast.machine, fast.first


def picked(options: list[tuple[int, tuple[Value, ...]]], chance: random.Random) -> tuple[int, tuple[Value, ...]]:
    """Early options more often, so that a bid does not take all the money and a turn does not end at once."""
    return options[0] if chance.random() < 0.35 else chance.choice(options[:40] if chance.random() < 0.6 else options)


def play(pair: Pair, chance: random.Random) -> int:
    for count in range(MOST_DECISIONS):
        pair.compare()
        if pair.failure is not None or pair.a.frame is None:
            return count
        pair.choose(picked(pair.options(), chance))
        if pair.failure is None and records(pair.a) == records(pair.b):
            pair.a.log.clear()
            pair.b.log.clear()
    return MOST_DECISIONS


@pytest.mark.parametrize(("name", "players"), tables())
def test_random_games_are_the_same(name: str, players: int) -> None:
    machines(name, players)[1].abandoned = 0
    pair = Pair(name, players, seed=players)
    play(pair, random.Random(players))
    assert pair.fast.abandoned == (pair.failure is not None), "an emitted function failed, and the plain form does not"


@given(table=st.sampled_from(tables()), seed=st.integers(0, 2**32), choices=st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_any_game_is_the_same(table: tuple[str, int], seed: int, choices: int) -> None:
    machines(*table)[1].abandoned = 0
    pair = Pair(*table, seed)
    play(pair, random.Random(choices))
    assert pair.fast.abandoned == (pair.failure is not None)


@given(table=st.sampled_from(tables()), seed=st.integers(0, 1000), choices=st.integers(0, 2**32))
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
        options = list(plain.options(steady, list(locals_), plain.asks[index]))
        assert options == list(fast.options(mixed, list(locals_), fast.asks[index]))
        assert plain.is_free(steady) == fast.is_free(mixed) == (len(options) > 1)
        option = picked(options, random_)
        if random_.random() < 0.2:
            before = mixed.digest()
            some = fast if random_.random() < 0.5 else plain
            if told(partial(some.take, mixed, chance, *picked(options, random_))) is None:
                assert undo(mixed) is not None
            assert mixed.digest() == before
        if random_.random() < 0.1:
            mixed = mixed.clone()
        failures = []
        for machine, state in ((plain, steady), (fast if random_.random() < 0.5 else plain, mixed)):
            failures.append(told(partial(machine.take, state, chance, *option)))
        assert failures[0] == failures[1]
        if failures[0] is not None:
            break


@pytest.mark.parametrize("name", named())
def test_whole_games_end_alike(name: str) -> None:
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
    game.machine.plain = in_plain
    try:
        game.apply(decision.option(option))
    finally:
        game.machine.plain = False


def _hears(heard: list[tuple[str, list[Value]]], state: State, word: str) -> None:
    heard.append((word, state.cells[:]))


@pytest.mark.parametrize("name", ["germany-2018", "goofspiel"])
def test_whoever_listens_hears_the_same(name: str) -> None:
    """Of each mark while it happens, with the cells as they are then."""
    heard: dict[str, list[tuple[str, list[Value]]]] = {"plain": [], "fast": []}
    pair = Pair(name, 4, seed=3)
    for form, state in (("plain", pair.a), ("fast", pair.b)):
        listen(state, partial(_hears, heard[form]))
    pair.fast.abandoned, chance = 0, random.Random(1)
    for _ in range(50):
        pair.choose(chance.choice(pair.options()))
    assert len(heard["plain"]) > 20
    assert heard["plain"] == heard["fast"]
    assert records(pair.a) == records(pair.b)
    assert pair.fast.abandoned == 0
