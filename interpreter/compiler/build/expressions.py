"""Expressions: a checked tree becomes a value of the IR, with the statements that it needs before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from interpreter.compiler.build.builtin_calls import Builtins
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.loops import Loops
from interpreter.compiler.build.memory import CellGroup
from interpreter.compiler.build.shapes import NO_NUMBER, WORD, Unsupported
from interpreter.compiler.ir import ops as o
from interpreter.language import core as c
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
"""What a table holds where it has no cell."""
MOST_CELLS = 100_000
ALIKE = (TokenHolderType | StockType, CardHolderType)
"""Forms of holders that can stand for each other."""
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


class Expressions:
    """Builds the expressions of one function."""

    def __init__(self, builder: FunctionBuilder) -> None:
        self.b = builder
        self.module = builder.module
        self.shapes, self.memory = builder.shapes, builder.memory
        self.loops = Loops(self)
        self.builtins = Builtins(self)

    def value(self, node: c.Expression, wanted: Type | None = None) -> o.Value:
        """The value, as a register of the wanted type holds it: it says what none is."""
        before, self.b.span = self.b.span, node.span
        found = self._value(node, wanted or node.type)
        self.b.span = before
        if wanted is not None and found.rep != self.shapes.rep(wanted):
            if isinstance(node.type, NeverType):  # there is none: nothing is worked out with it
                self.b.kept(found)
                return o.Constant(0, self.shapes.rep(wanted))
            raise Unsupported(f"a {node.type} where a {wanted} is wanted")
        return found

    def truth(self, node: c.Expression) -> o.Value:
        return self.value(node)

    def lazily(self, make: Callable[[], o.Value]) -> tuple[list[o.Statement], o.Value]:
        """A value with its statements apart: whoever needs it runs them."""
        with self.b.block() as statements:
            found = make()
        return statements, found

    def either(self, test: o.Value, then: Callable[[], o.Value], otherwise: Callable[[], o.Value]) -> o.Value:
        """One of two values; of the other nothing is worked out."""
        b = self.b
        if isinstance(test, o.Constant):
            return then() if test.value else otherwise()
        yes, one = self.lazily(then)
        no, other = self.lazily(otherwise)
        if not yes and not no:
            return o.Select(test, one, other, span=b.span)
        var = b.var(one.rep)
        b.add(o.If(test, (*yes, o.Set(var, one)), (*no, o.Set(var, other)), span=b.span))
        return o.Get(var)

    def _value(self, node: c.Expression, wanted: Type) -> o.Value:
        b, shapes, constants = self.b, self.shapes, self.module.constants
        match node:
            case c.Const(value):
                type_ = wanted if value is None or isinstance(node.type, NoneType | NeverType) else node.type
                return self._constant(value, type_)
            case c.Local(index):
                return b.read_local(index, node.type)
            case c.PlayerCount():
                return o.Constant(constants.counting, "i64")
            case c.AllSeats():
                return self._constant(constants.seats, node.type)
            case c.RoleSeat(role):
                return o.Constant(constants.role_seats[role])
            case c.SettingValue(name):
                return self._constant(constants.settings[name], node.type)
            case c.Cell(group, owner):
                base = self.memory.groups[group].base
                return b.plus(self.value(owner), base) if owner is not None else o.Constant(base)
            case c.Read(cell):
                return self.read(cell, node.type)
            case c.Static(attribute, of):
                return self._static(attribute, of, node.type)
            case c.FieldOf(of, number):
                return o.Load(self.value(of), number * WORD, shapes.rep(node.type), span=b.span)
            case c.Element(of, index):
                return self._element(node, of, index)
            case c.BagItem(of, kind):
                bag, member = self.value(of), self.value(kind)
                if isinstance(member, o.Constant):
                    return o.Load(bag, member.value * WORD, "i64", span=b.span)
                return o.Load(o.Binary("add", bag, b.times(member, WORD)), 0, "i64", span=b.span)
            case c.TableCell():
                return self._table(node)
            case c.CallRule() | c.CallBase():
                return self.call(node)
            case c.Builtin():
                return self.builtins.value(node)
            case c.MakeRecord(fields):
                return self._made(fields, shapes.fields(node.type), listed=False)
            case c.MakeList(items):
                item = shapes.item(node.type)
                return self._made(items, (item,) * len(items), listed=True)
            case c.AmountOf(number, kind, size):
                return b.call("bag_single", self.value(number), self.value(kind), o.Constant(size))
            case c.RangeFrom():
                return self.loops.made(self.loops.source(node))
            case c.Arithmetic():
                return self._arithmetic(node)
            case c.Comparison():
                return self._comparison(node)
            case c.Logic(operator, left, right):
                first = self.value(left)
                if operator == "and":
                    return self.either(first, lambda: self.value(right), lambda: ZERO)
                return self.either(first, lambda: ONE, lambda: self.value(right))
            case c.Negation(inner):
                return o.Not(self.value(inner), span=b.span)
            case c.Negate(inner):
                if isinstance(inner.type, BagType):
                    width = o.Constant(shapes.width(inner.type))
                    return b.call("bag_negate", self.value(inner), width)
                return o.Binary("sub", o.Constant(0, "i64"), self.value(inner), span=b.span)
            case c.Condition(then, test, otherwise):
                return self.either(
                    self.value(test), lambda: self.value(then, wanted), lambda: self.value(otherwise, wanted)
                )
            case c.Default(value, default):
                kept = b.kept(self.value(value, value.type if not isinstance(value.type, NoneType) else wanted))
                return self.either(b.is_none(kept, wanted), lambda: self.value(default, wanted), lambda: kept)
            case c.MemberOf():
                return self._member(node)
            case c.KindTest():
                return self._kind_test(node)
            case c.Select() | c.Fold() | c.Search() | c.Order():
                return self.loops.loop(node)
            case c.Noted():
                raise Unsupported("a watched rule")
            case _:
                assert_never(node)

    def _constant(self, value: object, type_: Type) -> o.Value:
        found = self.memory.constant(value, type_)
        if self.shapes.is_scalar(type_):
            return o.Constant(found, self.shapes.rep(type_))
        return o.Data(found, str(type_)) if value is not None else ZERO

    # --- cells

    def holder(self, node: c.Expression) -> tuple[o.Value, int, CellGroup | None]:
        """Return the address and offset of a holder, and its group if known."""
        b = self.b
        if isinstance(node, c.Cell):
            group = self.memory.groups[node.group]
            if node.owner is None:
                return ZERO, group.address, group
            owner = self.value(node.owner)
            if isinstance(owner, o.Constant):
                return ZERO, group.address + owner.value * group.stride, group
            return b.times(owner, group.stride), group.address, group
        number = self.value(node)
        return o.Load(b.times(number, WORD), self.module.addresses, span=b.span), 0, None

    def read(self, cell: c.Expression, type_: Type) -> o.Value:
        """Build the value of a cell."""
        address, offset, group = self.holder(cell)
        kept = group.type if group is not None else type_
        if self.shapes.is_scalar(kept):
            kept = type_ if self.shapes.rep(type_) == self.shapes.rep(kept) else kept
        value = self.b.load(address, offset, kept, group.name if group is not None else self.groups_of(cell.type))
        return o.ToIndex(value) if (value.rep, self.shapes.rep(type_)) == ("i64", "i32") else value  # as the phase

    def groups_of(self, holder: Type) -> str:
        """The groups that a holder can be in of which no more is known than its type, with ``|`` between them."""
        alike = next((forms for forms in ALIKE if isinstance(holder, forms)), type(holder))
        groups = self.module.constants.model.groups.values()
        return "|".join(group.name for group in groups if isinstance(group.type, alike)) or "?"

    # --- printed data

    def _static(self, attribute: str, of: c.Expression, type_: Type) -> o.Value:
        b = self.b
        values = self.module.constants.statics[attribute]
        index = self.value(of)
        if isinstance(index, o.Constant):
            return self._constant(values[index.value], type_)
        table = self.memory.table(attribute, values, type_)
        return o.Load(b.times(index, WORD), table, self.shapes.rep(type_), span=b.span)

    def _table(self, node: c.TableCell) -> o.Value:
        """A cell of a printed table: a row of words, one key after another."""
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
        position: o.Value = ZERO
        for key, (least, extent) in zip(node.keys, spans, strict=True):
            value = self.value(key)
            if isinstance(value, o.Constant):
                if not 0 <= value.value - least < extent:
                    b.fail("no such cell")
                place: o.Value = o.Constant(value.value - least)
            else:
                place = b.kept(b.plus(value, -least))
                if not (value.rep == "i32" and least == 0 and extent == shapes.domain(key.type)):
                    end = o.Constant(extent, place.rep)
                    low = o.Compare("lt", place, o.Constant(0, place.rep))
                    b.fail_if(o.Select(low, ONE, o.Compare("ge", place, end)), "no such cell")
                place = o.ToIndex(place) if place.rep == "i64" else place
            scaled = b.times(position, extent)
            if isinstance(scaled, o.Constant) and isinstance(place, o.Constant):
                position = o.Constant(scaled.value + place.value)
            elif scaled == ZERO:
                position = place
            else:
                position = o.Binary("add", scaled, place, span=b.span)
        address, is_full = self._cells(node.table, spans, size)
        found: o.Value = o.Load(b.times(position, WORD), address, shapes.rep(table.gives), span=b.span)
        if not is_full:
            found = b.kept(found)
            b.fail_if(o.Compare("eq", found, o.Constant(HOLE, found.rep)), "no such cell")
        return found

    def _cells(self, name: str, spans: list[tuple[int, int]], size: int) -> tuple[int, bool]:
        table = self.module.constants.model.tables[name]
        words = [HOLE] * size
        for key, value in table.cells.items():
            place = 0
            for part, (least, extent) in zip(key, spans, strict=True):
                place = place * extent + part - least
            words[place] = self.memory.constant(value, table.gives)
        return self.memory.words(words), HOLE not in words

    # --- values that are made

    def _made(self, nodes: tuple[c.Expression, ...], types: tuple[Type, ...], *, listed: bool) -> o.Value:
        b = self.b
        parts = [b.word(self.value(node, type_), type_.optional) for node, type_ in zip(nodes, types, strict=True)]
        parts = [b.kept(part) for part in parts]
        pointer = b.var("i32", "made")
        b.set(pointer, o.Allocate(o.Constant(max(1, len(parts) + listed)), span=b.span))
        if listed:
            b.add(o.Store(o.Get(pointer), 0, o.Constant(len(parts)), span=b.span))
        for number, part in enumerate(parts, start=listed):
            b.add(o.Store(o.Get(pointer), number * WORD, part, span=b.span))
        return o.Get(pointer)

    def _element(self, node: c.Element, of: c.Expression, index: c.Expression) -> o.Value:
        b = self.b
        items = b.kept(self.value(of))
        at = b.kept(self.value(index))
        length = o.ToNumber(o.Load(items))
        b.fail_if(o.Select(o.Compare("lt", at, o.Constant(0, "i64")), ONE, o.Compare("ge", at, length)), "no such item")
        place = o.Binary("add", items, b.times(o.ToIndex(at), WORD))
        return o.Load(place, WORD, self.shapes.rep(node.type), span=b.span)

    # --- calls

    def call(self, node: c.CallRule | c.CallBase) -> o.Value:
        """A call of a function; of a procedure that cannot suspend see :mod:`interpreter.compiler.build.steps`."""
        program = self.module.program
        target = program.target(node)
        layer = program.reach.procedures[target]
        if layer.form == "does":
            raise Unsupported("a procedure inside an expression")
        arguments = [
            self.b.capped(self.value(argument, type_))
            for argument, (_, type_) in zip(node.arguments, layer.parameters, strict=True)
        ]
        return o.Call(self.module.function(target), tuple(arguments), self.shapes.rep(layer.result), span=self.b.span)

    # --- operators

    def _arithmetic(self, node: c.Arithmetic) -> o.Value:
        b = self.b
        if isinstance(node.type, BagType):
            width = o.Constant(self.shapes.width(node.type))
            if isinstance(node.right, c.AmountOf):
                bag, number, kind = map(self.value, (node.left, node.right.number, node.right.kind))
                if node.operator == "-":
                    number = o.Binary("sub", o.Constant(0, "i64"), number)
                return b.call("bag_with", bag, number, kind, width)
            word = {"+": "bag_add", "-": "bag_subtract"}[node.operator]
            return b.call(word, self.value(node.left), self.value(node.right), width)
        if isinstance(node.type, CollectionType):
            return b.call("concat", self.value(node.left), self.value(node.right))
        operator = {"+": "add", "-": "sub", "*": "mul", "div": "div", "mod": "mod"}[node.operator]
        left, right = self.value(node.left, INT), self.value(node.right, INT)
        return o.Binary(operator, left, right, span=b.span)

    def _comparison(self, node: c.Comparison) -> o.Value:
        b, operator = self.b, COMPARISONS[node.operator]
        left, right = node.left, node.right
        if isinstance(left.type, NoneType) or isinstance(right.type, NoneType):
            side = right if isinstance(left.type, NoneType) else left
            if isinstance(side.type, NoneType):
                return o.Constant(int(operator == "eq"))
            test = b.is_none(self.value(side), side.type)
            return test if operator == "eq" else o.Not(test)
        type_ = left.type if not isinstance(left.type, NeverType) else right.type
        if self.shapes.is_scalar(type_):
            if isinstance(type_, TextType) and operator not in ("eq", "ne"):
                raise Unsupported("texts in order")
            one, other = self.value(left), self.value(right)
            if one.rep != other.rep:
                one, other = (each if each.rep == "i64" else o.ToNumber(each) for each in (one, other))
            return o.Compare(operator, one, other, span=b.span)
        if operator not in ("eq", "ne"):
            raise Unsupported(f"the order of {type_}")
        items = right.items if isinstance(right, c.MakeList) else right.value if isinstance(right, c.Const) else None
        if items == () and not left.type.optional:
            test = o.Compare("eq", o.Load(self.value(left)), ZERO, span=b.span)
        else:
            test = self.same(b.kept(self.value(left)), b.kept(self.value(right)), type_, right.type)
        return test if operator == "eq" else o.Not(test)

    def same(self, one: o.Value, other: o.Value, type_: Type, other_type: Type) -> o.Value:
        """Return whether two values in registers are equal."""
        b, shapes = self.b, self.shapes
        if shapes.is_scalar(type_):
            return o.Compare("eq", one, other)
        if type_.optional or other_type.optional:
            both = self.same(one, other, type_.sure, other_type.sure)
            some = o.Select(o.Not(one), ZERO, o.Select(o.Not(other), ZERO, both))
            return o.Select(o.Compare("eq", one, other), ONE, some)
        if shapes.is_listed(type_) and shapes.is_scalar(shapes.item(type_)):
            return b.call("equal_lists", one, other)
        if isinstance(type_, BagType) or shapes.is_flat(type_):
            return b.call("equal_words", one, other, o.Constant(shapes.words(type_.sure)))
        return o.Call(self.module.values.equality(type_), (one, other), span=b.span)

    def _member(self, node: c.MemberOf) -> o.Value:
        found = self._is_among(node)
        return o.Not(found, span=self.b.span) if node.negated else found

    def _is_among(self, node: c.MemberOf) -> o.Value:
        items = node.items
        if isinstance(items, c.AllSeats):
            seat = self.b.kept(
                self.value(node.item, node.item.type if not isinstance(node.item.type, NoneType) else SEAT.maybe)
            )
            return o.Not(self.b.is_none(seat, SEAT)) if node.item.type.maybe == node.item.type else ONE
        if isinstance(item_type(items.type), NeverType):
            self.b.kept(self.value(node.item))
            self.b.kept(self.value(items))
            return ZERO
        type_ = node.item.type if not isinstance(node.item.type, NoneType) else self.shapes.item(items.type).maybe
        return self.is_item(self.b.kept(self.value(node.item, type_)), type_, items)

    def is_item(self, item: o.Value, item_type: Type, items: c.Expression) -> o.Value:
        """Return whether a value stands in a list."""
        b = self.b
        type_ = self.shapes.item(items.type)
        if isinstance(items, c.RangeFrom):
            low, high = b.kept(self.value(items.first)), b.kept(self.value(items.last))
            return o.Select(o.Compare("ge", item, low), o.Compare("le", item, high), ZERO, span=b.span)
        if self.shapes.is_scalar(type_):
            row = self._flags(items, type_, item_type)
            if row is not None:
                return o.Load(o.Binary("add", row, b.times(item, WORD)), WORD, span=b.span)
            if not isinstance(items, c.Loop):
                return b.call("contains", self.value(items), b.word(item, True))
        found_var, label = b.var("i32", "any"), b.label("member")
        b.set(found_var, ZERO)
        with b.block() as inner:

            def one_item(other: o.Var) -> None:
                test = self.same(item, o.Get(other), item_type, type_)
                b.add(o.If(test, (o.Set(found_var, ONE), o.Break(label)), span=b.span))

            self.loops.source(items, stops=True).each(one_item)
        b.add(o.Block(label, tuple(inner), span=b.span))
        return o.Get(found_var)

    def _flags(self, items: c.Expression, of: Type, asked: Type) -> o.Value | None:
        """A row that says of each thing whether it stands in a list, which a function gives and keeps, or a value of
        the whole game."""
        size = self.shapes.domain(of)
        if not size or of.optional or asked.optional:
            return None
        match items:
            case c.CallRule() if self.module.is_remembered(self.module.program.target(items)):
                pass
            case c.Read(c.Cell(_, None) as cell) if isinstance(cell.type, ListType):
                pass
            case _:
                return None

        def build(x: Expressions) -> o.Value:
            return x.b.call("flags", x.value(items), o.Constant(size))

        return self.module.rows.row(self, "items", (items,), size, build)

    def _kind_test(self, node: c.KindTest) -> o.Value:
        b, constants = self.b, self.module.constants
        value = b.kept(self.value(node.value))
        if isinstance(node.value.type, CardType):
            kinds = sorted(set(constants.card_kind))
            if node.kind not in kinds:
                test: o.Value = ZERO
            else:
                table = self.memory.words([kinds.index(kind) for kind in constants.card_kind])
                test = o.Compare("eq", o.Load(b.times(value, WORD), table), o.Constant(kinds.index(node.kind)))
        else:
            pieces = constants.pieces
            part = o.Binary("mod", value, o.Constant(len(pieces)))
            test = o.Compare("eq", part, o.Constant(pieces.index(node.kind)))
        if node.value.type.optional:
            test = o.Select(b.is_none(value, node.value.type), ZERO, test)
        return o.Not(test, span=b.span) if node.negated else test
