"""What comes into play is noted: games and scenarios are told apart, and what nothing reaches is left."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import interpreter
from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.play.match import Match
from interpreter.reading.files import shelf_for
from interpreter.testing.instrumentation import is_watched, key_of, watched
from interpreter.testing.play_coverage import Reached, reached
from interpreter.testing.suite import Suite, suite_of
from tests.support import shared

BOOK = "outpost-konzern-2024"
SHELF = shelf_for(None)


@shared
def outpost() -> Ruleset:
    return interpreter.load("outpost", shelf=SHELF)


@shared
def found() -> Reached:
    return reached(BOOK, [outpost()], suite_of(shelf=SHELF), 2)


def test_a_watched_ruleset_plays_the_same_game_and_notes_what_came_into_play() -> None:
    ruleset = outpost().for_players(2)
    match = Match(ruleset, bots_of("greedy", ruleset, 2), 1)
    match.play()
    citations = [citation for citation in citations_of(ruleset) if is_watched(citation, ruleset.model)]
    noted: set[str] = set()
    game = watched(ruleset, citations, noted).new_game(2, 1)
    game.runner.plain = True
    early = set(noted)
    for _, choice in match.game.choices:
        game.apply(choice)
    assert game.digest() == match.game.digest()
    by_name = {(citation.section, citation.name): key_of(citation) for citation in citations}
    assert by_name["rules", "prepare"] in early
    assert by_name["rules", "count_supplied_cities"] in noted - early
    assert by_name["tables", "end_cities"] in noted - early
    assert by_name["result", "result"] not in noted
    assert game.result == match.game.result
    assert by_name["result", "result"] in noted
    assert noted < set(by_name.values()) | {key_of(citation) for citation in citations}


def test_what_no_game_reaches_is_shown_by_a_scenario() -> None:
    names = {citation.name for citation in found().played}
    shown = {citation.name: scenario for citation, scenario in found().shown}
    assert (found().games, found().tables) == (2, 2)
    assert "may_be_konzern_cities" not in names
    assert shown["may_be_konzern_cities"] == "outpost/konzern: the Konzern is always second"
    assert found().left == ()


def test_what_neither_reaches_is_left() -> None:
    bare = reached(BOOK, [outpost()], Suite(SHELF, []), 2)
    assert bare.played == found().played
    assert bare.left == tuple(citation for citation, _ in found().shown)
    assert bare.shown == ()


def test_only_what_cites_the_rulebook_is_asked_for() -> None:
    everything = (*found().played, *found().left, *(citation for citation, _ in found().shown))
    assert all(any(cite.startswith("OK-") for cite in citation.cites) for citation in everything)
    assert {citation.section for citation in everything} <= {
        *("rules", "lines", "triggers", "cases", "standing", "tables", "settings", "interpretations", "result")
    }


def test_games_that_do_not_end_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.play.match.MAXIMUM_DECISIONS", 5)
    bare = reached(BOOK, [outpost()], Suite(SHELF, []), 2)
    assert [game.seed for game in bare.unfinished] == [0, 1]
    assert len(bare.played) < len(found().played)  # those of the set-up


@pytest.mark.slow
def test_the_command_ends_with_what_nothing_reaches() -> None:
    arguments = ["coverage", "--ruleset", "outpost", "--rulebook", "outpost-konzern-2024", "--games", "2"]
    told = CliRunner().invoke(cli, arguments)
    assert told.exit_code == 0
    assert "2 games at 2 tables" in told.stdout
    assert told.stdout.rstrip().endswith("by neither: 0")
    (data,) = json.loads(CliRunner().invoke(cli, [*arguments, "-o", "json"]).stdout)
    assert data["play"]["left"] == []
    assert {each["scenario"].partition(":")[0] for each in data["play"]["shown"]} == {"outpost/konzern"}
