"""Scenarios of some files, folders or rulesets, with the rulesets that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError, rendered, unique
from interpreter.engine.game import Ruleset
from interpreter.loading.load import elsewhere, find, load
from interpreter.reading.files import Document, Shelf, names_a_file, shelf_for
from interpreter.reading.ruleset_files import can_have, files_of, ids_of, players_of
from interpreter.reading.statements import Statement, statements_of
from interpreter.reading.yaml import Scalar, plain
from interpreter.testing.running import Failure, Outcome, run_scenario, wrong_refusal
from interpreter.testing.scenarios import Checked, Scenario, check_scenario, read_scenarios

__all__ = ["Load", "Suite", "suite_of"]

Load: TypeAlias = Callable[[str, tuple[str, ...], Shelf], Ruleset]


@dataclass
class Suite:
    """Scenarios and the rulesets that they name, each loaded once. Checking adds to ``diagnostics``."""

    shelf: Shelf
    scenarios: list[Scenario]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    shelves: dict[str, Shelf] = field(default_factory=dict)
    """Shelves of the rulesets named by scenario files outside ``shelf``, by file name."""
    only: frozenset[str] = frozenset()
    """The rulesets to play, if not all that the scenarios name."""
    load: Load = load
    """Load a ruleset by id, with overlays. Raises :class:`RulesetError`."""
    _rulesets: dict[tuple[str, str, tuple[str, ...]], Ruleset] = field(default_factory=dict)
    _over: dict[tuple[object, ...], list[str]] = field(default_factory=dict)
    _parts: dict[str, dict[str, tuple[set[str], list[Document]]]] = field(default_factory=dict)
    """Ids and files of each ruleset, by the first folder of its shelf."""
    _excluded: dict[tuple[str, str], list[Diagnostic]] = field(default_factory=dict)
    _checked: dict[tuple[str, str], Checked | None] = field(default_factory=dict)

    def ruleset(self, id: str, scenario: Scenario) -> Ruleset | None:
        """Return a ruleset with the overlays of a scenario, or None and a diagnostic if it has errors. If its files
        exclude each other and the scenario says so, there is no diagnostic."""
        shelf = self.shelves.get(scenario.span.file.name, self.shelf)
        key = (str(shelf.roots[0]), id, scenario.overlays)
        try:
            if key not in self._rulesets:
                self._rulesets[key] = self.load(id, scenario.overlays, shelf)
            ruleset = self._rulesets[key]
            return ruleset.for_players(scenario.keys.players or ruleset.players.usual)
        except RulesetError as error:
            if scenario.may_not_begin and {d.code for d in error.diagnostics if d.severity == "error"} == {"E505"}:
                self._excluded[scenario.id, id] = error.diagnostics
            else:
                self.diagnostics.extend(_placed_in(scenario, id, error.diagnostics, scenario.keys.with_))
            return None

    @cached_property
    def statements(self) -> dict[str, Statement]:
        """Return the statements of the rulebooks by id."""
        shelves = {str(shelf.roots[0]): shelf for shelf in (*self.shelves.values(), self.shelf)}
        return {id: said for shelf in shelves.values() for id, said in statements_of(shelf).items()}

    def checked(self, scenario: Scenario, ruleset: str) -> Checked | None:
        """Return a scenario bound to a ruleset; None if either has errors."""
        key = (scenario.id, ruleset)
        if key not in self._checked:
            loaded = self.ruleset(ruleset, scenario)
            checked, diagnostics = check_scenario(scenario, loaded) if loaded else (None, [])
            self._checked[key] = checked
            self.diagnostics.extend(_placed_in(scenario, ruleset, diagnostics))
        return self._checked[key]

    def over(self, scenario: Scenario) -> list[str]:
        """Return the rulesets (of ``only``) that take a scenario by its ``over``, overlays and players."""
        keys = scenario.keys
        if not keys.over:
            return []
        shelf = self.shelves.get(scenario.span.file.name, self.shelf)
        names = tuple(tuple(each.text for each in listed) for listed in (keys.over, keys.not_with, keys.with_))
        if (question := (str(shelf.roots[0]), names, keys.players)) not in self._over:
            parts = self._parts.setdefault(str(shelf.roots[0]), {})
            for each in shelf.documents("ruleset", sorted(self.only) or None) if not parts else ():
                parts[each.id] = {id for _, id in ids_of(shelf, each)}, files_of(shelf, each)
            self._over[question] = [id for id, (ids, files) in parts.items() if _takes(shelf, ids, files, scenario)]
        return self._over[question]

    def forms(self, ruleset: Ruleset) -> list[Ruleset]:
        """Return a ruleset, and its variants with the overlays of its scenarios and numbers of players."""
        forms: dict[tuple[str, ...], Ruleset] = {}
        for form in (made() for made in self.loads(ruleset)):
            if form is not None:
                forms.setdefault(form.overlays, form)
        return list(forms.values())

    def loads(self, ruleset: Ruleset) -> list[Callable[[], Ruleset | None]]:
        """Return what loads a ruleset as its scenarios and numbers of players play it; equal ones are loaded once."""
        numbers = (partial(ruleset.for_players, number) for number, _ in ruleset.players.overlays)
        played = (partial(self.ruleset, ruleset.id, each) for each in self.scenarios if ruleset.id in each.passes_for)
        return [lambda: ruleset, *numbers, *played]

    def bound(self, form: Ruleset, cited: set[str] | None = None) -> Iterator[Checked]:
        """Yield the scenarios that hold for a ruleset with exactly its overlays, bound to it. ``cited`` restricts them
        to scenarios that cite any of these statements."""
        for scenario in self.scenarios:
            is_cited = cited is None or cited & scenario.statements
            if is_cited and (form.id in scenario.passes_for or form.id in self.over(scenario)):
                checked = self.checked(scenario, form.id)
                if checked is not None and checked.ruleset.overlays == form.overlays:
                    yield checked

    @cached_property
    def pairs(self) -> list[tuple[Scenario, str]]:
        """Every scenario with every ruleset that it names, also by ``over``, or with those of ``only``."""
        played = ((each, dict.fromkeys((*each.rulesets, *self.over(each)))) for each in self.scenarios)
        return [(each, id) for each, ids in played for id in ids if not self.only or id in self.only]

    def outcomes(self) -> Iterator[Outcome]:
        """Run all scenarios."""
        return (self.outcome(scenario, ruleset) for scenario, ruleset in self.pairs)

    def outcome(self, scenario: Scenario, ruleset: str) -> Outcome:
        """Run a scenario. One that is expected to fail for the ruleset passes if it fails."""
        checked = self.checked(scenario, ruleset)
        if (scenario.id, ruleset) in self._excluded:
            said = "; ".join(each.message for each in self._excluded[scenario.id, ruleset])
            return Outcome(scenario, ruleset, tuple(wrong_refusal(said, [], scenario)))
        if checked is None:
            return Outcome(scenario, ruleset, (Failure(f"the scenario has errors with `{ruleset}`", scenario.span),))
        failures = run_scenario(checked).failures
        named = next((scalar for scalar in scenario.keys.fails_for if scalar.text == ruleset), None)
        if named is not None:
            passes = Failure(f"it passes for `{ruleset}`, but `fails_for` names it", named.span)
            return Outcome(scenario, ruleset, () if failures else (passes,))
        for changed in (each for each in scenario.keys.fails_with if each is not None):
            other = replace(scenario, settings={**scenario.settings, **plain(changed)})
            if run_scenario(replace(checked, scenario=other)).passed:
                message = f"it passes with {plain(changed)}, but `fails_with` names it"
                failures += (Failure(message, changed.span),)
        return Outcome(scenario, ruleset, failures)

    def messages(self) -> list[str]:
        """Return the diagnostics as text, without duplicates."""
        return rendered(unique(self.diagnostics))


def _takes(shelf: Shelf, here: set[str], files: list[Document], scenario: Scenario) -> bool:
    over, not_with = ({scalar.text for scalar in names} for names in (scenario.keys.over, scenario.keys.not_with))
    names = here.union(scenario.overlays)
    if not over & here or not_with & names:
        return False
    read = (shelf.read("overlay", id)[0] for id in scenario.overlays if id[0] not in "+-")
    added = [overlay for overlay in read if overlay is not None and overlay.id not in here]
    players = players_of([*files, *added])
    is_allowed = scenario.keys.players is None or scenario.keys.players in players
    return is_allowed and all(can_have(names - {each.id}, each) for each in added)


def _placed_in(
    scenario: Scenario, ruleset: str, diagnostics: Iterable[Diagnostic], overlays: tuple[Scalar, ...] = ()
) -> Iterator[Diagnostic]:
    """Return the errors of a scenario's ruleset with the place of its name, unless it is the scenario's own, and of the
    first overlay."""
    span = next((scalar.span for scalar in scenario.named if scalar.text == ruleset), scenario.span)
    notes = [Note("a scenario plays it with this overlay", overlay.span) for overlay in overlays[:1]]
    notes += [Note(f"for `{ruleset}`, which is named here", span)] if ruleset != scenario.ruleset else []
    return (replace(each, span=each.span or span, notes=(*each.notes, *notes)) for each in diagnostics)


def suite_of(named: Iterable[str] = (), shelf: Shelf | None = None) -> Suite:
    """Return the scenarios of the named files, folders and rulesets; all scenarios of the shelf if nothing is named."""
    names = list(named)
    places = (Path(name) if Path(name).exists() else elsewhere(name) for name in names)
    shelf = shelf or shelf_for(next(filter(None, places), None))
    only = frozenset() if any(Path(name).exists() for name in names) else frozenset(names)
    suite, own = Suite(shelf, [], only=only), dict[Path, Shelf]()
    shipped: list[Scenario] = []
    if not names or any(not Path(name).exists() for name in names):
        shipped = _read(suite, [shelf.read("scenarios", id) for id in shelf.ids("scenarios")])
    scenarios = [] if names else shipped
    for name in names:
        path = Path(name)
        if path.exists():
            files = sorted(path.rglob("scenarios/*.yaml")) or sorted(path.glob("*.yaml")) if path.is_dir() else [path]
            for file in files:
                own_shelf = own.setdefault(file.parent, shelf_for(file)) if file.is_file() else shelf
                suite.shelves[file.as_posix()] = own_shelf
                scenarios.extend(_read(suite, [own_shelf.read_path(file)]))
        elif "/" in name or names_a_file(name):
            suite.diagnostics.extend(shelf.read_path(path)[1])
        else:
            if shelf.find("ruleset", name) is None:
                suite.diagnostics.extend(find(name)[2] or shelf.read("ruleset", name)[1])
            scenarios.extend(each for each in shipped if name in each.rulesets or name in suite.over(each))
    suite.scenarios = list({scenario.id: scenario for scenario in scenarios}.values())
    return suite


def _read(suite: Suite, documents: Iterable[tuple[Document | None, list[Diagnostic]]]) -> list[Scenario]:
    scenarios: list[Scenario] = []
    for document, diagnostics in documents:
        suite.diagnostics.extend(diagnostics)
        if document is not None and document.kind == "scenarios":
            read, errors = read_scenarios(document)
            scenarios.extend(read)
            suite.diagnostics.extend(errors)
        elif document is not None:
            message = f"`{document.id}` is not a scenario file: its kind is `{document.kind}`"
            remedy = "name a ruleset by its id, or the folder of its scenarios"
            suite.diagnostics.append(Diagnostic("E036", message, document.root[document.kind].span, help=remedy))
    return scenarios
