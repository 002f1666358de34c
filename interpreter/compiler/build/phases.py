"""Control flow of a game: set-up, rounds, phases, turns, delayed blocks and standing rules.

These are the special stretches behind those of the rules, in the order of :data:`SPECIALS`. They have no locals; their
argument is the frame that control returns to (0: none).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from interpreter.compiler.build.delayed_blocks import EDGES, SPANS
from interpreter.compiler.build.function import FRAME, ONE, ZERO
from interpreter.compiler.build.shapes import WORD, signed
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.build.stretches import ASKED, BELOW, STOPPED, WHERE, Control
from interpreter.compiler.ir import ops
from interpreter.lowering.watches import Watch
from interpreter.plain.machine import SPECIALS

__all__ = ["Phases"]

NO_MATCH = ops.Constant(-2)


class Phases(Control):
    """Builds the special stretches and their helpers."""

    def stretches(self) -> Iterator[ops.Function]:
        """Yield the special stretches in order. Each charges fuel, since rounds may repeat without running any rule."""
        for name in SPECIALS:

            def build(b: Steps, name: str = name) -> None:
                b.add(ops.Charge(ONE))
                of, _, moment = name.partition("_")
                if moment == "over":
                    self._settled(b, f"{of}_kept", FRAME if of == "turn" else ZERO)
                else:
                    getattr(self, f"_{name}")(b)

            yield self.made(ops.Function(f"g.{name}", (FRAME,), "i32", about=f"special stretch: {name}"), build)

    def helpers(self) -> Iterator[ops.Function]:
        yield self.made(ops.Function("back", (FRAME,), "i32"), self._back)
        yield from Steps(self.module).helpers()

    def _back(self, b: Steps) -> None:
        """Return control to a frame. A special frame is popped."""
        where = b.kept(ops.Load(FRAME, WHERE), "where")
        special = (ops.Set(ops.Global("top"), FRAME), ops.Set(ops.Global("frame"), ops.Load(FRAME, BELOW)))
        b.add(ops.If(where >= len(self.program.stretches), special, (ops.Set(ops.Global("frame"), FRAME),)))
        b.give(where)

    # --- set-up, rounds, phases

    def _enters(self, b: Steps, procedure: str, values: Sequence[ops.Value], back: str, up: ops.Value) -> None:
        self.enter(b, procedure, values, self.push_special(b, back, up))

    def _start(self, b: Steps) -> None:
        b.measure_at("start of game")
        self._enters(b, self.model.rules[self.model.setup].top.id, [], "round_start", ZERO)

    def _round_start(self, b: Steps) -> None:
        number = b.kept(b.cell("round", "i64") + 1)
        b.put("round", number)
        b.put("phase", ops.Constant(-1))
        b.measure_at("start of round")
        b.do("fall_due", ops.Constant(SPANS.index("round")))
        self.goes(b, "next_phase")

    def _next_phase(self, b: Steps) -> None:
        now = b.kept(b.cell("phase"), "phase")
        for number, guard in enumerate(self.model.phase_guards or (None,) * len(self.model.phases)):
            b.locals = {}
            with b.when(now < number), b.passing(guard.value if guard is not None else None):
                b.put("phase", ops.Constant(number))
                b.measure_at(f"start of {self.model.phases[number]}")
                b.do("fall_due", ops.Constant(SPANS.index("phase")))
                self.goes(b, "phase_begin")
        self.goes(b, "round_over")

    def _phase_begin(self, b: Steps) -> None:
        for of in ("round", "phase"):
            self._resume(b, "due", of, "phase_begin", ZERO)
        now = b.kept(b.cell("phase"), "phase")
        for phase in b.cases(now, self.model.phases):
            self._enters(b, self.model.rules[phase].top.id, [], "phase_over", ZERO)
        b.fail("no such phase")

    def _settled(self, b: Steps, back: str, up: ops.Value) -> None:
        """Settle, then continue with a special stretch."""
        with self.settling(b):
            b.set(ops.Global("frame"), self.push_special(b, back, up))
        self.goes(b, back)

    def _phase_kept(self, b: Steps) -> None:
        self._resume(b, "end", "phase", "phase_kept", ZERO)
        self._settled(b, "phase_done", ZERO)

    def _phase_done(self, b: Steps) -> None:
        self._reset(b, "phase")
        for phase in b.cases(b.cell("phase"), self.model.phases):
            b.measure_at(f"end of {phase}")
        self.goes(b, "next_phase")

    def _round_kept(self, b: Steps) -> None:
        self._resume(b, "end", "round", "round_kept", ZERO)
        self._reset(b, "round")
        b.measure_at("end of round")
        self.goes(b, "round_start")

    def _turn_kept(self, b: Steps) -> None:
        self._resume(b, "end", "turn", "turn_kept", FRAME)
        self._settled(b, "turn_done", FRAME)

    def _turn_done(self, b: Steps) -> None:
        self._reset(b, "turn")
        b.put("turn", ops.Constant(-1))
        b.give(ops.Call("back", (FRAME,)))

    def _nothing(self, b: Steps) -> None:
        b.add(ops.Store(ZERO, ASKED, ops.Constant(-1)))
        b.give(STOPPED)

    def _reset(self, b: Steps, lasts: str) -> None:
        for cell, start in self.module.resets.get(lasts, ()):
            name, owner = self.constants.layout.owner_of(cell)
            group = self.memory.groups[name]
            b.change(group, ops.Constant(owner), b.constant(start, group.type))

    def _resume(self, b: Steps, edge: str, of: str, back: str, up: ops.Value) -> None:
        """Run the first delayed block that is due at a moment; then control returns here."""
        if not self.module.delayed:
            return
        arguments = (ops.Constant(EDGES.index(edge)), ops.Constant(SPANS.index(of)))
        block = b.kept(ops.Call("take_kept", arguments), "block")
        with b.when(block):
            which = b.kept(ops.Load(block, 2 * WORD), "which")
            for procedure in b.cases(which, self.module.delayed):
                values = [b.kept(b.load(block, offset, type_)) for offset, type_ in b.captured(procedure)]
                self._enters(b, procedure, values, back, up)
            b.fail("no such block")

    # --- standing rules

    def _settle(self, b: Steps) -> None:
        """Run one match of the first watch that has one; if none is left, return to the frame below."""
        with b.repeated("settle", ONE):
            for number, watch in enumerate(self.constants.watches):
                with b.when((b.pending & _bit(number)).differs(0)):
                    going = b.kept(ops.Call(self._matching(number, watch), (FRAME,)), "going")
                    b.add(ops.If(going.differs(NO_MATCH), (ops.Return(going),)))
                    b.set_pending(b.pending & ~_bit(number))
            with b.when(b.pending.equals(0)):
                b.set_cell("settling", ZERO)
                b.give(ops.Call("back", (FRAME,)))

    def _each_match(self, b: Steps, watch: Watch, body: Callable[[Sequence[ops.Value]], None]) -> None:
        """Run the body for each match of a watch; it stops at the first."""
        rule = watch.rule
        b.span, b.locals = rule.span, {}
        known: list[ops.Value] = []
        if watch.seat is not None:
            known.append(ops.Constant(watch.seat))
            b.locals[rule.binders[0][0]] = b.var("i32", "seat", known[0])
        b.combinations(watch.binders, (rule.test,), body, stops=True, values=known)

    def _matches(self, number: int, watch: Watch) -> str:
        def build(b: Steps) -> None:
            self._each_match(b, watch, lambda values: b.give(ONE))
            b.give(ZERO)

        return self.named("matches", f"{watch.rule.name} {number}", (), "i32", build)

    def _matching(self, number: int, watch: Watch) -> str:
        """Return the name of a function that enters the procedure of a watch's first match and returns the next
        stretch; -2: no match.

        Later watches without a match sleep until they are woken again.
        """
        watches = self.constants.watches

        def matched(b: Steps, values: Sequence[ops.Value]) -> None:
            now, awake = b.kept(b.pending), b.var("i64", "awake", ops.Constant(_bit(number), "i64"))
            for other in range(number + 1, len(watches)):
                is_awake = (now & _bit(other)).differs(0)
                with b.when(ops.both(is_awake, ops.Call(self._matches(other, watches[other]), ()))):
                    b.set(awake, awake | _bit(other))
            b.set_pending(awake)
            self._enters(b, watch.rule.procedure, values, "settle", FRAME)

        def build(b: Steps) -> None:
            self._each_match(b, watch, lambda values: matched(b, values))
            b.give(NO_MATCH)

        return self.named("settle", f"{watch.rule.name} {number}", (FRAME,), "i32", build)


def _bit(number: int) -> int:
    return signed(1 << number)
