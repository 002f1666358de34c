"""Built-in functions in the IR: most are calls of the runtime, some are loops or constants.

*Rows* are loop-invariant parts of expressions, hoisted into memoised functions. If an expression needs the distances of
many nodes from one list, a function of the locals in that list returns the distances of all nodes. Items of lists, and
capacities of rooms by their kinds, work alike. A row is a list of words. Since its locals take few values, it can be
cached until a cell changes that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from interpreter.compiler.codegen.cells import Cells
from interpreter.compiler.codegen.function import ZERO
from interpreter.compiler.codegen.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops
from interpreter.kernel.graphs import Graph
from interpreter.language import core
from interpreter.language.types import INT, BagType, IntType, NoneType, SeatType, Type
from interpreter.language.walk import descendants

__all__ = ["BUILT", "Builtins"]

OPERATORS = {"min": "lt", "max": "gt"}
FEW_KINDS = 6
"""Maximum number of kinds for which the capacities of all sets of kinds are tabulated."""
LARGEST_ROW = 1024
CARDS = ops.Var("cards", "i32")


class Builtins(Cells):
    """Builds calls of built-in functions, and the functions that return rows, each once for its expressions."""

    def builtin(self, node: core.CallBuiltin) -> ops.Value:
        row, name = node.builtin, node.builtin.name
        build = None if row.runtime else BUILT.get(f"{name} of {node.arguments[0].type.word}") or BUILT[name]
        result = build(self, node) if build is not None else self._runtime(name, node)
        return self.found(result, node.type, name) if row.partial and not node.or_none else result

    def _runtime(self, function: str, node: core.CallBuiltin) -> ops.Value:
        """Build a call of a runtime function. The width of bags is appended if there are any."""
        values = tuple(map(self.value, node.arguments))
        types = (*(argument.type for argument in node.arguments), node.type)
        widths = [self.width(type_) for type_ in types if isinstance(type_, BagType)]
        return self.call(function, *values, *widths[:1])

    def width(self, type_: Type) -> ops.Constant:
        return ops.Constant(self.shapes.width(type_))

    # --- rows

    def row(
        self, kind: str, nodes: tuple[core.Expression, ...], size: int, build: Callable[[Self], ops.Value]
    ) -> ops.Value | None:
        """Return a call of the function of a row of ``size`` words, or None if it could not be cached."""
        locals_ = free_locals(nodes)
        keys = self.keys(tuple(locals_.values()))
        if keys is None or not all(key.extent for key in keys) or size > LARGEST_ROW:
            return None
        arguments = tuple(self.read_local(index, type_) for index, type_ in locals_.items())
        number = self.module.rows.setdefault((kind, nodes), len(self.module.rows))
        name = self.module.name("row", f"{kind} {number}")
        parameters = self.shapes.parameters(locals_.values())

        def body(b: Self) -> None:
            b.span = nodes[0].span
            b.locals = dict(zip(locals_, parameters, strict=True))
            b.add(ops.Charge(ops.Constant(4)))
            b.give(build(b))

        memo = ops.Memo(keys, self.module.reader.reads(nodes, locals_), 1 + size, listed=True)
        head = ops.Function(name, parameters, "i32", about=f"{kind} at {nodes[0].span}", memo=memo)
        return ops.Call(self.declare(head, body), arguments)

    def keys(self, types: Sequence[Type]) -> tuple[ops.Key, ...] | None:
        """Return the key ranges of parameters of these types, or None if one is not a word."""
        return tuple(map(self._key_of, types)) if all(map(self.shapes.is_scalar, types)) else None

    def _key_of(self, type_: Type) -> ops.Key:
        extent = self.shapes.count(type_)
        if isinstance(type_, IntType) or not extent:
            return ops.Key()
        if type_.optional:
            return ops.Key(-1, extent + 1)
        return ops.Key(0, extent, isinstance(type_, SeatType))

    # --- lists and numbers

    def _count(self, node: core.CallBuiltin) -> ops.Value:
        (of,) = node.arguments
        if isinstance(of, core.Select):
            return self.count(self.source(of).each)
        return ops.ToNumber(ops.Load(self.value(of)))

    def _once(self, node: core.CallBuiltin) -> ops.Value:
        if not self.shapes.is_scalar(self.shapes.item(node.arguments[0].type)):
            raise Unsupported("distinct lists")
        return self._runtime("distinct" if node.builtin.name == "distinct" else "set_of", node)

    def _end(self, node: core.CallBuiltin) -> ops.Value:
        items = self.kept(self.value(node.arguments[0]))
        length = self.kept(ops.Load(items))
        rep = self.shapes.rep(node.type)
        item = ops.read(items + length * WORD, 0, rep) if node.builtin.name == "last" else ops.read(items, WORD, rep)
        return ops.Select(length.equals(0), self.none(node.type), item)

    def _position(self, node: core.CallBuiltin) -> ops.Value:
        item, items = node.arguments
        of = self.shapes.item(items.type)
        if not self.shapes.is_scalar(of):
            return self._place_of(item, items)
        word = self.word(self.value(item, item.type if not isinstance(item.type, NoneType) else of.maybe), True)
        return self.call("position", self.value(items), word)

    def _without(self, node: core.CallBuiltin) -> ops.Value:
        items, item = node.arguments
        if self.shapes.is_scalar(self.shapes.item(items.type)):
            return self.call("without", self.value(items), self.word(self.value(item), True))
        place = self.kept(self._place_of(item, items))
        self.fail_if(self.is_none(place, INT), "the item to remove is not in the list")
        return self.call("without_place", self.value(items), ops.ToIndex(place))

    def _replaced(self, node: core.CallBuiltin) -> ops.Value:
        items, at, item = node.arguments
        whole, place = self.kept(self.value(items)), self.kept(self.value(at))
        self.fail_if(ops.Binary("ge_u", place, ops.ToNumber(ops.Load(whole))), "no such item")
        word = self.kept(self.words((item,), (self.shapes.item(node.type),))[0])
        size = self.kept(ops.Load(whole) + 1)
        made = self.kept(self.call("alloc", size))
        self.add(ops.CopyWords(made, whole, size))
        self.add(ops.Store(made + ops.ToIndex(place) * WORD, WORD, word))
        return made

    def _place_of(self, item: core.Expression, items: core.Expression) -> ops.Value:
        """Return the position of a list, bag or record in a list of such values, or none."""
        wanted = self.kept(self.value(item))
        position = self.var("i64", "position", self.none(INT))
        place = self.var("i64", "place", ops.Constant(0, "i64"))
        with self.leaving("position") as label:

            def compare(member: ops.Var) -> None:
                with self.when(self.same(wanted, member, item.type, self.shapes.item(items.type))):
                    self.set(position, place)
                    self.add(ops.Break(label))
                self.set(place, place + 1)

            self.source(items).each(compare)
        return position

    def _extreme(self, node: core.CallBuiltin) -> ops.Value:
        best = self.kept(self.value(node.arguments[0]))
        for argument in node.arguments[1:]:
            number = self.kept(self.value(argument))
            best = self.kept(ops.Select(ops.Binary(OPERATORS[node.builtin.name], number, best), number, best))
        return best

    # --- tokens and tracks

    def words(self, nodes: tuple[core.Expression, ...], types: tuple[Type, ...]) -> list[ops.Value]:
        """Build expressions as words of memory."""
        pairs = zip(nodes, types, strict=True)
        return [self.word(self.value(node, type_), type_.optional) for node, type_ in pairs]

    def _track(self, node: core.Expression) -> ops.Value:
        return self.kept(ops.Load(self.value(node) * WORD, self.module.tracks), "track")

    def _held(self, track: core.Expression) -> tuple[ops.Value, str]:
        """Return the address of the tokens of a track, and the group of that cell."""
        address, offset, group = self.holder(track)
        return self.kept(ops.Cell(address + offset, group), "held"), group

    def _price(self, node: core.CallBuiltin) -> ops.Value:
        track, tokens = node.arguments
        held, group = self._held(track)
        data = self._track(track)
        place: ops.Value = ZERO
        match tokens:
            case core.AmountOf(amount, kind):  # needs no bag
                tokens, place = amount, self.kept(self.value(kind) * WORD)
            case _ if not isinstance(self.shapes.held(track.type), IntType):
                return self.call("track_price", data, held, self.value(tokens), self.width(track.type))
        number = self.word(self.value(tokens, INT))
        return self.call("row_price", ops.Load(data + place), ops.Load(held + place, 0, "i32", group), number)

    def _vacancy(self, node: core.CallBuiltin) -> ops.Value:
        held, group = self._held(node.arguments[0])
        data, kind = self._track(node.arguments[0]), self.kept(self.value(node.arguments[1]))
        return self.call("track_vacancy", data, kind, ops.read(held + kind * WORD, 0, "i64", group))

    def _overflow(self, node: core.CallBuiltin) -> ops.Value:
        """Build the number of tokens without space. The fast path returns -1 if a count is negative."""
        tokens, rooms = node.arguments
        capacities, width = self._capacities(rooms, tokens), self.width(tokens.type)
        if capacities is None:
            return self._runtime("overflow", node)
        bag = self.kept(self.value(tokens))
        result = self.var("i64", "over", self.call("overflow_within", bag, capacities, width))
        with self.when(result < 0):
            self.set(result, self.call("overflow", bag, self.value(rooms), width))
        return result

    def _space(self, node: core.CallBuiltin) -> ops.Value:
        """Build the number of tokens that fit beside others, from the row of those numbers for all kinds."""
        tokens, rooms, kind = node.arguments
        width = self.width(tokens.type)

        def build(b: Builtins) -> ops.Value:
            bag, capacities = b.kept(b.value(tokens)), b._capacities(rooms, tokens)
            assert capacities is not None  # it reads no more locals than this row
            spaces = b.kept(b.call("spaces", bag, capacities, width))
            with b.when(ops.Load(spaces, WORD) < 0), b.counted(width) as of:
                fits = b.call("space", bag, b.value(rooms), of, width)
                b.add(ops.Store(spaces + of * WORD, WORD, b.word(fits)))
            return spaces

        row = self.row("spaces", (tokens, rooms), width.value, build) if width.value <= FEW_KINDS else None
        if row is None:
            return self._runtime("space", node)
        return ops.read(row + self.kept(self.value(kind)) * WORD, WORD, "i64")

    def _capacities(self, rooms: core.Expression, tokens: core.Expression) -> ops.Value | None:
        """Return the row of what rooms take of each set of kinds, or None if it could not be cached."""
        width = self.width(tokens.type)
        if width.value > FEW_KINDS:
            return None
        return self.row(
            "capacities",
            (rooms,),
            1 << width.value,
            lambda b: b.call("capacities", ops.Constant(-1), b.value(rooms), width),
        )

    # --- the graph

    def _graph(self) -> Graph:
        if not self.constants.graph.node_count:
            raise Unsupported("a graph")
        return self.constants.graph

    def _neighbours(self, node: core.CallBuiltin) -> ops.Value:
        graph = self._graph()
        rows = [graph.neighbours(number) for number in range(graph.node_count)]
        table = self.memory.words([self.memory.words([len(row), *row]) for row in rows])
        return ops.Load(self.value(node.arguments[0]) * WORD, table)

    def _way(self, node: core.CallBuiltin) -> ops.Value:
        starts, goal, within, *dealt = node.arguments
        size = self._graph().node_count

        def lengths(b: Builtins) -> ops.Value:
            if dealt:
                row = self.declare(ops.Function("dealt", (CARDS,), "i32"), Builtins._dealt)
                return ops.Call(row, (b.value(dealt[0]),))
            if min(self.constants.lengths, default=0) < 0:  # of a varied table
                raise Unsupported("links of a negative length")
            return ops.Constant(self.memory.words(list(self.constants.lengths)), about="lengths")

        if node.builtin.name == "distance" and not isinstance(starts, core.MakeList):
            inputs = (starts, within, *dealt)
            if not free_locals(goal).keys() <= free_locals(inputs).keys():
                row = self.row(
                    "distances", inputs, size, lambda b: b.call("nearest", b.value(starts), b.value(within), lengths(b))
                )
                if row is not None:
                    to = self.kept(self.value(goal))
                    return ops.read(row + to * WORD, WORD, "i64")
        return self.call(node.builtin.name, *map(self.value, (starts, goal, within)), lengths(self))

    def _dealt(self) -> None:
        """Build the function that returns the lengths of links on which cards lie, as a row of words. If the cards
        changed since its last call, it clears the cache of distances."""
        graph, shapes = self.model.graph, self.shapes
        assert graph is not None
        count = len(graph.links)
        printed = [shapes.word(row.values.get(graph.length or ""), INT) for row in self.model.cards]
        table, lengths, last = self.memory.words(printed), self.memory.reserve(count), self.memory.reserve(count)
        self.memory.data[last] = b"\xff" * count * WORD  # no cards
        self.fail_if(ops.Load(CARDS) < count, "too few cards")
        both = ops.Constant(last), CARDS + WORD, ops.Constant(count)
        with self.when(ops.negated(self.call("equal_words", *both))):
            self.add(ops.Store(ops.Constant(last), 0, ops.Constant(-1)))  # until all lengths are there: one may trap
            with self.counted(ops.Constant(count)) as number:
                place = number * WORD
                new = self.kept(ops.Load(ops.Load(CARDS + place, WORD) * WORD, table))
                self.fail_if(new < 0, "a link without a length, or of a negative one")
                self.add(ops.Store(place, lengths, new))
            self.do("copy_words", *both)
            self.do("forget_ways")
        self.give(ops.Constant(lengths, about="lengths"))


def free_locals(tree: object) -> dict[int, Type]:
    types: dict[int, Type] = {}
    bound: set[int] = set()
    for node in descendants(tree):
        if isinstance(node, core.Local):
            if node.index not in types or node.type.optional:
                types[node.index] = node.type
        elif isinstance(node, core.Loop):
            bound.add(node.variable)
    return {index: type_ for index, type_ in types.items() if index not in bound}


BUILT: dict[str, Callable[[Builtins, core.CallBuiltin], ops.Value]] = {
    "count": Builtins._count,
    "count of bag": lambda b, node: b._runtime("sum_of_words", node),
    "count of int": lambda b, node: b.value(node.arguments[0]),
    "first": Builtins._end,
    "last": Builtins._end,
    "top": lambda b, node: b.found(b._end(node), node.type, node.builtin.name),
    "distinct": Builtins._once,
    "set of list": Builtins._once,
    "position": Builtins._position,
    "without": Builtins._without,
    "replaced": Builtins._replaced,
    "cards of piles": lambda b, node: b.list_of(b.source(node)),
    "clockwise": lambda b, node: b.list_of(b.source(node)),
    "sum": lambda b, node: b.total(b.source(node.arguments[0])),
    "sum of bags": lambda b, node: b.call("sum_of_bags", b.value(node.arguments[0]), b.width(node.type)),
    "total": lambda b, node: b._runtime("sum_of_words", node),
    "min": Builtins._extreme,
    "max": Builtins._extreme,
    "min of list": lambda b, node: b.extreme(b.source(node.arguments[0]), "lt"),
    "max of list": lambda b, node: b.extreme(b.source(node.arguments[0]), "gt"),
    "room": lambda b, node: b.allocated(b.words(node.arguments, b.shapes.fields(node.type))),
    "overflow": Builtins._overflow,
    "space": Builtins._space,
    "price": Builtins._price,
    "vacancy": Builtins._vacancy,
    "prices": lambda b, node: b.call("track_prices", b._track(node.arguments[0]), b.value(node.arguments[1])),
    "neighbours": Builtins._neighbours,
    "distance": Builtins._way,
    "path": Builtins._way,
}
"""Builders of functions that are not part of the runtime. One for the type of the first argument takes precedence."""
