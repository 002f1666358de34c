"""Coverage counts what there is, waivers follow their rule, and rules that are made wrong are noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interpreter.base.source import NOWHERE
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import shelf_for
from interpreter.reading.statements import Statement, statements_of
from interpreter.testing.coverage import (
    Coverage,
    Waiver,
    check_waivers,
    cover,
    is_counted,
    rulebooks_of,
    waivers_of,
)
from interpreter.testing.mutation import mutants_of, prove
from interpreter.testing.suite import suite_of
from tests.support import shared

SHELF = shelf_for(None)
STATEMENTS = statements_of(SHELF)


@shared
def germany() -> Ruleset:
    return load("germany-2018")


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    """What is proved of a short book; `.ci/run` looks at the long ones."""
    return cover("brettspielwelt", rulebooks_of(SHELF, only="brettspielwelt")["brettspielwelt"], SHELF, mutate=True)


@pytest.mark.slow
def test_counts_are_consistent() -> None:
    for book in ("brettspielwelt", "bremen", "outpost-2024"):
        found = cover(book, rulebooks_of(SHELF, only=book)[book], SHELF)
        counted = {statement.id for statement in found.counted}
        assert counted == {s.id for s in STATEMENTS.values() if s.book == book and is_counted(s)}
        left = {statement.id for statement in found.uncited}
        assert counted - left == counted & (found.cited.keys() | found.waived.keys())
        assert found.proved is None


@pytest.mark.slow
def test_a_rulebook_that_is_wanted_is_followed_by_the_same_rulesets() -> None:
    """Most books are those of a map: few rulesets are loaded to see who follows them."""
    some = [
        id for id in SHELF.ids("ruleset") if id.split("-")[0] in ("bremen", "bsw", "germany", "goofspiel", "outpost")
    ]
    books = rulebooks_of(SHELF, map(load, some))
    for book in ("bremen", "brettspielwelt", "outpost-2024"):
        found = rulebooks_of(SHELF, only=book)
        assert [each.id for each in found[book]] == [each.id for each in books[book]]
        assert sum(map(len, found.values())) < 20
    assert rulebooks_of(SHELF, only="of nobody") == {}


def test_screens_and_advice_are_not_counted() -> None:
    def statement(kind: str, text: str) -> Statement:
        return Statement("AB-1", "book", kind, "", text)

    assert is_counted(statement("rule", "a"))
    assert is_counted(statement("component", "There are 3."))
    assert not is_counted(statement("component", "There is a board."))
    assert not is_counted(statement("ui", "Press 3."))
    assert not is_counted(statement("advice", "Take 3."))
    assert not is_counted(statement("gap", "What of 3?"))


def test_the_shipped_waivers_follow_the_rule() -> None:
    waivers, found = waivers_of(SHELF)
    assert waivers
    assert [*found, *check_waivers(waivers, STATEMENTS)] == []
    assert {STATEMENTS[waiver.id].kind for waiver in waivers}.isdisjoint({"example"})  # scenarios prove them all


@pytest.mark.parametrize(
    ("id", "reason", "code"),
    [
        ("GU-003", "all houses together", None),
        ("GU-078", "an optional rule, see A-14", None),
        ("GU-078", "an optional rule", "E602"),
        ("GU-078", "an optional rule, see GU-079", "E602"),
        ("GU-077", "the bars of GU-012 are reminders", "E602"),  # which nothing waives here
        ("GU-999", "no such statement", "E601"),
    ],
)
def test_waivers_are_checked(id: str, reason: str, code: str | None) -> None:
    found = check_waivers([Waiver(id, reason, NOWHERE)], STATEMENTS)
    assert [diagnostic.code for diagnostic in found] == ([code] if code else [])


def test_a_sentence_about_a_piece_is_waived_with_it() -> None:
    bars = Waiver("GU-012", "a reminder on the table", NOWHERE)
    assert check_waivers([bars, Waiver("GU-077", "the bars of GU-012 are reminders", NOWHERE)], STATEMENTS) == []


def test_a_statement_is_waived_once() -> None:
    twice = [Waiver("GU-003", "reason", NOWHERE)] * 2
    assert [diagnostic.code for diagnostic in check_waivers(twice, STATEMENTS)] == ["E107"]


# --- rules made wrong -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_that_is_cited_is_proved(coverage: Coverage) -> None:
    assert coverage.uncited == []
    assert coverage.proved is not None
    assert coverage.proved <= coverage.cited.keys() & coverage.shown
    assert coverage.unproved == []


@pytest.mark.slow
def test_every_example_of_a_rulebook_that_is_cited_is_proved(coverage: Coverage) -> None:
    examples = {s.id for s in coverage.counted if s.kind == "example" and s.id in coverage.cited}
    assert coverage.proved is not None
    assert examples <= coverage.proved


def test_a_mutant_changes_the_model_and_leaves_the_first_one_alone() -> None:
    ruleset = germany()
    before = ruleset.digest
    for citation in citations_of(ruleset):
        for mutant in mutants_of(ruleset.model, citation):
            assert mutant.model is not ruleset.model
    assert replace(ruleset).digest == before


def test_a_statement_is_proved_only_by_a_scenario_that_cites_it() -> None:
    suite = suite_of()
    suite.scenarios = [scenario for scenario in suite.scenarios if "GU-171" in scenario.statements]
    found = prove(germany(), suite, {"GU-154", "GU-171", "GU-172"})
    assert found == {"GU-154", "GU-171"}


def test_numbers_between_a_full_and_an_empty_holder_are_proved() -> None:
    """Neither a token more of each kind nor one less can be laid out: the market is full of oil, and has no garbage."""
    suite = suite_of()
    suite.scenarios = [scenario for scenario in suite.scenarios if "RU-1" in scenario.statements]
    assert prove(load("russia-2018"), suite, {"RU-1"}) == {"RU-1"}
