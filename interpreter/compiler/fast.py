"""The fast form of a machine: emitted functions run the stretches, the plain form explains what fails.

It is a :class:`~interpreter.compiler.plain.Machine` with the same stretches, frames, cells and records. What goes wrong
in an emitted function, whatever it is, is taken back to the last choice and done again in the plain form, which raises
the failure with its place and chain. The functions are made when the first game begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from interpreter.compiler.budget import DECISION, LITTLE
from interpreter.compiler.constants import Env, RuleFailure
from interpreter.compiler.emit import Emitted, Emitter
from interpreter.compiler.load import add_functions, code_of, functions_of
from interpreter.compiler.plain import AskSite, Machine, OptionSite
from interpreter.compiler.runtime import CACHES, Abandoned, Runtime
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.effects import CHOICE, PUT
from interpreter.kernel.state import State, Value
from interpreter.language.policies import Policy

__all__ = ["FastMachine"]

MOST_STEPS = 2_000
"""So many returns to the loop between two decisions are left to the plain form, which counts them."""


@dataclass(eq=False)
class Form:
    """The functions of an emitted program, where they are looked up."""

    runtime: Runtime
    stretches: list[Any]
    choices: dict[int, tuple[Any, ...]]
    takes: dict[int, tuple[Any, ...]]
    accepts: dict[int, tuple[Any, ...]]
    options: dict[int, tuple[Any, ...]]
    space: dict[str, Any]
    left: list[int]
    """What may be used up: see :mod:`interpreter.compiler.budget`."""


@dataclass(eq=False)
class FastMachine(Machine):
    """Runs emitted functions, or, as long as ``plain`` is said, the plain form.

    Emitted functions pay for what they do, and give up where nothing is left (:mod:`interpreter.compiler.budget`), so
    any ruleset may run in the fast form. ``abandoned`` counts what was done again in the plain form.
    """

    plain: bool = False
    abandoned: int = 0
    _wholes: dict[str, Any] = field(default_factory=dict)
    _sites: dict[int, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def emitter(self) -> Emitter:
        return Emitter(self)

    @cached_property
    def emitted(self) -> Emitted:
        return self.emitter.whole()

    @cached_property
    def form(self) -> Form:
        """The functions, made now."""
        emitted = self.emitted
        layout = self.constants.layout
        readers: list[tuple[int, ...]] = [()] * layout.size
        for group, caches in emitted.readers.items():
            for i in range(layout.count(group)):
                readers[layout.base[group] + i] = tuple(caches)
        runtime = Runtime(self, readers, emitted.caches, emitted.rows, self.emitter.sizes.longest)
        space = functions_of(code_of(emitted), {**emitted.values, **runtime.names()})
        stretches: list[Any] = [space.get(emitted.stretches.get(i, "")) for i in range(len(self.program.stretches))]
        for index, function in enumerate(stretches):
            if function is None:
                stretches[index] = _plainly(runtime, index)
        runtime.functions.extend([*stretches, *runtime.specials()])
        runtime.standing.extend(space[name] for name in emitted.standing)
        self._wholes.update((name, space[emitted_name]) for name, emitted_name in emitted.procedures.items())
        choices = {i: tuple(space[emitted.choices[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        options = {i: tuple(space[emitted.options[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        for index, site in self.asks.items():
            for number, option in enumerate(site.options):
                self._sites[id(option)] = (index, number)
        takes = {i: tuple(space[emitted.takes[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        accepts = {i: tuple(space[emitted.accepts[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        runtime.budget.forgets(space.values(), self.emitter.costs.remembered)
        return Form(runtime, runtime.functions, choices, takes, accepts, options, space, runtime.budget.left)

    @cached_property
    def is_written(self) -> bool:
        """Whether there is a fast form at all: a ruleset that is too large or too deep for it runs in the plain one."""
        try:
            return self.form is not None
        except Exception:
            return False

    def whole(self, procedure: str) -> Any:
        """A procedure that cannot suspend, as a function of the state and its arguments."""
        return self._wholes[procedure]

    # --- running

    def start(self, state: State, chance: ChanceSource) -> None:
        if self.plain or not self.is_written:
            super().start(state, chance)
            return
        self.chance = chance
        form = self.form
        before, frame = len(state.log), state.frame
        try:
            form.left[0] -= LITTLE
            if form.left[0] < DECISION:
                form.runtime.budget.refill(state)
            form.runtime.ready(state)
            self._go(form, state, (self.START, (), None))
        except Exception:
            self._back(state, before, frame)
            super().start(state, chance)

    def choose(self, state: State, chance: ChanceSource, option: int, values: Sequence[Value]) -> None:
        frame = state.frame
        assert frame is not None
        if self.plain or not self.is_written:
            super().choose(state, chance, option, values)
            return
        self.chance = chance
        form = self.form
        memo = state.memo
        before = len(state.log)
        try:
            form.left[0] -= LITTLE
            if form.left[0] < DECISION:
                form.runtime.budget.refill(state)
            if CACHES not in memo or len(memo) != 1:
                form.runtime.ready(state)
            going = form.choices[frame[0]][option](state, frame[1], frame[2], values)
            if going is not None:
                self._go(form, state, going)
        except Exception:
            self._back(state, before, frame)
            super().choose(state, chance, option, values)

    def take(self, state: State, chance: ChanceSource, option: int, values: tuple[Value, ...]) -> None:
        """Records a choice, which must be legal, and goes on. A failure takes both back."""
        frame = state.frame
        assert frame is not None
        self.chance = chance
        form = self.form
        memo = state.memo
        before = len(state.log)
        try:
            form.left[0] -= LITTLE
            if form.left[0] < DECISION:
                form.runtime.budget.refill(state)
            if CACHES not in memo or len(memo) != 1:
                form.runtime.ready(state)
            going = form.takes[frame[0]][option](state, frame, values)
            if going is not None:
                self._go(form, state, going)
        except Exception:
            self._back(state, before, frame)
            self.take_plain(state, chance, option, values)

    def take_plain(self, state: State, chance: ChanceSource, option: int, values: tuple[Value, ...]) -> None:
        frame = state.frame
        assert frame is not None
        before = len(state.log)
        site = self.asks[frame[0]]
        chosen, env = site.ask.options[option], list(frame[1])
        actor = site.seat(state, env)
        context = tuple(value(state, env) for _, value in site.context)
        seen = self.visible_of_choice(state, site.ask, chosen, context, values)
        what = (chosen.name, option, values)
        record = (CHOICE, chosen.span, frame, actor, site.ask.name, what, site, context, seen, site.ask.sealed)
        state.log.append(record)
        try:
            super().choose(state, chance, option, values)
        except RuleFailure:
            self._back(state, before, frame)
            raise

    # --- one choice

    def accepts(self, state: State, number: int, values: tuple[Value, ...]) -> bool:
        """Whether an alternative with these values, as the machine lists them, is surely legal now."""
        frame = state.frame
        if frame is None or self.plain or not self.is_written:
            return False
        form = self.form
        try:
            form.left[0] -= LITTLE
            if form.left[0] < DECISION:
                form.runtime.budget.refill(state)
            if CACHES not in state.memo:
                form.runtime.ready(state)
            found: bool = form.accepts[frame[0]][number](state, frame[1], values)
        except Exception:
            return False
        return found

    # --- policies

    def preferring(self, policy: Policy) -> dict[int, Any]:
        """For each decision that a policy can be written for, the function that chooses by it."""
        if not self.is_written:
            raise RuleFailure("this ruleset is too large for the fast form", None, "R002")
        form = self.form
        emitted, names = self.emitter.preferences(policy)
        known = set(form.space)
        form.space.update(emitted.values)
        add_functions(code_of(emitted), form.space)
        added = [form.space[name] for name in set(form.space) - known]
        form.runtime.budget.forgets(added, self.emitter.costs.remembered)
        return {index: form.space[name] for index, name in names.items()}

    def play(
        self,
        state: State,
        chance: ChanceSource,
        prefer: dict[int, Any],
        below: Callable[[int], int],
        limit: int = 100_000,
    ) -> int:
        """Lets a policy play to the end; gives the number of decisions. The game must have begun."""
        form = self.form
        takes, log, left = form.takes, state.log, form.left
        self._begin_play(form, state)
        self.chance = chance
        for count in range(limit):
            frame = state.frame
            if frame is None:
                return count
            before = len(log)
            try:
                if not count & 15:
                    left[0] -= 16 * LITTLE
                    if left[0] < DECISION:
                        form.runtime.budget.refill(state)
                        form.runtime.ready(state)
                number, values = prefer[frame[0]](state, frame[1], below)
                going = takes[frame[0]][number](state, frame, values)
                if going is not None:
                    self._go(form, state, going)
            except Exception:
                self._back(state, before, frame)
                form.runtime.budget.refill(state)
                self._begin_play(form, state)
                number, values = prefer[frame[0]](state, frame[1], below)
                self.take_plain(state, chance, number, values)
                self._begin_play(form, state)
        return limit

    def _begin_play(self, form: Form, state: State) -> None:
        """A policy in the fast form cannot be asked in a state that is left to the plain one."""
        try:
            form.runtime.ready(state)
        except Abandoned:
            raise RuleFailure("the lists of this game are too long for the fast form", None, "R002") from None

    def _go(self, form: Form, state: State, going: Any) -> None:
        stretches, left = form.stretches, form.left
        steps = 0
        while going is not None:
            going = stretches[going[0]](state, going[1], going[2])
            steps += 1
            if steps > MOST_STEPS or left[0] < 0:
                raise Abandoned

    def _back(self, state: State, before: int, frame: Any) -> None:
        """Takes back all that was done since the log was so long."""
        self.abandoned += 1
        log = state.log
        while len(log) > before:
            record = log.pop()
            if record[0] == PUT:
                state.cells[record[2]] = record[3]
        state.frame = frame
        state.memo.clear()

    # --- options

    def options(self, state: State, env: Env, site: AskSite) -> Iterator[tuple[int, tuple[Value, ...]]]:
        if self.plain or not self.is_written:
            yield from super().options(state, env, site)
            return
        for number, option in enumerate(site.options):
            for values in self.values(state, env, option):
                yield number, values

    def values(self, state: State, env: Env, option: OptionSite) -> Iterator[tuple[Value, ...]]:
        if self.plain or not self.is_written:
            yield from super().values(state, env, option)
            return
        form = self.form
        index, number = self._sites[id(option)]
        count = 0
        try:
            form.left[0] -= LITTLE
            if form.left[0] < DECISION:
                form.runtime.budget.refill(state)
            if CACHES not in state.memo:
                form.runtime.ready(state)
            form.runtime.budget.fits(env)
            for found in form.options[index][number](state, env):
                count += 1
                yield found
        except RuleFailure:
            raise
        except Exception:
            self.abandoned += 1
            rest = super().values(state, env, option)
            for _ in range(count):
                next(rest)
            yield from rest


def _plainly(runtime: Runtime, index: int) -> Any:
    return lambda state, env, up: runtime.plain_stretch(index, state, env, up)
