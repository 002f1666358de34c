"""What made two games diverge: one difference beside others that do not matter."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from interpreter.bots.registry import bots_of
from interpreter.compare.comparable import Compared
from interpreter.compare.differences import differences
from interpreter.compare.divergence import LockStep
from interpreter.loading.load import load
from tests.compare.test_lock_step import BOTS, beside, form, in_both_forms, parting_of
from tests.small import FAMILY, write

__all__ = ["form"]

LATE = """for each turn who in seats:
  choose go by who:
    add x in [1, 2, 3] where x < 3 or amount > 20 and {}:
      amount = amount + x
if amount > 40:
  end game"""
DOUBT = "interpretations: {{tide: {{about: x, answers: [], default: {}, is: {{low: x, high: x}}}}}}\n"
NUMBER = "settings: {{most: {{about: x, value: int, default: {}}}}}\n"


@in_both_forms
@pytest.mark.parametrize(
    ("path", "test", "section", "values"),
    [
        ("interpretations.tide", "tide == high", DOUBT, ("low", "high")),
        ("settings.most", "x < most", NUMBER, (1, 9)),
    ],
)
def test_what_is_set_otherwise_is_a_cause(
    path: str, test: str, section: str, values: tuple[Any, Any], tmp_path: Path
) -> None:
    comparison = beside(tmp_path, *(partial(write, act=LATE.format(test), sections=section.format(v)) for v in values))
    found = parting_of(LockStep(comparison, BOTS), 1)
    assert found.path == path
    assert found.choices > 5
    name = path.partition(".")[2]
    assert not parting_of(LockStep(comparison, BOTS, {name: values[0]}), 1).is_apart, "now both have this value"


@in_both_forms
def test_the_order_of_phases_is_a_cause(tmp_path: Path) -> None:
    """A rule that differs but in words is none, and neither is a phase that begins where it did."""
    more = """
grow:
  does: |
    choose grow by first(seats):
      add x in [1, 2]:
        amount = amount + x
pause: {does: "amount = amount"}
"""
    families = [FAMILY.replace("[act]", f"[{order}]") for order in ("act, grow, pause", "grow, act, pause")]
    sides = [partial(write, act=LATE.format("yes"), rules=more, family=family) for family in families]
    found = parting_of(LockStep(beside(tmp_path, *sides), BOTS), 1)
    assert (found.path, found.choices) == ("round", 0)


@in_both_forms
@pytest.mark.parametrize("before", ["", "act, "])
def test_what_nobody_sees_at_once_is_a_cause(before: str, tmp_path: Path) -> None:
    """Scores differ after the first round, options many choices later; `idle` is asked between, and changes nothing."""
    act = """for each turn who in seats:
  choose go by who:
    add x in [1, 2]:
      amount = amount + x
  choose more by who:
    add x in [1, 2, 3] where x < 3 or who.score > 12:
      amount = amount + x + idle()
if amount > 200:
  end game"""
    rules = "score:\n  does: |\n    for each who in seats:\n      who.score = who.score + bonus()\n"
    rules += "bonus() -> int: {{is: {}}}\nidle() -> int: {{is: {}}}\n"
    family = FAMILY.replace("round: [act]", f"round: [{before}score]" if before else "round: [score, act]")
    idle = "0", "0 if amount < 1000 else 1"
    sides = [partial(write, act=act, rules=rules.format(n, idle[n - 1]), family=family) for n in (1, 2)]
    found = parting_of(LockStep(beside(tmp_path, *sides), BOTS), 1)
    assert found.path == "rules.bonus"
    assert found.choices > 12


SHOWN_LATE = """for each turn who in seats:
  choose go by who:
    add x in [1, 2]:
      amount = amount + x
    more x in [3] where amount > 20 and {}:
      amount = amount + x
if amount > 60:
  end game"""
BONUS = "bonus() -> int: {{is: '{}'}}\n"
SCORED = "first(seats).score > 0"
TIDE = "settings: {{tide: {{about: x, value: int, default: {}}}}}\n"
AT_TIDE = FAMILY.replace("score: {value: int, start: 0}", "score: {value: int, start: tide}")
CROSSES = """let n = bonus()
      choose wait by first(seats):
        one x in [1, 2]:
          amount = amount + x
      first(seats).score = n"""
GROWS = """grow:
  does: |
    if round == 1:
      {}
"""


@in_both_forms
@pytest.mark.parametrize(
    ("path", "shown", "rules", "sections", "values"),
    [
        ("rules.bonus", SCORED, GROWS.format("first(seats).score = bonus()") + BONUS, "", (0, 1)),
        pytest.param(
            "rules.bonus",
            SCORED,
            GROWS.format(CROSSES) + BONUS,
            "",
            (0, 1),
            id="a local crosses a choice",
        ),
        pytest.param(
            "rules.bonus",
            SCORED,
            GROWS.format("let n = bonus()\n      at start of next round:\n        first(seats).score = n") + BONUS,
            "",
            (0, 1),
            id="a delayed block has a local",
        ),
        pytest.param(
            "rules.target",
            "any(p.piece != none and p.town == last(town) for p in place)",
            GROWS.format("move 1 from first(seats).huts to first(p in place where p.town == target())")
            + "target() -> town: {{is: '{}(town)'}}\n",
            "",
            ("first", "last"),
            id="a piece",
        ),
        pytest.param("settings.tide", SCORED, GROWS.format("settle"), TIDE, (0, 1), id="read in a start"),
    ],
)
def test_what_nobody_sees_at_once_is_a_cause_wherever_it_is_kept(
    path: str, shown: str, rules: str, sections: str, values: tuple[Any, Any], tmp_path: Path
) -> None:
    family = (AT_TIDE if sections else FAMILY).replace("[act]", "[grow, act]")
    family = family.replace("names:\n  {", "names:\n  {p: place, ")
    texts = [(rules.format(value), sections.format(value)) for value in values]
    sides = [partial(write, act=SHOWN_LATE.format(shown), rules=r, sections=s, family=family) for r, s in texts]
    assert parting_of(LockStep(beside(tmp_path, *sides), BOTS), 1).path == path


SECOND = """choose go by seats[0]:
  add x in [1, 2]:
    amount = amount + x
choose more by seats[1]:
  add x in [1, 2, 3] where x < {}:
    amount = amount + x
end game"""


@in_both_forms
def test_a_rule_that_goes_on_is_a_cause(tmp_path: Path) -> None:
    """It began before the last choice."""
    sides = [partial(write, act=SECOND.format(most)) for most in (3, 4)]
    found = parting_of(LockStep(beside(tmp_path, *sides), BOTS), 1)
    assert (found.path, found.choices) == ("rules.act", 1)


@in_both_forms
def test_the_cell_is_named_that_is_read(tmp_path: Path) -> None:
    """Of three that differ, one is read at the end only, and one never."""
    act = """for each turn who in seats:
  choose go by who:
    add x in [1, 2, 3] where x < fee[1 if amount < 20 else 2]:
      amount = amount + x
if amount > 40:
  amount = fee[3]
  end game"""
    table = """tables:
  fee:
    keys: [number]
    gives: int
    is: |
      number | 1 | 2 | 3 | 4
      fee    | 3 | {} | {} | {}
"""
    sides = [partial(write, act=act, sections=table.format(*cells)) for cells in ((3, 3, 3), (4, 4, 4))]
    assert parting_of(LockStep(beside(tmp_path, *sides), BOTS), 1).path == "tables.fee[2]"


@in_both_forms
def test_rules_in_the_same_line_of_two_versions_are_two(tmp_path: Path) -> None:
    late, never = "late() -> bool: {{is: 'amount > {}'}}\n", "never() -> int: {{is: {}}}\n"
    act = SHOWN_LATE.format("late()").replace("end game", "amount = never()\n  end game")
    a = partial(write, act=act, rules=late.format(20) + never.format(1))
    b = partial(write, act=act, rules=never.format(2) + late.format(30))
    assert parting_of(LockStep(beside(tmp_path, a, b), BOTS), 1).path == "rules.late"


def test_who_is_asked_next_was_worked_out_before(tmp_path: Path) -> None:
    """The order of bidding is a local of the auction, and is read when a seat has passed."""
    a, b = load("bsw-france"), load("france-2004")
    lock = LockStep(differences(Compared(a), Compared(b), players=4), bots_of("sensible", a, 4))
    assert {parting_of(lock, seed).path for seed in range(1, 16)} == {"rules.bidding_order"}


@in_both_forms
def test_the_cause_of_a_choice_that_the_other_side_refuses(tmp_path: Path) -> None:
    """So many options are not compared before one of them is made."""
    act = """for each turn who in seats:
  choose go by who:
    add x in 1 .. 480 where x <= most():
      amount = amount + 1
if amount > 40:
  end game"""
    rules = "most() -> int: {{is: {}}}\nidle() -> int: {{is: '{}'}}\nprepared: {{does: amount = 1 + idle()}}\n"
    family = FAMILY.replace("setup: prepare", "setup: prepared")
    texts = [rules.format(480, "0"), rules.format(420, "0 if amount < 90 else 1")]
    sides = [partial(write, act=act, rules=each, family=family) for each in texts]
    found = parting_of(LockStep(beside(tmp_path, *sides), BOTS), 3)
    assert found.path == "rules.most"
    assert found.choices > 3
    assert "is refused" in found.b
