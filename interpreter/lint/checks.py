"""Lint: advice on rulesets that are valid, but could be written better.

Takes the compositions that a shelf allows; returns findings: diagnostics with a code of `L`. A check is a function over
a family.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, unique
from interpreter.base.plain_data import grouped
from interpreter.lint.box_contents import box_contents
from interpreter.lint.compositions import Compositions
from interpreter.lint.constant_conditions import constant_conditions
from interpreter.lint.dead_layers import dead_layers
from interpreter.lint.detours import detours
from interpreter.lint.duplicates import duplicates
from interpreter.lint.equal_readings import equal_readings
from interpreter.lint.hidden_lines import hidden_lines
from interpreter.lint.long_lines import long_lines
from interpreter.lint.magic_numbers import magic_numbers
from interpreter.lint.near_copies import near_copies
from interpreter.lint.places import Family
from interpreter.lint.shadowed_names import shadowed_names
from interpreter.lint.told_sizes import told_sizes
from interpreter.lint.uncited_rules import uncited_rules
from interpreter.lint.untested_rules import untested_rules

__all__ = ["CHECKS", "Check", "lint"]


class Check(Struct, frozen=True):
    """A check and the codes of its findings. A check that ``compares`` files also gets compositions that were not
    selected, so that it sees all files of the family."""

    codes: tuple[str, ...]
    find: Callable[[Family], Iterable[Diagnostic]]
    compares: bool = False


CHECKS = (
    Check(("L001", "L002"), duplicates, compares=True),
    Check(("L003",), dead_layers),
    Check(("L004",), constant_conditions),
    Check(("L005",), equal_readings),
    Check(("L006",), uncited_rules),
    Check(("L007",), magic_numbers),
    Check(("L008",), detours),
    Check(("L009",), shadowed_names),
    Check(("L010",), untested_rules),
    Check(("L011",), near_copies),
    Check(("L012",), long_lines),
    Check(("L013",), box_contents),
    Check(("L014",), hidden_lines),
    Check(("L015",), told_sizes),
)


def lint(compositions: Compositions, tell: Callable[[str], object] = str) -> list[Diagnostic]:
    """Run the checks, family by family, and drop findings that a comment marks as intended. ``tell`` is called with
    the code of each check before it runs."""
    found: list[Diagnostic] = []
    for check in CHECKS:
        tell(check.codes[0])
        rulesets = compositions.all if check.compares else compositions.selected
        for family in grouped((ruleset.model.family, ruleset) for ruleset in rulesets).values():
            found.extend(check.find(Family(family, compositions.files)))
    findings = unique(found)
    return [finding for finding in findings if not _is_intended(finding)]


def _is_intended(finding: Diagnostic) -> bool:
    """Return whether a comment ``# lint: L007`` with a reason stands on the line of a finding or right above it. A text
    that starts with comments has them above its first line."""
    if finding.span is None:
        return False
    lines = finding.span.file.text.split("\n")
    first = last = finding.span.line - 1
    while first > 0 and _is_comment(lines[first - 1]):
        first -= 1
    while _is_comment(lines[last]) and last + 1 < len(lines):
        last += 1
    return any(re.search(rf"# *lint: *{finding.code} +\S", line) for line in lines[first : last + 1])


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")
