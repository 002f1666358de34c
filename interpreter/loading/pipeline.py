"""Pipeline of checks: runs all passes up to lowering in order, then the laws of tables.

Only loads that miss the cache, and callers that want diagnostics, run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import process_time

from interpreter.base.diagnostics import Diagnostic
from interpreter.bots.policies import Checked, family_policies, policies_of
from interpreter.engine.answers import Answers
from interpreter.engine.laws import check_laws
from interpreter.language.check import check
from interpreter.language.model import Model
from interpreter.language.resolve import Binding
from interpreter.language.text_facts import facts_of
from interpreter.loading.flow_checks import check_flow
from interpreter.loading.unused import unused
from interpreter.lowering.lower import Program, lower
from interpreter.lowering.reach import Reach, reach_of, reachable
from interpreter.reading.compose import compose
from interpreter.reading.composition import Composition
from interpreter.reading.dependencies import looked_at, words_in
from interpreter.reading.file_declarations import declares
from interpreter.reading.files import Document, Shelf, files_below, resolved
from interpreter.reading.statements import Statement, check_statements, statements_of

__all__ = ["Examined", "examine", "follow", "policies_below"]


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
    below: list[Checked] | None = None
    """Policies files of the family, once they are checked: see :func:`policies_below`."""
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
        assert examined.program is not None
        find = partial(check_laws, examined.program, composition)
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
    below = policies_below(shelf, examined) if composition.sections.get("policies") else []
    examined.policies = policies_of(model, composition, below)


def policies_below(shelf: Shelf, examined: Examined) -> list[Checked]:
    """Return the policies files of the family, checked once; they lie below the policies of the ruleset's own files."""
    if examined.below is None:
        assert examined.model is not None
        assert examined.composition is not None
        examined.below = family_policies(shelf, examined.composition.family, examined.model, examined.statements)
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
    checks = (rule.top.id for name in model.all_checks if (rule := model.rules.get(name)))
    for name in sorted(reachable((*reach.called(starts), *checks), reach.calls)):
        yield from (name, *files[reach.procedures[name].file])
