"""Scenarios: tests that a ruleset's author writes as given, when, then.

In goes a file of scenarios; out come scenarios, checked against a ruleset, for :mod:`interpreter.testing.running`. A
scenario is checked once and can be run against changed forms of its ruleset: what it says is bound to names, not to
bodies. The helpers of its file are layers over nothing: what names them is the file's own text alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plain_data import Json
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.scripted_outcomes import Outcomes, chance_types
from interpreter.language import core, nodes
from interpreter.language.check import check_text
from interpreter.language.check_expressions import Expressions
from interpreter.language.declare import OWN_CALLS, OWN_VALUES
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.local_rules import Helper, check_helpers, helpers_in, needed
from interpreter.language.model import Model, RuleLayer, Signatures
from interpreter.language.parse import parse_expression, parse_procedure
from interpreter.language.scope import Frame
from interpreter.language.texts import Part, Report, condition_of, expression_of, parsed
from interpreter.language.types import NOTHING, Type
from interpreter.reading.compose import word, words
from interpreter.reading.files import Document
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value, excerpt, plain

__all__ = [
    "GIVEN",
    "Bound",
    "Checked",
    "Move",
    "Refusal",
    "Scenario",
    "Sight",
    "check_scenario",
    "read_scenarios",
    "unused_helpers",
    "worked_out",
]

GIVEN = "given"
"""The procedure that is made of what is given."""


@dataclass(frozen=True, slots=True)
class Move:
    """A choice that a scenario makes: the seat, and the choice as the public face takes it."""

    by: int
    choice: dict[str, Json]
    span: Span = field(repr=False)
    item: Mapping = field(repr=False, compare=False)
    """As it stands in its file."""

    @property
    def texts(self) -> Iterator[tuple[str, Scalar]]:
        """The values that are worked out when the choice is made: `= expression`."""
        for entry in self.item.entries:
            if entry.key.text in self.choice and isinstance(entry.value, Scalar) and worked_out(entry.value):
                yield entry.key.text, entry.value


@dataclass(frozen=True, slots=True)
class Refusal:
    """A choice that must be refused; where they are named, by a rule and with statements."""

    move: Move
    rule: str
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """Something that a seat sees, or that is hidden from it."""

    seat: int
    text: Scalar
    sees: bool


@dataclass(frozen=True)
class Scenario:
    """One test as it is written. ``file`` is the id of its file."""

    name: str
    file: str
    cites: tuple[Scalar, ...]
    ruleset: str
    holds_for: tuple[str, ...]
    fails_for: tuple[str, ...]
    fails_with: tuple[dict[str, Json], ...]
    overlays: tuple[str, ...]
    players: int | None
    settings: dict[str, Json]
    chance: Outcomes
    seed: int
    given: Scalar | None
    phase: Scalar | None
    round: int
    when: tuple[Move, ...]
    sound: int | None
    then: tuple[Scalar, ...]
    refused: Refusal | None
    sights: tuple[Sight, ...]
    places: tuple[int, ...]
    span: Span = field(repr=False)
    item: Mapping = field(repr=False, compare=False)
    """As it stands in its file."""
    helpers: tuple[Helper, ...] = field(default=(), repr=False, compare=False)
    """Those of its file."""

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}"

    @property
    def statements(self) -> frozenset[str]:
        """The statements that it shows."""
        return frozenset(cite.text for cite in self.cites)

    @property
    def rulesets(self) -> tuple[str, ...]:
        """All rulesets that it speaks of."""
        return tuple(dict.fromkeys((self.ruleset, *self.holds_for, *self.fails_for)))

    @property
    def moves(self) -> tuple[Move, ...]:
        """Its choices, with the one that is refused."""
        return (*self.when, *([self.refused.move] if self.refused is not None else ()))


Bound = tuple[core.Expression, int]
"""An expression, and how many locals it has."""


@dataclass(frozen=True)
class Checked:
    """A scenario bound to the names of a ruleset. ``blocks`` are what is given and the helpers that the scenario calls,
    ready to be lowered with the rules. ``values`` of choices that are worked out are by the places of their texts."""

    scenario: Scenario
    ruleset: Ruleset = field(repr=False)
    blocks: dict[str, RuleLayer] = field(repr=False)
    conditions: tuple[Bound, ...] = field(repr=False)
    sights: tuple[Bound, ...] = field(repr=False)
    values: dict[Span, Bound] = field(repr=False)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_scenarios(document: Document) -> tuple[list[Scenario], list[Diagnostic]]:
    """The scenarios of a file; none of them where its form is wrong."""
    found = [*document.misfits]
    body = document.root.get("is")
    if any(diagnostic.severity == "error" for diagnostic in found) or not isinstance(body, Sequence):
        return [], found
    helpers = helpers_in(document.root.get("rules"), found.append)
    if any(diagnostic.severity == "error" for diagnostic in found):
        return [], found
    scenarios = [_scenario(document.id, item, helpers) for item in body.items if isinstance(item, Mapping)]
    return scenarios, [*found, *_repeated(scenarios)]


def unused_helpers(document: Document) -> Iterator[Diagnostic]:
    """Helpers of a file that none of its scenarios names, nor another helper that one of them does."""
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
    """The texts of a scenario that can be read."""

    def quiet(diagnostic: Diagnostic) -> None:
        """Ignore unreadable text: it is reported when the scenario is checked."""

    found: list[nodes.Node | None] = [parsed(scenario.given, parse_procedure, quiet)]
    found.extend(condition_of(line, quiet) for line in scenario.then)
    found.extend(expression_of(sight.text, quiet) for sight in scenario.sights)
    found.extend(_value_of(text, quiet) for move in scenario.moves for _, text in move.texts)
    yield from (tree for tree in found if tree is not None)


def _repeated(scenarios: list[Scenario]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.name in seen:
            yield Diagnostic("E501", f"a scenario is called `{scenario.name}` already", scenario.span)
        seen.add(scenario.name)


def _scenario(file: str, item: Mapping, helpers: tuple[Helper, ...]) -> Scenario:
    given, phase, refused, when = item.get("given"), item.get("phase"), item.get("refused"), item.get("when")
    raw = plain(item)
    return Scenario(
        name=word(item.get("name")),
        file=file,
        cites=tuple(words(item.get("cites"))),
        ruleset=word(item.get("ruleset")),
        holds_for=tuple(scalar.text for scalar in words(item.get("holds_for"))),
        fails_for=tuple(scalar.text for scalar in words(item.get("fails_for"))),
        overlays=tuple(scalar.text for scalar in words(item.get("with"))),
        fails_with=tuple(raw.get("fails_with") or ()),
        players=raw.get("players"),
        settings=raw.get("set") or {},
        chance=raw.get("chance") or {},
        seed=raw.get("seed", 0),
        given=given if isinstance(given, Scalar) else None,
        phase=phase if isinstance(phase, Scalar) else None,
        round=raw.get("round", 1),
        sound=raw.get("sound"),
        when=tuple(_move(move) for move in when.items if isinstance(move, Mapping))
        if isinstance(when, Sequence)
        else (),
        then=tuple(words(item.get("then"))),
        refused=_refusal(refused) if isinstance(refused, Mapping) else None,
        sights=(*_sights(item, "sees"), *_sights(item, "hides")),
        places=tuple(raw.get("places") or ()),
        span=item["name"].span,
        item=item,
        helpers=helpers,
    )


def _sights(item: Mapping, key: str) -> Iterator[Sight]:
    seats = item.get(key)
    for entry in seats.entries if isinstance(seats, Mapping) else ():
        for text in words(entry.value):
            yield Sight(int(entry.key.text), text, key == "sees")


def _move(item: Mapping, also: tuple[str, ...] = ()) -> Move:
    raw = plain(item)
    choice = {key: value for key, value in raw.items() if key not in ("by", *also)}
    return Move(raw["by"], choice, item["do"].span, item)


def worked_out(value: Value) -> bool:
    """Return whether a value of a choice is the value of an expression: `= 2 * limit`."""
    return isinstance(value, Scalar) and value.text.startswith("=")


def _value_of(value: Scalar, report: Report) -> nodes.Expr | None:
    """The tree of the expression behind the `=`."""
    text = excerpt(value)
    if isinstance(text, Diagnostic):
        report(text)
        return None
    tree, found = parse_expression(Part(text.text[1:], text, 1))
    for diagnostic in found:
        report(diagnostic)
    return tree


def _refusal(item: Mapping) -> Refusal:
    cites = tuple(scalar.text for scalar in words(item.get("cites")))
    return Refusal(_move(item, ("rule", "cites")), word(item.get("rule")), cites)


# --- checking ---------------------------------------------------------------------------------------------------------


def check_scenario(scenario: Scenario, ruleset: Ruleset) -> tuple[Checked | None, list[Diagnostic]]:
    """A scenario bound to a ruleset, or what is wrong with its names and texts."""
    found: list[Diagnostic] = []
    texts = _Texts(scenario, ruleset, found.append)
    blocks = texts.given()
    conditions = tuple(texts.bound(condition_of(line, found.append), is_condition=True) for line in scenario.then)
    sights = tuple(texts.bound(expression_of(sight.text, found.append)) for sight in scenario.sights)
    values = dict(value for move in scenario.moves for value in texts.values(move))
    found.extend(_check_names(scenario, ruleset))
    if any(diagnostic.severity == "error" for diagnostic in found):
        return None, found
    return Checked(scenario, ruleset, {**texts.helpers, **blocks}, conditions, sights, values), found


class _Texts:
    """Checks the texts of a scenario against a ruleset: what they name is a helper of the file or a rule."""

    def __init__(self, scenario: Scenario, ruleset: Ruleset, report: Report) -> None:
        self.scenario, self.model, self.report = scenario, ruleset.model, report
        self.signatures: Signatures = dict(ruleset.model.signatures)
        for diagnostic in _taken(scenario.helpers, ruleset.model):
            report(diagnostic)
        called = needed(scenario.helpers, _trees(scenario)) if scenario.helpers else ()
        layers = check_helpers(called, self.model, self.signatures, scenario.file, report)
        self.helpers = {layer.id: layer for layer in layers}

    def given(self) -> dict[str, RuleLayer]:
        """Build the procedure of the given facts, which begins with the set-up, and the blocks that it delays."""
        span = self.scenario.span
        model = replace(self.model, blocks={})
        start = core.CallRule(model.setup, (), type=NOTHING, span=span)
        layer = RuleLayer(GIVEN, 0, "", "does", (), NOTHING, 0, (), None, (), (), span)
        tree = parsed(self.scenario.given, parse_procedure, self.report)
        if tree is not None:
            if tree.header is not None:
                message = "what is given takes no parameters: no header here"
                self.report(Diagnostic("E310", message, tree.header.span))
            layer, diagnostics = check_text(model, self.signatures, tree, GIVEN)
            for diagnostic in diagnostics:
                self.report(diagnostic)
        body = (core.Performs(start, span=span), *layer.steps)
        return {**model.blocks, GIVEN: replace(layer, body=body)}

    def bound(self, tree: nodes.Expr | None, wanted: Type | None = None, *, is_condition: bool = False) -> Bound:
        """An expression, of a type where one is wanted, with the number of its locals."""
        frame = Frame()
        if tree is None:
            return core.Const(False), 0
        expressions = Expressions(self.model, self.signatures, frame, self.report)
        if is_condition:
            return expressions.condition(tree), frame.size
        return expressions.value(tree) if wanted is None else expressions.need(tree, wanted), frame.size

    def values(self, move: Move) -> Iterator[tuple[Span, Bound]]:
        """The values of a choice that are worked out, by the places of their texts."""
        for name, text in move.texts:
            types = {
                type_
                for key, choices in self.model.alternatives.items()
                for choice, type_ in choices
                if choice == name and key.partition(".")[2] == move.choice["do"]
            }
            wanted = types.pop() if len(types) == 1 else None  # else it is seen when played which is meant
            yield text.span, self.bound(_value_of(text, self.report), wanted)


def _taken(helpers: Iterable[Helper], model: Model) -> Iterator[Diagnostic]:
    """A helper has a name of which nobody could take it for something of the ruleset: a constant is read as values
    are, all others are called."""
    called = {**dict.fromkeys(model.records), **model.card_kinds, **model.signatures}
    read = {**model.groups, **model.settings, **model.interpretations, **model.tables, **model.roles, **model.kinds}
    members = {member: kind for kind in model.kinds.values() for member in kind.members}
    for helper in helpers:
        name, span = helper.name, helper.key.span
        known: dict[str, object] = {**members, **read, **called} if helper.is_constant else {**called}
        if name in (*OWN_CALLS, *RESERVED_WORDS, *(OWN_VALUES if helper.is_constant else ())):
            message = f"`{name}` is a reserved name"
            yield Diagnostic("E312", message, span, help="take another name")
        elif name in known:
            place = getattr(known[name], "span", None)
            notes = (Note("it stands here", place),) if place is not None else ()
            message = f"`{name}` already exists in `{model.id}`"
            yield Diagnostic("E501", message, span, notes, "take another name: this rule is the file's own")


def _check_names(scenario: Scenario, ruleset: Ruleset) -> Iterator[Diagnostic]:
    model = ruleset.model
    for cite in scenario.cites:
        if cite.text not in ruleset.statements:
            near = did_you_mean(cite.text, ruleset.statements)
            yield Diagnostic("E601", f"unknown statement `{cite.text}`{near}", cite.span)
    if scenario.phase is not None and scenario.phase.text not in model.phases:
        near = did_you_mean(scenario.phase.text, model.phases)
        yield Diagnostic("E301", f"unknown phase `{scenario.phase.text}`{near}", scenario.phase.span)
    if ruleset.id not in scenario.fails_for:  # where it must fail, it may be for lack of what it names
        yield from _check_values(scenario, ruleset)
    for move in scenario.moves:
        yield from _check_move(move, ruleset)
    if scenario.refused is not None:
        rule = scenario.refused.rule
        known = [*model.rules, *model.standing, *model.triggers]
        if rule and rule not in known:
            yield Diagnostic("E301", f"unknown rule `{rule}`{did_you_mean(rule, known)}", scenario.refused.move.span)


def _check_values(scenario: Scenario, ruleset: Ruleset) -> Iterator[Diagnostic]:
    """The ruleset can be played by so many, has the settings with these values, and chances of these names."""
    try:
        ruleset.check_players(scenario.players or ruleset.players.usual)
    except ValueError as error:
        yield Diagnostic("E510", str(error), scenario.item["players"].span)
    for key, known in (("set", [*ruleset.model.settings, *ruleset.model.interpretations]), ("chance", None)):
        given = scenario.item.get(key)
        for entry in given.entries if isinstance(given, Mapping) else ():
            name, names = entry.key.text, chance_types(ruleset) if known is None else known
            if name not in names:
                what = "chance" if known is None else "setting"
                near = did_you_mean(name, names)
                yield Diagnostic("E301", f"unknown {what} `{name}`{near}", entry.key.span, help=_listed(names))
            elif known is not None:
                try:
                    ruleset.settings({name: scenario.settings[name]})
                except ValueError as error:
                    yield Diagnostic("E302", str(error), entry.value.span)


def _listed(names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return f"known here: {listed}" if listed else "there is none"


def _check_move(move: Move, ruleset: Ruleset) -> Iterator[Diagnostic]:
    """The alternative is one of some decision, and takes these names; whether it is asked for is seen when played."""
    taken: dict[str, set[str]] = {}
    for key, bound in ruleset.model.alternatives.items():
        taken.setdefault(key.partition(".")[2], set()).update(name for name, _ in bound)
    name = str(move.choice["do"])
    if name not in taken:
        message = f"unknown alternative `{name}`{did_you_mean(name, taken)}"
        yield Diagnostic("E301", message, move.span, help=_listed(taken))
        return
    for key in move.choice:
        if key != "do" and key not in taken[name]:
            message = f"`{name}` takes no `{key}`{did_you_mean(key, taken[name])}"
            yield Diagnostic("E301", message, move.span, help=_listed(taken[name] - {"who"}))
