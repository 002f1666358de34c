"""Scenarios: tests that a ruleset's author writes as given, when, then.

Takes a scenario file; returns scenarios checked against a ruleset, for :mod:`interpreter.testing.running`. A scenario
is checked once and can run against changed forms of its ruleset, because it is bound to names, not to rule bodies. The
helpers of its file are rules without layers below, and only the file's own text can call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plain_data import Json
from interpreter.base.remedies import write
from interpreter.base.source import Excerpt, Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word, words
from interpreter.engine.game import Ruleset
from interpreter.engine.scripted_outcomes import WrongOutcome, scripted
from interpreter.language import core, nodes
from interpreter.language.builtins import OWN_VALUES
from interpreter.language.check import check_text
from interpreter.language.check_expressions import Expressions
from interpreter.language.check_quietly import ignored
from interpreter.language.declare import OWN_CALLS
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.local_rules import Helper, check_helpers, helpers_in, needed
from interpreter.language.model import Model, RuleLayer
from interpreter.language.parse import parse_expression, parse_procedure
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame
from interpreter.language.syntax_errors import reserved
from interpreter.language.texts import condition_of, expression_of, parsed
from interpreter.language.types import NOTHING, Type
from interpreter.reading.files import Document
from interpreter.reading.statements import unknown_statement
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value, plain
from interpreter.sections import documents

__all__ = [
    "GIVEN",
    "Bound",
    "Checked",
    "Move",
    "Scenario",
    "Sight",
    "check_scenario",
    "outcome_at",
    "read_scenarios",
    "unused_helpers",
]

GIVEN = "given"
"""Name of the procedure built from the facts under ``given``."""


class Move(Struct, frozen=True):
    """A choice that a scenario makes: the seat, and the choice in the form of the public API."""

    by: int
    choice: dict[str, Json]
    span: Span
    item: Mapping
    """The YAML item."""

    @property
    def texts(self) -> Iterator[tuple[str, Scalar]]:
        """Yield the values that are computed when the choice is made: `= expression`."""
        for entry in self.item.entries:
            if entry.key.text in self.choice and isinstance(value := entry.value, Scalar) and value.text[:1] == "=":
                yield entry.key.text, value


class Sight(Struct, frozen=True):
    """An expression that a seat can see, or that is hidden from it."""

    seat: int
    text: Scalar
    sees: bool


class Scenario(Struct, frozen=True):
    """A test as written in its file: its ``keys``, and what some of them mean. ``file`` is the id of the file."""

    keys: documents.Scenario
    file: str
    settings: dict[str, Json]
    when: tuple[Move, ...]
    refused: Move | None
    sights: tuple[Sight, ...]
    helpers: tuple[Helper, ...] = ()
    """The helpers of its file."""

    @property
    def name(self) -> str:
        return self.keys.name

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}"

    @property
    def span(self) -> Span:
        return self.keys.span("name")

    @property
    def statements(self) -> frozenset[str]:
        """Return the ids of the statements that it tests."""
        return frozenset(cite.text for cite in self.keys.cites)

    @property
    def ruleset(self) -> str:
        return word(self.keys.ruleset)

    @property
    def passes_for(self) -> tuple[str, ...]:
        """Return the ids of the rulesets with which it must pass."""
        return (self.ruleset, *(scalar.text for scalar in self.keys.holds_for))

    @property
    def named(self) -> tuple[Scalar, ...]:
        """Return the names of rulesets as written."""
        return (*words(self.keys.source["ruleset"]), *self.keys.holds_for, *self.keys.fails_for)

    @property
    def rulesets(self) -> tuple[str, ...]:
        """Return the ids of all rulesets that it names."""
        return tuple(dict.fromkeys(scalar.text for scalar in self.named))

    @property
    def overlays(self) -> tuple[str, ...]:
        return tuple(scalar.text for scalar in self.keys.with_)

    @property
    def may_not_begin(self) -> bool:
        """Return whether it says that the game may not begin."""
        return "refused" in self.keys and self.keys.refused.by is None

    @property
    def moves(self) -> tuple[Move, ...]:
        """Return its choices and the refused one."""
        return (*self.when, *([self.refused] if self.refused is not None else ()))


Bound = tuple[core.Expression, int]
"""An expression and the number of its locals."""


class Checked(Struct, frozen=True):
    """A scenario bound to the names of a ruleset. ``blocks`` are the given facts and the helpers that the scenario
    calls, ready to be lowered with the rules. ``texts`` are its conditions, sights and computed values by position."""

    scenario: Scenario
    ruleset: Ruleset
    blocks: dict[str, RuleLayer]
    texts: dict[Span, Bound]


# --- reading ----------------------------------------------------------------------------------------------------------


def read_scenarios(document: Document) -> tuple[list[Scenario], list[Diagnostic]]:
    """Return the scenarios of a file and its diagnostics; no scenarios if the file has schema errors."""
    diagnostics = [*document.misfits]
    helpers = helpers_in(document.root, diagnostics.append) if not _has_errors(diagnostics) else ()
    if _has_errors(diagnostics):
        return [], diagnostics
    scenarios = [_scenario(document.id, keys, helpers) for keys in documents.Scenarios(document.root).is_]
    return scenarios, [*diagnostics, *_repeated(scenarios)]


def _has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def unused_helpers(document: Document) -> Iterator[Diagnostic]:
    """Yield a warning for each helper that no scenario of the file uses, directly or through another helper."""
    scenarios, _ = read_scenarios(document)
    if not scenarios or not scenarios[0].helpers:
        return
    trees = [tree for scenario in scenarios for tree in _trees(scenario)]
    used = needed(scenarios[0].helpers, trees)
    for helper in scenarios[0].helpers:
        if helper not in used:
            message = f"no scenario of this file uses `{helper.name}`"
            yield Diagnostic("W701", message, helper.key.span, severity="warning")


def _trees(scenario: Scenario) -> Iterator[nodes.Node]:
    """Yield the trees of all rule texts of a scenario that can be parsed."""
    trees = [  # what cannot be read is reported when the scenario is checked
        parsed(scenario.keys.given, parse_procedure, ignored),
        *(condition_of(line, ignored) for line in scenario.keys.then),
        *(expression_of(sight.text, ignored) for sight in scenario.sights),
        *(parsed(text, _computed, ignored) for move in scenario.moves for _, text in move.texts),
    ]
    yield from (tree for tree in trees if tree is not None)


def _repeated(scenarios: list[Scenario]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.name in seen:
            yield Diagnostic("E501", f"duplicate scenario `{scenario.name}`", scenario.span)
        seen.add(scenario.name)


def _scenario(file: str, keys: documents.Scenario, helpers: tuple[Helper, ...]) -> Scenario:
    sights = ((seat, texts, sees) for seats, sees in ((keys.sees, True), (keys.hides, False)) for seat, texts in seats)
    return Scenario(
        keys,
        file,
        settings=plain(keys.source).get("set") or {},
        when=tuple(map(_move, keys.when)),
        refused=_move(keys.refused) if keys.refused.do is not None else None,
        sights=tuple(Sight(int(seat.text), text, sees) for seat, texts, sees in sights for text in texts),
        helpers=helpers,
    )


def _move(keys: documents.Choice | documents.Refusal) -> Move:
    choice = {key: value for key, value in plain(keys.source).items() if key == "do" or key not in keys.forms}
    assert keys.by is not None
    return Move(keys.by, choice, keys.span("do"), keys.source)


def _computed(text: Excerpt) -> tuple[nodes.Node | None, list[Diagnostic]]:
    """Parse the expression after the `=`."""
    return parse_expression(text.part(1))


# --- checking ---------------------------------------------------------------------------------------------------------


def check_scenario(scenario: Scenario, ruleset: Ruleset) -> tuple[Checked | None, list[Diagnostic]]:
    """Bind a scenario to a ruleset. Return None and the diagnostics if its names or texts have errors."""
    diagnostics: list[Diagnostic] = []
    texts = _Texts(scenario, ruleset, diagnostics)
    blocks = texts.given()
    report = diagnostics.append
    bound = {line.span: texts.bound(condition_of(line, report), is_condition=True) for line in scenario.keys.then}
    bound |= {sight.text.span: texts.bound(expression_of(sight.text, report)) for sight in scenario.sights}
    bound |= (value for move in scenario.moves for value in texts.values(move))
    diagnostics.extend(_check_names(scenario, ruleset))
    if _has_errors(diagnostics):
        return None, diagnostics
    return Checked(scenario, ruleset, {**texts.helpers, **blocks}, bound), diagnostics


class _Texts:
    """Checks the texts of a scenario against a ruleset and the helpers of the file."""

    def __init__(self, scenario: Scenario, ruleset: Ruleset, diagnostics: list[Diagnostic]) -> None:
        self.scenario, self.model, self.diagnostics = scenario, ruleset.model, diagnostics
        self.names = Names(ruleset.model, dict(ruleset.model.signatures))
        diagnostics += _clashes(scenario.helpers, ruleset.model)
        called = needed(scenario.helpers, _trees(scenario)) if scenario.helpers else ()
        self.helpers = {layer.id: layer for layer in check_helpers(called, self.names, scenario.file, diagnostics)}

    def given(self) -> dict[str, RuleLayer]:
        """Build the procedure of the given facts, which starts with the set-up, and its delayed blocks."""
        span = self.scenario.span
        blocks: dict[str, RuleLayer] = {}
        start = core.CallRule(self.model.setup, (), type=NOTHING, span=span)
        layer = RuleLayer(GIVEN, 0, "", "does", (), NOTHING, 0, (), None, (), (), span)
        tree = parsed(self.scenario.keys.given, parse_procedure, self.diagnostics.append)
        if tree is not None:
            layer, blocks, diagnostics = check_text(self.names, tree, GIVEN)
            self.diagnostics += diagnostics
        body = (core.Performs(start, span=span), *layer.steps)
        return {**blocks, GIVEN: replace(layer, body=body)}

    def bound(self, tree: nodes.Expr | None, type_: Type | None = None, *, is_condition: bool = False) -> Bound:
        """Check an expression, optionally against a type, and return it with the number of its locals."""
        frame = Frame()
        if tree is None:
            return core.Const(False), 0
        expressions = Expressions(self.names, frame, self.diagnostics.append)
        if is_condition:
            return expressions.condition(tree), frame.size
        return expressions.value(tree) if type_ is None else expressions.need(tree, type_), frame.size

    def values(self, move: Move) -> Iterator[tuple[Span, Bound]]:
        """Yield the computed values of a choice, each with the position of its text."""
        for name, text in move.texts:
            alternatives = self.model.alternatives.items()
            taken = [choices for key, choices in alternatives if key.partition(".")[2] == move.choice["do"]]
            types = {type_ for choices in taken for choice, type_ in choices if choice == name}
            expected = types.pop() if len(types) == 1 else None  # ambiguous until the game is played
            tree = parsed(text, _computed, self.diagnostics.append)
            yield text.span, self.bound(cast("nodes.Expr | None", tree), expected)


def _clashes(helpers: Iterable[Helper], model: Model) -> Iterator[Diagnostic]:
    """Yield an error for each helper whose name clashes with one of the ruleset. Constants clash with values, other
    helpers with whatever can be called."""
    callables = {**dict.fromkeys(model.records), **model.card_kinds, **model.signatures}
    values = {**model.groups, **model.settings, **model.interpretations, **model.tables, **model.roles, **model.kinds}
    members = {member: kind for kind in model.kinds.values() for member in kind.members}
    for helper in helpers:
        name, span = helper.name, helper.key.span
        known: dict[str, object] = {**members, **values, **callables} if helper.is_constant else {**callables}
        if name in (*OWN_CALLS, *RESERVED_WORDS, *(OWN_VALUES if helper.is_constant else ())):
            yield reserved(name, span)
        elif name in known:
            place = getattr(known[name], "span", None)
            notes = (Note("it stands here", place),) if place is not None else ()
            message = f"`{name}` already exists in `{model.id}`"
            yield Diagnostic("E501", message, span, notes, "take another name: helpers belong to this file alone")


def _check_names(scenario: Scenario, ruleset: Ruleset) -> Iterator[Diagnostic]:
    model, keys = ruleset.model, scenario.keys
    for cite in keys.cites:
        if cite.text not in ruleset.statements:
            yield unknown_statement(cite.text, cite.span, ruleset.statements)
    if keys.phase is not None and keys.phase.text not in model.phases:
        near = did_you_mean(keys.phase.text, model.phases)
        yield Diagnostic("E301", f"unknown phase `{keys.phase.text}`{near}", keys.phase.span)
    if all(scalar.text != ruleset.id for scalar in keys.fails_for):  # it may have to fail because a name is missing
        yield from _check_values(scenario, ruleset)
    for move in scenario.moves:
        yield from _check_move(move, ruleset)
    known_alone = ("by",) if keys.refused.by is not None else keys.refused.forms
    others = (key for key, _ in keys.refused.source.items() if key not in known_alone)
    if keys.refused.do is None and (key := next(others, None)) is not None:
        yield Diagnostic("E105", f"`{key}` needs `do` too", keys.refused.span(key))
    rule, known = keys.refused.rule, [*model.rules, *model.standing, *model.triggers]
    if rule is not None and rule.text not in known:
        near = did_you_mean(rule.text, known)
        help = None if near else f"`regelwerk show {ruleset.id} --layers` lists the rules"
        yield Diagnostic("E301", f"unknown rule `{rule.text}`{near}", rule.span, help=help)


def _check_values(scenario: Scenario, ruleset: Ruleset) -> Iterator[Diagnostic]:
    """Check the number of players, the settings and their values, and the names of random outcomes."""
    try:
        ruleset.check_players(scenario.keys.players or ruleset.players.usual)
    except ValueError as error:
        if not scenario.may_not_begin:
            span, limit = scenario.keys.span("players"), ruleset.players
            nearest = str(max(limit.low, min(scenario.keys.players or limit.usual, limit.high)))
            yield Diagnostic("E510", str(error), span, help=write(span, nearest))
    settings = [*ruleset.model.settings, *ruleset.model.interpretations]
    for key, sort, names in (("set", "setting", settings), ("chance", "chance", ruleset.program.reach.chances)):
        section = scenario.keys.source.get(key)
        for entry in section.entries if isinstance(section, Mapping) else ():
            name = entry.key.text
            if name not in names:
                near = did_you_mean(name, names)
                yield Diagnostic("E301", f"unknown {sort} `{name}`{near}", entry.key.span, help=_listed(names))
                continue
            try:
                if key == "chance":
                    scripted(ruleset.program, ruleset.names, {name: plain(entry.value)}, None)
                else:
                    ruleset.settings({name: plain(entry.value)})
            except WrongOutcome as error:
                yield Diagnostic("E302", str(error), outcome_at(entry.value, error.counter, error.shuffles).span)
            except ValueError as error:
                yield Diagnostic("E302", str(error), entry.value.span)


def outcome_at(outcomes: Value, number: int, shuffles: bool) -> Value:
    """Return an outcome of chance by its number from 0, or the outcomes as a whole."""
    items = outcomes.items if isinstance(outcomes, Sequence) else ()
    if not shuffles:
        items = tuple(chain.from_iterable(item.items if isinstance(item, Sequence) else (item,) for item in items))
    return items[number] if 0 <= number < len(items) else outcomes


def _listed(names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return f"known here: {listed}" if listed else "there is none"


def _check_move(move: Move, ruleset: Ruleset) -> Iterator[Diagnostic]:
    """Check that some decision has the alternative and that it takes these names."""
    taken: dict[str, set[str]] = {}
    for key, bound in ruleset.model.alternatives.items():
        taken.setdefault(key.partition(".")[2], set()).update(name for name, _ in bound)
    name = str(move.choice["do"])
    if name not in taken:
        message = f"unknown alternative `{name}`{did_you_mean(name, taken)}"
        yield Diagnostic("E301", message, move.span, help=_listed(taken))
        return
    for entry in move.item.entries:
        key = entry.key.text
        if key != "do" and key in move.choice and key not in taken[name]:
            message = f"`{name}` takes no `{key}`{did_you_mean(key, taken[name])}"
            yield Diagnostic("E301", message, entry.key.span, help=_listed(taken[name] - {"who"}))
