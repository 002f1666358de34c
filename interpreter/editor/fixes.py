"""Quick fixes: the remedies of a diagnostic that can be applied to the texts as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.remedies import Edit
from interpreter.editor.workspace import Desk

__all__ = ["fixes_of"]


def fixes_of(desk: Desk, diagnostic: Diagnostic) -> Iterator[tuple[str, list[tuple[Path, Edit]]]]:
    """Yield the title and the edits of each fix. Those of texts that have changed meanwhile are left out."""
    for fix in diagnostic.fixes:
        paths = ((desk.path_of(edit.span), edit) for edit in fix.edits)
        edits = [(path, edit) for path, edit in paths if path and desk.file(path).text == edit.span.file.text]
        if len(edits) == len(fix.edits):
            yield fix.title[:1].upper() + fix.title[1:], edits
