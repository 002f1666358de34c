"""Findings of lint, kept between runs until something that they depend on has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.answers import kept_answers
from interpreter.engine.kept_texts import kept_trees

if TYPE_CHECKING:
    from interpreter.reading.files import Document

__all__ = ["Findings", "findings_of"]


class Findings(Struct, frozen=True):
    """All findings in some files, the ids of the rulesets that were looked at, the paths of their files by name, and
    the names of what was skipped because of errors."""

    found: tuple[Diagnostic, ...]
    rulesets: tuple[str, ...]
    paths: dict[str, Path]
    skipped: tuple[str, ...]


def findings_of(
    named: Callable[[], Sequence[Document]], words: Iterable[str], tell: Callable[[str], object] = str
) -> Findings:
    """Return the findings in the files that ``named`` reads. ``words`` are how they are named on the command line."""

    def find() -> Findings:
        from interpreter.lint.checks import lint
        from interpreter.lint.compositions import compositions
        from interpreter.reading.files import resolved, shelf_for

        documents = named()
        with kept_trees():
            looked_at = compositions(shelf_for(documents[0].path if documents else None), documents, tell)
            found = lint(looked_at, tell)
        parts = (document for ruleset in looked_at.selected for document in ruleset.composition.documents)
        return Findings(
            tuple(found),
            tuple(sorted({ruleset.id for ruleset in looked_at.selected})),
            {document.file.name: resolved(document.path) for document in parts},
            tuple(looked_at.skipped),
        )

    with no_search(), kept_answers("lint", *words) as answers:
        return answers.to((), find)
