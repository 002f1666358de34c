"""What is wrong in a policy is told at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base.diagnostics import RulesetError
from interpreter.bots.registry import bots_of, policies_for
from interpreter.engine.game import Ruleset
from interpreter.language.builtins import OWN_VALUES
from interpreter.loading.load import load
from interpreter.lowering.constants import RuleFailure
from interpreter.play.match import Match
from tests.play.toy import changed

FIRST = "pull kind, number where number == 1 and kind == black"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("pul kind, number", "E301", "unknown alternative `pul` of `draw`; did you mean `pull`?"),
        ("pull number, kind", "E404", "`pull` has `kind`, `number`; got `number`, `kind`"),
        ("pull kind", "E404", "`pull` has `kind`, `number`; got `kind`"),
        ("any kind", "E404", "`any` matches every alternative and takes no names"),
        ("wait number", "E404", "`wait` has no choices; got `number`"),
        ("pull where number == 1", "E301", "unknown name `number`"),
        ("pull kind, number where number", "E401", "got int, want bool"),
        ("pull kind, number where kind == blue", "E301", "unknown name `blue`"),
        ("pull kind, number by who.taken", "E408", "got bag of pebble, want a type that can be sorted"),
        ("pull kind, number asking 3", "E401", "got int, want seat"),
        ("pull kind, number 4 in 3", "E415", "got the chance 4 in 3, want at least 1 and at most 3 in 3"),
        ("pull kind, number where", "E2", ""),
    ],
)
def test_wrong_lines(tmp_path: Path, line: str, code: str, message: str) -> None:
    root = changed(tmp_path, "others.yaml", FIRST, line)
    with pytest.raises(RulesetError) as caught:
        policies_for(load(root / "pebbles" / "pebbles.yaml"))
    found = caught.value.diagnostics[0]
    assert found.code.startswith(code)
    assert found.message.startswith(message)
    assert found.span is not None
    assert (found.span.file.name, found.span.line) == ("pebbles/policies/others.yaml", 9)


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("more * white_worth", "more * wite_worth", "E301", "unknown name `wite_worth`"),
        (" -> int: |\n", ": |\n", "E310", "`worth` needs a head with its result"),
        ("found > 2", "found", "E401", "got int, want bool"),
        ("pairs(who.taken)\n", "worth(who, kind, 1)\n", "E301", ""),
    ],
)
def test_wrong_functions_and_weights(tmp_path: Path, old: str, new: str, code: str, message: str) -> None:
    root = changed(tmp_path, "weighed.yaml", old, new)
    with pytest.raises(RulesetError) as caught:
        policies_for(load(root / "pebbles" / "pebbles.yaml"))
    found = caught.value.diagnostics[0]
    assert (found.code[: len(code)], found.message[: len(message)]) == (code, message)
    assert found.span is not None
    assert found.span.file.name == "pebbles/policies/weighed.yaml"


def test_a_decision_that_only_other_rulesets_have(pebbles: Ruleset) -> None:
    assert "nothing_of_this_game" not in policies_for(pebbles)["stubborn"].decisions


def test_in_the_files_of_the_ruleset_every_decision_must_be_there(tmp_path: Path) -> None:
    root = changed(tmp_path, "family.yaml", "  eager:\n    draw:", "  eager:\n    drew:")
    with pytest.raises(RulesetError, match="unknown decision `drew`; did you mean `draw`"):
        policies_for(load(root / "pebbles" / "pebbles.yaml"))


def test_statements_that_nobody_wrote(tmp_path: Path) -> None:
    root = changed(tmp_path, "others.yaml", "  modest:\n    draw:\n", "  modest:\n    draw:\n      cites: [XX-001]\n")
    with pytest.raises(RulesetError, match="unknown statement `XX-001`"):
        policies_for(load(root / "pebbles" / "pebbles.yaml"))


def test_context_and_choices_are_known(pebbles: Ruleset) -> None:
    line = policies_for(pebbles)["modest"].decisions["draw"][0].lines[0]
    pattern = line.patterns[0]
    assert (pattern.alternative, len(pattern.tests), pattern.local_count) == ("pull", 2, 4)


OVERLAY = """language: 2
overlay: pebbles/toll
over: [pebbles]
rules:
  pulling:
    wraps: pebbles
    does: |
      for each who in seats:
        choose toll by who:
          pay
          refuse
      base()
policies:
"""


def _with_a_toll(folder: Path, policies: str) -> Ruleset:
    root = changed(folder, "others.yaml", FIRST, FIRST)
    overlay = root / "pebbles" / "overlays" / "toll.yaml"
    overlay.parent.mkdir()
    overlay.write_text(OVERLAY + policies, encoding="utf-8")
    return load(root / "pebbles" / "pebbles.yaml", ["pebbles/toll"])


def test_an_overlay_gives_policies_lines_for_what_it_adds(tmp_path: Path) -> None:
    ruleset = _with_a_toll(tmp_path, "  modest: {toll: {prefer: refuse}}\n  eager: {toll: {prefer: pay}}\n")
    match = Match(ruleset, bots_of("modest,eager", ruleset, 2), 1)
    match.play()
    assert [choice["do"] for _, choice in match.game.choices[:3]] == ["refuse", "pay", "pull"]


def test_what_an_overlay_says_of_a_decision_lies_over_the_policy(tmp_path: Path) -> None:
    ruleset = _with_a_toll(tmp_path, "  weighed: {draw: {prefer: any}, toll: {prefer: pay}}\n")
    policy = policies_for(ruleset, {"black_worth": 5})["weighed"]
    assert [len(each.lines) for each in policy.decisions["draw"]] == [1]
    assert policy.name == "weighed:black_worth=5"


def test_a_policy_without_lines_says_what_to_write(tmp_path: Path) -> None:
    ruleset = _with_a_toll(tmp_path, "  modest: {toll: {prefer: refuse}}\n")
    match = Match(ruleset, bots_of("polite", ruleset, 2), 1)
    with pytest.raises(RuleFailure, match=r"no lines for `toll`.*`policies: \{polite: \{toll: \{prefer: any\}\}\}`"):
        match.play()


@pytest.mark.parametrize("value", sorted(OWN_VALUES))
def test_a_policy_may_call_a_rule_that_reads_the_course_of_the_game(tmp_path: Path, value: str) -> None:
    root = changed(tmp_path, "family.yaml", "rules:\n", f"rules:\n  same() -> bool: {value} == {value}\n")
    policies = root / "pebbles" / "policies" / "others.yaml"
    policies.write_text(policies.read_text(encoding="utf-8").replace("where number == 1 and", "where same() and"))
    ruleset = load(root / "pebbles" / "pebbles.yaml")
    match = Match(ruleset, bots_of("modest", ruleset, 2), seed=1)
    match.play()
    assert match.game.is_over
