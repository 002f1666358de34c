"""Choices that were not offered are refused, say why, and leave no trace."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import interpreter
from interpreter.bots.registry import bots_of
from interpreter.engine.decision import Option
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove
from interpreter.language.types import NODE
from interpreter.play.match import streams_for
from tests.small import loaded, write

STRANGE: list[Any] = [None, -1, 0, 10**9, True, "", "nobody", [], {}, 3.5, "stage_3", ["coal"], {"coal": -1}]


def mutated(choice: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A choice with something about it changed."""
    changed = dict(choice)
    match rng.randrange(5):
        case 0:
            changed["do"] = rng.choice(["fly", "", None, 7, *STRANGE])
        case 1 if len(changed) > 1:
            name = rng.choice([key for key in changed if key != "do"])
            old = changed[name]
            changed[name] = old + rng.choice([-50, -1, 1, 50, 400]) if type(old) is int else rng.choice(STRANGE)
        case 2 if len(changed) > 1:
            del changed[rng.choice([key for key in changed if key != "do"])]
        case 3:
            changed[rng.choice(["more", "plant", "amount", "city"])] = rng.choice(STRANGE)
        case _:
            for name in [key for key in changed if key != "do"]:
                changed[name] = rng.choice(STRANGE)
    return changed


@pytest.mark.parametrize("players", [3, 6])
def test_what_was_not_offered_is_refused_and_changes_nothing(players: int) -> None:
    rng = random.Random(players)
    game = interpreter.load("germany-2018").new_game(players=players, seed=players)
    tried = 0
    while (decision := game.decision) is not None:
        options = decision.options
        if tried < 1000:
            tried += _refuse_some(game, rng)
        game.apply(options[rng.randrange(len(options))])
    assert tried >= 1000


def _refuse_some(game: Game, rng: random.Random) -> int:
    decision = game.decision
    assert decision is not None
    offered = [option.as_dict() for option in decision.options]
    digest, refused = game.digest(), 0
    for _ in range(3):
        choice = mutated(rng.choice(offered), rng)
        if choice in offered:
            continue
        with pytest.raises(IllegalMove) as error:
            game.apply(choice)
        assert str(error.value)
        assert not game.accepts(choice)
        assert game.digest() == digest
        refused += 1
    return refused


def test_an_option_of_another_time_is_legal_only_if_it_is_offered_again() -> None:
    rng, earlier, refused = random.Random(1), list[Option](), 0
    game = interpreter.load("germany-2018").new_game(players=3, seed=1)
    for _ in range(150):
        decision = game.decision
        assert decision is not None
        offered = list(decision.options)
        for option in rng.sample(earlier, min(len(earlier), 5)):
            copy = game.clone()
            if option in offered:
                copy.apply(option)
                continue
            with pytest.raises(IllegalMove):
                copy.apply(option)
            with pytest.raises(IllegalMove):
                game.apply(option)
            refused += 1
        assert game.decision is decision
        earlier = [*earlier, *offered][-40:]
        game.apply(rng.choice(offered))
    assert refused > 200


def test_what_a_policy_chose_is_legal_for_that_decision_alone() -> None:
    """Also where it is not looked at again, and after undo."""
    ruleset = interpreter.load("goofspiel")
    game, streams = ruleset.new_game(2, seed=1), streams_for(1, 2)
    bots, refused = bots_of("bench", ruleset, 2), 0
    for _ in range(20):
        decision = game.decision
        assert decision is not None
        digest = game.digest()
        chosen = bots[decision.actor].choose(game, decision, streams[decision.actor])
        game.apply(chosen)
        assert game.undo()
        assert game.digest() == digest
        assert game.decision is not decision
        game.apply(chosen)
        if game.decision is not None and chosen not in list(game.decision.options):
            refused += 1
            with pytest.raises(IllegalMove):
                game.apply(chosen)
    assert refused > 5


def test_what_is_wrong_with_a_value_is_said_in_the_words_of_the_family() -> None:
    names = interpreter.load("germany-2018").names
    with pytest.raises(ValueError, match="got 'Esen', want a city; did you mean `Essen`"):
        names.value("Esen", NODE)


def test_a_name_that_is_a_number_is_text(tmp_path: Path) -> None:
    path = write(tmp_path)
    isles = path.parent / "maps" / "isles.yaml"
    isles.write_text(isles.read_text(encoding="utf-8").replace("Ayr", "7"), encoding="utf-8")
    names = loaded(path).names
    assert names.value("7", NODE) == 0
    with pytest.raises(ValueError, match=r"got 7, want a town; write \"7\" in quotes"):
        names.value(7, NODE)


@pytest.mark.parametrize("choice", ["offer", None, 7, ["offer"]])
def test_what_is_no_choice_at_all_is_told(choice: Any) -> None:
    game = interpreter.load("germany-2018").new_game(players=4, seed=1)
    before = game.digest()
    with pytest.raises(TypeError, match='want an option of the decision or a mapping, as {"do": "offer", …}'):
        game.apply(choice)
    assert game.digest() == before


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"players": "4"}, TypeError, "players: got '4', want a whole number"),
        ({"seed": "a"}, TypeError, "seed: got 'a', want a whole number"),
        ({"settings": 5}, TypeError, "settings: got 5, want values by name"),
        ({"chance": 5}, TypeError, "chance: got 5, want outcomes by name"),
        ({"chance": {"turn_order": 0}}, ValueError, "`turn_order`: got 0, want a list with what comes up"),
        ({"chance": {"deck": [["x"]]}}, ValueError, "`deck`: got 'x', want a card"),
        ({"chance": {"deck": [[3]]}}, interpreter.RuleFailure, "`deck`, use 1: 3 is not among the 29 items"),
        ({"chance": {"deck": [[20, 20]]}}, interpreter.RuleFailure, "20 is named more often than it occurs"),
    ],
)
def test_what_no_game_begins_with_is_told(arguments: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error) as raised:
        interpreter.load("germany-2018").new_game(**{"players": 4, "seed": 1, **arguments})
    assert told in str(raised.value)


def test_a_seat_that_is_not_there_sees_nothing() -> None:
    game = interpreter.load("germany-2018").new_game(players=4, seed=1)
    for player in (7, -1):
        with pytest.raises(ValueError, match=f"there is no seat {player}; the seats are 0 to 3"):
            game.view(player)
        with pytest.raises(ValueError, match="there is no seat"):
            game.log(player)
    wrong: Any = "0"
    with pytest.raises(TypeError, match="want the number of a seat"):
        game.view(wrong)


def test_a_game_and_the_package_tell_what_they_are() -> None:
    game = interpreter.load("goofspiel").new_game(players=3, seed=1)
    assert repr(game) == "<game of goofspiel: 3 players, round 1, decision bid of seat 0>"
    while game.decision is not None:
        game.apply(game.decision.options[0])
    assert repr(game) == "<game of goofspiel: 3 players, over>"
    assert {"load", "Game", "IllegalMove"} <= set(dir(interpreter))


@pytest.mark.parametrize(
    ("ruleset", "overlays", "players", "decisions"),
    [
        ("germany-2018", ["start-cities"], 3, {"mark_start", "build"}),
        ("japan-2018", [], 2, {"place_konzern", "build"}),
        ("japan-2004", ["robots"], 3, {"start_city", "build"}),
        ("bsw-baden-wuerttemberg", [], 3, {"build"}),
        ("outpost", [], 3, {"build"}),
    ],
)
def test_a_city_out_of_play_is_refused_for_its_region(
    ruleset: str, overlays: list[str], players: int, decisions: set[str]
) -> None:
    """Whatever else speaks against it: what is printed on it comes first, and no city is listed."""
    rules = interpreter.load(ruleset, overlays)
    graph, rng, asked = rules.model.graph, random.Random(1), set[str]()
    assert graph is not None
    game = rules.new_game(players, seed=3, settings={"robots": "3-4-4-5-6"} if overlays == ["robots"] else {})
    played = {city.values["region"] for city in graph.nodes if city.name in game.view()["area"]}
    outside = [city for city in graph.nodes if city.values["region"] not in played]
    regions = ", ".join(rules.names.text(region, graph.attributes["region"]) for region in sorted(played))
    while asked < decisions:
        decision = game.decision
        assert decision is not None
        options = list(decision.options)
        for do in {option.do for option in options if option.code[1]} if decision.name in decisions else ():
            asked.add(decision.name)
            for city in rng.sample(outside, 3):
                with pytest.raises(IllegalMove) as refused:
                    game.apply({"do": do, "city": city.name})
                (reason,) = refused.value.reasons
                assert set(reason.message.split("one of ")[1].split(", ")) == set(regions.split(", "))
                assert reason.message.startswith("`city` must be one whose `region` is one of ")
        game.apply(rng.choice(options))


def test_a_short_list_is_told_and_a_number_is_explained() -> None:
    """Of a list that no attribute describes, what is in it; over a number, the condition that forbids it."""
    game = interpreter.load("germany-2018").new_game(3, seed=1)
    with pytest.raises(IllegalMove, match=r"`plant` must be one of \d+, \d+, \d+, \d+: rule `nominate`"):
        game.apply({"do": "offer", "plant": 36, "bid": 36})
    with pytest.raises(IllegalMove, match=r"`amount <= spending_limit\(who\)` does not hold"):
        game.apply({"do": "offer", "plant": first_for_sale(game), "bid": 51})


def first_for_sale(game: Game) -> int:
    return min(option["plant"] for option in game.decision.options) if game.decision else 0
