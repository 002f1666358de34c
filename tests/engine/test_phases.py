"""Phases with a condition, the phase as a value, boards with a condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.bots.planless import RandomBot
from interpreter.engine.views import BoardTable, Line
from interpreter.play.match import Match
from interpreter.play.narration import Narrator
from interpreter.reading.files import Shelf
from interpreter.testing.suite import suite_of
from tests.small import FAMILY, loaded, write

pytestmark = pytest.mark.usefixtures("at_once")

ROUND = "round: [{phase: buy, when: act == buying}, {phase: sell, when: act == selling}, act_over]"
KINDS = "kinds: {act: [buying, selling], "
SECTIONS = """
    boards:
      shops: {when: start of round, if: act == selling, says: "Shops"}
      now: {when: start of sell, columns: {phase: phase}}
    triggers:
      heard:
        on: said(number) where number < 10
        cases:
          - in: [buy]
            does: note said(10)
          - in: [sell]
            does: note said(20)
        otherwise: nothing
"""
RULES = """
    buy: {does: note said(1)}
    sell: {does: note said(2)}
    act_over:
      does: |
        if phase == act_over and phase != buy and phase in [sell, act_over]:
          note said(90 + round)
        if round == 2:
          at end of round:
            act = selling
        if round == 3:
          end game
"""


def game_of(folder: Path) -> Path:
    return write_acts(folder, SECTIONS, RULES)


def write_acts(folder: Path, sections: str, rules: str) -> Path:
    family = FAMILY.replace("round: [act]", ROUND).replace("kinds: {", KINDS)
    family = family.replace("state:\n", "state:\n  act: {value: act, start: buying}\n")
    path = write(folder, sections=sections, rules=rules, family=family)
    text = (folder / "small/family.yaml").read_text(encoding="utf-8")
    (folder / "small/family.yaml").write_text(text.replace("  act:\n    does: |\n      end game\n", ""), "utf-8")
    return path


@pytest.mark.parametrize("plain", [True, False])
def test_acts_are_phases_that_take_place_while_their_condition_holds(tmp_path: Path, plain: bool) -> None:
    ruleset = loaded(game_of(tmp_path))
    ruleset.table(2, ruleset.settings({})).runner.plain = plain
    told: list[Line | BoardTable] = []
    match = Match(ruleset, [RandomBot(), RandomBot()], 1, {}, watchers=[Narrator(told.append)])
    match.play()
    lines = [line.text for line in match.game.log() if line.kind == "event"]
    assert lines == ["1", "10", "91", "1", "10", "92", "2", "20", "93"]
    boards = [(board.name, board.rows) for board in told if isinstance(board, BoardTable)]
    assert boards == [("shops", ()), ("now", (("sell",),))]


STANDING = """
    standing:
      shut:
        whenever: phase == sell and amount > 0
        does: |
          amount = 0
          note said(30)
    """


@pytest.mark.parametrize("plain", [True, False])
def test_a_standing_rule_wakes_when_the_phase_that_it_reads_begins(tmp_path: Path, plain: bool) -> None:
    ruleset = loaded(write_acts(tmp_path, SECTIONS + STANDING, RULES))
    ruleset.table(2, ruleset.settings({})).runner.plain = plain
    match = Match(ruleset, [RandomBot(), RandomBot()], 1, {})
    match.play()
    lines = [line.text for line in match.game.log() if line.kind == "event"]
    assert lines == ["1", "10", "91", "1", "10", "92", "2", "20", "30", "93"]


ASKING = """
    buy:
      does: |
        choose shop by first(seats):
          pay n in 1 .. 3 where may_pay(n):
            note said(n)
    may_pay(n):
      permits: |
        require n < 4
    sell:
      does: |
        choose trade by first(seats):
          take n in 1 .. 3:
            note said(n)
    act_over: {does: end game}
"""


def outcomes(folder: Path, *scenarios: str) -> list[str]:
    path = folder / "small" / "scenarios" / "acts.yaml"
    path.parent.mkdir(exist_ok=True)
    items = "".join(f"  - {{name: '{n}', ruleset: tiny, {text}}}\n" for n, text in enumerate(scenarios))
    path.write_text(f"language: 2\nscenarios: small/acts\nis:\n{items}", encoding="utf-8")
    suite = suite_of(shelf=Shelf([folder]))
    found = ["\n".join(map(str, outcome.failures)) for outcome in suite.outcomes()]
    assert suite.messages() == []
    return found


def test_a_scenario_begins_in_a_phase_that_takes_place(tmp_path: Path) -> None:
    write_acts(tmp_path, "", ASKING)
    first, second, third, fourth = outcomes(
        tmp_path,
        "phase: buy, when: [{by: 0, do: pay, n: 2}], then: [round == 1]",
        "phase: sell, when: [{by: 0, do: take, n: 2}]",
        "phase: sell, given: 'act = selling', when: [{by: 0, do: take, n: 2}]",
        "given: 'act = selling', when: [{by: 0, do: take, n: 2}]",
    )
    assert (first, third, fourth) == ("", "", "")
    assert "`sell` does not take place: its condition `act == selling` does not hold" in second
    assert "under `given`, set up what makes it hold" in second
