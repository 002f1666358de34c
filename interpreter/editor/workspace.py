"""Workspace: the texts of files open in the editor, and the check results of their rulesets.

Checks run in steps, the quickest first, so that results appear early: the file alone; names and types in every ruleset
that contains it; when the author pauses, the laws of their tables. Results are cached: a file is read again only if its
bytes differ and validated against its schema once, each text is parsed once (:mod:`interpreter.language.parse`), and a
ruleset is checked again only if one of its files was read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TypeVar

from msgspec import Struct

from interpreter.authoring.file_syntax import check_alone
from interpreter.authoring.validation import Validation, validate
from interpreter.base.diagnostics import Diagnostic, unique
from interpreter.base.plain_data import Value
from interpreter.base.source import SourceFile, Span
from interpreter.base.yaml_values import words
from interpreter.language.parse import Trees, remembered
from interpreter.lint.untested_rules import tested
from interpreter.loading.pipeline import Examined, examine
from interpreter.reading.files import KINDS, Document, Shelf, shelf_for
from interpreter.reading.ruleset_files import overlays_for, rulesets_of, stacks_of
from interpreter.reading.unsaved_files import unsaved

__all__ = ["Desk", "Home"]

MOMENT = 2.0
"""Seconds for which cached lookups stay valid without a change in the editor, in case files on disk change."""

_OURS = re.compile(rf"^(?:language: *2\s*$|(?:{'|'.join(KINDS)}): +[a-z])", re.MULTILINE)
"""A header line of ruleset files."""

_Key = tuple[Path, tuple[str, ...], tuple[Path, ...]]
"""A ruleset, by the path that it is read by, its overlays, and the folders in which its files are looked for."""
_Found = TypeVar("_Found")


class Home(Struct, frozen=True):
    """A ruleset that contains a file: its document, its overlays, and the results of the passes, with those that set up
    ``tables`` or without."""

    document: Document
    overlays: tuple[str, ...]
    shelf: Shelf
    examined: Examined
    tables: bool

    @property
    def files(self) -> tuple[Document, ...]:
        return self.examined.composition.documents if self.examined.composition else ()

    @property
    def is_good(self) -> bool:
        """Return whether the ruleset has a model and no errors."""
        return self.examined.model is not None and not self.examined.errors


@dataclass
class Desk:
    """Open files and their diagnostics. Paths are absolute."""

    texts: dict[Path, str] = field(default_factory=dict)
    trees: Trees = field(default_factory=Trees)
    """Cache of parsed texts."""
    _diagnostics: dict[object, list[Diagnostic]] = field(default_factory=dict)
    _homes: dict[_Key, Home] = field(default_factory=dict)
    _good: dict[_Key, Home] = field(default_factory=dict)
    _read: dict[Path, Document] = field(default_factory=dict)
    _paths: dict[str, Path] = field(default_factory=dict)
    _moment: dict[object, Value] = field(default_factory=dict)
    _since: float = 0.0

    def write(self, path: Path, text: str | None) -> None:
        """Set the text of a file; None restores the text on disk."""
        if text is None:
            self.texts.pop(path, None)
        else:
            self.texts[path] = text.removeprefix("\ufeff")
        self.look_again()

    def look_again(self) -> None:
        """Drop cached lookups, since files may have changed on disk too."""
        self._moment.clear()

    def _now(self, key: object, find: Callable[[], _Found]) -> _Found:
        """Return the result of ``find``, from the cache if nothing has changed since."""
        if monotonic() - self._since > MOMENT:
            self._moment.clear()
            self._since = monotonic()
        if key not in self._moment:
            self._moment[key] = find()
        found: _Found = self._moment[key]
        return found

    # --- files

    def shelf(self, path: Path) -> Shelf:
        """Return the root folders of rulesets for a file."""
        with unsaved(self.texts):
            return shelf_for(path)

    def document(self, path: Path) -> Document | None:
        """Return the current file; None if it is invalid."""
        return self._document(path, self.texts)[0]

    def readable(self, path: Path) -> Document | None:
        """Return the current file; if it is invalid, its last valid version, or else the version on disk."""
        document = self.document(path) or self._read.get(path)
        if document is None and path in self.texts:
            document, _ = self._document(path, {other: text for other, text in self.texts.items() if other != path})
        return document

    def _document(self, path: Path, texts: Mapping[Path, str]) -> tuple[Document | None, list[Diagnostic]]:
        with unsaved(texts):
            document, diagnostics = self.shelf(path).read_as_rulesets_do(path)
        if document is not None:
            self._saw(document)
        return document, diagnostics

    def called(self, path: Path, kind: str, id: str) -> Document | None:
        """Return the file with an id, resolved from ``path``; None if there is none."""
        with unsaved(self.texts):
            shelf = self.shelf(path)
            document = shelf.read(kind, id)[0] if shelf.find(kind, id) is not None else None
        if document is not None:
            self._saw(document)
        return document

    def _saw(self, document: Document) -> None:
        self._paths[document.file.name] = Path(os.path.abspath(document.path))
        self._read[Path(os.path.abspath(document.address))] = document

    def path_of(self, span: Span) -> Path | None:
        """Return the path of the file of a span."""
        name = span.file.name
        return self._paths.get(name) or (Path(name) if Path(name).is_absolute() else None)

    def file(self, path: Path) -> SourceFile:
        """Return the current text of a file."""
        text = self.texts.get(path)
        if text is None:
            text = path.read_text(encoding="utf-8-sig", errors="replace")
        return SourceFile(path.as_posix(), text)

    # --- rulesets

    def members(self, path: Path) -> list[tuple[Document, tuple[str, ...]]]:
        """Return the rulesets that contain a file or belong to its family, with the overlays that they need for it. For
        an invalid file, its last valid version counts."""
        return self._now(("members", path), lambda: self._find_members(path))

    def _find_members(self, path: Path) -> list[tuple[Document, tuple[str, ...]]]:
        document = self.readable(path)
        if document is None:
            return []
        shelf = self.shelf(path)
        with unsaved({**self.texts, path: document.file.text}):
            if document.kind == "ruleset":
                return [(document, ())]
            rulesets = rulesets_of(shelf)
            if document.kind in ("policies", "waivers"):
                family = document.id.partition("/")[0]
                return [(each, ()) for each in rulesets if family in [s.text for s in words(each.root.get("family"))]]
            if document.kind == "scenarios":
                items = getattr(document.root.get("is"), "items", ())
                named = {scalar.text for item in items for scalar in words(item.get("ruleset"))}
                return [(each, ()) for each in rulesets if each.id in named]
            candidates = ((each, overlays_for(shelf, each, document)) for each in rulesets)
            return [(each, tuple(overlays)) for each, overlays in candidates if overlays is not None]

    def examples(self, path: Path) -> list[tuple[Document, tuple[str, ...]]]:
        """Return the same, but of rulesets to which an overlay is the same only one."""
        return self._now(("examples", path), lambda: self._find_examples(path))

    def _find_examples(self, path: Path) -> list[tuple[Document, tuple[str, ...]]]:
        document, members = self.readable(path), self.members(path)
        if document is None or document.kind != "overlay":
            return members
        with unsaved({**self.texts, path: document.file.text}):
            added = (ruleset for ruleset, overlays in members if overlays)
            chosen = {each.id for each, _ in stacks_of(self.shelf(path), added, [document.id])}
        return [(each, overlays) for each, overlays in members if each.id in chosen or not overlays]

    def home(self, path: Path) -> Home | None:
        """Return a ruleset that contains a file: preferably without errors, else in its last version without errors,
        else with the last valid version of the file."""
        return self._now(("home", path), lambda: self._find_home(path))

    def _find_home(self, path: Path) -> Home | None:
        before = self.readable(path) if self.document(path) is None else None
        second: Home | None = None
        for ruleset, overlays in self.examples(path):
            home = self.examined(path, ruleset, overlays)
            if home.is_good:
                return home
            second = second or self._good.get(self._key(path, ruleset, overlays))
            if second is None and before is not None:
                home = self._examine(path, {**self.texts, path: before.file.text}, ruleset, overlays, tables=False)
            if second is None and home.examined.model is not None:
                second = home
        return second

    def homes(self, path: Path) -> list[Home]:
        """Return all rulesets that contain a file."""
        return [self.examined(path, document, overlays) for document, overlays in self.members(path)]

    def _key(self, path: Path, ruleset: Document, overlays: tuple[str, ...]) -> _Key:
        return ruleset.address, overlays, tuple(self.shelf(path).roots)

    def examined(self, path: Path, ruleset: Document, overlays: tuple[str, ...], *, tables: bool = False) -> Home:
        """Return the check results of a ruleset that contains the file at a path, from the cache if none of its files
        has changed. They are looked for as from that file, whose folder may be another than that of the ruleset."""
        key = self._key(path, ruleset, overlays)
        known = self._homes.get(key)
        with unsaved(self.texts):
            if known is not None and known.tables >= tables and self._is_current(known):
                return known
        self._homes[key] = self._examine(path, self.texts, ruleset, overlays, tables=tables)
        return self._homes[key]

    def _examine(
        self, path: Path, texts: Mapping[Path, str], ruleset: Document, overlays: tuple[str, ...], *, tables: bool
    ) -> Home:
        shelf = self.shelf(path)
        with unsaved(texts), remembered(self.trees):
            home = Home(ruleset, overlays, shelf, examine(shelf, ruleset, overlays, tables=tables), tables)
        for document in home.files:
            self._saw(document)
        if home.is_good:
            self._good[self._key(path, ruleset, overlays)] = home
        return home

    def _is_current(self, home: Home) -> bool:
        """Return whether all files of a check result are unchanged."""
        shelf = home.shelf

        def is_same(each: Document) -> bool:
            return self._now((each.kind, each.id, *shelf.roots), lambda: shelf.read(each.kind, each.id)[0]) is each

        return bool(home.files) and all(is_same(each) for each in home.files)

    def kept(self, document: Document) -> list[Home]:
        """Return the rulesets that contain a file, as they were examined last."""
        return [home for home in self._homes.values() if any(each.path == document.path for each in home.files)]

    def tested(self, document: Document) -> set[str]:
        """Return the statements that scenarios of the family of a file cite."""
        shelf, family = self.shelf(document.path), document.id.partition("/")[0]
        with unsaved(self.texts):
            return self._now(("tested", family), lambda: tested(shelf, family))

    # --- checking

    def check(self, path: Path) -> Iterator[dict[Path, list[Diagnostic]]]:
        """Check a file in short steps and yield all diagnostics after each, so that callers can stop early."""
        document, diagnostics = self._document(path, self.texts)
        if document is None and path not in self._read and not _OURS.search(self.file(path).text):
            diagnostics = []  # editors open any YAML
        if document is not None:
            with unsaved(self.texts), remembered(self.trees):
                diagnostics = [*diagnostics, *check_alone(document)]
        self._diagnostics[path] = diagnostics
        yield self.diagnostics(path)
        if document is None:
            return
        if document.kind in ("policies", "scenarios", "waivers"):
            with unsaved(self.texts):
                validation: Validation = validate([str(path)], trees=self.trees)
            for name, where in validation.paths.items():
                self._paths.setdefault(name, Path(os.path.abspath(where)))
            self._diagnostics["checked", path] = validation.diagnostics
            yield self.diagnostics(path)
            return
        yield from self._check_rulesets(path, tables=False)

    def _check_rulesets(self, path: Path, *, tables: bool) -> Iterator[dict[Path, list[Diagnostic]]]:
        for ruleset, overlays in self.examples(path):
            home = self.examined(path, ruleset, overlays, tables=tables)
            self._found(self._key(path, ruleset, overlays), home.examined.diagnostics)
            yield self.diagnostics(path)

    def _found(self, key: _Key, diagnostics: list[Diagnostic]) -> None:
        """Note what is wrong with a ruleset. What no longer is was mended in the others too, which are checked next."""
        mended = [each for each in self._diagnostics.get(key, ()) if each not in diagnostics]
        for other, found in self._diagnostics.items() if mended else ():
            self._diagnostics[other] = [each for each in found if each not in mended]
        self._diagnostics[key] = diagnostics

    def check_tables(self, path: Path) -> Iterator[dict[Path, list[Diagnostic]]]:
        """Run the checks that :meth:`check` leaves out because they set up tables: laws and unused names."""
        document = self.document(path)
        if document is not None and document.kind not in ("policies", "scenarios", "waivers"):
            yield from self._check_rulesets(path, tables=True)

    def diagnostics(self, path: Path) -> dict[Path, list[Diagnostic]]:
        """Return all known diagnostics by file. Those without a position are listed under ``path``."""
        by_file: dict[Path, list[Diagnostic]] = {path: []}
        for diagnostic in unique(each for diagnostics in self._diagnostics.values() for each in diagnostics):
            place = self.path_of(diagnostic.span) if diagnostic.span else path
            by_file.setdefault(place or path, []).append(diagnostic)
        return by_file
