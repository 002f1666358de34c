"""The fast form of a machine: emitted functions run the stretches, the plain form explains what fails.

It is a :class:`~interpreter.compiler.plain.machine.Machine` with the same stretches, frames, cells and records. What
goes wrong in an emitted function, whatever it is, is taken back to the last choice and done again in the plain form,
which raises the failure with its place and chain. The functions are made when the first choice is: a game that only
begins needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from interpreter.compiler.constants import Env, RuleFailure
from interpreter.compiler.fast.budget import DECISION, LITTLE
from interpreter.compiler.fast.runtime import Abandoned, Runtime
from interpreter.compiler.plain.machine import AskSite, Machine, OptionSite
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.effects import CHOICE, take_back
from interpreter.kernel.state import State, Value

if TYPE_CHECKING:  # emitting is imported where it is done: a game in the plain form needs none of it
    from interpreter.compiler.fast.emit import Emitter
    from interpreter.compiler.fast.emitted import Emitted
    from interpreter.language.policies import Policy

__all__ = ["FastMachine"]

MOST_POLICIES = 64
"""So many policies are known by what they are, others by what they say."""

PATIENCE = 4_000
"""So often functions that are not there are asked for, twice for a choice of a policy, before they are written: a few
games are played in the plain form in less time. What is kept from another process is there at once."""

TOGETHER = 64
"""So many decisions pay together for what the machine calls in each."""

CHOICE_COST = 3 * LITTLE
"""What is taken off for one choice: for what chose it, for what goes on with it, and for what ends in the next one."""

PLAYED = 2 * LITTLE
"""The same where one function chooses and goes on."""

MOST_STEPS = 2_000
"""So many returns to the loop between two decisions are left to the plain form, which counts them."""


NOTHING_WAITS = (0, 0)
"""No standing rule must be looked at; so none is being looked at."""

_Before = tuple[int, Any, tuple[int, int]]
"""Where the machine can go back to: how long the log was, the frame, what was pending."""


class Keeper(Protocol):
    """Keeps compiled code for one table between runs, with what stands beside it."""

    def has(self, what: str) -> bool: ...

    def kept(self, what: str) -> tuple[dict[str, CodeType], Any] | None: ...

    def keep(self, what: str, code: dict[str, CodeType], beside: Any) -> None: ...


@dataclass(eq=False)
class Form:
    """The functions of an emitted program, where they are looked up."""

    runtime: Runtime
    stretches: list[Any]
    takes: list[tuple[Any, ...]]
    accepts: dict[int, tuple[Any, ...]]
    options: dict[int, tuple[Any, ...]]
    space: dict[str, Any]
    left: list[int]
    """What may be used up: see :mod:`interpreter.compiler.fast.budget`."""
    names: tuple[Any, ...]
    """What its functions are called, so that more can be added."""

    def begin(self, state: State) -> None:
        """Before functions are called: there is enough to be used up, and caches are there."""
        left = self.left
        left[0] -= LITTLE
        if left[0] < DECISION:
            self.runtime.budget.refill(state)
        if state.memo or state.caches is None:
            self.runtime.ready(state)


@dataclass(eq=False)
class FastMachine(Machine):
    """Runs emitted functions, or, as long as ``plain`` is said, the plain form.

    Emitted functions pay for what they do, and give up where nothing is left
    (:mod:`interpreter.compiler.fast.budget`), so any ruleset may run in the fast form. ``abandoned`` counts what was
    done again in the plain form.
    """

    plain: bool = False
    patience: int = field(default_factory=lambda: PATIENCE)
    """So often functions may still be asked for before they are written, if none are kept: see ``PATIENCE``."""
    keeper: Keeper | None = None
    made: Any = None
    """The form, once it is made; ``takes`` are its functions that go on with a choice. They are looked up more often
    than anything else, and quicker than what has a descriptor."""
    takes: list[tuple[Any, ...]] = field(default_factory=list)
    abandoned: int = 0
    _wholes: dict[str, Any] = field(default_factory=dict)
    _policies: dict[str, dict[int, Any]] = field(default_factory=dict)
    _going_on: dict[int, Any] = field(default_factory=dict)
    """By the identity of a function that chooses what chooses and goes on."""
    _preferring: dict[int, tuple[Policy, str]] = field(default_factory=dict)
    """By the identity of a policy that and a digest of what it says."""
    _is_kept: dict[str, bool] = field(default_factory=dict)
    _playing: dict[int, tuple[dict[int, Any], list[Any]]] = field(default_factory=dict)
    """By the identity of what chooses at each stretch, that and what goes on there."""
    _sites: dict[int, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def emitter(self) -> Emitter:
        from interpreter.compiler.fast.emit import Emitter

        return Emitter(self)

    @cached_property
    def emitted(self) -> Emitted:
        return self.emitter.whole()

    @cached_property
    def form(self) -> Form:
        """The functions, made now."""
        from interpreter.compiler.fast.load import code_of, functions_of

        kept = self.keeper.kept("rules") if self.keeper is not None else None
        code, emitted = kept if kept is not None else (code_of(self.emitted), self.emitted)
        if kept is None and self.keeper is not None:
            self.keeper.keep("rules", code, replace(emitted, modules={}))
        layout = self.constants.layout
        runtime = Runtime(self, emitted)
        space = functions_of(code, {**emitted.values, **runtime.names()})
        stretches: list[Any] = [space.get(emitted.stretches.get(i, "")) for i in range(len(self.program.stretches))]
        for index, function in enumerate(stretches):
            if function is None:
                stretches[index] = _plainly(runtime, index)
        special = enumerate(runtime.specials(), self.first_special)
        runtime.functions.extend([*stretches, *(space.get(emitted.stretches.get(i, ""), f) for i, f in special)])
        runtime.after.extend(space[name] for name in emitted.ends)
        runtime.backs.extend(
            space.get(emitted.backs.get(index, "")) or _going_back(function)
            for index, function in enumerate(runtime.functions)
        )
        for group, name in emitted.followers.items():
            first, count = layout.base[group], layout.count(group)
            runtime.followers[first : first + count] = [space[name]] * count
        runtime.standing.extend(space[name] for name in emitted.standing)
        if emitted.settles:
            space["settle"] = space[emitted.settles]
        self._wholes.update((name, space[emitted_name]) for name, emitted_name in emitted.procedures.items())
        options = {i: tuple(space[emitted.options[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        for index, site in self.asks.items():
            for number, option in enumerate(site.options):
                self._sites[id(option)] = (index, number)
        takes = {i: tuple(space[emitted.takes[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        accepts = {i: tuple(space[emitted.accepts[i, n]] for n in range(len(s.bodies))) for i, s in self.asks.items()}
        taking = [takes.get(index, ()) for index in range(len(self.program.stretches))]
        runtime.budget.forgets(space.values(), emitted.remembered)
        left = runtime.budget.left
        form = Form(runtime, runtime.functions, taking, accepts, options, space, left, emitted.names)
        self.made, self.takes = form, taking
        return form

    @cached_property
    def is_written(self) -> bool:
        """Whether there is a fast form at all: a ruleset that is too large or too deep for it runs in the plain one."""
        try:
            return self.form is not None
        except Exception:
            return False

    def _is_worth_it(self, what: str) -> bool:
        """Whether functions are there: at once where they are kept, else when they were asked for often enough."""
        if self.patience > 0 and not (self._keeps("rules") and self._keeps(what)):
            self.patience -= 1
            return False
        return self.is_written

    def _keeps(self, what: str) -> bool:
        if what not in self._is_kept:
            self._is_kept[what] = self.keeper is not None and self.keeper.has(what)
        return self._is_kept[what]

    def whole(self, procedure: str) -> Any:
        """A procedure that cannot suspend, as a function of the state and its arguments."""
        return self._wholes[procedure]

    # --- running

    @property
    def stays_plain(self) -> bool:
        """Whether the plain form does it: always, or as long as no function was made yet."""
        return self.plain or self.made is None

    def start(self, state: State, chance: ChanceSource) -> None:
        if self.stays_plain:
            super().start(state, chance)
            return
        self.chance = chance
        form = self.form
        before = self._now(state)
        try:
            form.begin(state)
            self._go(form, state, (self.START, (), None))
            self.constants.effects.settle_up(state, before[2])
        except Exception:
            self.abandoned += 1
            self._back(state, before)
            super().start(state, chance)

    def take(self, state: State, chance: ChanceSource, option: int, values: tuple[Value, ...]) -> None:
        if self.plain or (self.made is None and not self._is_worth_it("rules")):
            super().take(state, chance, option, values)
            return
        frame, cells, form = state.frame, state.cells, self.form
        assert frame is not None
        self.chance = chance
        length, waiting = len(state.log), (cells[self.pending], cells[self._settling])
        try:
            left = form.left
            left[0] = spare = left[0] - CHOICE_COST
            if spare < DECISION or state.memo or state.caches is None:
                form.begin(state)
            going = form.takes[frame[0]][option](state, frame, values)
            if going is not None:
                self._go(form, state, going)
            if cells[self.pending] or waiting[0]:
                self.constants.effects.settle_up(state, waiting)
        except Exception:
            self.abandoned += 1
            self._back(state, (length, frame, waiting))
            super().take(state, chance, option, values)

    def make_ready(self, state: State) -> None:
        """Makes a state ready for functions that choose."""
        self.form.begin(state)

    def pay_ahead(self, state: State) -> int:
        """Pays for so many choices to be gone on with by ``takes`` alone, with ``chance`` set, where no rule waits, and
        gives their number. Each is followed by ``goes_on`` if it must go on or a rule waits then, and by ``take_again``
        if it fails."""
        if self.stays_plain or state.cells[self.pending]:
            return 0
        form = self.form
        form.left[0] -= TOGETHER * CHOICE_COST
        if form.left[0] < DECISION:
            form.runtime.budget.refill(state)
        return TOGETHER

    def goes_on(self, state: State, going: Any) -> bool:
        """From where a choice led to the next decision; whether no rule waits then."""
        self._go(self.form, state, going)
        if state.cells[self.pending]:
            self.constants.effects.settle_up(state, NOTHING_WAITS)
        return not state.cells[self.pending]

    def take_again(
        self, state: State, chance: ChanceSource, frame: Any, code: tuple[int, Any], begun: int, number: int
    ) -> None:
        """Takes back what was done since choice ``number`` since a place in the log was begun, and takes it once more:
        with all that there may be, if nothing was left to be used up; else in the plain form."""
        was_spent = self.form.left[0] < 0
        self._back(state, (_choice(state.log, begun, number), frame, NOTHING_WAITS))
        if was_spent:
            self.take(state, chance, *code)
        else:
            self.abandoned += 1
            super().take(state, chance, *code)

    # --- one choice

    def accepts(self, state: State, number: int, values: tuple[Value, ...]) -> bool:
        """Whether an alternative with these values, as the machine lists them, is surely legal now."""
        frame = state.frame
        if frame is None or self.stays_plain:
            return False
        form = self.form
        try:
            form.begin(state)
            found: bool = form.accepts[frame[0]][number](state, frame[1], values)
        except Exception:
            return False
        return found

    # --- policies

    def preferring(self, policy: Policy) -> dict[int, Any]:
        """For each decision that a policy can be written for, the function that chooses by it.

        Equal policies are written once. There is none where there is no fast form or a policy is too large for it, nor
        as long as writing it is not worth it.
        """
        known = self._preferring.get(id(policy))
        if known is None or known[0] is not policy:
            self.learn(policy)
            if len(self._preferring) >= MOST_POLICIES:
                self._preferring.clear()
            lines = blake2b(repr(policy).encode(), digest_size=16).hexdigest()
            known = self._preferring[id(policy)] = policy, lines
        lines = known[1]
        found = self._policies.get(lines)
        if found is None:
            what = f"policy {policy.name} {lines}"
            if not self._is_worth_it(what):
                return {}
            found = self._policies[lines] = self._policy(policy, what)
        return found

    def _policy(self, policy: Policy, what: str) -> dict[int, Any]:
        from interpreter.compiler.fast.load import add_functions
        from interpreter.compiler.fast.preferences import going_on

        form = self.form
        code, emitted, names = self._policy_code(policy, what)
        before = set(form.space)
        form.space.update(emitted.values)
        add_functions(code, form.space)
        form.runtime.budget.forgets([form.space[name] for name in set(form.space) - before], emitted.remembered)
        found = {index: form.space[name] for index, name in names.items()}
        self._going_on.update((id(found[index]), form.space[going_on(name)]) for index, name in names.items())
        return found

    def _policy_code(self, policy: Policy, what: str) -> tuple[dict[str, CodeType], Emitted, dict[int, str]]:
        """The code of a policy, what it names, and the function of each decision."""
        from interpreter.compiler.fast.emitted import Emitted
        from interpreter.compiler.fast.load import code_of
        from interpreter.compiler.fast.scope import TooLarge

        kept = self.keeper.kept(what) if self.keeper is not None else None
        if kept is not None:
            return kept[0], *kept[1]
        if self.emitted.names != self.form.names:  # the kept form was written in another order: nothing can be added
            return {}, Emitted(), {}
        try:
            emitted, names = self.emitter.preferences(policy)
        except TooLarge:
            return {}, Emitted(), {}
        code = code_of(emitted)
        if self.keeper is not None:
            self.keeper.keep(what, code, (replace(emitted, modules={}), names))
        return code, emitted, names

    def play(
        self,
        state: State,
        chance: ChanceSource,
        prefer: dict[int, Any],
        draw: Callable[[], int],
        limit: int = 100_000,
    ) -> int:
        """Lets a policy play to the end; gives the number of decisions. The game must have begun.

        ``draw`` gives random numbers as :attr:`Draws.draw` does.
        """
        form = self.form
        log, cells, left, pending = state.log, state.cells, form.left, self.pending
        begun = len(log)
        takes = self._all_going_on(form, prefer)
        self._begin_play(form, state)
        self.chance = chance
        waiting = self.constants.effects.waiting(state)
        is_pending = bool(waiting[0])
        for first in range(0, limit, TOGETHER):
            left[0] -= TOGETHER * PLAYED
            if left[0] < DECISION:
                self._refill(form, state)
            for count in range(first, min(first + TOGETHER, limit)):
                frame: Any = state.frame
                try:
                    going = takes[frame[0]](state, frame, draw)
                    if going is not None:
                        self._go(form, state, going)
                    elif not is_pending and not cells[pending]:
                        continue
                except Exception:
                    if frame is None:  # the game was over, and there is no place to go on from
                        return count
                    before = _choice(log, begun, count), frame, waiting
                    if not self._plays_again(form, state, before, takes, draw):
                        number, values = prefer[frame[0]](state, frame[1], draw)
                        super().take(state, chance, number, values)
                        self._begin_play(form, state)
                        waiting = self.constants.effects.waiting(state)
                if cells[pending] or waiting[0]:
                    self.constants.effects.settle_up(state, waiting)
                    waiting = self.constants.effects.waiting(state)
                is_pending = bool(waiting[0])
        return limit

    def _plays_again(
        self, form: Form, state: State, before: _Before, takes: list[Any], draw: Callable[[], int]
    ) -> bool:
        """Takes a decision back. If nothing was left to be used up it is made again, with all that there may be; then,
        or else, it can be that the plain form must make it."""
        for was_spent in (form.left[0] < 0, False):
            self._back(state, before)
            form.runtime.budget.refill(state)
            self._begin_play(form, state)
            if not was_spent:
                break
            frame = before[1]
            try:
                going = takes[frame[0]](state, frame, draw)
                if going is not None:
                    self._go(form, state, going)
            except Exception:
                continue
            return True
        self.abandoned += 1
        return False

    def _refill(self, form: Form, state: State) -> None:
        """There is enough to be used up again. What is remembered may be gone then, and is begun anew."""
        form.runtime.budget.refill(state)
        if state.caches is None:
            self._begin_play(form, state)

    def _all_going_on(self, form: Form, prefer: dict[int, Any]) -> list[Any]:
        """For each stretch what chooses there by a policy and goes on."""
        known = self._playing.get(id(prefer))
        if known is None or known[0] != prefer:
            if len(self._playing) >= MOST_POLICIES:
                self._playing.clear()
            takes = [self._goes_on(form, index, prefer.get(index)) for index in range(len(form.takes))]
            known = self._playing[id(prefer)] = dict(prefer), takes
        return known[1]

    def _goes_on(self, form: Form, index: int, choose: Any) -> Any:
        """What chooses at a stretch and goes on: one function, where the policy was written so."""
        found = self._going_on.get(id(choose))
        if found is not None:
            return found
        takes, left = form.takes[index], form.left

        def choose_and_take(state: State, frame: Any, draw: Callable[[], int]) -> Any:
            left[0] -= CHOICE_COST - PLAYED
            number, values = choose(state, frame[1], draw)
            return takes[number](state, frame, values)

        return choose_and_take

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

    def _now(self, state: State) -> _Before:
        return len(state.log), state.frame, self.constants.effects.waiting(state)

    def _back(self, state: State, before: _Before) -> None:
        """Takes back all that was done since then."""
        length, state.frame, waiting = before
        take_back(state, length)
        self.constants.effects.wait_again(state, waiting)

    # --- options

    def options(self, state: State, env: Env, site: AskSite) -> Iterator[tuple[int, tuple[Value, ...]]]:
        if self.stays_plain:
            yield from super().options(state, env, site)
            return
        form = self.form
        index, _ = self._sites[id(site.options[0])]
        for number, listed in enumerate(form.options[index]):
            count = 0
            try:
                self._begin_options(form, state, env)
                for values in listed(state, env):
                    count += 1
                    yield number, values
            except RuleFailure:
                raise
            except Exception:
                for values in self._rest(state, env, site.options[number], count):
                    yield number, values

    def is_free(self, state: State) -> bool:
        if self.stays_plain:
            return super().is_free(state)
        form, frame, found = self.form, state.frame, 0
        assert frame is not None
        try:
            self._begin_options(form, state, frame[1])
            for listed in form.options[frame[0]]:
                for _ in listed(state, frame[1]):
                    found += 1
                    if found > 1:
                        return True
        except Exception:
            return super().is_free(state)
        return False

    def values(self, state: State, env: Env, option: OptionSite) -> Iterator[tuple[Value, ...]]:
        if self.stays_plain:
            yield from super().values(state, env, option)
            return
        form = self.form
        index, number = self._sites[id(option)]
        count = 0
        try:
            self._begin_options(form, state, env)
            for found in form.options[index][number](state, env):
                count += 1
                yield found
        except RuleFailure:
            raise
        except Exception:
            yield from self._rest(state, env, option, count)

    def _begin_options(self, form: Form, state: State, env: Sequence[Value]) -> None:
        form.begin(state)
        form.runtime.budget.fits(env)

    def _rest(self, state: State, env: Env, option: OptionSite, count: int) -> Iterator[tuple[Value, ...]]:
        """What the plain form lists behind the first so many."""
        self.abandoned += 1
        return islice(super().values(state, env, option), count, None)


def _choice(log: list[tuple[Any, ...]], begun: int, number: int) -> int:
    """Where the record of choice ``number`` (from 0) since a place in the log stands; the end where there is none yet.

    Its frame would not tell: that of a decision without locals is the same object each time.
    """
    made = (place for place in range(begun, len(log)) if log[place][0] == CHOICE)
    return next(islice(made, number, None), len(log))


def _going_back(function: Any) -> Any:
    """Goes on where a call is done, wherever what it gave belongs."""

    def back(state: State, frame: Any, value: Value) -> Any:
        _, env, up, into = frame
        return function(state, env if into < 0 else (*env[:into], value, *env[into + 1 :]), up)

    return back


def _plainly(runtime: Runtime, index: int) -> Any:
    return lambda state, env, up: runtime.plain_stretch(index, state, env, up)
