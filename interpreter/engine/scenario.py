"""Scenarios: tests that a ruleset's author writes as given, when, then.

In goes a file of scenarios; out come scenarios, checked against a ruleset, and what came of running them. A scenario is
checked once and can be run against changed forms of its ruleset: what it says is bound to names, not to bodies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from interpreter.base.diagnostics import Diagnostic, RulesetError, render, unique
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.compiler.constants import Env, RuleFailure
from interpreter.compiler.lower import lower
from interpreter.compiler.reach import reach_of
from interpreter.engine.because import Because, text_of
from interpreter.engine.game import Game
from interpreter.engine.refusal import IllegalMove, because_of
from interpreter.engine.ruleset import Ruleset, find, load
from interpreter.engine.script import chance_types
from interpreter.engine.soundness import Examiner, Trouble, drawing, some_option
from interpreter.kernel.chance import Scripted
from interpreter.language import core as c
from interpreter.language.check import check_text
from interpreter.language.expressions import Expressions
from interpreter.language.model import RuleLayer
from interpreter.language.parse import parse_procedure
from interpreter.language.scope import Frame
from interpreter.language.texts import Report, condition_of, parsed
from interpreter.language.types import NOTHING
from interpreter.reading.citations import Statement, statements_of
from interpreter.reading.compose import word, words
from interpreter.reading.files import Document, Shelf, names_a_file, shelf_for
from interpreter.reading.yaml import Mapping, Scalar, Sequence, plain

__all__ = [
    "Checked",
    "Compared",
    "Failure",
    "Move",
    "Outcome",
    "Refusal",
    "Scenario",
    "Suite",
    "begun",
    "check_scenario",
    "read_scenarios",
    "run_scenario",
    "suite_of",
]

GIVEN = "given"
_RULESETS = ("ruleset", "holds_for", "fails_for")


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


@dataclass(frozen=True, slots=True)
class Compared:
    """A value that should equal another one: what was looked at, and both in words."""

    what: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that came out otherwise than a scenario says, with the values that show it."""

    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    compared: tuple[Compared, ...] = ()

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        return "\n".join([f"{where}{self.message}", *(f"   note: {note}" for note in self.notes)])


@dataclass(frozen=True)
class Outcome:
    """What came of running a scenario with a ruleset."""

    scenario: Scenario
    ruleset: str
    failures: tuple[Failure, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.failures


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
        places=tuple(raw.get("places") or ()),
        span=item["name"].span,
        item=item,
    )


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
    found.extend(_check_names(scenario, ruleset))
    if any(diagnostic.severity == "error" for diagnostic in found):
        return None, found
    return Checked(scenario, ruleset, blocks, conditions), found


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


# --- running ----------------------------------------------------------------------------------------------------------


def run_scenario(checked: Checked, ruleset: Ruleset | None = None) -> Outcome:
    """Plays a scenario and looks at what it says; ``ruleset`` may be a changed form of the one it was checked with."""
    ruleset = ruleset or checked.ruleset
    return Outcome(checked.scenario, ruleset.id, tuple(_failures(checked, ruleset)))


def _failures(checked: Checked, ruleset: Ruleset) -> Iterator[Failure]:
    scenario = checked.scenario
    try:
        game = begun(checked, ruleset)
    except RulesetError as error:
        yield Failure("the table cannot be set", scenario.span, tuple(d.message for d in error.diagnostics))
        return
    except (ValueError, RuleFailure) as error:
        yield _cannot("it cannot begin", error, scenario.span)
        return
    surely = scenario.when if scenario.sound is None else scenario.when[:-1]
    for number, move in enumerate(surely, 1):
        wrong = _made(game, move, number)
        if wrong is not None:
            yield wrong
            return
    if scenario.sound is not None:
        yield from _unsound(game, scenario)
    if scenario.refused is not None:
        yield from _refused(game, scenario.refused)
    elif scenario.given is not None and (waits := _waits(game)) is not None:
        yield Failure(f"nothing is given yet: {_asked(game)}", scenario.span, waits)
        return
    yield from _unused(game, scenario)
    for line, (condition, size) in zip(scenario.then, checked.conditions, strict=True):
        yield from _holds(game, line, condition, size)
    if scenario.places:
        yield from _placed(game, scenario)


def _cannot(what: str, error: Exception, span: Span) -> Failure:
    first, *others = str(error).splitlines() or [type(error).__name__]
    return Failure(f"{what}: {first}", span, tuple(line.strip() for line in others))


def begun(checked: Checked, ruleset: Ruleset) -> Game:
    """The game after its set-up and what is given, at the first decision of the scenario's phase."""
    scenario = checked.scenario
    players = scenario.players or ruleset.players.usual
    ruleset.check_players(players)
    settings = ruleset.settings(scenario.settings)
    game = Game.seated(_with_blocks(ruleset, checked.blocks), players, scenario.seed, settings, scenario.chance)
    then = ""
    if scenario.phase is not None:
        then = scenario.phase.text
    elif scenario.when or scenario.refused or scenario.sound is not None:
        then = ruleset.model.phases[0]
    game.machine.plain = True  # every scenario has a program of its own, which is not worth emitting
    game.perform(GIVEN, then, scenario.round)
    return game


def _with_blocks(ruleset: Ruleset, blocks: dict[str, RuleLayer]) -> Ruleset:
    model = replace(ruleset.model, blocks={**ruleset.model.blocks, **blocks})
    return replace(ruleset, model=model, program=lower(model, reach_of(model)), _tables={})


def _asked(game: Game) -> str:
    decision = game.decision
    return f"seat {decision.actor} decides `{decision.name}`" if decision else "nobody is asked any more"


def _waits(game: Game) -> tuple[str, ...] | None:
    """Where the set-up still asks somebody, so that nothing that is given lies there, what can be done about it."""
    stretches, frame, model = game.ruleset.program.stretches, game.state.frame, game.ruleset.model
    while frame is not None:
        index, _, frame, _ = frame
        if index < len(stretches) and stretches[index].procedure.partition("@")[0] == model.setup:
            free = ", ".join(f"`{name}`" for name in model.settings if game.settings[name] is None)
            answered = f", or by a setting under `set`: {free}" if free else ""
            return ("the set-up asks this, and what is given is laid after it", f"answer it under `when`{answered}")
    return None


def _made(game: Game, move: Move, number: int) -> Failure | None:
    """Makes a choice; gives what is in its way."""
    decision = game.decision
    if decision is None or decision.actor != move.by:
        return Failure(f"choice {number}: {_asked(game)}, not seat {move.by}", move.span, _waits(game) or ())
    try:
        game.apply(move.choice)
    except IllegalMove as error:
        return Failure(f"choice {number}: {_asked(game)}; {error}", move.span, _waits(game) or ())
    except RuleFailure as error:
        return _cannot(f"choice {number}", error, move.span)
    return None


def _unsound(game: Game, scenario: Scenario) -> Iterator[Failure]:
    """What is wrong with the game before and after the last choice, which may also be refused, and on so many choices
    by chance, or until the phase ends that play began with."""
    draw = drawing(scenario.seed, "scenario")
    examiner = Examiner(game, draw, thorough=True, compares=False)
    for move in scenario.when[-1:]:
        if game.decision is None or game.decision.actor != move.by:
            yield Failure(f"the last choice: {_asked(game)}, not seat {move.by}", move.span)
            return
        troubles = list(examiner.look())
        if not troubles and game.accepts(move.choice):
            troubles = list(examiner.make(game.offered(move.choice)))
        if troubles:
            yield from _told_once(troubles)
            return
    troubles = list(examiner.look())
    examiner.thorough = False
    for _ in range(scenario.sound or 0):
        if troubles or game.decision is None or (scenario.phase is not None and examiner.phases):
            break
        troubles = [*examiner.make(some_option(game.decision, draw)), *examiner.look()]
    yield from _told_once(troubles)


def _told_once(troubles: Iterable[Trouble]) -> Iterator[Failure]:
    for trouble in {trouble.key: trouble for trouble in troubles}.values():
        yield Failure(str(trouble), trouble.span, trouble.notes)


def _refused(game: Game, refusal: Refusal) -> Iterator[Failure]:
    decision, move = game.decision, refusal.move
    if decision is None or decision.actor != move.by:
        yield Failure(f"what is refused: {_asked(game)}, not seat {move.by}", move.span, _waits(game) or ())
        return
    try:
        game.clone().apply(move.choice)
    except IllegalMove as error:
        yield from _rightly(error, refusal, game.ruleset, _waits(game) or ())
    except RuleFailure as error:
        yield _cannot("what is refused", error, move.span)
    else:
        yield Failure(f"`{move.choice['do']}` is not refused", move.span)


def _rightly(error: IllegalMove, refusal: Refusal, ruleset: Ruleset, waits: tuple[str, ...] = ()) -> Iterator[Failure]:
    """Whether a choice was refused by a rule, the one that is named, with the statements named of its own books."""
    if not error.reasons:
        yield Failure(f"this is refused by no rule: {error}", refusal.move.span, waits)
        return
    if refusal.rule and all(_named(reason.rule) != refusal.rule for reason in error.reasons):
        yield Failure(f"it is not `{refusal.rule}` that refuses this: {error}", refusal.move.span)
    cited = {cite for reason in error.reasons for cite in reason.cites}
    others = set(refusal.cites) & ruleset.statements.keys() - set(ruleset.own_cites(refusal.cites))  # of other books
    missing = [cite for cite in refusal.cites if cite not in cited and cite not in others]
    if missing:
        yield Failure(f"the refusal does not cite {', '.join(missing)}: {error}", refusal.move.span)


def _named(procedure: str) -> str:
    """The rule, trigger or standing rule that a block belongs to."""
    return re.split(r"[@!?/]", procedure)[0]


def _unused(game: Game, scenario: Scenario) -> Iterator[Failure]:
    """A script of chance is used up, or the scenario says something that it does not mean."""
    if not isinstance(game.chance, Scripted):
        return
    base, constants = game.machine.constants.layout.base["chance"], game.machine.constants
    counters = {name: game.state.cells[base + number] for name, number in constants.chance_names.items()}
    for name in game.chance.unused(counters):
        yield Failure(f"not all outcomes of `{name}` are used: {counters.get(name, 0)} are", scenario.span)


def _placed(game: Game, scenario: Scenario) -> Iterator[Failure]:
    result = game.result
    if result is None:
        yield Failure(f"the game is not over: {_asked(game)}", scenario.span)
    elif result.places != scenario.places:
        want = ", ".join(map(str, scenario.places))
        yield Failure(f"the places are {', '.join(map(str, result.places))}, not {want}", scenario.span)


# --- conditions -------------------------------------------------------------------------------------------------------


def _holds(game: Game, line: Scalar, condition: c.Expression, size: int) -> Iterator[Failure]:
    env: Env = [None] * size
    text = " ".join(line.text.split())
    try:
        if not game.machine.expressions.compile(condition)(game.state, env):
            because = because_of(game)
            notes, compared = tuple(because.why_not(condition, env)), tuple(_compared(because, condition, env))
            yield Failure(f"`{text}` does not hold", line.span, notes, compared)
    except RuleFailure as error:
        yield _cannot(f"`{text}` cannot be said", error, line.span)


def _compared(because: Because, node: c.Expression, env: Env) -> Iterator[Compared]:
    """The sides of the equation that does not hold: to the left what was looked at, to the right what it should be."""
    match node:
        case c.Comparison("==", left, right) if not isinstance(left, c.Const):
            yield Compared(text_of(left), because.text(right, env), because.text(left, env))
        case c.Logic("and", left, right):
            yield from _compared(because, right if because.value(left, env) else left, env)
        case _:
            return


# --- many of them -----------------------------------------------------------------------------------------------------


@dataclass
class Suite:
    """Scenarios with the rulesets that they speak of, each loaded once. ``diagnostics`` grow while they are checked."""

    shelf: Shelf
    scenarios: list[Scenario]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    shelves: dict[str, Shelf] = field(default_factory=dict)
    """By the names of files that lie elsewhere, where the rulesets stand of which they speak."""
    _rulesets: dict[tuple[str, str, tuple[str, ...]], Ruleset | None] = field(default_factory=dict)
    _checked: dict[tuple[str, str], Checked | None] = field(default_factory=dict)

    def ruleset(self, id: str, scenario: Scenario) -> Ruleset | None:
        """A ruleset as a scenario plays it, with overlays, where nothing is wrong with it."""
        shelf = self.shelves.get(scenario.span.file.name, self.shelf)
        key = (str(shelf.roots[0]), id, scenario.overlays)
        try:
            if key not in self._rulesets:
                self._rulesets[key] = None
                self._rulesets[key] = load(id, scenario.overlays, shelf)
            ruleset = self._rulesets[key]
            return ruleset.for_players(scenario.players or ruleset.players.usual) if ruleset else None
        except RulesetError as error:
            self.diagnostics.extend(_placed_in(scenario, id, error.diagnostics))
            return None

    @cached_property
    def statements(self) -> dict[str, Statement]:
        """What the rulebooks say, by id."""
        shelves = {str(shelf.roots[0]): shelf for shelf in (*self.shelves.values(), self.shelf)}
        return {id: said for shelf in shelves.values() for id, said in statements_of(shelf).items()}

    def checked(self, scenario: Scenario, ruleset: str) -> Checked | None:
        """A scenario bound to a ruleset, where nothing is wrong with either."""
        key = (scenario.id, ruleset)
        if key not in self._checked:
            loaded = self.ruleset(ruleset, scenario)
            checked, found = check_scenario(scenario, loaded) if loaded else (None, [])
            self._checked[key] = checked
            self.diagnostics.extend(found)
        return self._checked[key]

    def forms(self, ruleset: Ruleset) -> list[Ruleset]:
        """A ruleset, and as it is with the overlays that its scenarios and numbers of players take in."""
        forms = {ruleset.overlays: ruleset}
        for form in (ruleset.for_players(number) for number, _ in ruleset.players.overlays):
            forms.setdefault(form.overlays, form)
        for scenario in (s for s in self.scenarios if ruleset.id in (s.ruleset, *s.holds_for)):
            if (played := self.ruleset(ruleset.id, scenario)) is not None:
                forms.setdefault(played.overlays, played)
        return list(forms.values())

    def bound(self, form: Ruleset) -> Iterator[Checked]:
        """The scenarios that hold for a ruleset and are played with just its overlays, bound to it."""
        for scenario in self.scenarios:
            if form.id in (scenario.ruleset, *scenario.holds_for):
                checked = self.checked(scenario, form.id)
                if checked is not None and checked.ruleset.overlays == form.overlays:
                    yield checked

    @cached_property
    def pairs(self) -> list[tuple[Scenario, str]]:
        """Every scenario with every ruleset that it speaks of."""
        return [(scenario, ruleset) for scenario in self.scenarios for ruleset in scenario.rulesets]

    def outcomes(self) -> Iterator[Outcome]:
        """Runs all scenarios."""
        for scenario, ruleset in self.pairs:
            yield self.outcome(scenario, ruleset)

    def outcome(self, scenario: Scenario, ruleset: str) -> Outcome:
        """Runs one scenario; where it must fail, that it does is what passes."""
        checked = self.checked(scenario, ruleset)
        if checked is None:
            return Outcome(scenario, ruleset, (Failure(f"it does not fit `{ruleset}`", scenario.span),))
        outcome = run_scenario(checked)
        if ruleset not in scenario.fails_for:
            for changed in scenario.fails_with:
                other = replace(scenario, settings={**scenario.settings, **changed})
                if run_scenario(replace(checked, scenario=other)).passed:
                    passes = Failure(f"it holds with {changed} too, with which it is said to fail", scenario.span)
                    outcome = replace(outcome, failures=(*outcome.failures, passes))
            return outcome
        passes = Failure(f"it holds for `{ruleset}` too, for which it is said to fail", scenario.span)
        return Outcome(scenario, ruleset, (passes,) if outcome.passed else ())

    def told(self) -> list[str]:
        """What is wrong with files, names and texts, each once."""
        return [render(diagnostic) for diagnostic in unique(self.diagnostics)]


def _placed_in(scenario: Scenario, ruleset: str, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong with a ruleset of which a scenario speaks; that there is none, where the scenario names it."""
    named = (scalar for key in _RULESETS for scalar in words(scenario.item.get(key)) if scalar.text == ruleset)
    span = next((scalar.span for scalar in named), scenario.span)
    return (replace(each, span=span) if each.span is None else each for each in found)


def suite_of(named: Iterable[str] = (), shelf: Shelf | None = None) -> Suite:
    """The scenarios of files, of all files in folders and of rulesets; all that there are, where nothing is named."""
    names = list(named)
    places = (path for name in names for path in ([Path(name)] if Path(name).exists() else _elsewhere(name)))
    shelf = shelf or shelf_for(next(places, None))
    suite, own = Suite(shelf, []), dict[Path, Shelf]()
    shipped = _read(suite, [shelf.read("scenarios", id) for id in shelf.ids("scenarios")]) if _wants(names) else []
    found = [] if names else shipped
    for name in names:
        path = Path(name)
        if path.exists():
            files = sorted(path.rglob("scenarios/*.yaml")) or sorted(path.glob("*.yaml")) if path.is_dir() else [path]
            for file in files:
                where = own.setdefault(file.parent, shelf_for(file)) if file.is_file() else shelf
                suite.shelves[file.as_posix()] = where
                found.extend(_read(suite, [where.read_path(file)]))
        elif "/" in name or names_a_file(name):
            suite.diagnostics.extend(shelf.read_path(path)[1])
        else:
            if shelf.find("ruleset", name) is None:
                suite.diagnostics.extend(shelf.read("ruleset", name)[1])
            found.extend(scenario for scenario in shipped if name in scenario.rulesets)
    suite.scenarios = list({scenario.id: scenario for scenario in found}.values())
    return suite


def _elsewhere(name: str) -> list[Path]:
    """The file of a ruleset that lies in no folder of rulesets."""
    shelf, document, _ = find(name)
    return [document.path] if document is not None and shelf.ahead else []


def _wants(names: list[str]) -> bool:
    return not names or any(not Path(name).exists() for name in names)


def _read(suite: Suite, documents: Iterable[tuple[Document | None, list[Diagnostic]]]) -> list[Scenario]:
    scenarios: list[Scenario] = []
    for document, found in documents:
        suite.diagnostics.extend(found)
        if document is not None and document.kind == "scenarios":
            read, wrong = read_scenarios(document)
            scenarios.extend(read)
            suite.diagnostics.extend(wrong)
        elif document is not None:
            message = f"`{document.id}` is no file of scenarios: it holds {document.kind}"
            suite.diagnostics.append(Diagnostic("E036", message, document.root[document.kind].span))
    return scenarios
