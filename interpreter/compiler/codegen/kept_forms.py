"""Values in memory: locals, the kept forms of values, and functions by type that copy and compare them.

A part of a value is an item of a list or a field of a record; one traversal (:meth:`KeptForms.each_part`) serves all
functions.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from interpreter.compiler.codegen.function import FRAME, ONE, ZERO, FunctionBuilder
from interpreter.compiler.codegen.memory import Slot
from interpreter.compiler.codegen.shapes import WORD, Bounded, Unsupported
from interpreter.compiler.ir import ops
from interpreter.language.types import Type

__all__ = ["KeptForms", "Part"]

LEFT, RIGHT, AT, VALUE = (ops.Var(name, "i32") for name in ("left", "right", "kept", "value"))


class Part(Struct, frozen=True):
    """A part of a value: its type, and where it is in the register form and in the kept form of the value. ``shift`` is
    0 for a field."""

    type: Type
    shift: ops.Value
    offset: int
    kept_shift: ops.Value
    kept_offset: int


class KeptForms(FunctionBuilder):
    """Builds reads, writes, copies and comparisons of values."""

    def each_part(self, type_: Type, length: ops.Value, body: Callable[[Part], None]) -> None:
        """Run the body for each item of a list of this length, or for each field of a record."""
        shapes = self.shapes
        if shapes.is_listed(type_):
            item = shapes.item(type_)
            with self.counted(length) as at:
                body(Part(item, at * WORD, WORD, at * (shapes.words(item) * WORD), WORD))
            return
        for number, (offset, field) in enumerate(shapes.placed(shapes.fields(type_))):
            body(Part(field, ZERO, number * WORD, ZERO, offset))

    # --- locals

    def read_local(self, index: int, type_: Type) -> ops.Value:
        local = self.locals.get(index)
        if local is None:
            raise Unsupported(f"local {index}, which nothing has set")
        if isinstance(local, ops.Var):
            return local
        return self.load(FRAME, local.offset, type_ if self.shapes.is_scalar(type_) else local.type)

    def write_local(self, index: int, value: ops.Value, type_: Type) -> None:
        local = self.locals.get(index)
        if isinstance(local, Slot):
            self.store(FRAME, local.offset, value, local.type)
            return
        rep = self.shapes.rep(type_)
        if local is None or local.rep != rep:
            local = self.locals[index] = ops.Var(f"l{index}_{rep}", rep)
        self.set(local, self.capped(value))

    # --- kept forms

    def load(self, address: ops.Value, offset: int, type_: Type, group: str = "") -> ops.Value:
        """Return the value whose kept form is at an address. A flat list, bag or record is not copied."""
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return ops.read(address, offset, shapes.rep(type_), group)
        at = address + offset
        if group:
            at = ops.Cell(at, group)
        if not shapes.is_flat(type_):
            return ops.Call(self._unpack(type_), (at,))
        if not type_.optional:
            return at
        at = self.kept(at)
        first = ops.Load(at, 0, "i32", group)
        if shapes.is_listed(type_):
            return ops.Select(first < 0, ZERO, at)
        return ops.Select(first, at + WORD, ZERO)

    def store(self, address: ops.Value, offset: int, value: ops.Value, type_: Type, group: str = "") -> None:
        shapes = self.shapes
        if shapes.is_scalar(type_):
            self.add(ops.Store(address, offset, self.word(value, type_.optional), group))
            return
        at, value = self.kept(address + offset), self.kept(value)
        if not shapes.is_flat(type_):
            self.do(self._pack(type_), at, value)
            return
        if not type_.optional:
            self._store_flat(at, value, type_, group)
            return
        with self.block() as some:
            if shapes.is_listed(type_):
                self._store_flat(at, value, type_, group)
            else:
                self.add(ops.Store(at, 0, ONE, group))
                self._store_flat(at + WORD, value, type_.sure, group)
        none = ops.Store(at, 0, ops.Constant(shapes.kept_none(type_)), group)
        self.add(ops.If(value, tuple(some), (none,)))

    def _store_flat(self, at: ops.Value, value: ops.Value, type_: Type, group: str) -> None:
        words: ops.Value = ops.Constant(self.shapes.words(type_.sure))
        if self.shapes.is_listed(type_):
            words = self._length_for(value, type_) + 1
        self.add(ops.CopyWords(at, value, words, group))

    def _length_for(self, value: ops.Value, type_: Type) -> ops.Value:
        """Return the length of a list that must fit into its kept form."""
        length = self.kept(ops.Load(value))
        if isinstance(type_, Bounded):
            self.fail_if(length > type_.most, "more items than the cell may have")
        else:
            self.check_room(str(type_.sure), length, self.shapes.capacity(type_))
        return length

    def _unpack(self, type_: Type) -> str:
        shapes = self.shapes
        is_listed = shapes.is_listed(type_)

        def build(b: KeptForms) -> None:
            at: ops.Value = AT
            length = b.kept(ops.Load(at)) if is_listed else ZERO
            if type_.optional:
                b.add(ops.If(length < 0 if is_listed else ops.negated(ops.Load(at)), (ops.Return(ZERO),)))
                at = at if is_listed else b.kept(at + WORD)
            made = b.kept(b.call("alloc", length + 1 if is_listed else ops.Constant(len(shapes.fields(type_)))))
            if is_listed:
                b.add(ops.Store(made, 0, length))

            def decode(part: Part) -> None:
                value = b.load(at + part.kept_shift, part.kept_offset, part.type)
                b.add(ops.Store(made + part.shift, part.offset, b.word(value, part.type.optional)))

            b.each_part(type_, length, decode)
            b.give(made)

        return self.named("unpack", type_, (AT,), "i32", build, f"decodes a kept value: {type_}")

    def _pack(self, type_: Type) -> str:
        shapes = self.shapes
        is_listed = shapes.is_listed(type_)

        def build(b: KeptForms) -> None:
            at: ops.Value = AT
            if type_.optional:
                none = ops.Store(at, 0, ops.Constant(shapes.kept_none(type_)))
                b.add(ops.If(ops.negated(VALUE), (none, ops.Return())))
                if not is_listed:
                    b.add(ops.Store(at, 0, ONE))
                    at = b.kept(at + WORD)
            length = b._length_for(VALUE, type_) if is_listed else ZERO
            if is_listed:
                b.add(ops.Store(at, 0, length))

            def encode(part: Part) -> None:
                value = ops.read(VALUE + part.shift, part.offset, shapes.rep(part.type))
                b.store(at + part.kept_shift, part.kept_offset, value, part.type)

            b.each_part(type_, length, encode)

        return self.named("pack", type_, (AT, VALUE), None, build, f"encodes a value in its kept form: {type_}")

    # --- copies and comparisons

    def copied(self, value: ops.Value, type_: Type) -> ops.Value:
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return value

        def build(b: KeptForms) -> None:
            if type_.optional:
                b.add(ops.If(ops.negated(VALUE), (ops.Return(ZERO),)))
            size = ops.Load(VALUE) + 1 if shapes.is_listed(type_) else ops.Constant(len(shapes.fields(type_)))
            words = b.kept(size)
            made = b.kept(b.call("alloc", words))
            b.add(ops.CopyWords(made, VALUE, words))

            def copy(part: Part) -> None:
                if not shapes.is_scalar(part.type):
                    place = b.kept(made + part.shift)
                    b.add(ops.Store(place, part.offset, b.copied(ops.Load(place, part.offset), part.type)))

            if not shapes.is_flat(type_):
                b.each_part(type_, words - 1, copy)
            b.give(made)

        return ops.Call(self.named("own", type_, (VALUE,), "i32", build, f"copies a value: {type_}"), (value,))

    def same(self, left: ops.Value, right: ops.Value, type_: Type, other_type: Type) -> ops.Value:
        shapes = self.shapes
        if shapes.is_scalar(type_):
            return left.equals(right)
        if type_.optional or other_type.optional:
            both = self.same(left, right, type_.sure, other_type.sure)
            some = ops.Select(ops.negated(left), ZERO, ops.Select(ops.negated(right), ZERO, both))
            return ops.either(left.equals(right), some)
        if shapes.is_listed(type_) and shapes.is_flat(type_):
            return self.call("equal_lists", left, right)
        if shapes.is_flat(type_):
            return self.call("equal_words", left, right, ops.Constant(shapes.words(type_)))

        def build(b: KeptForms) -> None:
            length: ops.Value = ZERO
            if shapes.is_listed(type_):
                length = b.kept(ops.Load(LEFT))
                b.add(ops.If(length.differs(ops.Load(RIGHT)), (ops.Return(ZERO),)))

            def compare(part: Part) -> None:
                pair = (ops.read(side + part.shift, part.offset, shapes.rep(part.type)) for side in (LEFT, RIGHT))
                left, right = map(b.kept, pair)
                b.add(ops.If(ops.negated(b.same(left, right, part.type, part.type)), (ops.Return(ZERO),)))

            b.each_part(type_, length, compare)
            b.give(ONE)

        name = self.named("same", type_, (LEFT, RIGHT), "i32", build, f"true if two values are equal: {type_}")
        return ops.Call(name, (left, right))

    # --- constructors

    def listed(self, words: list[ops.Value]) -> ops.Value:
        return self.allocated([ops.Constant(len(words)), *words])

    def allocated(self, words: list[ops.Value]) -> ops.Value:
        """Build a record of these words in the arena."""
        words = [self.kept(word) for word in words]
        made = self.var("i32", "made", self.call("alloc", ops.Constant(max(1, len(words)))))
        for number, word in enumerate(words):
            self.add(ops.Store(made, number * WORD, word))
        return made
