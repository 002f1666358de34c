"""Checks behind a validation: files alone, in each ruleset that contains them, and against the files that serve these.

What is found out about each ruleset, and about a file in it, is an answer that is kept between runs. A model is made
only if an answer is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from interpreter.authoring.file_syntax import check_alone
from interpreter.authoring.validation_result import Validation
from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.base.plain_data import grouped
from interpreter.base.plurals import quoted
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.bots.policies import policies_in, policies_of, unspoken
from interpreter.engine.answers import Answers, kept_answers
from interpreter.engine.game import Ruleset
from interpreter.language.declare import declare
from interpreter.language.translations import sayable_in
from interpreter.loading.load import load, ruleset_of
from interpreter.loading.pipeline import Examined, examine, policies_below
from interpreter.loading.unused import reached
from interpreter.play.table_module import check_module
from interpreter.reading.compose import compose, only
from interpreter.reading.composition import Composition, check_references
from interpreter.reading.dependencies import Evidence, found_once, looked_at
from interpreter.reading.file_declarations import declared_in
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
    title_key,
    with_files,
)
from interpreter.reading.ruleset_files import can_have, overlays_for, rulesets_of, stacks_of
from interpreter.sections.documents import RulesetsFile, WordsFile

if TYPE_CHECKING:
    from interpreter.testing.scenarios import Scenario

__all__ = ["check_rooms", "spoken_in", "unknown_words", "validated"]

_Stack = tuple[str, tuple[str, ...]]
"""The id of a ruleset, and overlays on top of it."""
_UNKNOWN = ("E301", "E302")
"""Codes of names that do not exist, in a ruleset."""


class Result(Struct, frozen=True):
    """Result of examining a ruleset with overlays, as far as it is asked for later."""

    diagnostics: tuple[Diagnostic, ...]
    spoken: tuple[Diagnostic, ...] = ()
    """Diagnostics of the policies that serve it."""
    files: tuple[tuple[str, Path], ...] = ()
    """Name and path of each of its files; none if it cannot be composed."""
    taken: tuple[str, ...] = ()
    """Overlays that some numbers of players require."""
    has_model: bool = False
    absent: dict[tuple[str, Path], tuple[Diagnostic, ...]] = {}
    """Decisions of each policies file, by name and path, that the ruleset does not have."""

    @property
    def has_errors(self) -> bool:
        return any(each.severity == "error" for each in self.diagnostics)


def validated(
    targets: Sequence[str], overlays: Sequence[str], validation: Validation, tell: Callable[[str], object]
) -> None:
    """Validate targets and add what is found to a validation. ``tell`` is called with each ruleset before its check."""
    with ExitStack() as stack:
        validators: dict[tuple[Path, ...], _Validator] = {}

        def validator(shelf: Shelf) -> _Validator:
            roots = tuple(shelf.roots)
            if roots not in validators:
                topic = ("rulesets", str(shelf.ahead), *map(str, roots))
                answers = stack.enter_context(kept_answers(*topic))
                validators[roots] = _Validator(shelf, validation, answers, tell)
            return validators[roots]

        if not targets:
            validator(shelf_for()).everything()
        for target in targets:
            path = Path(target)
            looked_at("form", path)
            if path.is_dir():
                files = files_below(path, "*.yaml")
                if not files:
                    validation.diagnostics.append(no_file_in(path))
                for file in files:
                    validator(shelf_for(file)).path(file, overlays)
            elif path.exists() or names_a_file(target):
                validator(shelf_for(path)).path(path, overlays, at_hand=len(targets) == 1)
            elif shelf_for().find("ruleset", target) is None and (places := nearby(target)):
                for place in places:
                    validator(shelf_for(place)).path(place, overlays)
            else:
                validator(shelf_for()).id(target, overlays)


class _Validator:
    """Checks files of one shelf."""

    def __init__(self, shelf: Shelf, validation: Validation, answers: Answers, tell: Callable[[str], object]) -> None:
        self.shelf, self.validation, self.answers, self.tell = shelf, validation, answers, tell
        self.results: dict[_Stack, Result] = {}
        self.examined: dict[_Stack, tuple[Examined, Evidence]] = {}
        """Rulesets that were examined in this run, with the accesses that led to them."""
        self.loaded: dict[_Stack, tuple[Ruleset, Evidence]] = {}
        self.families: dict[str, list[tuple[Document, tuple[str, ...]]]] = {}
        """The rulesets of each family, alone and with overlays that fit."""

    @cached_property
    def rulesets(self) -> list[Document]:
        return rulesets_of(self.shelf)

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

    def path(self, path: Path, overlays: Iterable[str], *, at_hand: bool = False) -> None:
        looked_at("place", path)
        document, diagnostics = self.shelf.read_as_rulesets_do(path)
        self.report(diagnostics)
        if document is None:
            self.validation.files.add(resolved(path))
            return
        self.report(self._check_place(path, document))
        self.report(self._check_unique(document))
        self._alone(document)
        self._in_rulesets(document, overlays, at_hand=at_hand)

    def _check_place(self, path: Path, document: Document) -> Iterable[Diagnostic]:
        """Warn if others cannot find a file: it is not at the path of its id. Rulesets and scenarios are exempt."""
        if document.kind in ("ruleset", "scenarios") or self.shelf.has_at(document, path):
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

    # --- files alone, and in rulesets

    def _alone(self, document: Document) -> None:
        self.validation.saw(document)
        self.report(self.answers.to(("alone", *document.identity), lambda: check_alone(document)))

    def _in_rulesets(self, document: Document, overlays: Iterable[str] = (), *, at_hand: bool = False) -> None:
        """Check the ruleset itself, or every ruleset that contains the file or can contain it."""
        match document.kind:
            case "ruleset":
                self._result(document, overlays)
                question = ("rooms", *document.identity, *overlays)
                self.report(self.answers.to(question, lambda: self._rooms(document, tuple(overlays))))
            case "scenarios":
                self._scenarios(document)
            case "policies":
                self._policies(document)
            case "waivers":
                pass
            case "words":
                self._words(document)
            case _:
                self._part(document, overlays, at_hand=at_hand)

    def _rooms(self, document: Document, overlays: tuple[str, ...]) -> list[Diagnostic]:
        """Check that a module has room for the lists of a ruleset."""
        return list(check_rooms(with_files(self.shelf, overlays)[0], document, self._examined(document, overlays)))

    def _part(self, document: Document, overlays: Iterable[str], *, at_hand: bool) -> None:
        unknown = dict[str, set[Span | None]]()
        stacks = [
            (ruleset, (*needed, *overlays))
            for ruleset in self.rulesets
            if (needed := overlays_for(self.shelf, ruleset, document)) is not None
        ]
        if at_hand:  # the author's own rulesets come first
            own = {root: number for number, root in enumerate(self.shelf.roots[: self.shelf.ahead])}
            stacks.sort(key=lambda stack: next((own[at] for at in stack[0].path.parents if at in own), len(own)))
        for ruleset, stack in stacks:
            result = self._result(ruleset, stack)
            if result.has_model:
                unknown[ruleset.id] = {each.span for each in result.diagnostics if each.code in _UNKNOWN}
            if result.files and not result.has_errors:
                question = ("meets", *document.identity, *ruleset.identity, *stack)
                self.report(self.answers.to(question, partial(list, self._meets(document, ruleset, stack))))
            if at_hand and not self.validation.at_hand:
                self.validation.at_hand = len(self.validation.diagnostics)
        if document.kind == "rulesets":
            keys = RulesetsFile(document.root)
            for name in (*keys.maps, *keys.without):
                self.report(self.shelf.read("map", name.text, name.span)[1])
        if not stacks:
            self.validation.alone.append(document.file.name)
            self.report(check_references(self.shelf, [document]))
        self._tell_who_knows(document, unknown)

    def _tell_who_knows(self, document: Document, unknown: dict[str, set[Span | None]]) -> None:
        """Add to each unknown name in a file the rulesets that have it, as those with another board."""
        for place, each in enumerate(self.validation.diagnostics):
            if each.code in _UNKNOWN and each.span is not None and each.span.file == document.file:
                knowing = [f"`{id}`" for id, spans in unknown.items() if each.span not in spans]
                if knowing and len(knowing) < len(unknown):
                    listed = ", ".join(knowing[:MOST_LISTED]) + (", …" if len(knowing) > MOST_LISTED else "")
                    note = Note(f"some rulesets have this name ({listed}), but the file is for others too")
                    remedy = "name files in `over` that only these have" if document.kind == "overlay" else None
                    said = replace(each, notes=(*each.notes, note), help=each.help or remedy)
                    self.validation.diagnostics[place] = said

    def _meets(self, document: Document, ruleset: Document, overlays: tuple[str, ...]) -> Iterator[Diagnostic]:
        """Yield clashes of the file with other overlays that the ruleset can have, at the position in the file.

        Composes the two only if both declare the same name, together with the overlays that they mention for it.
        """
        composition = self._composition(ruleset, overlays)
        if composition is None:
            return
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
            common = own_names.keys() & other_names.keys()
            combinations = {
                tuple(sorted({own, foreign} - {"", id, document.id, *ids}))
                for name in common
                for own in own_names[name]
                for foreign in other_names[name]
            }
            for more in sorted(combinations, key=lambda names: (len(names), names)):
                stack, added = [*overlays, id, *more], (other.id, *more)
                clashes = list(self._clashes(document, ruleset, stack, added, common))
                if reported.isdisjoint(clashes):
                    reported.update(clashes)
                    yield from clashes

    def _clashes(
        self, document: Document, ruleset: Document, stack: list[str], added: tuple[str, ...], common: set[str]
    ) -> Iterator[Diagnostic]:
        """Yield clashes of a file with the first of the overlays that are ``added``, and with the others, which either
        of them mentions, over names that they have in common."""
        composition, diagnostics = compose(self.shelf, ruleset, stack)
        if any(diagnostic.code in ("E030", "E031", "E505") for diagnostic in diagnostics):
            return  # they cannot be combined
        if composition is not None:
            declare(only(composition, common), diagnostics.append)
        for clash in diagnostics:
            places = [Note("the other", clash.span), *clash.notes]
            own = next((note for note in places if note.span and note.span.file == document.file), None)
            concerns_others = any(note.span and note.span.file != document.file for note in places)
            if clash.code in ("E501", "E506") and own is not None and concerns_others:
                notes = tuple(note for note in places if note is not own)
                other, message = added[0], f"with {' and '.join(quoted(added))}, {clash.message}"
                remedy = f"say `after: [{other}]`, `layer: last` or `not_with: [{other}]`"
                if clash.code == "E501":
                    above = f"this file is on top of `{other}` and overrides its declaration"
                    remedy = f"take another name here, unless {above}"
                severity: Literal["error", "warning"] = "error" if clash.code == "E501" else "warning"
                yield Diagnostic(clash.code, message, own.span, notes, remedy, severity)

    # --- rulesets

    def _result(
        self, ruleset: Document, overlays: Iterable[str], *, taking: bool = True, known: Iterable[Diagnostic] = ()
    ) -> Result:
        """Examine a ruleset with overlays once; if ``taking``, also with those that a number of players requires.
        Laws that fail at ``known`` places are not told again."""
        key = (ruleset.id, tuple(overlays))
        if key not in self.results:
            self.tell(" with ".join((ruleset.id, *key[1])))
            question = ("examined", *ruleset.identity, *key[1])
            result = self.answers.to(question, lambda: _result_of(self.shelf, self._examined(ruleset, key[1])))
            self.results[key] = result
            self.validation.rulesets.add(ruleset.id)
            told = {(each.code, each.span) for each in known if each.code == "E414"}
            new = (each for each in result.diagnostics if (each.code, each.span) not in told)
            self.report((*new, *result.spoken))
            for name, path in result.files:
                self.validation.files.add(resolved(path))
                self.validation.paths[name] = path
        result = self.results[key]
        if taking:
            for taken in result.taken:
                self._result(ruleset, [*key[1], taken], known=result.diagnostics)
        return result

    def _examined(self, ruleset: Document, overlays: tuple[str, ...]) -> Examined:
        """Examine a ruleset with overlays, if this run has not done it yet."""

        def examined() -> Examined:
            shelf, stack, errors = with_files(self.shelf, overlays)
            examined = Examined(errors) if errors else examine(shelf, ruleset, stack, answers=self.answers)
            if examined.model is not None and not examined.errors:
                policies_below(self.shelf, examined)
            return examined

        return found_once(self.examined, (ruleset.id, overlays), examined)

    def _composition(self, ruleset: Document, overlays: tuple[str, ...]) -> Composition | None:
        """Return the composition of a ruleset with overlays."""
        if (ruleset.id, overlays) in self.examined:
            return self._examined(ruleset, overlays).composition
        shelf, stack, errors = with_files(self.shelf, overlays)
        return None if errors else compose(shelf, ruleset, stack)[0]

    def _loaded(self, id: str, overlays: tuple[str, ...], shelf: Shelf) -> Ruleset:
        """Return the ruleset of an id, cached for all scenarios. Reuses a ruleset that was examined."""
        return found_once(self.loaded, (id, overlays), lambda: self._newly_loaded((id, overlays), shelf))

    def _newly_loaded(self, key: _Stack, shelf: Shelf) -> Ruleset:
        id, overlays = key
        document, _ = shelf.read("ruleset", id)  # as evidence: it is no part of that of the examined ruleset
        composition = self.examined[key][0].composition if key in self.examined else None
        if composition is None or document is None or document not in composition.documents:
            return load(id, overlays, shelf)
        seated: dict[str, Ruleset | list[Diagnostic]] = {}
        for taken in {taken for _, taken in composition.players.overlays}.difference(overlays):
            try:
                seated[taken] = self._loaded(id, (*overlays, taken), shelf)
            except RulesetError as error:
                seated[taken] = error.diagnostics
        return ruleset_of(shelf, document, self._examined(document, overlays), seated=seated)

    # --- files that serve rulesets

    def _scenarios(self, document: Document) -> None:
        """Check scenarios against each ruleset that they name."""
        from interpreter.testing.scenarios import read_scenarios
        from interpreter.testing.suite import Suite

        def checked(pairs: list[tuple[Scenario, str]]) -> list[list[Diagnostic]]:
            suite, found = Suite(self.shelf, scenarios, load=self._loaded), []
            for scenario, ruleset in pairs:
                suite.checked(scenario, ruleset)
                found.append(suite.diagnostics)
                suite.diagnostics = []
            return found

        scenarios, diagnostics = read_scenarios(document)
        self.report(diagnostics)
        pairs = [(scenario, ruleset) for scenario in scenarios for ruleset in scenario.rulesets]
        groups = grouped(((ruleset, scenario.overlays), (scenario, ruleset)) for scenario, ruleset in pairs)
        found: dict[_Stack, Iterator[list[Diagnostic]]] = {}
        for (ruleset, overlays), group in groups.items():
            question = ("scenarios", *document.identity, ruleset, *overlays)
            found[ruleset, overlays] = iter(self.answers.to(question, partial(checked, group)))
        for scenario, ruleset in pairs:
            self.report(next(found[ruleset, scenario.overlays]))

    def _policies(self, document: Document) -> None:
        """Check policies against each ruleset of the family. Report decisions that none of them has."""
        absent: list[set[Diagnostic]] = []
        for ruleset, overlays in self._family(document):
            result = self._result(ruleset, overlays, taking=bool(overlays))
            if result.has_model and not result.has_errors:
                its = result.absent.get((document.file.name, document.path))
                if its is None:  # it lies elsewhere, or has errors
                    its, diagnostics = self._elsewhere(document, ruleset, overlays)
                    self.report(diagnostics)
                absent.append(set(its))
        if absent:
            self.report(set.intersection(*absent))

    def _elsewhere(
        self, document: Document, ruleset: Document, overlays: tuple[str, ...]
    ) -> tuple[tuple[Diagnostic, ...], list[Diagnostic]]:
        """Check policies that are none of the family's files. Return absent decisions, and other diagnostics."""

        def checked() -> tuple[tuple[Diagnostic, ...], list[Diagnostic]]:
            examined = self._examined(ruleset, overlays)
            assert examined.model is not None
            found = policies_in(examined.model, document, examined.statements)
            return tuple(found.absent), found.diagnostics

        return self.answers.to(("policies", *document.identity, *ruleset.identity, *overlays), checked)

    def _words(self, document: Document) -> None:
        """Check a words file against each ruleset of the family. Report names that none of them has."""
        stacks = self._family(document)
        results = [self._result(ruleset, overlays, taking=bool(overlays)) for ruleset, overlays in stacks]
        if not any(result.has_errors for result in results):  # an invalid ruleset may have the name
            family, kinds = document.id.partition("/")[0], ("family", "edition", "map", "overlay", "policies")
            files = ((kind, id) for kind in kinds for id in self.shelf.ids(kind) if id.partition("/")[0] == family)
            sayable = [self._sayable(ruleset, overlays) for ruleset, overlays in stacks]
            self.report(unknown_words(document, [*sayable, [title_key(*file) for file in files]] if sayable else []))

    def _sayable(self, ruleset: Document, overlays: tuple[str, ...]) -> list[str]:
        """Return the names for which a words file can have texts."""

        def names() -> str:
            model = self._examined(ruleset, overlays).model
            return "\n".join(sayable_in(model)) if model is not None else ""

        question = ("sayable", *ruleset.identity, *overlays)
        return self.answers.to(question, names).splitlines()  # one text is kept in less time than a list

    def _family(self, document: Document) -> list[tuple[Document, tuple[str, ...]]]:
        """Return the rulesets of a file's family, each alone, then with overlays that fit. A ruleset alone is examined
        without those that it takes: each of them fits it, too."""
        name = document.id.partition("/")[0]
        if name not in self.families:
            rulesets = [each for each in self.rulesets if word(each.head.family) == name]
            stacks = ((ruleset, (overlay.id,)) for ruleset, overlay in stacks_of(self.shelf, rulesets))
            self.families[name] = [*((ruleset, ()) for ruleset in rulesets), *stacks]
        return self.families[name]


def _result_of(shelf: Shelf, examined: Examined) -> Result:
    """Return what is asked of an examined ruleset later."""
    composition, is_sound = examined.composition, examined.model is not None and not examined.errors
    absent = {
        (read.file.name, read.path): tuple(checked.absent)
        for checked in (policies_below(shelf, examined) if is_sound else ())
        if (read := checked.document) is not None
    }
    return Result(
        tuple(examined.diagnostics),
        tuple(spoken_in(shelf, examined)) if is_sound else (),
        tuple((file.file.name, file.path) for file in composition.documents) if composition is not None else (),
        tuple(taken for _, taken in composition.players.overlays) if composition is not None else (),
        examined.model is not None,
        absent,
    )


def unknown_words(document: Document, sayable: Sequence[Iterable[str]]) -> Iterator[Diagnostic]:
    """Yield an error for each name in a words file that no ruleset of the family has."""
    if not sayable:
        return
    known = {name for names in sayable for name in names}
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
        ruleset = ruleset_of(shelf, document, examined, seated={})
        yield from check_module(ruleset, ruleset.table(max(numbers), ruleset.settings({})))


def spoken_in(shelf: Shelf, examined: Examined) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the policies that serve a valid ruleset; if they have no errors, also one for each
    decision for which a policy has no lines."""
    if examined.model is None or examined.composition is None or examined.reach is None:
        return
    files = policies_below(shelf, examined)
    for checked in files:
        yield from checked.diagnostics
    if not any(checked.diagnostics for checked in files):
        policies = policies_of(examined.model, examined.composition, files).policies
        yield from unspoken(examined.model, policies, reached(examined.model, examined.reach, policies.values()))
