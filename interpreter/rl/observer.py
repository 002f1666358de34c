"""Functions of a module that write observations as vectors, in the layout of :class:`Vector`."""

from __future__ import annotations

from functools import partial

from interpreter.compiler.codegen.decisions import Decisions
from interpreter.compiler.codegen.function import FRAME, ZERO
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.codegen.sights import SEAT, Sight, Sights
from interpreter.compiler.codegen.steps import Steps
from interpreter.compiler.codegen.stretches import ASKED
from interpreter.compiler.ir import ops
from interpreter.language.types import BagType, CardHolderType, CardType, IntType, TextType, Type, has_cards
from interpreter.rl.numbering import HIDDEN, NONE, Part, Vector, positions, width_of

__all__ = ["Observer"]

ACTOR, INTO = ops.Var("actor", "i32"), ops.Var("into", "i32")
FEW = 4
"""Maximum number of words that are written one by one; more are written by a loop or a copy."""


class Observer(Sights):
    """Builds the observation. ``names`` are those of all decisions in order."""

    def __init__(self, decisions: Decisions, vector: Vector, names: tuple[str, ...]) -> None:
        super().__init__(decisions.module)
        self.decisions, self.vector, self.names = decisions, vector, names

    def functions(self) -> dict[str, ops.Function]:
        """Return the exported function by its name."""
        head = ops.Function("observe", (SEAT, ACTOR, INTO), None, about="writes the observation of a seat")
        return {head.name: self.made(head, self._observe)}

    def _observe(self, b: Sights) -> None:
        asked = b.kept(ops.Load(ops.Constant(ASKED)), "asked")
        asks = self.decisions.asks
        numbers = [NONE] * len(self.program.stretches)
        for index, (_, end) in asks.items():
            numbers[index] = self.names.index(end.ask.name)
        at = b.kept(ops.Select(asked < 0, ZERO, asked + 1))
        number = ops.Load(at * WORD, self.memory.words([NONE, *numbers]))
        head: tuple[ops.Value, ...] = (SEAT, number, ACTOR)
        for place, word in enumerate(head):
            b.add(ops.Store(INTO, place * WORD, word))
        for part in self.vector.parts:
            if part.form == "context":
                self._fill(b, INTO + part.first * WORD, NONE, part.size)
        with b.when(SEAT.equals(ACTOR)):
            for index in asks:
                if self.vector.context[index]:
                    with b.when(asked.equals(index)):
                        b.do(self._context(index), ops.Load(ops.Constant(ASKED - WORD)), SEAT, INTO)
        for part in self.vector.cells():
            if part.width:
                self._cells(b, part)

    def _fill(self, b: Steps, into: ops.Value, value: int, words: int) -> None:
        if words > FEW:
            b.do("fill_words", into, ops.Constant(words), ops.Constant(value))
            return
        for place in range(words):
            b.add(ops.Store(into, place * WORD, ops.Constant(value)))

    # --- context of a decision

    def _context(self, index: int) -> str:
        def build(b: Sights) -> None:
            ask = b.begin_ask(index)
            for part, (_, tree) in zip(self.vector.context[index], ask.context, strict=True):
                into = b.kept(INTO + part.first * WORD, "into")
                value = b.value(tree)
                if part.width:
                    self._shown(b, part, value, into)

        name = self.module.name("context", self.decisions.asks[index][0].id)
        head = ops.Function(name, (FRAME, SEAT, INTO), None, about="writes the context of a decision")
        return self.declare(head, build)

    def _shown(self, b: Steps, part: Part, value: ops.Value, into: ops.Value) -> None:
        """Write a value that a decision shows, unless it names a card that the seat may not know."""
        if self.shapes.is_scalar(part.type):
            word = b.kept(b.word(value, part.type.optional), "word")
            b.add(ops.Store(into, 0, self._scalar(word, part.type)))
            if isinstance(part.type, CardType):
                with b.when(ops.negated(self.sees_card(word))):
                    b.add(ops.Store(into, 0, ops.Constant(HIDDEN)))
            return
        room = b.kept(b.call("alloc", ops.Constant(self.shapes.words(part.type))), "room")
        b.store(room, 0, value, part.type)
        shown = partial(self._written, b, room, into, part.type)
        covered = partial(self._fill, b, into, HIDDEN, part.width)
        if has_cards(part.type, self.model.records):
            b.branch(self.hides(room, part.type), covered, shown)
        else:
            shown()

    # --- cells

    def _cells(self, b: Sights, part: Part) -> None:
        group = self.memory.groups[part.of]
        into = INTO + part.first * WORD
        if part.of == "location":
            self._locations(b, part, b.kept(into, "into"))
            return
        sight = self.sight(group, part.type)
        is_word = self.shapes.is_scalar(group.type) and not (isinstance(group.type, IntType) and group.type.optional)
        if is_word and sight.is_open:
            self._words(b, part, into)
            return
        into = b.kept(into, "into")
        if group.count == 1:
            self._cell(b, sight, part, ZERO, into)
            return
        with b.counted(ops.Constant(group.count)) as number:
            self._cell(b, sight, part, number, b.kept(into + number * (part.width * WORD), "place"))

    def _words(self, b: Steps, part: Part, into: ops.Value) -> None:
        group = self.memory.groups[part.of]
        if group.count > FEW:
            b.add(ops.CopyWords(into, ops.Constant(group.address), ops.Constant(group.count)))
            return
        for cell in range(group.count):
            b.add(ops.Store(into, cell * WORD, ops.Load(ops.Constant(group.address + cell * group.stride))))

    def _locations(self, b: Sights, part: Part, into: ops.Value) -> None:
        """Write the zone of each card, if the seat may see that zone. Unless rules decide that, each seat has a table
        of what it sees for each zone, and so does the end of the game, since there are many cards."""
        group = self.memory.groups[part.of]
        cells, seats = range(-1, self.constants.layout.size), range(self.shapes.seats)  # -1: nowhere
        seen_by = {cell: seen for cell, seen in self.constants.seen_by.items() if not callable(seen)}
        shown = [cell if seat in seen_by.get(cell, seats) else HIDDEN for seat in seats for cell in cells]
        row = b.kept(ops.Select(self.is_over, ops.Constant(len(seats)), SEAT) * (len(cells) * WORD) + WORD, "row")
        table = self.memory.words([*shown, *cells])
        at = b.var("i32", "at", ZERO)
        with b.repeated("each", at < group.count * WORD, ops.Set(at, at + WORD)):
            cell = ops.Load(at, group.address, "i32", "location")
            zone: ops.Value = ops.Load(row + cell * WORD, table)
            if self.constants.carriers or self.judged:
                zone = ops.Select(b.sees_card(at >> 2), cell, ops.Constant(HIDDEN))
            b.add(ops.Store(into + at, 0, zone))

    def _cell(self, b: Sights, sight: Sight, part: Part, number: ops.Value, into: ops.Value) -> None:
        group = self.memory.groups[part.of]
        at = b.kept(number * group.stride + group.address, "at")
        shown = partial(self._written, b, at, into, part.type)
        hidden = partial(self._fill, b, into, HIDDEN, part.width)
        b.guarded(sight, group, number, at, shown, hidden, partial(self._covered, b, at, into, part))

    def _covered(self, b: Steps, at: ops.Value, into: ops.Value, part: Part) -> None:
        """Write a hidden cell: only the number of items, or the absence of a value, is visible."""
        first = b.kept(ops.Load(at), "first")
        covered = partial(self._fill, b, into, HIDDEN, part.width)
        if self.model.groups[part.of].is_counted:
            b.add(ops.Store(into, 0, first))
            self._fill(b, into + WORD, HIDDEN, part.width - 1)
        elif part.type.optional:
            absent = partial(self._fill, b, into, NONE, part.width)
            b.branch(first.equals(self.shapes.none(part.type)), absent, covered)
        else:
            covered()

    # --- values

    def _scalar(self, word: ops.Value, type_: Type) -> ops.Value:
        if isinstance(type_, IntType) and type_.optional:
            return ops.Select(word.equals(self.shapes.none(type_)), ops.Constant(NONE), word)
        return word

    def _written(self, b: Steps, at: ops.Value, into: ops.Value, type_: Type) -> None:
        shapes = self.shapes
        if isinstance(type_, CardHolderType):
            b.add(ops.Store(into, 0, ops.Load(at)))
        elif shapes.is_scalar(type_):
            if not isinstance(type_, TextType):
                b.add(ops.Store(into, 0, self._scalar(b.kept(ops.Load(at), "word"), type_)))
        elif shapes.is_listed(type_):
            self._list(b, at, into, type_)
        elif type_.optional:
            b.branch(
                ops.Load(at),
                lambda: self._written(b, b.kept(at + WORD), into, type_.sure),
                lambda: self._fill(b, into, NONE, width_of(shapes, type_)),
            )
        elif isinstance(type_, BagType):
            b.add(ops.CopyWords(into, at, ops.Constant(shapes.width(type_))))
        else:
            place = 0
            for offset, field in shapes.placed(shapes.fields(type_)):
                self._written(b, b.kept(at + offset), b.kept(into + place), field)
                place += width_of(shapes, field) * WORD

    def _list(self, b: Steps, at: ops.Value, into: ops.Value, type_: Type) -> None:
        """Write the length of a list and, for each possible item, its first position."""
        length = b.kept(ops.Load(at), "length")
        b.add(ops.Store(into, 0, length))
        domain = positions(self.shapes, type_)
        if domain is None:
            return
        low, size = domain
        into = b.kept(into + WORD, "into")
        self._fill(b, into, 0, size)
        position = b.var("i32", "position", length)  # from the last to the first, which stays
        with b.repeated("item", position, ops.Set(position, position - 1)):
            thing = b.kept(ops.Load(at + position * WORD) - low, "thing")
            with b.when(ops.Binary("lt_u", thing, ops.Constant(size))):
                b.add(ops.Store(into + thing * WORD, 0, position))
