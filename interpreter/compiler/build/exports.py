"""Functions of a standalone module: views of seats, a digest, the result.

A view and a digest read only the live words. A kept list has room for more items than it holds, and that room may
contain stale data: a view must not leak it, and equal states must have equal digests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.memory import FRAME_HEAD, STATE
from interpreter.compiler.build.phases import KEPT_HEAD, KEPT_START
from interpreter.compiler.build.ranking import Ranking
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.build.sights import Sights
from interpreter.compiler.build.stretches import ASKED
from interpreter.compiler.ir import ops
from interpreter.language.types import BOOL, CardHolderType, CollectionType, Type, has_cards

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["COUNTED", "HIDDEN", "OPEN", "SEEN", "Standalone"]

SEEN, HIDDEN, COUNTED = 0, 1, 2
"""Entries of the mask of a view: the cell is visible; it is hidden; only its number of items is visible."""
OPEN = ("round", "phase", "turn", "over")
"""Cells that are public, including those without a declaration."""
LISTED = CardHolderType | CollectionType
AT, INTO, WHO = (ops.Var(name, "i32") for name in ("at", "into", "seat"))


class Standalone(Sights):
    """Builds the exported functions. ``buffer`` is the address of a copy of the state, ``mask`` that of a word for each
    cell."""

    def __init__(self, module: ModuleBuilder) -> None:
        super().__init__(module)
        self.buffer = self.memory.reserve((self.memory.end_of_frames - STATE) // WORD)
        self.mask = self.memory.reserve(self.constants.layout.size)

    def functions(self) -> dict[str, ops.Function]:
        """Return the exported functions by name. Functions that they call are built when the module is finished."""
        functions = [self._view(), self._copied(), self._over()]
        return {function.name: function for function in functions} | Ranking(self.module).functions()

    # --- copies of live words

    def _copy(self, b: FunctionBuilder, at: ops.Value, into: ops.Value, type_: Type) -> None:
        """Copy a kept value to a zeroed destination."""
        shapes = self.shapes
        words = ops.Constant(shapes.words(type_))
        if shapes.is_scalar(type_):
            b.add(ops.Store(into, 0, ops.Load(at)))
        elif shapes.is_listed(type_) or not shapes.is_flat(type_):
            b.add(ops.Do(ops.Call(self.module.values.of_type("live", type_, self._live), (at, into))))
        elif type_.optional:
            b.add(ops.If(ops.Load(at), (ops.CopyWords(into, at, words),)))
        else:
            b.add(ops.CopyWords(into, at, words))

    def _live(self, name: str, type_: Type) -> ops.Function:
        shapes = self.shapes
        at, into = AT, INTO

        def items(b: FunctionBuilder) -> None:
            item = shapes.item(type_)
            size = shapes.words(item) * WORD
            length = b.kept(ops.Load(at))
            b.add(ops.If(length < 0, (ops.Store(into, 0, length), ops.Return())))
            if shapes.is_scalar(item):
                b.add(ops.CopyWords(into, at, length + 1))
                return
            b.add(ops.Store(into, 0, length))
            with b.counted(length) as number:
                place = b.kept(number * size + WORD)
                self._copy(b, b.kept(at + place), b.kept(into + place), item)

        def build(b: FunctionBuilder) -> None:
            if shapes.is_listed(type_):
                items(b)
                return
            if type_.optional:
                b.add(ops.If(ops.Not(ops.Load(at)), (ops.Return(),)))
                b.add(ops.Store(into, 0, ONE))
            for offset, field in shapes.placed(shapes.fields(type_), WORD * type_.optional):
                self._copy(b, b.kept(at + offset), b.kept(into + offset), field)

        return self.module.made(name, (AT, INTO), None, build, f"copies the live words: {type_}")

    def _cell(self, b: FunctionBuilder, group: ops.CellGroup, number: ops.Value) -> None:
        place = number * group.stride
        at = b.kept(place + group.address)
        self._copy(b, at, b.kept(place + (group.address - STATE + self.buffer)), group.type)

    def _whole(self, b: FunctionBuilder, group: ops.CellGroup) -> None:
        """Copy all cells of a group."""
        shapes, type_ = self.shapes, group.type
        always_full = shapes.is_flat(type_) and not shapes.is_listed(type_) and not type_.optional
        if not (always_full or shapes.is_scalar(type_)):
            with b.counted(ops.Constant(group.count)) as number:
                self._cell(b, group, number)
            return
        target = ops.Constant(group.address - STATE + self.buffer)
        words = ops.Constant(group.count * group.stride // WORD)
        b.add(ops.CopyWords(target, ops.Constant(group.address), words))

    # --- the digest

    def _copied(self) -> ops.Function:
        """Build the function that copies the live words of the state, its cells and frames, to the buffer. It returns
        their number."""

        def build(b: FunctionBuilder) -> None:
            for name, group in self.memory.groups.items():
                if name == "kept":
                    self._blocks(b, group)
                else:
                    self._whole(b, group)
            end = b.var("i32", "end")
            b.set(end, ops.Constant(self.memory.frames - STATE + self.buffer))
            over = ops.Load(ops.Constant(ASKED)) < 0
            frame = b.var("i32", "frame")
            b.set(frame, ops.Select(over, ZERO, ops.Load(ops.Constant(STATE))))
            with b.repeated("frames", frame, ops.Set(frame, ops.Load(frame, 2 * WORD))):
                self._frame(b, frame, end)
            size = end - self.buffer
            b.add(ops.Return(size >> 2))

        return self.module.made("copied", (), "i32", build, "copies the live words of the state")

    def _frame(self, b: FunctionBuilder, frame: ops.Var, end: ops.Var) -> None:
        """Copy a frame: the stretch to resume, the local for a result, the locals."""
        program, frames = self.module.program, self.module.frames
        for place in range(2):
            b.add(ops.Store(end, place * WORD, ops.Load(frame, place * WORD)))
        b.set(end, end + FRAME_HEAD * WORD)
        procedures = sorted({stretch.procedure for stretch in program.stretches})
        owners = [procedures.index(stretch.procedure) for stretch in program.stretches]
        table = self.memory.words(owners)
        where = b.kept(ops.Load(frame), "where")
        special = where >= len(owners)
        procedure = b.kept(ops.Select(special, ops.Constant(-1), ops.Load(where * WORD, table)), "procedure")
        for number, name in enumerate(procedures):
            try:
                slots = [slot for slot in frames.shape(name).slots if slot is not None]
            except Unsupported:
                continue
            with b.when(procedure.equals(number)):
                for slot in slots:
                    offset = slot.offset - FRAME_HEAD * WORD
                    source = b.kept(frame + slot.offset)
                    self._copy(b, source, b.kept(end + offset), slot.type)
                b.set(end, end + (frames.shape(name).size - FRAME_HEAD * WORD))

    def _blocks(self, b: FunctionBuilder, group: ops.CellGroup) -> None:
        """Copy the delayed blocks."""
        phases = self.module.phases
        shift = self.buffer - STATE
        b.add(ops.CopyWords(ops.Constant(group.address + shift), ops.Constant(group.address), ops.Constant(KEPT_START)))
        with phases.blocks(b) as (at, _):
            b.add(ops.CopyWords(at + shift, at, ops.Constant(KEPT_HEAD)))
            which = b.kept(ops.Load(at, 2 * WORD), "which")
            for number, procedure in enumerate(phases.keepable):
                with b.when(which.equals(number)):
                    for offset, type_ in phases.captured(procedure):
                        source = b.kept(at + offset)
                        self._copy(b, source, b.kept(source + shift), type_)

    # --- views

    def _view(self) -> ops.Function:
        """Build the function that copies the cells that a seat may see to the zeroed buffer, and fills the mask."""

        def build(b: FunctionBuilder) -> None:
            seat = WHO
            outside = ops.either(seat < 0, seat > self.seats)
            b.fail_if(outside, "no such seat")
            for name, group in self.memory.groups.items():
                self._seen_of(b, name, group)

        return self.module.made("seen", (WHO,), None, build, "copies the cells that a seat may see")

    def _seen_of(self, b: FunctionBuilder, name: str, group: ops.CellGroup) -> None:
        declared = self.model.groups.get(name)
        cells = range(group.base, group.base + group.count)
        if name in OPEN:
            self._whole(b, group)
            return
        if declared is None and name != "location":
            self._masked(b, group)
            return
        type_ = declared.type if declared is not None else BOOL
        some_hidden = any(cell in self.constants.seen_by for cell in cells) and name != "round"
        lies_with_card = declared is None or declared.owner == "card"
        names_cards = has_cards(type_, self.model.records)
        if not (some_hidden or lies_with_card or names_cards):
            self._whole(b, group)
            return
        with b.counted(ops.Constant(group.count)) as number:
            seen = b.var("i32", "seen")
            b.set(seen, ONE)
            if lies_with_card:
                b.set(seen, ops.Call(self._sees_card(), (number, WHO)))
            if names_cards:
                at = b.kept(number * group.stride + group.address)
                hidden = self._hides(b, at, group.type)
                b.add(ops.If(hidden, (ops.Set(seen, ZERO),)))
            with b.block() as shown:
                self._cell(b, group, number)
            with b.block() as blank:
                self._blank(b, group, number, counted=False)
            statement: ops.Statement = ops.If(seen, tuple(shown), tuple(blank))
            if some_hidden:
                with b.block() as covered:
                    self._blank(b, group, number, counted=isinstance(type_, LISTED))
                statement = ops.If(self._may_see(b, number + group.base), (statement,), tuple(covered))
            b.add(statement)

    def _blank(self, b: FunctionBuilder, group: ops.CellGroup, number: ops.Value, *, counted: bool) -> None:
        """Write a hidden cell: only the number of items, or the absence of a value, is visible."""
        type_ = group.type
        place = b.kept(number * group.stride)
        first = ops.Load(place, group.address)
        mask = number * WORD + (self.mask + group.base * WORD)
        known = ops.Store(place, group.address - STATE + self.buffer, first)
        if counted:
            b.add(known)
            b.add(ops.Store(mask, 0, ops.Constant(COUNTED)))
            return
        hidden = ops.Store(mask, 0, ops.Constant(HIDDEN))
        if not type_.optional:
            b.add(hidden)
            return
        none = ops.Constant(-1) if self.shapes.is_listed(type_) else ops.Constant(self.shapes.none(type_))
        b.add(ops.If(first.equals(none), (known,), (hidden,)))

    def _masked(self, b: FunctionBuilder, group: ops.CellGroup) -> None:
        """Hide a group from all seats."""
        for cell in range(group.base, group.base + group.count):
            b.add(ops.Store(ZERO, self.mask + cell * WORD, ops.Constant(HIDDEN)))

    # --- the result

    def _over(self) -> ops.Function:
        over = ops.Load(ZERO, self.memory.groups["over"].address, "i32", "over")
        return self.module.made("is_over", (), "i32", lambda b: b.add(ops.Return(over)), "true if the game is over")
