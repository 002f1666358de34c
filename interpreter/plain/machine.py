"""The plain form of a ruleset: a closure for each checked expression and step, a short list of closures for each
stretch.

This is the reference implementation, kept simple, for one ruleset with its players and settings. :class:`Machine` runs
stretches until the next decision or the end. It implements the course of a game: set-up, rounds, phases, turns,
settling, delayed blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import islice
from typing import TypeAlias, assert_never

from msgspec import Struct

from interpreter.base.lazy import Lazy
from interpreter.base.source import Span
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.effects import CHOICE, take_back
from interpreter.kernel.state import Frame, State, Value, stacked
from interpreter.language import core
from interpreter.language.core import Option
from interpreter.language.model import StandingRule
from interpreter.language.preferences import Policy
from interpreter.language.types import Type
from interpreter.lowering import lower
from interpreter.lowering.constants import Caller, Constants, RuleFailure, check_records
from interpreter.lowering.watches import with_matches
from interpreter.plain.closures import MAXIMUM_PASSES, Env, Evaluate, Run, effort, row
from interpreter.plain.evaluate import Evaluator
from interpreter.plain.perform import Functions

__all__ = ["AskSite", "Code", "Machine", "OptionSite", "combinations"]

MAXIMUM_DEPTH = 200
"""Maximum number of procedures with a frame that are open at once."""
TOO_DEEP = "rules call each other too deeply"
REPLAY_TIMES = 50
"""Factor on the step budget when the plain form replays choices of a module."""

Code = tuple[int, tuple[Value, ...]]
"""An option as the machine lists it: the number of the alternative, and its values."""

SPECIALS = (
    *("start", "settle", "round_start", "next_phase", "phase_over", "phase_kept", "phase_done"),
    *("round_over", "round_kept", "turn_over", "turn_kept", "turn_done", "phase_begin", "nothing"),
)
"""Stretches that drive a game. They follow those of the rules, in the same order in both forms."""


class OptionSite(Struct, frozen=True):
    """A compiled alternative: its decision and procedure, its guard, its choices in order, and its tests. ``types`` are
    those of the context and the choices."""

    ask: core.Ask
    procedure: str
    guard: Evaluate | None
    variables: tuple[int, ...]
    items: tuple[Evaluate, ...]
    tests: tuple[Evaluate, ...]
    types: tuple[Type, ...]
    core: Option

    @property
    def name(self) -> str:
        return self.core.name


class AskSite(Struct, frozen=True):
    """A compiled decision."""

    ask: core.Ask
    procedure: str
    seat: Evaluate
    context: tuple[tuple[str, Evaluate], ...]
    options: tuple[OptionSite, ...]
    bodies: tuple[int, ...]


Going: TypeAlias = "tuple[int, Env, Frame | None]"
"""The next stretch, its locals and the frame of its caller."""
End: TypeAlias = "Callable[[State, Env, Frame | None], Going | None]"
"""The end of a stretch. It returns None if the game waits or is over."""


@dataclass(eq=False)
class Machine:
    """Runs a lowered program for one set of players and settings."""

    program: lower.Program
    constants: Constants
    resets: dict[str, list[tuple[int, Value]]] = field(default_factory=dict)
    """For each turn, phase and round, the cells that are reset at its end, with their values."""
    known: InitVar[Functions | None] = None

    def __post_init__(self, known: Functions | None) -> None:
        self.functions = Functions(self.program, self.constants, known)
        self.expressions: Evaluator = self.functions
        self.meter = self.functions.meter
        base = self.constants.layout.base
        self.pending, self._settling = base["pending"], base["settling"]
        self._kept, self._phase, self._round = base["kept"], base["phase"], base["round"]
        self._turn, self._over = base["turn"], base["over"]
        counts = self.constants.statics["seat.counts"]
        self._asked = frozenset(seat for seat in self.constants.seats if counts[seat])
        self.first_special = len(self.program.stretches)
        self._special = {name: number for number, name in enumerate(SPECIALS, self.first_special)}
        self._watches = Lazy(self._watch)
        self._stretches = Lazy(self._stretch)
        """Steps and ends of the stretches, by number: few games reach all of them."""
        specials = self._specials()
        self._stretches.update((number, ((), specials[name])) for name, number in self._special.items())
        self._repeats = False
        """True while choices are made again."""
        self.asks = Lazy(self._site)
        """The decisions, by the number of their stretch."""

    # --- running

    def start(self, state: State, chance: ChanceSource) -> None:
        """Start a game and run to the first decision, or the end."""
        self.run(state, chance, (self._special["start"], [], None))

    def take(self, state: State, chance: ChanceSource, option: int, values: tuple[Value, ...]) -> int:
        """Apply a choice, which must be legal, and run to the next decision. A failure restores the state.

        Return the number of the stretch that asked.
        """
        frame, effects = state.frame, self.constants.effects
        assert frame is not None
        length, waiting = len(state.log), effects.waiting(state)
        site = self.asks[frame[0]]
        chosen, env, scratch = site.options[option], list(frame[1]), list(frame[1])
        self.meter.refill()
        actor = site.seat(state, scratch)  # its loops set locals that the body must not see
        context = tuple(value(state, scratch) for _, value in site.context)
        visible, told = self.constants.visible_in, zip((*context, *values), chosen.types, strict=True)
        seen = tuple([visible(state, value, type_) for value, type_ in told])
        state.log.append((CHOICE, chosen, frame, actor, values, context, seen))
        for variable, value in zip(chosen.variables, values, strict=True):
            env[variable] = value
        try:
            self.run(state, chance, (site.bodies[option], env, frame[2]))
        except RuleFailure:
            take_back(state, length)
            state.frame = frame
            effects.wait_again(state, waiting)
            raise
        return frame[0]

    def perform(self, state: State, chance: ChanceSource, procedure: str, then: str = "", number: int = 1) -> None:
        """Run a procedure outside the rounds (the `given` of a scenario), then continue with a phase, or stop."""
        self.functions.draw_from(chance)
        up = self._frame("nothing")
        if then:
            self.constants.effects.put(state, self._round, number, None)
            self.constants.effects.put(state, self._phase, self.constants.model.phases.index(then) - 1, None)
            up = self._frame("next_phase")
        self.run(state, chance, self._enter(procedure, (), up, state))

    def replay(self, state: State, chance: ChanceSource, choices: Sequence[Code | None]) -> None:
        """Replay choices that a module has made; None stands for the set-up.

        A module counts steps in its own way, so the step limit is higher here. A log that is too long is a failure.
        That each decision has an option need not be looked at again.
        """
        self.meter.times, self._repeats = REPLAY_TIMES, True
        try:
            for choice in choices:
                check_records(len(state.log), None)
                if choice is None:
                    self.start(state, chance)
                else:
                    self.take(state, chance, *choice)
        finally:
            self.meter.times, self._repeats = 1, False

    def run(self, state: State, chance: ChanceSource, going: Going | None) -> None:
        self.functions.draw_from(chance)
        stretches, effects = self._stretches, self.constants.effects
        passes = 0
        self.meter.refill()
        before = effects.waiting(state)
        try:
            while going is not None:
                index, env, up = going
                passes += 1
                if passes > MAXIMUM_PASSES:
                    place = self._place(state, index)
                    raise RuleFailure("this never reaches a decision", place, "R002")
                steps, end = stretches[index]
                for step in steps:
                    step(state, env)
                going = end(state, env, up)
            effects.settle_up(state, before)
        except RuleFailure as failure:
            self._name_chain(failure, state, going)
            effects.wait_again(state, before)
            raise
        except RecursionError:  # the caller has used up the stack: `check_flow` bounds what rules need
            place = self._place(state, going[0]) if going is not None else None
            effects.wait_again(state, before)
            raise RuleFailure(TOO_DEEP, place, "R002") from None

    def _place(self, state: State, index: int) -> Span | None:
        """Return the source position of a stretch, of the active standing rule, or of the phase."""
        model = self.constants.model
        if index < self.first_special:
            return self.program.stretches[index].span
        phase: int = state.cells[self._phase]
        pending: int = state.cells[self.pending]
        if pending and state.cells[self._settling]:
            return self.constants.watches[(pending & -pending).bit_length() - 1].rule.span
        return model.rules[model.phases[phase]].top.span if 0 <= phase < len(model.phases) else None

    def _name_chain(self, failure: RuleFailure, state: State, going: Going | None) -> None:
        failure.round = state.cells[self._round]
        if going is None:
            return
        failed = self.program.layer_at(failure.span) if failure.span is not None and not failure.chain else None
        last = failure.chain[-1][0] if failure.chain else failed.spoken if failed is not None else ""
        is_first = True  # an active standing rule, or one that runs without suspending, is in the chain already
        for index, *_ in stacked((going[0], (), going[2], -1)):
            if index < self.first_special:
                stretch = self.program.stretches[index]
                rule = self.program.procedures[stretch.procedure].layer.spoken
                caller = Caller(rule, stretch.span)
                if rule != last and caller not in failure.chain:  # the last has the exact position of the call already
                    failure.chain.append(caller)
                last = rule
            elif index == self._special["settle"] and not is_first and last in self.constants.model.standing:
                self._in_standing(failure, self.constants.model.standing[last])
            is_first = False

    def _in_standing(self, failure: RuleFailure, rule: StandingRule) -> None:
        """Add a standing rule, which has no caller, to the chain of a failure."""
        if failure.chain and failure.chain[-1].rule == rule.name:
            failure.chain[-1] = failure.chain[-1]._replace(how="called by the standing rule")
        else:
            failure.chain.append(Caller(rule.name, rule.span, "in the standing rule"))

    # --- the course of a game: set-up, rounds, phases

    def _specials(self) -> dict[str, End]:
        return {
            "start": self._start,
            "settle": self._settle,
            "round_start": self._round_start,
            "next_phase": self._next_phase,
            "phase_begin": self._phase_begin,
            "phase_over": self._settling_then("phase_kept"),
            "phase_kept": self._ending("phase", self._settling_then("phase_done")),
            "phase_done": self._phase_done,
            "round_over": self._settling_then("round_kept"),
            "round_kept": self._ending("round", self._round_done),
            "turn_over": self._settling_then("turn_kept"),
            "turn_kept": self._ending("turn", self._settling_then("turn_done")),
            "turn_done": self._turn_done,
            "nothing": self._nothing,
        }

    def _frame(self, special: str, up: Frame | None = None) -> Frame:
        return self._special[special], (), up, -1

    def _settling_then(self, special: str) -> End:
        return lambda state, env, up: self._settled(state, self._frame(special, up))

    def _ending(self, of: str, then: End) -> End:
        """Run the blocks delayed until the end of a turn, phase or round, one after another; then continue."""

        def end(state: State, env: Env, up: Frame | None) -> Going | None:
            block = self._take_kept(state, "end", of)
            if block is not None:
                return self._enter(block[2], block[3], self._frame(f"{of}_kept", up), state)
            return then(state, env, up)

        return end

    def _start(self, state: State, env: Env, up: Frame | None) -> Going | None:
        self.constants.effects.mark(state, "start of game", 0)
        return self._enter(self._top(self.constants.model.setup), (), self._frame("round_start"), state)

    def _top(self, rule: str) -> str:
        return self.constants.model.rules[rule].top.id

    def _round_start(self, state: State, env: Env, up: Frame | None) -> Going | None:
        number = state.cells[self._round] + 1
        self.constants.effects.mark(state, "start of round", number, (self._round, number), (self._phase, -1))
        self._fall_due(state, "round")
        return self._special["next_phase"], [], None

    def _next_phase(self, state: State, env: Env, up: Frame | None) -> Going | None:
        number = self.phase_due(state)
        if number is None:
            return self._special["round_over"], [], None
        word = f"start of {self.constants.model.phases[number]}"
        self.constants.effects.mark(state, word, number, (self._phase, number))
        self._fall_due(state, "phase")
        return self._special["phase_begin"], [], None

    def phase_due(self, state: State) -> int | None:
        """Return the next phase whose condition holds."""
        model = self.constants.model
        for number in range(state.cells[self._phase] + 1, len(model.phases)):
            guard = model.phase_guards[number]
            if guard is None or self.expressions.closure(guard.value)(state, [None] * guard.local_count):
                return number
        return None

    def _phase_begin(self, state: State, env: Env, up: Frame | None) -> Going | None:
        """Run due blocks, then the phase. Blocks delayed until the start of a round run in its first phase."""
        block = self._take_kept(state, "due", "round") or self._take_kept(state, "due", "phase")
        if block is not None:
            return self._enter(block[2], block[3], self._frame("phase_begin"), state)
        phase = self.constants.model.phases[state.cells[self._phase]]
        return self._enter(self._top(phase), (), self._frame("phase_over"), state)

    def _fall_due(self, state: State, of: str) -> None:
        """Mark the blocks that wait for this start as due. Blocks that they delay in turn wait for the next start."""
        blocks = state.cells[self._kept]
        due = tuple(("due", *block[1:]) if block[:2] == ("start", of) else block for block in blocks)
        self.constants.effects.put(state, self._kept, due, None)

    def _phase_done(self, state: State, env: Env, up: Frame | None) -> Going | None:
        number = state.cells[self._phase]
        self._reset(state, "phase")
        self.constants.effects.mark(state, f"end of {self.constants.model.phases[number]}", number)
        return self._special["next_phase"], [], None

    def _round_done(self, state: State, env: Env, up: Frame | None) -> Going | None:
        self._reset(state, "round")
        self.constants.effects.mark(state, "end of round", state.cells[self._round])
        return self._special["round_start"], [], None

    def _turn_done(self, state: State, env: Env, up: Frame | None) -> Going | None:
        self._reset(state, "turn")
        self.constants.effects.mark(state, "end of turn", state.cells[self._turn], (self._turn, -1))
        return self._leave(up, None)

    def _nothing(self, state: State, env: Env, up: Frame | None) -> Going | None:
        state.frame = None
        return None

    def _take_kept(self, state: State, edge: str, of: str) -> tuple[Value, ...] | None:
        """Remove and return the first block that waits for this moment."""
        blocks: tuple[tuple[Value, ...], ...] = state.cells[self._kept]
        for position, block in enumerate(blocks):
            if block[:2] == (edge, of):
                self.constants.effects.put(state, self._kept, blocks[:position] + blocks[position + 1 :], None)
                return block
        return None

    def _reset(self, state: State, lasts: str) -> None:
        for cell, start in self.resets.get(lasts, ()):
            self.constants.effects.put(state, cell, start, None)

    # --- settling

    def _settled(self, state: State, back: Frame) -> Going:
        """Settle, then continue with the frame."""
        if not state.cells[self.pending] or state.cells[self._settling]:
            return back[0], list(back[1]), back[2]
        state.cells[self._settling] = 1
        return self._special["settle"], [], back

    def _settle(self, state: State, env: Env, up: Frame | None) -> Going | None:
        """Run one match of the first watch that has one; if none is left, return to the frame below.

        Later watches without a match sleep until they are woken again.
        """
        cells = state.cells
        while True:
            pending = cells[self.pending]
            if not pending:
                cells[self._settling] = 0
                return self._leave(up, None)
            number = (pending & -pending).bit_length() - 1
            name, match = self._watches[number]
            values = match(state)
            if values is not None:
                cells[self.pending] = with_matches(pending, number, lambda other: self._watches[other][1](state))
                try:
                    return self._enter(name, values, self._frame("settle", up), state)
                except RuleFailure as failure:
                    self._in_standing(failure, self.constants.watches[number].rule)
                    raise
            cells[self.pending] = pending & ~(1 << number)

    def _watch(self, number: int) -> tuple[str, Callable[[State], tuple[Value, ...] | None]]:
        watch = self.constants.watches[number]
        rule = watch.rule
        cost = effort(rule.test)
        binders = [(index, self.expressions.looked_through(items, cost)) for index, items in watch.binders]
        known = () if watch.seat is None else (watch.seat,)
        meter = self.meter
        test = self.expressions.compile(rule.test) if rule.test is not None else None
        size = rule.local_count

        def match(state: State) -> tuple[Value, ...] | None:
            env: Env = [None] * size
            try:
                for seat in known:
                    meter.charge(1 + cost, rule.span)
                    env[rule.binders[0][0]] = seat
                for values in combinations(state, env, binders):
                    if test is None or test(state, env):
                        return (*known, *values)
            except RuleFailure as failure:
                self._in_standing(failure, rule)
                raise
            return None

        return rule.procedure, match

    # --- procedures

    def _enter(self, procedure: str, values: Sequence[Value], up: Frame | None, state: State) -> Going | None:
        """Enter a procedure. One without a frame runs at once."""
        lowered = self.program.procedures[procedure]
        if lowered.steps is not None:
            value = self.functions.called[procedure](state, tuple(values))
            return self._leave(up, value)
        if sum(frame[0] < self.first_special for frame in stacked(up)) >= MAXIMUM_DEPTH:
            raise RuleFailure(TOO_DEEP, lowered.layer.span, "R002")
        return lowered.entry, [*values, *([None] * (lowered.local_count - len(values)))], up

    def _leave(self, up: Frame | None, value: Value) -> Going:
        assert up is not None
        index, locals_, further, into = up
        env = list(locals_)
        if into >= 0:
            env[into] = value
        return index, env, further

    def learn(self, policy: Policy) -> None:
        """Register the functions of a policy, so that expressions can call them. Equal functions have equal ids."""
        known = self.program.reach.procedures
        for layer in policy.rules:
            known.setdefault(layer.id, layer)

    # --- stretches

    def _stretch(self, index: int) -> tuple[tuple[Run, ...], End]:
        stretch = self.program.stretches[index]
        steps = tuple(map(self.functions.step, stretch.steps))
        cost = effort(stretch.steps)
        if cost > 1:
            steps = (lambda state, env: self.meter.charge(cost, stretch.span), *steps)
        return steps, self._end(index, stretch)

    def _end(self, index: int, stretch: lower.Stretch) -> End:
        end, kept = stretch.end, self._kept_of(stretch.procedure)
        match end:
            case lower.Jumps(to):
                return lambda state, env, up: (to, env, up)
            case lower.Forks(test, then, otherwise):
                holds = self.functions.test(test)
                return lambda state, env, up: (then if holds(state, env) else otherwise, env, up)
            case lower.Asks(ask):
                return self._ask(index, ask, kept)
            case lower.Calls(call, into, then):
                return self._call(call, into, then, kept)
            case lower.Leaves(value):
                result = self.expressions.compile(value) if value is not None else None
                return lambda state, env, up: self._leave(up, result(state, env) if result is not None else None)
            case lower.SettlesThen(then):
                return lambda state, env, up: self._settled(state, (then, kept(env), up, -1))
            case lower.TurnEnds(then):
                return lambda state, env, up: (self._special["turn_over"], [], (then, kept(env), up, -1))
            case lower.Advances(loop, body, after):
                return self._advance(loop, body, after)
            case lower.Counts(loop, then):
                return self._count(loop, then)
            case lower.Stops():
                return self._stop
            case _:
                assert_never(end)

    def _kept_of(self, procedure: str) -> Callable[[Env], tuple[Value, ...]]:
        """Return a function that makes a frame's locals, without the temporary ones."""
        stored, count = self.program.stored[procedure], self.program.procedures[procedure].local_count
        if stored.keys() >= {*range(count)}:
            return tuple
        return lambda env: tuple([value if index in stored else None for index, value in enumerate(env)])

    def _site(self, index: int) -> AskSite:
        stretch, end = self.program.asks[index]
        ask, compile_ = end.ask, self.expressions.compile
        options = tuple(
            OptionSite(
                ask,
                stretch.procedure,
                compile_(option.guard) if option.guard is not None else None,
                tuple(choice.variable for choice in option.choices),
                tuple(self.expressions.looked_through(choice.items, effort(option.tests)) for choice in option.choices),
                tuple(compile_(test) for test in option.tests),
                tuple(each.type for each in (*(value for _, value in ask.context), *option.choices)),
                option,
            )
            for option in ask.options
        )
        context = tuple((name, compile_(value)) for name, value in ask.context)
        return AskSite(ask, stretch.procedure, compile_(ask.seat), context, options, end.bodies)

    def _ask(self, index: int, ask: core.Ask, kept: Callable[[Env], tuple[Value, ...]]) -> End:
        site, chosen = self.asks[index], tuple(ask.chosen)
        sure = any(option.guard is None and not option.variables and not option.tests for option in site.options)

        def stop(state: State, env: Env, up: Frame | None) -> Going | None:
            for variable in chosen:
                env[variable] = None
            if state.cells[self.pending] and not state.cells[self._settling]:
                return self._settled(state, (index, kept(env), up, -1))
            state.frame = (index, kept(env), up, -1)
            if (seat := site.seat(state, env)) not in self._asked:
                role = list(self.constants.model.roles)[self.constants.statics["seat.role"][seat]]
                raise RuleFailure(f"`{ask.name}` asks a `{role}`, which does not count", ask.span)
            if not sure and not self._repeats and not self._has_options(state, env, site, 1):
                raise RuleFailure(f"`{ask.name}` leaves no choice", ask.span)
            return None

        return stop

    def _call(
        self, call: core.CallRule | core.CallBase, into: int, then: int, kept: Callable[[Env], tuple[Value, ...]]
    ) -> End:
        target = self.program.target(call)
        values_of = row(list(map(self.expressions.kept, call.arguments)))
        return lambda state, env, up: self._enter(target, values_of(state, env), (then, kept(env), up, into), state)

    def _advance(self, loop: core.Iterate, body: int, after: int) -> End:
        items, position = loop.hidden
        variable, turn = loop.variable, loop.turn
        test = self.expressions.compile(loop.test) if loop.test is not None else None
        effects = self.constants.effects

        def advance(state: State, env: Env, up: Frame | None) -> Going | None:
            while env[position] < len(env[items]):
                env[variable] = env[items][env[position]]
                env[position] += 1
                if test is None or test(state, env):
                    if turn:
                        effects.mark(state, "start of turn", env[variable], (self._turn, env[variable]))
                    return body, env, up
            env[items] = ()
            return after, env, up

        return advance

    def _count(self, loop: core.Repeat, then: int) -> End:
        assert loop.bound is not None
        bound = self.expressions.compile(loop.bound)

        def count(state: State, env: Env, up: Frame | None) -> Going | None:
            env[loop.hidden] += 1
            if env[loop.hidden] > bound(state, env):
                raise RuleFailure(f"this loop exceeded its bound of {bound(state, env)}", loop.span)
            return then, env, up

        return count

    def _stop(self, state: State, env: Env, up: Frame | None) -> Going | None:
        effects = self.constants.effects
        effects.put(state, self._over, True, None)
        effects.mark(state, "end of game", state.cells[self._round])
        state.frame = None
        return None

    # --- options

    def options(self, state: State, env: Env, site: AskSite) -> Iterator[tuple[int, tuple[Value, ...]]]:
        """Yield all legal choices: the number of the alternative and its values."""
        for number, option in enumerate(site.options):
            yield from ((number, values) for values in self.values(state, env, option))

    def is_free(self, state: State) -> bool:
        """Return whether the current decision has more than one option."""
        frame = state.frame
        assert frame is not None
        return self._has_options(state, list(frame[1]), self.asks[frame[0]], 2)

    def _has_options(self, state: State, env: Env, site: AskSite, number: int) -> bool:
        """Return whether there are at least so many options. Alternatives with few choices are tried first."""
        options = sorted(site.options, key=lambda option: len(option.variables))
        found = (values for option in options for values in self.values(state, env, option))
        return len(list(islice(found, number))) == number

    def values(self, state: State, env: Env, option: OptionSite) -> Iterator[tuple[Value, ...]]:
        """Yield the legal values of one alternative."""
        self.meter.refill()
        env = list(env)
        if option.guard is not None and not option.guard(state, env):
            return
        for values in combinations(state, env, list(zip(option.variables, option.items, strict=True))):
            if all(test(state, env) for test in option.tests):
                yield values


def combinations(state: State, env: Env, binders: Sequence[tuple[int, Evaluate]]) -> Iterator[tuple[Value, ...]]:
    """Yield every combination of the binders' items. A binder may read the ones before it."""
    if not binders:
        yield ()
        return
    (variable, items), *others = binders
    for item in items(state, env):
        env[variable] = item
        if not others:
            yield (item,)
        else:
            for values in combinations(state, env, others):
                yield (item, *values)
