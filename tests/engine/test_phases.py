"""Phases with a condition, the phase as a value, boards with a condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.engine.show import BoardTable, Line
from interpreter.play.bots.random import RandomBot
from interpreter.play.match import Match
from interpreter.play.narrate import Narrator
from tests.small import FAMILY, loaded, write

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
    family = FAMILY.replace("round: [act]", ROUND).replace("kinds: {", KINDS)
    family = family.replace("state:\n", "state:\n  act: {value: act, start: buying}\n")
    path = write(folder, sections=SECTIONS, rules=RULES, family=family)
    text = (folder / "small/family.yaml").read_text(encoding="utf-8")
    (folder / "small/family.yaml").write_text(text.replace("  act:\n    does: |\n      end game\n", ""), "utf-8")
    return path


@pytest.mark.parametrize("plain", [True, False])
def test_acts_are_phases_that_take_place_while_their_condition_holds(tmp_path: Path, plain: bool) -> None:
    ruleset = loaded(game_of(tmp_path))
    ruleset.table(2, ruleset.settings({})).machine.plain = plain
    told: list[Line | BoardTable] = []
    match = Match(ruleset, [RandomBot(), RandomBot()], 1, {}, watchers=[Narrator(told.append)])
    match.play()
    lines = [line.text for line in match.game.log() if line.kind == "event"]
    assert lines == ["1", "10", "91", "1", "10", "92", "2", "20", "93"]
    boards = [(board.name, board.rows) for board in told if isinstance(board, BoardTable)]
    assert boards == [("shops", ()), ("now", (("sell",),))]
