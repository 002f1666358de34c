"""Diagnostics as values: what is wrong, where, and how to fix it.

Functions named ``check_...`` return lists of them, and loading continues as far as it can. A :class:`RulesetError`
carries the whole list out of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from interpreter.base.plain_data import picked
from interpreter.base.remedies import Fix, Remedy, said
from interpreter.base.source import Span
from interpreter.base.suggest import without_suggestion

__all__ = [
    "Diagnostic",
    "Note",
    "RefusedError",
    "RulesetError",
    "Severity",
    "excerpt",
    "few",
    "readable",
    "render",
    "rendered",
    "unique",
]

Severity = Literal["error", "warning"]
MOST_ALIKE = 3
"""Number of equal diagnostics that are shown."""
_LONG = re.compile(r"`([^`]{60})[^`]+`")


class Note(Struct, frozen=True):
    """A second position and how it relates to the first."""

    message: str
    span: Span | None = None

    def as_data(self) -> dict[str, object]:
        return {"message": self.message, "place": self.span.extent if self.span is not None else None}


class Diagnostic(Struct, frozen=True):
    """A problem in a file, reported to its author.

    ``code`` names a page of ``docs/errors``; ``help`` says how to mend it, if that is known, and is a
    :class:`Remedy` if an editor can do it; ``more`` is the number of others like it that are not shown.
    """

    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    help: str | None = None
    severity: Severity = "error"
    more: int = 0

    def __post_init__(self) -> None:
        if len(self.message) > 200:
            force_setattr(self, "message", _LONG.sub(r"`\1…`", self.message))

    @property
    def fixes(self) -> list[Fix]:
        """The fixes that its help and its words offer."""
        own = self.help.fixes if isinstance(self.help, Remedy) else ()
        found = [*own, *said(self.message, None if own else self.help, self.span)] if self.span is not None else own
        return list({fix.edits: fix for fix in found}.values())

    def as_data(self) -> dict[str, object]:
        place = self.span.extent if self.span is not None else None
        return {**picked(self, "code", "severity", "message"), "place": place, **picked(self, "notes", "help", "more")}


class RulesetError(Exception):
    """Raised for a ruleset that cannot be used; ``diagnostics`` has all reasons found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = unique(diagnostics)
        super().__init__("\n".join(rendered(self.diagnostics)))


class RefusedError(Exception):
    """Raised to stop reading at an error that makes the rest ambiguous."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def unique(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Remove duplicates and sort by file and position. Rulesets know different names: an error that differs by its
    suggestion alone is the same."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for d in diagnostics:
        where = (d.span.file.name, d.span.start) if d.span else ("", 0)
        seen.setdefault((*where, d.code, without_suggestion(d.message)), d)
    return sorted(seen.values(), key=lambda d: (d.span.file.name, d.span.start) if d.span else ("", 0))


def few(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Keep the first of those that say the same; the last that is kept counts the others."""
    kept: list[Diagnostic] = []
    alike: dict[tuple[str, str], list[int]] = {}
    for d in diagnostics:
        places = alike.setdefault((d.code, without_suggestion(d.message)), [])
        if len(places) < MOST_ALIKE:
            places.append(len(kept))
            kept.append(d)
        else:
            last = kept[places[-1]]
            kept[places[-1]] = replace(last, more=last.more + 1 + d.more)
    return kept


def rendered(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Format diagnostics for authors. Of many that say the same, some are shown and the others counted."""
    return [render(diagnostic) for diagnostic in few(diagnostics)]


def render(diagnostic: Diagnostic) -> str:
    """Format a diagnostic for authors: position, code, message, source line with a caret, notes and help."""
    where = f"{diagnostic.span}: " if diagnostic.span else ""
    lines = [f"{where}{diagnostic.code} {diagnostic.message}"]
    if diagnostic.span:
        lines.extend(excerpt(diagnostic.span))
    for note in diagnostic.notes:
        place = f" ({note.span})" if note.span else ""
        lines.append(f"   note: {note.message}{place}")
    if diagnostic.more:
        lines.append(f"   note: {diagnostic.more} more like this")
    if diagnostic.help:
        lines.append(f"   help: {diagnostic.help}")
    return readable("\n".join(lines))


_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """Replace control characters, which could manipulate a terminal; line breaks stay."""
    return _CONTROLS.sub("�", text)


def excerpt(span: Span) -> list[str]:
    """Return the line of a span with carets under it; a long line is cut around the span."""
    text = span.file.line(span.line).replace("\t", " ")
    if not text.strip():
        return []
    first = span.column - 1
    length = max(1, min(span.end - span.start, len(text) - first))
    cut = max(0, first - 80)
    shown = text[cut : cut + 160]
    number = f"{span.line:5d}"
    return [
        f"{number} | {shown}",
        f"{' ' * 5} | {' ' * (first - cut)}{'^' * min(length, len(shown) - first + cut or 1)}",
    ]
