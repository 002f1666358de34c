"""Pipeline of checks: all passes up to lowering, in order, and the laws of tables.

Only a load that the cache knows nothing of comes here, and whoever wants diagnostics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.compiler.constants import Env, RuleFailure
from interpreter.compiler.facts import Reach
from interpreter.compiler.lower import Program, lower
from interpreter.compiler.reach import check_reach, reach_of
from interpreter.compiler.unused import unused
from interpreter.engine.failing_values import Because
from interpreter.engine.setup import Setup, default_settings, set_up
from interpreter.engine.values import Names
from interpreter.language import core
from interpreter.language.check import check
from interpreter.language.model import Law, Model
from interpreter.language.policies import Checked, policies_files, policies_in, policies_of
from interpreter.language.types import BOOL
from interpreter.language.walk import descendants
from interpreter.reading.compose import Composition, compose
from interpreter.reading.dependencies import looked_at
from interpreter.reading.files import Document, Shelf, files_below, resolved
from interpreter.reading.statements import Statement, check_statements, statements_of
from interpreter.reading.yaml import MAX_BYTES

__all__ = ["PASSES", "Examined", "Pass", "examine"]


@dataclass
class Examined:
    """Result of the pipeline: diagnostics, and the ruleset as far as it was built."""

    diagnostics: list[Diagnostic]
    composition: Composition | None = None
    model: Model | None = None
    reach: Reach | None = None
    statements: dict[str, Statement] = field(default_factory=dict)
    policies: Checked = field(default_factory=Checked)
    """Those that layers in the files of the ruleset speak of."""
    program: Program | None = None

    @property
    def errors(self) -> list[Diagnostic]:
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]


@dataclass(frozen=True)
class Source:
    """What is examined: a ruleset on its shelf, with overlays."""

    shelf: Shelf
    document: Document
    overlays: Iterable[str] = ()


@dataclass(frozen=True)
class Pass:
    """A step from files to a program: it adds its results and diagnostics to what is examined.

    ``wants`` says when it runs: always, once there is a composition, or as long as there is no error. A pass ``of
    tables`` is left out where only names, types and phases are checked.
    """

    name: str
    run: Callable[[Source, Examined], None]
    wants: str = "always"
    of_tables: bool = False

    def can_run(self, examined: Examined) -> bool:
        if self.wants == "composition":
            return examined.composition is not None
        return self.wants == "always" or (examined.composition is not None and not examined.errors)


def _read(source: Source, examined: Examined) -> None:
    examined.statements = statements_of(source.shelf)


def _compose(source: Source, examined: Examined) -> None:
    examined.composition, diagnostics = compose(source.shelf, source.document, source.overlays)
    examined.diagnostics += diagnostics


def _cite(source: Source, examined: Examined) -> None:
    examined.diagnostics += check_statements(source.shelf)


def _check(_: Source, examined: Examined) -> None:
    assert examined.composition is not None
    examined.model, diagnostics = check(examined.composition, examined.statements)
    examined.diagnostics += diagnostics


def _follow(source: Source, examined: Examined) -> None:
    model, composition = examined.model, examined.composition
    assert model is not None
    assert composition is not None
    below = _below(source.shelf, model, composition, examined.statements)
    examined.policies = policies_of(model, composition, below)
    examined.diagnostics += examined.policies.diagnostics


def _reach(_: Source, examined: Examined) -> None:
    assert examined.model is not None
    examined.reach = reach_of(examined.model)
    examined.diagnostics += check_reach(examined.model, examined.reach)


def _lower(_: Source, examined: Examined) -> None:
    assert examined.model is not None
    assert examined.reach is not None
    examined.program = lower(examined.model, examined.reach)


def _set_up(_: Source, examined: Examined) -> None:
    assert examined.program is not None
    assert examined.composition is not None
    examined.diagnostics += _check_laws(examined.program, examined.composition)


def _use(_: Source, examined: Examined) -> None:
    assert examined.model is not None
    assert examined.reach is not None
    assert examined.composition is not None
    examined.diagnostics += _check_used(examined.model, examined.reach, examined.policies, examined.composition)


PASSES = (
    Pass("statements", _read),
    Pass("compose", _compose),
    Pass("citations", _cite),
    Pass("check", _check, "composition"),
    Pass("policies", _follow, "composition"),
    Pass("reach", _reach, "no error"),
    Pass("lower", _lower, "no error", of_tables=True),
    Pass("laws", _set_up, "no error", of_tables=True),
    Pass("unused", _use, "no error"),
)
"""From files to a program, in order. ``show --passes`` prints them with their times."""


def examine(
    shelf: Shelf,
    document: Document,
    overlays: Iterable[str] = (),
    *,
    tables: bool = True,
    timed: Callable[[Pass, float], None] | None = None,
) -> Examined:
    """All passes, without raising. Without ``tables`` none is set, which takes most of the time: names, types and
    phases are checked, no laws. ``timed`` is told each pass that ran, with its seconds of processor time."""
    source, examined = Source(shelf, document, overlays), Examined([])
    for each in PASSES:
        if each.can_run(examined) and (tables or not each.of_tables):
            start = process_time()
            each.run(source, examined)
            if timed is not None:
                timed(each, process_time() - start)
    return examined


def _below(shelf: Shelf, model: Model, composition: Composition, statements: dict[str, Statement]) -> list[Checked]:
    """Return the policies below those of the ruleset's own files."""
    if not composition.sections.get("policies"):
        return []
    files = policies_files(shelf, composition.family)
    return [
        policies_in(model, read, statements) if read is not None else Checked(diagnostics=why) for read, why in files
    ]


def _check_used(model: Model, reach: Reach, policies: Checked, composition: Composition) -> list[Diagnostic]:
    """Check for unused names, here and in other files of the family. Libraries are there for others to use."""
    libraries = {document.id for document in composition.documents if document.kind == "library"}
    found = [each for each in unused(model, reach, policies.policies.values()) if each[1] not in libraries]
    if not found:
        return []
    here = {resolved(document.path) for document in composition.documents}
    folders = {document.path.parent for document in composition.documents if document.kind == "family"}
    others = [path for folder in folders for path in files_below(folder, "*.yaml") if resolved(path) not in here]
    for path in others:
        looked_at("file", path)
        looked_at("place", path)
    elsewhere = " ".join(path.read_text(encoding="utf-8", errors="replace") for path in others if _is_readable(path))
    spoken_of = set(re.findall(r"\w+", elsewhere))
    return [diagnostic for name, _, diagnostic in found if name not in spoken_of]


def _is_readable(path: Path) -> bool:
    """Return whether it is a file in its own folder that is no larger than files may be."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_BYTES


def _check_laws(program: Program, composition: Composition) -> list[Diagnostic]:
    """The laws of tables hold, and a table can be set for every number of players."""
    model = program.model
    found: list[Diagnostic] = []
    defaults, names = default_settings(model), Names(model)
    broken: list[Law] = []
    for people in range(composition.players.low, composition.players.high + 1):
        try:
            table = set_up(program, people, defaults)
        except RulesetError as error:
            found.extend(error.diagnostics)
            continue
        except RuleFailure as failure:
            remedy = "a start must have a value for each number of players that the edition permits"
            found.append(Diagnostic("E414", f"with {people} players: {failure.message}", failure.span, help=remedy))
            continue
        found.extend(_check_defaults(model, table, people))
        because = Because(table.machine.expressions.compile, table.first, names)
        for law in model.laws:
            if law in broken:
                continue
            env: Env = [None] * law.size
            try:
                if because.value(law.condition, env):
                    continue
                told = ", ".join(because.why_not(law.condition, env))
            except RuleFailure as failure:
                message = f"this law of `{law.table}` fails: {failure.message}"
                found.append(_broken(law, message, composition))
                continue
            broken.append(law)
            reads = any(isinstance(node, core.PlayerCount) for node in descendants(law.condition))
            which = f" with {table.machine.constants.counting} players" if reads else ""
            message = f"`{law.table}` breaks this law{which}{told and ': '}{told}"
            found.append(_broken(law, message, composition))
    return found


def _broken(law: Law, message: str, composition: Composition) -> Diagnostic:
    """A law that does not hold, with the map that it was tested on, and how another file lifts it."""
    place = law.condition.span
    maps = [each for each in composition.documents if each.kind == "map" and each.file is not place.file]
    notes = tuple(Note(f"tested with the map {each.id}", each.root.span) for each in maps)
    lifted = f"tables: {{{law.table}: {{amends: {law.file}, laws: {{{law.name}: nothing}}}}}}"
    unnamed = "change the cells or the law; a law with a name (`laws: {NAME: …}`) can be lifted by a later file"
    remedy = f"another file lifts this law by `{lifted}`" if law.name else unnamed
    return Diagnostic("E414", message, place, notes, remedy)


def _check_defaults(model: Model, table: Setup, people: int) -> Iterator[Diagnostic]:
    """Check that the default of each setting passes the setting's own check."""
    for setting in model.settings.values():
        rule = model.rules.get(setting.check or "")
        if rule is None or setting.default is None:
            continue
        default = core.Const(setting.default, type=setting.type)
        passes = table.machine.expressions.compile(core.CallRule(rule.name, (default,), type=BOOL))
        try:
            if passes(table.first, []):
                continue
            why = f"`{rule.name}` refuses it"
        except RuleFailure as failure:
            why = f"`{rule.name}` fails: {failure.message}"
        message = f"the default of `{setting.name}` with {people} players: {why}"
        yield Diagnostic("E414", message, setting.span, help=f"take a default that `{rule.name}` permits")
