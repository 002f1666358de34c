"""Literals that mean what is wanted: readings called yes and no, texts, numbers as rule text."""

from __future__ import annotations

from pathlib import Path

from tests.small import FAMILY, loaded, outcome, write

SECTIONS = """
    interpretations:
      in_the_rain:
        about: whether anybody plays in the rain
        answers: [A-01]
        default: yes
        is: {yes: they do, no: they do not}
    measures:
      games: {value: 1, when: end of game}
    boards:
      outcome: {when: end of game, columns: {one: 1}}
"""
ACT = """
    if in_the_rain == yes and not (no == in_the_rain):
      note said(count(c in stone where c.name == "tall grey"))
      note said(count(c in stone where c.name in ["tall grey", "flat"]))
    end game
"""
STONES = """  stone:
    key: name
    has: {name: text}
    is: |
      name
      tall grey
      flat
      round
"""


def test_readings_called_yes_and_no_and_texts_are_compared(tmp_path: Path) -> None:
    statements = tmp_path / "small" / "statements" / "isles.csv"
    statements.parent.mkdir(parents=True)
    statements.write_text("id,phase,kind,statement\nA-01,,gap,Rain\n", encoding="utf-8")
    family = FAMILY.replace("zones: {", f"{STONES}zones: {{bag: {{of: stone, order: kept, start: all}}, ", 1)
    path = write(tmp_path, ACT, sections=SECTIONS, family=family)
    assert outcome(path) == "plays"
    ruleset = loaded(path)
    assert [line.text for line in ruleset.new_game(2).log() if line.kind == "event"] == ["1", "2"]
    assert not [line for line in ruleset.new_game(2, settings={"in_the_rain": "no"}).log() if line.kind == "event"]
