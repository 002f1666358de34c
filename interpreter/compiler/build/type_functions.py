"""Functions by type: equality, copies, and kept forms of nested values; and dealt lengths of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.ir import ops
from interpreter.language.types import INT, BagType, RecordType, RoomType, Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Values"]


class Values:
    """Builds functions by type, each at its first use."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.shapes, self.memory = module, module.shapes, module.memory
        self._types: dict[tuple[str, Type], str] = {}

    def of_type(self, kind: str, type_: Type, make: Callable[[str, Type], ops.Function]) -> str:
        """Return the name of a function of a type, which is built once."""
        name = self._types.setdefault((kind, type_), self.module.name(kind, str(type_)))
        return self.module.request(name, lambda: make(name, type_))

    def equality(self, type_: Type) -> str:
        """Return the name of a function that compares two lists of composite values, or records with such fields."""
        return self.of_type("same", type_.sure, self._equality)

    def unpack(self, type_: Type) -> str:
        """Return the name of a function that decodes the kept form at an address into the arena."""
        return self.of_type("unpack", type_, self._unpack)

    def pack(self, type_: Type) -> str:
        """Return the name of a function that writes the kept form of a value."""
        return self.of_type("pack", type_, self._pack)

    def own(self, type_: Type) -> str:
        """Return the name of a function that makes a deep copy of a value."""
        return self.of_type("own", type_, self._own)

    def _equality(self, name: str, type_: Type) -> ops.Function:
        left, right = ops.Var("left", "i32"), ops.Var("right", "i32")
        shapes = self.shapes

        def build(b: FunctionBuilder) -> None:
            x = Expressions(b)
            if not shapes.is_listed(type_):
                for i, field in enumerate(shapes.fields(type_)):
                    pair = (ops.Load(side, i * WORD, shapes.rep(field)) for side in (left, right))
                    test = x.same(b.kept(next(pair)), b.kept(next(pair)), field, field)
                    b.add(ops.If(ops.Not(test), (ops.Return(ZERO),)))
                b.add(ops.Return(ONE))
                return
            item = shapes.item(type_)
            length = b.kept(ops.Load(left))
            b.add(ops.If(length.differs(ops.Load(right)), (ops.Return(ZERO),)))
            with b.counted(length) as at:
                place = b.kept(at * WORD)
                pair = (ops.Load(side + place, WORD, shapes.rep(item)) for side in (left, right))
                test = x.same(b.kept(next(pair)), b.kept(next(pair)), item, item)
                b.add(ops.If(ops.Not(test), (ops.Return(ZERO),)))
            b.add(ops.Return(ONE))

        return self.module.made(name, (left, right), "i32", build, f"true if two values are equal: {type_}")

    def _unpack(self, name: str, type_: Type) -> ops.Function:
        kept = ops.Var("kept", "i32")
        shapes = self.shapes

        def build(b: FunctionBuilder) -> None:
            at: ops.Value = kept
            if type_.optional and not shapes.is_listed(type_):
                b.add(ops.If(ops.Not(ops.Load(at)), (ops.Return(ZERO),)))
                at = b.kept(at + WORD)
            if not shapes.is_listed(type_):
                fields = shapes.fields(type_)
                target = b.kept(ops.Allocate(ops.Constant(len(fields))))
                for i, (offset, field) in enumerate(shapes.placed(fields)):
                    value = b.load(at, offset, field)
                    b.add(ops.Store(target, i * WORD, b.word(value, field.optional)))
                b.add(ops.Return(target))
                return
            item = shapes.item(type_)
            length = b.kept(ops.Load(at))
            if type_.optional:
                b.add(ops.If(length < 0, (ops.Return(ZERO),)))
            target = b.kept(ops.Allocate(length + 1))
            b.add(ops.Store(target, 0, length))
            with b.counted(length) as number:
                place = at + number * (shapes.words(item) * WORD)
                value = b.kept(b.load(place, WORD, item))
                slot = target + number * WORD
                b.add(ops.Store(slot, WORD, b.word(value, item.optional)))
            b.add(ops.Return(target))

        return self.module.made(name, (kept,), "i32", build, f"decodes a kept value: {type_}")

    def _pack(self, name: str, type_: Type) -> ops.Function:
        kept, source = ops.Var("kept", "i32"), ops.Var("value", "i32")
        shapes = self.shapes

        def build(b: FunctionBuilder) -> None:
            at: ops.Value = kept
            value = source
            if type_.optional:
                none = ops.Constant(-1) if shapes.is_listed(type_) else ZERO
                b.add(ops.If(ops.Not(value), (ops.Store(at, 0, none), ops.Return())))
                if not shapes.is_listed(type_):
                    b.add(ops.Store(at, 0, ONE))
                    at = b.kept(at + WORD)
            if not shapes.is_listed(type_):
                for i, (offset, field) in enumerate(shapes.placed(shapes.fields(type_))):
                    b.store(at, offset, ops.Load(value, i * WORD, shapes.rep(field)), field)
                return
            item = shapes.item(type_)
            length = b.kept(ops.Load(value))
            b.fail_if(length > shapes.capacity(type_), "a list longer than its room")
            b.add(ops.Store(at, 0, length))
            with b.counted(length) as number:
                item_at = value + number * WORD
                place = at + number * (shapes.words(item) * WORD)
                b.store(place, WORD, ops.Load(item_at, WORD, shapes.rep(item)), item)

        return self.module.made(name, (kept, source), None, build, f"encodes a value in its kept form: {type_}")

    def _own(self, name: str, type_: Type) -> ops.Function:
        source = ops.Var("value", "i32")
        shapes = self.shapes

        def copied(b: FunctionBuilder, value: ops.Value, of: Type) -> ops.Value:
            return value if shapes.is_scalar(of) else ops.Call(self.own(of), (value,))

        def build(b: FunctionBuilder) -> None:
            value = source
            if type_.optional:
                b.add(ops.If(ops.Not(value), (ops.Return(ZERO),)))
            words: ops.Value = (
                ops.Load(value) + 1
                if shapes.is_listed(type_)
                else ops.Constant(shapes.width(type_) if isinstance(type_, BagType) else len(shapes.fields(type_)))
            )
            words = b.kept(words)
            made = b.kept(ops.Allocate(words))
            b.add(ops.CopyWords(made, value, words))
            if shapes.is_listed(type_) and not shapes.is_scalar(shapes.item(type_)):
                item = shapes.item(type_)
                with b.counted(words, first=ONE) as number:
                    place = b.kept(made + number * WORD)
                    b.add(ops.Store(place, 0, copied(b, ops.Load(place), item)))
            elif isinstance(type_, RecordType | RoomType):
                for i, field in enumerate(shapes.fields(type_)):
                    if not shapes.is_scalar(field):
                        b.add(ops.Store(made, i * WORD, copied(b, ops.Load(made, i * WORD), field)))
            b.add(ops.Return(made))

        return self.module.made(name, (source,), "i32", build, f"copies a value: {type_}")

    # --- dealt lengths

    def dealt(self) -> str:
        """Return the name of a function that returns the lengths of links on which cards lie, as a row of words. If
        they changed since its last call, it clears the cache of distances."""
        return self.module.request("dealt", self._dealt)

    def _dealt(self) -> ops.Function:
        cards = ops.Var("cards", "i32")
        graph = self.module.constants.model.graph
        assert graph is not None
        count, rows = len(graph.links), self.module.constants.model.cards
        printed = self.memory.words([self.shapes.word(row.values.get(graph.length or ""), INT) for row in rows])
        lengths = self.memory.reserve(count)

        def build(b: FunctionBuilder) -> None:
            b.fail_if(ops.Load(cards) < count, "too few cards")
            with b.counted(ops.Constant(count)) as number:
                place = number * WORD
                card = ops.Load(cards + place, WORD)
                new = b.kept(ops.Load(card * WORD, printed))
                with b.when(new.differs(ops.Load(place, lengths))):
                    b.add(ops.Store(place, lengths, new))
                    b.do("forget_ways")
            b.add(ops.Return(ops.Data(lengths, "lengths")))

        return self.module.made("dealt", (cards,), "i32", build)
