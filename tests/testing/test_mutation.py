"""What is made wrong on purpose, on a small game: each mutant that must be noticed is, and by no other cause."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from interpreter.engine.citations import citations_of
from interpreter.reading.files import Shelf
from interpreter.testing.mutation import mutants_of, prove
from interpreter.testing.running import run_scenario
from interpreter.testing.suite import Suite, suite_of
from tests.small import FAMILY, RULESET, write

STATEMENTS = "id,kind,phase,statement\n" + "".join(f"SM-{n},rule,act,Something.\n" for n in range(1, 10))
ACT = """\
choose act by seats[0]:
  pay n in 1 .. 3:
    amount += n
"""
OVERLAY = """\
language: 2
overlay: small/more
over: [small]
decisions:
  act:
    cites: [SM-3]
    adds: |
      borrow n in 5 .. 6:
        amount += n
    wraps: |
      pay where n < 3:
        base()
        amount += 10
rules:
  rate: {wraps: small, when: amount > 5, cites: [SM-4], is: "base() + 1"}
  may_go(n): {cites: [SM-5], permits: require n < 2}
  hues() -> int: count(colour)
  towns() -> int: count(town)
kinds: {colour: {amends: small, adds: [green], cites: [SM-6]}}
graph: {amends: small, cites: [SM-7]}
"""
RULES = """
late: {cites: [SM-1], does: amount += 20}
rate() -> int: {cites: [SM-2], is: "2"}
"""
FAMILY_OF_ACTS = FAMILY.replace("round: [act]", "round: [act, {phase: late, when: amount > 5}]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, ACT, RULES, family=FAMILY_OF_ACTS)
    for name, text in {
        "statements/small.csv": STATEMENTS,
        "overlays/more.yaml": OVERLAY,
        "more.yaml": RULESET.replace("tiny", "more") + "overlays: [small/more]\n",
    }.items():
        path = tmp_path / "small" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def suite(folder: Path, ruleset: str, scenario: str, cites: str) -> Suite:
    path = folder / "small" / "scenarios" / "tests.yaml"
    path.parent.mkdir(exist_ok=True)
    head = f"language: 2\nscenarios: small/tests\nis:\n  - name: it\n    ruleset: {ruleset}\n    cites: [{cites}]\n"
    path.write_text(head + indent(scenario, "    "), encoding="utf-8")
    return suite_of(shelf=Shelf([folder]))


def noticed(folder: Path, ruleset: str, scenario: str, cites: str) -> list[str]:
    """The mutants of what cites a statement with which a scenario fails, which passes without them."""
    found = suite(folder, ruleset, scenario, cites)
    ((each, id),) = found.pairs
    checked = found.checked(each, id)
    assert found.messages() == []
    assert checked is not None
    assert run_scenario(checked).failures == ()
    told = []
    for citation in citations_of(checked.ruleset):
        if cites in citation.cites:
            for mutant in mutants_of(checked.ruleset.model, citation):
                if not run_scenario(checked, mutant.applied(checked.ruleset)).passed:
                    told.append(mutant.about)
    is_proved = prove(checked.ruleset, found, {cites}) == {cites}
    assert is_proved == bool(told)
    return told


def test_the_condition_of_a_phase_is_lifted(folder: Path) -> None:
    passed_by = "when: [{by: 0, do: pay, n: 2}]\nthen: [amount == 3]\n"
    assert noticed(folder, "tiny", passed_by, "SM-1") == ["takes place in all cases"]


def test_the_condition_of_a_layer_is_lifted(folder: Path) -> None:
    assert noticed(folder, "more", "then: [rate() == 2]\n", "SM-4") == ["answers in all cases"]
    above = "given: amount = 6\nthen: [rate() == 3]\n"
    assert noticed(folder, "more", above, "SM-4") == [
        "gives a default",
        "other numbers",
        "other numbers",
        "the layer below answers",
    ]


def test_permissions_nodes_and_kinds_are_other_ones(folder: Path) -> None:
    assert noticed(folder, "more", "then: [may_go(1)]\n", "SM-5") == ["permits nothing", "other numbers"]
    assert noticed(folder, "more", "then: [not may_go(2)]\n", "SM-5") == ["permits all", "other numbers"]
    assert noticed(folder, "more", "then: [hues() == 3]\n", "SM-6") == ["one member fewer"]
    assert noticed(folder, "more", "then: [towns() == 3]\n", "SM-7") == ["one node fewer"]
    reds = "then: ['count(t in town where t.colour == red) == 2']\n"
    assert noticed(folder, "more", reds, "SM-6") == ["other nodes"]
    assert noticed(folder, "more", reds, "SM-7") == ["other nodes"]
    dear = "then: ['sum(l.cost for l in links(\"Bute\")) == 3']\n"
    assert noticed(folder, "more", dear, "SM-7") == ["other links"]


@pytest.mark.parametrize(
    ("scenario", "about"),
    [
        ("when: [{by: 0, do: borrow, n: 6}]\n", ["is not there", "smaller numbers"]),
        (
            "when: [{by: 0, do: pay, n: 2}]\nthen: [amount == 33]\n",
            ["is not there", "larger numbers", "smaller numbers"],
        ),
        ("refused: {by: 0, do: pay, n: 3}\n", ["is not there", "larger numbers"]),
        ("then: [amount == 1]\n", []),
    ],
)
def test_what_is_added_to_a_decision_is_not_there(folder: Path, scenario: str, about: list[str]) -> None:
    assert noticed(folder, "more", scenario, "SM-3") == about


def test_the_cards_of_a_deck_are_other_ones(folder: Path) -> None:
    family = folder / "small" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    family.write_text(text.replace("    key: number\n", "    key: number\n    cites: [SM-5]\n"), encoding="utf-8")
    assert noticed(folder, "tiny", "then: [count(deck) == 4]\n", "SM-5") == ["one card more"]
    assert noticed(folder, "tiny", "then: ['count(seats[0].hand) == 0']\n", "SM-5") == []


def test_the_rows_of_a_deck_are_other_ones(folder: Path) -> None:
    family = folder / "small" / "family.yaml"
    head, rows = family.read_text(encoding="utf-8").split("    is: |\n      number\n", 1)
    rows, rest = rows.split("zones:", 1)
    family.write_text(f"{head}zones:{rest}", encoding="utf-8")
    deck = f"language: 2\ndeck: small/four\ncards:\n  plan:\n    cites: [SM-5]\n    is: |\n      number\n{rows}"
    (folder / "small" / "decks").mkdir()
    (folder / "small" / "decks" / "four.yaml").write_text(deck, encoding="utf-8")
    with (folder / "small" / "tiny.yaml").open("a", encoding="utf-8") as ruleset:
        ruleset.write("deck: small/four\n")
    assert noticed(folder, "tiny", "then: [count(deck) == 4]\n", "SM-5") == ["one card more"]
    assert noticed(folder, "tiny", "then: ['count(seats[0].hand) == 0']\n", "SM-5") == []


@pytest.mark.parametrize(
    ("scenario", "about"),
    [
        ("given: move top_two() to seats[0].hand\nhides: {1: ['seats[0].hand[0]']}\n", ["seen by everyone"]),
        ("given: move top_two() to seats[0].hand\nsees: {0: ['seats[0].hand[0]']}\n", []),
    ],
)
def test_who_sees_a_hand_is_another_one(folder: Path, scenario: str, about: list[str]) -> None:
    family = folder / "small" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    text = text.replace("seen: owner}", "seen: owner, cites: [SM-6]}")
    rule = 'top_two() -> list of plan: {is: "take(2, deck)"}'
    family.write_text(text.replace("rules:\n", f"rules:\n  {rule}\n"), encoding="utf-8")
    assert noticed(folder, "tiny", scenario, "SM-6") == about


def test_what_is_none_at_the_start_is_something(folder: Path) -> None:
    family = folder / "small" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    family.write_text(text.replace("state:\n", "state:\n  best: {value: plan?, start: none, cites: [SM-7]}\n"), "utf-8")
    assert noticed(folder, "tiny", "then: [best == none]\n", "SM-7") == ["starts otherwise"]
    assert noticed(folder, "tiny", "then: [amount == 1]\n", "SM-7") == []


def test_a_line_that_permits_all_permits_nothing(folder: Path) -> None:
    family = folder / "small" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    text = text.replace("pay n in 1 .. 3:", "pay n in 1 .. 3 where may_pay():")
    text = text.replace("rules:\n", "rules:\n  may_pay: {permits: require yes cites SM-8}\n")
    family.write_text(text, encoding="utf-8")
    assert noticed(folder, "tiny", "when: [{by: 0, do: pay, n: 1}]\n", "SM-8") == ["asks otherwise"]
    assert noticed(folder, "tiny", "then: [amount == 1]\n", "SM-8") == []
