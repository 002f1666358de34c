"""Cells of the state: their addresses, reads, and changes that wake the watches that read them."""

from __future__ import annotations

from interpreter.compiler.codegen.base_module import HOLDER
from interpreter.compiler.codegen.function import ZERO
from interpreter.compiler.codegen.loops import Loops, Source
from interpreter.compiler.codegen.shapes import WORD, halves, signed
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.ops import CellGroup
from interpreter.language import core
from interpreter.language.types import Type
from interpreter.lowering.effect_analysis import groups_alike

__all__ = ["Cells"]


class Cells(Loops):
    """Builds reads and changes of cells."""

    def holder(self, node: core.Expression) -> tuple[ops.Value, int, str]:
        """Return the address and offset of a holder, and the name of its group; the names of all that can contain it,
        joined by ``|``, if only its type is known."""
        if isinstance(node, core.Cell):
            return *self.place(self.memory.groups[node.group], self.owner(node)), node.group
        names = "|".join(groups_alike(self.model, node.type))
        return ops.Load(self.value(node) * HOLDER, self.module.holders), 0, names or "?"

    def owner(self, cell: core.Cell) -> ops.Value:
        return self.value(cell.owner) if cell.owner is not None else ZERO

    def place(self, group: CellGroup, owner: ops.Value) -> tuple[ops.Value, int]:
        if isinstance(owner, ops.Constant):
            return ZERO, group.address + owner.value * group.stride
        return owner * group.stride, group.address

    @property
    def pending(self) -> ops.Value:
        return ops.Load(ZERO, self.memory.groups["pending"].address, "i64")

    def set_pending(self, watches: ops.Value) -> None:
        self.add(ops.Store(ZERO, self.memory.groups["pending"].address, watches))

    def cell(self, name: str, rep: ops.Rep = "i32", word: int = 0) -> ops.Value:
        """Return a word of the only cell of a group."""
        return ops.read(ZERO, self.memory.groups[name].address + word * WORD, rep, name)

    def set_cell(self, name: str, value: ops.Value, word: int = 0) -> None:
        """Set a word of the only cell of a group without waking watches."""
        self.add(ops.Store(ZERO, self.memory.groups[name].address + word * WORD, self.word(value), name))

    def source(self, node: core.Expression, *, stops: bool = False) -> Source:
        """Build the source of a loop. Items of a list of lists, such as piles, are looked at where they lie."""
        shapes = self.shapes
        if isinstance(node, core.Read) and isinstance(cell := node.cell, core.Cell):
            kept = self.memory.groups[cell.group].type
            if shapes.is_listed(kept) and not (kept.optional or shapes.is_flat(kept)):
                address, offset, group = self.holder(cell)
                at, item = self.kept(ops.Cell(address + offset, group)), shapes.item(kept)
                length, step = self.kept(ops.Load(at), "n"), shapes.words(item) * WORD
                return self.stepped(
                    item,
                    length,
                    ZERO,
                    lambda place: place < length,
                    lambda place: self.load(at + place * step, WORD, item),
                )
        return super().source(node, stops=stops)

    def read(self, cell: core.Expression, type_: Type) -> ops.Value:
        address, offset, group = self.holder(cell)
        kept = self.memory.groups[group].type if isinstance(cell, core.Cell) else type_
        if self.shapes.is_scalar(kept) and self.shapes.rep(type_) == self.shapes.rep(kept):
            kept = type_
        value = self.load(address, offset, kept, group)
        return ops.ToIndex(value) if (value.rep, self.shapes.rep(type_)) == ("i64", "i32") else value  # a phase

    # --- changes

    def change(self, group: CellGroup, owner: ops.Value, new: ops.Value) -> None:
        """Set a cell, and wake the watches that read it if its value changes."""
        type_, (address, offset) = group.type, self.place(group, owner)
        old = self.load(address, offset, type_, group.name)
        same = self.same(new, old if self.shapes.is_scalar(type_) else self.kept(old), type_, type_)
        with self.when(ops.negated(same)):
            self.store(address, offset, new, type_, group.name)
            self.wake(group, owner)

    def put(self, name: str, value: ops.Value) -> None:
        """Set the only cell of a group. Unlike a normal change, it wakes watches even if the value stays the same."""
        self.set_cell(name, value)
        self.wake(self.memory.groups[name])

    def wake(self, group: CellGroup, owner: ops.Value = ZERO) -> None:
        masks = [signed(mask) for mask in self.constants.effects.wakes[group.base : group.base + group.count]]
        if any(masks):
            if isinstance(owner, ops.Constant):
                mask: ops.Value = ops.Constant(masks[owner.value], "i64")
            elif len(set(masks)) == 1:
                mask = ops.Constant(masks[0], "i64")
            else:
                words = [half for mask in masks for half in halves(mask)]
                mask = ops.Load(owner * (2 * WORD), self.memory.words(words), "i64")
            self.set_pending(self.pending | mask)
        self.add(ops.Touch(group.name, owner if group.count > 1 else None))
