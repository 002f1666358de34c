"""Coverage of a rulebook: statements that rules cite, that are waived, and that a scenario proves.

Takes a shelf of rulesets with their statements, waivers and scenarios; returns a :class:`Coverage`. A statement is
proved if a mutation of something that cites it (a rule, a table) makes a scenario fail that cites it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.plain_data import grouped
from interpreter.base.source import Span
from interpreter.base.yaml_values import words
from interpreter.engine.citations import Citation, citations_of
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.reading.files import KINDS, Document, Shelf
from interpreter.reading.ruleset_files import overlays_for, rulesets_of
from interpreter.reading.statements import Statement, statements_of, unknown_statement
from interpreter.sections.documents import Waivers
from interpreter.testing.mutation import prove
from interpreter.testing.suite import Suite, suite_of

__all__ = [
    "Coverage",
    "Waiver",
    "check_waivers",
    "cover",
    "followed",
    "is_counted",
    "own_rulebooks",
    "rulebooks_named",
    "rulebooks_of",
    "waivers_of",
]

COUNTED = ("rule", "table", "example", "fill")
WAIVABLE = ("component", "advice", "ui")
_ID = re.compile(r"\b[A-Z]{1,3}-[A-Z]?\d+\b")


class Waiver(Struct, frozen=True):
    """A statement that needs no rule, with the reason."""

    id: str
    reason: str
    span: Span


class Coverage(Struct, frozen=True):
    """Coverage of a rulebook by rulesets. ``proved`` is None unless mutations were run."""

    rulebook: str
    rulesets: tuple[str, ...]
    counted: tuple[Statement, ...]
    cited: dict[str, tuple[Citation, ...]]
    waived: dict[str, str]
    shown: frozenset[str]
    proved: frozenset[str] | None = None

    @property
    def uncited(self) -> list[Statement]:
        """Return the counted statements that are neither cited nor waived."""
        return [s for s in self.counted if s.id not in self.cited and s.id not in self.waived]

    @property
    def unproved(self) -> list[Statement]:
        """Return the counted statements that are cited, but neither proved nor waived."""
        proved = self.proved or frozenset()
        return [s for s in self.counted if s.id in self.cited and s.id not in proved and s.id not in self.waived]


# --- waivers ----------------------------------------------------------------------------------------------------------


def waivers_of(shelf: Shelf) -> tuple[list[Waiver], list[Diagnostic]]:
    """Return all waivers (``waivers.yaml`` in the folder of a family) and the diagnostics of their files."""
    waivers: list[Waiver] = []
    diagnostics: list[Diagnostic] = []
    for document, errors in (shelf.read("waivers", id) for id in shelf.ids("waivers")):
        diagnostics.extend(errors)
        if document is not None:
            diagnostics.extend(document.misfits)
            named = ((waiver, waiver.id) for waiver in Waivers(document.root).is_)
            waivers.extend(Waiver(id.text, waiver.reason, id.span) for waiver, id in named if id is not None)
    return waivers, diagnostics


def check_waivers(waivers: Iterable[Waiver], statements: dict[str, Statement]) -> list[Diagnostic]:
    """Check that each waiver is for a component, advice or a program's screen, or that its reason names a gap or a
    waived component."""
    diagnostics: list[Diagnostic] = []
    seen: set[str] = set()
    waivers = list(waivers)
    waived = {waiver.id for waiver in waivers}
    grounds = {id for id, s in statements.items() if s.kind == "gap" or (s.kind in WAIVABLE and id in waived)}
    for waiver in waivers:
        statement = statements.get(waiver.id)
        if statement is None:
            diagnostics.append(unknown_statement(waiver.id, waiver.span, statements))
        elif statement.kind not in WAIVABLE and grounds.isdisjoint(_ID.findall(waiver.reason)):
            message = f"`{waiver.id}` is a {statement.kind}: its reason must name a gap, or a component that is waived"
            diagnostics.append(Diagnostic("E602", message, waiver.span))
        if waiver.id in seen:
            diagnostics.append(Diagnostic("E107", f"`{waiver.id}` is waived twice", waiver.span))
        seen.add(waiver.id)
    return diagnostics


# --- counting ---------------------------------------------------------------------------------------------------------


def is_counted(statement: Statement) -> bool:
    """Return whether a ruleset must implement a statement. Components count if their text has a number."""
    is_numbered = statement.kind == "component" and any(char.isdigit() for char in statement.text)
    return is_numbered or statement.kind in COUNTED


def rulebooks_of(
    shelf: Shelf,
    rulesets: Iterable[Ruleset] | None = None,
    only: str | None = None,
    tell: Callable[[str], object] = str,
    suite: Suite | None = None,
) -> dict[str, list[Ruleset]]:
    """Return the rulebooks that rulesets and their overlays follow, each with its rulesets. Default: all rulesets.

    With ``only``, rulesets that cannot follow that book are not loaded, so the lists of other books are
    incomplete. ``tell`` is called with each ruleset. ``suite`` has the scenarios of the shelf. Raises
    :class:`RulesetError` for a ruleset with errors.
    """
    books: dict[str, list[Ruleset]] = {}
    suite = suite or suite_of(shelf=shelf)
    if rulesets is None:
        ids = shelf.ids("ruleset") if only is None else _can_follow(shelf, only)
        rulesets = (load(id, shelf=shelf) for id in ids)
    for ruleset in rulesets:
        tell(ruleset.id)
        for book in dict.fromkeys(book for form in suite.forms(ruleset) for book in form.composition.rulebooks):
            books.setdefault(book, []).append(ruleset)
    return books


def rulebooks_named(shelf: Shelf) -> dict[str, list[Document]]:
    """Return the rulebooks named by readable files of a shelf, each with the files that name it."""
    documents = (document for kind in KINDS for document in shelf.documents(kind))
    return grouped((scalar.text, document) for document in documents for scalar in words(document.head.rulebook))


def _can_follow(shelf: Shelf, book: str) -> list[str]:
    """Return the rulesets that can use a file which names the rulebook: all of them, if an overlay names it."""
    naming = rulebooks_named(shelf).get(book, [])
    if any(document.kind == "overlay" for document in naming):
        return shelf.ids("ruleset")
    return [
        ruleset.id
        for ruleset in rulesets_of(shelf)
        if any(overlays_for(shelf, ruleset, document) is not None for document in naming)
    ]


def followed(ruleset: Ruleset, suite: Suite) -> dict[str, list[Ruleset]]:
    """Return the rulebooks to report for a ruleset: those with statements beside it if it has any, else all that it
    follows. ``suite`` has the scenarios of its shelf."""
    books, own = rulebooks_of(ruleset.shelf, [ruleset], suite=suite), own_rulebooks(ruleset.shelf)
    return {book: each for book, each in books.items() if book in own} or books


def own_rulebooks(shelf: Shelf) -> set[str]:
    """Return the rulebooks whose statements stand in the folder of a ruleset that was given by its path."""
    return {statement.book for statement in statements_of(Shelf(shelf.roots[: shelf.ahead])).values()}


def cover(
    rulebook: str,
    rulesets: list[Ruleset],
    shelf: Shelf,
    *,
    mutate: bool = False,
    kind: str | None = None,
    tell: Callable[[str], object] = str,
    suite: Suite | None = None,
) -> Coverage:
    """Compute the coverage of a rulebook. ``mutate`` also finds the proved statements, which is slow: ``tell`` is
    called with each part that cites some. ``kind`` restricts the coverage to the statements of one kind, counted or
    not. ``suite`` has the scenarios of the shelf."""
    statements = statements_of(shelf)
    counted = tuple(
        s for s in statements.values() if s.book == rulebook and (is_counted(s) if kind is None else s.kind == kind)
    )
    waivers, diagnostics = waivers_of(shelf)
    if errors := [*diagnostics, *check_waivers(waivers, statements)]:
        raise RulesetError(errors)
    suite = suite or suite_of(shelf=shelf)
    played = [form for ruleset in rulesets for form in suite.forms(ruleset)]
    citations = (citation for ruleset in played for citation in citations_of(ruleset))
    cited = grouped((id, citation) for citation in citations for id in citation.cites)
    ids = {ruleset.id for ruleset in rulesets}
    own_scenarios = [scenario for scenario in suite.scenarios if not ids.isdisjoint(scenario.passes_for)]
    proved: frozenset[str] | None = None
    if mutate:
        proved = frozenset()
        open_ = {s.id for s in counted} & cited.keys()
        for ruleset in played:
            if open_:
                proved |= prove(ruleset, suite, open_, tell)
                open_ -= proved
    if suite.diagnostics:
        raise RulesetError(suite.diagnostics)
    return Coverage(
        rulebook,
        tuple(ruleset.id for ruleset in rulesets),
        counted,
        {id: tuple(citing) for id, citing in cited.items()},
        {waiver.id: waiver.reason for waiver in waivers},
        frozenset(id for scenario in own_scenarios for id in scenario.statements),
        proved,
    )
