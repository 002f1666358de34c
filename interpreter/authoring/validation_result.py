"""Result of a validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from interpreter.base.diagnostics import Diagnostic, unique

if TYPE_CHECKING:
    from interpreter.reading.files import Document

__all__ = ["Validation"]


@dataclass
class Validation:
    """Result of a validation: the checked files and rulesets, and their diagnostics. ``paths`` maps the file names in
    diagnostics to paths."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    rulesets: set[str] = field(default_factory=set)
    paths: dict[str, Path] = field(default_factory=dict)
    alone: list[str] = field(default_factory=list)
    """Files that belong in rulesets, but that no known ruleset contains: checked alone."""
    at_hand: int = 0
    """Number of diagnostics of a single target alone and in the first of its rulesets; they come first."""

    def saw(self, document: Document) -> None:
        from interpreter.reading.files import resolved

        self.files.add(resolved(document.path))
        self.paths[document.file.name] = document.path

    @property
    def reported(self) -> list[Diagnostic]:
        """Return the diagnostics without duplicates, by file and position; those of the ruleset at hand come first."""
        first = {id(each) for each in unique(self.diagnostics[: self.at_hand])}
        return sorted(unique(self.diagnostics), key=lambda each: id(each) not in first)
