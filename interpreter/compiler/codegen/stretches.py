"""Stretches: the code between two decisions. Each is a function of the frame; it returns the number of the next
stretch.

The driver calls one stretch after another until one stops. If control passes to another frame, the stretch sets
``$frame``; the frames end at ``$top``. The special stretches behind those of the rules (:data:`SPECIALS`) have no
locals; their argument is the frame to return to: see :mod:`interpreter.compiler.codegen.phases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from interpreter.compiler.codegen.decisions import Decisions
from interpreter.compiler.codegen.function import FRAME, ONE, ZERO
from interpreter.compiler.codegen.memory import FRAME_HEAD, STATE, Slot, kept_in_frame
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import INT, NOTHING
from interpreter.lowering import lower
from interpreter.plain.machine import MAXIMUM_DEPTH, SPECIALS, TOO_DEEP

__all__ = ["ASKED", "BELOW", "STOPPED", "WHERE", "Control", "Stretches"]

STOPPED = ops.Constant(-1)
"""Result of a stretch that waits for a choice, or ends the game."""
ASKED = STATE + WORD
"""Address of the header word with the stretch that asks; -1: the game is over."""
WHERE, INTO, BELOW, DEPTH = 0, WORD, 2 * WORD, 3 * WORD


class Control(Decisions):
    """Builds what passes control between frames."""

    def special(self, name: str) -> int:
        return len(self.program.stretches) + SPECIALS.index(name)

    def goes(self, to: int | str) -> None:
        self.give(ops.Constant(self.special(to) if isinstance(to, str) else to))

    @contextmanager
    def settling(self) -> Iterator[None]:
        """Settle if a watch is awake and settling has not begun. The statements inside say where control returns."""
        test: ops.Value = ZERO
        if self.constants.watches:
            test = ops.both(self.pending.differs(0), ops.negated(self.cell("settling")))
        with self.when(test):
            yield
            self.set_cell("settling", ONE)
            self.goes("settle")

    def _new_frame(self, size: int, name: str) -> ops.Value:
        """Return the address of a new frame of a size in bytes; the caller fills it."""
        frame = self.kept(ops.Global("top"), name)
        self.fail_if(frame > self.memory.end_of_frames - size, "frames that are larger than their room")
        return frame

    def push_special(self, name: str, below: ops.Value) -> ops.Value:
        """Push a frame without locals: the special stretch to resume, and the frame to return to after that."""
        frame = self._new_frame(FRAME_HEAD * WORD, "special")
        self.add(ops.Store(frame, WHERE, ops.Constant(self.special(name))))
        self.add(ops.Store(frame, INTO, ops.Constant(-1)))
        self.add(ops.Store(frame, BELOW, below))
        self.add(ops.Store(frame, DEPTH, ops.Load(below, DEPTH)))
        self.set(ops.Global("top"), frame + FRAME_HEAD * WORD)
        return frame

    def enter(self, procedure: str, values: Sequence[ops.Value], up: ops.Value) -> None:
        """Enter a procedure. One without a frame runs at once, and control returns to the frame ``up``."""
        lowered = self.program.procedures[procedure]
        if lowered.steps is not None:
            result = lowered.layer.result
            call = ops.Call(self.procedure(procedure), tuple(values), self.shapes.rep(result))
            self.add(ops.Do(call)) if result == NOTHING else self.kept(call)
            self.give(ops.Call("back", (up,)))
            return
        shape = self.module.frame(procedure)
        depth = self.kept(ops.Load(up, DEPTH) + 1, "depth")
        self.fail_if(depth > MAXIMUM_DEPTH, TOO_DEEP)
        frame = self._new_frame(shape.size, "new")
        fresh = ops.Constant(self.memory.words(shape.fresh), about="a new frame")
        self.add(ops.CopyWords(frame, fresh, ops.Constant(len(shape.fresh))))
        self.add(ops.Store(frame, BELOW, up))
        self.add(ops.Store(frame, DEPTH, depth))
        for value, slot in zip(values, shape.slots, strict=False):
            if slot is not None:
                self.store(frame, slot.offset, value, slot.type)
        self.set(ops.Global("top"), frame + shape.size)
        self.set(ops.Global("frame"), frame)
        self.goes(lowered.entry)


class Stretches(Control):
    """Builds the stretches of all procedures with a frame."""

    def stretch(self, index: int) -> ops.Function:
        stretch = self.program.stretches[index]

        def build(b: Stretches) -> None:
            b.in_frame(stretch)
            places = (getattr(stretch.end, name, index + 1) for name in ("to", "then", "otherwise", "body", "after"))
            if min(places) <= index:  # every loop has such an end
                b.add(ops.Charge(ops.Constant(1 + len(stretch.steps))))
            b.steps(stretch.steps)
            b.span = stretch.span
            b._finish(stretch, index)

        name = self.module.name("s", stretch.id)
        return self.made(ops.Function(name, (FRAME,), "i32", about=f"{stretch.id}, {stretch.span}"), build)

    # --- ends

    def _finish(self, stretch: lower.Stretch, index: int) -> None:
        match stretch.end:
            case lower.Jumps(to):
                self.goes(to)
            case lower.Forks(test, then, otherwise):
                self.give(ops.Select(self.test(test), ops.Constant(then), ops.Constant(otherwise)))
            case lower.Asks(ask, _):
                self._ask(index, ask)
            case lower.Calls(call, into, then):
                self._call(stretch.procedure, call, into, then)
            case lower.Leaves(value):
                self._leave(value)
            case lower.SettlesThen(then):
                self._settle(then)
                self.goes(then)
            case lower.TurnEnds(then):
                self._stay(then)
                self.goes("turn_over")
            case lower.Advances(loop, body, after):
                self._advance(loop, body, after)
            case lower.Counts(loop, then):
                assert loop.bound is not None
                count = self.kept(self.read_local(loop.hidden, INT) + 1)
                self.write_local(loop.hidden, count, INT)
                self.fail_if(count > self.value(loop.bound), "more passes than allowed")
                self.goes(then)
            case lower.Stops():
                self._stop()

    def _stay(self, then: int, into: int = -1) -> None:
        """Suspend the frame; it resumes with a stretch when control returns to it."""
        self.add(ops.Store(FRAME, WHERE, ops.Constant(then)))
        self.add(ops.Store(FRAME, INTO, ops.Constant(into)))

    def _settle(self, then: int) -> None:
        with self.settling():
            self._stay(then)

    def _leave(self, value: core.Expression | None) -> None:
        result = self.kept(self.called(value, self.result)) if value is not None and self.result != NOTHING else None
        up = self.kept(ops.Load(FRAME, BELOW), "up")
        if result is not None:
            into = self.kept(ops.Load(up, INTO), "into")
            with self.when(into > 0):
                self.store(up + into, 0, result, kept_in_frame(self.shapes, self.result))
        self.set(ops.Global("top"), FRAME)
        self.give(ops.Call("back", (up,)))

    def _call(self, procedure: str, call: core.CallRule | core.CallBase, into: int, then: int) -> None:
        target = self.program.target(call)
        pairs = zip(call.arguments, self.program.procedures[target].layer.parameter_types, strict=True)
        values = [self.kept(self.own(argument, type_)) for argument, type_ in pairs]
        slot = self.module.frame(procedure).slots[into] if into >= 0 else None
        self._stay(then, slot.offset if slot is not None else -1)
        self.enter(target, values, FRAME)

    def _advance(self, loop: core.Iterate, body: int, after: int) -> None:
        """Build the head of a `for each` over a list that is stored in the frame."""
        items, position = loop.hidden
        item, kept = self.shapes.item(loop.items.type), self.locals[items]
        assert isinstance(kept, Slot)
        address = self.kept(FRAME + kept.offset)
        at = self.var("i64", "at", self.read_local(position, INT))
        with self.repeated("items", ONE) as label:
            self.add(ops.If(at >= ops.ToNumber(ops.Load(address)), (ops.Break(label),)))
            step = ops.ToIndex(at) * (self.shapes.words(item) * WORD)
            value = self.kept(self.load(address + step, WORD, item))
            self.write_local(loop.variable, value, item)
            self.set(at, at + 1)
            self.write_local(position, at, INT)
            self.add(ops.Charge(ONE))
            with self.passing(loop.test):
                if loop.turn:
                    self.put("turn", value)
                self.goes(body)
        self.add(ops.Store(address, 0, ZERO))
        self.goes(after)

    def _stop(self) -> None:
        self.put("over", ONE)
        self.measure_at("end of game")
        self.add(ops.Store(ZERO, ASKED, STOPPED))
        self.set(ops.Global("seat"), STOPPED)
        self.give(STOPPED)

    # --- decisions

    def _ask(self, index: int, ask: core.Ask) -> None:
        for variable in sorted(ask.chosen):
            slot = self.locals.get(variable)
            if isinstance(slot, Slot):
                self.write_local(variable, self.none(slot.type), slot.type)
        self._settle(index)
        self._stay(index)
        seat = self.kept(self.value(ask.seat))
        counts = self.constants.statics["seat.counts"]
        if not all(counts):
            table = self.memory.words([int(counted) for counted in counts])
            self.fail_if(ops.negated(ops.Load(seat * WORD, table)), "a seat that does not count")
        is_sure = any(option.guard is None and not option.choices and not option.tests for option in ask.options)
        if not is_sure:
            self.fail_if(ops.negated(ops.Call(self.open(index), (FRAME,))), "no choice is left")
        self.set(ops.Global("seat"), seat)
        self.add(ops.Store(ZERO, ASKED, ops.Constant(index)))
        self.add(ops.Store(ZERO, STATE, FRAME))
        self.add(ops.Store(ZERO, STATE + 2 * WORD, ops.Global("top")))
        self.give(STOPPED)
