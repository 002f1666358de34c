"""The language's own functions in the IR: most are calls of the runtime, some are loops or constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.compiler.build.function import ZERO
from interpreter.compiler.build.rows import free_locals
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops as o
from interpreter.language import core as c
from interpreter.language.types import INT

if TYPE_CHECKING:
    from interpreter.compiler.build.expressions import Expressions

__all__ = ["Builtins"]

FEW_KINDS = 6
"""For so many kinds each set of them has a word with the capacity that it finds."""


class Builtins:
    """Builds calls of the language's own functions in one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.x = expressions
        self.b = expressions.b
        self.shapes, self.memory = expressions.shapes, expressions.memory

    def value(self, node: c.Builtin) -> o.Value:
        b = self.b
        found = self._value(node)
        if node.name in ("first", "top", "last", "position", "min of list", "max of list", "distance", "path"):
            if node.or_none:
                return found
            found = b.kept(found)
            b.fail_if(b.is_none(found, node.type), f"`{node.name}` finds nothing here")
        return found

    def _value(self, node: c.Builtin) -> o.Value:
        b, x, shapes, loops = self.b, self.x, self.shapes, self.x.loops
        arguments = node.arguments
        first = arguments[0].type if arguments else INT
        match node.name:
            case "count":
                return self._count(arguments[0])
            case "first" | "top":
                return self._end(node, last=False)
            case "last":
                return self._end(node, last=True)
            case "rest" | "reversed" | "set of list":
                word = {"set of list": "set_of"}.get(node.name, node.name)
                if node.name == "set of list" and not shapes.is_scalar(shapes.item(first)):
                    raise Unsupported("a set of lists")
                return o.Call(word, (x.value(arguments[0]),), span=b.span)
            case "distinct":
                if not shapes.is_scalar(shapes.item(first)):
                    raise Unsupported("distinct lists")
                return o.Call("distinct", (x.value(arguments[0]),), span=b.span)
            case "take":
                return o.Call("take", (x.value(arguments[0]), x.value(arguments[1])), span=b.span)
            case "subsets":
                return o.Call("subsets", (x.value(arguments[0]), x.value(arguments[1])), span=b.span)
            case "sum of bags":
                width = o.Constant(shapes.width(node.type))
                return o.Call("sum_of_bags", (x.value(arguments[0]), width), span=b.span)
            case "position":
                return self._position(node)
            case "without":
                return self._without(node)
            case "cards of piles" | "clockwise":
                return loops.made(loops.source(node))
            case "sum" | "total":
                if first.form == "bag":
                    width = o.Constant(shapes.width(first))
                    return o.Call("bag_total", (x.value(arguments[0]), width), "i64", span=b.span)
                return loops.total(loops.source(arguments[0]))
            case "min" | "max":
                return self._extreme(node, "lt" if node.name == "min" else "gt")
            case "min of list":
                return loops.extreme(loops.source(arguments[0]), "lt")
            case "max of list":
                return loops.extreme(loops.source(arguments[0]), "gt")
            case "room":
                return x._made(arguments, shapes.fields(node.type), listed=False)
            case "overflow" | "space":
                return self._fitting(node)
            case "mixes":
                width = o.Constant(shapes.width(arguments[2].type))
                values = tuple(x.value(argument) for argument in arguments)
                return o.Call("mixes", (*values, width), span=b.span)
            case "price" | "vacancy" | "prices":
                return self._track(node)
            case "neighbours":
                return self._neighbours(arguments[0])
            case "distance" | "path" | "connected":
                return self._graph(node)
            case _:
                raise Unsupported(f"`{node.name}`")

    def _count(self, of: c.Expression) -> o.Value:
        b, x = self.b, self.x
        if of.type.form == "int":
            return x.value(of)
        if of.type.form == "bag":
            return o.Call("bag_total", (x.value(of), o.Constant(self.shapes.width(of.type))), "i64", span=b.span)
        if isinstance(of, c.Loop) and of.operation in ("filter", "map"):
            return x.loops.length(x.loops.source(of))
        return o.ToNumber(o.Load(x.value(of)), span=b.span)

    def _end(self, node: c.Builtin, *, last: bool) -> o.Value:
        """The first or last item, or none."""
        b, x = self.b, self.x
        items = b.kept(x.value(node.arguments[0]))
        length = b.kept(o.Load(items, span=b.span))
        rep = self.shapes.rep(node.type)
        place = o.Binary("add", items, b.times(length, WORD)) if last else items
        item = o.Load(place, 0 if last else WORD, rep, span=b.span)
        return o.Select(o.Compare("eq", length, ZERO), b.none(node.type), item, span=b.span)

    def _position(self, node: c.Builtin) -> o.Value:
        b, x = self.b, self.x
        item, items = node.arguments
        of = self.shapes.item(items.type)
        if not self.shapes.is_scalar(of):
            return self._place_of(item, items)
        word = b.word(x.value(item, item.type if item.type.form != "none" else of.maybe), True)
        return o.Call("position", (x.value(items), word), "i64", span=b.span)

    def _without(self, node: c.Builtin) -> o.Value:
        b, x = self.b, self.x
        items, item = node.arguments
        if self.shapes.is_scalar(self.shapes.item(items.type)):
            return o.Call("without", (x.value(items), b.word(x.value(item), True)), span=b.span)
        place = b.kept(self._place_of(item, items))
        b.fail_if(b.is_none(place, INT), "what is removed is not in the list")
        return o.Call("without_place", (x.value(items), o.ToIndex(place)), span=b.span)

    def _place_of(self, item: c.Expression, items: c.Expression) -> o.Value:
        """The position of a list, bag or record in a list of such; none where it is not there."""
        b, x = self.b, self.x
        of = self.shapes.item(items.type)
        wanted = b.kept(x.value(item))
        found, place, label = b.var("i64", "found"), b.var("i64", "place"), b.label("position")
        b.set(found, b.none(INT))
        b.set(place, o.Constant(0, "i64"))
        with b.block() as inner:

            def one(other: o.Var) -> None:
                test = x.same(wanted, o.Get(other), item.type, of)
                b.add(o.If(test, (o.Set(found, o.Get(place)), o.Break(label)), span=b.span))
                b.set(place, b.plus(o.Get(place), 1))

            x.loops.source(items).each(one)
        b.add(o.Block(label, tuple(inner), span=b.span))
        return o.Get(found)

    def _extreme(self, node: c.Builtin, operator: str) -> o.Value:
        """The least or greatest of some numbers; the first of equal ones, which nobody can tell apart."""
        b = self.b
        best = b.kept(self.x.value(node.arguments[0]))
        for argument in node.arguments[1:]:
            other = b.kept(self.x.value(argument))
            best = b.kept(o.Select(o.Compare(operator, other, best), other, best, span=b.span))
        return best

    def _track(self, node: c.Builtin) -> o.Value:
        """Prices and empty spaces of a track."""
        b, x = self.b, self.x
        track = node.arguments[0]
        address, offset, group = x.holder(track)
        name = group.name if group is not None else x.groups_of(track.type)
        held = b.kept(o.Cell(b.plus(address, offset), name), "held")
        unit = self.shapes.held(track.type).form == "int"
        width = o.Constant(1 if unit else self.shapes.width(track.type))
        data = b.kept(o.Load(b.times(x.value(track), WORD), x.module.tracks, span=b.span), "track")
        match node.name:
            case "prices":
                return o.Call("track_prices", (data, x.value(node.arguments[1])), span=b.span)
            case "vacancy":
                kind = b.kept(x.value(node.arguments[1]))
                count = o.Load(o.Binary("add", held, b.times(kind, WORD)), 0, "i64", name)
                return o.Call("track_vacancy", (data, kind, count), "i64", span=b.span)
            case _:
                wanted = x.value(node.arguments[1])
                if unit:
                    wanted = o.Call("bag_single", (wanted, ZERO, width))
                return o.Call("track_price", (data, held, wanted, width), "i64", span=b.span)

    def _neighbours(self, node: c.Expression) -> o.Value:
        b, graph = self.b, self.x.module.constants.graph
        if graph is None:
            raise Unsupported("a graph")
        lists = [
            self.memory.words([len(found), *found])
            for found in (graph.neighbours(number) for number in range(graph.node_count))
        ]
        table = self.memory.words(lists)
        return o.Load(b.times(self.x.value(node), WORD), table, span=b.span)

    def _fitting(self, node: c.Builtin) -> o.Value:
        """What fits into rooms, or does not: by the capacities for sets of kinds, which follow from the rooms alone.
        The quick way gives -1 where a count is below 0."""
        b, x = self.b, self.x
        tokens, rooms, *kind = node.arguments
        width = o.Constant(self.shapes.width(tokens.type))
        bag = b.kept(x.value(tokens))

        def built(other: Expressions) -> o.Value:
            return o.Call("capacities", (other.value(rooms), width), span=other.b.span)

        row = (
            x.module.rows.row(x, "capacities", (rooms,), 1 << width.value, built) if width.value <= FEW_KINDS else None
        )
        others = tuple(b.kept(x.value(each)) for each in kind)
        if row is None:
            return o.Call(node.name, (bag, x.value(rooms), *others, width), "i64", span=b.span)
        found = b.var("i64", "fits")
        b.set(found, o.Call(f"{node.name}_within", (bag, row, *others, width), "i64", span=b.span))
        slow, value = x.lazily(lambda: o.Call(node.name, (bag, x.value(rooms), *others, width), "i64", span=b.span))
        b.add(o.If(o.Compare("lt", o.Get(found), o.Constant(0, "i64")), (*slow, o.Set(found, value)), span=b.span))
        return o.Get(found)

    def _graph(self, node: c.Builtin) -> o.Value:
        b, x, constants = self.b, self.x, self.x.module.constants
        if constants.graph is None:
            raise Unsupported("a graph")
        if node.name == "connected":
            return o.Call("connected", (x.value(node.arguments[0]),), span=b.span)
        starts, goal, within, *dealt = node.arguments

        def lengths(other: Expressions) -> o.Value:
            if dealt:
                return o.Call(x.module.values.dealt(), (other.value(dealt[0]),), span=b.span)
            return o.Data(self.memory.words(list(constants.lengths)), "lengths")

        def nearest(other: Expressions) -> o.Value:
            given = (other.value(starts), other.value(within), lengths(other))
            return o.Call("nearest", given, span=other.b.span)

        if node.name == "distance" and not isinstance(starts, c.MakeList):
            given = (starts, within, *dealt)
            if not free_locals(goal).keys() <= free_locals(given).keys():
                row = x.module.rows.row(x, "distances", given, constants.graph.node_count, nearest)
                if row is not None:
                    to = b.kept(x.value(goal))
                    return o.Load(o.Binary("add", row, b.times(to, WORD)), WORD, "i64", span=b.span)
        rep: o.Rep = "i64" if node.name == "distance" else "i32"
        return o.Call(node.name, (*map(x.value, (starts, goal, within)), lengths(x)), rep, span=b.span)
