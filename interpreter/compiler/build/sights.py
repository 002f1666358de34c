"""Visibility as functions of a module: tests of whether a seat may see a cell, a card, or a value that names cards."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.ir import ops
from interpreter.language.types import CardType, Type, has_cards

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Sights"]

AT, SEAT, CARD = (ops.Var(name, "i32") for name in ("at", "seat", "card"))
WHO = SEAT


class Sights:
    """Builds tests of what the seat in the variable ``seat`` may see."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.memory, self.shapes = module, module.memory, module.shapes
        self.constants, self.model = module.constants, module.constants.model
        self.seats = len(self.constants.seats)

    @cached_property
    def seen_words(self) -> list[int]:
        """For each cell, the seats that may see it: a bit for each seat, and one for spectators."""
        seen = [(1 << (self.seats + 1)) - 1] * self.constants.layout.size
        for cell, seats in self.constants.seen_by.items():
            if cell != self.constants.layout.base.get("round"):
                seen[cell] = sum(1 << seat for seat in seats)
        return seen

    @cached_property
    def _seen(self) -> int:
        """Address of the table of these words."""
        return self.memory.words(self.seen_words)

    def _may_see(self, b: FunctionBuilder, cell: ops.Value, seat: ops.Value = WHO) -> ops.Value:
        """Return the test of whether the seat may see the contents of a cell."""
        seats = ops.Load(cell * WORD, self._seen)
        return (seats >> seat) & 1

    def _sees_card(self) -> str:
        """Return the name of a function: may a seat know a card in its present zone?"""
        location = self.memory.groups["location"]

        def build(b: FunctionBuilder) -> None:
            b.add(ops.If(CARD < 0, (ops.Return(ONE),)))
            cell = b.kept(ops.Load(CARD * WORD, location.address, "i32", "location"), "cell")
            b.add(ops.If(cell < 0, (ops.Return(ONE),)))
            b.add(ops.Return(self._may_see(b, cell)))

        return self.module.request(
            "sees_card", lambda: self.module.made("sees_card", (CARD, SEAT), "i32", build, "true if a seat sees a card")
        )

    def _hides(self, b: FunctionBuilder, at: ops.Value, type_: Type) -> ops.Value:
        """Return the test of whether a kept value names a card that the seat may not know."""
        if isinstance(type_, CardType):
            return ops.Not(ops.Call(self._sees_card(), (ops.Load(at), SEAT)))
        return ops.Call(self.module.values.of_type("hides", type_, self._hiding), (at, SEAT))

    def _hiding(self, name: str, type_: Type) -> ops.Function:
        shapes, at = self.shapes, AT

        def build(b: FunctionBuilder) -> None:
            if shapes.is_listed(type_):
                item = shapes.item(type_)
                with b.counted(b.kept(ops.Load(at))) as number:
                    place = number * (shapes.words(item) * WORD) + WORD
                    hidden = self._hides(b, b.kept(at + place), item)
                    b.add(ops.If(hidden, (ops.Return(ONE),)))
                b.add(ops.Return(ZERO))
                return
            if type_.optional:
                b.add(ops.If(ops.Not(ops.Load(at)), (ops.Return(ZERO),)))
            for offset, field in shapes.placed(shapes.fields(type_), WORD * type_.optional):
                if has_cards(field, self.model.records):
                    b.add(ops.If(self._hides(b, b.kept(at + offset), field), (ops.Return(ONE),)))
            b.add(ops.Return(ZERO))

        return self.module.made(name, (AT, SEAT), "i32", build, f"true if a card in a value is hidden: {type_}")
