"""Quick fixes: the remedies of the diagnostics at a place that can be applied to the texts as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.remedies import Edit
from interpreter.editor.workspace import Desk

__all__ = ["fixes_at"]


def fixes_at(
    desk: Desk, diagnostics: Iterable[Diagnostic], start: int, end: int
) -> Iterator[tuple[Diagnostic, str, list[tuple[Path, Edit]]]]:
    """Yield the fixes of diagnostics that touch a range, each with its title and its edits. Those of texts that have
    changed meanwhile are left out."""
    for each in diagnostics:
        if each.span is None or each.span.start > end or each.span.end < start:
            continue
        for fix in each.fixes:
            paths = ((desk.path_of(edit.span), edit) for edit in fix.edits)
            edits = [(path, edit) for path, edit in paths if path and desk.file(path).text == edit.span.file.text]
            if len(edits) == len(fix.edits):
                yield each, fix.title, edits
