"""Expressions of the plain form: each becomes a closure from the state and the locals to a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import add, eq, ge, getitem, gt, itemgetter, le, lt, ne, neg, not_, sub
from typing import Any, assert_never

from interpreter.base.source import Span
from interpreter.kernel import bags
from interpreter.kernel.state import State, Value
from interpreter.language import core, types
from interpreter.language.model import Table
from interpreter.lowering.constants import Caller, Constants, RuleFailure
from interpreter.lowering.lower import Program
from interpreter.plain import builtin_functions as builtins
from interpreter.plain.closures import Called, Env, Evaluate, Meter, bounded, effort, grows, row, weight

__all__ = ["LONG", "MAXIMUM_ITEMS", "Evaluator", "measure_of"]

MAXIMUM_ITEMS = 20_000
"""Maximum number of items of a range, or of two lists that are joined."""
LONG = types.CollectionType | types.RecordType | types.RoomType
ADDITIONS = {"+": add, "-": sub}
BAG_ADDITIONS = {"+": bags.add, "-": bags.subtract}
COMPARISONS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def measure_of(type_: types.Type) -> Callable[[Value, Span], int]:
    """Return the cost in steps of comparing or looking up a value of a type."""
    if isinstance(type_, types.CollectionType) and not isinstance(type_.of, types.CompositeType):
        return lambda value, span: len(value) >> 5 if value is not None else 0
    return lambda value, span: weight(value, span) >> 5 if value is not None else 0


class Evaluator:
    """Compiles expressions to closures."""

    called: Mapping[str, Called]
    """The rules by the ids of their layers: functions and verdicts, whose results are memoised until the next change,
    and procedures without a frame."""

    def __init__(self, program: Program, constants: Constants) -> None:
        self.program, self.constants, self.meter = program, constants, Meter()
        self.base = constants.layout.base
        self._closures: dict[int, tuple[core.Expression, Evaluate]] = {}
        """Trees and their closures, by the identity of the tree."""

    def closure(self, node: core.Expression) -> Evaluate:
        """Return the cached closure of a tree of the model that is evaluated often."""
        entry = self._closures.get(id(node))
        if entry is None:
            entry = self._closures[id(node)] = node, self.compile(node)
        return entry[1]

    def items(self, node: core.Expression) -> Evaluate:
        """Return an iterable of values. Unlike :meth:`compile`, a range need not become a tuple."""
        if isinstance(node, core.RangeFrom):
            return self._applied(partial(_numbers, node.span), node.first, node.last)
        return self.compile(node)

    def compile(self, node: core.Expression) -> Evaluate:
        """Return the closure of an expression."""
        match node:
            case core.Const(value):
                return _constantly(value)
            case core.Local(place, _):
                return lambda state, env: env[place]
            case core.PlayerCount():
                return _constantly(self.constants.counting)
            case core.AllSeats():
                return _constantly(self.constants.seats)
            case core.RoleSeat(role):
                return _constantly(self.constants.role_seats[role])
            case core.SettingValue(name):
                return _constantly(self.constants.settings[name])
            case core.Cell(group, owner) if owner is not None:
                return self._applied(partial(add, self.base[group]), owner)
            case core.Cell(group):
                return _constantly(self.base[group])
            case core.Read(cell):
                return self._read(cell)
            case core.Static(attribute, of):
                return self._applied(self.constants.statics[attribute].__getitem__, of)
            case core.FieldOf(of, number):
                return self._applied(itemgetter(number), of)
            case core.Element(of, index):
                return self._applied(partial(_element_at, node.span), of, index)
            case core.BagItem(of, kind):
                return self._applied(getitem, of, kind)
            case core.TableCell(name, keys):
                return self._applied(partial(_cell_of, self.constants.model.tables[name], node.span), *keys)
            case core.CallRule() | core.CallBase():
                return self._call(node)
            case core.CallBuiltin():
                return builtins.compiled(
                    node, [self.compile(argument) for argument in node.arguments], self.constants, self.meter
                )
            case core.MakeRecord(parts) | core.MakeList(parts):
                return self._tuple(node, parts)
            case core.AmountOf(amount, kind, size):
                return self._applied(partial(_single, size), amount, kind)
            case core.RangeFrom():
                numbers = self.items(node)
                return self.charged(lambda state, env: tuple(numbers(state, env)), node.span, lambda v: len(v) >> 3)
            case core.Arithmetic():
                return self._arithmetic(node)
            case core.Comparison(operator, left, right) if isinstance(left.type, LONG):
                return _of_two(COMPARISONS[operator], self._long(left), self.compile(right))
            case core.Comparison(operator, left, right):
                return self._applied(COMPARISONS[operator], left, right)
            case core.Logic(operator, left, right):
                first, second = self.compile(left), self.compile(right)
                if operator == "and":
                    return lambda state, env: first(state, env) and second(state, env)
                return lambda state, env: first(state, env) or second(state, env)
            case core.Negation(value):
                return self._applied(not_, value)
            case core.Negate(value):
                return self._applied(_negative if isinstance(value.type, types.BagType) else neg, value)
            case core.Condition(then, test, otherwise):
                yes, holds, no = self.compile(then), self.compile(test), self.compile(otherwise)
                return lambda state, env: yes(state, env) if holds(state, env) else no(state, env)
            case core.Default(value, default):
                return self._default(value, default)
            case core.MemberOf(item, items, negated):
                return self._member(node, self.compile(item), self.items(items), negated)
            case core.KindTest():
                return self._kind_test(node)
            case core.Select() | core.Fold() | core.Search() | core.Order():
                return self._loop(node)
            case core.Noted(value, name, names, keys):
                return self._noted(self.compile(value), name, names, list(map(self.compile, keys)))
            case _:
                assert_never(node)

    def _applied(self, function: Callable[..., Value], *operands: core.Expression) -> Evaluate:
        """Compile a function of values. Locals, and a constant behind another value, are read in place."""
        match operands:
            case [core.Local(place)]:
                return lambda state, env: function(env[place])
            case [core.Local(place), core.Const(value)]:
                return lambda state, env: function(env[place], value)
            case [core.Local(place), core.Local(other)]:
                return lambda state, env: function(env[place], env[other])
            case [value_of, core.Const(value)]:
                first = self.compile(value_of)
                return lambda state, env: function(first(state, env), value)
        match [self.compile(operand) for operand in operands]:
            case [only]:
                return lambda state, env: function(only(state, env))
            case [first, second]:
                return _of_two(function, first, second)
            case values:
                values_of = row(values)
                return lambda state, env: function(*values_of(state, env))

    def _noted(self, value: Evaluate, name: str, names: set[Any], keys: list[Evaluate]) -> Evaluate:
        def noted(state: State, env: Env) -> Value:
            names.add((name, *(key(state, env) for key in keys)) if keys else name)
            return value(state, env)

        return noted

    def _tuple(self, node: core.Expression, nodes: tuple[core.Expression, ...]) -> Evaluate:
        is_nested = any(isinstance(child.type, types.CompositeType) for child in nodes)
        return self.weighed(row(list(map(self.kept, nodes))), node.span, is_nested)

    def kept(self, node: core.Expression) -> Evaluate:
        """Compile a value that is stored in a list, a record or a local of a procedure; it must be bounded."""
        return self.stored(
            node, is_local=isinstance(node, core.Local) and isinstance(node.type, types.IntType | types.BagType)
        )

    def stored(self, node: core.Expression, *, is_local: bool = False) -> Evaluate:
        """Compile a value that is stored; it must be bounded if it is new or a local."""
        evaluate = self.compile(node)
        if not grows(node) and not is_local:
            return evaluate
        return lambda state, env: bounded(evaluate(state, env), node.span)

    def charged(self, evaluate: Evaluate, span: Span, cost: Callable[[Value], int]) -> Evaluate:
        """Wrap an evaluator: its value costs steps."""
        meter = self.meter

        def charged(state: State, env: Env) -> Value:
            value = evaluate(state, env)
            meter.charge(cost(value), span)
            return value

        return charged

    def weighed(self, made: Evaluate, span: Span, is_nested: bool) -> Evaluate:
        """Wrap the making of a list or record: the size of one with composite items is bounded, and costs steps."""
        return self.charged(made, span, lambda value: weight(value, span)) if is_nested else made

    def looked_through(self, items: core.Expression, cost: int, span: Span | None = None) -> Evaluate:
        """Return an evaluator of items that are examined; each costs steps."""
        candidates, meter, place = self.items(items), self.meter, span or items.span

        def looked_through(state: State, env: Env) -> Value:
            values = candidates(state, env)
            meter.charge(1 + len(values) * cost, place)
            return values

        return looked_through

    def _member(self, node: core.MemberOf, item_of: Evaluate, items_of: Evaluate, negated: bool) -> Evaluate:
        meter, span = self.meter, node.span
        measure = measure_of(node.item.type) if isinstance(node.item.type, LONG) else None

        def member(state: State, env: Env) -> Value:
            item, items = item_of(state, env), items_of(state, env)
            if measure is not None:
                meter.charge(len(items) * (1 + measure(item, span)), span)
            elif len(items) > 32:
                meter.charge(len(items) >> 5, span)
            return (item in items) != negated

        return member

    def _read(self, cell: core.Expression) -> Evaluate:
        if isinstance(cell, core.Cell):
            first = self.base[cell.group]
            if cell.owner is None:
                return lambda state, env: state.cells[first]
            if isinstance(cell.owner, core.Local):
                place = cell.owner.index
                return lambda state, env: state.cells[first + env[place]]
            of = self.compile(cell.owner)
            return lambda state, env: state.cells[first + of(state, env)]
        cell_of = self.compile(cell)
        return lambda state, env: state.cells[cell_of(state, env)]

    def _call(self, node: core.CallRule | core.CallBase) -> Evaluate:
        target = self.program.target(node)
        compile_ = self.kept if self.program.reach.procedures[target].form == "does" else self.compile
        values_of = row(list(map(compile_, node.arguments)))
        called, span, layer_at = self.called, node.span, self.program.layer_at

        def call(state: State, env: Env) -> Value:
            values = values_of(state, env)
            try:
                return called[target](state, values)
            except RuleFailure as failure:
                caller = layer_at(span)
                if caller is not None:
                    failure.chain.append(Caller(caller.spoken, span))
                raise

        return call

    def _arithmetic(self, node: core.Arithmetic) -> Evaluate:
        match node.operator:
            case "+" if isinstance(node.type, types.CollectionType):
                return self._joined(node, self.compile(node.left), self.compile(node.right))
            case "+" | "-":
                operators = BAG_ADDITIONS if isinstance(node.type, types.BagType) else ADDITIONS
                return self._applied(operators[node.operator], node.left, node.right)
            case "*":
                return self._applied(lambda first, second: bounded(first * second, node.span), node.left, node.right)
            case "div" | "mod":
                return self._division(node, self.compile(node.left), self.compile(node.right))
            case _:
                assert_never(node.operator)

    def _joined(self, node: core.Arithmetic, left: Evaluate, right: Evaluate) -> Evaluate:
        def cost(joined: Value) -> int:
            if len(joined) > MAXIMUM_ITEMS:
                raise RuleFailure(f"a list of {len(joined):,} items; at most {MAXIMUM_ITEMS:,}", node.span)
            return len(joined)

        joined = self.charged(lambda state, env: tuple(left(state, env)) + tuple(right(state, env)), node.span, cost)
        return self.weighed(joined, node.span, isinstance(types.item_type(node.type), types.CompositeType))

    def _division(self, node: core.Arithmetic, left: Evaluate, right: Evaluate) -> Evaluate:
        whole = node.operator == "div"

        def divide(state: State, env: Env) -> Value:
            by = right(state, env)
            if by == 0:
                raise RuleFailure("a division by 0", node.span)
            return left(state, env) // by if whole else left(state, env) % by

        return divide

    def _long(self, node: core.Expression) -> Evaluate:
        """Compile the operand of a comparison. Long values cost steps."""
        evaluate, span = self.compile(node), node.span
        if not isinstance(node.type, LONG):
            return evaluate
        measure = measure_of(node.type)
        return self.charged(evaluate, span, lambda value: measure(value, span))

    def _default(self, value: core.Expression, default: core.Expression) -> Evaluate:
        inner, fallback = self.compile(value), self.compile(default)
        return lambda state, env: fallback(state, env) if (result := inner(state, env)) is None else result

    def _kind_test(self, node: core.KindTest) -> Evaluate:
        negated, kind = node.negated, node.kind
        kinds = self.constants.card_kind if isinstance(node.value.type, types.CardType) else self.constants.model.pieces
        return self._applied(
            lambda value: (value is not None and kinds[value % len(kinds)] == kind) != negated, node.value
        )

    # --- loops over a list

    def _loop(self, node: core.Select | core.Fold | core.Search | core.Order) -> Evaluate:
        value = node.value if isinstance(node, core.Select) else None
        cost = effort(node.test, value, node.keys if isinstance(node, core.Order) else ())
        items = self.looked_through(node.items, cost, node.span)
        test = self.compile(node.test) if node.test is not None else None
        variable = node.variable

        def passing(state: State, env: Env) -> Iterator[Value]:
            for item in items(state, env):
                env[variable] = item
                if test is None or test(state, env):
                    yield item

        match node:
            case core.Fold(operation="count"):
                return lambda state, env: len(list(passing(state, env)))
            case core.Fold(operation=operation):
                return self._decided(items, test, variable, by=operation == "any")
            case core.Select():
                return self._selected(node, passing)
            case core.Search(operation="first"):
                return self._found(node, lambda state, env: next(passing(state, env), None))
            case core.Search():
                return self._found(node, lambda state, env: (list(passing(state, env)) or [None])[-1])
            case core.Order():
                return self._ordered(node, passing)
            case _:
                assert_never(node)

    def _selected(self, node: core.Select, passing: Callable[[State, Env], Iterator[Value]]) -> Evaluate:
        if node.value is None:
            return lambda state, env: tuple(passing(state, env))
        value, span = self.compile(node.value), node.value.span
        if grows(node.value) and isinstance(node.value.type, types.IntType):
            return lambda state, env: tuple([bounded(value(state, env), span) for _ in passing(state, env)])
        return self.weighed(
            lambda state, env: tuple([value(state, env) for _ in passing(state, env)]),
            node.span,
            isinstance(node.value.type, types.CompositeType),
        )

    def _decided(self, items: Evaluate, test: Evaluate | None, variable: int, *, by: bool) -> Evaluate:
        """Compile a loop whose result is known at the first item that passes the test, or does not."""

        def decided(state: State, env: Env) -> Value:
            for item in items(state, env):
                env[variable] = item
                if (test is None or bool(test(state, env))) is by:
                    return by
            return not by

        return decided

    def _found(self, node: core.Search | core.Order, find: Evaluate) -> Evaluate:
        if node.or_none:
            return find

        def must(state: State, env: Env) -> Value:
            result = find(state, env)
            if result is None:
                raise RuleFailure(f"`{node.operation}` finds nothing here", node.span)
            return result

        return must

    def _ordered(self, node: core.Order, passing: Callable[[State, Env], Iterator[Value]]) -> Evaluate:
        keys = tuple(self.compile(key) for key in node.keys)
        variable = node.variable

        def keyed(state: State, env: Env) -> list[tuple[Value, Value]]:
            return [(tuple([key(state, env) for key in keys]) if keys else item, item) for item in passing(state, env)]

        if node.operation == "sorted":
            return lambda state, env: tuple(item for _, item in sorted(keyed(state, env), key=itemgetter(0)))
        extreme = max if node.operation == "max" else min

        def best(state: State, env: Env) -> Value:
            entries = keyed(state, env)
            if not entries:
                return None
            env[variable] = extreme(entries, key=itemgetter(0))[1]
            return env[variable]

        return self._found(node, best)


def _constantly(value: Value) -> Evaluate:
    return lambda state, env: value


def _of_two(function: Callable[[Value, Value], Value], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda state, env: function(left(state, env), right(state, env))


# --- functions of values


def _element_at(span: Span, items: Value, at: int) -> Value:
    if not 0 <= at < len(items):
        raise RuleFailure(f"there is no item {at} in a list of {len(items)}", span)
    return items[at]


def _numbers(span: Span, low: int, high: int) -> range:
    if high - low >= MAXIMUM_ITEMS:
        raise RuleFailure(f"a range of {high - low + 1:,} numbers; at most {MAXIMUM_ITEMS:,}", span)
    return range(low, high + 1)


def _cell_of(table: Table, span: Span, *key: Value) -> Value:
    try:
        return table.cells[key]
    except KeyError:
        shown = ", ".join(str(part) for part in key)
        raise RuleFailure(f"`{table.name}` has no cell [{shown}]", span) from None


def _single(size: int, number: int, kind: int) -> Value:
    bag = [0] * size
    bag[kind] = number
    return tuple(bag)


def _negative(bag: Value) -> Value:
    return tuple(-number for number in bag)
