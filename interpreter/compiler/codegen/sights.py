"""Visibility as functions of a module: tests of whether a seat may see a cell, a card, or a value that names cards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from interpreter.compiler.codegen.decisions import Decisions
from interpreter.compiler.codegen.function import ONE, ZERO
from interpreter.compiler.codegen.kept_forms import Part
from interpreter.compiler.codegen.shapes import WORD, signed
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.ops import CellGroup
from interpreter.language import core
from interpreter.language.model import Group
from interpreter.language.types import BOOL, CardType, Type, has_cards

__all__ = ["OPEN", "SEAT", "Sight", "Sights"]

OPEN = ("round", "phase", "turn", "over")
"""Groups of cells that are public and, except for ``round``, not declared by a ruleset."""

AT, SEAT, CARD, CELL = (ops.Var(name, "i32") for name in ("at", "seat", "card", "cell"))


class Sight(Struct, frozen=True):
    """What hides cells of a group from a seat: the cell itself, the zone of the card that it belongs to, or the zone of
    a card that its value names."""

    by_cell: bool
    by_owner: bool
    by_value: bool

    @property
    def is_open(self) -> bool:
        return not (self.by_cell or self.by_owner or self.by_value)


class Sights(Decisions):
    """Builds tests of what the seat in the variable ``seat`` may see. At the end of the game, it sees everything."""

    @cached_property
    def seen_words(self) -> list[int]:
        """For each cell, the seats that always see it: a bit for each seat, and one for spectators, in some words."""
        seen = [-1] * self.constants.layout.size
        for cell, seats in self.constants.seen_by.items():
            if cell != self.constants.layout.base.get("round"):
                seen[cell] = 0 if callable(seats) else sum(1 << seat for seat in seats)
        return [signed(mask >> 32 * word, 32) for mask in seen for word in range(self.seen_width)]

    @property
    def seen_width(self) -> int:
        return self.shapes.seats // 32 + 1

    def sight(self, group: CellGroup, type_: Type) -> Sight:
        """Return what may hide the cells of a group with contents of this type."""
        if group.name in OPEN:
            return Sight(False, False, False)
        declared = self.model.groups.get(group.name)
        by_cell = not self.constants.seen_by.keys().isdisjoint(range(group.base, group.base + group.count))
        of_cards = isinstance(declared.owner, CardType) if declared is not None else group.name == "location"
        return Sight(by_cell, of_cards, has_cards(type_, self.model.records))

    def guarded(
        self,
        sight: Sight,
        group: CellGroup,
        number: ops.Value,
        at: ops.Value,
        shown: Callable[[], None],
        hidden: Callable[[], None],
        covered: Callable[[], None],
    ) -> None:
        """Run ``shown`` if the seat may see the cell at an address, ``covered`` if the cell itself is hidden, and
        ``hidden`` if a card is."""

        def with_value() -> None:
            self.branch(self.hides(at, group.type), hidden, shown) if sight.by_value else shown()

        def with_cell() -> None:
            self.branch(self.may_see(number + group.base), with_value, covered) if sight.by_cell else with_value()

        if sight.by_owner:
            self.branch(self.sees_card(number), with_cell, hidden)
        else:
            with_cell()

    @property
    def is_over(self) -> ops.Value:
        return ops.Load(ops.Constant(self.memory.groups["over"].address))

    @cached_property
    def judged(self) -> list[tuple[Group, core.Expression]]:
        """Groups of cells that a rule shows to some seats, with that rule."""
        return [(group, group.sees) for group in self.model.groups.values() if group.sees is not None]

    def may_see(self, cell: ops.Value, seat: ops.Value = SEAT) -> ops.Value:
        def sees_always(cell: ops.Value, seat: ops.Value) -> ops.Value:
            word = ops.Load(self.seen_at(cell, seat), self.memory.words(self.seen_words))
            return ((word >> seat) & ONE) | self.is_over

        if not self.judged:
            return sees_always(cell, seat)

        def build(b: Sights) -> None:
            always = b.kept(sees_always(CELL, SEAT), "always")
            b.add(ops.If(ops.either(always, self.shapes.seats <= SEAT), (ops.Return(always),)))
            for group, sees in self.judged:
                cells = self.memory.groups[group.name]
                owner = b.var("i32", "owner", CELL - cells.base)
                with b.when(ops.Binary("lt_u", owner, ops.Constant(cells.count))):
                    b.span, b.locals = group.span, {0: SEAT, 1: owner}
                    b.give(b.value(sees, BOOL))
            b.give(ZERO)

        head = ops.Function("sees", (CELL, SEAT), "i32", about="true if a seat sees what is in a cell")
        return ops.Call(self.declare(head, build), (cell, seat))

    def seen_at(self, cell: ops.Value, seat: ops.Value) -> ops.Value:
        """Return where the word with the bit of a seat is; the bit is the remainder of the seat by 32, as in shifts."""
        at = cell * (WORD * self.seen_width)
        return at + (seat >> 5) * WORD if self.seen_width > 1 else at

    def sees_card(self, card: ops.Value, seat: ops.Value = SEAT) -> ops.Value:
        location, carriers = self.memory.groups["location"], self.constants.carriers

        def build(b: Sights) -> None:
            b.add(ops.If(CARD < 0, (ops.Return(ONE),)))
            cell = b.kept(ops.Load(CARD * WORD, location.address, "i32", "location"), "cell")
            b.add(ops.If(cell < 0, (ops.Return(ONE),)))
            if not carriers:
                b.give(self.may_see(cell))
                return
            table = self.memory.words([carriers.get(cell, -1) for cell in range(self.constants.layout.size)])
            lies_in = b.var("i32", "zone", cell)
            with b.counted(ops.Constant(location.count)):  # cards may lie on each other in a circle
                b.add(ops.If(ops.negated(self.may_see(lies_in)), (ops.Return(ZERO),)))
                carrier = b.kept(ops.Load(lies_in * WORD, table), "carrier")
                b.add(ops.If(carrier < 0, (ops.Return(ONE),)))
                b.set(lies_in, ops.Load(carrier * WORD, location.address, "i32", "location"))
            b.give(ONE)

        head = ops.Function("sees_card", (CARD, SEAT), "i32", about="true if a seat sees a card")
        return ops.Call(self.declare(head, build), (card, seat))

    def hides(self, at: ops.Value, type_: Type) -> ops.Value:
        """Return the test of whether a kept value names a card that the seat may not know."""
        if isinstance(type_, CardType):
            return ops.negated(self.sees_card(ops.Load(at)))
        shapes = self.shapes

        def build(b: Sights) -> None:
            if type_.optional and not shapes.is_listed(type_):
                b.add(ops.If(ops.negated(ops.Load(AT)), (ops.Return(ZERO),)))
            start = AT + WORD * (type_.optional and not shapes.is_listed(type_))
            length = b.kept(ops.Load(AT)) if shapes.is_listed(type_) else ZERO

            def test(part: Part) -> None:
                if has_cards(part.type, self.model.records):
                    place = b.kept(start + part.kept_shift + part.kept_offset)
                    b.add(ops.If(self.hides(place, part.type), (ops.Return(ONE),)))

            b.each_part(type_, length, test)
            b.give(ZERO)

        name = self.named("hides", type_, (AT, SEAT), "i32", build, f"true if a card in a value is hidden: {type_}")
        return ops.Call(name, (at, SEAT))
