"""Names of choices: each word of the grammar can be one in rules, policies and scenarios, or is refused in the rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interpreter.authoring.validation import validate
from interpreter.language.grammar import grammar_text
from interpreter.play.game_records import EVERY, read_saved_game, replay_game, write_log
from interpreter.serve.apart import bare
from interpreter.testing.suite import suite_of
from tests.small import examined, loaded, write

WORDS = {*re.findall(r'"([a-z]+)"', grammar_text()), "do", "rule", "says", "random", "who_else"}
WORDS |= {"decision", "digest", "forced", "places", "seat", "option"}
POLICY = """\
language: 2
policies: small/p
is:
  p:
    act:
      prefer: |
        take WORD where WORD == 1 by WORD
        take WORD at random
        any
"""
SCENARIO = """\
language: 2
scenarios: small/s
is:
  - name: it
    ruleset: tiny
    when: [{by: 0, do: take, WORD: 2}]
    then: [amount == 2]
  - name: not it
    ruleset: tiny
    phase: act
    refused: {by: 0, do: take, WORD: 4}
"""


@pytest.mark.parametrize("word", sorted(WORDS))
def test_a_choice_has_a_name_that_all_files_can_say(tmp_path: Path, word: str) -> None:
    act = f"choose act by seats[0]:\n  take {word} in 1 .. 3 where {word} != 4:\n    amount = {word}\n  stop\n"
    path = write(tmp_path, act + f"if round == {EVERY}:\n  end game\n")
    found = [each for each in examined(path).diagnostics if each.severity == "error"]
    assert all(each.span is not None and each.span.file.name.endswith("family.yaml") for each in found)
    if word in ("asking", "at", "by", "do", "rule", "says", "decision", "digest", "forced"):
        assert [(each.code, each.message) for each in found] == [("E312", f"`{word}` cannot name a choice")]
    if found:
        return
    for name, text in (("policies/p", POLICY), ("scenarios/s", SCENARIO)):
        file = tmp_path / "small" / f"{name}.yaml"
        file.parent.mkdir()
        file.write_text(text.replace("WORD", word))
        assert [each for each in validate([str(file)]).diagnostics if each.severity == "error"] == []
    game = loaded(path).new_game(2, 1)
    for number in range(EVERY):  # the last line of the log has a digest
        game.apply({"do": "take", word: 1 + number % 3})
    lines: list[str] = []
    write_log(game, lines.append)
    saved = read_saved_game("".join(lines))
    assert replay_game(game.ruleset, saved).digest() == game.digest()
    assert [bare(line)[word] for line in saved.choices] == [1 + number % 3 for number in range(EVERY)]
    suite = suite_of([str(tmp_path / "small" / "scenarios")])
    assert [outcome.failures for outcome in suite.outcomes()] == [(), ()]
