"""Lint: rulesets that are right, but could be said better.

In go compositions that a shelf allows, out come findings: diagnostics with a code of `L`. A check is a function over
compositions of one family; ``CHECKS`` lists them, :mod:`interpreter.base.codes` has their codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic, RulesetError, unique
from interpreter.engine.contents import can_have, files_of, rulesets_of
from interpreter.engine.copied import copied
from interpreter.engine.detours import detours
from interpreter.engine.idle import constant_tests, dead_layers, readings
from interpreter.engine.ruleset import Ruleset, load
from interpreter.engine.said import long_lines, numbers, shadows
from interpreter.engine.twins import twins
from interpreter.engine.unproved import shown, uncited
from interpreter.reading.compose import word
from interpreter.reading.files import Document, Shelf, resolved

__all__ = ["CHECKS", "Compositions", "compositions", "lint"]

CHECKS: tuple[Callable[[Sequence[Ruleset]], Iterable[Diagnostic]], ...] = (
    *(twins, dead_layers, constant_tests, readings, uncited, numbers, detours, shadows, shown, copied, long_lines),
)
COMPARING = (twins,)
"""Checks that compare a file with others, which no composition need have together."""


@dataclass
class Compositions:
    """What lint looks at: ``asked`` are those of which something is told, ``every`` has in the same order also those
    that their rules are compared with. ``skipped`` are the names of others that have errors."""

    asked: list[Ruleset] = field(default_factory=list)
    every: list[Ruleset] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def lint(found: Compositions) -> list[Diagnostic]:
    """What the checks find, family by family, but for what a comment says is meant."""
    findings = unique(
        finding
        for check in CHECKS
        for family in _families(found.every if check in COMPARING else found.asked)
        for finding in check(family)
    )
    return [finding for finding in findings if not _is_meant(finding)]


def _families(rulesets: Iterable[Ruleset]) -> Iterable[list[Ruleset]]:
    families: dict[str, list[Ruleset]] = {}
    for ruleset in rulesets:
        families.setdefault(ruleset.model.family, []).append(ruleset)
    return families.values()


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


@dataclass(frozen=True)
class _Form:
    """A ruleset, alone or with an overlay that fits it, and the files that it is made of."""

    ruleset: Document
    overlay: Document | None
    files: frozenset[Path]

    @property
    def name(self) -> str:
        return f"`{self.ruleset.id}`" + (f" with `{self.overlay.id}`" if self.overlay else "")


def compositions(shelf: Shelf, named: Collection[Path] = ()) -> Compositions:
    """Every ruleset, then each with every overlay that fits it; where files are named, those that contain one, and
    beside them as few as together contain every other file of their families.

    What has errors and contains none of the files, or only with an overlay that is not among them, is skipped. Other
    errors are raised.
    """
    forms = _forms(shelf)
    asked = [form for form in forms if not named or not form.files.isdisjoint(named)]
    families = {word(form.ruleset.root.get("family")) for form in asked}
    others = [form for form in forms if form not in asked and word(form.ruleset.root.get("family")) in families]
    below = {form.ruleset.id for form in asked}  # what an overlay covers is seen without it
    beside = [form for form in others if form.overlay is None and form.ruleset.id in below]
    known: set[Path] = set().union(*(form.files for form in asked))
    while others:
        most = max(others, key=lambda form: len(form.files - known))
        if most.files <= known:
            break
        beside.append(most)
        known |= most.files
    found, wrong = Compositions(), list[Diagnostic]()
    for form in forms:
        if form not in asked and form not in beside:
            continue
        try:
            ruleset = load(form.ruleset.id, [form.overlay.id] if form.overlay else [], shelf)
        except RulesetError as error:
            if form in asked and (form.overlay is None or not named or resolved(form.overlay.path) in named):
                wrong.extend(error.diagnostics)
            found.skipped.append(form.name)
            continue
        found.every.append(ruleset)
        if form in asked:
            found.asked.append(ruleset)
    if wrong:
        raise RulesetError(unique(wrong))
    return found


def _forms(shelf: Shelf) -> list[_Form]:
    """All rulesets, then each with each overlay that fits it, as far as their files can be read."""
    overlays = [document for id in shelf.ids("overlay") if (document := shelf.read("overlay", id)[0]) is not None]
    alone, stacked = list[_Form](), list[_Form]()
    made = [(ruleset, files_of(shelf, ruleset)) for ruleset in rulesets_of(shelf)]
    for ruleset, documents in made:
        alone.append(_Form(ruleset, None, frozenset(resolved(document.path) for document in documents)))
    for overlay in overlays:
        for form, (ruleset, documents) in zip(alone, made, strict=True):
            if can_have(documents, overlay):
                stacked.append(_Form(ruleset, overlay, form.files | {resolved(overlay.path)}))
    return [*alone, *stacked]
