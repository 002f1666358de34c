"""The files that an author works on: their texts as they are in the editor, and what is known of their rulesets.

A check goes by steps, the quickest first, so that who waits can look in between: the file alone; names and types in
every ruleset that contains it; then the laws of their tables. What did not change is not done again: files are read
again only if their bytes differ, their schemas are looked at once, each text is parsed once
(:mod:`interpreter.language.parse`), and a ruleset is checked again only if one of its files was read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic, unique
from interpreter.base.source import SourceFile, Span
from interpreter.engine.alone import check_alone
from interpreter.engine.contents import overlays_for, rulesets_of
from interpreter.engine.ruleset import Examined, examine
from interpreter.engine.validation import Validation, validate
from interpreter.reading.compose import words
from interpreter.reading.files import Document, Shelf, shelf_for
from interpreter.reading.unsaved import unsaved

__all__ = ["Desk", "Home"]

_Key = tuple[Path, tuple[str, ...]]


@dataclass(frozen=True)
class Home:
    """A ruleset that contains a file: its document, the overlays on it, and what the passes found."""

    document: Document
    overlays: tuple[str, ...]
    examined: Examined

    @property
    def files(self) -> tuple[Document, ...]:
        return self.examined.composition.documents if self.examined.composition else ()


@dataclass
class Desk:
    """What is open, what was found. Paths are absolute."""

    texts: dict[Path, str] = field(default_factory=dict)
    _told: dict[object, list[Diagnostic]] = field(default_factory=dict)
    _quick: dict[_Key, Home] = field(default_factory=dict)
    _whole: dict[_Key, Home] = field(default_factory=dict)
    _good: dict[_Key, Home] = field(default_factory=dict)
    _read: dict[Path, Document] = field(default_factory=dict)
    _paths: dict[str, Path] = field(default_factory=dict)

    # --- files

    def shelf(self, path: Path) -> Shelf:
        """The folders of rulesets in which the file and its neighbours lie."""
        with unsaved(self.texts):
            return shelf_for(path)

    def document(self, path: Path) -> Document | None:
        """The file as it is now; nothing where it cannot be read."""
        document, _ = self._document(path)
        return document

    def readable(self, path: Path) -> Document | None:
        """The file as it is now, or as it was when it could last be read."""
        return self.document(path) or self._read.get(path)

    def _document(self, path: Path) -> tuple[Document | None, list[Diagnostic]]:
        with unsaved(self.texts):
            shelf = self.shelf(path)
            document, found = shelf.read_path(path)
            if document is not None:
                place = shelf.find(document.kind, document.id)
                if place is not None and place.resolve() == path.resolve():  # named as in its rulesets
                    again, diagnostics = shelf.read(document.kind, document.id)
                    document, found = (again, diagnostics) if again is not None else (document, found)
                self._saw(document)
            return document, found

    def _saw(self, document: Document) -> None:
        self._paths[document.file.name] = Path(os.path.abspath(document.path))
        self._read[Path(os.path.abspath(document.path))] = document

    def path_of(self, span: Span) -> Path | None:
        """The file that a place is in."""
        name = span.file.name
        return self._paths.get(name) or (Path(name) if Path(name).is_absolute() else None)

    def file(self, path: Path) -> SourceFile:
        """The text of a file as it is now."""
        text = self.texts.get(path)
        if text is None:
            text = path.read_text(encoding="utf-8-sig", errors="replace")
        return SourceFile(path.as_posix(), text)

    # --- rulesets

    def members(self, path: Path) -> list[tuple[Document, tuple[str, ...]]]:
        """The rulesets that contain a file, or that are of its family, with the overlays that they need for it."""
        document = self.readable(path)
        if document is None:
            return []
        with unsaved(self.texts):
            shelf = self.shelf(path)
            if document.kind == "ruleset":
                return [(document, ())]
            rulesets = rulesets_of(shelf)
            if document.kind in ("policies", "waivers"):
                family = document.id.partition("/")[0]
                return [(each, ()) for each in rulesets if family in [s.text for s in words(each.root.get("family"))]]
            if document.kind == "scenarios":
                named = self._named_in(document)
                return [(each, ()) for each in rulesets if each.id in named]
            found = ((each, overlays_for(shelf, each, document)) for each in rulesets)
            return [(each, tuple(overlays)) for each, overlays in found if overlays is not None]

    def _named_in(self, scenarios: Document) -> set[str]:
        items = getattr(scenarios.root.get("is"), "items", ())
        return {scalar.text for item in items for scalar in words(item.get("ruleset"))}

    def home(self, path: Path, *, errors: bool = True) -> Home | None:
        """A ruleset that contains a file, as it is now, or was when it last could be checked."""
        second: Home | None = None
        for document, overlays in self.members(path):
            home = self.examined(document, overlays)
            if home.examined.model is not None and not home.examined.errors:
                return home
            key = (document.path, overlays)
            second = second or self._good.get(key) or (home if home.examined.model is not None else None)
        return second

    def homes(self, path: Path) -> list[Home]:
        """All of them."""
        return [self.examined(document, overlays) for document, overlays in self.members(path)]

    def examined(self, ruleset: Document, overlays: tuple[str, ...], *, tables: bool = False) -> Home:
        """What the passes find in a ruleset, from memory where none of its files has changed."""
        key = (ruleset.path, overlays)
        with unsaved(self.texts):
            for known in (self._whole, self._quick)[: 1 if tables else 2]:
                if key in known and self._is_current(known[key]):
                    return known[key]
            shelf = self.shelf(ruleset.path)
            home = Home(ruleset, overlays, examine(shelf, ruleset, overlays, tables=tables))
        (self._whole if tables else self._quick)[key] = home
        for document in home.files:
            self._saw(document)
        if home.examined.model is not None and not home.examined.errors:
            self._good[key] = home
        return home

    def _is_current(self, home: Home) -> bool:
        """Whether each of its files is the one that was read: equal bytes are not read again."""
        shelf = self.shelf(home.document.path)
        files = home.files
        return bool(files) and all(shelf.read(each.kind, each.id)[0] is each for each in files)

    # --- checking

    def check(self, path: Path) -> Iterator[dict[Path, list[Diagnostic]]]:
        """What is wrong in all files, again after each step; a step is short. Whoever has a newer text stops here."""
        document, found = self._document(path)
        if document is not None:
            with unsaved(self.texts):
                found = [*found, *check_alone(document)]
        self._told[path] = found
        yield self.told(path)
        if document is None:
            return
        members = self.members(path)
        if document.kind in ("policies", "scenarios", "waivers"):
            with unsaved(self.texts):
                validation: Validation = validate([str(path)])
            for name, where in validation.paths.items():
                self._paths.setdefault(name, Path(os.path.abspath(where)))
            self._told["checked", path] = validation.diagnostics
            yield self.told(path)
            return
        for tables in (False, True):
            for position, (ruleset, overlays) in enumerate(members):
                home = self.examined(ruleset, overlays, tables=tables)
                self._told[ruleset.path, overlays] = home.examined.diagnostics
                if position in (0, len(members) - 1) or tables:
                    yield self.told(path)

    def told(self, path: Path) -> dict[Path, list[Diagnostic]]:
        """All that is known to be wrong, by files; what has no place stands in the file that is being checked."""
        found: dict[Path, list[Diagnostic]] = {path: []}
        for diagnostic in unique(each for told in self._told.values() for each in told):
            place = self.path_of(diagnostic.span) if diagnostic.span else path
            found.setdefault(place or path, []).append(diagnostic)
        return found
