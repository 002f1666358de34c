"""Loops over lists, fused: items are pushed through filters and maps into their consumer, so most lists are never
built.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import assert_never

from msgspec import Struct

from interpreter.compiler.codegen.function import ONE, ZERO
from interpreter.compiler.codegen.kept_forms import KeptForms
from interpreter.compiler.codegen.memory import Slot
from interpreter.compiler.codegen.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.builtins import Builtin
from interpreter.language.types import INT, SEAT, CardType, NeverType, Type
from interpreter.language.walk import descendants
from interpreter.lowering.effect_analysis import may_fail
from interpreter.plain.evaluate import MAXIMUM_ITEMS

__all__ = ["Each", "Loops", "Source"]

NUMBER = ops.Constant(0, "i64")
MANY = 16
"""Minimum number of things that are worth flagging the members of a list in which each is looked for."""
MOST_UNROLLED = 4
"""Maximum length of a list that is searched in a loop without one of its own."""

Each = Callable[[ops.Var], None]
Values = Sequence[ops.Value]
OfValues = Callable[[Values], None]
Binders = Sequence[tuple[int, core.Expression]]
Tests = Sequence[core.Expression | None]
Better = Callable[[Values], AbstractContextManager[None]]


class Source(Struct, frozen=True):
    """A stream of items. ``bound`` is an upper bound of their number; ``each`` builds the loop."""

    item: Type
    bound: ops.Value
    each: Callable[[Each], None]


class Loops(KeptForms, ABC):
    """Builds loops."""

    is_unrolling = False
    """Whether a search without a loop is being built: inside, each would multiply the code."""

    @abstractmethod
    def value(self, node: core.Expression, expected: Type | None = None) -> ops.Value:
        """Build an expression as a register of the expected type, which determines the representation of none."""

    # --- sources

    def source(self, node: core.Expression, *, stops: bool = False) -> Source:
        """Build the source of a loop.

        If the consumer ``stops`` early, a filter that may fail is evaluated for all items first, as the plain form
        does.
        """
        match node:
            case core.RangeFrom():
                low, high, count = self.bounds(node)
                bound = self.kept(ops.ToIndex(count))
                return self.stepped(INT, bound, low, lambda at: at <= high)
            case core.AllSeats():
                seats = ops.Constant(self.shapes.seats)
                return self.stepped(SEAT, seats, ZERO, lambda at: at < seats)
            case core.Select(test=test, value=value):
                if not (stops and may_fail(self.program, (test, value))):
                    return self._filtered(node, stops)
            case core.Static(attribute, of) if length := _run_length(self.constants.statics[attribute]):
                return self._run(attribute, of, length, self.shapes.item(node.type), stops)
            case core.CallBuiltin(Builtin("clockwise"), (seat,)):
                return self._clockwise(seat)
            case core.CallBuiltin(Builtin("cards of piles"), (piles,)):
                return self._cards_of(self.source(piles, stops=stops))
        return self.items_of(self.kept(self.value(node), "list"), self.shapes.item(node.type))

    def items_of(self, pointer: ops.Value, item: Type) -> Source:
        pointer = self.kept(pointer, "list")
        length = self.kept(ops.Load(pointer), "n")
        if isinstance(item, NeverType):  # the list is empty
            return Source(item, length, lambda body: None)

        def is_before_end(at: ops.Var) -> ops.Value:
            return at.differs(self.var("i32", "end", pointer + length * WORD))

        return self.stepped(
            item, length, pointer, is_before_end, lambda at: ops.read(at, WORD, self.shapes.rep(item)), WORD
        )

    def _item(self, value: ops.Value) -> ops.Var:
        return self.var(value.rep, "x", value)

    def stepped(
        self,
        item: Type,
        bound: ops.Value,
        first: ops.Value,
        test: Callable[[ops.Var], ops.Value],
        value: Callable[[ops.Var], ops.Value] = lambda at: at,
        step: int = 1,
    ) -> Source:
        """Return the values of a counter that starts with ``first`` and goes on by ``step`` while the test holds."""

        def each(body: Each) -> None:
            at = self.var(first.rep, "at")
            self.add(ops.Charge(bound + 1))
            self.set(at, first)
            with self.repeated("each", test(at), ops.Set(at, at + step)):
                body(self._item(value(at)))

        return Source(item, bound, each)

    def bounds(self, node: core.RangeFrom) -> tuple[ops.Value, ops.Value, ops.Value]:
        """Return the first, the last and the number of the items of a range; trap if there are too many for a list."""
        low, high = self.kept(self.value(node.first, INT)), self.kept(self.value(node.last, INT))
        count = self.kept(ops.Select(high < low, NUMBER, high - low + 1), "n")
        self.fail_if(count > MAXIMUM_ITEMS, "a range of too many numbers")
        return low, high, count

    def _clockwise(self, seat: core.Expression) -> Source:
        seats = self.shapes.seats
        origin = self.kept(self.value(seat))

        def next_seat(step: ops.Var) -> ops.Value:
            target = origin + step
            return ops.Select(target >= seats, target - seats, target)

        return self.stepped(SEAT, ops.Constant(seats - 1), ONE, lambda step: step < seats, next_seat)

    def _run(self, attribute: str, of: core.Expression, length: int, item: Type, stops: bool) -> Source:
        """Count through constants that follow each other, such as the places of a node. A few that are searched again
        and again need no loop. Elsewhere `memoise` would take code without a loop for cheap."""
        firsts = [row[0] for row in self.constants.statics[attribute]]
        table = self.memory.table(f"first of {attribute}", firsts, item)
        first = self.kept(ops.read(self.value(of) * WORD, table, self.shapes.rep(item)), "first")

        def each(body: Each) -> None:
            self.is_unrolling = True
            for number in range(length):
                body(self._item(first + number))
            self.is_unrolling = False

        if stops and length <= MOST_UNROLLED and self.loops and not self.is_unrolling:
            return Source(item, ops.Constant(length), each)
        return self.stepped(item, ops.Constant(length), first, lambda at: at < self.kept(first + length, "end"))

    def _cards_of(self, piles: Source) -> Source:
        card = CardType()
        count = ops.Constant(len(self.model.cards))
        return Source(card, count, lambda body: piles.each(lambda pile: self.items_of(pile, card).each(body)))

    def _filtered(self, node: core.Select, stops: bool) -> Source:
        source, item_type = self.source(node.items, stops=stops), self.shapes.item(node.type)
        locals_ = self.locals

        def each(body: Each) -> None:
            def pass_on(item: ops.Var) -> None:
                outer = self.locals
                with self.scoped(locals_):
                    locals_[node.variable] = item
                    with self.passing(node.test):
                        value = self.value(node.value, item_type) if node.value is not None else None
                        with self.scoped(outer):
                            body(item if value is None else self._item(value))

            with self._flagging(node, locals_):
                source.each(pass_on)

        return Source(item_type, source.bound, each)

    @contextmanager
    def _flagging(self, node: core.Select, locals_: dict[int, ops.Var | Slot]) -> Iterator[None]:
        """If a filter has many items, flag the members of each list before it that its test looks through."""
        before = self.flags
        if isinstance(node.items, core.Const) and len(node.items.value) >= MANY:
            lists = [test.items for test in descendants(node.test) if isinstance(test, core.MemberOf)]
            for index, type_ in {items.index: items.type for items in lists if isinstance(items, core.Local)}.items():
                found, of = locals_.get(index), self.shapes.item(type_)
                if isinstance(found, ops.Var) and not of.optional and (size := self.shapes.count(of)):
                    self.flags = {**self.flags, found: self.kept(self.call("flags", found, ops.Constant(size)))}
        yield
        self.flags = before

    # --- consumers

    @contextmanager
    def passing(
        self, *tests: core.Expression | None, locals_: dict[int, ops.Var | Slot] | None = None
    ) -> Iterator[None]:
        """Run the statements inside only if all tests hold; later tests are evaluated only if earlier ones hold.

        The tests may have other locals than the statements.
        """
        with ExitStack() as open_:
            for test in tests:
                if test is not None:
                    with self.scoped(self.locals if locals_ is None else locals_):
                        holds = self.value(test)
                    open_.enter_context(self.when(holds))
            yield

    def combinations(
        self, binders: Binders, tests: Tests, body: OfValues, *, stops: bool = False, values: Values = ()
    ) -> None:
        """Run the body for each combination of items that passes the tests. Binders may read the ones before them."""
        if not binders:
            with self.passing(*tests):
                body(values)
            return
        (index, items), *others = binders

        def bind(item: ops.Var) -> None:
            self.locals[index] = item
            self.combinations(others, tests, body, stops=stops, values=(*values, item))

        self.source(items, stops=stops).each(bind)

    def loop(self, node: core.Select | core.Fold | core.Search | core.Order) -> ops.Value:
        match node:
            case core.Select():
                return self.list_of(self.source(node))
            case core.Fold(operation="count"):
                return self.count(lambda body: self.each(node, body))
            case core.Fold():
                return self.any_of("any", node.items, partial(self._tested, node), expected=node.operation == "any")
            case core.Search():
                return self._search(node)
            case core.Order(operation="sorted"):
                return self._sorted(node)
            case core.Order():
                return self._best(node)
            case _:
                assert_never(node)

    def each(self, node: core.Loop, body: Each, *, stops: bool = False) -> None:
        """Run the body for each item that passes the loop's own test."""

        def tested(item: ops.Var) -> None:
            self.locals[node.variable] = item
            with self.passing(node.test):
                body(item)

        self.source(node.items, stops=stops).each(tested)

    def list_of(self, source: Source) -> ops.Value:
        with self._new_list(self.kept(source.bound), source.item) as (pointer, append):
            source.each(append)
        return pointer

    @contextmanager
    def _new_list(self, bound: ops.Value, item_type: Type) -> Iterator[tuple[ops.Var, Each]]:
        """Begin a list with room for some items. Yield its address, and what appends an item."""
        pointer = self.var("i32", "made", self.call("alloc", bound + 1))
        end = self.var("i32", "end", pointer)

        def append(item: ops.Var) -> None:
            self.set(end, end + WORD)
            self.add(ops.Store(end, 0, self.word(item, item_type.optional)))

        yield pointer, append
        self.add(ops.Store(pointer, 0, (end - pointer) >> 2))

    def total(self, source: Source) -> ops.Value:
        total = self.var("i64", "sum", NUMBER)
        source.each(lambda item: self.set(total, total + item))
        return total

    def extreme(self, source: Source, operator: str) -> ops.Value:
        """Return the smallest (``lt``) or largest (``gt``) number, or none if there are no items."""
        none = self.none(INT)
        best = self.var("i64", "best", none)

        def compare(item: ops.Var) -> None:
            with self.when(ops.either(best.equals(none), ops.Binary(operator, item, best))):
                self.set(best, item)

        source.each(compare)
        return best

    def count(self, each: Callable[[Each], None]) -> ops.Value:
        count = self.var("i64", "count", NUMBER)
        each(lambda item: self.set(count, count + 1))
        return count

    def any_of(
        self, name: str, items: core.Expression, test: Callable[[ops.Var], ops.Value], *, expected: bool = True
    ) -> ops.Value:
        """Return whether the test holds for any item; if it is not ``expected``, whether it holds for all."""
        result = self.var("i32", "any", ops.Constant(int(not expected)))
        with self.leaving(name) as label:

            def check(item: ops.Var) -> None:
                holds = test(item)
                with self.when(holds if expected else ops.negated(holds)):
                    self.set(result, ops.Constant(int(expected)))
                    self.add(ops.Break(label))

            self.source(items, stops=True).each(check)
        return result

    def _tested(self, node: core.Fold, item: ops.Var) -> ops.Value:
        self.locals[node.variable] = item
        return self.value(node.test) if node.test is not None else ONE

    def _search(self, node: core.Search) -> ops.Value:
        result = self.var(self.shapes.rep(node.type), "result", self.none(node.type))
        with self.leaving("first") as label:

            def take(item: ops.Var) -> None:
                self.set(result, item)
                if node.operation == "first":
                    self.add(ops.Break(label))

            self.each(node, take, stops=node.operation == "first")
        return result if node.or_none else self.found(result, node.type, node.operation)

    def _keys(self, node: core.Order, item: ops.Var) -> list[ops.Value]:
        if not node.keys:
            if not self.shapes.is_scalar(self.shapes.item(node.items.type)):
                raise Unsupported("items that are ordered by themselves")
            return [item]
        return [self.key(key) for key in node.keys]

    def key(self, node: core.Expression) -> ops.Value:
        if not self.shapes.is_scalar(node.type):
            raise Unsupported(f"a key that is a {node.type}")
        return self.value(node)

    def wide_key(self, node: core.Expression) -> ops.Value:
        return self.wide(self.key(node))

    def _best(self, node: core.Order) -> ops.Value:
        best = self.var(self.shapes.rep(node.type), "best", self.none(node.type))
        with self.ranked("lt" if node.operation == "min" else "gt") as (_, better):

            def compare(item: ops.Var) -> None:
                with better(self._keys(node, item)):
                    self.set(best, item)

            self.each(node, compare)
        self.locals[node.variable] = best
        return best if node.or_none else self.found(best, node.type, node.operation)

    @contextmanager
    def ranked(self, operator: str) -> Iterator[tuple[ops.Var, Better]]:
        """Search for the smallest (``lt``) or largest (``gt``) keys. Yield whether there are any so far, and what runs
        the statements inside if keys are better than the best so far."""
        some = self.var("i32", "some", ZERO)
        best: list[ops.Var] = []

        @contextmanager
        def better(values: Sequence[ops.Value]) -> Iterator[None]:
            keys = [self.kept(value, "key") for value in values]
            if not best:
                best.extend(self.var(key.rep, "kept") for key in keys)
            if len(best) != len(keys):
                raise Unsupported("keys of several lengths")
            with self.when(ops.Select(some, _precedes(keys, best, operator), ONE)):
                self.set(some, ONE)
                for key, best_key in zip(keys, best, strict=True):
                    self.set(best_key, key)
                yield

        with self.block() as search:
            yield some, better
        for best_key in best:
            self.set(best_key, ops.Constant(0, best_key.rep))
        self.body.extend(search)

    def _sorted(self, node: core.Order) -> ops.Value:
        """Build a list of the items and, beside it, their keys as 64-bit numbers; then sort both."""
        source = self.source(node.items)
        bound = self.kept(source.bound)
        width = max(1, len(node.keys))
        with self._new_list(bound, source.item) as (pointer, append):
            keys = self.var("i32", "keys", self.call("alloc", bound * (2 * width) + 2))
            self.set(keys, (keys + 7) & -8)
            at = self.var("i32", "key", keys)

            def add(item: ops.Var) -> None:
                self.locals[node.variable] = item
                with self.passing(node.test):
                    for number, key in enumerate(self._keys(node, item)):
                        self.add(ops.Store(at, 8 * number, self.wide(key)))
                    self.set(at, at + 8 * width)
                    append(item)

            source.each(add)
        return self.call("sort", pointer, keys, ops.Constant(width))


def _run_length(rows: Sequence[Value]) -> int:
    """Return the length of equally long lists if each has numbers that follow each other, 0 otherwise."""

    def length(row: Value) -> int:
        first = row[0] if isinstance(row, tuple) and row else None
        return len(row) if isinstance(first, int) and row == (*range(first, first + len(row)),) else 0

    lengths = {length(row) for row in rows}
    return lengths.pop() if len(lengths) == 1 else 0


def _precedes(keys: Sequence[ops.Value], best: Sequence[ops.Var], operator: str) -> ops.Value:
    """Return the test of whether keys precede (``lt``) or follow (``gt``) the best keys so far."""
    result: ops.Value = ZERO
    for key, best_key in reversed(list(zip(keys, best, strict=True))):
        equal = ops.both(key.equals(best_key), result) if result != ZERO else ZERO
        result = ops.either(ops.Binary(operator, key, best_key), equal)
    return result
