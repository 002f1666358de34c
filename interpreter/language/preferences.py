"""Checked preferences: the lines by which a bot chooses, as the checker leaves them.

All execution forms read them. :mod:`interpreter.bots.policies` reads them from files.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from msgspec import Struct

from interpreter.base.source import Span
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.text_facts import TextFacts, facts_of
from interpreter.language.walk import descendants

__all__ = ["Line", "Pattern", "Policy", "Preferences", "pinned_by"]


class Pattern(Struct, frozen=True):
    """A subset of a decision's options: those of an alternative (or of all, if it is empty) that pass the tests.

    Locals are the actor, the decision's context and the choices of the alternative. ``keys`` sort the options.
    """

    alternative: str
    tests: tuple[core.Expression, ...]
    keys: tuple[core.Expression, ...]
    local_count: int
    span: Span


class Line(Struct, frozen=True, dict=True):
    """One preference. ``asked`` is the seat that breaks a tie. ``chance`` is (n, m): the line is used with probability
    n/m. Several consecutive lines may share a ``name``; it is empty for lines without one."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    asked: core.Expression | None
    chance: tuple[int, int] | None
    local_count: int
    span: Span
    name: str = ""

    @cached_property
    def facts(self) -> TextFacts:
        """What its text names. Rulesets that share the line share its facts."""
        return facts_of((self.patterns, self.asked))


class Preferences(Struct, frozen=True):
    """Preferences for one decision. ``when`` is the guard of their parts, over the actor."""

    decision: str
    lines: tuple[Line, ...]
    when: core.Expression | None
    local_count: int
    cites: tuple[str, ...]
    span: Span


class Policy(Struct, frozen=True):
    """Preferences by decision, the uppermost layer of each decision first.

    ``rules`` are the helpers of the policy's file, with ids that no rule has. ``weights`` are the named numbers that
    its expressions contain as constants.
    """

    name: str
    file: str
    span: Span
    decisions: dict[str, tuple[Preferences, ...]]
    rules: tuple[RuleLayer, ...] = ()
    weights: tuple[tuple[str, int], ...] = ()


def pinned_by(test: core.Expression, first: int, count: int) -> tuple[int, core.Expression] | None:
    """Match ``choice == value``, with a value that does not depend on that or later choices.

    Return the position of the choice and the value, or None for any other test.
    """
    if not isinstance(test, core.Comparison) or test.operator != "==":
        return None
    for side, value in ((test.left, test.right), (test.right, test.left)):
        if isinstance(side, core.Local) and first <= side.index < first + count:
            used = {node.index for node in descendants(value) if isinstance(node, core.Local)}
            if not any(side.index <= index < first + count for index in used):
                return side.index - first, value
    return None
