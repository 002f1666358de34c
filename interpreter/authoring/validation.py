"""Checking files and rulesets: what is named, what contains it, and all that is wrong with either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from interpreter.authoring.file_syntax import check_alone
from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.suggest import did_you_mean
from interpreter.compiler.unused import reached
from interpreter.engine.cache import kept_trees
from interpreter.engine.pipeline import Examined, examine
from interpreter.engine.ruleset import Ruleset, load, ruleset_of
from interpreter.language.declare import declare
from interpreter.language.model import Model
from interpreter.language.parse import Trees, remembered
from interpreter.language.policies import Checked, policies_files, policies_in, policies_of, unspoken
from interpreter.language.translations import sayable_in
from interpreter.reading.compose import Composition, check_references, compose, declared_in, words
from interpreter.reading.files import (
    KINDS,
    Document,
    Shelf,
    files_below,
    names_a_file,
    nearby,
    place_of,
    resolved,
    shelf_for,
    with_files,
)
from interpreter.reading.ruleset_files import can_have, overlays_for, rulesets_of
from interpreter.reading.yaml import Mapping

__all__ = ["Validation", "unknown_words", "unspoken_in", "validate"]


@dataclass
class Validation:
    """Result of a validation: what was checked and its diagnostics. ``paths`` are by the names that diagnostics use."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    rulesets: set[str] = field(default_factory=set)
    paths: dict[str, Path] = field(default_factory=dict)
    alone: list[str] = field(default_factory=list)
    """Files that are a part of rulesets, though no ruleset that was found contains them: they were checked alone."""

    def saw(self, document: Document) -> None:
        self.files.add(resolved(document.path))
        self.paths[document.file.name] = document.path


def validate(targets: Sequence[str], overlays: Iterable[str] = (), trees: Trees | None = None) -> Validation:
    """Checks what is named, by path or id, a folder with all files below it; everything where nothing is."""
    with no_search(), kept_trees() if trees is None else remembered(trees):
        return _validated(targets, overlays)


def _validated(targets: Sequence[str], overlays: Iterable[str]) -> Validation:
    validation = Validation()
    validators: dict[tuple[Path, ...], _Validator] = {}

    def validator(shelf: Shelf) -> _Validator:
        return validators.setdefault(tuple(shelf.roots), _Validator(shelf, validation))

    if not targets:
        validator(shelf_for()).everything()
    for target in targets:
        path = Path(target)
        if path.is_dir():
            files = files_below(path, "*.yaml")
            if not files:
                message = f"no `.yaml` file lies in the folder `{path.as_posix()}`"
                validation.diagnostics.append(Diagnostic("E030", message, None))
            for file in files:
                validator(shelf_for(file)).path(file, overlays)
        elif path.exists() or names_a_file(target):
            validator(shelf_for(path)).path(path, overlays)
        elif shelf_for().find("ruleset", target) is None and (places := nearby(target)):
            for place in places:
                validator(shelf_for(place)).path(place, overlays)
        else:
            validator(shelf_for()).id(target, overlays)
    return validation


class _Validator:
    """Checks files of one shelf."""

    def __init__(self, shelf: Shelf, validation: Validation) -> None:
        self.shelf, self.validation = shelf, validation
        self.examined: dict[tuple[str, tuple[str, ...]], Examined] = {}
        self.loaded: dict[tuple[str, tuple[str, ...]], Ruleset] = {}

    def report(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.validation.diagnostics.extend(diagnostics)

    # --- what is named

    def everything(self) -> None:
        for kind in KINDS:
            for id in self.shelf.ids(kind):
                document, found = self.shelf.read(kind, id)
                self.report(found)
                if document is not None:
                    self._alone(document)
                    if kind in ("ruleset", "overlay", "policies", "scenarios", "words"):
                        self._in_rulesets(document)

    def path(self, path: Path, overlays: Iterable[str]) -> None:
        document, found = self.shelf.read_path(path)
        if document is None:
            self.validation.files.add(resolved(path))
            self.report(found)
            return
        document, found = self._as_on_the_shelf(document, found)
        self.report(found)
        self.report(self._check_place(path, document))
        self._alone(document)
        self._in_rulesets(document, overlays)

    def _check_place(self, path: Path, document: Document) -> Iterable[Diagnostic]:
        """A file that others find by its id lies where its id says; rulesets and scenarios are named by their paths."""
        place = self.shelf.find(document.kind, document.id)
        if document.kind in ("ruleset", "scenarios") or (place is not None and resolved(place) == resolved(path)):
            return
        message = f"`{document.id}` is looked for in `{place_of(document.kind, document.id)}` of a folder of rulesets"
        remedy = "this file lies elsewhere, so no other file finds it"
        yield Diagnostic("W001", message, document.root[document.kind].span, help=remedy, severity="warning")

    def id(self, id: str, overlays: Iterable[str]) -> None:
        kinds = [kind for kind in KINDS if place_of(kind, id) is not None and self.shelf.find(kind, id) is not None]
        if not kinds and "/" in id:  # it may as well be a path
            hint = did_you_mean(id, [known for kind in KINDS for known in self.shelf.ids(kind) if "/" in known])
            self.report([Diagnostic("E030", f"no file or folder `{id}`, and no file has this id{hint}", None)])
            return
        document, found = self.shelf.read(kinds[0] if kinds else "ruleset", id)
        self.report(found)
        if document is not None:
            self._alone(document)
            self._in_rulesets(document, overlays)

    def _as_on_the_shelf(self, document: Document, found: list[Diagnostic]) -> tuple[Document, list[Diagnostic]]:
        """The same file by its id, if it lies where its id says: its places are then named as in its rulesets."""
        place = self.shelf.find(document.kind, document.id)
        if place is None or resolved(place) != resolved(document.path):
            return document, found
        again, diagnostics = self.shelf.read(document.kind, document.id)
        return (again, diagnostics) if again is not None else (document, found)

    # --- alone, and in what contains it

    def _alone(self, document: Document) -> None:
        self.validation.saw(document)
        self.report(check_alone(document))

    def _in_rulesets(self, document: Document, overlays: Iterable[str] = ()) -> None:
        """The ruleset itself, or every ruleset of which the file is, or can be, a part."""
        match document.kind:
            case "ruleset":
                self._examined(document, overlays)
            case "scenarios":
                self._scenarios(document)
            case "policies":
                self._policies(document)
            case "waivers":
                pass
            case "words":
                self._words(document)
            case _:
                self._part(document, overlays)

    def _part(self, document: Document, overlays: Iterable[str]) -> None:
        contained = False
        for ruleset in rulesets_of(self.shelf):
            wanted = overlays_for(self.shelf, ruleset, document)
            if wanted is not None:
                contained = True
                examined = self._examined(ruleset, [*wanted, *overlays])
                if examined.composition is not None and not examined.errors:
                    self._meets(document, ruleset, [*wanted, *overlays], examined.composition)
        if not contained:
            self.validation.alone.append(document.file.name)
            self.report(check_references(self.shelf, [document]))

    def _meets(self, document: Document, ruleset: Document, overlays: list[str], here: Composition) -> None:
        """Names that the file shares with an overlay that somebody may stack on the ruleset, told at the file's own.

        Only where both files say something of one name are they composed, with the overlays for which they do.
        """
        mine, ids = declared_in(document), {each.id for each in here.documents}
        below = [declared_in(each) for each in here.documents if each.id != document.id]
        told: set[Diagnostic] = set()
        for id in self.shelf.ids("overlay"):
            other, _ = self.shelf.read("overlay", id)
            if other is None or other.misfits or not can_have(ids, other):
                continue
            theirs = declared_in(other)
            for declared in below:  # what files that are here say for the overlay
                theirs.update((name, {""}) for name, files in declared.items() if id in files)
            beside = {
                tuple(sorted({own, its} - {"", id, document.id, *ids}))
                for name in mine.keys() & theirs.keys()
                for own in mine[name]
                for its in theirs[name]
            }
            for more in sorted(beside, key=lambda names: (len(names), names)):
                if not told.isdisjoint(found := list(self._clashes(document, other, ruleset, [*overlays, id], more))):
                    continue
                told.update(found)
                self.report(found)

    def _clashes(
        self, document: Document, other: Document, ruleset: Document, overlays: list[str], more: tuple[str, ...]
    ) -> Iterator[Diagnostic]:
        """Check a file together with an overlay, and with ``more`` overlays that either of them mentions."""
        asked = [*overlays, *more]
        composition, found = compose(self.shelf, ruleset, asked)
        if any(wrong.code in ("E030", "E031", "E505") for wrong in found):
            return  # these do not stand together
        if composition is not None:
            declare(composition, found.append)
        for clash in found:
            places = [Note("the other", clash.span), *clash.notes]
            own = next((note for note in places if note.span and note.span.file is document.file), None)
            beside = any(each.span and each.span.file is not document.file for each in places)
            if clash.code in ("E501", "E506") and own is not None and beside:
                notes = tuple(each for each in places if each is not own)
                with_ = " and ".join(f"`{each}`" for each in (other.id, *more))
                remedy = f"take another name here, unless this lies over `{other.id}` and covers what that declares"
                if clash.code == "E506":
                    remedy = f"say `after: [{other.id}]`, `layer: last` or `not_with: [{other.id}]`"
                message = f"with {with_}, {clash.message}"
                severity: Literal["error", "warning"] = "error" if clash.code == "E501" else "warning"
                yield Diagnostic(clash.code, message, own.span, notes, remedy, severity)

    def _examined(self, ruleset: Document, overlays: Iterable[str]) -> Examined:
        key = (ruleset.id, tuple(overlays))
        if key in self.examined:
            return self.examined[key]
        shelf, asked, wrong = with_files(self.shelf, key[1])
        examined = Examined(wrong) if wrong else examine(shelf, ruleset, asked)
        self.examined[key] = examined
        self.report(examined.diagnostics)
        self.validation.rulesets.add(ruleset.id)
        if examined.composition is not None:
            for document in examined.composition.documents:
                self.validation.saw(document)
            if examined.model is not None and not examined.errors:
                self.report(unspoken_in(self.shelf, examined))
            for _, taken in examined.composition.players.overlays:
                self._examined(ruleset, [*key[1], taken])
        return examined

    def _scenarios(self, document: Document) -> None:
        """Scenarios against each ruleset of which they speak; what is wrong with their form was told already."""
        from interpreter.testing.scenarios import read_scenarios
        from interpreter.testing.suite import Suite

        scenarios, _ = read_scenarios(document)
        suite = Suite(self.shelf, scenarios, load=self._loaded)
        for scenario, ruleset in suite.pairs:
            suite.checked(scenario, ruleset)
        self.report(suite.diagnostics)

    def _loaded(self, id: str, overlays: tuple[str, ...], shelf: Shelf) -> Ruleset:
        """The ruleset of an id, loaded once for all scenarios; one that was examined is not examined again."""
        key = (id, overlays)
        if key not in self.loaded:
            examined = self.examined.get(key)
            if examined is None or (composition := examined.composition) is None:
                self.loaded[key] = load(id, overlays, shelf)
            else:
                document = next(each for each in composition.documents if each.kind == "ruleset")
                more = [(taken, (*overlays, taken)) for _, taken in composition.players.overlays]
                taking = {taken: self._loaded(id, ids, shelf) for taken, ids in more if (id, ids) in self.examined}
                self.loaded[key] = ruleset_of(shelf, document, examined, taking=taking)
        return self.loaded[key]

    def _policies(self, document: Document) -> None:
        """Policies against each ruleset of the family. A decision that none of them has is a mistake."""
        absent: list[set[Diagnostic]] = []
        for examined in self._family(document, each=True):
            if examined.model is not None and not examined.errors:
                checked = policies_in(examined.model, document, examined.statements)
                self.report(checked.diagnostics)
                absent.append(set(checked.absent))
        if absent:
            self.report(set.intersection(*absent))

    def _words(self, document: Document) -> None:
        """Words of a language against each ruleset of the family. A name that none of them has is a mistake."""
        family = list(self._family(document, each=False))
        if not any(examined.errors for examined in family):  # what cannot be read may have the name
            self.report(unknown_words(document, [examined.model for examined in family]))

    def _family(self, document: Document, *, each: bool) -> Iterator[Examined]:
        """The rulesets of a file's family, each alone, and each overlay with every ruleset that can have it, or with
        one of them."""
        stacked: set[str] = set()
        for ruleset in rulesets_of(self.shelf):
            family = [scalar.text for scalar in words(ruleset.root.get("family"))]
            if family != [document.id.partition("/")[0]]:
                continue
            yield self._examined(ruleset, [])
            for id in self.shelf.ids("overlay"):
                overlay, _ = self.shelf.read("overlay", id)
                wanted = overlays_for(self.shelf, ruleset, overlay) if overlay is not None else None
                if wanted and (each or id not in stacked):
                    stacked.add(id)
                    yield self._examined(ruleset, wanted)


def unknown_words(document: Document, models: Sequence[Model | None]) -> Iterator[Diagnostic]:
    """Names in a file of words that no ruleset of the family has."""
    given = document.root.get("is")
    if not models or not isinstance(given, Mapping):
        return
    known = {name for model in models if model is not None for name in sayable_in(model)}
    for entry in given.entries:
        if entry.key.text not in known:
            message = f"unknown name `{entry.key.text}`{did_you_mean(entry.key.text, known)}"
            yield Diagnostic("E301", message, entry.key.span)


def unspoken_in(shelf: Shelf, examined: Examined) -> Iterator[Diagnostic]:
    """Decisions of a ruleset without errors for which policies that serve it have no lines."""
    if examined.model is None or examined.composition is None or examined.reach is None:
        return
    files = [
        policies_in(examined.model, document, examined.statements)
        if document is not None
        else Checked(diagnostics=wrong)
        for document, wrong in policies_files(shelf, examined.composition.family)
    ]
    policies = policies_of(examined.model, examined.composition, files).policies
    yield from unspoken(examined.model, policies, reached(examined.model, examined.reach, policies.values()))
