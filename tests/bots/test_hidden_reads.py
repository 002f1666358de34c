"""A policy reads what a rule shows its seat where a condition calls that rule, and nothing else that the rule hides."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interpreter.bots.hidden_reads import peeks_of
from interpreter.bots.registry import bots_of, policies_for
from interpreter.loading.load import load
from interpreter.play.match import Match

TRAITORS = Path(__file__).parents[1] / "cases" / "traitors"


@pytest.mark.parametrize(
    ("line", "is_hidden"),
    [
        ("name s where knows(who, s)", False),
        ("name s where s.badge == traitor", True),
        ("name s where knows(who, s) and s.badge == traitor", False),
        ("name s where s.badge == traitor and knows(who, s)", True),
        ("name s where knows(who, s) or s.badge == traitor", True),
        ("name s where knows(s, who) and s.badge == traitor", True),
        ("name s where not knows(who, s) and s.badge == traitor", True),
        ("name s where knows(who, s) and who.badge == traitor", False),
        ("name s where knows(who, s) and any(t.badge == traitor for t in seats)", True),
        ("name s where any(t in seats where knows(who, t) and t.badge != who.badge)", False),
        ("name s where knows(who, s) by (1 if s.badge == traitor else 2), as listed", False),
        ("name s by (1 if s.badge == traitor else 2), as listed", True),
        ("name s where (s.badge == loyal if knows(who, s) else round > 1)", False),
        ("name s where (s.badge == loyal if knows(who, seats[0]) else round > 1)", True),
        ("name s where is_bad(who, s)", False),
        ("name s where is_worse(who, s)", True),
        ('name s where keeps(who, "A1") and any(c.number > 1 for c in "A1".cellar)', True),
        ("name s where any(any(c.number > 1 for c in h.cellar) for h in house where keeps(who, h))", False),
    ],
)
def test_what_a_policy_reads(tmp_path: Path, line: str, is_hidden: bool) -> None:
    root = Path(shutil.copytree(TRAITORS, tmp_path / "traitors"))
    family = root / "family.yaml"
    text, rules = (
        family.read_text(encoding="utf-8"),
        (
            "rules:\n"
            "  is_bad(viewer, owner) -> bool: |\n"
            "    if knows(viewer, owner):\n"
            "      return owner.badge == traitor\n"
            "    return no\n"
            "  is_worse(viewer, owner) -> bool: |\n"
            "    let other = owner\n"
            "    if knows(viewer, other):\n"
            "      other = first(clockwise(owner))\n"
            "      return other.badge == traitor\n"
            "    return no\n"
        ),
    )
    for old, new in (
        (
            'accuse: {prefer: "name who where who.badge == loyal"}',
            f"accuse:\n      prefer: |\n        {line}\n        any",
        ),
        ("name who where count(who.friends) == 0", "name s where count(s.friends) == 0"),
        ("name who in seats:", "name s in seats:"),
        ("note exposed(who, who.badge)", "note exposed(s, s.badge)"),
        ("for each s in seats where s.badge != who.badge:", "for each t in seats where t.badge != s.badge:"),
        ("  s.score += 1", "  t.score += 1"),
        ("rules:\n", rules),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    family.write_text(text, encoding="utf-8")
    ruleset = load(root / "traitors.yaml")
    policy = policies_for(ruleset)["friendly"]
    ask = next(end.ask for _, end in ruleset.program.asks.values() if end.ask.name == "accuse")
    assert bool(peeks_of(ruleset.model, policy, ask)) is is_hidden
    match = Match(ruleset, bots_of("friendly", ruleset, 4), seed=1)
    match.play()
    assert match.game.is_over
