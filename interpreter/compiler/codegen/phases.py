"""Control flow of a game: set-up, rounds, phases, turns, delayed blocks and standing rules.

These are the special stretches behind those of the rules, in the order of :data:`SPECIALS`. They have no locals; their
argument is the frame that control returns to (0: none).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby

from interpreter.compiler.codegen.delayed_blocks import EDGES, SPANS
from interpreter.compiler.codegen.function import FRAME, ONE, ZERO
from interpreter.compiler.codegen.shapes import WORD, signed
from interpreter.compiler.codegen.stretches import ASKED, BELOW, STOPPED, WHERE, Control
from interpreter.compiler.ir import ops
from interpreter.lowering.watches import Watch
from interpreter.plain.machine import SPECIALS

__all__ = ["Phases"]

NO_MATCH = ops.Constant(-2)
MOST_APART = 20
"""Number of cells of a group that are reset one by one; more are reset by a loop."""


class Phases(Control):
    """Builds the special stretches and their helpers."""

    def stretches(self) -> Iterator[ops.Function]:
        """Yield the special stretches in order."""
        for name in SPECIALS:
            head = ops.Function(f"g.{name}", (FRAME,), "i32", about=f"special stretch: {name}")
            yield self.made(head, partial(Phases._special, name=name))

    def _special(self, name: str) -> None:
        of, _, moment = name.partition("_")
        if moment == "over":
            self._settled(f"{of}_kept", FRAME if of == "turn" else ZERO)
        else:
            getattr(self, f"_{name}")()

    def helpers(self) -> Iterator[ops.Function]:
        yield self.made(ops.Function("back", (FRAME,), "i32"), Phases._back)
        yield from super().helpers()

    def _back(self) -> None:
        """Return control to a frame. A special frame is popped."""
        where = self.kept(ops.Load(FRAME, WHERE), "where")
        special = (ops.Set(ops.Global("top"), FRAME), ops.Set(ops.Global("frame"), ops.Load(FRAME, BELOW)))
        self.add(ops.If(where >= len(self.program.stretches), special, (ops.Set(ops.Global("frame"), FRAME),)))
        self.give(where)

    # --- set-up, rounds, phases

    def _enters(self, procedure: str, values: Sequence[ops.Value], back: str, up: ops.Value) -> None:
        self.enter(procedure, values, self.push_special(back, up))

    def _start(self) -> None:
        self.measure_at("start of game")
        self._enters(self.model.rules[self.model.setup].top.id, [], "round_start", ZERO)

    def _round_start(self) -> None:
        number = self.kept(self.cell("round", "i64") + 1)
        self.put("round", number)
        self.put("phase", ops.Constant(-1))
        self.measure_at("start of round")
        self.do("fall_due", ops.Constant(SPANS.index("round")))
        self.goes("next_phase")

    def _next_phase(self) -> None:
        self.add(ops.Charge(ONE))  # rounds may repeat without running any rule
        now = self.kept(self.cell("phase"), "phase")
        for number, guard in enumerate(self.model.phase_guards or (None,) * len(self.model.phases)):
            self.locals = {}
            with self.when(now < number), self.passing(guard.value if guard is not None else None):
                self.put("phase", ops.Constant(number))
                self.measure_at(f"start of {self.model.phases[number]}")
                self.do("fall_due", ops.Constant(SPANS.index("phase")))
                self.goes("phase_begin")
        self.goes("round_over")

    def _phase_begin(self) -> None:
        for of in ("round", "phase"):
            self._resume("due", of, "phase_begin", ZERO)
        now = self.kept(self.cell("phase"), "phase")
        for phase in self.cases(now, self.model.phases):
            self._enters(self.model.rules[phase].top.id, [], "phase_over", ZERO)
        self.fail("no such phase")

    def _settled(self, back: str, up: ops.Value) -> None:
        """Settle, then continue with a special stretch."""
        with self.settling():
            self.set(ops.Global("frame"), self.push_special(back, up))
        self.goes(back)

    def _phase_kept(self) -> None:
        self._resume("end", "phase", "phase_kept", ZERO)
        self._settled("phase_done", ZERO)

    def _phase_done(self) -> None:
        self._reset("phase")
        for phase in self.cases(self.cell("phase"), self.model.phases):
            self.measure_at(f"end of {phase}")
        self.goes("next_phase")

    def _round_kept(self) -> None:
        self._resume("end", "round", "round_kept", ZERO)
        self._reset("round")
        self.measure_at("end of round")
        self.goes("round_start")

    def _turn_kept(self) -> None:
        self._resume("end", "turn", "turn_kept", FRAME)
        self._settled("turn_done", FRAME)

    def _turn_done(self) -> None:
        self._reset("turn")
        self.put("turn", ops.Constant(-1))
        self.give(ops.Call("back", (FRAME,)))

    def _nothing(self) -> None:
        self.add(ops.Store(ZERO, ASKED, STOPPED))
        self.set(ops.Global("seat"), STOPPED)
        self.give(STOPPED)

    def _reset(self, lasts: str) -> None:
        layout = self.constants.layout
        owned = [(*layout.owner_of(cell), start) for cell, start in self.module.resets.get(lasts, ())]
        for name, cells in groupby(owned, lambda each: each[0]):
            group = self.memory.groups[name]
            owners, starts = zip(*(each[1:] for each in cells), strict=True)
            if len(owners) <= MOST_APART:
                for owner, start in zip(owners, starts, strict=True):
                    self.change(group, ops.Constant(owner), self.constant(start, group.type))
                continue
            owner_words = self.memory.words(owners)
            start_words = self.memory.words([self.memory.constant(start, group.type) for start in starts])
            with self.counted(ops.Constant(len(owners))) as number:
                owner = self.kept(ops.Load(number * WORD, owner_words), "owner")
                start = self.kept(ops.read(number * WORD, start_words, self.shapes.rep(group.type)), "start")
                self.change(group, owner, start)

    def _resume(self, edge: str, of: str, back: str, up: ops.Value) -> None:
        """Run the first delayed block that is due at a moment; then control returns here."""
        if not self.module.delayed:
            return
        arguments = (ops.Constant(EDGES.index(edge)), ops.Constant(SPANS.index(of)))
        block = self.kept(ops.Call("take_kept", arguments), "block")
        with self.when(block):
            self.add(ops.Charge(ONE))  # it may lead to others
            which = self.kept(ops.Load(block, 2 * WORD), "which")
            for procedure in self.cases(which, self.module.delayed):
                values = [self.kept(self.load(block, offset, type_)) for offset, type_ in self.captured(procedure)]
                self._enters(procedure, values, back, up)
            self.fail("no such block")

    # --- standing rules

    def _settle(self) -> None:
        """Run one match of the first watch that has one; if none is left, return to the frame below."""
        with self.repeated("settle", ONE):
            for number, watch in enumerate(self.constants.watches):
                with self.when((self.pending & _bit(number)).differs(0)):
                    going = self.kept(ops.Call(self._matching(number, watch), (FRAME,)), "going")
                    self.add(ops.If(going.differs(NO_MATCH), (ops.Return(going),)))
                    self.set_pending(self.pending & ~_bit(number))
            with self.when(self.pending.equals(0)):
                self.set_cell("settling", ZERO)
                self.give(ops.Call("back", (FRAME,)))

    def _each_match(self, watch: Watch, body: Callable[[Sequence[ops.Value]], None]) -> None:
        """Run the body for each match of a watch; it stops at the first."""
        rule = watch.rule
        self.span, self.locals = rule.span, {}
        known: list[ops.Value] = []
        if watch.seat is not None:
            known.append(ops.Constant(watch.seat))
            self.locals[rule.binders[0][0]] = self.var("i32", "seat", known[0])
        self.combinations(watch.binders, (rule.test,), body, stops=True, values=known)

    def _matches(self, number: int, watch: Watch) -> str:
        def build(b: Phases) -> None:
            b._each_match(watch, lambda values: b.give(ONE))
            b.give(ZERO)

        return self.named("matches", f"{watch.rule.name} {number}", (), "i32", build)

    def _matching(self, number: int, watch: Watch) -> str:
        """Return the name of a function that enters the procedure of a watch's first match and returns the next
        stretch; -2: no match."""

        def build(b: Phases) -> None:
            b._each_match(watch, partial(b._matched, number, watch))
            b.give(NO_MATCH)

        return self.named("settle", f"{watch.rule.name} {number}", (FRAME,), "i32", build)

    def _matched(self, number: int, watch: Watch, values: Sequence[ops.Value]) -> None:
        """Enter the procedure of a match. Later watches without a match sleep until they are woken again."""
        self.add(ops.Charge(ONE))  # its procedure may lead to others
        watches = self.constants.watches
        now, awake = self.kept(self.pending), self.var("i64", "awake", ops.Constant(_bit(number), "i64"))
        for other in range(number + 1, len(watches)):
            is_awake = (now & _bit(other)).differs(0)
            with self.when(ops.both(is_awake, ops.Call(self._matches(other, watches[other]), ()))):
                self.set(awake, awake | _bit(other))
        self.set_pending(awake)
        self._enters(watch.rule.procedure, values, "settle", FRAME)


def _bit(number: int) -> int:
    return signed(1 << number)
