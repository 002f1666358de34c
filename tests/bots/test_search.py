"""The bot that looks ahead: the same under the same seed, better than chance, and blind to what is hidden."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.player import Code, Stream
from interpreter.bots.registry import bots_of
from interpreter.compiler.wasm.whole_games import Playout, Whole
from interpreter.engine.determinization import Worlds
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.play.match import Match
from tests.looks import known_apart, shown
from tests.support import ENVELOPES


@pytest.fixture(scope="module", params=[ENVELOPES, "goofspiel"], ids=["sealed", "at once"])
def bids(request: pytest.FixtureRequest) -> Ruleset:
    """A game of bids that the other seats do not see: each has its effect when it is made, or all have when all are."""
    return load(request.param)


def played(ruleset: Ruleset, choices: int, seed: int = 3) -> Game:
    """A game after so many choices by chance."""
    match = Match(ruleset, bots_of("random", ruleset, 3), seed)
    for _ in range(choices):
        match.step()
    return match.game


def chosen(game: Game, spec: str = "search:30") -> str:
    bot = bots_of(spec, game.ruleset, 3)[0]
    assert game.decision is not None
    return str(bot.choose(game, game.decision, Stream(5, "test")))


def test_worlds_differ_in_what_is_hidden_alone(bids: Ruleset) -> None:
    game = played(bids, 7)
    assert game.decision is not None
    seat = game.decision.actor
    worlds, random = Worlds(game, seat), Stream(1, "test")
    dealt = [worlds.deal(number, random.below) for number in range(5)]
    assert len({world.digest() for world in dealt}) == 5
    for world in dealt:
        assert not world.check()
        assert shown(game, seat) == shown(world, seat)
        assert known_apart(game, world, seat) is None
        for other in range(3):  # whose cards are whose, everybody knows
            cells = [game.machine.constants.layout.base[name] + other for name in ("hand", "offered")]
            held = [sorted(card for cell in cells for card in each.state.cells[cell]) for each in (game, world)]
            assert held[0] == held[1]


def test_what_is_hidden_makes_no_difference(bids: Ruleset) -> None:
    game = played(bids, 7)
    assert game.decision is not None
    other = Worlds(game, game.decision.actor).deal(99, Stream(2, "test").below)
    other.state.log = []
    game = game.clone()
    assert other.digest() != game.digest()
    random = [Stream(4, "test") for _ in range(2)]
    worlds = [Worlds(each, 1).deal(7, stream.below) for each, stream in zip((game, other), random, strict=True)]
    assert worlds[0].digest() == worlds[1].digest()
    assert chosen(game) == chosen(other)


def test_the_same_choice_under_the_same_seed(bids: Ruleset) -> None:
    assert chosen(played(bids, 12)) == chosen(played(bids, 12))


def test_it_finds_what_wins(pebbles: Ruleset) -> None:
    """Who looks ahead to the end of the heap takes more of it than who looks at nothing."""
    wins = 0.0
    for seed in range(8):
        result = Match(pebbles, bots_of("search:100:random,random", pebbles, 2), seed).play()
        assert result is not None
        wins += (result.places[0] == 1) / result.places.count(1)
    assert wins >= 7


def test_a_search_by_time_makes_legal_choices(pebbles: Ruleset) -> None:
    for seconds in ("0.01", "0.000001"):
        assert Match(pebbles, bots_of(f"search:{seconds}s:random,random", pebbles, 2), 1).play() is not None


def test_an_option_that_only_a_world_has_is_not_taken() -> None:
    """On plots whose hidden depth a world guesses, one may dig there and not here, or here and not there."""
    tiles = load(Path(__file__).parents[1] / "cases" / "tiles" / "tiles.yaml")
    for seed in range(2, 5):
        match = Match(tiles, bots_of("search:8,random", tiles, 2), seed)
        while not match.game.is_over and len(match.game.choices) < 60:
            match.step()


def test_few_of_many_options_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bids that differ by a number alone the first ones, and others ever farther apart; what gives up always. Only
    the better half of them meets further worlds, until the budget is spent."""
    ruleset = load("germany-2018").for_players(3)
    ruleset.table(3, ruleset.settings({})).runner.patience = 0.0
    match = Match(ruleset, bots_of("sensible", ruleset, 3), 1)
    while match.game.decision is not None and match.game.decision.name != "answer":
        match.step()
    decision = match.game.decision
    assert decision is not None
    assert len(decision.codes) > 40
    tried: Counter[str] = Counter()
    playout = Whole.playout

    def noted(self: Whole, data: bytes, first: Code, *others: Any) -> Playout | None:
        tried[str(decision.option(first))] += 1
        return playout(self, data, first, *others)

    monkeypatch.setattr(Whole, "playout", noted)
    chosen(match.game, "search:200")
    low = min(int(each.partition("=")[2]) for each in tried if "=" in each)
    spread = [f"raise amount={low + more}" for more in (0, 1, 2, 4, 8, 16, 32)]
    assert {"pass", *spread} == {*tried}
    assert 190 < tried.total() <= 210
    assert sorted(tried.values())[0] >= 4
    assert sorted(tried.values())[-1] == sorted(tried.values())[-2] > 40


@pytest.mark.parametrize(
    "spec", ["search:none", "search:²", "search:²s", "search:0", "search:2.5", "search:10:search", "search:10:nobody"]
)
def test_what_a_search_cannot_be_given(pebbles: Ruleset, spec: str) -> None:
    with pytest.raises(ValueError, match=re.escape("search") if "nobody" not in spec else "nobody"):
        bots_of(spec, pebbles, 2)
