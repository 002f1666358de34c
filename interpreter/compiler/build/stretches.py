"""Stretches: the code between two decisions. Each is a function of the frame; it returns the number of the next
stretch.

The driver calls one stretch after another until one stops. If control passes to another frame, the stretch sets
``$frame``; the frames end at ``$top``. The special stretches behind those of the rules (:data:`SPECIALS`) have no
locals; their argument is the frame to return to: see :mod:`interpreter.compiler.build.phases`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interpreter.compiler import lower
from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.frames import kept_in_frame
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder, Slot
from interpreter.compiler.build.memory import FRAME_HEAD, STATE
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.ir import ops
from interpreter.compiler.plain.machine import SPECIALS
from interpreter.language import core
from interpreter.language.types import INT, NOTHING, Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["ASKED", "STOPPED", "Stretches", "enter", "must_settle", "push_special"]

STOPPED = ops.Constant(-1)
"""Result of a stretch that waits for a choice, or ends the game."""
ASKED = STATE + WORD
"""Address of the header word with the stretch that asks; -1: the game is over."""
WHERE, INTO, BELOW = 0, WORD, 2 * WORD
FRAME = ops.Var("frame", "i32")


class Stretches:
    """Builds the stretches of all procedures that can suspend."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module = module
        self.program, self.memory, self.shapes = module.program, module.memory, module.shapes
        self.first_special = len(self.program.stretches)

    def special(self, name: str) -> int:
        return self.first_special + SPECIALS.index(name)

    def function(self, index: int) -> ops.Function:
        stretch = self.program.stretches[index]
        name = self.module.name("s", stretch.id)

        def build(b: FunctionBuilder) -> None:
            x = self.begin(b, stretch.procedure)
            b.span = stretch.span
            layer = self.program.procedures[stretch.procedure].layer
            b.add(ops.Charge(ops.Constant(1 + len(stretch.steps))))
            Steps(x, layer.result, layer.local_types).block(stretch.steps)
            self._end(b, x, index, stretch)

        return self.module.made(name, (FRAME,), "i32", build, f"{stretch.id}, {stretch.span}")

    def begin(self, b: FunctionBuilder, procedure: str) -> Expressions:
        """Begin a function whose locals are in a frame of the procedure."""
        b.frame = FRAME
        shape = self.module.frames.shape(procedure)
        b.locals = {index: slot for index, slot in enumerate(shape.slots) if slot is not None}
        return Expressions(b)

    # --- ends

    def _end(self, b: FunctionBuilder, x: Expressions, index: int, stretch: lower.Stretch) -> None:
        end, steps = stretch.end, Steps(x, NOTHING)
        b.span = stretch.span
        match end:
            case lower.Jumps(to):
                self._goes(b, to)
            case lower.Forks(test, then, otherwise):
                holds = steps.test(test)
                b.add(ops.Return(ops.Select(holds, ops.Constant(then), ops.Constant(otherwise))))
            case lower.Asks(ask, _):
                self._ask(b, x, index, ask)
            case lower.Calls(call, into, then):
                self._call(b, steps, stretch.procedure, call, into, then)
            case lower.Leaves(value):
                self._leave(b, steps, value, self.program.procedures[stretch.procedure].layer.result)
            case lower.SettlesThen(then):
                self._settle(b, then)
                self._goes(b, then)
            case lower.TurnEnds(then):
                self._stay(b, then)
                self._goes(b, self.special("turn_over"))
            case lower.Advances(loop, body, after):
                self._advance(b, x, loop, body, after)
            case lower.Counts(loop, then):
                assert loop.bound is not None
                count = b.kept(b.read_local(loop.hidden, INT) + 1)
                b.write_local(loop.hidden, count, INT)
                b.fail_if(count > x.value(loop.bound), "more passes than allowed")
                self._goes(b, then)
            case lower.Stops():
                self.stop(b, steps)

    def _goes(self, b: FunctionBuilder, to: int) -> None:
        b.add(ops.Return(ops.Constant(to)))

    def _stay(self, b: FunctionBuilder, then: int, into: int = -1) -> None:
        """Suspend the frame; it resumes with a stretch when control returns to it."""
        frame = FRAME
        b.add(ops.Store(frame, WHERE, ops.Constant(then)))
        b.add(ops.Store(frame, INTO, ops.Constant(into)))

    def _settle(self, b: FunctionBuilder, then: int) -> None:
        """Build the settling of awake watches; afterwards control returns to a stretch of this frame."""
        with b.when(must_settle(b)):
            self._stay(b, then)
            b.add(ops.Store(ZERO, self.memory.groups["settling"].address, ONE, "settling"))
            b.add(ops.Return(ops.Constant(self.special("settle"))))

    def _leave(self, b: FunctionBuilder, steps: Steps, value: core.Expression | None, result: Type) -> None:
        """Return to the frame below, and store the result in its local."""
        frame = FRAME
        result_ = b.kept(steps.called(value, result)) if value is not None and result != NOTHING else None
        up = b.kept(ops.Load(frame, BELOW), "up")
        if result_ is not None:
            into = b.kept(ops.Load(up, INTO), "into")
            with b.when(into > 0):
                b.store(up + into, 0, result_, kept_in_frame(self.shapes, result))
        b.add(ops.SetGlobal("top", frame))
        b.add(ops.Return(ops.Call("back", (up,))))

    def _call(
        self,
        b: FunctionBuilder,
        steps: Steps,
        procedure: str,
        call: core.CallRule | core.CallBase,
        into: int,
        then: int,
    ) -> None:
        target = self.program.target(call)
        lowered = self.program.procedures[target]
        pairs = zip(call.arguments, lowered.layer.parameters, strict=True)
        values = [b.kept(steps.own(argument, type_)) for argument, (_, type_) in pairs]
        slot = self.module.frames.shape(procedure).slots[into] if into >= 0 else None
        self._stay(b, then, slot.offset if slot is not None else -1)
        enter(self.module, b, target, values, FRAME)

    def _advance(self, b: FunctionBuilder, x: Expressions, loop: core.Iterate, body: int, after: int) -> None:
        """Build the head of a `for each` over a list that is stored in the frame."""
        items, position = loop.hidden
        item = self.shapes.item(loop.items.type)
        kept = b.locals[items]
        assert isinstance(kept, Slot)
        assert b.frame is not None
        address = b.kept(b.frame + kept.offset)
        at = b.var("i64", "at")
        b.set(at, b.read_local(position, INT))
        with b.repeated("items", ONE) as label:
            done = at >= ops.ToNumber(ops.Load(address))
            b.add(ops.If(done, (ops.Break(label),)))
            step = ops.ToIndex(at) * (self.shapes.words(item) * WORD)
            value = b.kept(b.load(address + step, WORD, item))
            b.write_local(loop.variable, value, item)
            b.set(at, at + 1)
            b.write_local(position, at, INT)
            b.add(ops.Charge(ONE))
            with b.block() as taken:
                if loop.turn:
                    turn = self.memory.groups["turn"]
                    b.add(ops.Store(ZERO, turn.address, value, "turn"))
                    Steps(x, NOTHING).wake(turn, ZERO)
                self._goes(b, body)
            if loop.test is None:
                b.body.extend(taken)
            else:
                b.add(ops.If(x.value(loop.test), tuple(taken)))
        b.add(ops.Store(address, 0, ZERO))
        self._goes(b, after)

    def stop(self, b: FunctionBuilder, steps: Steps) -> None:
        """Build the end of the game."""
        over = self.memory.groups["over"]
        b.add(ops.Store(ZERO, over.address, ONE, "over"))
        steps.wake(over, ZERO)
        self.module.measures.at(b, "end of game")
        b.add(ops.Store(ZERO, ASKED, ops.Constant(-1)))
        b.add(ops.Return(STOPPED))

    # --- decisions

    def _ask(self, b: FunctionBuilder, x: Expressions, index: int, ask: core.Ask) -> None:
        for variable in sorted(ask.chosen):
            slot = b.locals.get(variable)
            if isinstance(slot, Slot):
                b.write_local(variable, b.none(slot.type), slot.type)
        self._settle(b, index)
        self._stay(b, index)
        counts = self.module.constants.statics["seat.counts"]
        seat = b.kept(x.value(ask.seat))
        if not all(counts):
            table = self.memory.words([int(counted) for counted in counts])
            b.fail_if(ops.Not(ops.Load(seat * WORD, table)), "a seat that does not count")
        decisions = self.module.decisions
        sure = any(option.guard is None and not option.choices and not option.tests for option in ask.options)
        if not sure:
            b.fail_if(ops.Not(ops.Call(decisions.open(index), (FRAME,))), "no choice is left")
        b.add(ops.Store(ZERO, ASKED, ops.Constant(index)))
        b.add(ops.Store(ZERO, STATE, FRAME))
        b.add(ops.Store(ZERO, STATE + 2 * WORD, ops.Global("top")))
        b.add(ops.Return(STOPPED))


def must_settle(b: FunctionBuilder) -> ops.Value:
    """Return the test whether a watch is awake and settling is not in progress."""
    groups = b.memory.groups
    if not b.module.constants.watches:
        return ZERO
    pending = groups["pending"].address
    halves = [ops.Load(ZERO, pending, "i32", "pending"), ops.Load(ZERO, pending + WORD, "i32", "pending")]
    waits: ops.Value = halves[0] if len(b.module.constants.watches) <= 32 else ops.Binary("or", *halves)
    return ops.both(waits, ops.Not(ops.Load(ZERO, groups["settling"].address, "i32", "settling")))


def push_special(b: FunctionBuilder, where: int, below: ops.Value) -> ops.Value:
    """Push a frame without locals: the stretch to resume, and the frame to return to after that."""
    frame = b.kept(ops.Global("top"), "special")
    b.fail_if(frame > b.memory.end_of_frames - FRAME_HEAD * WORD, "too deep")
    b.add(ops.Store(frame, WHERE, ops.Constant(where)))
    b.add(ops.Store(frame, INTO, ops.Constant(-1)))
    b.add(ops.Store(frame, BELOW, below))
    b.add(ops.SetGlobal("top", frame + FRAME_HEAD * WORD))
    return frame


def enter(
    module: ModuleBuilder, b: FunctionBuilder, procedure: str, values: Sequence[ops.Value], up: ops.Value
) -> None:
    """Enter a procedure. One that cannot suspend runs at once, and control returns to the frame ``up``."""
    lowered = module.program.procedures[procedure]
    if lowered.steps is not None:
        has_result = lowered.layer.result != NOTHING
        b.add(ops.Do(ops.Call(module.procedure(procedure), tuple(values)), has_result))
        b.add(ops.Return(ops.Call("back", (up,))))
        return
    shape = module.frames.shape(procedure)
    frame = b.kept(ops.Global("top"), "new")
    b.fail_if(frame > b.memory.end_of_frames - shape.size, "too deep")
    b.add(ops.CopyWords(frame, ops.Data(module.memory.words(shape.fresh), "a new frame"), ops.Constant(shape.words)))
    b.add(ops.Store(frame, BELOW, up))
    for value, slot in zip(values, shape.slots, strict=False):
        if slot is not None:
            b.store(frame, slot.offset, value, slot.type)
    b.add(ops.SetGlobal("top", frame + shape.size))
    b.add(ops.SetGlobal("frame", frame))
    b.add(ops.Return(ops.Constant(lowered.entry)))
