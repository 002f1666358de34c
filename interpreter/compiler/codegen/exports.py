"""Functions of a standalone module: views of seats, and a digest.

A view and a digest read only the live words. A kept list has room for more items than it holds, and that room may
contain stale data: a view must not leak it, and equal states must have equal digests.
"""

from __future__ import annotations

from functools import partial

from interpreter.compiler.codegen.base_module import Module
from interpreter.compiler.codegen.delayed_blocks import KEPT_HEAD, KEPT_START
from interpreter.compiler.codegen.function import ZERO
from interpreter.compiler.codegen.memory import FRAME_HEAD, STATE
from interpreter.compiler.codegen.shapes import WORD, Unsupported
from interpreter.compiler.codegen.sights import OPEN, SEAT, Sights
from interpreter.compiler.codegen.steps import Steps
from interpreter.compiler.codegen.stretches import ASKED
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.ops import CellGroup
from interpreter.language.types import BOOL, Type

__all__ = ["Standalone"]

HIDDEN, COUNTED = 1, 2
"""Entries of the mask of a view: the cell is hidden; only its number of items is visible. 0: it is visible."""


class Standalone(Sights):
    """Builds the exported functions. ``buffer`` has a copy of the state, ``mask`` a word for each cell."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.buffer = self.memory.reserve((self.memory.end_of_frames - STATE) // WORD)
        self.mask = self.memory.reserve(self.constants.layout.size)

    def functions(self) -> dict[str, ops.Function]:
        """Return the exported functions by name. Functions that they call are built when the module is finished."""
        view = ops.Function("seen", (SEAT,), None, about="copies the cells that a seat may see")
        copied = ops.Function("copied", (), "i32", about="copies the live words of the state")
        return {view.name: self.made(view, self._view), copied.name: self.made(copied, self._copied)}

    # --- copies of live words

    def _copy(self, b: Steps, at: ops.Value, type_: Type) -> None:
        b.store(at, self.buffer - STATE, b.load(at, 0, type_), type_)

    def _whole(self, b: Steps, group: CellGroup) -> None:
        shapes, type_ = self.shapes, group.type
        is_full = shapes.is_flat(type_) and not shapes.is_listed(type_) and not type_.optional
        if is_full or shapes.is_scalar(type_):
            target = ops.Constant(group.address - STATE + self.buffer)
            words = ops.Constant(group.count * group.stride // WORD)
            b.add(ops.CopyWords(target, ops.Constant(group.address), words))
            return
        with b.counted(ops.Constant(group.count)) as number:
            self._copy(b, b.kept(number * group.stride + group.address), type_)

    # --- the digest

    def _copied(self, b: Steps) -> None:
        """Copy the live words of the state, its cells and frames, to the buffer. Return their number."""
        for name, group in self.memory.groups.items():
            if name == "kept":
                self._blocks(b, group)
            else:
                self._whole(b, group)
        end = b.var("i32", "end", ops.Constant(self.memory.frames - STATE + self.buffer))
        is_over = ops.Load(ops.Constant(ASKED)) < 0
        frame = b.var("i32", "frame", ops.Select(is_over, ZERO, ops.Load(ops.Constant(STATE))))
        with b.repeated("frames", frame, ops.Set(frame, ops.Load(frame, 2 * WORD))):
            self._frame(b, frame, end)
        b.give((end - self.buffer) >> 2)

    def _frame(self, b: Steps, frame: ops.Var, end: ops.Var) -> None:
        """Copy a frame: the stretch to resume, the local for a result, the locals."""
        for place in range(2):
            b.add(ops.Store(end, place * WORD, ops.Load(frame, place * WORD)))
        b.set(end, end + FRAME_HEAD * WORD)
        procedures = sorted({stretch.procedure for stretch in self.program.stretches})
        owners = [procedures.index(stretch.procedure) for stretch in self.program.stretches]
        where = b.kept(ops.Load(frame), "where")
        owner = ops.Load(where * WORD, self.memory.words(owners))
        procedure = b.kept(ops.Select(where >= len(owners), ops.Constant(-1), owner), "procedure")
        for name in b.cases(procedure, procedures):
            try:
                shape = self.module.frame(name)
            except Unsupported:
                continue
            for slot in shape.slots:
                if slot is not None:
                    value = b.load(frame, slot.offset, slot.type)
                    b.store(end, slot.offset - FRAME_HEAD * WORD, value, slot.type)
            b.set(end, end + (shape.size - FRAME_HEAD * WORD))

    def _blocks(self, b: Steps, group: CellGroup) -> None:
        shift = self.buffer - STATE
        b.add(ops.CopyWords(ops.Constant(group.address + shift), ops.Constant(group.address), ops.Constant(KEPT_START)))
        with b.blocks() as (at, _):
            b.add(ops.CopyWords(at + shift, at, ops.Constant(KEPT_HEAD)))
            which = b.kept(ops.Load(at, 2 * WORD), "which")
            for procedure in b.cases(which, self.module.delayed):
                for offset, type_ in b.captured(procedure):
                    self._copy(b, b.kept(at + offset), type_)

    # --- views

    def _view(self, b: Sights) -> None:
        """Copy the cells that a seat may see to the zeroed buffer, and fill the mask."""
        b.fail_if(ops.either(SEAT < 0, self.shapes.seats < SEAT), "no such seat")
        for name, group in self.memory.groups.items():
            declared = self.model.groups.get(name)
            if declared is None and name not in ("location", *OPEN):
                for cell in range(group.base, group.base + group.count):
                    b.add(ops.Store(ZERO, self.mask + cell * WORD, ops.Constant(HIDDEN)))
            else:
                is_counted = declared is not None and declared.is_counted
                self._seen(b, group, declared.type if declared is not None else BOOL, is_counted)

    def _seen(self, b: Sights, group: CellGroup, type_: Type, is_counted: bool) -> None:
        sight = self.sight(group, type_)
        if sight.is_open:
            self._whole(b, group)
            return
        with b.counted(ops.Constant(group.count)) as number:
            at = b.kept(number * group.stride + group.address)
            mask = b.kept(number * WORD + (self.mask + group.base * WORD))
            hidden = partial(self._blank, b, group, at, mask)
            covered = partial(self._counted, b, at, mask) if is_counted else hidden
            b.guarded(sight, group, number, at, partial(self._copy, b, at, group.type), hidden, covered)

    def _counted(self, b: Steps, at: ops.Value, mask: ops.Value) -> None:
        """Write a hidden cell of which the number of items is visible."""
        b.add(ops.Store(at, self.buffer - STATE, ops.Load(at)))
        b.add(ops.Store(mask, 0, ops.Constant(COUNTED)))

    def _blank(self, b: Steps, group: CellGroup, at: ops.Value, mask: ops.Value) -> None:
        """Write a hidden cell: only the absence of a value is visible."""
        first, hidden = ops.Load(at), ops.Store(mask, 0, ops.Constant(HIDDEN))
        known = ops.Store(at, self.buffer - STATE, first)
        is_none = first.equals(self.shapes.kept_none(group.type))
        b.add(ops.If(is_none, (known,), (hidden,)) if group.type.optional else hidden)
