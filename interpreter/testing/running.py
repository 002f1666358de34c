"""Running scenarios: set up a game, make the choices, and compare the result with the scenario.

Takes scenarios bound to a ruleset; returns outcomes, each failure with the values that explain it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError, few
from interpreter.base.plain_data import Json, picked
from interpreter.base.source import Span
from interpreter.base.yaml_values import word
from interpreter.engine.failing_values import Because, text_of
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.log_records import Mark, read
from interpreter.engine.refusal import IllegalMove, IllegalSetUp, Reason, because_of
from interpreter.hidden.sight import Unseen
from interpreter.kernel.chance import ChanceError
from interpreter.language import core
from interpreter.language.model import spoken_name
from interpreter.lowering.constants import Caller, RuleFailure
from interpreter.lowering.lower import lower
from interpreter.lowering.reach import reach_of
from interpreter.plain.closures import Env
from interpreter.reading.yaml import Scalar, plain
from interpreter.testing.scenarios import GIVEN, Checked, Move, Scenario, Sight, outcome_at
from interpreter.testing.soundness import Examiner, Trouble, drawing, some_option

__all__ = ["Equation", "Failure", "Outcome", "begun", "run_scenario", "wrong_refusal"]


class Equation(Struct, frozen=True):
    """An expected and an actual value as text. ``what`` is the expression compared."""

    what: str
    expected: str
    actual: str


class Failure(Struct, frozen=True):
    """A difference between a game and its scenario, with the values that explain it."""

    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    compared: tuple[Equation, ...] = ()

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else ""
        return "\n".join([f"{where}{self.message}", *(f"   note: {note}" for note in self.notes)])


class Outcome(Struct, frozen=True):
    """Result of running a scenario with a ruleset."""

    scenario: Scenario
    ruleset: str
    failures: tuple[Failure, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.failures

    def as_data(self) -> dict[str, object]:
        cites = [cite.text for cite in self.scenario.keys.cites]
        about = {"ruleset": self.ruleset, "place": self.scenario.span, "cites": cites}
        return {**picked(self.scenario, "name", "file"), **about, **picked(self, "passed", "failures")}


def run_scenario(checked: Checked, ruleset: Ruleset | None = None) -> Outcome:
    """Play a scenario and check it. ``ruleset`` may be a changed form of the one that the scenario was checked with."""
    ruleset = ruleset or checked.ruleset
    return Outcome(checked.scenario, ruleset.id, tuple(_failures(checked, ruleset)))


def _failures(checked: Checked, ruleset: Ruleset) -> Iterator[Failure]:
    scenario = checked.scenario
    try:
        game = begun(checked, ruleset)
    except RulesetError as error:
        yield Failure("the game cannot be set up", scenario.span, tuple(d.message for d in few(error.diagnostics)))
        return
    except (ValueError, RuleFailure) as error:
        if scenario.may_not_begin and isinstance(error, ValueError):
            reasons = error.reasons if isinstance(error, IllegalSetUp) else []
            yield from wrong_refusal(str(error), reasons, scenario, ruleset)
        else:
            yield _cannot("the game cannot start", error, checked, scenario.span)
        return
    if scenario.may_not_begin:
        yield Failure("the game begins", scenario.keys.refused.source.span)
        return
    moves = scenario.when if scenario.keys.sound is None else scenario.when[:-1]
    failure = _skipped(game, scenario)
    for number, move in enumerate(moves, 1):
        failure = failure or _made(game, checked, move, number) or _skipped(game, scenario)
    if failure is not None:
        yield failure
        return
    furthest = game
    if scenario.keys.sound is not None:
        furthest = game.clone()
        yield from _unsound(furthest, checked)
        for move in scenario.when[-1:]:
            try:
                choice = _choice(game, checked, move)
                if game.accepts(choice, move.by):
                    game.apply(choice, move.by)
            except RuleFailure:  # already reported by _unsound
                return
    if scenario.refused is not None:
        yield from _refused(game, checked, scenario.refused)
    elif (seat := scenario.keys.refused.by) is not None and game.decision_of(seat) is not None:
        yield Failure(f"{_pending(game)}, so it may choose", scenario.keys.span("refused"))
    elif scenario.keys.given is not None and (help := _set_up_help(game)):
        yield Failure(f"`given` does not apply yet: {_pending(game)}", scenario.span, help)
        return
    yield from _unused(furthest, checked)
    for line in scenario.keys.then:
        yield from _holds(game, checked, line)
    for sight in scenario.sights:
        yield from _seen(game, checked, sight)
    if scenario.keys.places:
        yield from _placed(game, scenario)


def _cannot(what: str, error: Exception, checked: Checked, span: Span) -> Failure:
    first, *others = str(error).splitlines() or [type(error).__name__]
    return Failure(f"{what}: {first}", _place_of(error, checked) or span, tuple(line.strip() for line in others))


def _place_of(error: Exception, checked: Checked) -> Span | None:
    """Return the place in a scenario at which it fails: the outcome of a chance, the innermost text, or the setting."""
    if isinstance(cause := error.__cause__, ChanceError):
        return _outcome(checked, cause.name, cause.counter)
    scenario = checked.scenario
    item = scenario.keys.source.span
    if isinstance(error, RuleFailure):
        spans = (span for span in (error.span, *(caller.span for caller in error.chain)) if span is not None)
        inside = (span for span in spans if span.file == item.file and scenario.span.end <= span.start < item.end)
        return next(inside, None)
    name = str(error).partition("`")[2].partition("`")[0]
    return next((value.span for key, value in scenario.keys.set if key.text == name and value is not None), None)


def _outcome(checked: Checked, name: str, number: int) -> Span:
    """Return the place of an outcome of chance, by its number from 0."""
    outcomes = next((value for key, value in checked.scenario.keys.chance if key.text == name and value), None)
    shuffles, _ = checked.ruleset.program.reach.chances[name]
    return outcome_at(outcomes, number, shuffles).span if outcomes is not None else checked.scenario.span


def begun(checked: Checked, ruleset: Ruleset) -> Game:
    """Return a game after its set-up and the given facts, at the first decision of the scenario's phase."""
    scenario, keys = checked.scenario, checked.scenario.keys
    players = keys.players or ruleset.players.usual
    ruleset.check_players(players)
    settings = ruleset.settings(scenario.settings)
    model = replace(ruleset.model, blocks={**ruleset.model.blocks, **checked.blocks})
    program = lower(model, reach_of(model, ruleset.program.reach), ruleset.program)
    played = dataclasses.replace(ruleset, model=model, program=program, _tables={})
    if program.chances == ruleset.program.chances:
        table = ruleset.of_scenarios.table(players, settings).with_blocks(program, lambda: played.secrecy)
    else:
        table = played.table(players, settings)
    game = Game.seated(played, table, keys.seed or 0, plain(keys.source).get("chance") or {})
    phase = ""
    if keys.phase is not None:
        phase = keys.phase.text
    elif scenario.when or "refused" in keys or keys.sound is not None:
        phase = ruleset.model.phases[0]
    game.runner.plain = True  # each scenario has its own program, which is not worth compiling to a module
    game.perform(GIVEN, phase, keys.round or 1)
    return game


def _skipped(game: Game, scenario: Scenario) -> Failure | None:
    """Return a failure if play skipped the scenario's phase because the condition of that phase does not hold."""
    model, phase = game.ruleset.model, scenario.keys.phase
    if phase is None:
        return None
    starts = {"end of round", *(f"start of {name}" for name in model.phases)}
    marks = (mark.word for record in game.state.log if isinstance(mark := read(record), Mark))
    first = next((word for word in marks if word in starts), None)
    guard = model.phase_guards[model.phases.index(phase.text)]
    if guard is None or first is None or first == f"start of {phase.text}":
        return None
    message = f"`{phase.text}` does not take place: its condition `{text_of(guard.value)}` does not hold"
    return Failure(message, phase.span, ("under `given`, set up what makes it hold",))


def _pending(game: Game) -> str:
    decision = game.decision
    return f"seat {decision.actor} decides `{decision.name}`" if decision else "no decision is pending"


def _set_up_help(game: Game) -> tuple[str, ...]:
    """Return help if the pending decision belongs to the set-up, so that given facts do not apply yet."""
    stretches, frame, model = game.ruleset.program.stretches, game.state.frame, game.ruleset.model
    while frame is not None:
        index, _, frame, _ = frame
        if index < len(stretches) and stretches[index].procedure.partition("@")[0] == model.setup:
            free = ", ".join(f"`{name}`" for name in model.settings if game.settings[name] is None)
            answered = f", or by a setting under `set`: {free}" if free else ""
            return ("the set-up makes this decision, and `given` applies after it", f"answer it under `when`{answered}")
    return ()


def _not_asked(game: Game, move: Move, what: str) -> Failure | None:
    if game.decision_of(move.by) is not None:
        return None
    return Failure(f"{what}: {_pending(game)}, not seat {move.by}", move.span, _set_up_help(game))


def _choice(game: Game, checked: Checked, move: Move) -> dict[str, Json]:
    """Return the choice of a move, with its values computed. Raises :class:`RuleFailure`."""
    choice = dict(move.choice)
    for name, text in move.texts:
        value, size = checked.texts[text.span]
        game.machine.meter.refill()
        try:
            result = game.machine.expressions.compile(value)(game.state, [None] * size)
        except RuleFailure as error:
            error.chain.append(Caller(str(move.choice["do"]), text.span))
            raise
        choice[name] = game.ruleset.names.public(tuple(result) if isinstance(result, range) else result, value.type)
    return choice


def _made(game: Game, checked: Checked, move: Move, number: int) -> Failure | None:
    """Make a choice. Return a failure if it cannot be made."""
    what = f"choice {number}"
    try:
        failure = _not_asked(game, move, what)
        if failure is None:
            game.apply(_choice(game, checked, move), move.by)
    except IllegalMove as error:
        return Failure(f"{what}: {_pending(game)}; {error}", move.span, _set_up_help(game))
    except RuleFailure as error:
        return _cannot(what, error, checked, move.span)
    return failure


def _unsound(game: Game, checked: Checked) -> Iterator[Failure]:
    """Check that the game is sound before and after the last choice, and during further random choices."""
    scenario = checked.scenario
    draw = drawing(scenario.keys.seed or 0, "scenario")
    examiner = Examiner(game, draw, thorough=True, compares=False)
    for move in scenario.when[-1:]:
        if (failure := _not_asked(game, move, "the last choice")) is not None:
            yield failure
            return
        troubles = list(examiner.look())
        try:
            choice = _choice(game, checked, move)
        except RuleFailure as error:
            yield _cannot("the last choice", error, checked, move.span)
            return
        if not troubles and game.accepts(choice):
            troubles = list(examiner.make(game.offered(choice)))
        if troubles:
            yield from _failures_of(troubles)
            return
    troubles = list(examiner.look())
    examiner.thorough = False
    for _ in range(scenario.keys.sound or 0):
        if troubles or game.decision is None or (scenario.keys.phase is not None and examiner.phases):
            break
        troubles = [*examiner.make(some_option(game.decision, draw)), *examiner.look()]
    yield from _failures_of(troubles)


def _failures_of(troubles: Iterable[Trouble]) -> Iterator[Failure]:
    for trouble in {trouble.key: trouble for trouble in troubles if trouble.kind != "told"}.values():
        yield Failure(str(trouble), trouble.span, trouble.notes)


def _refused(game: Game, checked: Checked, move: Move) -> Iterator[Failure]:
    if (failure := _not_asked(game, move, "`refused`")) is not None:
        note = f"`refused: {{by: {move.by}}}` says that this seat may not choose"
        yield replace(failure, notes=(*failure.notes, note))
        return
    try:
        game.clone().apply(_choice(game, checked, move), move.by)
    except IllegalMove as error:
        help = () if error.reasons else _set_up_help(game)
        yield from wrong_refusal(str(error), error.reasons, checked.scenario, game.ruleset, help)
    except RuleFailure as error:
        yield _cannot("`refused`", error, checked, move.span)
    else:
        yield Failure(f"`{move.choice['do']}` is not refused", move.span)


def wrong_refusal(
    said: str, reasons: list[Reason], scenario: Scenario, ruleset: Ruleset | None = None, help: tuple[str, ...] = ()
) -> Iterator[Failure]:
    """Yield failures unless the expected rule refused it, with the statements of the own rulebooks and the words."""
    keys = scenario.keys.refused
    rule, cites, span = word(keys.rule), tuple(cite.text for cite in keys.cites), keys.span("do")
    if not reasons and (keys.do is not None or rule or cites):
        yield Failure(f"no rule refuses this: {said}", span, help)
        return
    if rule and all(spoken_name(reason.rule) != rule for reason in reasons):
        yield Failure(f"`{rule}` does not refuse this: {said}", span)
    known = {cite for reason in reasons for cite in reason.cites}
    if ruleset is not None:
        known |= set(cites) & ruleset.statements.keys() - set(ruleset.own_cites(cites))  # of other books
    if missing := [cite for cite in cites if cite not in known]:
        yield Failure(f"the refusal does not cite {', '.join(missing)}: {said}", span)
    if keys.says not in said:
        yield Failure(f"the refusal does not say `{keys.says}`: {said}", keys.span("says"))


def _unused(game: Game, checked: Checked) -> Iterator[Failure]:
    """Yield a failure for each scripted random outcome list that was not used up."""
    counts = game.chance_used()
    for name in game.unused_chance():
        used = counts.get(name, 0)
        yield Failure(f"unused outcomes of `{name}`: only {used} used", _outcome(checked, name, used))


def _placed(game: Game, scenario: Scenario) -> Iterator[Failure]:
    result, span = game.result, scenario.keys.span("places")
    wanted = tuple(place.value for place in scenario.keys.places)
    if result is None:
        yield Failure(f"the game is not over: {_pending(game)}", span)
    elif result.places != wanted:
        places, want = (", ".join(map(str, each)) for each in (result.places, wanted))
        yield Failure(f"the places are {places}, not {want}", span)


def _holds(game: Game, checked: Checked, line: Scalar) -> Iterator[Failure]:
    condition, size = checked.texts[line.span]
    env: Env = [None] * size
    text = " ".join(line.text.split())
    try:
        if not game.machine.expressions.compile(condition)(game.state, env):
            because = because_of(game.table, game.state)
            notes, compared = tuple(because.why_not(condition, env)), tuple(_compared(because, condition, env))
            yield Failure(f"`{text}` does not hold", line.span, notes, compared)
    except RuleFailure as error:
        yield _cannot(f"`{text}` cannot be evaluated", error, checked, line.span)


def _seen(game: Game, checked: Checked, sight: Sight) -> Iterator[Failure]:
    """Yield a failure if a seat does not see what it should, or sees what should be hidden."""
    text, seat, span = " ".join(sight.text.text.split()), sight.seat, sight.text.span
    value, size = checked.texts[span]
    if seat not in game.machine.constants.seats:
        yield Failure(f"there is no seat {seat}", span)
        return
    game.machine.meter.refill()
    try:
        seen = game.table.sight.seen_by(game.state, seat)
        result = game.table.sight.compiled(game.state, value, seat)(seen, [None] * size)
        words = game.table.names.text(result, value.type)
    except Unseen:
        if sight.sees:
            yield Failure(f"seat {seat} does not see `{text}`", span)
    except RuleFailure as error:
        yield _cannot(f"`{text}` cannot be evaluated", error, checked, span)
    else:
        if not sight.sees:
            yield Failure(f"seat {seat} sees `{text}`: {words}", span)


def _compared(because: Because, node: core.Expression, env: Env) -> Iterator[Equation]:
    """Yield the sides of the equation that does not hold: the actual value left, the expected one right."""
    match node:
        case core.Comparison("==", left, right) if not isinstance(left, core.Const):
            yield Equation(text_of(left), because.text(right, env), because.text(left, env))
        case core.Logic("and", left, right):
            yield from _compared(because, right if because.value(left, env) else left, env)
