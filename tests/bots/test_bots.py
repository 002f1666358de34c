"""Automatic players: the same under the same seed, and true to their policies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from interpreter.base.plain_data import Json
from interpreter.bots.player import Code, Stream
from interpreter.bots.registry import bots_of, default_bots, policies_for
from interpreter.compiler.codegen.policy_functions import Policies
from interpreter.compiler.codegen.shapes import Unsupported
from interpreter.compiler.wasm import runner as compiled
from interpreter.compiler.wasm.runner import Runner
from interpreter.engine.decision import Decision, Option
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import Match
from interpreter.reading.files import Shelf
from interpreter.simulate.simulation import simulate
from tests.play.toy import ROOT
from tests.small import loaded, write

pytestmark = pytest.mark.usefixtures("at_once")

Choices = list[tuple[int, dict[str, Json]]]


def choices(ruleset: Ruleset, spec: str, players: int, seed: int, **settings: object) -> Choices:
    match = Match(ruleset, bots_of(spec, ruleset, players), seed, settings)
    match.play()
    return match.game.choices


@pytest.mark.parametrize("spec", ["random", "moody", "eager,random"])
def test_a_game_is_the_same_under_the_same_seed(pebbles: Ruleset, spec: str) -> None:
    assert choices(pebbles, spec, 3, 5) == choices(pebbles, spec, 3, 5)


def test_other_seeds_make_other_games(pebbles: Ruleset) -> None:
    assert len({str(choices(pebbles, "random", 3, seed)) for seed in range(8)}) > 4


def test_what_bots_draw_is_apart_from_the_chance_of_the_game(pebbles: Ruleset) -> None:
    first = {choices(pebbles, spec, 3, 5)[0][0] for spec in ("random", "moody", "eager")}
    assert len(first) == 1, "who begins is drawn by the game"


def test_a_random_bot_takes_every_option_about_as_often(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    bot, random = bots_of("random", pebbles, 2)[0], Stream(1, "test")
    assert game.decision is not None
    taken = [str(bot.choose(game, game.decision, random)) for _ in range(1400)]
    assert {str(option) for option in game.decision.options} == set(taken)
    assert all(140 < taken.count(option) < 260 for option in set(taken))


def test_keys_are_smallest_first(pebbles: Ruleset) -> None:
    assert choices(pebbles, "eager", 2, 1)[0][1] == {"do": "pull", "kind": "white", "number": 3}
    assert choices(pebbles, "eager", 2, 1, most=5)[0][1] == {"do": "pull", "kind": "white", "number": 5}


def test_lines_are_tried_in_order(pebbles: Ruleset) -> None:
    taken = [choice["kind"] for _, choice in choices(pebbles, "modest", 2, 1)]
    assert taken == ["black"] * 6 + ["white"] * 8


def test_a_chance_uses_a_line_so_often(pebbles: Ruleset) -> None:
    game = pebbles.new_game(2, seed=1)
    bot, random = bots_of("moody", pebbles, 2)[0], Stream(3, "test")
    assert game.decision is not None
    waits = sum(bot.choose(game, game.decision, random).do == "wait" for _ in range(900))
    # one in three by the first line; else by the last line, one option of seven, in half of the rest
    assert 280 < waits < 410


def test_a_policy_that_leaves_nothing_stops_the_game(pebbles: Ruleset) -> None:
    with pytest.raises(RuleFailure, match="the policy `stubborn` leaves `draw` without a choice"):
        choices(pebbles, "stubborn", 2, 1)


class Last:
    """Takes the last of what another seat leaves to it."""

    name = "last"

    def choose(self, game: Game, decision: Decision, random: Stream) -> Option:
        return decision.option((1, ())) if len(decision.site.options) == 1 else decision.options[-1]

    def among(self, game: Game, decision: Decision, codes: Sequence[Code], random: Stream) -> Code:
        return codes[-1]


def test_a_tie_is_left_to_another_seat(pebbles: Ruleset) -> None:
    seed = next(seed for seed in range(20) if choices(pebbles, "polite", 2, seed)[0][0] == 0)
    match = Match(pebbles, bots_of("polite", pebbles, 2, {1: Last()}), seed)
    match.step()
    assert match.game.choices == [(0, {"do": "pull", "kind": "black", "number": 3})]
    assert choices(pebbles, "polite", 2, seed)[0][1] == {"do": "pull", "kind": "white", "number": 1}


def test_bots_by_name(pebbles: Ruleset) -> None:
    assert set(policies_for(pebbles)) == {"eager", "modest", "moody", "polite", "stubborn", "weighed"}
    assert [bot.name for bot in bots_of("eager,random", pebbles, 3)] == ["eager", "random", "eager"]
    assert default_bots(pebbles) == "random"

    with pytest.raises(ValueError, match="did you mean `modest`"):
        bots_of("modst", pebbles, 3)
    with pytest.raises(ValueError, match="got 3 bots for 2 seats"):
        bots_of("eager,eager,random", pebbles, 2)


def test_the_default_is_the_best_policy_that_can_play_them_all(tmp_path: Path) -> None:
    """A policy without lines for a decision stops there, so it is no default."""
    act = "choose act by seats[0]:\n  go\n{}end game"
    one, two = (loaded(write(tmp_path / name, act.format(more))) for name, more in CHOICES.items())
    for number, (name, decisions) in enumerate(POLICIES.items()):
        for folder in CHOICES:
            path = tmp_path / folder / "small" / "policies" / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            lines = ", ".join(f"{each}: {{prefer: any}}" for each in decisions)
            path.write_text(f"language: 2\npolicies: small/{name}\nis: {{{name}: {{{lines}}}}}\n", encoding="utf-8")
        expected = [("random", "random"), ("greedy", "greedy"), ("sensible", "greedy")][number]
        one, two = (loaded(tmp_path / folder / "small" / "tiny.yaml") for folder in CHOICES)
        assert (default_bots(one), default_bots(two), default_bots(one, two)) == (*expected, expected[1])


CHOICES = {"one": "", "two": "choose more by seats[0]:\n  go\n"}
POLICIES = {"bench": ["act", "more"], "greedy": ["act", "more"], "sensible": ["act"]}


@pytest.mark.parametrize("name", ["germany-2018", "outpost", "goofspiel"])
def test_families_with_sensible_play_by_it(name: str) -> None:
    assert default_bots(load(name)) == "sensible"


def test_a_policy_has_functions_and_weights_of_its_own(pebbles: Ruleset) -> None:
    def taken(spec: str) -> list[tuple[Json, Json]]:
        return [(choice["kind"], choice["number"]) for _, choice in choices(pebbles, spec, 2, 1)][:4]

    assert taken("weighed") == [("black", 2)] * 3 + [("white", 2)]
    assert taken("weighed:black_worth=0:white_worth=9") == [("white", 1), ("white", 1), ("white", 1), ("white", 1)]
    assert [bot.name for bot in bots_of("weighed:black_worth=0", pebbles, 2)] == ["weighed:black_worth=0"] * 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("weighed:blck_worth=3", "`weighed` has no weight `blck_worth`; did you mean `black_worth`?"),
        ("weighed:black_worth=much", "`black_worth`: got `much`, want a whole number"),
        ("weighed:black_worth=12345678", "`black_worth`: got `12345678`, want a whole number of 7 digits at most"),
        ("eager:black_worth=3", "`eager` has no weight `black_worth`; it has none"),
        ("random:black_worth=3", "`random` takes no arguments, got `random:black_worth=3`"),
    ],
)
def test_weights_that_cannot_be_given(pebbles: Ruleset, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        bots_of(spec, pebbles, 2)


@pytest.mark.parametrize("plain", [False, True])
def test_what_a_bot_chose_is_known_to_be_legal_only_there(plain: bool) -> None:
    """Options are the same objects at every game of a table, so one may be made where another bot has not chosen it."""
    pebbles = load("pebbles", shelf=Shelf([ROOT]))
    pebbles.table(2, pebbles.settings({})).runner.plain = plain
    bot, random = bots_of("eager", pebbles, 2)[0], Stream(1, "test")
    game, other = pebbles.new_game(2, seed=1), pebbles.new_game(2, seed=1)
    before = game.digest()
    early = game.decision
    assert early is not None
    assert other.decision is not None
    option = bot.choose(game, early, random)
    other.apply(option)
    game.apply(option)
    assert game.digest() == other.digest() != before
    assert game.undo()
    assert (game.digest(), game.choices) == (before, [])
    game.apply(option)
    while (decision := game.decision) is not None and option in decision.options:
        copy = game.clone()
        game.apply(bot.choose(game, decision, random))
        copy.apply(option)
        assert (copy.choices, copy.digest()) == (game.choices, game.digest())
    now = game.digest()
    for asked in (early, game.decision):
        assert asked is not None
        bot.choose(game, asked, random)
        with pytest.raises(IllegalMove):
            game.apply(option)
        assert game.digest() == now


def held(runner: Runner) -> list[str]:
    """The policies in the module of a runner, by name; nothing where there is no module."""
    return [key.partition(" ")[0] for key in runner.module.players] if runner.module is not None else []


def test_both_forms_follow_the_functions_of_a_policy() -> None:
    fast, plain = (load("pebbles", shelf=Shelf([ROOT])) for _ in range(2))
    plain.table(2, plain.settings({})).runner.plain = True
    assert choices(fast, "weighed", 2, 5) == choices(plain, "weighed", 2, 5)
    runner = fast.table(2, fast.settings({})).runner
    assert held(runner) == ["weighed"]
    assert runner.bailouts == 0


def test_equal_policies_come_into_the_module_once() -> None:
    pebbles = load("pebbles", shelf=Shelf([ROOT]))
    first = choices(pebbles, "eager", 2, 5)
    runner = pebbles.table(2, pebbles.settings({})).runner
    module, known = runner.module, held(runner)
    assert "eager" in known
    for _ in range(80):
        assert choices(pebbles, "eager", 2, 5) == first
    assert runner.module is module
    assert held(runner) == known


def test_a_policy_for_which_the_module_has_no_room_is_followed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rulesets = [load("pebbles", shelf=Shelf([ROOT])) for _ in range(2)]
    tables = [ruleset.table(2, ruleset.settings({})) for ruleset in rulesets]
    first = choices(rulesets[0], "eager", 2, 5)
    assert held(tables[0].runner) == ["eager"]
    monkeypatch.setattr(compiled, "MOST_POLICIES", 0)
    assert choices(rulesets[1], "eager", 2, 5) == first
    assert held(tables[1].runner) == []
    assert tables[1].runner.bailouts == 0


def test_a_policy_that_the_module_cannot_hold_is_followed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else in the module suffers from it."""
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    rulesets = [load("pebbles", shelf=Shelf([ROOT])) for _ in range(2)]
    tables = [ruleset.table(2, ruleset.settings({})) for ruleset in rulesets]
    first = choices(rulesets[0], "eager", 2, 5)

    def refuses(*_: object) -> str:
        raise Unsupported("a policy")

    monkeypatch.setattr(Policies, "choosing", refuses)
    assert choices(rulesets[1], "eager", 2, 5) == first
    assert tables[1].runner.module is not None, "random bots and rules stay there"
    assert tables[1].runner.bailouts == 0


def test_a_policy_that_the_module_cannot_hold_does_not_keep_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was asked for before there was a module."""
    monkeypatch.setenv("REGELWERK_CACHE", "off")

    def refuses(*_: object) -> str:
        raise Unsupported("a policy")

    monkeypatch.setattr(Policies, "choosing", refuses)
    ruleset = load("pebbles", shelf=Shelf([ROOT])).for_players(2)
    runner = ruleset.table(2, ruleset.settings({})).runner
    for patience in (1_000, 0):
        runner.patience = patience
        assert len(list(simulate(ruleset, bots_of("eager", ruleset, 2), 1))) == 1
        assert (runner.module is None) == (patience > 0)
    assert len(list(simulate(ruleset, bots_of("random", ruleset, 2), 1))) == 1
    assert held(runner) == ["random"]


def test_a_module_is_made_where_that_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    ruleset = load("pebbles", shelf=Shelf([ROOT]))
    runner = ruleset.table(2, ruleset.settings({})).runner
    runner.patience = 1_000
    first = choices(ruleset, "weighed", 2, 5)
    assert runner.module is None
    assert runner.patience < 1_000
    runner.patience = 1e-9  # the set-up alone takes longer
    assert choices(ruleset, "weighed", 2, 5) == first
    assert held(runner) == ["weighed"]
    assert choices(ruleset, "weighed", 2, 5) == first
    assert runner.bailouts == 0
