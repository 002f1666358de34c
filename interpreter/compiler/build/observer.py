"""Functions of a module that write observations as vectors, in the layout of :class:`Vector`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.ranking import Ranking
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.build.sights import Sights
from interpreter.compiler.build.stretches import ASKED
from interpreter.compiler.ir import ops
from interpreter.compiler.lower import Asks
from interpreter.compiler.numbering import HIDDEN, NONE, OPEN, Part, Vector, positions, width_of
from interpreter.language.types import (
    BagType,
    CardHolderType,
    CardType,
    CollectionType,
    IntType,
    TextType,
    Type,
    has_cards,
)

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Observer"]

LISTED = CardHolderType | CollectionType
ACTOR, INTO, SEAT, FRAME = (ops.Var(name, "i32") for name in ("actor", "into", "seat", "frame"))
FEW = 4
"""Maximum number of words that are written one by one; more are written by a loop or a copy."""


class Observer(Sights):
    """Builds the observation. ``decisions`` are the names of all decisions in order."""

    def __init__(self, module: ModuleBuilder, vector: Vector, decisions: Sequence[str]) -> None:
        super().__init__(module)
        self.vector, self.decisions = vector, decisions

    def functions(self) -> dict[str, ops.Function]:
        """Return the exported function, and those of the ranking."""
        function = self._observe()
        return {function.name: function} | Ranking(self.module).functions()

    def _observe(self) -> ops.Function:
        """Build the function that writes the vector of a seat; ``actor`` is the seat that decides."""

        def build(b: FunctionBuilder) -> None:
            into = INTO
            asked = b.kept(ops.Load(ops.Constant(ASKED)), "asked")
            asks = self.module.decisions.asks
            numbers = [NONE] * len(self.module.program.stretches)
            for index, (_, end) in asks.items():
                numbers[index] = self.decisions.index(end.ask.name)
            at = ops.Select(asked < 0, ZERO, asked + 1)
            number = ops.Load(b.kept(at) * WORD, self.memory.words([NONE, *numbers]))
            head: tuple[ops.Value, ...] = (SEAT, number, ACTOR)
            for place, word in enumerate(head):
                b.add(ops.Store(into, place * WORD, word))
            for part in self.vector.parts:
                if part.form == "context":
                    self._fill(b, into + part.first * WORD, NONE, part.size)
            with b.when(SEAT.equals(ACTOR)):
                for index in asks:
                    if self.vector.context[index]:
                        with b.when(asked.equals(index)):
                            frame = ops.Load(ops.Constant(ASKED - WORD))
                            b.add(ops.Do(ops.Call(self._context(index), (frame, SEAT, into))))
            for part in self.vector.cells():
                self._cells(b, part)

        return self.module.made("observe", (SEAT, ACTOR, INTO), None, build, "writes the observation of a seat")

    def _fill(self, b: FunctionBuilder, into: ops.Value, value: int, words: int) -> None:
        if words <= FEW:
            for place in range(words):
                b.add(ops.Store(into, place * WORD, ops.Constant(value)))
            return
        into = b.kept(into)
        with b.counted(ops.Constant(words), "fill") as number:
            b.add(ops.Store(into + number * WORD, 0, ops.Constant(value)))

    # --- context of a decision

    def _context(self, index: int) -> str:
        name = self.module.name("context", self.module.decisions.asks[index][0].id)

        def build(b: FunctionBuilder) -> None:
            stretch, end = self.module.decisions.asks[index]
            assert isinstance(end, Asks)
            b.span = stretch.span
            x: Expressions = self.module.stretches.begin(b, stretch.procedure)
            for part, (_, tree) in zip(self.vector.context[index], end.ask.context, strict=True):
                into = b.kept(INTO + part.first * WORD, "into")
                value = x.value(tree)
                if part.width == 0:
                    continue
                if self.shapes.is_scalar(part.type):
                    word = b.kept(b.word(value, part.type.optional), "word")
                    b.add(ops.Store(into, 0, self._scalar(b, word, part.type)))
                    if isinstance(part.type, CardType):
                        hidden = ops.Not(ops.Call(self._sees_card(), (word, SEAT)))
                        b.add(ops.If(hidden, (ops.Store(into, 0, ops.Constant(HIDDEN)),)))
                    continue
                room = b.kept(ops.Allocate(ops.Constant(self.shapes.words(part.type))), "room")
                b.store(room, 0, value, part.type)
                with b.block() as shown:
                    self._value(b, room, into, part.type)
                if not has_cards(part.type, self.model.records):
                    b.body.extend(shown)
                    continue
                with b.block() as covered:
                    self._fill(b, into, HIDDEN, part.width)
                b.add(ops.If(self._hides(b, room, part.type), tuple(covered), tuple(shown)))

        return self.module.request(
            name, lambda: self.module.made(name, (FRAME, SEAT, INTO), None, build, "writes the context of a decision")
        )

    # --- cells

    def _cells(self, b: FunctionBuilder, part: Part) -> None:
        group, declared = self.memory.groups[part.of], self.model.groups.get(part.of)
        if part.width == 0:
            return
        into = INTO + part.first * WORD
        cells = range(group.base, group.base + group.count)
        some_hidden = part.of not in OPEN and any(number in self.constants.seen_by for number in cells)
        lies_with_card = declared is not None and declared.owner == "card"
        names_cards = part.of not in OPEN and has_cards(part.type, self.model.records)
        is_plain = (
            part.of != "location"
            and self.shapes.is_scalar(group.type)
            and not (isinstance(group.type, IntType) and group.type.optional)
        )
        if is_plain and not (some_hidden or lies_with_card or names_cards):
            if group.count <= FEW:
                for cell in range(group.count):
                    word = ops.Load(ops.Constant(group.address + cell * group.stride))
                    b.add(ops.Store(into, cell * WORD, word))
            else:
                b.add(ops.CopyWords(into, ops.Constant(group.address), ops.Constant(group.count)))
            return
        into = b.kept(into, "into")
        if part.of == "location":
            self._locations(b, part, into)
            return
        if group.count == 1:
            self._cell(b, part, ZERO, into, some_hidden, lies_with_card, names_cards)
            return
        with b.counted(ops.Constant(group.count)) as number:
            place = b.kept(into + number * (part.width * WORD), "place")
            self._cell(b, part, number, place, some_hidden, lies_with_card, names_cards)

    def _locations(self, b: FunctionBuilder, part: Part, into: ops.Value) -> None:
        """Write the zone of each card, if the seat may see that zone. The code has no branch, since there are many
        cards."""
        group = self.memory.groups[part.of]
        everyone = (1 << (self.seats + 1)) - 1
        seen = self.memory.words([everyone, *self.seen_words])  # a card may also lie nowhere, which is -1
        bit = b.kept(ONE << SEAT, "bit")
        with b.counted(ops.Constant(group.count)) as number:
            place = b.kept(number * WORD, "place")
            cell = b.kept(ops.Load(place, group.address, "i32", "location"), "cell")
            seats = ops.Load((cell + 1) * WORD, seen)
            shown = ops.Select(seats & bit, cell, ops.Constant(HIDDEN))
            b.add(ops.Store(into + place, 0, shown))

    def _cell(
        self,
        b: FunctionBuilder,
        part: Part,
        number: ops.Value,
        into: ops.Value,
        some_hidden: bool,
        lies_with_card: bool,
        names_cards: bool,
    ) -> None:
        group = self.memory.groups[part.of]
        at = b.kept(number * group.stride + group.address, "at")
        with b.block() as visible:
            self._value(b, at, into, part.type)
        if names_cards:
            with b.block() as covered:
                self._fill(b, into, HIDDEN, part.width)
            with b.block() as either:
                b.add(ops.If(self._hides(b, at, group.type), tuple(covered), tuple(visible)))
            visible = either
        if lies_with_card:
            with b.block() as covered:
                self._fill(b, into, HIDDEN, part.width)
            with b.block() as either:
                b.add(ops.If(ops.Call(self._sees_card(), (number, SEAT)), tuple(visible), tuple(covered)))
            visible = either
        if some_hidden:
            with b.block() as covered:
                self._covered(b, at, into, part)
            with b.block() as either:
                b.add(ops.If(self._may_see(b, number + group.base), tuple(visible), tuple(covered)))
            visible = either
        b.body.extend(visible)

    def _covered(self, b: FunctionBuilder, at: ops.Value, into: ops.Value, part: Part) -> None:
        """Write a hidden cell: only the number of items, or the absence of a value, is visible."""
        type_ = part.type
        first = b.kept(ops.Load(at), "first")
        if isinstance(type_, LISTED):
            b.add(ops.Store(into, 0, first))
            self._fill(b, into + WORD, HIDDEN, part.width - 1)
            return
        with b.block() as covered:
            self._fill(b, into, HIDDEN, part.width)
        if not type_.optional:
            b.body.extend(covered)
            return
        none = ops.Constant(0 if not self.shapes.is_scalar(type_) else self.shapes.none(type_))
        with b.block() as absent:
            self._fill(b, into, NONE, part.width)
        b.add(ops.If(first.equals(none), tuple(absent), tuple(covered)))

    # --- values

    def _scalar(self, b: FunctionBuilder, word: ops.Value, type_: Type) -> ops.Value:
        if isinstance(type_, IntType) and type_.optional:
            none = word.equals(self.shapes.none(type_))
            return ops.Select(none, ops.Constant(NONE), word)
        return word

    def _value(self, b: FunctionBuilder, at: ops.Value, into: ops.Value, type_: Type) -> None:
        """Write the entries of a kept value."""
        shapes = self.shapes
        if isinstance(type_, CardHolderType):
            b.add(ops.Store(into, 0, ops.Load(at)))
        elif shapes.is_scalar(type_):
            if not isinstance(type_, TextType):
                b.add(ops.Store(into, 0, self._scalar(b, b.kept(ops.Load(at), "word"), type_)))
        elif shapes.is_listed(type_):
            self._list(b, at, into, type_)
        elif type_.optional:
            with b.block() as absent:
                self._fill(b, into, NONE, width_of(shapes, type_))
            with b.block() as present:
                self._value(b, b.kept(at + WORD), into, type_.sure)
            b.add(ops.If(ops.Load(at), tuple(present), tuple(absent)))
        elif isinstance(type_, BagType):
            b.add(ops.CopyWords(into, at, ops.Constant(shapes.width(type_))))
        else:
            place = 0
            for offset, field in shapes.placed(shapes.fields(type_)):
                self._value(b, b.kept(at + offset), b.kept(into + place), field)
                place += width_of(shapes, field) * WORD

    def _list(self, b: FunctionBuilder, at: ops.Value, into: ops.Value, type_: Type) -> None:
        """Write the length of a list and, for each possible item, its first position."""
        length = b.kept(ops.Load(at), "length")
        b.add(ops.Store(into, 0, length))
        domain = positions(self.shapes, type_)
        if domain is None:
            return
        low, size = domain
        into = b.kept(into + WORD, "into")
        self._fill(b, into, 0, size)
        with b.counted(length, "item") as number:
            item = b.kept(ops.Load(at + number * WORD, WORD), "word")
            thing = b.kept(item - low, "thing")
            outside = ops.either(thing < 0, thing >= size)
            with b.when(ops.Not(outside)):
                place = b.kept(into + thing * WORD, "place")
                empty = ops.Not(ops.Load(place))
                b.add(ops.If(empty, (ops.Store(place, 0, number + 1),)))
