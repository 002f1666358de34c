"""Expressions: a checked tree becomes a value of the IR, preceded by the statements that it needs."""

from __future__ import annotations

from abc import abstractmethod
from functools import reduce
from math import prod
from typing import assert_never

from msgspec.structs import replace

from interpreter.compiler.codegen.builtin_calls import Builtins
from interpreter.compiler.codegen.function import ONE, ZERO
from interpreter.compiler.codegen.shapes import NO_NUMBER, WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import RuleLayer
from interpreter.language.types import (
    INT,
    SEAT,
    BagType,
    CardType,
    CollectionType,
    ListType,
    NeverType,
    NoneType,
    TextType,
    Type,
    item_type,
)
from interpreter.language.walk import descendants

__all__ = ["Expressions"]

HOLE = NO_NUMBER + 1
"""Content of a table where it has no cell."""
MOST_CELLS = 100_000
COMPARISONS = {"==": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "div": "div", "mod": "mod"}


class Expressions(Builtins):
    """Builds expressions."""

    @abstractmethod
    def function(self, target: str) -> str:
        """Return the name of a function or verdict of the ruleset."""

    @abstractmethod
    def membership(self, target: str) -> str | None:
        """Return the name of the function that returns whether its last argument is an item of the list that a function
        of the ruleset returns; None if it takes a loop to list the items."""

    def value(self, node: core.Expression, expected: Type | None = None) -> ops.Value:
        before, self.span = self.span, node.span
        value = self._value(node, expected or node.type)
        self.span = before
        if expected is not None and value.rep != self.shapes.rep(expected):
            if isinstance(node.type, NeverType):  # its list is empty, so the value is never used
                self.kept(value)
                return ops.Constant(0, self.shapes.rep(expected))
            raise Unsupported(f"a {node.type} where a {expected} is expected")
        return value

    def _value(self, node: core.Expression, expected: Type) -> ops.Value:
        shapes, constants = self.shapes, self.constants
        match node:
            case core.Const(value):
                type_ = expected if value is None or isinstance(node.type, NoneType | NeverType) else node.type
                return self.constant(value, type_)
            case core.Local(index):
                return self.read_local(index, node.type)
            case core.PlayerCount():
                return ops.Constant(constants.counting, "i64")
            case core.AllSeats():
                return self.constant(constants.seats, node.type)
            case core.RoleSeat(role):
                return ops.Constant(constants.role_seats[role])
            case core.SettingValue(name):
                return self.constant(constants.settings[name], node.type)
            case core.Cell(group, owner):
                base = self.memory.groups[group].base
                return self.value(owner) + base if owner is not None else ops.Constant(base)
            case core.Read(cell):
                return self.read(cell, node.type)
            case core.Static(attribute, of):
                values, place = constants.statics[attribute], self.value(of)
                if isinstance(place, ops.Constant):
                    return self.constant(values[place.value], node.type)
                table = self.memory.table(attribute, values, node.type)
                return ops.read(place * WORD, table, shapes.rep(node.type))
            case core.FieldOf(of, number):
                return ops.read(self.value(of), number * WORD, shapes.rep(node.type))
            case core.Element(of, index):
                items, at = self.kept(self.value(of)), self.kept(self.value(index))
                self.fail_if(ops.Binary("ge_u", at, ops.ToNumber(ops.Load(items))), "no such item")
                return ops.read(items + ops.ToIndex(at) * WORD, WORD, shapes.rep(node.type))
            case core.BagItem(of, kind):
                bag, member = self.value(of), self.value(kind)
                if isinstance(member, ops.Constant):
                    return ops.read(bag, member.value * WORD, "i64")
                return ops.read(bag + member * WORD, 0, "i64")
            case core.TableCell():
                return self._table(node)
            case core.CallRule() | core.CallBase():
                return self._rule(node)
            case core.CallBuiltin():
                return self.builtin(node)
            case core.MakeRecord(fields):
                return self.allocated(self.words(fields, shapes.fields(node.type)))
            case core.MakeList(items):
                return self.listed(self.words(items, (shapes.item(node.type),) * len(items)))
            case core.AmountOf(number, kind, size):
                return self.call("bag_single", self.value(number), self.value(kind), ops.Constant(size))
            case core.RangeFrom():
                return self.list_of(self.source(node))
            case core.Arithmetic():
                return self._arithmetic(node)
            case core.Comparison():
                return self._comparison(node)
            case core.Logic("and", left, right):
                return self.either(self.value(left), lambda: self.value(right), lambda: ZERO)
            case core.Logic(_, left, right):
                return self.either(self.value(left), lambda: ONE, lambda: self.value(right))
            case core.Negation(inner):
                return ops.negated(self.value(inner))
            case core.Negate(inner):
                if isinstance(inner.type, BagType):
                    bag = self.kept(self.value(inner))
                    return self.call("bag_sum", bag, bag, ops.Constant(-2, "i64"), self.width(inner.type))
                return -self.value(inner)
            case core.Condition(then, test, otherwise):
                return self.either(
                    self.value(test), lambda: self.value(then, expected), lambda: self.value(otherwise, expected)
                )
            case core.Default(value, default):
                kept = self.kept(self.value(value, value.type if not isinstance(value.type, NoneType) else expected))
                return self.either(self.is_none(kept, expected), lambda: self.value(default, expected), lambda: kept)
            case core.MemberOf():
                is_member = self._is_among(node)
                return ops.negated(is_member) if node.negated else is_member
            case core.KindTest():
                return self._kind_test(node)
            case core.Select() | core.Fold() | core.Search() | core.Order():
                return self.loop(node)
            case core.Noted():
                raise Unsupported("a watched rule")
            case _:
                assert_never(node)

    def constant(self, value: Value, type_: Type) -> ops.Value:
        constant = self.memory.constant(value, type_)
        if self.shapes.is_scalar(type_):
            return ops.Constant(constant, self.shapes.rep(type_))
        return ops.Constant(constant, about=str(type_)) if value is not None else ZERO

    # --- printed data

    def _table(self, node: core.TableCell) -> ops.Value:
        """Build the lookup in a printed table, which is stored as a row of words in mixed-radix order of its keys."""
        table = self.model.tables[node.table]
        if not table.cells:
            raise Unsupported("a table without cells")
        ranges = [range(min(column), max(column) + 1) for column in zip(*table.cells, strict=True)]
        if prod(map(len, ranges)) > MOST_CELLS:
            raise Unsupported(f"the table {node.table}")
        position: ops.Value = ZERO
        for key, keys in zip(node.keys, ranges, strict=True):
            position = position * len(keys) + self._place_in(keys, key)
        words = [HOLE] * prod(map(len, ranges))
        for cell, value in table.cells.items():
            number = 0
            for part, keys in zip(cell, ranges, strict=True):
                number = number * len(keys) + part - keys.start
            words[number] = self.memory.constant(value, table.gives)
        found: ops.Value = ops.read(position * WORD, self.memory.words(words), self.shapes.rep(table.gives))
        if HOLE in words:
            found = self.kept(found)
            self.fail_if(found.equals(HOLE), "no such cell")
        return found

    def _place_in(self, keys: range, key: core.Expression) -> ops.Value:
        value = self.value(key)
        if isinstance(value, ops.Constant):
            if value.value not in keys:
                self.fail("no such cell")
            return ops.Constant(value.value - keys.start)
        place = self.kept(value - keys.start)
        if not (value.rep == "i32" and keys == self.shapes.values(key.type)):
            self.fail_if(ops.Binary("ge_u", place, ops.Constant(len(keys), place.rep)), "no such cell")
        return ops.ToIndex(place) if place.rep == "i64" else place

    # --- calls

    def _rule(self, node: core.CallRule | core.CallBase) -> ops.Value:
        """Build a call of a function. ``Steps`` builds calls of procedures that cannot suspend."""
        target = self.program.target(node)
        layer = self.program.reach.procedures[target]
        if layer.form == "does":
            raise Unsupported("a procedure inside an expression")
        return ops.Call(self.function(target), self._arguments(node, layer), self.shapes.rep(layer.result))

    def _arguments(self, node: core.CallRule | core.CallBase, layer: RuleLayer) -> tuple[ops.Value, ...]:
        pairs = zip(node.arguments, layer.parameter_types, strict=True)
        return tuple(self.capped(self.value(argument, type_)) for argument, type_ in pairs)

    def memo(self, target: str) -> ops.Memo | None:
        """Return the layout of a memo table for a function, or None if it cannot have one."""
        shapes, layer = self.shapes, self.program.reach.procedures[target]
        result, keys = layer.result, self.keys(layer.parameter_types)
        if keys is None or not shapes.is_flat(result):
            return None
        reads = self.module.reader.reads_of(target)
        if shapes.is_scalar(result):
            return ops.Memo(keys, reads)
        return ops.Memo(keys, reads, shapes.words(result.sure), shapes.is_listed(result))

    def is_remembered(self, target: str) -> bool:
        """Return whether to memoise a function that returns a list, instead of fusing it into the loop of its caller.
        It pays if each item needs a loop, or if the list is sorted."""
        memo = self.memo(target)
        if memo is None or not memo.listed or not all(key.extent for key in memo.keys):
            return False
        nodes = descendants(self.program.reach.procedures[target].body)
        return sum(isinstance(node, core.Loop | core.CallRule | core.CallBase) for node in nodes) > 1

    # --- operators

    def _arithmetic(self, node: core.Arithmetic) -> ops.Value:
        if isinstance(node.type, BagType):
            width = self.width(node.type)
            if isinstance(node.right, core.AmountOf):
                bag, number, kind = map(self.value, (node.left, node.right.number, node.right.kind))
                return self.call("bag_with", bag, number if node.operator == "+" else -number, kind, width)
            times = ops.Constant(1 if node.operator == "+" else -1, "i64")
            return self.call("bag_sum", self.value(node.left), self.value(node.right), times, width)
        if isinstance(node.type, CollectionType):
            return self.call("concat", self.value(node.left), self.value(node.right))
        return ops.Binary(ARITHMETIC[node.operator], self.value(node.left, INT), self.value(node.right, INT))

    def _comparison(self, node: core.Comparison) -> ops.Value:
        if node.operator == "!=":
            return ops.negated(self._comparison(replace(node, operator="==")))
        operator, left, right = COMPARISONS[node.operator], node.left, node.right
        if isinstance(left.type, NoneType) or isinstance(right.type, NoneType):
            side = right if isinstance(left.type, NoneType) else left
            return ONE if isinstance(side.type, NoneType) else self.is_none(self.value(side), side.type)
        type_ = left.type if not isinstance(left.type, NeverType) else right.type
        if self.shapes.is_scalar(type_):
            if isinstance(type_, TextType) and operator != "eq":
                raise Unsupported("texts in order")
            first, second = self.value(left), self.value(right)
            if first.rep != second.rep:
                first, second = self.wide(first), self.wide(second)
            return ops.Binary(operator, first, second)
        if operator != "eq":
            raise Unsupported(f"the order of {type_}")
        match right:
            case core.MakeList(()) | core.Const(()) if not left.type.optional:
                return ops.Load(self.value(left)).equals(0)
            case _:
                return self.same(self.kept(self.value(left)), self.kept(self.value(right)), type_, right.type)

    def _is_among(self, node: core.MemberOf) -> ops.Value:
        item, items = node.item, node.items
        is_none = isinstance(item.type, NoneType)
        if isinstance(items, core.AllSeats):
            seat = self.kept(self.value(item, SEAT.maybe if is_none else item.type))
            return ops.negated(self.is_none(seat, SEAT)) if item.type.maybe == item.type else ONE
        if isinstance(item_type(items.type), NeverType):
            self.kept(self.value(item))
            self.kept(self.value(items))
            return ZERO
        type_ = self.shapes.item(items.type).maybe if is_none else item.type
        return self.is_item(self.kept(self.value(item, type_)), type_, items)

    def is_item(self, item: ops.Value, item_type: Type, items: core.Expression) -> ops.Value:
        type_ = self.shapes.item(items.type)
        match items:
            case core.RangeFrom(first, last):
                low, high = self.kept(self.value(first)), self.kept(self.value(last))
                return ops.both(item >= low, item <= high)
            case core.MakeList(members) if self.shapes.is_scalar(type_):
                values = [self.kept(self.value(member, type_)) for member in members]
                return reduce(ops.either, [self.same(item, value, item_type, type_) for value in values] or [ZERO])
            case core.CallRule() | core.CallBase() if item_type == type_:
                target = self.program.target(items)
                if (name := self.membership(target)) is not None:
                    layer = self.program.reach.procedures[target]
                    return ops.Call(name, (*self._arguments(items, layer), item))
        if self.shapes.is_scalar(type_):
            row = self._flags(items, type_, item_type)
            if row is not None:
                return ops.Load(row + item * WORD, WORD)
            if not isinstance(items, core.Loop):
                return self.call("contains", self.value(items), self.word(item, True))
        return self.any_of("member", items, lambda member: self.same(item, member, item_type, type_))

    def _flags(self, items: core.Expression, of: Type, item_type: Type) -> ops.Value | None:
        """Return a row that flags the members of a list, or None.

        The list must be the result of a memoised function, a cell of the whole game, or flagged before a loop.
        """
        size = self.shapes.count(of)
        if not size or of.optional or item_type.optional:
            return None
        match items:
            case core.CallRule() if self.is_remembered(self.program.target(items)):
                pass
            case core.Read(core.Cell(_, None) as cell) if isinstance(cell.type, ListType):
                pass
            case core.Local(index) if isinstance(found := self.locals[index], ops.Var):
                return self.flags.get(found)
            case _:
                return None
        return self.row("items", (items,), size, lambda b: b.call("flags", b.value(items), ops.Constant(size)))

    def _kind_test(self, node: core.KindTest) -> ops.Value:
        value = self.kept(self.value(node.value))
        if isinstance(node.value.type, CardType):
            kinds = sorted(set(self.constants.card_kind))
            test: ops.Value = ZERO
            if node.kind in kinds:
                table = self.memory.words([kinds.index(kind) for kind in self.constants.card_kind])
                test = ops.Load(value * WORD, table).equals(kinds.index(node.kind))
        else:
            pieces = self.constants.model.pieces
            test = (value % len(pieces)).equals(pieces.index(node.kind))
        if node.value.type.optional:
            test = ops.Select(self.is_none(value, node.value.type), ZERO, test)
        return ops.negated(test) if node.negated else test
