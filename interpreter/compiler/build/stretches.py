"""Stretches: the code between two decisions. Each is a function of the frame; it returns the number of the next
stretch.

The driver calls one stretch after another until one stops. If control passes to another frame, the stretch sets
``$frame``; the frames end at ``$top``. The special stretches behind those of the rules (:data:`SPECIALS`) have no
locals; their argument is the frame to return to: see :mod:`interpreter.compiler.build.phases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from interpreter.compiler.build.decisions import Decisions, in_frame
from interpreter.compiler.build.function import FRAME, ONE, ZERO
from interpreter.compiler.build.memory import FRAME_HEAD, STATE, Slot, kept_in_frame
from interpreter.compiler.build.shapes import WORD, parameter_types
from interpreter.compiler.build.steps import FunctionGroup, Steps
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


class Control(FunctionGroup):
    """Builds what passes control between frames."""

    def special(self, name: str) -> int:
        return len(self.program.stretches) + SPECIALS.index(name)

    def goes(self, b: Steps, to: int | str) -> None:
        b.give(ops.Constant(self.special(to) if isinstance(to, str) else to))

    @contextmanager
    def settling(self, b: Steps) -> Iterator[None]:
        """Settle if a watch is awake and settling has not begun. The statements inside say where control returns."""
        test: ops.Value = ZERO
        if self.constants.watches:
            test = ops.both(b.pending.differs(0), ops.negated(b.cell("settling")))
        with b.when(test):
            yield
            b.set_cell("settling", ONE)
            self.goes(b, "settle")

    def _new_frame(self, b: Steps, words: int, name: str) -> ops.Value:
        """Return the address of a new frame of some words; the caller fills it."""
        frame = b.kept(ops.Global("top"), name)
        b.fail_if(frame > self.memory.end_of_frames - words * WORD, "frames that are larger than their room")
        return frame

    def push_special(self, b: Steps, name: str, below: ops.Value) -> ops.Value:
        """Push a frame without locals: the special stretch to resume, and the frame to return to after that."""
        frame = self._new_frame(b, FRAME_HEAD, "special")
        b.add(ops.Store(frame, WHERE, ops.Constant(self.special(name))))
        b.add(ops.Store(frame, INTO, ops.Constant(-1)))
        b.add(ops.Store(frame, BELOW, below))
        b.add(ops.Store(frame, DEPTH, ops.Load(below, DEPTH)))
        b.set(ops.Global("top"), frame + FRAME_HEAD * WORD)
        return frame

    def enter(self, b: Steps, procedure: str, values: Sequence[ops.Value], up: ops.Value) -> None:
        """Enter a procedure. One without a frame runs at once, and control returns to the frame ``up``."""
        lowered = self.program.procedures[procedure]
        if lowered.steps is not None:
            result = lowered.layer.result
            call = ops.Call(b.procedure(procedure), tuple(values), self.shapes.rep(result))
            b.add(ops.Do(call)) if result == NOTHING else b.kept(call)
            b.give(ops.Call("back", (up,)))
            return
        shape = self.module.frame(procedure)
        depth = b.kept(ops.Load(up, DEPTH) + 1, "depth")
        b.fail_if(depth > MAXIMUM_DEPTH, TOO_DEEP)
        frame = self._new_frame(b, shape.words, "new")
        fresh = ops.Constant(self.memory.words(shape.fresh), about="a new frame")
        b.add(ops.CopyWords(frame, fresh, ops.Constant(shape.words)))
        b.add(ops.Store(frame, BELOW, up))
        b.add(ops.Store(frame, DEPTH, depth))
        for value, slot in zip(values, shape.slots, strict=False):
            if slot is not None:
                b.store(frame, slot.offset, value, slot.type)
        b.set(ops.Global("top"), frame + shape.size)
        b.set(ops.Global("frame"), frame)
        self.goes(b, lowered.entry)


class Stretches(Control):
    """Builds the stretches of all procedures with a frame. ``decisions`` builds their decisions."""

    def __init__(self, decisions: Decisions) -> None:
        super().__init__(decisions.module)
        self.decisions = decisions

    def function(self, index: int) -> ops.Function:
        stretch = self.program.stretches[index]

        def build(b: Steps) -> None:
            in_frame(b, stretch.procedure)
            b.span = stretch.span
            layer = self.program.procedures[stretch.procedure].layer
            b.result, b.types = layer.result, layer.local_types
            b.add(ops.Charge(ops.Constant(1 + len(stretch.steps))))
            b.steps(stretch.steps)
            b.span = stretch.span
            self._end(b, index, stretch)

        name = self.module.name("s", stretch.id)
        return self.made(ops.Function(name, (FRAME,), "i32", about=f"{stretch.id}, {stretch.span}"), build)

    # --- ends

    def _end(self, b: Steps, index: int, stretch: lower.Stretch) -> None:
        match stretch.end:
            case lower.Jumps(to):
                self.goes(b, to)
            case lower.Forks(test, then, otherwise):
                b.give(ops.Select(b.test(test), ops.Constant(then), ops.Constant(otherwise)))
            case lower.Asks(ask, _):
                self._ask(b, index, ask)
            case lower.Calls(call, into, then):
                self._call(b, stretch.procedure, call, into, then)
            case lower.Leaves(value):
                self._leave(b, value)
            case lower.SettlesThen(then):
                self._settle(b, then)
                self.goes(b, then)
            case lower.TurnEnds(then):
                self._stay(b, then)
                self.goes(b, "turn_over")
            case lower.Advances(loop, body, after):
                self._advance(b, loop, body, after)
            case lower.Counts(loop, then):
                assert loop.bound is not None
                count = b.kept(b.read_local(loop.hidden, INT) + 1)
                b.write_local(loop.hidden, count, INT)
                b.fail_if(count > b.value(loop.bound), "more passes than allowed")
                self.goes(b, then)
            case lower.Stops():
                self._stop(b)

    def _stay(self, b: Steps, then: int, into: int = -1) -> None:
        """Suspend the frame; it resumes with a stretch when control returns to it."""
        b.add(ops.Store(FRAME, WHERE, ops.Constant(then)))
        b.add(ops.Store(FRAME, INTO, ops.Constant(into)))

    def _settle(self, b: Steps, then: int) -> None:
        with self.settling(b):
            self._stay(b, then)

    def _leave(self, b: Steps, value: core.Expression | None) -> None:
        result = b.kept(b.called(value, b.result)) if value is not None and b.result != NOTHING else None
        up = b.kept(ops.Load(FRAME, BELOW), "up")
        if result is not None:
            into = b.kept(ops.Load(up, INTO), "into")
            with b.when(into > 0):
                b.store(up + into, 0, result, kept_in_frame(self.shapes, b.result))
        b.set(ops.Global("top"), FRAME)
        b.give(ops.Call("back", (up,)))

    def _call(self, b: Steps, procedure: str, call: core.CallRule | core.CallBase, into: int, then: int) -> None:
        target = self.program.target(call)
        pairs = zip(call.arguments, parameter_types(self.program.procedures[target].layer), strict=True)
        values = [b.kept(b.own(argument, type_)) for argument, type_ in pairs]
        slot = self.module.frame(procedure).slots[into] if into >= 0 else None
        self._stay(b, then, slot.offset if slot is not None else -1)
        self.enter(b, target, values, FRAME)

    def _advance(self, b: Steps, loop: core.Iterate, body: int, after: int) -> None:
        """Build the head of a `for each` over a list that is stored in the frame."""
        items, position = loop.hidden
        item, kept = self.shapes.item(loop.items.type), b.locals[items]
        assert isinstance(kept, Slot)
        address = b.kept(FRAME + kept.offset)
        at = b.var("i64", "at", b.read_local(position, INT))
        with b.repeated("items", ONE) as label:
            b.add(ops.If(at >= ops.ToNumber(ops.Load(address)), (ops.Break(label),)))
            step = ops.ToIndex(at) * (self.shapes.words(item) * WORD)
            value = b.kept(b.load(address + step, WORD, item))
            b.write_local(loop.variable, value, item)
            b.set(at, at + 1)
            b.write_local(position, at, INT)
            b.add(ops.Charge(ONE))
            with b.passing(loop.test):
                if loop.turn:
                    b.put("turn", value)
                self.goes(b, body)
        b.add(ops.Store(address, 0, ZERO))
        self.goes(b, after)

    def _stop(self, b: Steps) -> None:
        b.put("over", ONE)
        b.measure_at("end of game")
        b.add(ops.Store(ZERO, ASKED, ops.Constant(-1)))
        b.give(STOPPED)

    # --- decisions

    def _ask(self, b: Steps, index: int, ask: core.Ask) -> None:
        for variable in sorted(ask.chosen):
            slot = b.locals.get(variable)
            if isinstance(slot, Slot):
                b.write_local(variable, b.none(slot.type), slot.type)
        self._settle(b, index)
        self._stay(b, index)
        seat = b.kept(b.value(ask.seat))
        counts = self.constants.statics["seat.counts"]
        if not all(counts):
            table = self.memory.words([int(counted) for counted in counts])
            b.fail_if(ops.negated(ops.Load(seat * WORD, table)), "a seat that does not count")
        is_sure = any(option.guard is None and not option.choices and not option.tests for option in ask.options)
        if not is_sure:
            b.fail_if(ops.negated(ops.Call(self.decisions.open(index), (FRAME,))), "no choice is left")
        b.add(ops.Store(ZERO, ASKED, ops.Constant(index)))
        b.add(ops.Store(ZERO, STATE, FRAME))
        b.add(ops.Store(ZERO, STATE + 2 * WORD, ops.Global("top")))
        b.give(STOPPED)
