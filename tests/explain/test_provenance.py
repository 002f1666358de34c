"""Why something happened, and why something may not be done: lines of kept games, and moves at their decisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.engine.refusal import legal_choice
from interpreter.engine.views import numbered_lines
from interpreter.explain.legality import Asked, conditions_of
from interpreter.explain.provenance import Account, account_of
from interpreter.loading.load import load
from interpreter.play.game_records import Recorder, SavedGame, read_saved_game, replay_game
from interpreter.play.match import Match
from tests.support import ENVELOPES, shared

RULESET = "germany-2018"


@shared
def text(id: str = RULESET, players: int = 4) -> str:
    ruleset = load(id)
    lines: list[str] = []
    recorder = Recorder(lines.append)
    match = Match(ruleset, bots_of("greedy" if id == RULESET else "random", ruleset, players), 7, watchers=[recorder])
    recorder.begin(match.game)
    match.play()
    recorder.finish(match.game)
    return "".join(lines)


def kept(id: str = RULESET) -> SavedGame:
    return read_saved_game(text(id, 4 if id == RULESET else 3))


def account(name: str, id: str = RULESET, skip: int = 0) -> Account:
    """Of the first line of that name, after so many others."""
    lines = [number for number, told in numbers(id) if told == name]
    return account_of(load(id), kept(id), lines[skip])


@shared
def numbers(id: str) -> list[tuple[str, str]]:
    """The number and name of each line."""
    game = replay_game(load(id), kept(id))
    return [(number, line.name) for number, line in numbered_lines(game.table, game.state)]


def test_an_event_is_told_with_the_rules_that_led_to_it() -> None:
    found = account("paid")
    assert [use.what for use in found.chain] == [
        f"rule `{name}`" for name in ("pay", "earn", "pay_income", "bureaucracy")
    ]
    assert found.chain[0].place.startswith("power-grid/family.yaml:")
    assert found.moment == "round 1, bureaucracy"
    assert found.after.startswith(f"choice {found.number.partition('.')[0]}: ")
    assert dict(found.values).keys() == {"who", "cities", "connected", "amount"}
    assert "GU-185" in {quote.id for quote in found.cites}


def test_an_event_of_the_set_up_follows_no_choice() -> None:
    found = account("order_set")
    assert [use.what for use in found.chain] == ["rule `draw_lots`", "rule `prepare`"]
    assert (found.moment, found.after, found.number[:2]) == ("before round 1", "", "0.")


@pytest.mark.parametrize("name", ["left_market", "stocked", "stage_began"])
def test_the_outermost_rule_is_a_phase(name: str) -> None:
    assert account(name).chain[-1].what in {f"rule `{phase}`" for phase in load(RULESET).model.phases}


def test_nothing_is_left_behind() -> None:
    game = replay_game(load(RULESET), kept())
    account("paid")
    assert replay_game(game.ruleset, kept()).digest() == game.digest()


@pytest.mark.parametrize("id", [ENVELOPES, "goofspiel"], ids=["sealed", "at once"])
def test_choices_that_are_told_later_keep_their_numbers(id: str) -> None:
    game = replay_game(load(id), kept(id))
    choices = [number for number, line in numbered_lines(game.table, game.state) if line.kind == "choice"]
    assert choices[:6] == ["1", "2", "3", "1", "2", "3"]  # made, then revealed
    assert max(map(int, choices)) == len(game.choices)


@pytest.mark.parametrize(
    ("number", "message"),
    [("9999", "its last one is"), ("0.99", "there are 0.1 to 0."), ("1.5", "nothing follows choice 1")],
)
def test_a_number_that_no_line_has(number: str, message: str) -> None:
    with pytest.raises(LookupError, match=message):
        account_of(load(RULESET), kept(), number)


# --- moves


def asked(at: int, choice: dict[str, object]) -> dict[str, Asked]:
    game = replay_game(load(RULESET), kept(), at)
    return {condition.text: condition for condition in conditions_of(game, choice)}


def test_every_condition_is_asked_with_what_its_sides_are_worth() -> None:
    found = asked(0, {"do": "offer", "plant": 4, "bid": 60})
    assert {text: condition.holds for text, condition in found.items()} == {
        "plant in for_sale()": True,
        "bid in opening_bids(who, plant)": False,
        "minimum_bid(plant) <= spending_limit(who)": True,
        "amount <= spending_limit(who)": False,
    }
    limits = found["minimum_bid(plant) <= spending_limit(who)"]
    assert limits.values == (("minimum_bid(plant)", "1"), ("spending_limit(who)", "50"))
    assert dict(found["bid in opening_bids(who, plant)"].values)["bid"] == "60"


def test_a_verdict_is_told_line_by_line() -> None:
    (condition,) = asked(0, {"do": "decline"}).values()
    assert (condition.rule, condition.holds, condition.values) == ("may_decline", False, (("round", "1"),))
    assert {"GU-130", "GU-145"} <= {quote.id for quote in condition.cites}


def test_what_another_condition_rules_out_is_not_asked() -> None:
    lines = kept().choices
    at = next(number for number, line in enumerate(lines) if line["decision"] == "build" and line["do"] == "connect")
    taken = {"do": "connect", "city": lines[at]["city"]}
    found = asked(at + 1, taken)
    assert found["free_places(city) != []"].holds is False
    assert found["connection_cost(who, city) <= who.money"].holds is None


def test_a_city_out_of_play_is_told_by_its_region() -> None:
    game = replay_game(load(RULESET), kept())
    graph, area = game.ruleset.model.graph, game.view()["area"]
    assert graph is not None
    city = next(row for row in graph.nodes if row.name not in area)
    at = next(number for number, line in enumerate(kept().choices) if line["decision"] == "build")
    (outside, *others) = asked(at, {"do": "connect", "city": city.name}).values()
    region = game.ruleset.names.text(city.values["region"], graph.attributes["region"])
    assert (outside.text, outside.holds) == ("city in area", False)
    assert outside.values[:2] == (("city", city.name), ("city.region", region))
    assert outside.values[2][1].startswith("one whose `region` is one of ")
    assert region not in outside.values[2][1]
    assert any(other.rule == "may_connect" for other in others)


def test_what_is_legal_holds_throughout() -> None:
    for at in range(0, len(kept().choices), 150):
        game = replay_game(load(RULESET), kept(), at)
        assert game.decision is not None
        for option in game.decision.options[:5]:
            legal_choice(game.table, game.decision, option)
            assert all(condition.holds for condition in conditions_of(game, option.as_dict()))


def test_the_commands(tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    log.write_text(text(), encoding="utf-8")
    run = CliRunner().invoke
    numbered = run(cli, ["replay", str(log), "--numbers"]).stdout.splitlines()
    number = next(line.split()[0] for line in numbered if "is paid" in line)
    told = run(cli, ["explain", str(log), number]).stdout
    assert "called by rule `earn`" in told
    assert json.loads(run(cli, ["explain", str(log), number, "-o", "json"]).stdout)["name"] == "paid"
    refused = run(cli, ["explain", f"{log}@0", "decline"])
    assert (refused.exit_code, "✘ round > 1" in refused.stdout) == (0, True)
    assert "`offer`" in run(cli, ["explain", f"{log}@0", "fly"]).stderr
    assert "`connect` is a choice at `build`, which" in run(cli, ["explain", f"{log}@0", "connect Essen"]).stderr
    assert "LOG@N" in run(cli, ["explain", str(log), "decline"]).stderr
    assert run(cli, ["explain", str(log), "minimum_bid"]).stdout.startswith("minimum_bid: rule")
