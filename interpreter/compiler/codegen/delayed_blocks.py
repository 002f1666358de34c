"""Delayed blocks: statements that wait for the start or end of a turn, phase or round, with the values of their locals.

The only cell of the group ``kept`` has the number of blocks, their size in words, and the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from interpreter.compiler.codegen.function import ZERO
from interpreter.compiler.codegen.measure_functions import Measures
from interpreter.compiler.codegen.memory import BLOCKS
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import Type

__all__ = ["EDGES", "KEPT_HEAD", "KEPT_START", "SPANS", "DelayedBlocks"]

EDGES = ("end", "start", "due")
SPANS = ("turn", "phase", "round")
KEPT_HEAD = 4
"""Words before the values of a delayed block: its edge, its span, its procedure, its size in words."""
KEPT_START = 2
"""Words before the first block: the number of blocks, and their size in words."""
EDGE, OF = ops.Var("edge", "i32"), ops.Var("of", "i32")


class DelayedBlocks(Measures):
    """Builds what delays and finds blocks."""

    def captured(self, procedure: str) -> list[tuple[int, Type]]:
        return list(self.shapes.placed(self.program.reach.procedures[procedure].parameter_types, KEPT_HEAD * WORD))

    def delay(self, step: core.Keeps) -> None:
        types = self.program.reach.procedures[step.procedure].parameter_types
        values = [self.read_local(index, type_) for index, type_ in zip(step.captured, types, strict=True)]
        parameters = self.shapes.parameters(types)

        def build(b: DelayedBlocks) -> None:
            used = b.kept(b.cell("kept", word=1), "used")
            size = KEPT_HEAD + sum(map(self.shapes.words, types))
            b.check_room(BLOCKS, b.kept(used + (KEPT_START + size), "needed"), self.memory.blocks)
            at = b.kept(used * WORD + b._first, "at")
            head = (EDGES.index(step.edge), SPANS.index(step.of), self.module.delayed.index(step.procedure), size)
            for number, word in enumerate(head):
                b.add(ops.Store(at, number * WORD, ops.Constant(word), "kept"))
            for var, (offset, type_) in zip(parameters, self.captured(step.procedure), strict=True):
                b.store(at, offset, var, type_, "kept")
            b.set_cell("kept", used + size, 1)
            b.set_cell("kept", b.cell("kept") + 1)

        self.do(self.named("keep", f"{step.edge} {step.of} {step.procedure}", parameters, None, build), *values)

    @property
    def _first(self) -> int:
        return self.memory.groups["kept"].address + KEPT_START * WORD

    @contextmanager
    def blocks(self) -> Iterator[tuple[ops.Value, ops.Value]]:
        """Run the statements inside for each delayed block. Yield its address and the end of the last block."""
        at = self.var("i32", "at", ops.Constant(self._first))
        end = self.kept(self.cell("kept", word=1) * WORD + self._first, "end")
        further = at + ops.Load(at, 3 * WORD) * WORD
        with self.repeated("blocks", at < end, ops.Set(at, further)):
            yield at, end

    def helpers(self) -> Iterator[ops.Function]:
        yield self.made(ops.Function("take_kept", (EDGE, OF), "i32"), DelayedBlocks._take_kept)
        yield self.made(ops.Function("fall_due", (OF,), None), DelayedBlocks._fall_due)

    def _take_kept(self) -> None:
        """Remove the first block that is due at a moment: copy it into the arena and return its address, or 0."""
        with self.blocks() as (at, end), self.when(ops.both(ops.Load(at).equals(EDGE), ops.Load(at, WORD).equals(OF))):
            size = self.kept(ops.Load(at, 3 * WORD), "size")
            copy = self.kept(self.call("alloc", size), "copy")
            self.add(ops.CopyWords(copy, at, size))
            after = at + size * WORD
            self.add(ops.CopyWords(at, after, (end - after) >> 2, "kept"))
            self.set_cell("kept", self.cell("kept", word=1) - size, 1)
            self.set_cell("kept", self.cell("kept") - 1)
            self.give(copy)
        self.give(ZERO)

    def _fall_due(self) -> None:
        with self.blocks() as (at, _):
            begins = ops.Load(at).equals(EDGES.index("start"))
            with self.when(ops.both(begins, ops.Load(at, WORD).equals(OF))):
                self.add(ops.Store(at, 0, ops.Constant(EDGES.index("due")), "kept"))
