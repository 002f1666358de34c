"""Scenarios: tests that a ruleset's author writes as given, when, then.

In goes a file of scenarios; out come scenarios, checked against a ruleset, for :mod:`interpreter.engine.running`. A
scenario is checked once and can be run against changed forms of its ruleset: what it says is bound to names, not to
bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.script import chance_types
from interpreter.language import core as c
from interpreter.language.check import check_text
from interpreter.language.expressions import Expressions
from interpreter.language.model import RuleLayer
from interpreter.language.parse import parse_procedure
from interpreter.language.scope import Frame
from interpreter.language.texts import Report, condition_of, expression_of, parsed
from interpreter.language.types import NOTHING
from interpreter.reading.compose import word, words
from interpreter.reading.files import Document
from interpreter.reading.yaml import Mapping, Scalar, Sequence, plain

__all__ = ["GIVEN", "Checked", "Move", "Refusal", "Scenario", "Sight", "check_scenario", "read_scenarios"]

GIVEN = "given"
"""The procedure that is made of what is given."""


@dataclass(frozen=True, slots=True)
class Move:
    """A choice that a scenario makes: the seat, and the choice as the public face takes it."""

    by: int
    choice: dict[str, Any]
    span: Span = field(repr=False)


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
    fails_with: tuple[dict[str, Any], ...]
    overlays: tuple[str, ...]
    players: int | None
    settings: dict[str, Any]
    chance: dict[str, Any]
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


@dataclass(frozen=True)
class Checked:
    """A scenario bound to the names of a ruleset. ``blocks`` are what is given, ready to be lowered with the rules."""

    scenario: Scenario
    ruleset: Ruleset = field(repr=False)
    blocks: dict[str, RuleLayer] = field(repr=False)
    conditions: tuple[tuple[c.Expression, int], ...] = field(repr=False)
    sights: tuple[tuple[c.Expression, int], ...] = field(repr=False)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_scenarios(document: Document) -> tuple[list[Scenario], list[Diagnostic]]:
    """The scenarios of a file; none of them where its form is wrong."""
    found = [*document.misfits]
    body = document.root.get("is")
    if any(diagnostic.severity == "error" for diagnostic in found) or not isinstance(body, Sequence):
        return [], found
    scenarios = [_scenario(document.id, item) for item in body.items if isinstance(item, Mapping)]
    return scenarios, [*found, *_repeated(scenarios)]


def _repeated(scenarios: list[Scenario]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for scenario in scenarios:
        if scenario.name in seen:
            yield Diagnostic("E501", f"a scenario is called `{scenario.name}` already", scenario.span)
        seen.add(scenario.name)


def _scenario(file: str, item: Mapping) -> Scenario:
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
    )


def _sights(item: Mapping, key: str) -> Iterator[Sight]:
    seats = item.get(key)
    for entry in seats.entries if isinstance(seats, Mapping) else ():
        for text in words(entry.value):
            yield Sight(int(entry.key.text), text, key == "sees")


def _move(item: Mapping, also: tuple[str, ...] = ()) -> Move:
    raw = plain(item)
    return Move(raw["by"], {key: value for key, value in raw.items() if key not in ("by", *also)}, item["do"].span)


def _refusal(item: Mapping) -> Refusal:
    cites = tuple(scalar.text for scalar in words(item.get("cites")))
    return Refusal(_move(item, ("rule", "cites")), word(item.get("rule")), cites)


# --- checking ---------------------------------------------------------------------------------------------------------


def check_scenario(scenario: Scenario, ruleset: Ruleset) -> tuple[Checked | None, list[Diagnostic]]:
    """A scenario bound to a ruleset, or what is wrong with its names and texts."""
    found: list[Diagnostic] = []
    blocks = _given(scenario, ruleset, found.append)
    conditions = tuple(_condition(line, ruleset, found.append) for line in scenario.then)
    sights = tuple(_expression(sight.text, ruleset, found.append) for sight in scenario.sights)
    found.extend(_check_names(scenario, ruleset))
    if any(diagnostic.severity == "error" for diagnostic in found):
        return None, found
    return Checked(scenario, ruleset, blocks, conditions, sights), found


def _given(scenario: Scenario, ruleset: Ruleset, report: Report) -> dict[str, RuleLayer]:
    """What is given as a procedure that begins with the set-up, and the blocks that it keeps for later."""
    model = replace(ruleset.model, blocks={})
    start = c.CallRule(ruleset.model.setup, (), type=NOTHING, span=scenario.span)
    layer = RuleLayer(GIVEN, 0, "", "does", (), NOTHING, 0, (), None, (), (), scenario.span)
    tree = parsed(scenario.given, parse_procedure, report)
    if tree is not None:
        if tree.header is not None:
            report(Diagnostic("E310", "what is given takes no parameters: no header here", tree.header.span))
        layer, diagnostics = check_text(model, model.signatures, tree, GIVEN)
        for diagnostic in diagnostics:
            report(diagnostic)
    body = (c.Performs(start, span=scenario.span), *layer.body)  # type: ignore[misc]
    return {**model.blocks, GIVEN: replace(layer, body=body)}


def _condition(line: Scalar, ruleset: Ruleset, report: Report) -> tuple[c.Expression, int]:
    tree = condition_of(line, report)
    frame = Frame()
    if tree is None:
        return c.Const(False), 0
    return Expressions(ruleset.model, ruleset.model.signatures, frame, report).condition(tree), frame.size


def _expression(text: Scalar, ruleset: Ruleset, report: Report) -> tuple[c.Expression, int]:
    tree = expression_of(text, report)
    frame = Frame()
    if tree is None:
        return c.Const(False), 0
    return Expressions(ruleset.model, ruleset.model.signatures, frame, report).value(tree), frame.size


def _check_names(scenario: Scenario, ruleset: Ruleset) -> Iterator[Diagnostic]:
    model = ruleset.model
    for cite in scenario.cites:
        if cite.text not in ruleset.statements:
            near = did_you_mean(cite.text, ruleset.statements)
            yield Diagnostic("E601", f"no statement is called `{cite.text}`{near}", cite.span)
    if scenario.phase is not None and scenario.phase.text not in model.phases:
        near = did_you_mean(scenario.phase.text, model.phases)
        yield Diagnostic("E301", f"`{scenario.phase.text}` is no phase{near}", scenario.phase.span)
    if ruleset.id not in scenario.fails_for:  # where it must fail, it may be for lack of what it names
        yield from _check_values(scenario, ruleset)
    for move in scenario.when:
        yield from _check_move(move, ruleset)
    if scenario.refused is not None:
        yield from _check_move(scenario.refused.move, ruleset)
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
                yield Diagnostic("E301", f"no {what} is called `{name}`{near}", entry.key.span, help=_listed(names))
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
        message = f"no decision has the alternative `{name}`{did_you_mean(name, taken)}"
        yield Diagnostic("E301", message, move.span, help=_listed(taken))
        return
    for key in move.choice:
        if key != "do" and key not in taken[name]:
            message = f"`{name}` takes no `{key}`{did_you_mean(key, taken[name])}"
            yield Diagnostic("E301", message, move.span, help=_listed(taken[name] - {"who"}))
