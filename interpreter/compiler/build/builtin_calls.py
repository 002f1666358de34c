"""Built-in functions in the IR: most are calls of the runtime, some are loops or constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from interpreter.compiler.build.function import ZERO
from interpreter.compiler.build.rows import free_locals
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.kernel.graphs import Graph
from interpreter.language import core
from interpreter.language.builtins import BUILTINS
from interpreter.language.types import INT, BagType, IntType, NoneType

if TYPE_CHECKING:
    from interpreter.compiler.build.expressions import Expressions

__all__ = ["BUILT", "Builtins"]

OPERATORS = {"min": "lt", "max": "gt"}
FEW_KINDS = 6
"""Maximum number of kinds for which the capacities of all sets of kinds are tabulated."""


class Builtins:
    """Builds calls of built-in functions in one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.x = expressions
        self.b = expressions.b
        self.shapes, self.memory = expressions.shapes, expressions.memory

    def value(self, node: core.Builtin) -> ops.Value:
        row = BUILTINS[node.name]
        if row.runtime:
            result = self._call(node.name, node, *node.arguments)
        else:
            form = node.arguments[0].type.word
            result = (BUILT.get(f"{node.name} of {form}") or BUILT[node.name])(self, node)
        return self._must(node, result) if row.partial and not node.or_none else result

    def _must(self, node: core.Builtin, result: ops.Value) -> ops.Value:
        result = self.b.kept(result)
        self.b.fail_if(self.b.is_none(result, node.type), f"`{node.name}` finds nothing here")
        return result

    def _call(self, function: str, node: core.Builtin, *arguments: core.Expression) -> ops.Value:
        """Build a call of a runtime function. The width of bags is appended if there are any."""
        values = tuple(map(self.x.value, arguments))
        types = (*(argument.type for argument in arguments), node.type)
        widths = [ops.Constant(self.shapes.width(type_)) for type_ in types if isinstance(type_, BagType)]
        return self.b.call(function, *values, *widths[:1])

    # --- lists and numbers

    def _count(self, node: core.Builtin) -> ops.Value:
        (of,) = node.arguments
        if isinstance(of, core.Select):
            return self.x.loops.length(self.x.loops.source(of))
        return ops.ToNumber(ops.Load(self.x.value(of)))

    def _number(self, node: core.Builtin) -> ops.Value:
        return self.x.value(node.arguments[0])

    def _sum(self, node: core.Builtin) -> ops.Value:
        return self.x.loops.total(self.x.loops.source(node.arguments[0]))

    def _total(self, node: core.Builtin) -> ops.Value:
        return self._call("bag_total", node, *node.arguments)

    def _made(self, node: core.Builtin) -> ops.Value:
        return self.x.loops.made(self.x.loops.source(node))

    def _once(self, node: core.Builtin) -> ops.Value:
        """Return the items of a list without duplicates."""
        if not self.shapes.is_scalar(self.shapes.item(node.arguments[0].type)):
            raise Unsupported("distinct lists")
        return self._call("distinct" if node.name == "distinct" else "set_of", node, *node.arguments)

    def _top(self, node: core.Builtin) -> ops.Value:
        return self._must(node, self._end(node))

    def _end(self, node: core.Builtin) -> ops.Value:
        """Return the first or last item, or none."""
        b, x, last = self.b, self.x, node.name == "last"
        items = b.kept(x.value(node.arguments[0]))
        length = b.kept(ops.Load(items))
        rep = self.shapes.rep(node.type)
        place = items + length * WORD if last else items
        item = ops.Load(place, 0 if last else WORD, rep)
        return ops.Select(length.equals(0), b.none(node.type), item)

    def _position(self, node: core.Builtin) -> ops.Value:
        b, x = self.b, self.x
        item, items = node.arguments
        of = self.shapes.item(items.type)
        if not self.shapes.is_scalar(of):
            return self._place_of(item, items)
        word = b.word(x.value(item, item.type if not isinstance(item.type, NoneType) else of.maybe), True)
        return b.call("position", x.value(items), word)

    def _without(self, node: core.Builtin) -> ops.Value:
        b, x = self.b, self.x
        items, item = node.arguments
        if self.shapes.is_scalar(self.shapes.item(items.type)):
            return b.call("without", x.value(items), b.word(x.value(item), True))
        place = b.kept(self._place_of(item, items))
        b.fail_if(b.is_none(place, INT), "the item to remove is not in the list")
        return b.call("without_place", x.value(items), ops.ToIndex(place))

    def _place_of(self, item: core.Expression, items: core.Expression) -> ops.Value:
        """Return the position of a list, bag or record in a list of such values, or none."""
        b, x = self.b, self.x
        of = self.shapes.item(items.type)
        item_value = b.kept(x.value(item))
        position, place, label = b.var("i64", "position"), b.var("i64", "place"), b.label("position")
        b.set(position, b.none(INT))
        b.set(place, ops.Constant(0, "i64"))
        with b.block() as inner:

            def compare(member: ops.Var) -> None:
                test = x.same(item_value, member, item.type, of)
                b.add(ops.If(test, (ops.Set(position, place), ops.Break(label))))
                b.set(place, place + 1)

            x.loops.source(items).each(compare)
        b.add(ops.Block(label, tuple(inner)))
        return position

    def _extreme(self, node: core.Builtin) -> ops.Value:
        """Return the smallest or largest of some numbers."""
        b, operator = self.b, OPERATORS[node.name]
        best = b.kept(self.x.value(node.arguments[0]))
        for argument in node.arguments[1:]:
            number = b.kept(self.x.value(argument))
            best = b.kept(ops.Select(ops.Compare(operator, number, best), number, best))
        return best

    def _extreme_of_list(self, node: core.Builtin) -> ops.Value:
        return self.x.loops.extreme(self.x.loops.source(node.arguments[0]), OPERATORS[node.name.split()[0]])

    # --- tokens and tracks

    def _sum_of_bags(self, node: core.Builtin) -> ops.Value:
        return self._call("sum_of_bags", node, node.arguments[0])

    def _room(self, node: core.Builtin) -> ops.Value:
        return self.x._made(node.arguments, self.shapes.fields(node.type), listed=False)

    def _track(self, node: core.Expression) -> ops.Value:
        """Return the constants of a track: see
        :attr:`~interpreter.compiler.build.module_builder.ModuleBuilder.tracks`."""
        table = ops.Load(self.x.value(node) * WORD, self.x.module.tracks)
        return self.b.kept(table, "track")

    def _held(self, track: core.Expression) -> tuple[ops.Value, str]:
        """Return the address of the tokens of a track, and the group of that cell."""
        address, offset, group = self.x.holder(track)
        name = group.name if group is not None else self.x.groups_of(track.type)
        return self.b.kept(ops.Cell(address + offset, name), "held"), name

    def _price(self, node: core.Builtin) -> ops.Value:
        track, tokens = node.arguments
        held, _ = self._held(track)
        unit = isinstance(self.shapes.held(track.type), IntType)
        width = ops.Constant(1 if unit else self.shapes.width(track.type))
        data, bag = self._track(track), self.x.value(tokens)
        if unit:
            bag = self.b.call("bag_single", bag, ZERO, width)
        return self.b.call("track_price", data, held, bag, width)

    def _vacancy(self, node: core.Builtin) -> ops.Value:
        held, group = self._held(node.arguments[0])
        data, kind = self._track(node.arguments[0]), self.b.kept(self.x.value(node.arguments[1]))
        count = ops.Load(held + kind * WORD, 0, "i64", group)
        return self.b.call("track_vacancy", data, kind, count)

    def _prices(self, node: core.Builtin) -> ops.Value:
        track, kind = node.arguments
        return self.b.call("track_prices", self._track(track), self.x.value(kind))

    def _graph(self) -> Graph:
        graph = self.x.module.constants.graph
        if graph is None:
            raise Unsupported("a graph")
        return graph

    def _neighbours(self, node: core.Builtin) -> ops.Value:
        graph = self._graph()
        lists = [
            self.memory.words([len(adjacent), *adjacent])
            for adjacent in (graph.neighbours(number) for number in range(graph.node_count))
        ]
        table = self.memory.words(lists)
        return ops.Load(self.x.value(node.arguments[0]) * WORD, table)

    def _fitting(self, node: core.Builtin) -> ops.Value:
        """Build the part of a bag that fits into rooms, or the rest, from the capacities of sets of kinds.

        The fast path returns -1 if a count is negative; then the slow one is used.
        """
        b, x = self.b, self.x
        tokens, rooms, *kind = node.arguments
        width = ops.Constant(self.shapes.width(tokens.type))
        bag = b.kept(x.value(tokens))

        def build(x_: Expressions) -> ops.Value:
            return x_.b.call("capacities", x_.value(rooms), width)

        row = (
            x.module.rows.row(x, "capacities", (rooms,), 1 << width.value, build) if width.value <= FEW_KINDS else None
        )
        further = tuple(b.kept(x.value(argument)) for argument in kind)
        if row is None:
            return b.call(node.name, bag, x.value(rooms), *further, width)
        result = b.var("i64", "fits")
        b.set(result, b.call(f"{node.name}_within", bag, row, *further, width))
        slow, value = x.lazily(lambda: b.call(node.name, bag, x.value(rooms), *further, width))
        b.add(ops.If(result < 0, (*slow, ops.Set(result, value))))
        return result

    def _way(self, node: core.Builtin) -> ops.Value:
        b, x, constants, graph = self.b, self.x, self.x.module.constants, self._graph()
        starts, goal, within, *dealt = node.arguments

        def lengths(x_: Expressions) -> ops.Value:
            if dealt:
                return ops.Call(x.module.values.dealt(), (x_.value(dealt[0]),))
            return ops.Data(self.memory.words(list(constants.lengths)), "lengths")

        def nearest(x_: Expressions) -> ops.Value:
            return x_.b.call("nearest", x_.value(starts), x_.value(within), lengths(x_))

        if node.name == "distance" and not isinstance(starts, core.MakeList):
            inputs = (starts, within, *dealt)
            if not free_locals(goal).keys() <= free_locals(inputs).keys():
                row = x.module.rows.row(x, "distances", inputs, graph.node_count, nearest)
                if row is not None:
                    to = b.kept(x.value(goal))
                    return ops.Load(row + to * WORD, WORD, "i64")
        return b.call(node.name, *map(x.value, (starts, goal, within)), lengths(x))


BUILT: dict[str, Callable[[Builtins, core.Builtin], ops.Value]] = {
    "count": Builtins._count,
    "count of bag": Builtins._total,
    "count of int": Builtins._number,
    "first": Builtins._end,
    "last": Builtins._end,
    "top": Builtins._top,
    "distinct": Builtins._once,
    "set of list": Builtins._once,
    "position": Builtins._position,
    "without": Builtins._without,
    "cards of piles": Builtins._made,
    "clockwise": Builtins._made,
    "sum": Builtins._sum,
    "sum of bags": Builtins._sum_of_bags,
    "total": Builtins._total,
    "min": Builtins._extreme,
    "max": Builtins._extreme,
    "min of list": Builtins._extreme_of_list,
    "max of list": Builtins._extreme_of_list,
    "room": Builtins._room,
    "overflow": Builtins._fitting,
    "space": Builtins._fitting,
    "price": Builtins._price,
    "vacancy": Builtins._vacancy,
    "prices": Builtins._prices,
    "neighbours": Builtins._neighbours,
    "distance": Builtins._way,
    "path": Builtins._way,
}
"""Builders of functions that are not part of the runtime. One for the type of the first argument takes precedence."""
