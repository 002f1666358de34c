"""Statements that a single alternative of a decision cites: where they are shown, counted and checked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interpreter.base.diagnostics import RulesetError
from interpreter.base.source import typed
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.engine.refusal import IllegalMove
from interpreter.explain.legality import conditions_of
from interpreter.explain.names import explain
from interpreter.language.parse import parse_alternatives
from interpreter.loading.load import load
from interpreter.pages.markdown import markdown_of
from interpreter.pages.rulebook import rulebook_of
from interpreter.reading.files import Shelf
from interpreter.testing.mutation import mutants_of
from tests.printed import format_node

pytestmark = pytest.mark.usefixtures("at_once")

BASE = Path(__file__).parents[1] / "bad" / "_base"
OVERLAY = """\
language: 2
overlay: pond/cited
over: [pond]
rules:
  hop:
    replaces: pond
    cites: [P-02]
    does: |
      for each turn who in seats:
        choose hop by who:
          leap to in pad, place in to.places where place.piece == none if who.frogs > 0
              cites P-01, P-03:
            move 1 from who.frogs to place
            note leapt(who, to)
          stay
      if sky == []:
        end game
"""
WRAPPED = """\
language: 2
overlay: pond/cited
over: [pond]
decisions:
  hop:
    wraps: |
      leap cites P-03:
        base()
"""


def _loaded(tmp_path: Path, overlay: str) -> Ruleset:
    root = tmp_path / "rulesets"
    shutil.copytree(BASE, root)
    (root / "pond/overlays").mkdir()
    (root / "pond/overlays/cited.yaml").write_text(overlay, encoding="utf-8")
    return load("pond", ["pond/cited"], Shelf([root]))


@pytest.mark.parametrize("plain", [True, False])
def test_the_log_and_the_refusal_name_the_statements_of_the_alternative(tmp_path: Path, plain: bool) -> None:
    ruleset = _loaded(tmp_path, OVERLAY)
    ruleset.table(2, ruleset.settings({})).runner.plain = plain
    game = ruleset.new_game(2, seed=1)
    decision = game.decision
    assert decision is not None
    first = decision.options[0]
    game.apply(first)
    assert [line.cites for line in game.log() if line.name == "hop.leap"] == [("P-01", "P-03")]
    with pytest.raises(IllegalMove) as refused:
        game.apply(first.as_dict())
    assert refused.value.cites == ("P-01", "P-03")
    game.apply({"do": "stay"})
    assert [line.cites for line in game.log() if line.name == "hop.stay"] == [("P-02",)]


def test_explain_coverage_and_rulebook_know_them(tmp_path: Path) -> None:
    ruleset = _loaded(tmp_path, OVERLAY)
    (citation,) = [each for each in citations_of(ruleset) if each.section == "options"]
    assert (citation.name, citation.cites) == ("hop", ("P-01", "P-03"))
    assert [mutant.about for mutant in mutants_of(ruleset.model, citation)] == ["is never offered", "is always offered"]
    (told,) = explain(ruleset, "hop")[:1]
    assert {quote.id for part in told.parts for quote in part.cites} >= {"P-01", "P-02", "P-03"}
    assert any("alternative of the rule" in use.what for each in explain(ruleset, "P-03") for use in each.uses)
    game = ruleset.new_game(2, seed=1)
    assert game.decision is not None
    asked = conditions_of(game, game.decision.options[0].as_dict())
    assert {quote.id for condition in asked for quote in condition.cites} == {"P-01", "P-03"}
    assert "P-03" in markdown_of(rulebook_of(ruleset))


def test_a_wrapped_alternative_keeps_its_statements_and_gets_more(tmp_path: Path) -> None:
    ruleset = _loaded(tmp_path, WRAPPED)
    game = ruleset.new_game(2, seed=1)
    assert game.decision is not None
    game.apply(game.decision.options[0])
    assert [line.cites for line in game.log() if line.name == "hop.leap"] == [("P-03",)]


@pytest.mark.parametrize("overlay", [OVERLAY, WRAPPED])
def test_a_statement_that_does_not_exist_is_an_error(tmp_path: Path, overlay: str) -> None:
    with pytest.raises(RulesetError) as refused:
        _loaded(tmp_path, overlay.replace("P-03", "P-33"))
    assert [each.code for each in refused.value.diagnostics] == ["E601"]


def test_they_are_laid_out_behind_the_conditions() -> None:
    text = "leap to in pad where to in area if who.frogs > 0 cites P-01, P-03:\n  hop(to)\nstay cites P-02\n"
    tree, found = parse_alternatives(typed(text, "text"))
    assert not found
    assert tree is not None
    assert format_node(tree).strip() == text.strip()
