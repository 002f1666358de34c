"""Coverage: which statements of a rulebook the rules cite, which are waived, and which a scenario proves.

In go a shelf of rulesets, their statements, waivers and scenarios; out comes a :class:`Coverage`. A statement is proved
where a rule, table or other thing that cites it can be made wrong so that a scenario that cites it too fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.engine.citations import Citation, citations_of
from interpreter.engine.ruleset import Ruleset, load
from interpreter.reading.compose import word
from interpreter.reading.files import Shelf
from interpreter.reading.statements import Statement, statements_of
from interpreter.reading.yaml import Mapping, Sequence
from interpreter.testing.mutation import prove

__all__ = ["Coverage", "Waiver", "check_waivers", "cover", "is_counted", "own_rulebooks", "rulebooks_of", "waivers_of"]

COUNTED = ("rule", "table", "example", "fill")
WAIVABLE = ("component", "advice", "ui")
_ID = re.compile(r"\b[A-Z]{1,3}-[A-Z]?\d+\b")


@dataclass(frozen=True, slots=True)
class Waiver:
    """A statement that needs no rule, and why."""

    id: str
    reason: str
    span: Span = field(repr=False)


@dataclass(frozen=True)
class Coverage:
    """Coverage of a rulebook by rulesets. ``proved`` is known only where things were made wrong to see it."""

    rulebook: str
    rulesets: tuple[str, ...]
    counted: tuple[Statement, ...]
    cited: dict[str, tuple[Citation, ...]]
    waived: dict[str, str]
    shown: frozenset[str]
    proved: frozenset[str] | None = None

    @property
    def uncited(self) -> list[Statement]:
        """Counted statements that nothing cites and that nobody waives."""
        return [s for s in self.counted if s.id not in self.cited and s.id not in self.waived]

    @property
    def unproved(self) -> list[Statement]:
        """Counted statements that are cited, but not proved and not waived."""
        proved = self.proved or frozenset()
        return [s for s in self.counted if s.id in self.cited and s.id not in proved and s.id not in self.waived]


# --- waivers ----------------------------------------------------------------------------------------------------------


def waivers_of(shelf: Shelf) -> tuple[list[Waiver], list[Diagnostic]]:
    """All waivers (``waivers.yaml`` in the folder of a family), and what is wrong with the form of their files."""
    waivers: list[Waiver] = []
    found: list[Diagnostic] = []
    for id in shelf.ids("waivers"):
        document, wrong = shelf.read("waivers", id)
        found.extend(wrong)
        if document is None:
            continue
        found.extend(document.misfits)
        listed = document.root.get("is")
        for item in listed.items if isinstance(listed, Sequence) else ():
            if isinstance(item, Mapping) and (scalar := item.get("id")) is not None:
                waivers.append(Waiver(word(scalar), word(item.get("reason")), scalar.span))
    return waivers, found


def check_waivers(waivers: Iterable[Waiver], statements: dict[str, Statement]) -> list[Diagnostic]:
    """A waiver is for a component, advice or the screen of a program, or its reason names what it rests on: a gap, or a
    component that is waived."""
    found: list[Diagnostic] = []
    seen: set[str] = set()
    waivers = list(waivers)
    waived = {waiver.id for waiver in waivers}
    grounds = {id for id, each in statements.items() if each.kind == "gap" or (each.kind in WAIVABLE and id in waived)}
    for waiver in waivers:
        statement = statements.get(waiver.id)
        if statement is None:
            message = f"unknown statement `{waiver.id}`{did_you_mean(waiver.id, statements)}"
            found.append(Diagnostic("E601", message, waiver.span))
        elif statement.kind not in WAIVABLE and grounds.isdisjoint(_ID.findall(waiver.reason)):
            message = f"`{waiver.id}` is a {statement.kind}: its reason must name a gap, or a component that is waived"
            found.append(Diagnostic("E602", message, waiver.span))
        if waiver.id in seen:
            found.append(Diagnostic("E107", f"`{waiver.id}` is waived twice", waiver.span))
        seen.add(waiver.id)
    return found


# --- counting ---------------------------------------------------------------------------------------------------------


def is_counted(statement: Statement) -> bool:
    """Return whether a ruleset is expected to follow a statement: of components, those with a number."""
    if statement.kind == "component":
        return any(char.isdigit() for char in statement.text)
    return statement.kind in COUNTED


def rulebooks_of(shelf: Shelf, rulesets: Iterable[Ruleset] | None = None) -> dict[str, list[Ruleset]]:
    """The rulebooks that rulesets follow, all where none are named, with the overlays that are taken in; and which do.

    A ruleset that has errors raises :class:`RulesetError`.
    """
    from interpreter.testing.suite import suite_of

    books: dict[str, list[Ruleset]] = {}
    suite = suite_of(shelf=shelf)
    for ruleset in rulesets if rulesets is not None else (load(id, shelf=shelf) for id in shelf.ids("ruleset")):
        for book in dict.fromkeys(book for form in suite.forms(ruleset) for book in form.composition.rulebooks):
            books.setdefault(book, []).append(ruleset)
    return books


def own_rulebooks(shelf: Shelf) -> set[str]:
    """The rulebooks of which statements stand in the folder of a ruleset that was named by its path."""
    return {statement.book for statement in statements_of(Shelf(shelf.roots[: shelf.ahead])).values()}


def cover(
    rulebook: str, rulesets: list[Ruleset], shelf: Shelf, *, mutate: bool = False, kind: str | None = None
) -> Coverage:
    """Compute the coverage of a rulebook. ``mutate``: also what scenarios prove, which takes its time. ``kind``: of the
    statements of this kind alone, whether they are otherwise counted or not."""
    from interpreter.testing.suite import suite_of

    statements = statements_of(shelf)
    counted = tuple(
        s for s in statements.values() if s.book == rulebook and (is_counted(s) if kind is None else s.kind == kind)
    )
    waivers, found = waivers_of(shelf)
    if wrong := [*found, *check_waivers(waivers, statements)]:
        raise RulesetError(wrong)
    suite = suite_of(shelf=shelf)
    played = [form for ruleset in rulesets for form in suite.forms(ruleset)]
    cited: dict[str, list[Citation]] = {}
    for ruleset in played:
        for citation in citations_of(ruleset):
            for id in citation.cites:
                cited.setdefault(id, []).append(citation)
    ids = {ruleset.id for ruleset in rulesets}
    mine = [scenario for scenario in suite.scenarios if ids & {scenario.ruleset, *scenario.holds_for}]
    proved: frozenset[str] | None = None
    if mutate:
        proved = frozenset()
        for ruleset in played:
            proved |= prove(ruleset, suite, {s.id for s in counted} - proved)
    return Coverage(
        rulebook,
        tuple(ruleset.id for ruleset in rulesets),
        counted,
        {id: tuple(citing) for id, citing in cited.items()},
        {waiver.id: waiver.reason for waiver in waivers},
        frozenset(id for scenario in mine for id in scenario.statements),
        proved,
    )
