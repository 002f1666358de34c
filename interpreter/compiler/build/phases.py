"""Control flow of a game: set-up, rounds, phases, turns, delayed blocks and standing rules.

These are the special stretches behind those of the rules, in the order of :data:`SPECIALS`. They have no locals; their
argument is the frame that control returns to (0: none).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.memory import KEPT_WORDS
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.build.stretches import ASKED, BELOW, FRAME, STOPPED, WHERE, enter, must_settle, push_special
from interpreter.compiler.ir import ops
from interpreter.compiler.plain.machine import SPECIALS
from interpreter.compiler.watches import Watch
from interpreter.language import core
from interpreter.language.types import NOTHING, Type
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["EDGES", "KEPT_HEAD", "SPANS", "Phases"]

EDGES = ("end", "start", "due")
SPANS = ("turn", "phase", "round")
KEPT_HEAD = 4
"""Words before the values of a delayed block: its edge, its span, its procedure, its size in words."""
KEPT_START = 2
"""Words before the first block: the number of blocks, and their size in words."""
NO_MATCH = ops.Constant(-2)


class Phases:
    """Builds the special stretches and their helpers."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.program = module, module.program
        self.memory, self.shapes = module.memory, module.shapes
        self.model = module.constants.model
        self.kept = self.memory.groups["kept"].address
        layers = self.program.reach.procedures
        nodes = (node for layer in layers.values() for node in descendants(layer.body))
        self.keepable = tuple(sorted({node.procedure for node in nodes if isinstance(node, core.Keeps)}))
        """The procedures of delayed blocks. A block stores an index into this."""

    def stretches(self) -> Iterator[ops.Function]:
        """Yield a function for each special stretch, in order. Each charges fuel like those of the rules, since rounds
        may repeat without running any rule."""
        for name in SPECIALS:

            def build(b: FunctionBuilder, name: str = name) -> None:
                b.add(ops.Charge(ONE))
                getattr(self, f"_{name}")(b)

            yield self.module.made(f"g.{name}", (FRAME,), "i32", build, f"special stretch: {name}")

    def helpers(self) -> Iterator[ops.Function]:
        """Build the shared helper functions of control flow."""
        yield self.module.made("back", (FRAME,), "i32", self._back)
        yield self.module.made("take_kept", (ops.Var("edge", "i32"), ops.Var("of", "i32")), "i32", self._take_kept)
        yield self.module.made("fall_due", (ops.Var("of", "i32"),), None, self._fall_due)

    def _special(self, name: str) -> int:
        return self.module.stretches.special(name)

    def _goes(self, b: FunctionBuilder, name: str) -> None:
        b.add(ops.Return(ops.Constant(self._special(name))))

    def _steps(self, b: FunctionBuilder) -> Steps:
        return Steps(Expressions(b), NOTHING)

    def _put(self, b: FunctionBuilder, group: str, value: ops.Value) -> None:
        """Set a cell. Unlike a normal change, it wakes watches even if the value stays the same."""
        cells = self.memory.groups[group]
        b.add(ops.Store(ZERO, cells.address, b.word(value), group))
        self._steps(b).wake(cells, ZERO)

    def _cell(self, group: str) -> ops.Value:
        return ops.Load(ZERO, self.memory.groups[group].address, "i32", group)

    def _back(self, b: FunctionBuilder) -> None:
        """Return control to a frame. A special frame is popped."""
        where = b.kept(ops.Load(FRAME, WHERE), "where")
        first = ops.Constant(self.module.stretches.first_special)
        special = (
            ops.SetGlobal("top", FRAME),
            ops.SetGlobal("frame", ops.Load(FRAME, BELOW)),
        )
        rule = (ops.SetGlobal("frame", FRAME),)
        b.add(ops.If(where >= first, special, rule))
        b.add(ops.Return(where))

    # --- set-up, rounds, phases

    def _enters(self, b: FunctionBuilder, procedure: str, values: list[ops.Value], back: str, up: ops.Value) -> None:
        enter(self.module, b, procedure, values, push_special(b, self._special(back), up))

    def _start(self, b: FunctionBuilder) -> None:
        self.module.measures.at(b, "start of game")
        setup = self.model.rules[self.model.setup].top.id
        self._enters(b, setup, [], "round_start", ZERO)

    def _round_start(self, b: FunctionBuilder) -> None:
        number = b.kept(ops.Load(ZERO, self.memory.groups["round"].address, "i64", "round") + 1)
        self._put(b, "round", number)
        self._put(b, "phase", ops.Constant(-1))
        self.module.measures.at(b, "start of round")
        b.add(ops.Do(ops.Call("fall_due", (ops.Constant(SPANS.index("round")),))))
        self._goes(b, "next_phase")

    def _next_phase(self, b: FunctionBuilder) -> None:
        now = b.kept(self._cell("phase"), "phase")
        for number, guard in enumerate(self.model.phase_guards or (None,) * len(self.model.phases)):
            with b.when(now < number):
                tests = []
                if guard is not None:
                    b.locals = {}
                    tests = [Expressions(b).value(guard.value)]
                with b.block() as due:
                    self._put(b, "phase", ops.Constant(number))
                    self.module.measures.at(b, f"start of {self.model.phases[number]}")
                    b.add(ops.Do(ops.Call("fall_due", (ops.Constant(SPANS.index("phase")),))))
                    self._goes(b, "phase_begin")
                if tests:
                    b.add(ops.If(tests[0], tuple(due)))
                else:
                    b.body.extend(due)
        self._goes(b, "round_over")

    def _phase_begin(self, b: FunctionBuilder) -> None:
        for of in ("round", "phase"):
            self._resume_kept(b, "due", of, "phase_begin", ZERO)
        now = b.kept(self._cell("phase"), "phase")
        for number, phase in enumerate(self.model.phases):
            with b.when(now.equals(number)):
                self._enters(b, self.model.rules[phase].top.id, [], "phase_over", ZERO)
        b.fail("no such phase")

    def _settled(self, b: FunctionBuilder, back: str, up: ops.Value) -> None:
        """Settle, then continue with a special stretch."""
        with b.when(must_settle(b)):
            special = push_special(b, self._special(back), up)
            b.add(ops.SetGlobal("frame", special))
            b.add(ops.Store(ZERO, self.memory.groups["settling"].address, ONE, "settling"))
            self._goes(b, "settle")
        self._goes(b, back)

    def _phase_over(self, b: FunctionBuilder) -> None:
        self._settled(b, "phase_kept", ZERO)

    def _phase_kept(self, b: FunctionBuilder) -> None:
        self._resume_kept(b, "end", "phase", "phase_kept", ZERO)
        self._settled(b, "phase_done", ZERO)

    def _phase_done(self, b: FunctionBuilder) -> None:
        self._reset(b, "phase")
        self.module.measures.at_phase(b, "end", self._cell("phase"))
        self._goes(b, "next_phase")

    def _round_over(self, b: FunctionBuilder) -> None:
        self._settled(b, "round_kept", ZERO)

    def _round_kept(self, b: FunctionBuilder) -> None:
        self._resume_kept(b, "end", "round", "round_kept", ZERO)
        self._reset(b, "round")
        self.module.measures.at(b, "end of round")
        self._goes(b, "round_start")

    def _turn_over(self, b: FunctionBuilder) -> None:
        self._settled(b, "turn_kept", FRAME)

    def _turn_kept(self, b: FunctionBuilder) -> None:
        self._resume_kept(b, "end", "turn", "turn_kept", FRAME)
        self._settled(b, "turn_done", FRAME)

    def _turn_done(self, b: FunctionBuilder) -> None:
        self._reset(b, "turn")
        self._put(b, "turn", ops.Constant(-1))
        b.add(ops.Return(ops.Call("back", (FRAME,))))

    def _nothing(self, b: FunctionBuilder) -> None:
        b.add(ops.Store(ZERO, ASKED, ops.Constant(-1)))
        b.add(ops.Return(STOPPED))

    def _reset(self, b: FunctionBuilder, lasts: str) -> None:
        """Reset cells that last for a turn, phase or round."""
        steps, layout = self._steps(b), self.module.constants.layout
        for cell, start in self.module.resets.get(lasts, ()):
            name, owner = layout.owner_of(cell)
            group = self.memory.groups[name]
            new = steps.x._constant(start, group.type)
            place = ops.Constant(owner) if group.count > 1 else None
            steps.put(group, place, ZERO, group.address + owner * group.stride, new)

    # --- delayed blocks

    def keeping(self, step: core.Keeps) -> str:
        """Return the name of the function that delays a block with the values of its locals."""
        name = self.module.name("keep", f"{step.edge} {step.of} {step.procedure}")
        return self.module.request(name, lambda: self._keeping(name, step))

    def captured(self, procedure: str) -> list[tuple[int, Type]]:
        """Return the offset and type of each value of a block."""
        types = (type_ for _, type_ in self.program.reach.procedures[procedure].parameters)
        return list(self.shapes.placed(types, KEPT_HEAD * WORD))

    def _size(self, procedure: str) -> int:
        types = (type_ for _, type_ in self.program.reach.procedures[procedure].parameters)
        return KEPT_HEAD + sum(map(self.shapes.words, types))

    def _keeping(self, name: str, step: core.Keeps) -> ops.Function:
        layer = self.program.reach.procedures[step.procedure]
        parameters = tuple(ops.Var(f"p{i}", self.shapes.rep(type_)) for i, (_, type_) in enumerate(layer.parameters))

        def build(b: FunctionBuilder) -> None:
            used = b.kept(ops.Load(ZERO, self.kept + WORD, "i32", "kept"), "used")
            size = self._size(step.procedure)
            b.fail_if(used > KEPT_WORDS - KEPT_START - size, "too many blocks wait")
            at = b.kept(used * WORD + (self.kept + KEPT_START * WORD), "at")
            head = (EDGES.index(step.edge), SPANS.index(step.of), self.keepable.index(step.procedure), size)
            for number, word in enumerate(head):
                b.add(ops.Store(at, number * WORD, ops.Constant(word), "kept"))
            for var, (offset, type_) in zip(parameters, self.captured(step.procedure), strict=True):
                b.store(at, offset, var, type_, "kept")
            b.add(ops.Store(ZERO, self.kept + WORD, used + size, "kept"))
            count = ops.Load(ZERO, self.kept, "i32", "kept")
            b.add(ops.Store(ZERO, self.kept, count + 1, "kept"))

        return self.module.made(name, parameters, None, build)

    @contextmanager
    def blocks(self, b: FunctionBuilder) -> Iterator[tuple[ops.Value, ops.Value]]:
        """Run the statements inside for each delayed block. Yield its address and the end of the last block."""
        start, at = self.kept + KEPT_START * WORD, b.var("i32", "at")
        b.set(at, ops.Constant(start))
        end = b.kept(ops.Load(ZERO, self.kept + WORD, "i32", "kept") * WORD + start, "end")
        further = at + ops.Load(at, 3 * WORD) * WORD
        with b.repeated("blocks", at < end, ops.Set(at, further)):
            yield at, end

    def _take_kept(self, b: FunctionBuilder) -> None:
        """Remove the first block that is due at a moment: copy it into the arena and return its address, or 0."""
        edge, of = ops.Var("edge", "i32"), ops.Var("of", "i32")
        with self.blocks(b) as (at, end):
            is_due = ops.both(ops.Load(at).equals(edge), ops.Load(at, WORD).equals(of))
            with b.when(is_due):
                size = b.kept(ops.Load(at, 3 * WORD), "size")
                copy = b.kept(ops.Allocate(size), "copy")
                b.add(ops.CopyWords(copy, at, size))
                after = at + size * WORD
                left = (end - after) >> 2
                b.add(ops.CopyWords(at, after, left, "kept"))
                used = ops.Load(ZERO, self.kept + WORD, "i32", "kept")
                b.add(ops.Store(ZERO, self.kept + WORD, used - size, "kept"))
                count = ops.Load(ZERO, self.kept, "i32", "kept")
                b.add(ops.Store(ZERO, self.kept, count - 1, "kept"))
                b.add(ops.Return(copy))
        b.add(ops.Return(ZERO))

    def _fall_due(self, b: FunctionBuilder) -> None:
        """Mark the blocks that wait for a start as due."""
        of = ops.Var("of", "i32")
        with self.blocks(b) as (at, _):
            begins = ops.Load(at).equals(EDGES.index("start"))
            matches = ops.both(begins, ops.Load(at, WORD).equals(of))
            b.add(ops.If(matches, (ops.Store(at, 0, ops.Constant(EDGES.index("due")), "kept"),)))

    def _resume_kept(self, b: FunctionBuilder, edge: str, of: str, back: str, up: ops.Value) -> None:
        """Run the first block that is due at a moment; then control returns here."""
        if not self.keepable:
            return
        arguments = (ops.Constant(EDGES.index(edge)), ops.Constant(SPANS.index(of)))
        block = b.kept(ops.Call("take_kept", arguments), "block")
        with b.when(block):
            which = b.kept(ops.Load(block, 2 * WORD), "which")
            for number, procedure in enumerate(self.keepable):
                with b.when(which.equals(number)):
                    values = [b.kept(b.load(block, offset, type_)) for offset, type_ in self.captured(procedure)]
                    self._enters(b, procedure, values, back, up)
            b.fail("no such block")

    # --- standing rules

    def _settle(self, b: FunctionBuilder) -> None:
        """Run one match of the first watch that has one; if none is left, return to the frame below."""
        pending = self.memory.groups["pending"].address
        words = 1 if len(self.module.constants.watches) <= 32 else 2
        with b.repeated("settle", ONE):
            for number, watch in enumerate(self.module.constants.watches):
                half, bit = divmod(number, 32)
                mask = ops.Constant(_bit(bit))
                waits = ops.Load(ZERO, pending + half * WORD, "i32", "pending") & mask
                with b.when(waits):
                    going = b.kept(ops.Call(self._matching(number, watch), (FRAME,)), "going")
                    b.add(ops.If(going.differs(NO_MATCH), (ops.Return(going),)))
                    others = ops.Constant(~_bit(bit) if bit < 31 else 2**31 - 1)
                    left = ops.Load(ZERO, pending + half * WORD, "i32", "pending") & others
                    b.add(ops.Store(ZERO, pending + half * WORD, left, "pending"))
            done = (
                ops.Store(ZERO, self.memory.groups["settling"].address, ZERO, "settling"),
                ops.Return(ops.Call("back", (FRAME,))),
            )
            left_over: ops.Value = ops.Load(ZERO, pending, "i32", "pending")
            if words == 2:
                left_over = left_over | ops.Load(ZERO, pending + WORD, "i32", "pending")
            b.add(ops.If(ops.Not(left_over), done))

    def _each_match(self, b: FunctionBuilder, watch: Watch, body: Callable[[list[ops.Value]], None]) -> None:
        """Run the body for each match of a watch; it stops at the first."""
        rule = watch.rule
        b.span = rule.span
        b.locals = {}
        x = Expressions(b)
        known: list[ops.Value] = []
        if watch.seat is not None:
            var = b.var("i32", "seat")
            b.set(var, ops.Constant(watch.seat))
            b.locals[rule.binders[0][0]] = var
            known.append(ops.Constant(watch.seat))

        def tested(values: list[ops.Var]) -> None:
            with x.loops.when(rule.test):
                body([*known, *values])

        x.loops.combinations(watch.binders, tested, stops=True)

    def _matches(self, number: int, watch: Watch) -> str:
        """Return the name of a function: does a watch have a match?"""
        name = self.module.name("matches", f"{watch.rule.name} {number}")

        def build(b: FunctionBuilder) -> None:
            self._each_match(b, watch, lambda values: b.add(ops.Return(ONE)))
            b.add(ops.Return(ZERO))

        return self.module.request(name, lambda: self.module.made(name, (), "i32", build))

    def _matching(self, number: int, watch: Watch) -> str:
        """Return the name of a function that enters the procedure of a watch's first match and returns the next
        stretch; -2: no match.

        Later watches without a match sleep until they are woken again.
        """
        name = self.module.name("settle", f"{watch.rule.name} {number}")
        pending = self.memory.groups["pending"].address
        watches = self.module.constants.watches

        def matched(b: FunctionBuilder, values: list[ops.Value]) -> None:
            for half in range(1 if len(watches) <= 32 else 2):
                awake = b.var("i32", "awake")
                now = b.kept(ops.Load(ZERO, pending + half * WORD, "i32", "pending"))
                own = _bit(number - 32 * half) if number // 32 == half else 0
                b.set(awake, ops.Constant(own))
                for other in range(max(number + 1, 32 * half), min(len(watches), 32 * half + 32)):
                    bit = ops.Constant(_bit(other - 32 * half))
                    test = ops.both(now & bit, ops.Call(self._matches(other, watches[other]), ()))
                    b.add(ops.If(test, (ops.Set(awake, awake | bit),)))
                b.add(ops.Store(ZERO, pending + half * WORD, awake, "pending"))
            procedure = watch.rule.procedure
            self._enters(b, procedure, [b.kept(value) for value in values], "settle", FRAME)

        def build(b: FunctionBuilder) -> None:
            self._each_match(b, watch, lambda values: matched(b, values))
            b.add(ops.Return(NO_MATCH))

        return self.module.request(name, lambda: self.module.made(name, (FRAME,), "i32", build))


def _bit(number: int) -> int:
    """Return a bit as a signed word."""
    return 1 << number if number < 31 else -(2**31)
