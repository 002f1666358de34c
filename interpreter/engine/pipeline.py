"""Pipeline of checks: runs all passes up to lowering in order, then the laws of tables.

Only loads that miss the cache, and callers that want diagnostics, run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import process_time

from interpreter.base.diagnostics import Diagnostic, Note, RulesetError
from interpreter.engine.answers import Answers
from interpreter.engine.failing_values import Because
from interpreter.engine.flow_checks import check_flow
from interpreter.engine.setup import Table, default_settings, set_up
from interpreter.engine.unused import unused
from interpreter.engine.values import Names
from interpreter.language import core
from interpreter.language.check import check
from interpreter.language.model import Law, Model
from interpreter.language.policies import Checked, policies_files, policies_in, policies_of
from interpreter.language.resolve import Binding
from interpreter.language.text_facts import facts_of
from interpreter.language.types import BOOL
from interpreter.language.walk import descendants
from interpreter.lowering.constants import RuleFailure
from interpreter.lowering.lower import Program, lower
from interpreter.lowering.reach import Reach, reach_of, reachable
from interpreter.plain.closures import Env
from interpreter.reading.compose import compose
from interpreter.reading.composition import Composition
from interpreter.reading.dependencies import looked_at, words_in
from interpreter.reading.file_declarations import declares
from interpreter.reading.files import Document, Shelf, files_below, resolved
from interpreter.reading.statements import Statement, check_statements, statements_of

__all__ = ["Examined", "examine", "family_policies", "follow"]


@dataclass
class Examined:
    """Result of the pipeline: diagnostics, and the ruleset as far as it could be built."""

    diagnostics: list[Diagnostic]
    composition: Composition | None = None
    model: Model | None = None
    reach: Reach | None = None
    statements: dict[str, Statement] = field(default_factory=dict)
    policies: Checked = field(default_factory=Checked)
    """Policies for which the ruleset's files have layers."""
    below: list[tuple[Document | None, Checked]] | None = None
    """Policies files of the family, once they are checked: see :func:`family_policies`."""
    bindings: list[Binding] | None = None
    """What the names in rule texts mean, once somebody has asked: see :func:`interpreter.explain.symbols.mentions`."""

    @cached_property
    def program(self) -> Program | None:
        """The lowered rules, if they could be followed."""
        return lower(self.model, self.reach) if self.model is not None and self.reach is not None else None

    @property
    def errors(self) -> list[Diagnostic]:
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]


def examine(
    shelf: Shelf,
    document: Document,
    overlays: Iterable[str] = (),
    *,
    tables: bool = True,
    answers: Answers | None = None,
    timed: Callable[[str, float], None] | None = None,
) -> Examined:
    """Run all passes without raising.

    Without ``tables``, passes that set up tables are skipped, which take most of the time: names, types and phases are
    checked, laws are not. ``answers`` know which tables kept their laws. ``timed`` is called for each pass with its CPU
    time in seconds.
    """
    examined, start = Examined([]), process_time()
    for name in _passes(shelf, document, overlays, tables, answers, examined):
        if timed is not None:
            timed(name, process_time() - start)
        start = process_time()
    return examined


def _passes(
    shelf: Shelf,
    document: Document,
    overlays: Iterable[str],
    tables: bool,
    answers: Answers | None,
    examined: Examined,
) -> Iterator[str]:
    """Run the passes in order, as far as the files allow, and yield the name of each after it has run. Each adds its
    results and diagnostics to ``examined``."""
    examined.statements = statements_of(shelf)
    yield "statements"
    composition, found = compose(shelf, document, overlays)
    examined.composition = composition
    examined.diagnostics += found
    yield "compose"
    if composition is None:
        return
    examined.diagnostics += check_statements(shelf, composition.family)
    yield "citations"
    model, found = check(composition, examined.statements)
    examined.model = model
    examined.diagnostics += found
    yield "check"
    follow(shelf, examined)
    examined.diagnostics += examined.policies.diagnostics
    yield "policies"
    if examined.errors:
        return
    examined.reach = reach = reach_of(model)
    examined.diagnostics += check_flow(model, reach)
    yield "reach"
    if tables and not examined.errors:
        find = partial(_check_laws, examined, composition)
        question = ("laws", *_set_up_by(composition, model, reach)) if answers is not None else ()
        examined.diagnostics += answers.to(question, find) if answers is not None else find()
        yield "laws"
    if not examined.errors:
        examined.diagnostics += _check_used(model, reach, examined.policies, composition)
        yield "unused"


def follow(shelf: Shelf, examined: Examined) -> None:
    """Check the policies for which the ruleset's files have layers, over those of the family."""
    model, composition = examined.model, examined.composition
    assert model is not None
    assert composition is not None
    below = family_policies(shelf, examined) if composition.sections.get("policies") else []
    examined.policies = policies_of(model, composition, [checked for _, checked in below])


def family_policies(shelf: Shelf, examined: Examined) -> list[tuple[Document | None, Checked]]:
    """Return the policies files of the family, checked once; they lie below the policies of the ruleset's own files.
    The document is None for a file that cannot be read."""
    if examined.below is None:
        assert examined.model is not None
        assert examined.composition is not None
        files = policies_files(shelf, examined.composition.family)
        examined.below = [
            (
                read,
                Checked(diagnostics=found) if read is None else policies_in(examined.model, read, examined.statements),
            )
            for read, found in files
        ]
    return examined.below


def _check_used(model: Model, reach: Reach, policies: Checked, composition: Composition) -> list[Diagnostic]:
    """Check for unused names, considering other files of the family. Names in libraries may be unused."""
    libraries = {document.id for document in composition.documents if document.kind == "library"}
    candidates = [entry for entry in unused(model, reach, policies.policies.values()) if entry[1] not in libraries]
    if not candidates:
        return []
    here = {resolved(document.path) for document in composition.documents}
    folders = {document.path.parent for document in composition.documents if document.kind == "family"}
    others = [path for folder in folders for path in files_below(folder, "*.yaml") if resolved(path) not in here]
    names = sorted({name for name, _, _ in candidates if name.isidentifier()})
    used_elsewhere = set[str]()
    for path in others:
        looked_at("place", path)
        used_elsewhere.update(used := words_in(path, names))
        looked_at(" ".join(("words", *names)), path, " ".join(used))
    return [diagnostic for name, _, diagnostic in candidates if name not in used_elsewhere]


def _set_up_by(composition: Composition, model: Model, reach: Reach) -> Iterator[str]:
    """Yield words for all that the first states of tables and their laws depend on.

    These are the numbers of players, the combined files, the text of each file that declares more than rules, and the
    layers of the rules that run while a table is set up.
    """
    players, files = composition.players, {document.id: document.identity for document in composition.documents}
    yield from (str(players.low), str(players.high), *files)
    for document in composition.documents:
        if declares(document, besides="rules"):
            yield from document.identity
    graph = model.graph
    starts = facts_of(
        (
            *(law.condition for law in model.laws),
            *model.groups.values(),
            graph and graph.measure,
        )
    )
    checks = (rule.top.id for each in model.settings.values() if (rule := model.rules.get(each.check or "")))
    for name in sorted(reachable((*reach.called(starts), *checks), reach.calls)):
        yield from (name, *files[reach.procedures[name].file])


def _check_laws(examined: Examined, composition: Composition) -> list[Diagnostic]:
    """Check the laws of tables, and that a table can be set up for every number of players."""
    program = examined.program
    assert program is not None
    model = program.model
    diagnostics: list[Diagnostic] = []
    defaults, names = default_settings(model), Names(model)
    broken: list[Law] = []
    for people in range(composition.players.low, composition.players.high + 1):
        try:
            table = set_up(program, people, defaults)
        except RulesetError as error:
            diagnostics.extend(error.diagnostics)
            continue
        except RuleFailure as failure:
            remedy = "a start must have a value for each number of players that the edition permits"
            diagnostics.append(
                Diagnostic("E414", f"with {people} players: {failure.message}", failure.span, help=remedy)
            )
            continue
        diagnostics.extend(_check_defaults(model, table, people))
        because = Because(table.machine.expressions.compile, table.first, names)
        for law in model.laws:
            if law in broken:
                continue
            env: Env = [None] * law.size
            try:
                if because.value(law.condition, env):
                    continue
                causes = ", ".join(because.why_not(law.condition, env))
            except RuleFailure as failure:
                message = f"this law of `{law.table}` fails: {failure.message}"
                diagnostics.append(_broken(law, message, composition))
                continue
            broken.append(law)
            reads = any(isinstance(node, core.PlayerCount) for node in descendants(law.condition))
            which = f" with {table.machine.constants.counting} players" if reads else ""
            message = f"`{law.table}` breaks this law{which}{causes and ': '}{causes}"
            diagnostics.append(_broken(law, message, composition))
    return diagnostics


def _broken(law: Law, message: str, composition: Composition) -> Diagnostic:
    """Report a broken law, with the later files that change the table, the map it was tested on, and how another file
    can lift it."""
    place = law.condition.span
    documents = composition.documents
    maps = [document for document in documents if document.kind == "map" and document.file is not place.file]
    changes = [entry for entry in composition.layers("tables", law.table)[1:] if entry.span.file is not place.file]
    notes = (
        *(Note(f"`{entry.file}` changes this table", entry.span) for entry in changes),
        *(Note(f"tested with the map {board.id}", board.root.span) for board in maps),
    )
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
