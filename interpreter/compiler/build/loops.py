"""Loops over lists. Items are pushed through filters and maps into what uses them, so most lists are never made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, assert_never

from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.effect_analysis import may_fail
from interpreter.language import core as c
from interpreter.language.types import INT, SEAT, CardType, NeverType, Type

if TYPE_CHECKING:
    from interpreter.compiler.build.expressions import Expressions

__all__ = ["MAXIMUM_ITEMS", "Loops", "Source", "precedes"]

MAXIMUM_ITEMS = 20_000

Each = Callable[[o.Var], None]


class Source:
    """Items, one after another. ``bound`` is at least as many as there are; ``each`` builds the loop."""

    def __init__(self, item: Type, bound: o.Value, each: Callable[[Each], None]) -> None:
        self.item, self.bound, self.each = item, bound, each


class Loops:
    """Builds loops of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.x = expressions
        self.b: FunctionBuilder = expressions.b
        self.shapes = self.b.shapes

    # --- sources

    def source(self, node: c.Expression, *, stops: bool = False) -> Source:
        """Build the source of a loop. Where it ``stops`` early, what can fail is worked out for all items first."""
        b = self.b
        match node:
            case c.RangeFrom(first, last):
                low = b.kept(self.x.value(first, INT))
                high = b.kept(self.x.value(last, INT))
                return self._range(low, high)
            case c.AllSeats():
                return self._indexes(SEAT, ZERO, o.Constant(self.shapes.domains["seat"]))
            case c.Select(test=test, value=value):
                if not (stops and may_fail(b.module.program, (test, value))):
                    return self._passing(node, stops)
            case c.Builtin("clockwise", (seat,)):
                return self._clockwise(seat)
            case c.Builtin("cards of piles", (piles,)):
                return self._cards_of(self.source(piles, stops=stops))
        return self.listed(b.kept(self.x.value(node), "list"), self.item_of(node.type))

    def item_of(self, type_: Type) -> Type:
        return self.shapes.item(type_)

    def listed(self, pointer: o.Value, item: Type) -> Source:
        """The items of a list in memory."""
        b = self.b
        pointer = b.kept(pointer, "list")
        length = b.kept(o.Load(pointer, span=b.span), "n")

        def each(body: Each) -> None:
            if isinstance(item, NeverType):  # the list is empty
                return
            at, end = b.var("i32", "at"), b.var("i32", "end")
            b.add(o.Charge(b.plus(length, 1), span=b.span))
            b.set(at, pointer)
            b.set(end, o.Binary("add", pointer, b.times(length, WORD)))
            self._while(
                o.Compare("ne", o.Get(at), o.Get(end)),
                at,
                WORD,
                lambda: self._item(o.Load(o.Get(at), WORD, self.shapes.rep(item)), body),
            )

        return Source(item, length, each)

    def _item(self, value: o.Value, body: Each) -> None:
        var = self.b.var(value.rep, "x")
        self.b.set(var, value)
        body(var)

    def _while(self, test: o.Value, counter: o.Var, step: int, body: Callable[[], None]) -> None:
        with self.b.repeated("each", test, o.Set(counter, self.b.plus(o.Get(counter), step))):
            body()

    def _range(self, low: o.Value, high: o.Value) -> Source:
        b = self.b
        size = o.Binary("add", o.Binary("sub", high, low), o.Constant(1, "i64"))
        count = b.kept(o.Select(o.Compare("lt", high, low), o.Constant(0, "i64"), size), "n")
        b.fail_if(o.Compare("gt", count, o.Constant(MAXIMUM_ITEMS, "i64")), "a range of too many numbers")
        bound = b.kept(o.ToIndex(count))

        def each(body: Each) -> None:
            at = b.var("i64", "at")
            b.add(o.Charge(b.plus(bound, 1), span=b.span))
            b.set(at, low)
            self._while(o.Compare("le", o.Get(at), high), at, 1, lambda: self._item(o.Get(at), body))

        return Source(INT, bound, each)

    def _indexes(self, item: Type, first: o.Value, end: o.Value) -> Source:
        b = self.b
        bound = o.Binary("sub", end, first) if first != ZERO else end

        def each(body: Each) -> None:
            at = b.var("i32", "at")
            b.add(o.Charge(b.plus(bound, 1), span=b.span))
            b.set(at, first)
            self._while(o.Compare("lt", o.Get(at), end), at, 1, lambda: self._item(o.Get(at), body))

        return Source(item, bound, each)

    def _clockwise(self, seat: c.Expression) -> Source:
        b, seats = self.b, self.shapes.domains["seat"]
        who = b.kept(self.x.value(seat))

        def each(body: Each) -> None:
            step = b.var("i32", "step")
            b.add(o.Charge(o.Constant(seats), span=b.span))
            b.set(step, ONE)
            further = o.Binary("add", who, o.Get(step))
            other = o.Select(
                o.Compare("ge", further, o.Constant(seats)), o.Binary("sub", further, o.Constant(seats)), further
            )
            self._while(o.Compare("lt", o.Get(step), o.Constant(seats)), step, 1, lambda: self._item(other, body))

        return Source(SEAT, o.Constant(seats - 1), each)

    def _cards_of(self, piles: Source) -> Source:
        b = self.b
        card = CardType()

        def each(body: Each) -> None:
            piles.each(lambda pile: self.listed(o.Get(pile), card).each(body))

        return Source(card, o.Constant(len(b.module.constants.model.cards)), each)

    def _passing(self, node: c.Select, stops: bool) -> Source:
        b, source = self.b, self.source(node.items, stops=stops)
        locals_ = b.locals

        def each(body: Each) -> None:
            def one(item: o.Var) -> None:
                outer = b.locals
                with b.scoped(locals_):
                    locals_[node.variable] = item
                    with self.when(node.test):
                        if node.value is None:
                            with b.scoped(outer):
                                body(item)
                        else:
                            found = self.x.value(node.value, self.item_of(node.type))
                            with b.scoped(outer):
                                self._item(found, body)

            source.each(one)

        return Source(self.item_of(node.type), source.bound, each)

    # --- what is looked for

    @contextmanager
    def when(self, *tests: c.Expression | None) -> Iterator[None]:
        """Inside, statements run only where the tests hold, one after another."""
        with ExitStack() as open_:
            for test in tests:
                if test is not None:
                    open_.enter_context(self.b.when(self.x.value(test)))
            yield

    def combinations(
        self,
        binders: Sequence[tuple[int, c.Expression]],
        body: Callable[[list[o.Var]], None],
        *,
        stops: bool = False,
    ) -> None:
        """The body for each combination of items; each binder may read those before it."""
        values: list[o.Var] = []

        def further(place: int) -> None:
            if place == len(binders):
                body(values)
                return
            index, items = binders[place]

            def one(item: o.Var) -> None:
                self.b.locals[index] = item
                values.append(item)
                further(place + 1)
                values.pop()

            self.source(items, stops=stops).each(one)

        further(0)

    def loop(self, node: c.Select | c.Fold | c.Search | c.Order) -> o.Value:
        match node:
            case c.Select():
                return self.made(self.source(node))
            case c.Fold(operation="count"):
                return self._counted(node)
            case c.Fold():
                return self._any(node, wanted=node.operation == "any")
            case c.Search():
                return self._found(node)
            case c.Order(operation="sorted"):
                return self._sorted(node)
            case c.Order():
                return self._best(node)
            case _:
                assert_never(node)

    def each(self, node: c.Loop, body: Each, *, stops: bool = False) -> None:
        """The body for each item that passes the loop's own test."""
        source = self.source(node.items, stops=stops)
        b = self.b

        def one(item: o.Var) -> None:
            b.locals[node.variable] = item
            with self.when(node.test):
                body(item)

        source.each(one)

    def made(self, source: Source) -> o.Value:
        """The items as a list in the arena."""
        b = self.b
        bound = b.kept(source.bound)
        pointer, end = b.var("i32", "made"), b.var("i32", "end")
        b.set(pointer, o.Allocate(b.plus(bound, 1), span=b.span))
        b.set(end, o.Get(pointer))

        def put(item: o.Var) -> None:
            b.set(end, b.plus(o.Get(end), WORD))
            b.add(o.Store(o.Get(end), 0, b.word(o.Get(item), source.item.optional), span=b.span))

        source.each(put)
        length = o.Binary("shr", o.Binary("sub", o.Get(end), o.Get(pointer)), o.Constant(2))
        b.add(o.Store(o.Get(pointer), 0, length, span=b.span))
        return o.Get(pointer)

    def total(self, source: Source) -> o.Value:
        b, found = self.b, self.b.var("i64", "sum")
        b.set(found, o.Constant(0, "i64"))
        source.each(lambda item: b.set(found, o.Binary("add", o.Get(found), o.Get(item))))
        return o.Get(found)

    def extreme(self, source: Source, operator: str) -> o.Value:
        """The least (``lt``) or greatest (``gt``) number; none where there is none."""
        b, found = self.b, self.b.var("i64", "best")
        none = b.none(INT)
        b.set(found, none)

        def one(item: o.Var) -> None:
            better = o.Compare(operator, o.Get(item), o.Get(found))
            first = o.Compare("eq", o.Get(found), none)
            b.add(o.If(o.Select(first, ONE, better), (o.Set(found, o.Get(item)),), span=b.span))

        source.each(one)
        return o.Get(found)

    def length(self, source: Source) -> o.Value:
        b, found = self.b, self.b.var("i64", "count")
        b.set(found, o.Constant(0, "i64"))
        source.each(lambda item: b.set(found, b.plus(o.Get(found), 1)))
        return o.Get(found)

    def _counted(self, node: c.Fold) -> o.Value:
        b, found = self.b, self.b.var("i64", "count")
        b.set(found, o.Constant(0, "i64"))
        self.each(node, lambda item: b.set(found, b.plus(o.Get(found), 1)))
        return o.Get(found)

    def _any(self, node: c.Fold, *, wanted: bool) -> o.Value:
        b, found, label = self.b, self.b.var("i32", "any"), self.b.label("any")
        b.set(found, o.Constant(int(not wanted)))
        with b.block() as inner:
            source = self.source(node.items, stops=True)

            def one(item: o.Var) -> None:
                b.locals[node.variable] = item
                test = self.x.value(node.test) if node.test is not None else ONE
                stop = (o.Set(found, o.Constant(int(wanted))), o.Break(label))
                b.add(o.If(test if wanted else o.Not(test), stop, span=b.span))

            source.each(one)
        b.add(o.Block(label, tuple(inner), span=b.span))
        return o.Get(found)

    def _found(self, node: c.Search) -> o.Value:
        b, label = self.b, self.b.label("first")
        first = node.operation == "first"
        found = b.var(self.shapes.rep(node.type), "found")
        b.set(found, b.none(node.type))
        with b.block() as inner:

            def one(item: o.Var) -> None:
                b.set(found, o.Get(item))
                if first:
                    b.add(o.Break(label, span=b.span))

            self.each(node, one, stops=first)
        b.add(o.Block(label, tuple(inner), span=b.span))
        return self._must(node, found)

    def _must(self, node: c.Search | c.Order, found: o.Var) -> o.Value:
        if not node.or_none:
            self.b.fail_if(self.b.is_none(o.Get(found), node.type), f"`{node.operation}` finds nothing here")
        return o.Get(found)

    def _keys(self, node: c.Order, item: o.Var) -> list[o.Value]:
        if not node.keys:
            if not self.shapes.is_scalar(self.item_of(node.items.type)):
                raise Unsupported("items that are ordered by themselves")
            return [o.Get(item)]
        found = []
        for key in node.keys:
            if not self.shapes.is_scalar(key.type):
                raise Unsupported(f"a key that is a {key.type}")
            found.append(self.x.value(key))
        return found

    def _best(self, node: c.Order) -> o.Value:
        """The first item with the least or greatest keys."""
        b = self.b
        found = b.var(self.shapes.rep(node.type), "best")
        some, better = b.var("i32", "some"), b.var("i32", "better")
        b.set(found, b.none(node.type))
        b.set(some, ZERO)
        best: list[o.Var] = []
        operator = "lt" if node.operation == "min" else "gt"

        def one(item: o.Var) -> None:
            keys = [b.kept(key, "key") for key in self._keys(node, item)]
            if not best:
                best.extend(b.var(key.rep, "kept") for key in keys)
            b.set(better, o.Select(o.Get(some), precedes(keys, best, operator), ONE))
            taken = [o.Set(kept, key) for key, kept in zip(keys, best, strict=True)]
            b.add(o.If(o.Get(better), (o.Set(some, ONE), o.Set(found, o.Get(item)), *taken), span=b.span))

        with b.block() as loop:
            self.each(node, one)
        for kept in best:
            b.set(kept, o.Constant(0, kept.rep))
        b.body.extend(loop)
        b.locals[node.variable] = found
        return self._must(node, found)

    def _sorted(self, node: c.Order) -> o.Value:
        """The items and, beside them, their keys as numbers of 64 bits; then both are put in order."""
        b = self.b
        source = self.source(node.items)
        bound = b.kept(source.bound)
        width = max(1, len(node.keys))
        pointer, end, keys = b.var("i32", "made"), b.var("i32", "end"), b.var("i32", "keys")
        b.set(pointer, o.Allocate(b.plus(bound, 1), span=b.span))
        b.set(end, o.Get(pointer))
        b.set(keys, o.Allocate(b.plus(b.times(bound, 2 * width), 2)))
        b.set(keys, o.Binary("and", b.plus(o.Get(keys), 7), o.Constant(-8)))
        at = b.var("i32", "key")
        b.set(at, o.Get(keys))
        item_type = self.item_of(node.items.type)

        def one(item: o.Var) -> None:
            b.locals[node.variable] = item
            with self.when(node.test):
                for number, key in enumerate(self._keys(node, item)):
                    wide = key if key.rep == "i64" else o.ToNumber(key)
                    b.add(o.StoreLong(o.Get(at), 8 * number, wide, span=b.span))
                b.set(at, b.plus(o.Get(at), 8 * width))
                b.set(end, b.plus(o.Get(end), WORD))
                b.add(o.Store(o.Get(end), 0, b.word(o.Get(item), item_type.optional), span=b.span))

        source.each(one)
        length = o.Binary("shr", o.Binary("sub", o.Get(end), o.Get(pointer)), o.Constant(2))
        b.add(o.Store(o.Get(pointer), 0, length, span=b.span))
        return b.call("sort", o.Get(pointer), o.Get(keys), o.Constant(width))


def precedes(keys: Sequence[o.Value], best: Sequence[o.Var], operator: str) -> o.Value:
    """Return whether keys stand before (``lt``) or behind (``gt``) those that were kept."""
    found: o.Value = ZERO
    for key, kept in reversed(list(zip(keys, best, strict=True))):
        equal = o.Select(o.Compare("eq", key, o.Get(kept)), found, ZERO) if found != ZERO else ZERO
        found = o.Select(o.Compare(operator, key, o.Get(kept)), ONE, equal)
    return found
