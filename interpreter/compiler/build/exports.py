"""Functions of a module that plays without the interpreter: views of seats, a digest, the result.

A view and a digest read only the words that count. A kept list has room for more items than it holds, and the room may
still hold what lay there before: nobody may see that, and it does not make two equal states differ.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.memory import FRAME_HEAD, STATE, CellGroup
from interpreter.compiler.build.phases import KEPT_HEAD, KEPT_START
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.build.stretches import ASKED
from interpreter.compiler.ir import ops as o
from interpreter.language.types import BOOL, CardHolderType, CardType, CollectionType, Type, has_cards

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["COUNTED", "HIDDEN", "OPEN", "SEEN", "Standalone"]

SEEN, HIDDEN, COUNTED = 0, 1, 2
"""What the mask of a view says of a cell: it is as it is; it is blank; of what it holds only the number is told."""
OPEN = ("round", "phase", "turn", "over")
"""Cells that everyone may see, also those that no declaration is about."""
LISTED = CardHolderType | CollectionType
AT, INTO, WHO, CARD = (o.Var(name, "i32") for name in ("at", "into", "seat", "card"))


class Standalone:
    """Builds them. ``buffer`` is the address of a copy of the state, ``mask`` that of a word for each cell."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.memory, self.shapes = module, module.memory, module.shapes
        self.constants, self.model = module.constants, module.constants.model
        self.seats = len(self.constants.seats)
        self.buffer = self.memory.reserve((self.memory.end_of_frames - STATE) // WORD)
        self.mask = self.memory.reserve(self.constants.layout.size)

    def functions(self) -> dict[str, o.Function]:
        """All of them, by name; what they call is made when the module is finished."""
        made = [self._view(), self._copied(), self._key(), self._place(), self._over()]
        return {function.name: function for function in made}

    # --- copies of what counts

    def _copy(self, b: FunctionBuilder, at: o.Value, into: o.Value, type_: Type) -> None:
        """Copies a kept value to where all words are zero."""
        shapes = self.shapes
        words = o.Constant(shapes.words(type_))
        if shapes.is_scalar(type_):
            b.add(o.Store(into, 0, o.Load(at)))
        elif shapes.is_listed(type_) or not shapes.is_flat(type_):
            b.add(o.Do(o.Call(self.module.values.of_type("live", type_, self._live), (at, into))))
        elif type_.optional:
            b.add(o.If(o.Load(at), (o.CopyWords(into, at, words),)))
        else:
            b.add(o.CopyWords(into, at, words))

    def _live(self, name: str, type_: Type) -> o.Function:
        shapes = self.shapes
        at, into = o.Get(AT), o.Get(INTO)

        def items(b: FunctionBuilder) -> None:
            item = shapes.item(type_)
            size = shapes.words(item) * WORD
            length = b.kept(o.Load(at))
            b.add(o.If(o.Compare("lt", length, ZERO), (o.Store(into, 0, length), o.Return())))
            if shapes.is_scalar(item):
                b.add(o.CopyWords(into, at, b.plus(length, 1)))
                return
            b.add(o.Store(into, 0, length))
            with b.counted(length) as number:
                place = b.kept(b.plus(b.times(number, size), WORD))
                self._copy(b, b.kept(o.Binary("add", at, place)), b.kept(o.Binary("add", into, place)), item)

        def build(b: FunctionBuilder) -> None:
            if shapes.is_listed(type_):
                items(b)
                return
            if type_.optional:
                b.add(o.If(o.Not(o.Load(at)), (o.Return(),)))
                b.add(o.Store(into, 0, ONE))
            for offset, field in shapes.placed(shapes.fields(type_), WORD * type_.optional):
                self._copy(b, b.kept(b.plus(at, offset)), b.kept(b.plus(into, offset)), field)

        return self.module.made(name, (AT, INTO), None, build, f"copies the words that count: {type_}")

    def _cell(self, b: FunctionBuilder, group: CellGroup, number: o.Value) -> None:
        place = b.times(number, group.stride)
        at = b.kept(b.plus(place, group.address))
        self._copy(b, at, b.kept(b.plus(place, group.address - STATE + self.buffer)), group.type)

    def _whole(self, b: FunctionBuilder, group: CellGroup) -> None:
        """Copies all cells of a group."""
        shapes, type_ = self.shapes, group.type
        always_full = shapes.is_flat(type_) and not shapes.is_listed(type_) and not type_.optional
        if not (always_full or shapes.is_scalar(type_)):
            with b.counted(o.Constant(group.count)) as number:
                self._cell(b, group, number)
            return
        target = o.Constant(group.address - STATE + self.buffer)
        words = o.Constant(group.count * group.stride // WORD)
        b.add(o.CopyWords(target, o.Constant(group.address), words))

    # --- the digest

    def _copied(self) -> o.Function:
        """Copies all that counts of the state behind each other: its cells and its frames. Gives the words of it."""

        def build(b: FunctionBuilder) -> None:
            for name, group in self.memory.groups.items():
                if name == "kept":
                    self._blocks(b, group)
                else:
                    self._whole(b, group)
            end = b.var("i32", "end")
            b.set(end, o.Constant(self.memory.frames - STATE + self.buffer))
            over = o.Compare("lt", o.Load(o.Constant(ASKED)), ZERO)
            frame = b.var("i32", "frame")
            b.set(frame, o.Select(over, ZERO, o.Load(o.Constant(STATE))))
            with b.repeated("frames", o.Get(frame), o.Set(frame, o.Load(o.Get(frame), 2 * WORD))):
                self._frame(b, frame, end)
            size = o.Binary("sub", o.Get(end), o.Constant(self.buffer))
            b.add(o.Return(o.Binary("shr", size, o.Constant(2))))

        return self.module.made("copied", (), "i32", build, "copies all that counts of a state")

    def _frame(self, b: FunctionBuilder, frame: o.Var, end: o.Var) -> None:
        """Copies a frame: where it goes on, where a result goes, its locals."""
        program, frames = self.module.program, self.module.frames
        for place in range(2):
            b.add(o.Store(o.Get(end), place * WORD, o.Load(o.Get(frame), place * WORD)))
        b.set(end, b.plus(o.Get(end), FRAME_HEAD * WORD))
        procedures = sorted({stretch.procedure for stretch in program.stretches})
        which = [procedures.index(stretch.procedure) for stretch in program.stretches]
        table = self.memory.words(which)
        where = b.kept(o.Load(o.Get(frame)), "where")
        special = o.Compare("ge", where, o.Constant(len(which)))
        procedure = b.kept(o.Select(special, o.Constant(-1), o.Load(b.times(where, WORD), table)), "procedure")
        for number, name in enumerate(procedures):
            try:
                slots = [slot for slot in frames.shape(name).slots if slot is not None]
            except Unsupported:
                continue
            with b.when(o.Compare("eq", procedure, o.Constant(number))):
                for slot in slots:
                    offset = slot.offset - FRAME_HEAD * WORD
                    source = b.kept(b.plus(o.Get(frame), slot.offset))
                    self._copy(b, source, b.kept(b.plus(o.Get(end), offset)), slot.type)
                b.set(end, b.plus(o.Get(end), frames.shape(name).size - FRAME_HEAD * WORD))

    def _blocks(self, b: FunctionBuilder, group: CellGroup) -> None:
        """Copies the blocks that wait for their moment."""
        phases = self.module.phases
        shift = self.buffer - STATE
        b.add(o.CopyWords(o.Constant(group.address + shift), o.Constant(group.address), o.Constant(KEPT_START)))
        with phases.waiting(b) as (at, _):
            b.add(o.CopyWords(b.plus(at, shift), at, o.Constant(KEPT_HEAD)))
            which = b.kept(o.Load(at, 2 * WORD), "which")
            for number, procedure in enumerate(phases.keepable):
                with b.when(o.Compare("eq", which, o.Constant(number))):
                    for offset, type_ in phases.captured(procedure):
                        source = b.kept(b.plus(at, offset))
                        self._copy(b, source, b.kept(b.plus(source, shift)), type_)

    # --- views

    @cached_property
    def _seen(self) -> int:
        """The table of the seats that may see each cell: a bit for each seat, and one for whoever sits nowhere."""
        seen = [(1 << (self.seats + 1)) - 1] * self.constants.layout.size
        for cell, seats in self.constants.seen_by.items():
            if cell != self.constants.layout.base.get("round"):
                seen[cell] = sum(1 << seat for seat in seats)
        return self.memory.words(seen)

    def _may_see(self, b: FunctionBuilder, cell: o.Value) -> o.Value:
        """Return whether the seat is among those that may see what a cell holds."""
        seats = o.Load(b.times(cell, WORD), self._seen)
        return o.Binary("and", o.Binary("shr", seats, o.Get(WHO)), ONE)

    def _sees_card(self) -> str:
        """Return whether a seat may know a card where it lies now."""
        location = self.memory.groups["location"]

        def build(b: FunctionBuilder) -> None:
            b.add(o.If(o.Compare("lt", o.Get(CARD), ZERO), (o.Return(ONE),)))
            cell = b.kept(o.Load(b.times(o.Get(CARD), WORD), location.address, "i32", "location"), "cell")
            b.add(o.If(o.Compare("lt", cell, ZERO), (o.Return(ONE),)))
            b.add(o.Return(self._may_see(b, cell)))

        return self.module.wanted(
            "sees_card", lambda: self.module.made("sees_card", (CARD, WHO), "i32", build, "whether a card is seen")
        )

    def _hides(self, b: FunctionBuilder, at: o.Value, type_: Type) -> o.Value:
        """Return whether a kept value names a card that the seat may not know."""
        if isinstance(type_, CardType):
            return o.Not(o.Call(self._sees_card(), (o.Load(at), o.Get(WHO))))
        return o.Call(self.module.values.of_type("hides", type_, self._hiding), (at, o.Get(WHO)))

    def _hiding(self, name: str, type_: Type) -> o.Function:
        shapes, at = self.shapes, o.Get(AT)

        def build(b: FunctionBuilder) -> None:
            if shapes.is_listed(type_):
                item = shapes.item(type_)
                with b.counted(b.kept(o.Load(at))) as number:
                    place = b.plus(b.times(number, shapes.words(item) * WORD), WORD)
                    hidden = self._hides(b, b.kept(o.Binary("add", at, place)), item)
                    b.add(o.If(hidden, (o.Return(ONE),)))
                b.add(o.Return(ZERO))
                return
            if type_.optional:
                b.add(o.If(o.Not(o.Load(at)), (o.Return(ZERO),)))
            for offset, field in shapes.placed(shapes.fields(type_), WORD * type_.optional):
                if has_cards(field, self.model.records):
                    b.add(o.If(self._hides(b, b.kept(b.plus(at, offset)), field), (o.Return(ONE),)))
            b.add(o.Return(ZERO))

        return self.module.made(name, (AT, WHO), "i32", build, f"whether a card in it is hidden: {type_}")

    def _view(self) -> o.Function:
        """Copies the cells as a seat may see them to where all words are zero, and fills the mask."""

        def build(b: FunctionBuilder) -> None:
            seat = o.Get(WHO)
            outside = o.Select(o.Compare("lt", seat, ZERO), ONE, o.Compare("gt", seat, o.Constant(self.seats)))
            b.fail_if(outside, "no such seat")
            for name, group in self.memory.groups.items():
                self._seen_of(b, name, group)

        return self.module.made("seen", (WHO,), None, build, "copies what a seat may see")

    def _seen_of(self, b: FunctionBuilder, name: str, group: CellGroup) -> None:
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
        with b.counted(o.Constant(group.count)) as number:
            seen = b.var("i32", "seen")
            b.set(seen, ONE)
            if lies_with_card:
                b.set(seen, o.Call(self._sees_card(), (number, o.Get(WHO))))
            if names_cards:
                at = b.kept(b.plus(b.times(number, group.stride), group.address))
                hidden = self._hides(b, at, group.type)
                b.add(o.If(hidden, (o.Set(seen, ZERO),)))
            with b.block() as shown:
                self._cell(b, group, number)
            with b.block() as blank:
                self._blank(b, group, number, counted=False)
            told: o.Statement = o.If(o.Get(seen), tuple(shown), tuple(blank))
            if some_hidden:
                with b.block() as covered:
                    self._blank(b, group, number, counted=isinstance(type_, LISTED))
                told = o.If(self._may_see(b, b.plus(number, group.base)), (told,), tuple(covered))
            b.add(told)

    def _blank(self, b: FunctionBuilder, group: CellGroup, number: o.Value, *, counted: bool) -> None:
        """Of a cell that the seat may not see only the number of items is told, and that there is no value."""
        type_ = group.type
        place = b.kept(b.times(number, group.stride))
        first = o.Load(place, group.address)
        mask = b.plus(b.times(number, WORD), self.mask + group.base * WORD)
        known = o.Store(place, group.address - STATE + self.buffer, first)
        if counted:
            b.add(known)
            b.add(o.Store(mask, 0, o.Constant(COUNTED)))
            return
        hidden = o.Store(mask, 0, o.Constant(HIDDEN))
        if not type_.optional:
            b.add(hidden)
            return
        none = o.Constant(-1) if self.shapes.is_listed(type_) else o.Constant(self.shapes.none(type_))
        b.add(o.If(o.Compare("eq", first, none), (known,), (hidden,)))

    def _masked(self, b: FunctionBuilder, group: CellGroup) -> None:
        """Nobody sees a group."""
        for cell in range(group.base, group.base + group.count):
            b.add(o.Store(ZERO, self.mask + cell * WORD, o.Constant(HIDDEN)))

    # --- the result

    def _over(self) -> o.Function:
        over = o.Load(ZERO, self.memory.groups["over"].address, "i32", "over")
        return self.module.made("is_over", (), "i32", lambda b: b.add(o.Return(over)), "whether the game is over")

    def _key(self) -> o.Function:
        """A key of the ranking, by its number, of a seat."""
        number = o.Var("key", "i32")

        def build(b: FunctionBuilder) -> None:
            b.locals = {0: WHO}
            x = Expressions(b)
            for place, tree in enumerate(self.model.ranking):
                if not self.shapes.is_scalar(tree.type):
                    raise Unsupported(f"a key that is a {tree.type}")
                b.span = tree.span
                with b.when(o.Compare("eq", o.Get(number), o.Constant(place))):
                    value = x.value(tree)
                    b.add(o.Return(value if value.rep == "i64" else o.ToNumber(value)))
                b.locals = {0: WHO}
            b.fail("no such key")

        return self.module.made("key_of", (WHO, number), "i64", build, "a key of the ranking")

    def _place(self) -> o.Function:
        """The place of a seat: 1 and one more for each seat that is ranked before it; 0 for one that does not count."""
        counts = [seat for seat, counted in enumerate(self.constants.statics["seat.counts"]) if counted]

        def build(b: FunctionBuilder) -> None:
            table = self.memory.words([int(seat in counts) for seat in range(self.seats)])
            b.add(o.If(o.Not(o.Load(b.times(o.Get(WHO), WORD), table)), (o.Return(ZERO),)))
            place = b.var("i32", "place")
            b.set(place, ONE)
            for other in counts:
                label = b.label("better")
                with b.block() as inner:
                    for number in range(len(self.model.ranking)):
                        theirs, mine = (
                            b.kept(o.Call("key_of", (seat, o.Constant(number)), "i64"))
                            for seat in (o.Constant(other), o.Get(WHO))
                        )
                        b.add(o.If(o.Compare("lt", theirs, mine), (o.Break(label),)))
                        better = (o.Set(place, b.plus(o.Get(place), 1)), o.Break(label))
                        b.add(o.If(o.Compare("gt", theirs, mine), better))
                b.add(o.Block(label, tuple(inner)))
            b.add(o.Return(o.Get(place)))

        return self.module.made("place_of", (WHO,), "i32", build, "the place of a seat")
