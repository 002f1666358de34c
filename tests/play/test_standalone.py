"""Modules that stand alone play the same game as the interpreter, and show a seat no more than it may see."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import wasmtime

from interpreter.bots.registry import bots_of
from interpreter.compiler.codegen.memory import STATE
from interpreter.compiler.wasm.codec import Codec
from interpreter.engine.determinization import Worlds
from interpreter.engine.game import Game, Ruleset
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import Match
from interpreter.play.module_export import Standalone, standalone
from tests.compiler.ir_verifier import check_function, signatures_of
from tests.play.alone import Alone
from tests.support import shared

pytestmark = pytest.mark.usefixtures("at_once")

POLICIES = ("sensible", "random")
CASES = Path(__file__).parents[1] / "cases"
TABLES = [
    ("goofspiel", 3, ()),
    ("germany-2018", 3, ()),
    ("outpost", 2, ("hidden-money",)),
    ("germany-2004", 3, ("robots",)),
]
SMALL = [
    (str(CASES / name), 0, ())
    for name in (
        "auction/auction.yaml",
        "cups/cups.yaml",
        "early-choice/islands.yaml",
        "envelopes/envelopes.yaml",
        "fair/larger.yaml",
        "ferries/ferries.yaml",
        "liars/liars.yaml",
        "piles/stalls.yaml",
        "storage/works.yaml",
        "traitors/traitors.yaml",
        "workers/labour.yaml",
    )
]
"""Some small rulesets of the tests, for their usual number of people."""
ALL = [*TABLES, *SMALL]


@shared
def built(name: str, people: int, overlays: tuple[str, ...] = ()) -> tuple[Ruleset, Standalone]:
    ruleset = load(name, overlays)
    people = people or ruleset.players.usual
    ruleset = ruleset.for_players(people)
    ruleset.table(people, ruleset.settings({})).runner.plain = True  # it says what is right
    policies = POLICIES if name not in [small for small, _, _ in SMALL] else ("random",)
    return ruleset, standalone(ruleset, people, ruleset.settings({}), policies)


def put(alone: Alone, made: Standalone, game: Game) -> None:
    """The state of a game into the memory of a module."""
    alone.write(STATE, Codec(made.builder).encode(game.state, 0))
    alone.call("forget")


def both_take(game: Game, alone: Alone, number: int, address: int) -> bool:
    """The same choice in both; where the rules fail the module traps, and the game is at its end."""
    assert game.decision is not None
    try:
        game.apply(game.decision.options[number])
    except RuleFailure:
        with pytest.raises(wasmtime.Trap):
            alone.call("choose", address)
        return False
    alone.call("choose", address)
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("name", "people", "overlays"), ALL)
def test_functions_around_a_module_are_sound(name: str, people: int, overlays: tuple[str, ...]) -> None:
    _, made = built(name, people, overlays)
    functions = made.builder.functions
    known = signatures_of(functions.values())
    assert [text for each in functions.values() for text in check_function(each, known)] == []
    assert made.builder.left_out == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "people", "overlays"), ALL)
def test_options_choices_and_result_are_those_of_the_interpreter(
    name: str, people: int, overlays: tuple[str, ...]
) -> None:
    ruleset, made = built(name, people, overlays)
    alone, clean, chance = Alone(made), Alone(made), random.Random(7)
    people = made.manifest["players"]
    game = ruleset.new_game(people, 7)
    alone.call("new_game", 7)
    number = 0
    while game.decision is not None:
        assert alone.decision is not None
        assert (alone.decision["name"], alone.call("actor")) == (game.decision.name, game.decision.actor)
        assert alone.call("over") == 0
        addresses = alone.addresses()
        assert [alone.option(address) for address in addresses] == [each.as_dict() for each in game.decision.options]
        chosen = chance.randrange(len(addresses))
        if number % 5 == 0:  # what lies where nothing is kept any more changes neither digest nor view
            put(clean, made, game)
            assert alone.call("digest") == clean.call("digest")
            for seat in range(people + 1):
                assert alone.view(seat) == clean.view(seat)
        if number % 7 == 0:
            before = alone.call("digest")
            both_take(game.clone(), alone, len(addresses) - 1, addresses[-1])
            assert alone.call("undo") == 1
            assert alone.call("digest") == before
            alone.call("count")
        if not both_take(game, alone, chosen, addresses[chosen]):
            return
        number += 1
    assert (alone.call("decision"), alone.call("over"), alone.call("count")) == (-1, 1, 0)
    assert game.result is not None
    seats = range(len(alone.manifest["seats"]))
    assert tuple(alone.call("place", seat) for seat in seats) == game.result.places
    keys = [tuple(alone.call("key", seat, key) for key in range(len(alone.manifest["ranking"]))) for seat in seats]
    assert tuple(keys) == tuple(tuple(map(int, own)) for own in game.result.keys)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("name", "people", "overlays"), TABLES)
def test_bots_choose_as_those_of_the_interpreter(
    name: str, people: int, overlays: tuple[str, ...], policy: str
) -> None:
    ruleset, made = built(name, people, overlays)
    alone = Alone(made)
    match = Match(ruleset, bots_of(policy, ruleset, people), 3)
    alone.call("new_game", 3)
    for _ in range(150):
        if not match.step():
            break
        address = alone.call("bot", POLICIES.index(policy))
        assert match.game.last_choice is not None
        assert alone.option(address) == match.game.last_choice.as_dict()
        alone.call("choose", address)
    for seat, each in enumerate(alone.manifest["seats"]):
        alone.call("seat_bot", seat, POLICIES.index(policy), 3, int(each["stream"]))
    while alone.call("play", 1_000):
        pass
    assert alone.call("over") == 1


def test_all_choices_of_a_game_are_taken_back_one_by_one() -> None:
    _, made = built("goofspiel", 3)
    alone, chance = Alone(made), random.Random(1)
    alone.call("new_game", 1)
    digests = []
    while alone.decision is not None:
        digests.append(alone.call("digest"))
        alone.call("choose", chance.choice(alone.addresses()))
    assert len(set(digests)) == len(digests)
    for digest in reversed(digests):
        assert alone.call("undo") == 1
        assert alone.call("digest") == digest
    assert alone.call("undo") == 0
    alone.call("new_game", 1)
    assert alone.call("digest") == digests[0]
    assert alone.call("undo") == 0


def test_a_state_that_was_copied_out_is_gone_on_with() -> None:
    _, made = built("germany-2018", 3)
    alone, memory = Alone(made), made.manifest["memory"]
    alone.call("new_game", 4)
    alone.call("play", 120)
    end = alone.words(memory["state"], 3)[2]
    kept, digest = alone.read(memory["state"], end - memory["state"]), alone.call("digest")
    options = [alone.option(address) for address in alone.addresses()]
    alone.call("play", 50)
    alone.write(memory["state"], kept)
    alone.call("forget")
    assert alone.call("digest") == digest
    assert [alone.option(address) for address in alone.addresses()] == options
    other = Alone(made)
    other.call("new_game", 0)
    other.write(memory["state"], kept)
    other.call("forget")
    choice = random.Random(2)
    for _ in range(60):
        number = choice.randrange(len(alone.addresses()))
        assert [other.option(address) for address in other.addresses()] == [
            alone.option(address) for address in alone.addresses()
        ]
        for each in (alone, other):
            each.call("choose", each.addresses()[number])
        assert alone.call("digest") == other.call("digest")


# --- views


@pytest.mark.slow
@pytest.mark.parametrize(("name", "people", "overlays"), ALL)
def test_a_view_has_what_the_seat_may_see_and_masks_the_rest(name: str, people: int, overlays: tuple[str, ...]) -> None:
    ruleset, made = built(name, people, overlays)
    alone, chance = Alone(made), random.Random(5)
    people = made.manifest["players"]
    game = ruleset.new_game(people, 5)
    model = ruleset.model
    seen = masked = number = 0
    while game.decision is not None:
        game.apply(game.decision.options[chance.randrange(len(game.decision.options))])
        number += 1
        if number % 3 and (name, people, overlays) in TABLES:
            continue
        put(alone, made, game)
        for seat in range(people):
            content, mask = alone.view(seat)
            hidden = game.table.sight.veils(game.state, seat)
            for group in alone.manifest["cells"]:
                if group["name"] not in model.groups:
                    continue
                for number in range(group["count"]):
                    cell = group["first"] + number
                    at = group["address"] - STATE + number * group["stride"]
                    words = content[at : at + group["stride"]]
                    if mask[cell] == 0:
                        assert cell not in hidden, group["name"]
                        assert words == alone.read(STATE + at, group["stride"])
                        seen += 1
                        continue
                    masked += 1
                    assert cell in hidden, group["name"]
                    many = int.from_bytes(words[:4], "little")
                    assert (mask[cell], many) == (1, 0) if hidden[cell].many is None else (2, hidden[cell].many)
                    assert not any(words[4:])
            hidden_cards = next(group for group in alone.manifest["cells"] if group["name"] == "location")
            for card in range(hidden_cards["count"]):
                where = game.machine.constants.seats_of(game.state, game.state.cells[hidden_cards["first"] + card])
                assert mask[hidden_cards["first"] + card] == int(where is not None and seat not in where)
    assert seen
    assert masked or (name, people, overlays) not in TABLES


@pytest.mark.slow
@pytest.mark.parametrize(("name", "people", "overlays"), ALL)
def test_worlds_that_a_seat_cannot_tell_apart_have_one_view(name: str, people: int, overlays: tuple[str, ...]) -> None:
    ruleset, made = built(name, people, overlays)
    alone, chance = Alone(made), random.Random(11)
    people = made.manifest["players"]
    game = ruleset.new_game(people, 11)
    others = 0
    for _ in range(60):
        if game.decision is None:
            break
        game.apply(game.decision.options[chance.randrange(len(game.decision.options))])
        if game.decision is None:
            break
        for seat in range(people):
            world = Worlds(game, seat, replay=False).dealt(chance.randrange)
            if game.table.sight.shown_apart(game.state, world.state, seat) is not None:
                continue
            put(alone, made, game)
            mine, whole = alone.view(seat), alone.call("digest")
            put(alone, made, world)
            assert alone.view(seat) == mine
            others += alone.call("digest") != whole
    assert others or (name, people, overlays) not in TABLES


def test_a_seat_that_is_none_sees_nothing() -> None:
    _, made = built("goofspiel", 3)
    alone = Alone(made)
    alone.call("new_game", 1)
    spectator = alone.view(3)[1]
    assert all(a >= b for a, b in zip(spectator, alone.view(0)[1], strict=True))
    for seat in (-1, 4):
        with pytest.raises(wasmtime.Trap):
            alone.call("view", seat)
