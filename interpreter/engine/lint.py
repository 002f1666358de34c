"""Lint: rulesets that are right, but could be said better.

In go all compositions that a shelf allows, out come findings: diagnostics with a code of `L`. A check is a function
over the compositions of one family; ``CHECKS`` lists them, :mod:`interpreter.base.codes` has their codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic, unique
from interpreter.engine.contents import can_have
from interpreter.engine.copied import copied
from interpreter.engine.detours import detours
from interpreter.engine.idle import constant_tests, dead_layers, readings
from interpreter.engine.ruleset import Ruleset, load
from interpreter.engine.said import numbers, shadows
from interpreter.engine.twins import twins
from interpreter.engine.unproved import shown, uncited
from interpreter.reading.compose import word
from interpreter.reading.files import Document, Shelf

__all__ = ["CHECKS", "compositions", "lint"]

CHECKS: tuple[Callable[[Sequence[Ruleset]], Iterable[Diagnostic]], ...] = (
    *(twins, dead_layers, constant_tests, readings, uncited, numbers, detours, shadows, shown, copied),
)


def lint(rulesets: Iterable[Ruleset]) -> list[Diagnostic]:
    """What the checks find, family by family, but for what a comment says is meant."""
    families: dict[str, list[Ruleset]] = {}
    for ruleset in rulesets:
        families.setdefault(ruleset.model.family, []).append(ruleset)
    findings = unique(finding for family in families.values() for check in CHECKS for finding in check(family))
    return [finding for finding in findings if not _is_meant(finding)]


def _is_meant(finding: Diagnostic) -> bool:
    """Whether the line of a finding, or a comment right above it, says ``# lint: L007`` and a reason. A text may begin
    with comments: they are above its first line."""
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


def compositions(shelf: Shelf, named: Iterable[Document] = ()) -> Iterator[Ruleset]:
    """Every ruleset, then each with every overlay that fits it; where files are named, of their families only."""
    every = set(shelf.ids("family"))
    families = {word(file.root.get("family")) or file.id.partition("/")[0] for file in named}
    if not families or families - every:  # a library may be used by any family
        families = every
    read = (shelf.read("ruleset", id)[0] for id in shelf.ids("ruleset"))
    ids = [file.id for file in read if file is not None and word(file.root.get("family")) in families]
    rulesets = [load(id, shelf=shelf) for id in ids]
    yield from rulesets
    for overlay in (shelf.read("overlay", id)[0] for id in shelf.ids("overlay")):
        if overlay is not None:
            yield from (
                load(each.id, [overlay.id], shelf) for each in rulesets if can_have(each.composition.documents, overlay)
            )
