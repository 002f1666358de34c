"""A game that lives in the module is the one that the plain form plays, whatever is asked of it and whoever changes
it meanwhile."""

from __future__ import annotations

import random
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.bots.compiled_bots import announce
from interpreter.bots.player import Stream
from interpreter.bots.policy import PolicyBot
from interpreter.bots.registry import policies_for
from interpreter.compiler.wasm import module
from interpreter.engine.decision import Decision
from interpreter.engine.game import Game, Ruleset
from interpreter.kernel.chance import Scripted, Seeded
from interpreter.kernel.listeners import listen
from interpreter.kernel.state import State
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import streams_for
from tests.small import loaded, write
from tests.support import TIMES, shared

TABLES = [("goofspiel", 3), ("germany-2018", 3), ("outpost", 2)]


@shared
def pair(name: str) -> tuple[Ruleset, Ruleset]:
    """Two rulesets with machines of their own: games of the first are in the module."""
    return load(name), load(name)


def begun(name: str, players: int, seed: int) -> tuple[Game, Game]:
    fast, plain = (each.for_players(players) for each in pair(name))
    runners = [each.table(players, each.settings({})).runner for each in (fast, plain)]
    assert runners[0].ready() is not None
    runners[0].bailouts, runners[1].plain = 0, True
    return fast.new_game(players, seed), plain.new_game(players, seed)


def lives_there(game: Game) -> bool:
    return game.state.home is not None


def home_of(game: Game) -> Any:
    assert game.state.home is not None
    return game.state.home


def made(games: tuple[Game, ...], code: Any) -> None:
    for game in games:
        assert game.decision is not None
        game.apply(game.decision.option(code))


def decided(game: Game) -> Decision:
    """The decision of a game that is not over."""
    assert game.decision is not None
    return game.decision


def told(game: Game) -> list[Any]:
    """All that can be asked of a game."""
    decision = game.decision
    return [
        game.digest(),
        repr(game),
        game.choices,
        game.result,
        [str(line) for player in (None, 0) for line in game.log(player)],
        [game.view(player) for player in (None, 0)],
        game.check(),
        decision and (decision.name, decision.actor, decision.context, list(decision.options)),
        [(each.actor, each.name) for each in game.decisions],
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "players"), TABLES)
@given(seed=st.integers(0, 1000), choices=st.integers(0, 2**32))
@settings(max_examples=4, deadline=None)
def test_a_game_in_the_module_tells_what_the_plain_one_does(name: str, players: int, seed: int, choices: int) -> None:
    """Choices, undo, clones with and without a log, saves and looks in any order, and three games at once."""
    chance = random.Random(choices)
    pairs = [begun(name, players, seed + number) for number in range(3)]
    runner = pairs[0][0].runner
    for _ in range(120):
        number = chance.randrange(3)
        fast, plain = pairs[number]
        if plain.decision is None:
            continue
        match chance.randrange(10):
            case 0:
                assert fast.undo() == plain.undo()
            case 1:
                pairs[number] = fast.clone(), plain.clone()
            case 2:
                pairs[number] = fast.clone(log=True), plain.clone(log=True)
            case 3:
                assert told(fast) == told(plain)
            case 4:
                assert fast.digest() == plain.digest()
            case 5:
                saved = fast.to_json()
                assert saved == plain.to_json()
                assert told(fast.ruleset.load_game(saved)) == told(plain.ruleset.load_game(saved))
            case _:
                code = chance.choice(plain.decision.codes[:60])
                assert fast.accepts(plain.decision.option(code).as_dict())
                made((fast, plain), code)
                assert lives_there(fast)
    for fast, plain in pairs:
        assert told(fast) == told(plain)
    assert runner.bailouts == 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "players"), TABLES)
@given(seed=st.integers(0, 1000), choices=st.integers(0, 2**32))
@settings(max_examples=3 * TIMES, deadline=None)
def test_bots_that_are_asked_ahead_choose_as_ever(name: str, players: int, seed: int, choices: int) -> None:
    """Whether they are asked at each decision, twice at one, or not at all; whether their choice is made or another;
    with streams of their own or a common one; with undo, another game, a copy and whole games in between. The module
    plays ahead whenever bots choose."""
    chance = random.Random(choices)
    pairs = [begun(name, players, seed + number) for number in range(2)]
    runner = pairs[0][0].runner
    known = policies_for(pairs[0][0].ruleset)
    names = [*known][:3]
    announce(runner, pairs[0][0].ruleset, [PolicyBot(known[name]) for name in names])
    seats = [(chance.choice(names), chance.randrange(2)) for _ in range(players)]
    streams = [[Stream(seed, f"seat {number}") for number in range(2)] for _ in pairs[0]]
    bots = [[PolicyBot(policies_for(game.ruleset)[policy]) for policy, _ in seats] for game in pairs[0]]
    number = 0
    for _ in range(150):
        games = pairs[number]
        if games[1].decision is None:
            number = 1 - number
            continue
        seat = games[1].decision.actor % players
        match chance.randrange(14):
            case 0:
                for _ in range(chance.choice((1, 2, 70))):
                    assert games[0].undo() == games[1].undo()
                assert games[0].digest() == games[1].digest()
            case 1:
                number = 1 - number
            case 2:
                pairs[number] = games[0].clone(), games[1].clone()
            case 3:
                made(games, chance.choice(games[1].decision.codes[:60]))
            case 4:
                seats[seat] = chance.choice(names), chance.randrange(2)
                for game, row in zip(games, bots, strict=True):
                    row[seat] = PolicyBot(policies_for(game.ruleset)[seats[seat][0]])
            case 5:
                whole = runner.whole([(bot.policy, None) for bot in bots[0]])
                assert whole is not None
                whole[0].games([chance.randrange(100)], whole[1], 10_000)
            case 6:
                assert told(games[0]) == told(games[1])
            case again:
                for _ in range(chance.choice((1, 2, 40))):
                    if games[1].decision is None:
                        break
                    seat = games[1].decision.actor % players
                    for _ in range(1 + (again == 7)):
                        chosen = [
                            row[seat].choose(game, decided(game), own[seats[seat][1]])
                            for game, row, own in zip(games, bots, streams, strict=True)
                        ]
                        assert chosen[0] == chosen[1]
                    assert runner.compiled is not None
                    runner.compiled.wait = runner.compiled.left = 0
                    for game, option in zip(games, chosen, strict=True):
                        game.apply(option if again % 2 else option.as_dict())
    for fast, plain in pairs:
        assert told(fast) == told(plain)
    assert runner.bailouts == 0


def test_what_fails_ahead_fails_in_its_turn(tmp_path: Path) -> None:
    """While only bots choose and nobody looks, the module plays ahead. A rule that fails there fails at the choice
    that leads to it, and what was chosen before stands."""
    act = "choose act by seats[round mod 2]:\n  go:\n    amount = 60 div (40 - round)\n"
    ruleset = loaded(write(tmp_path, act, sections="policies:\n  first: {act: {prefer: any}}\n"))
    game = ruleset.new_game(2, 1)
    bots = [PolicyBot(policies_for(ruleset)["first"]) for _ in range(2)]
    streams = streams_for(1, 2)
    ahead = []
    for _ in range(39):
        decision = decided(game)
        game.apply(bots[decision.actor].choose(game, decision, streams[decision.actor]))
        ahead.append(len(home_of(game).upcoming))
    assert max(ahead) > 10
    assert ahead[-1] == 0
    decision, digest = decided(game), game.digest()
    with pytest.raises(RuleFailure, match="division"):
        game.apply(decision.options[0])
    assert (game.decision, game.digest(), game.value("round")) == (decision, digest, 40)


def test_undo_goes_back_beyond_what_the_module_keeps() -> None:
    """More choices than states have room there, after and before another game was played on."""
    games, others = begun("germany-2018", 3, 4), begun("germany-2018", 3, 5)
    chance, digests = random.Random(2), list[str]()
    for number in (20, 100):
        for _ in range(number):
            assert games[1].decision is not None
            digests.append(games[1].digest())
            made(games, chance.choice(games[1].decision.codes[:30]))
        assert others[1].decision is not None
        made(others, others[1].decision.codes[0])
    home: Any = games[0].state.home
    assert len(home.past) < 100
    for digest in reversed(digests):
        assert games[0].undo()
        assert games[0].digest() == digest
    assert not games[0].undo()


def test_a_change_from_outside_outlasts_the_making_of_the_log() -> None:
    fast, plain = begun("goofspiel", 3, 4)
    assert plain.decision is not None
    made((fast, plain), plain.decision.codes[0])
    cell = fast.machine.constants.layout.base["round"]
    for game in (fast, plain):
        game.state.cells[cell] = 7
        game.log()
    assert fast.clone().digest() == plain.clone().digest()


def test_a_state_that_is_changed_from_outside_comes_out_and_goes_back() -> None:
    fast, plain = begun("goofspiel", 3, 4)
    cell = fast.machine.constants.layout.base["round"]
    for number in range(6):
        assert plain.decision is not None
        made((fast, plain), plain.decision.codes[0])
        assert lives_there(fast)
        for game in (fast, plain):
            assert number % 2 or game.state.frame is not None  # read before the cells, or not at all
            game.state.cells[cell] = 7 + number
        assert fast.digest() == plain.digest()
    assert told(fast) == told(plain)
    assert fast.runner.bailouts == 0


def test_the_round_and_the_frame_are_read_alone() -> None:
    """Loops over games ask for them often: other cells are not decoded."""
    fast, plain = begun("goofspiel", 3, 4)
    assert plain.decision is not None
    made((fast, plain), plain.decision.codes[0])
    decoded = home_of(fast).built.codec._decoded
    decoded.clear()
    assert fast.round == plain.round
    assert fast.decision is not None
    assert plain.decision is not None
    assert fast.decision.frame == plain.decision.frame
    assert list(decoded) == ["round"]
    assert lives_there(fast)
    made((fast, plain), plain.decision.codes[0])
    assert lives_there(fast)
    assert fast.digest() == plain.digest()


def test_lists_of_options_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LISTS", 2)
    fast, plain = begun("goofspiel", 3, 4)
    built, numbers = home_of(fast).built, set[int]()
    built._decisions.clear()
    while not plain.is_over:
        decision = decided(fast)
        found = decision.legal()
        assert isinstance(found, list)
        found.pop()  # what somebody does with the list changes no other
        assert decision.codes == decided(plain).codes
        numbers.add(max(len(each.lists) for each in built._decisions.values()))
        monkeypatch.setattr(module, "MOST_LISTED", 0 if decided(plain).actor else 4_000)
        made((fast, plain), decision.codes[0])
    assert numbers == {0, 1, 2}


def test_what_was_looked_at_stays_as_it_was() -> None:
    """Lists that somebody has got are not those of the state after the next choice."""
    fast, plain = begun("goofspiel", 3, 4)
    assert plain.decision is not None
    cells, log, frame = fast.state.cells, fast.state.log, fast.state.frame
    kept = list(cells), list(log), frame
    made((fast, plain), plain.decision.codes[0])
    assert (cells, log, frame) == kept
    assert fast.digest() == plain.digest()
    assert fast.state.log[: len(log)] == log


def _hears(words: list[str], state: State, word: str) -> None:
    words.append(f"{word} {state.digest()}")


def test_who_listens_keeps_the_game_in_the_plain_form() -> None:
    games = begun("germany-2018", 3, 4)
    fast, plain = games
    heard: tuple[list[str], list[str]] = ([], [])
    assert plain.decision is not None
    made(games, plain.decision.codes[0])
    assert lives_there(fast)
    for game, words in zip(games, heard, strict=True):
        listen(game.state, partial(_hears, words))
    for _ in range(40):
        assert plain.decision is not None
        made(games, plain.decision.codes[-1])
        assert not lives_there(fast)
    assert heard[0] == heard[1]
    assert len(heard[0]) > 3
    copy = fast.clone()
    assert copy.decision is not None
    copy.apply(copy.decision.options[0])
    assert lives_there(copy), "nobody listens to the copy"


def test_other_chance_is_not_that_of_the_module() -> None:
    """Outcomes that are given are drawn in the plain form; a game that goes on with another seed draws by that one."""
    fast, plain = begun("goofspiel", 3, 4)
    for game in (fast, plain):
        game.chance = Seeded(99)
    chance = random.Random(1)
    for _ in range(30):
        if plain.decision is None:
            break
        made((fast, plain), chance.choice(plain.decision.codes))
        assert fast.digest() == plain.digest()
    assert lives_there(fast)
    fast, plain = begun("goofspiel", 3, 4)
    for game in (fast, plain):
        game.chance = Scripted({}, Seeded(4))
    assert plain.decision is not None
    made((fast, plain), plain.decision.codes[0])
    assert not lives_there(fast)
    assert told(fast) == told(plain)


def test_a_game_goes_on_at_another_table() -> None:
    """A state that lives in the module of one table is played on at an equal one, in the module of that."""
    fast, plain = begun("goofspiel", 3, 4)
    other = load("goofspiel").for_players(3)
    runner = other.table(3, other.settings({})).runner
    assert runner.ready() is not None
    moved = Game(other, other.table(3, other.settings({})), fast.state.clone(), fast.chance, fast.origin)
    chance = random.Random(3)
    for _ in range(30):
        assert plain.decision is not None
        made((moved, plain), chance.choice(plain.decision.codes[:30]))
        assert moved.digest() == plain.digest()
    assert moved.state.home is not None
    assert moved.state.home.built is runner.module  # type: ignore[attr-defined]
    assert fast.digest() != moved.digest()


def with_wasmtime() -> Any:
    pytest.importorskip("wasmtime")
    from interpreter.compiler.wasm import with_wasmtime

    return with_wasmtime


def test_the_call_without_checks_is_that_of_the_wasmtime_that_is_tested() -> None:
    """Where another version has another one, games are slower, and this fails: look at `knows_unchecked` then."""
    constraints = (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8")
    assert f"wasmtime=={version('wasmtime')}" in constraints.split()
    assert with_wasmtime().knows_unchecked()


def test_ordinary_calls_play_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(with_wasmtime(), "knows_unchecked", lambda: False)
    pair.cache_clear()
    fast, plain = begun("goofspiel", 3, 4)
    chance = random.Random(5)
    bot = PolicyBot(policies_for(fast.ruleset)["sensible"])
    streams = [Stream(4, "seat 0") for _ in range(2)]
    while plain.decision is not None:
        if chance.randrange(3):
            chosen = [bot.choose(game, decided(game), own) for game, own in zip((fast, plain), streams, strict=True)]
            assert chosen[0] == chosen[1]
            made((fast, plain), chosen[0].code)
        else:
            made((fast, plain), chance.choice(plain.decision.codes))
        assert lives_there(fast)
    assert told(fast) == told(plain)
    assert fast.runner.bailouts == 0
    pair.cache_clear()


def test_a_further_policy_makes_another_module_and_games_go_on() -> None:
    pair.cache_clear()  # other tests may have taught the runner these policies
    fast, plain = begun("goofspiel", 3, 4)
    runner = fast.runner
    copies = [fast.clone() for _ in range(3)]
    before = runner.module
    for policy in policies_for(fast.ruleset).values():
        assert runner.player(policy, None) is not None
    assert runner.module is not before
    chance = random.Random(3)
    for _ in range(30):
        assert plain.decision is not None
        code = chance.choice(plain.decision.codes[:30])
        made((fast, *copies, plain), code)
        assert {game.digest() for game in (fast, *copies, plain)} == {plain.digest()}
    assert runner.bailouts == 0
