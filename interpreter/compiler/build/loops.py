"""Loops over lists, fused: items are pushed through filters and maps into their consumer, so most lists are never
built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, assert_never

from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.effect_analysis import may_fail
from interpreter.language import core
from interpreter.language.types import INT, SEAT, CardType, NeverType, Type

if TYPE_CHECKING:
    from interpreter.compiler.build.expressions import Expressions

__all__ = ["MAXIMUM_ITEMS", "Loops", "Source", "precedes"]

MAXIMUM_ITEMS = 20_000

Each = Callable[[ops.Var], None]


class Source:
    """A stream of items. ``bound`` is an upper bound of their number; ``each`` builds the loop."""

    def __init__(self, item: Type, bound: ops.Value, each: Callable[[Each], None]) -> None:
        self.item, self.bound, self.each = item, bound, each


class Loops:
    """Builds loops of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.x = expressions
        self.b: FunctionBuilder = expressions.b
        self.shapes = self.b.shapes

    # --- sources

    def source(self, node: core.Expression, *, stops: bool = False) -> Source:
        """Build the source of a loop.

        If the consumer ``stops`` early, a filter that may fail is evaluated for all items first, as the plain form
        does.
        """
        b = self.b
        match node:
            case core.RangeFrom(first, last):
                low = b.kept(self.x.value(first, INT))
                high = b.kept(self.x.value(last, INT))
                return self._range(low, high)
            case core.AllSeats():
                return self._indexes(SEAT, ZERO, ops.Constant(self.shapes.domains["seat"]))
            case core.Select(test=test, value=value):
                if not (stops and may_fail(b.module.program, (test, value))):
                    return self._passing(node, stops)
            case core.Builtin("clockwise", (seat,)):
                return self._clockwise(seat)
            case core.Builtin("cards of piles", (piles,)):
                return self._cards_of(self.source(piles, stops=stops))
        return self.listed(b.kept(self.x.value(node), "list"), self.item_of(node.type))

    def item_of(self, type_: Type) -> Type:
        return self.shapes.item(type_)

    def listed(self, pointer: ops.Value, item: Type) -> Source:
        """Return the items of a list in memory."""
        b = self.b
        pointer = b.kept(pointer, "list")
        length = b.kept(ops.Load(pointer), "n")

        def each(body: Each) -> None:
            if isinstance(item, NeverType):  # the list is empty
                return
            at, end = b.var("i32", "at"), b.var("i32", "end")
            b.add(ops.Charge(length + 1))
            b.set(at, pointer)
            b.set(end, pointer + length * WORD)
            self._while(
                at.differs(end),
                at,
                WORD,
                lambda: self._item(ops.Load(at, WORD, self.shapes.rep(item)), body),
            )

        return Source(item, length, each)

    def _item(self, value: ops.Value, body: Each) -> None:
        var = self.b.var(value.rep, "x")
        self.b.set(var, value)
        body(var)

    def _while(self, test: ops.Value, counter: ops.Var, step: int, body: Callable[[], None]) -> None:
        with self.b.repeated("each", test, ops.Set(counter, counter + step)):
            body()

    def _range(self, low: ops.Value, high: ops.Value) -> Source:
        b = self.b
        size = high - low + 1
        count = b.kept(ops.Select(high < low, ops.Constant(0, "i64"), size), "n")
        b.fail_if(count > MAXIMUM_ITEMS, "a range of too many numbers")
        bound = b.kept(ops.ToIndex(count))

        def each(body: Each) -> None:
            at = b.var("i64", "at")
            b.add(ops.Charge(bound + 1))
            b.set(at, low)
            self._while(at <= high, at, 1, lambda: self._item(at, body))

        return Source(INT, bound, each)

    def _indexes(self, item: Type, first: ops.Value, end: ops.Value) -> Source:
        b = self.b
        bound = end - first if first != ZERO else end

        def each(body: Each) -> None:
            at = b.var("i32", "at")
            b.add(ops.Charge(bound + 1))
            b.set(at, first)
            self._while(at < end, at, 1, lambda: self._item(at, body))

        return Source(item, bound, each)

    def _clockwise(self, seat: core.Expression) -> Source:
        b, seats = self.b, self.shapes.domains["seat"]
        origin = b.kept(self.x.value(seat))

        def each(body: Each) -> None:
            step = b.var("i32", "step")
            b.add(ops.Charge(ops.Constant(seats)))
            b.set(step, ONE)
            target = origin + step
            next_seat = ops.Select(target >= seats, target - seats, target)
            self._while(step < seats, step, 1, lambda: self._item(next_seat, body))

        return Source(SEAT, ops.Constant(seats - 1), each)

    def _cards_of(self, piles: Source) -> Source:
        b = self.b
        card = CardType()

        def each(body: Each) -> None:
            piles.each(lambda pile: self.listed(pile, card).each(body))

        return Source(card, ops.Constant(len(b.module.constants.model.cards)), each)

    def _passing(self, node: core.Select, stops: bool) -> Source:
        b, source = self.b, self.source(node.items, stops=stops)
        locals_ = b.locals

        def each(body: Each) -> None:
            def pass_on(item: ops.Var) -> None:
                outer = b.locals
                with b.scoped(locals_):
                    locals_[node.variable] = item
                    with self.when(node.test):
                        if node.value is None:
                            with b.scoped(outer):
                                body(item)
                        else:
                            value = self.x.value(node.value, self.item_of(node.type))
                            with b.scoped(outer):
                                self._item(value, body)

            source.each(pass_on)

        return Source(self.item_of(node.type), source.bound, each)

    # --- consumers

    @contextmanager
    def when(self, *tests: core.Expression | None) -> Iterator[None]:
        """Run the statements inside only if all tests hold; later tests are evaluated only if earlier ones hold."""
        with ExitStack() as open_:
            for test in tests:
                if test is not None:
                    open_.enter_context(self.b.when(self.x.value(test)))
            yield

    def combinations(
        self,
        binders: Sequence[tuple[int, core.Expression]],
        body: Callable[[list[ops.Var]], None],
        *,
        stops: bool = False,
    ) -> None:
        """Run the body for each combination of items. A binder may read the ones before it."""
        values: list[ops.Var] = []

        def bind_from(place: int) -> None:
            if place == len(binders):
                body(values)
                return
            index, items = binders[place]

            def bind(item: ops.Var) -> None:
                self.b.locals[index] = item
                values.append(item)
                bind_from(place + 1)
                values.pop()

            self.source(items, stops=stops).each(bind)

        bind_from(0)

    def loop(self, node: core.Select | core.Fold | core.Search | core.Order) -> ops.Value:
        match node:
            case core.Select():
                return self.made(self.source(node))
            case core.Fold(operation="count"):
                return self._counted(node)
            case core.Fold():
                return self._any(node, expected=node.operation == "any")
            case core.Search():
                return self._found(node)
            case core.Order(operation="sorted"):
                return self._sorted(node)
            case core.Order():
                return self._best(node)
            case _:
                assert_never(node)

    def each(self, node: core.Loop, body: Each, *, stops: bool = False) -> None:
        """Run the body for each item that passes the loop's own test."""
        source = self.source(node.items, stops=stops)
        b = self.b

        def tested(item: ops.Var) -> None:
            b.locals[node.variable] = item
            with self.when(node.test):
                body(item)

        source.each(tested)

    def made(self, source: Source) -> ops.Value:
        """Build a list of the items in the arena."""
        b = self.b
        bound = b.kept(source.bound)
        pointer, end = b.var("i32", "made"), b.var("i32", "end")
        b.set(pointer, ops.Allocate(bound + 1))
        b.set(end, pointer)

        def put(item: ops.Var) -> None:
            b.set(end, end + WORD)
            b.add(ops.Store(end, 0, b.word(item, source.item.optional)))

        source.each(put)
        length = (end - pointer) >> 2
        b.add(ops.Store(pointer, 0, length))
        return pointer

    def total(self, source: Source) -> ops.Value:
        b, total = self.b, self.b.var("i64", "sum")
        b.set(total, ops.Constant(0, "i64"))
        source.each(lambda item: b.set(total, total + item))
        return total

    def extreme(self, source: Source, operator: str) -> ops.Value:
        """Return the smallest (``lt``) or largest (``gt``) number, or none if there are no items."""
        b, best = self.b, self.b.var("i64", "best")
        none = b.none(INT)
        b.set(best, none)

        def compare(item: ops.Var) -> None:
            better = ops.Compare(operator, item, best)
            first = best.equals(none)
            b.add(ops.If(ops.either(first, better), (ops.Set(best, item),)))

        source.each(compare)
        return best

    def length(self, source: Source) -> ops.Value:
        b, count = self.b, self.b.var("i64", "count")
        b.set(count, ops.Constant(0, "i64"))
        source.each(lambda item: b.set(count, count + 1))
        return count

    def _counted(self, node: core.Fold) -> ops.Value:
        b, count = self.b, self.b.var("i64", "count")
        b.set(count, ops.Constant(0, "i64"))
        self.each(node, lambda item: b.set(count, count + 1))
        return count

    def _any(self, node: core.Fold, *, expected: bool) -> ops.Value:
        b, result, label = self.b, self.b.var("i32", "any"), self.b.label("any")
        b.set(result, ops.Constant(int(not expected)))
        with b.block() as inner:
            source = self.source(node.items, stops=True)

            def check(item: ops.Var) -> None:
                b.locals[node.variable] = item
                test = self.x.value(node.test) if node.test is not None else ONE
                stop = (ops.Set(result, ops.Constant(int(expected))), ops.Break(label))
                b.add(ops.If(test if expected else ops.Not(test), stop))

            source.each(check)
        b.add(ops.Block(label, tuple(inner)))
        return result

    def _found(self, node: core.Search) -> ops.Value:
        b, label = self.b, self.b.label("first")
        first = node.operation == "first"
        result = b.var(self.shapes.rep(node.type), "result")
        b.set(result, b.none(node.type))
        with b.block() as inner:

            def take(item: ops.Var) -> None:
                b.set(result, item)
                if first:
                    b.add(ops.Break(label))

            self.each(node, take, stops=first)
        b.add(ops.Block(label, tuple(inner)))
        return self._must(node, result)

    def _must(self, node: core.Search | core.Order, item: ops.Var) -> ops.Value:
        if not node.or_none:
            self.b.fail_if(self.b.is_none(item, node.type), f"`{node.operation}` finds nothing here")
        return item

    def _keys(self, node: core.Order, item: ops.Var) -> list[ops.Value]:
        if not node.keys:
            if not self.shapes.is_scalar(self.item_of(node.items.type)):
                raise Unsupported("items that are ordered by themselves")
            return [item]
        keys = []
        for key in node.keys:
            if not self.shapes.is_scalar(key.type):
                raise Unsupported(f"a key that is a {key.type}")
            keys.append(self.x.value(key))
        return keys

    def _best(self, node: core.Order) -> ops.Value:
        """Return the first item with the smallest or largest keys."""
        b = self.b
        best_item = b.var(self.shapes.rep(node.type), "best")
        some, better = b.var("i32", "some"), b.var("i32", "better")
        b.set(best_item, b.none(node.type))
        b.set(some, ZERO)
        best: list[ops.Var] = []
        operator = "lt" if node.operation == "min" else "gt"

        def compare(item: ops.Var) -> None:
            keys = [b.kept(key, "key") for key in self._keys(node, item)]
            if not best:
                best.extend(b.var(key.rep, "kept") for key in keys)
            b.set(better, ops.Select(some, precedes(keys, best, operator), ONE))
            updates = [ops.Set(best_key, key) for key, best_key in zip(keys, best, strict=True)]
            b.add(ops.If(better, (ops.Set(some, ONE), ops.Set(best_item, item), *updates)))

        with b.block() as loop:
            self.each(node, compare)
        for best_key in best:
            b.set(best_key, ops.Constant(0, best_key.rep))
        b.body.extend(loop)
        b.locals[node.variable] = best_item
        return self._must(node, best_item)

    def _sorted(self, node: core.Order) -> ops.Value:
        """Build a list of the items and, beside it, their keys as 64-bit numbers; then sort both."""
        b = self.b
        source = self.source(node.items)
        bound = b.kept(source.bound)
        width = max(1, len(node.keys))
        pointer, end, keys = b.var("i32", "made"), b.var("i32", "end"), b.var("i32", "keys")
        b.set(pointer, ops.Allocate(bound + 1))
        b.set(end, pointer)
        b.set(keys, ops.Allocate(bound * (2 * width) + 2))
        b.set(keys, (keys + 7) & (-8))
        at = b.var("i32", "key")
        b.set(at, keys)
        item_type = self.item_of(node.items.type)

        def add(item: ops.Var) -> None:
            b.locals[node.variable] = item
            with self.when(node.test):
                for number, key in enumerate(self._keys(node, item)):
                    wide = key if key.rep == "i64" else ops.ToNumber(key)
                    b.add(ops.StoreLong(at, 8 * number, wide))
                b.set(at, at + 8 * width)
                b.set(end, end + WORD)
                b.add(ops.Store(end, 0, b.word(item, item_type.optional)))

        source.each(add)
        length = (end - pointer) >> 2
        b.add(ops.Store(pointer, 0, length))
        return b.call("sort", pointer, keys, ops.Constant(width))


def precedes(keys: Sequence[ops.Value], best: Sequence[ops.Var], operator: str) -> ops.Value:
    """Return the test of whether keys precede (``lt``) or follow (``gt``) the best keys so far."""
    result: ops.Value = ZERO
    for key, best_key in reversed(list(zip(keys, best, strict=True))):
        equal = ops.both(key.equals(best_key), result) if result != ZERO else ZERO
        result = ops.either(ops.Compare(operator, key, best_key), equal)
    return result
