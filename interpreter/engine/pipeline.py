"""Pipeline of checks: all passes up to lowering, in order, and the laws of tables.

Only a load that the cache knows nothing of comes here, and whoever wants diagnostics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.compiler.constants import Env, RuleFailure
from interpreter.compiler.facts import Reach
from interpreter.compiler.lower import lower
from interpreter.compiler.reach import check_reach, reach_of
from interpreter.compiler.unused import unused
from interpreter.engine.failing_values import Because
from interpreter.engine.table import Table, default_settings, set_table
from interpreter.engine.values import Names
from interpreter.language import core as c
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

__all__ = ["Examined", "examine"]


@dataclass(frozen=True)
class Examined:
    """Result of the pipeline: diagnostics, and the ruleset as far as it was built."""

    diagnostics: list[Diagnostic]
    composition: Composition | None = None
    model: Model | None = None
    reach: Reach | None = None
    statements: dict[str, Statement] = field(default_factory=dict)
    policies: Checked = field(default_factory=Checked)
    """Those that layers in the files of the ruleset speak of."""

    @property
    def errors(self) -> list[Diagnostic]:
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]


def examine(shelf: Shelf, document: Document, overlays: Iterable[str] = (), *, tables: bool = True) -> Examined:
    """All passes up to the lowering, without raising: compose, check, reach, laws.

    Without ``tables`` none is set, which takes most of the time: names, types and phases are checked, no laws.
    """
    statements = statements_of(shelf)
    composition, diagnostics = compose(shelf, document, overlays)
    diagnostics.extend(check_statements(shelf))
    if composition is None:
        return Examined(diagnostics, statements=statements)
    model, found = check(composition, statements)
    policies = policies_of(model, composition, _below(shelf, model, composition, statements))
    diagnostics = [*diagnostics, *found, *policies.diagnostics]
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Examined(diagnostics, composition, model, None, statements, policies)
    reach = reach_of(model)
    diagnostics.extend(check_reach(model, reach))
    if tables and not any(diagnostic.severity == "error" for diagnostic in diagnostics):
        diagnostics.extend(_check_laws(model, reach, composition))
    if not any(diagnostic.severity == "error" for diagnostic in diagnostics):
        diagnostics.extend(_check_used(model, reach, policies, composition))
    return Examined(diagnostics, composition, model, reach, statements, policies)


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


def _check_laws(model: Model, reach: Reach, composition: Composition) -> list[Diagnostic]:
    """The laws of tables hold, and a table can be set for every number of players."""
    program = lower(model, reach)
    found: list[Diagnostic] = []
    defaults, names = default_settings(model), Names(model)
    broken: list[Law] = []
    for people in range(composition.players.low, composition.players.high + 1):
        try:
            table = set_table(program, people, defaults)
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
            reads = any(isinstance(node, c.PlayerCount) for node in descendants(law.condition))
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


def _check_defaults(model: Model, table: Table, people: int) -> Iterator[Diagnostic]:
    """Check that the default of each setting passes the setting's own check."""
    for setting in model.settings.values():
        rule = model.rules.get(setting.check or "")
        if rule is None or setting.default is None:
            continue
        default = c.Const(setting.default, type=setting.type)
        passes = table.machine.expressions.compile(c.CallRule(rule.name, (default,), type=BOOL))
        try:
            if passes(table.first, []):
                continue
            why = f"`{rule.name}` refuses it"
        except RuleFailure as failure:
            why = f"`{rule.name}` fails: {failure.message}"
        message = f"the default of `{setting.name}` with {people} players: {why}"
        yield Diagnostic("E414", message, setting.span, help=f"take a default that `{rule.name}` permits")
