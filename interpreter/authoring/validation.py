"""Validation of files and rulesets: the named files, and the rulesets that contain them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from interpreter.authoring.file_syntax import check_alone
from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.engine.cache import kept_trees
from interpreter.engine.pipeline import Examined, examine, family_policies
from interpreter.engine.ruleset import Ruleset, load, ruleset_of
from interpreter.engine.unused import reached
from interpreter.language.declare import declare
from interpreter.language.model import Model
from interpreter.language.parse import Trees, remembered
from interpreter.language.policies import policies_in, policies_of, unspoken
from interpreter.language.translations import sayable_in
from interpreter.play.table_module import check_module
from interpreter.reading.compose import Composition, check_references, compose, declared_in
from interpreter.reading.files import (
    KINDS,
    MOST_LISTED,
    Document,
    Shelf,
    files_below,
    names_a_file,
    nearby,
    no_file_in,
    place_of,
    resolved,
    several,
    shelf_for,
    with_files,
)
from interpreter.reading.ruleset_files import can_have, overlays_for, rulesets_of, stacks_of
from interpreter.sections.documents import WordsFile

__all__ = ["Validation", "check_rooms", "spoken_in", "unknown_words", "validate"]

_UNKNOWN = ("E301", "E302")
"""Codes of names that do not exist, in a ruleset."""


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
    tell: Callable[[str], object] = str
    """Called with the name of each ruleset before it is checked, as progress."""

    def saw(self, document: Document) -> None:
        self.files.add(resolved(document.path))
        self.paths[document.file.name] = document.path


def validate(
    targets: Sequence[str],
    overlays: Iterable[str] = (),
    trees: Trees | None = None,
    tell: Callable[[str], object] = str,
) -> Validation:
    """Validate targets, named by path or id, and all files below folders. Without targets, validate everything."""
    with no_search(), kept_trees() if trees is None else remembered(trees):
        return _validated(targets, overlays, Validation(tell=tell))


def _validated(targets: Sequence[str], overlays: Iterable[str], validation: Validation) -> Validation:
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
                validation.diagnostics.append(no_file_in(path))
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

    # --- targets

    def everything(self) -> None:
        for kind in KINDS:
            for id in self.shelf.ids(kind):
                document, diagnostics = self.shelf.read(kind, id)
                self.report(diagnostics)
                if document is not None:
                    self._alone(document)
                    if kind in ("ruleset", "overlay", "policies", "scenarios", "words"):
                        self._in_rulesets(document)

    def path(self, path: Path, overlays: Iterable[str]) -> None:
        document, diagnostics = self.shelf.read_path(path)
        if document is None:
            self.validation.files.add(resolved(path))
            self.report(diagnostics)
            return
        document, diagnostics = self._as_on_the_shelf(document, diagnostics)
        self.report(diagnostics)
        self.report(self._check_place(path, document))
        self.report(self._check_unique(document))
        self._alone(document)
        self._in_rulesets(document, overlays)

    def _check_place(self, path: Path, document: Document) -> Iterable[Diagnostic]:
        """Warn if a file is not at the path of its id, so that others cannot find it. Rulesets and scenarios are
        exempt."""
        place = self.shelf.find(document.kind, document.id)
        if document.kind in ("ruleset", "scenarios") or (place is not None and resolved(place) == resolved(path)):
            return
        message = f"`{document.id}` is looked for in `{place_of(document.kind, document.id)}` of a folder of rulesets"
        remedy = "move it there; no other file finds it here"
        yield Diagnostic("W001", message, document.root[document.kind].span, help=remedy, severity="warning")

    def _check_unique(self, document: Document) -> Iterable[Diagnostic]:
        """Report an id of several files, as commands that are given the id do."""
        kind, id = document.kind, document.id
        if kind == "ruleset" and shelf_for().find(kind, id) is None:
            places = nearby(id)
            if resolved(document.path) in map(resolved, places):
                return [several(kind, id, places)] if len(places) > 1 else []
        return [each for each in self.shelf.read(kind, id)[1] if each.code == "E037"]

    def id(self, id: str, overlays: Iterable[str]) -> None:
        kinds = [kind for kind in KINDS if place_of(kind, id) is not None and self.shelf.find(kind, id) is not None]
        if not kinds and "/" in id:  # it may also be a path
            hint = did_you_mean(id, [known for kind in KINDS for known in self.shelf.ids(kind) if "/" in known])
            self.report([Diagnostic("E030", f"no file or folder `{id}`, and no file has this id{hint}", None)])
            return
        document, diagnostics = self.shelf.read(kinds[0] if kinds else "ruleset", id)
        self.report(diagnostics)
        if document is not None:
            self._alone(document)
            self._in_rulesets(document, overlays)

    def _as_on_the_shelf(self, document: Document, diagnostics: list[Diagnostic]) -> tuple[Document, list[Diagnostic]]:
        """Return the file as read by its id, if it is at the path of its id, so that positions are named as in its
        rulesets."""
        place = self.shelf.find(document.kind, document.id)
        if place is None or resolved(place) != resolved(document.path):
            return document, diagnostics
        again, its_diagnostics = self.shelf.read(document.kind, document.id)
        return (again, its_diagnostics) if again is not None else (document, diagnostics)

    # --- files alone, and in rulesets

    def _alone(self, document: Document) -> None:
        self.validation.saw(document)
        self.report(check_alone(document))

    def _in_rulesets(self, document: Document, overlays: Iterable[str] = ()) -> None:
        """Check the ruleset itself, or every ruleset that contains the file or can contain it."""
        match document.kind:
            case "ruleset":
                examined = self._examined(document, overlays)
                self.report(check_rooms(with_files(self.shelf, overlays)[0], document, examined))
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
        contained, unknown = False, dict[str, set[Span | None]]()
        for ruleset in rulesets_of(self.shelf):
            needed = overlays_for(self.shelf, ruleset, document)
            if needed is not None:
                contained = True
                examined = self._examined(ruleset, [*needed, *overlays])
                if examined.model is not None:
                    unknown[ruleset.id] = {each.span for each in examined.diagnostics if each.code in _UNKNOWN}
                if examined.composition is not None and not examined.errors:
                    self._meets(document, ruleset, [*needed, *overlays], examined.composition)
        if not contained:
            self.validation.alone.append(document.file.name)
            self.report(check_references(self.shelf, [document]))
        self._tell_who_knows(document, unknown)

    def _tell_who_knows(self, document: Document, unknown: dict[str, set[Span | None]]) -> None:
        """Add to each unknown name in a file the rulesets that have it, as those with another board."""
        for place, each in enumerate(self.validation.diagnostics):
            if each.code in _UNKNOWN and each.span is not None and each.span.file is document.file:
                knowing = [f"`{id}`" for id, spans in unknown.items() if each.span not in spans]
                if knowing and len(knowing) < len(unknown):
                    listed = ", ".join(knowing[:MOST_LISTED]) + (", …" if len(knowing) > MOST_LISTED else "")
                    note = Note(f"some rulesets have this name ({listed}), but the file is for others too")
                    remedy = each.help or (
                        "name files in `over` that only these have" if document.kind == "overlay" else None
                    )
                    self.validation.diagnostics[place] = replace(each, notes=(*each.notes, note), help=remedy)

    def _meets(self, document: Document, ruleset: Document, overlays: list[str], composition: Composition) -> None:
        """Report clashes of the file with other overlays that the ruleset can have, at the position in the file.

        Composes the two only if both declare the same name, together with the overlays that they mention for it.
        """
        own_names, ids = declared_in(document), {part.id for part in composition.documents}
        below = [declared_in(part) for part in composition.documents if part.id != document.id]
        reported: set[Diagnostic] = set()
        for id in self.shelf.ids("overlay"):
            other, _ = self.shelf.read("overlay", id)
            if other is None or other.misfits or not can_have(ids, other):
                continue
            other_names = declared_in(other)
            for declared in below:  # names that files of the ruleset declare for the overlay
                other_names.update((name, {""}) for name, files in declared.items() if id in files)
            combinations = {
                tuple(sorted({own, foreign} - {"", id, document.id, *ids}))
                for name in own_names.keys() & other_names.keys()
                for own in own_names[name]
                for foreign in other_names[name]
            }
            for more in sorted(combinations, key=lambda names: (len(names), names)):
                if not reported.isdisjoint(
                    clashes := list(self._clashes(document, other, ruleset, [*overlays, id], more))
                ):
                    continue
                reported.update(clashes)
                self.report(clashes)

    def _clashes(
        self, document: Document, other: Document, ruleset: Document, overlays: list[str], more: tuple[str, ...]
    ) -> Iterator[Diagnostic]:
        """Yield clashes of a file with an overlay, and with ``more`` overlays that either of them mentions."""
        stack = [*overlays, *more]
        composition, diagnostics = compose(self.shelf, ruleset, stack)
        if any(diagnostic.code in ("E030", "E031", "E505") for diagnostic in diagnostics):
            return  # they cannot be combined
        if composition is not None:
            declare(composition, diagnostics.append)
        for clash in diagnostics:
            places = [Note("the other", clash.span), *clash.notes]
            own = next((note for note in places if note.span and note.span.file is document.file), None)
            concerns_others = any(note.span and note.span.file is not document.file for note in places)
            if clash.code in ("E501", "E506") and own is not None and concerns_others:
                notes = tuple(note for note in places if note is not own)
                with_ = " and ".join(f"`{id}`" for id in (other.id, *more))
                remedy = (
                    f"take another name here, unless this file is on top of `{other.id}` and overrides its declaration"
                )
                if clash.code == "E506":
                    remedy = f"say `after: [{other.id}]`, `layer: last` or `not_with: [{other.id}]`"
                message = f"with {with_}, {clash.message}"
                severity: Literal["error", "warning"] = "error" if clash.code == "E501" else "warning"
                yield Diagnostic(clash.code, message, own.span, notes, remedy, severity)

    def _examined(self, ruleset: Document, overlays: Iterable[str], *, taking: bool = True) -> Examined:
        """Examine a ruleset with overlays once; if ``taking``, also with those that a number of players requires."""
        key = (ruleset.id, tuple(overlays))
        if key not in self.examined:
            self.examined[key] = self._newly_examined(ruleset, key[1])
        examined = self.examined[key]
        if taking and examined.composition is not None:
            for _, taken in examined.composition.players.overlays:
                self._examined(ruleset, [*key[1], taken])
        return examined

    def _newly_examined(self, ruleset: Document, overlays: tuple[str, ...]) -> Examined:
        self.validation.tell(" with ".join((ruleset.id, *overlays)))
        shelf, stack, errors = with_files(self.shelf, overlays)
        examined = Examined(errors) if errors else examine(shelf, ruleset, stack)
        self.report(examined.diagnostics)
        self.validation.rulesets.add(ruleset.id)
        if examined.composition is not None:
            for document in examined.composition.documents:
                self.validation.saw(document)
            if examined.model is not None and not examined.errors:
                self.report(spoken_in(self.shelf, examined))
        return examined

    def _scenarios(self, document: Document) -> None:
        """Check scenarios against each ruleset that they name."""
        from interpreter.testing.scenarios import read_scenarios
        from interpreter.testing.suite import Suite

        scenarios, diagnostics = read_scenarios(document)
        suite = Suite(self.shelf, scenarios, load=self._loaded)
        for scenario, ruleset in suite.pairs:
            suite.checked(scenario, ruleset)
        self.report([*diagnostics, *suite.diagnostics])

    def _loaded(self, id: str, overlays: tuple[str, ...], shelf: Shelf) -> Ruleset:
        """Return the ruleset of an id, cached for all scenarios. Reuses a ruleset that was examined."""
        key = (id, overlays)
        if key not in self.loaded:
            examined = self.examined.get(key)
            if examined is None or (composition := examined.composition) is None:
                self.loaded[key] = load(id, overlays, shelf)
            else:
                document = next(part for part in composition.documents if part.kind == "ruleset")
                more = [(taken, (*overlays, taken)) for _, taken in composition.players.overlays]
                taking = {taken: self._loaded(id, ids, shelf) for taken, ids in more if (id, ids) in self.examined}
                self.loaded[key] = ruleset_of(shelf, document, examined, taking=taking)
        return self.loaded[key]

    def _policies(self, document: Document) -> None:
        """Check policies against each ruleset of the family. Report decisions that none of them has."""
        absent: list[set[Diagnostic]] = []
        for examined in self._family(document):
            if examined.model is not None and not examined.errors:
                files = family_policies(self.shelf, examined)
                checked = next((checked for read, checked in files if read is document), None)
                if checked is None:  # it lies elsewhere, or has errors
                    checked = policies_in(examined.model, document, examined.statements)
                    self.report(checked.diagnostics)
                absent.append(set(checked.absent))
        if absent:
            self.report(set.intersection(*absent))

    def _words(self, document: Document) -> None:
        """Check a words file against each ruleset of the family. Report names that none of them has."""
        family = list(self._family(document))
        if not any(examined.errors for examined in family):  # an invalid ruleset may have the name
            self.report(unknown_words(document, [examined.model for examined in family]))

    def _family(self, document: Document) -> Iterator[Examined]:
        """Yield the rulesets of a file's family, each alone, then with overlays that fit."""
        name = document.id.partition("/")[0]
        rulesets = [each for each in rulesets_of(self.shelf) if word(each.head.family) == name]
        for ruleset in rulesets:
            yield self._examined(ruleset, [], taking=False)  # each overlay that it takes fits it, too
        for ruleset, overlay in stacks_of(self.shelf, rulesets):
            yield self._examined(ruleset, [overlay.id])


def unknown_words(document: Document, models: Sequence[Model | None]) -> Iterator[Diagnostic]:
    """Yield an error for each name in a words file that no ruleset of the family has."""
    if not models:
        return
    known = {name for model in models if model is not None for name in sayable_in(model)}
    for key, _ in WordsFile(document.root).is_:
        if key.text not in known:
            yield Diagnostic("E301", f"unknown name `{key.text}`{did_you_mean(key.text, known)}", key.span)


def check_rooms(shelf: Shelf, document: Document, examined: Examined) -> Iterator[Diagnostic]:
    """Check whether a ruleset without errors fits into a module, with as many players as need no further overlay."""
    if examined.errors or examined.composition is None or examined.program is None:
        return
    players = examined.composition.players
    numbers = {*range(players.low, players.high + 1)}.difference(number for number, _ in players.overlays)
    if numbers:
        ruleset = ruleset_of(shelf, document, examined)
        yield from check_module(ruleset, ruleset.table(max(numbers), ruleset.settings({})))


def spoken_in(shelf: Shelf, examined: Examined) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the policies that serve a valid ruleset; if they have no errors, also one for each
    decision for which a policy has no lines."""
    if examined.model is None or examined.composition is None or examined.reach is None:
        return
    files = [checked for _, checked in family_policies(shelf, examined)]
    for checked in files:
        yield from checked.diagnostics
    if not any(checked.diagnostics for checked in files):
        policies = policies_of(examined.model, examined.composition, files).policies
        yield from unspoken(examined.model, policies, reached(examined.model, examined.reach, policies.values()))
