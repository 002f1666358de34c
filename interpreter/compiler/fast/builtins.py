"""The language's own functions in the fast form: what the game's own tracks, rooms and mixes tell is looked up."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from interpreter.compiler.fast.budget import FEW
from interpreter.compiler.fast.parts import part_of
from interpreter.compiler.fast.quote import is_constant, value_of
from interpreter.compiler.fast.rooms import RoomsOfCards
from interpreter.compiler.fast.scope import Scope, Unsupported
from interpreter.compiler.fast.terms import cheap
from interpreter.language import core as c

if TYPE_CHECKING:
    from interpreter.compiler.fast.expressions import Expressions

__all__ = ["Builtins"]


class Builtins:
    """Writes calls of the language's own functions, for :class:`~interpreter.compiler.fast.expressions.Expressions`."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.emitter, self.quote, self.knowledge = expressions.emitter, expressions.quote, expressions.knowledge
        self.constants = expressions.constants

    def builtin(self, node: c.Builtin, scope: Scope) -> ast.expr:
        """What a call of one gives."""
        q, x = self.quote, self.expressions
        name, nodes = node.name, node.arguments
        match name:
            case "count" if nodes[0].type.form not in ("int", "bag"):
                return self._folded(q.expression("len(_0)", x.items(nodes[0], scope, kept=False)), len)
            case "sum" | "total":
                return self._sum(nodes[0], scope)
            case "min of list" | "max of list":
                at_end = x.loops.end_number(node, None, scope)
                if at_end is not None:
                    return at_end
                named: dict[str, ast.expr] = {"default": q.constant(None)} if node.or_none else {}
                return x.loops.keyed(name[:3], [x.items(nodes[0], scope, kept=False)], named)
            case "overflow" | "space":
                return self._housed(node, scope)
            case "price":
                return self._price(node, scope)
            case "vacancy":
                return self._vacancy(nodes[0], x.expression(nodes[1], scope), scope)
            case _:
                arguments = [x.expression(argument, scope) for argument in nodes]
                q.at(node.span)
                return self._given(node, arguments, scope)

    def _given(self, node: c.Builtin, arguments: list[ast.expr], scope: Scope) -> ast.expr:
        """A call with arguments already written."""
        q = self.quote
        match node.name:
            case "count":
                return arguments[0] if node.arguments[0].type.form == "int" else q.expression("sum(_0)", arguments[0])
            case "first" | "top" | "last" | "rest" | "take" | "reversed" | "position" | "without":
                return self._of_list(node, arguments)
            case "cards of piles":
                return q.expression("tuple([card for pile in _0 for card in pile])", arguments[0])
            case "set of list":
                return q.expression("tuple(sorted(set(_0)))", arguments[0])
            case "min" | "max":
                return self._extreme(node.name, arguments)
            case "room":
                return q.tuple(arguments)
            case "mixes":
                return self._mixes(node, arguments, scope)
            case "clockwise":
                seats = self.constants.seats
                turned = tuple(seats[seat + 1 :] + seats[:seat] for seat in range(len(seats)))
                return q.expression("_0[_1]", q.name(self.emitter.bind("clockwise", turned)), arguments[0])
            case "neighbours" | "connected":
                return q.call(node.name, arguments)
            case "distance":
                return self._distance(node, arguments, scope)
            case "path":
                found = q.call("path_dealt" if len(arguments) > 3 else "path", arguments)
                return found if node.or_none else q.call("sure", [found])
            case _:
                raise Unsupported(node.name)

    def _of_list(self, node: c.Builtin, arguments: list[ast.expr]) -> ast.expr:
        """An item of a list, or some of its items."""
        q = self.quote
        match node.name:
            case "first" | "top" if not node.or_none:
                return q.expression("_0[0]", arguments[0])
            case "first" | "top" if cheap(arguments[0]):
                return q.expression("_0[0] if _0 else None", arguments[0])
            case "first" | "top":
                return q.call("first_or_none", arguments)
            case "last":
                return q.call("last_or_none", arguments) if node.or_none else q.expression("_0[-1]", arguments[0])
            case "rest":
                return q.expression("_0[1:]", arguments[0])
            case "take" if is_constant(arguments[0]):
                return q.expression("_1[:_0]", q.constant(max(0, value_of(arguments[0]))), arguments[1])
            case "take":
                return q.expression("_1[:max(0, _0)]", *arguments)
            case "reversed":
                return q.expression("_0[::-1]", arguments[0])
            case "position" if node.or_none:
                return q.call("position_or_none", arguments)
            case "position":
                return q.expression("_1.index(_0)", *arguments)
            case _:
                return q.call(node.name, arguments)

    def _distance(self, node: c.Builtin, arguments: list[ast.expr], scope: Scope) -> ast.expr:
        """One of the distances of all nodes, which are remembered together."""
        q, x = self.quote, self.expressions
        starts, goal, within, *dealt = arguments
        vector = q.call("distances_dealt" if dealt else "distances", [starts, within, *dealt])
        vector = x.hoisted(x.calls.remembered("distances", vector, scope) or vector, scope)
        found = q.expression("_0[_1]", vector, goal)
        return found if node.or_none else q.call("sure", [found])

    def _sum(self, node: c.Expression, scope: Scope) -> ast.expr:
        x = self.expressions
        if isinstance(node, c.Loop) and node.operation == "map":
            unrolled = x.loops.unrolled(node, scope)
            if unrolled:
                found = unrolled[0]
                for part in unrolled[1:]:
                    found = self.quote.expression("_0 + _1", found, part)
                return found
        return self.quote.expression("sum(_0)", x.items(node, scope, kept=False))

    def _extreme(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        if all(is_constant(argument) for argument in arguments):
            values = [value_of(argument) for argument in arguments]
            return self.quote.constant(min(values) if name == "min" else max(values))
        if len(arguments) == 2 and all(cheap(argument) for argument in arguments):
            template = "_0 if _0 <= _1 else _1" if name == "min" else "_0 if _0 >= _1 else _1"
            return self.quote.expression(template, *arguments)
        return self.quote.call(name, arguments)

    def _folded(self, node: ast.expr, function: Callable[[Any], Any]) -> ast.expr:
        if isinstance(node, ast.Call) and is_constant(node.args[0]):
            return self.quote.constant(function(value_of(node.args[0])))
        return node

    def _mixes(self, node: c.Builtin, arguments: list[ast.expr], scope: Scope) -> ast.expr:
        """Mixes are looked up: by few counts of the bag where all that can be asked for is known, or by all of it."""
        x = self.expressions
        q, bag, name = self.quote, arguments[2], node.arguments[2].type.name
        known = self.knowledge.mixtures(node)
        if known is not None:
            mixtures, of = known[0], x.expression(known[1], scope)
            if cheap(of) and cheap(bag):
                rows = self.emitter.bind(f"mixes of {name}", mixtures.rows, mixtures.asked)
                found = q.expression("_0[_1]", q.name(rows), of)
                for kinds in mixtures.kinds:
                    count = x.bag_item(bag, x.looked_up(f"mixed {name}", kinds, of), name)
                    found = q.expression("_0[_1]", found, count)
                found.length = FEW  # type: ignore[attr-defined]
                return found
        found = q.expression("mixes[_0]", q.tuple(arguments))
        found.heavy = self.emitter.sizes.mixes  # type: ignore[attr-defined]
        return found

    # --- rooms

    def _housed(self, node: c.Builtin, scope: Scope) -> ast.expr:
        """What rooms leave outside, or have left. What sets of kinds can claim follows from the rooms: it is kept."""
        q, x = self.quote, self.expressions
        bag, rooms = x.expression(node.arguments[0], scope), node.arguments[1]
        kind = self.constants.model.kinds.get(node.arguments[0].type.name)
        width = q.constant(len(kind.members)) if kind is not None else q.expression("len(_0)", bag)
        of_cards = self._claims_of_cards(rooms, width, scope)
        claims = of_cards or q.call("claims", [x.expression(rooms, scope), width])
        if kind is not None:
            claims = x.calls.outlined("claims", claims)
        match rooms, claims:
            case c.Loop(test=None), ast.Call(ast.Name(name)) if of_cards is not None:
                self.emitter.functions.rooms.add(name)
        found = q.expression("_0.outside[_1]" if node.name == "overflow" else "_0.space[_1]", claims, bag)
        found.heavy = self.emitter.sizes.sets  # type: ignore[attr-defined]
        return (
            found
            if node.name == "overflow"
            else x.bag_item(found, x.expression(node.arguments[2], scope), node.arguments[0].type.name)
        )

    def _claims_of_cards(self, rooms: c.Expression, width: ast.expr, scope: Scope) -> ast.expr | None:
        """What is claimed of the rooms of some cards in a zone, where each card always has the same room.

        It is looked up by how much all rooms for the same kinds hold, which one sum tells.
        """
        match rooms:
            case c.Loop("map", items=c.Read(c.Cell(group)), value=c.Core() as room) if group in self.emitter.zones:
                told = self.emitter.told_of_cards(rooms, room)
            case _:
                return None
        if told is None or not is_constant(width):
            return None
        q, known = self.quote, RoomsOfCards(told, value_of(width))
        if not known.is_few:
            return None
        numbers = q.name(self.emitter.bind("room", known.numbers))
        number = q.expression("_0[_1]", numbers, q.name(scope.label(rooms.variable)))
        counted = self.expressions.loops.comprehension(rooms, scope, lambda _: number, False)
        found = q.expression("_0[sum(_1)]", q.name(self.emitter.bind("claims", known)), counted)
        found.heavy = self.emitter.sizes.claims(value_of(width))  # type: ignore[attr-defined]
        return found

    # --- tracks

    def _vacancy(self, node: c.Expression, kind: ast.expr, scope: Scope) -> ast.expr:
        """How much room for a kind there is on a track."""
        q, x = self.quote, self.expressions
        track, present = x.address(node, scope), x.read(node, scope)
        if not is_constant(track) or value_of(track) in self.constants.effects.units or not cheap(kind):
            return q.call("room_on", [track, present, kind])
        return q.expression("_0 - _1", self.capacity(value_of(track), kind), x.bag_item(present, kind, node.type.name))

    def capacity(self, track: int, kind: ast.expr) -> ast.expr:
        """How many tokens of a kind there is room for on a track."""
        full = self.constants.tracks[track].capacities()
        if is_constant(kind):
            return self.quote.constant(full[value_of(kind)])
        return self.quote.expression("_0[_1]", self.quote.name(self.emitter.bind(f"full {track}", full)), kind)

    def _price(self, node: c.Builtin, scope: Scope) -> ast.expr:
        """The price of some tokens of one kind is looked up, of a mix it is worked out."""
        q, x = self.quote, self.expressions
        track = x.address(node.arguments[0], scope)
        present = x.read(node.arguments[0], scope)
        wanted = node.arguments[1]
        if not is_constant(track):
            return q.call("price_on", [track, present, x.expression(wanted, scope)])
        found = self.constants.tracks[value_of(track)]
        rows = tuple(
            tuple(
                {number: found.price(kind, count, number) for number in range(count + 1)}
                for count in range(found.capacity(kind) + 1)
            )
            for kind in range(len(found.spaces))
        )
        label = f"prices {value_of(track)}"
        if isinstance(wanted, c.AmountOf):
            number, kind = x.expression(wanted.number, scope), x.expression(wanted.kind, scope)
            return self._price_of(label, rows, present, kind, number)
        tokens = x.expression(wanted, scope)
        if value_of(track) in self.constants.effects.units:
            return q.expression("_0[_1][_2]", q.name(self.emitter.bind(f"{label} of 0", rows[0])), present, tokens)
        if isinstance(tokens, ast.Constant):
            some = [i for i, part in enumerate(value_of(tokens)) if part]
            if len(some) == 1:
                return self._price_of(label, rows, present, q.constant(some[0]), q.constant(value_of(tokens)[some[0]]))
        if isinstance(tokens, ast.Tuple):
            some = [i for i, part in enumerate(tokens.elts) if not (is_constant(part) and value_of(part) == 0)]
            if len(some) == 1:
                return self._price_of(label, rows, present, q.constant(some[0]), tokens.elts[some[0]])
        return q.call("price_on", [track, present, tokens])

    def _price_of(
        self, label: str, rows: tuple[Any, ...], present: ast.expr, kind: ast.expr, number: ast.expr
    ) -> ast.expr:
        if not cheap(kind):
            raise Unsupported("a price of a kind that is worked out")
        q, emitter = self.quote, self.emitter
        if not is_constant(kind):
            return q.expression("_0[_1][_2[_1]][_3]", q.name(emitter.bind(label, rows)), kind, present, number)
        row, label = rows[value_of(kind)], f"{label} of {value_of(kind)}"
        held = part_of(q.expression("_0[_1]", present, kind), len(rows))
        if is_constant(number):  # none where there are not so many
            prices = tuple([each.get(value_of(number)) for each in row])
            of_count = q.name(emitter.bind(f"{label} for {value_of(number)}", prices))
            return q.call("sure", [q.expression("_0[_1]", of_count, held)])
        return q.expression("_0[_1][_2]", q.name(emitter.bind(label, row)), held, number)
