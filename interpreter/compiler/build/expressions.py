"""Expressions: a checked tree becomes a value of the IR, preceded by the statements that it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from interpreter.compiler.build.builtin_calls import Builtins
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.loops import Loops
from interpreter.compiler.build.shapes import NO_NUMBER, WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import (
    INT,
    SEAT,
    BagType,
    CardHolderType,
    CardType,
    CollectionType,
    ListType,
    NeverType,
    NoneType,
    StockType,
    TextType,
    TokenHolderType,
    Type,
    item_type,
)

__all__ = ["Expressions"]

HOLE = NO_NUMBER + 1
"""Content of a table where it has no cell."""
MOST_CELLS = 100_000
ALIKE = (TokenHolderType | StockType, CardHolderType)
"""Interchangeable forms of holders."""
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


class Expressions:
    """Builds the expressions of one function."""

    def __init__(self, builder: FunctionBuilder) -> None:
        self.b = builder
        self.module = builder.module
        self.shapes, self.memory = builder.shapes, builder.memory
        self.loops = Loops(self)
        self.builtins = Builtins(self)

    def value(self, node: core.Expression, expected: Type | None = None) -> ops.Value:
        """Build an expression as a register of the expected type, which determines the representation of none."""
        before, self.b.span = self.b.span, node.span
        value = self._value(node, expected or node.type)
        self.b.span = before
        if expected is not None and value.rep != self.shapes.rep(expected):
            if isinstance(node.type, NeverType):  # its list is empty, so the value is never used
                self.b.kept(value)
                return ops.Constant(0, self.shapes.rep(expected))
            raise Unsupported(f"a {node.type} where a {expected} is expected")
        return value

    def truth(self, node: core.Expression) -> ops.Value:
        return self.value(node)

    def lazily(self, make: Callable[[], ops.Value]) -> tuple[list[ops.Statement], ops.Value]:
        """Build a value and collect its statements, so that the caller can run them conditionally."""
        with self.b.block() as statements:
            value = make()
        return statements, value

    def either(self, test: ops.Value, then: Callable[[], ops.Value], otherwise: Callable[[], ops.Value]) -> ops.Value:
        """Build one of two values; the other is not evaluated."""
        b = self.b
        if isinstance(test, ops.Constant):
            return then() if test.value else otherwise()
        then_body, then_value = self.lazily(then)
        otherwise_body, otherwise_value = self.lazily(otherwise)
        if not then_body and not otherwise_body:
            return ops.Select(test, then_value, otherwise_value)
        var = b.var(then_value.rep)
        b.add(ops.If(test, (*then_body, ops.Set(var, then_value)), (*otherwise_body, ops.Set(var, otherwise_value))))
        return var

    def _value(self, node: core.Expression, expected: Type) -> ops.Value:
        b, shapes, constants = self.b, self.shapes, self.module.constants
        match node:
            case core.Const(value):
                type_ = expected if value is None or isinstance(node.type, NoneType | NeverType) else node.type
                return self._constant(value, type_)
            case core.Local(index):
                return b.read_local(index, node.type)
            case core.PlayerCount():
                return ops.Constant(constants.counting, "i64")
            case core.AllSeats():
                return self._constant(constants.seats, node.type)
            case core.RoleSeat(role):
                return ops.Constant(constants.role_seats[role])
            case core.SettingValue(name):
                return self._constant(constants.settings[name], node.type)
            case core.Cell(group, owner):
                base = self.memory.groups[group].base
                return self.value(owner) + base if owner is not None else ops.Constant(base)
            case core.Read(cell):
                return self.read(cell, node.type)
            case core.Static(attribute, of):
                return self._static(attribute, of, node.type)
            case core.FieldOf(of, number):
                return ops.Load(self.value(of), number * WORD, shapes.rep(node.type))
            case core.Element(of, index):
                return self._element(node, of, index)
            case core.BagItem(of, kind):
                bag, member = self.value(of), self.value(kind)
                if isinstance(member, ops.Constant):
                    return ops.Load(bag, member.value * WORD, "i64")
                return ops.Load(bag + member * WORD, 0, "i64")
            case core.TableCell():
                return self._table(node)
            case core.CallRule() | core.CallBase():
                return self.call(node)
            case core.Builtin():
                return self.builtins.value(node)
            case core.MakeRecord(fields):
                return self._made(fields, shapes.fields(node.type), listed=False)
            case core.MakeList(items):
                item = shapes.item(node.type)
                return self._made(items, (item,) * len(items), listed=True)
            case core.AmountOf(number, kind, size):
                return b.call("bag_single", self.value(number), self.value(kind), ops.Constant(size))
            case core.RangeFrom():
                return self.loops.made(self.loops.source(node))
            case core.Arithmetic():
                return self._arithmetic(node)
            case core.Comparison():
                return self._comparison(node)
            case core.Logic(operator, left, right):
                first = self.value(left)
                if operator == "and":
                    return self.either(first, lambda: self.value(right), lambda: ZERO)
                return self.either(first, lambda: ONE, lambda: self.value(right))
            case core.Negation(inner):
                return ops.Not(self.value(inner))
            case core.Negate(inner):
                if isinstance(inner.type, BagType):
                    width = ops.Constant(shapes.width(inner.type))
                    return b.call("bag_negate", self.value(inner), width)
                return -self.value(inner)
            case core.Condition(then, test, otherwise):
                return self.either(
                    self.value(test), lambda: self.value(then, expected), lambda: self.value(otherwise, expected)
                )
            case core.Default(value, default):
                kept = b.kept(self.value(value, value.type if not isinstance(value.type, NoneType) else expected))
                return self.either(b.is_none(kept, expected), lambda: self.value(default, expected), lambda: kept)
            case core.MemberOf():
                return self._member(node)
            case core.KindTest():
                return self._kind_test(node)
            case core.Select() | core.Fold() | core.Search() | core.Order():
                return self.loops.loop(node)
            case core.Noted():
                raise Unsupported("a watched rule")
            case _:
                assert_never(node)

    def _constant(self, value: object, type_: Type) -> ops.Value:
        constant = self.memory.constant(value, type_)
        if self.shapes.is_scalar(type_):
            return ops.Constant(constant, self.shapes.rep(type_))
        return ops.Data(constant, str(type_)) if value is not None else ZERO

    # --- cells

    def holder(self, node: core.Expression) -> tuple[ops.Value, int, ops.CellGroup | None]:
        """Return the address and offset of a holder, and its group if known."""
        if isinstance(node, core.Cell):
            group = self.memory.groups[node.group]
            if node.owner is None:
                return ZERO, group.address, group
            owner = self.value(node.owner)
            if isinstance(owner, ops.Constant):
                return ZERO, group.address + owner.value * group.stride, group
            return owner * group.stride, group.address, group
        number = self.value(node)
        return ops.Load(number * WORD, self.module.addresses), 0, None

    def read(self, cell: core.Expression, type_: Type) -> ops.Value:
        """Build the value of a cell."""
        address, offset, group = self.holder(cell)
        kept = group.type if group is not None else type_
        if self.shapes.is_scalar(kept):
            kept = type_ if self.shapes.rep(type_) == self.shapes.rep(kept) else kept
        value = self.b.load(address, offset, kept, group.name if group is not None else self.groups_of(cell.type))
        return ops.ToIndex(value) if (value.rep, self.shapes.rep(type_)) == ("i64", "i32") else value  # a phase

    def groups_of(self, holder: Type) -> str:
        """Return the groups that can contain a holder, joined by ``|``, if only its type is known."""
        alike = next((forms for forms in ALIKE if isinstance(holder, forms)), type(holder))
        groups = self.module.constants.model.groups.values()
        return "|".join(group.name for group in groups if isinstance(group.type, alike)) or "?"

    # --- printed data

    def _static(self, attribute: str, of: core.Expression, type_: Type) -> ops.Value:
        values = self.module.constants.statics[attribute]
        index = self.value(of)
        if isinstance(index, ops.Constant):
            return self._constant(values[index.value], type_)
        table = self.memory.table(attribute, values, type_)
        return ops.Load(index * WORD, table, self.shapes.rep(type_))

    def _table(self, node: core.TableCell) -> ops.Value:
        """Build the lookup in a printed table, which is stored as a row of words in mixed-radix order of its keys."""
        b, shapes = self.b, self.shapes
        table = self.module.constants.model.tables[node.table]
        if not table.cells:
            raise Unsupported("a table without cells")
        columns = list(zip(*table.cells, strict=True))
        spans = [(min(column), max(column) + 1 - min(column)) for column in columns]
        size = 1
        for _, extent in spans:
            size *= extent
        if size > MOST_CELLS:
            raise Unsupported(f"the table {node.table}")
        position: ops.Value = ZERO
        for key, (least, extent) in zip(node.keys, spans, strict=True):
            value = self.value(key)
            if isinstance(value, ops.Constant):
                if not 0 <= value.value - least < extent:
                    b.fail("no such cell")
                place: ops.Value = ops.Constant(value.value - least)
            else:
                place = b.kept(value - least)
                if not (value.rep == "i32" and least == 0 and extent == shapes.domain(key.type)):
                    end = ops.Constant(extent, place.rep)
                    low = place < 0
                    b.fail_if(ops.either(low, place >= end), "no such cell")
                place = ops.ToIndex(place) if place.rep == "i64" else place
            scaled = position * extent
            if isinstance(scaled, ops.Constant) and isinstance(place, ops.Constant):
                position = ops.Constant(scaled.value + place.value)
            elif scaled == ZERO:
                position = place
            else:
                position = scaled + place
        address, is_full = self._cells(node.table, spans, size)
        cell: ops.Value = ops.Load(position * WORD, address, shapes.rep(table.gives))
        if not is_full:
            cell = b.kept(cell)
            b.fail_if(cell.equals(HOLE), "no such cell")
        return cell

    def _cells(self, name: str, spans: list[tuple[int, int]], size: int) -> tuple[int, bool]:
        table = self.module.constants.model.tables[name]
        words = [HOLE] * size
        for key, value in table.cells.items():
            place = 0
            for part, (least, extent) in zip(key, spans, strict=True):
                place = place * extent + part - least
            words[place] = self.memory.constant(value, table.gives)
        return self.memory.words(words), HOLE not in words

    # --- constructors

    def _made(self, nodes: tuple[core.Expression, ...], types: tuple[Type, ...], *, listed: bool) -> ops.Value:
        b = self.b
        parts = [b.word(self.value(node, type_), type_.optional) for node, type_ in zip(nodes, types, strict=True)]
        parts = [b.kept(part) for part in parts]
        pointer = b.var("i32", "made")
        b.set(pointer, ops.Allocate(ops.Constant(max(1, len(parts) + listed))))
        if listed:
            b.add(ops.Store(pointer, 0, ops.Constant(len(parts))))
        for number, part in enumerate(parts, start=listed):
            b.add(ops.Store(pointer, number * WORD, part))
        return pointer

    def _element(self, node: core.Element, of: core.Expression, index: core.Expression) -> ops.Value:
        b = self.b
        items = b.kept(self.value(of))
        at = b.kept(self.value(index))
        length = ops.ToNumber(ops.Load(items))
        b.fail_if(
            ops.either(at < 0, at >= length),
            "no such item",
        )
        place = items + ops.ToIndex(at) * WORD
        return ops.Load(place, WORD, self.shapes.rep(node.type))

    # --- calls

    def call(self, node: core.CallRule | core.CallBase) -> ops.Value:
        """Build a call of a function. :mod:`interpreter.compiler.build.steps` builds calls of procedures that cannot
        suspend."""
        program = self.module.program
        target = program.target(node)
        layer = program.reach.procedures[target]
        if layer.form == "does":
            raise Unsupported("a procedure inside an expression")
        arguments = [
            self.b.capped(self.value(argument, type_))
            for argument, (_, type_) in zip(node.arguments, layer.parameters, strict=True)
        ]
        return ops.Call(self.module.function(target), tuple(arguments), self.shapes.rep(layer.result))

    # --- operators

    def _arithmetic(self, node: core.Arithmetic) -> ops.Value:
        b = self.b
        if isinstance(node.type, BagType):
            width = ops.Constant(self.shapes.width(node.type))
            if isinstance(node.right, core.AmountOf):
                bag, number, kind = map(self.value, (node.left, node.right.number, node.right.kind))
                if node.operator == "-":
                    number = -number
                return b.call("bag_with", bag, number, kind, width)
            word = {"+": "bag_add", "-": "bag_subtract"}[node.operator]
            return b.call(word, self.value(node.left), self.value(node.right), width)
        if isinstance(node.type, CollectionType):
            return b.call("concat", self.value(node.left), self.value(node.right))
        operator = {"+": "add", "-": "sub", "*": "mul", "div": "div", "mod": "mod"}[node.operator]
        left, right = self.value(node.left, INT), self.value(node.right, INT)
        return ops.Binary(operator, left, right)

    def _comparison(self, node: core.Comparison) -> ops.Value:
        b, operator = self.b, COMPARISONS[node.operator]
        left, right = node.left, node.right
        if isinstance(left.type, NoneType) or isinstance(right.type, NoneType):
            side = right if isinstance(left.type, NoneType) else left
            if isinstance(side.type, NoneType):
                return ops.Constant(int(operator == "eq"))
            test = b.is_none(self.value(side), side.type)
            return test if operator == "eq" else ops.Not(test)
        type_ = left.type if not isinstance(left.type, NeverType) else right.type
        if self.shapes.is_scalar(type_):
            if isinstance(type_, TextType) and operator not in ("eq", "ne"):
                raise Unsupported("texts in order")
            first, second = self.value(left), self.value(right)
            if first.rep != second.rep:
                first, second = (side if side.rep == "i64" else ops.ToNumber(side) for side in (first, second))
            return ops.Compare(operator, first, second)
        if operator not in ("eq", "ne"):
            raise Unsupported(f"the order of {type_}")
        items = (
            right.items if isinstance(right, core.MakeList) else right.value if isinstance(right, core.Const) else None
        )
        if items == () and not left.type.optional:
            test = ops.Load(self.value(left)).equals(0)
        else:
            test = self.same(b.kept(self.value(left)), b.kept(self.value(right)), type_, right.type)
        return test if operator == "eq" else ops.Not(test)

    def same(self, left: ops.Value, right: ops.Value, type_: Type, other_type: Type) -> ops.Value:
        """Return whether two values in registers are equal."""
        b, shapes = self.b, self.shapes
        if shapes.is_scalar(type_):
            return left.equals(right)
        if type_.optional or other_type.optional:
            both = self.same(left, right, type_.sure, other_type.sure)
            some = ops.Select(ops.Not(left), ZERO, ops.Select(ops.Not(right), ZERO, both))
            return ops.either(left.equals(right), some)
        if shapes.is_listed(type_) and shapes.is_scalar(shapes.item(type_)):
            return b.call("equal_lists", left, right)
        if isinstance(type_, BagType) or shapes.is_flat(type_):
            return b.call("equal_words", left, right, ops.Constant(shapes.words(type_.sure)))
        return ops.Call(self.module.values.equality(type_), (left, right))

    def _member(self, node: core.MemberOf) -> ops.Value:
        is_member = self._is_among(node)
        return ops.Not(is_member) if node.negated else is_member

    def _is_among(self, node: core.MemberOf) -> ops.Value:
        items = node.items
        if isinstance(items, core.AllSeats):
            seat = self.b.kept(
                self.value(node.item, node.item.type if not isinstance(node.item.type, NoneType) else SEAT.maybe)
            )
            return ops.Not(self.b.is_none(seat, SEAT)) if node.item.type.maybe == node.item.type else ONE
        if isinstance(item_type(items.type), NeverType):
            self.b.kept(self.value(node.item))
            self.b.kept(self.value(items))
            return ZERO
        type_ = node.item.type if not isinstance(node.item.type, NoneType) else self.shapes.item(items.type).maybe
        return self.is_item(self.b.kept(self.value(node.item, type_)), type_, items)

    def is_item(self, item: ops.Value, item_type: Type, items: core.Expression) -> ops.Value:
        """Return whether a value is in a list."""
        b = self.b
        type_ = self.shapes.item(items.type)
        if isinstance(items, core.RangeFrom):
            low, high = b.kept(self.value(items.first)), b.kept(self.value(items.last))
            return ops.both(item >= low, item <= high)
        if self.shapes.is_scalar(type_):
            row = self._flags(items, type_, item_type)
            if row is not None:
                return ops.Load(row + item * WORD, WORD)
            if not isinstance(items, core.Loop):
                return b.call("contains", self.value(items), b.word(item, True))
        found, label = b.var("i32", "any"), b.label("member")
        b.set(found, ZERO)
        with b.block() as inner:

            def check(member: ops.Var) -> None:
                test = self.same(item, member, item_type, type_)
                b.add(ops.If(test, (ops.Set(found, ONE), ops.Break(label))))

            self.loops.source(items, stops=True).each(check)
        b.add(ops.Block(label, tuple(inner)))
        return found

    def _flags(self, items: core.Expression, of: Type, item_type: Type) -> ops.Value | None:
        """Return a row that flags the members of a list, or None.

        The list must be the result of a memoised function, or a cell of the whole game.
        """
        size = self.shapes.domain(of)
        if not size or of.optional or item_type.optional:
            return None
        match items:
            case core.CallRule() if self.module.is_remembered(self.module.program.target(items)):
                pass
            case core.Read(core.Cell(_, None) as cell) if isinstance(cell.type, ListType):
                pass
            case _:
                return None

        def build(x: Expressions) -> ops.Value:
            return x.b.call("flags", x.value(items), ops.Constant(size))

        return self.module.rows.row(self, "items", (items,), size, build)

    def _kind_test(self, node: core.KindTest) -> ops.Value:
        b, constants = self.b, self.module.constants
        value = b.kept(self.value(node.value))
        if isinstance(node.value.type, CardType):
            kinds = sorted(set(constants.card_kind))
            if node.kind not in kinds:
                test: ops.Value = ZERO
            else:
                table = self.memory.words([kinds.index(kind) for kind in constants.card_kind])
                test = ops.Load(value * WORD, table).equals(kinds.index(node.kind))
        else:
            pieces = constants.pieces
            part = value % len(pieces)
            test = part.equals(pieces.index(node.kind))
        if node.value.type.optional:
            test = ops.Select(b.is_none(value, node.value.type), ZERO, test)
        return ops.Not(test) if node.negated else test
