"""Functions of types: equality, copies, and kept forms of values that hold others; and lengths that are dealt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.ir import ops as o
from interpreter.language.types import INT, BagType, RecordType, RoomType, Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Values"]


class Values:
    """Builds functions of types, each when something first needs it."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.shapes, self.memory = module, module.shapes, module.memory
        self._types: dict[tuple[str, Type], str] = {}

    def of_type(self, kind: str, type_: Type, make: Callable[[str, Type], o.Function]) -> str:
        """A function of a type, which is made once."""
        name = self._types.setdefault((kind, type_), self.module.name(kind, str(type_)))
        return self.module.wanted(name, lambda: make(name, type_))

    def equality(self, type_: Type) -> str:
        """Return whether two lists of composite values, or records with such fields, are equal."""
        return self.of_type("same", type_.sure, self._equality)

    def unpack(self, type_: Type) -> str:
        """The value in the arena whose kept form lies at an address."""
        return self.of_type("unpack", type_, self._unpack)

    def pack(self, type_: Type) -> str:
        """Writes the kept form of a value."""
        return self.of_type("pack", type_, self._pack)

    def own(self, type_: Type) -> str:
        """A copy of a value, with all that is in it."""
        return self.of_type("own", type_, self._own)

    def _equality(self, name: str, type_: Type) -> o.Function:
        one, other = o.Var("one", "i32"), o.Var("other", "i32")
        shapes = self.shapes

        def build(b: FunctionBuilder) -> None:
            x = Expressions(b)
            if not shapes.is_listed(type_):
                for i, field in enumerate(shapes.fields(type_)):
                    pair = (o.Load(o.Get(each), i * WORD, shapes.rep(field)) for each in (one, other))
                    test = x.same(b.kept(next(pair)), b.kept(next(pair)), field, field)
                    b.add(o.If(o.Not(test), (o.Return(ZERO),)))
                b.add(o.Return(ONE))
                return
            item = shapes.item(type_)
            length = b.kept(o.Load(o.Get(one)))
            b.add(o.If(o.Compare("ne", length, o.Load(o.Get(other))), (o.Return(ZERO),)))
            with b.counted(length) as at:
                place = b.kept(b.times(at, WORD))
                pair = (o.Load(o.Binary("add", o.Get(each), place), WORD, shapes.rep(item)) for each in (one, other))
                test = x.same(b.kept(next(pair)), b.kept(next(pair)), item, item)
                b.add(o.If(o.Not(test), (o.Return(ZERO),)))
            b.add(o.Return(ONE))

        return self.module.made(name, (one, other), "i32", build, f"whether two values are equal: {type_}")

    def _unpack(self, name: str, type_: Type) -> o.Function:
        kept = o.Var("kept", "i32")
        shapes = self.shapes

        def build(b: FunctionBuilder) -> None:
            at: o.Value = o.Get(kept)
            if type_.optional and not shapes.is_listed(type_):
                b.add(o.If(o.Not(o.Load(at)), (o.Return(ZERO),)))
                at = b.kept(b.plus(at, WORD))
            if not shapes.is_listed(type_):
                fields = shapes.fields(type_)
                made = b.kept(o.Allocate(o.Constant(len(fields))))
                for i, (offset, field) in enumerate(shapes.placed(fields)):
                    value = b.load(at, offset, field)
                    b.add(o.Store(made, i * WORD, b.word(value, field.optional)))
                b.add(o.Return(made))
                return
            item = shapes.item(type_)
            length = b.kept(o.Load(at))
            if type_.optional:
                b.add(o.If(o.Compare("lt", length, ZERO), (o.Return(ZERO),)))
            made = b.kept(o.Allocate(b.plus(length, 1)))
            b.add(o.Store(made, 0, length))
            with b.counted(length) as number:
                place = o.Binary("add", at, b.times(number, shapes.words(item) * WORD))
                value = b.kept(b.load(place, WORD, item))
                target = o.Binary("add", made, b.times(number, WORD))
                b.add(o.Store(target, WORD, b.word(value, item.optional)))
            b.add(o.Return(made))

        return self.module.made(name, (kept,), "i32", build, f"a kept value in the arena: {type_}")

    def _pack(self, name: str, type_: Type) -> o.Function:
        kept, given = o.Var("kept", "i32"), o.Var("value", "i32")
        shapes = self.shapes

        def build(b: FunctionBuilder) -> None:
            at: o.Value = o.Get(kept)
            value = o.Get(given)
            if type_.optional:
                none = o.Constant(-1) if shapes.is_listed(type_) else ZERO
                b.add(o.If(o.Not(value), (o.Store(at, 0, none), o.Return())))
                if not shapes.is_listed(type_):
                    b.add(o.Store(at, 0, ONE))
                    at = b.kept(b.plus(at, WORD))
            if not shapes.is_listed(type_):
                for i, (offset, field) in enumerate(shapes.placed(shapes.fields(type_))):
                    b.store(at, offset, o.Load(value, i * WORD, shapes.rep(field)), field)
                return
            item = shapes.item(type_)
            length = b.kept(o.Load(value))
            b.fail_if(o.Compare("gt", length, o.Constant(shapes.capacity(type_))), "a list longer than its room")
            b.add(o.Store(at, 0, length))
            with b.counted(length) as number:
                source = o.Binary("add", value, b.times(number, WORD))
                place = o.Binary("add", at, b.times(number, shapes.words(item) * WORD))
                b.store(place, WORD, o.Load(source, WORD, shapes.rep(item)), item)

        return self.module.made(name, (kept, given), None, build, f"the kept form of a value: {type_}")

    def _own(self, name: str, type_: Type) -> o.Function:
        given = o.Var("value", "i32")
        shapes = self.shapes

        def copied(b: FunctionBuilder, value: o.Value, of: Type) -> o.Value:
            return value if shapes.is_scalar(of) else o.Call(self.own(of), (value,))

        def build(b: FunctionBuilder) -> None:
            value = o.Get(given)
            if type_.optional:
                b.add(o.If(o.Not(value), (o.Return(ZERO),)))
            words: o.Value = (
                b.plus(o.Load(value), 1)
                if shapes.is_listed(type_)
                else o.Constant(shapes.width(type_) if isinstance(type_, BagType) else len(shapes.fields(type_)))
            )
            words = b.kept(words)
            made = b.kept(o.Allocate(words))
            b.add(o.CopyWords(made, value, words))
            if shapes.is_listed(type_) and not shapes.is_scalar(shapes.item(type_)):
                item = shapes.item(type_)
                with b.counted(words, first=ONE) as number:
                    place = b.kept(o.Binary("add", made, b.times(number, WORD)))
                    b.add(o.Store(place, 0, copied(b, o.Load(place), item)))
            elif isinstance(type_, RecordType | RoomType):
                for i, field in enumerate(shapes.fields(type_)):
                    if not shapes.is_scalar(field):
                        b.add(o.Store(made, i * WORD, copied(b, o.Load(made, i * WORD), field)))
            b.add(o.Return(made))

        return self.module.made(name, (given,), "i32", build, f"a copy: {type_}")

    # --- lengths

    def dealt(self) -> str:
        """The lengths of links on which cards lie, as a row of words. What is known of ways is forgotten where they are
        others than the last time."""
        return self.module.wanted("dealt", self._dealt)

    def _dealt(self) -> o.Function:
        cards = o.Var("cards", "i32")
        graph = self.module.constants.model.graph
        assert graph is not None
        count, rows = len(graph.links), self.module.constants.model.cards
        printed = self.memory.words([self.shapes.word(row.values.get(graph.length or ""), INT) for row in rows])
        lengths = self.memory.reserve(count)

        def build(b: FunctionBuilder) -> None:
            b.fail_if(o.Compare("lt", o.Load(o.Get(cards)), o.Constant(count)), "too few cards")
            with b.counted(o.Constant(count)) as number:
                place = b.times(number, WORD)
                card = o.Load(o.Binary("add", o.Get(cards), place), WORD)
                new = b.kept(o.Load(b.times(card, WORD), printed))
                with b.when(o.Compare("ne", new, o.Load(place, lengths))):
                    b.add(o.Store(place, lengths, new))
                    b.do("forget_ways")
            b.add(o.Return(o.Data(lengths, "lengths")))

        return self.module.made("dealt", (cards,), "i32", build)
