"""The language's own functions in the plain form."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from interpreter.compiler.constants import Constants, Env, Evaluate, RuleFailure
from interpreter.kernel import bags
from interpreter.kernel.graphs import Graph
from interpreter.kernel.state import State, Value
from interpreter.language import core as c
from interpreter.language.model import Model

if TYPE_CHECKING:
    from interpreter.compiler.plain.evaluate import Evaluator

__all__ = ["Builtins"]

MAXIMUM_SUBSETS = 20_000


class Builtins:
    """Closures of the language's own functions."""

    def __init__(self, constants: Constants, expressions: Evaluator) -> None:
        self.constants = constants
        self.expressions = expressions

    def compile(self, node: c.Builtin) -> Evaluate:
        arguments = [self.expressions.compile(argument) for argument in node.arguments]
        function = self._charged(node, self._function(node))
        if len(arguments) == 1:
            (only,) = arguments
            call: Evaluate = lambda state, env: function(state, only(state, env))  # noqa: E731
        else:
            call = lambda state, env: function(state, *[argument(state, env) for argument in arguments])  # noqa: E731
        name, span = node.name, node.span

        def checked(state: State, env: Env) -> Value:
            try:
                found = call(state, env)
            except ValueError as error:
                raise RuleFailure(f"`{name}`: {error}", span) from None
            if found is None and not or_none:
                raise RuleFailure(f"`{name.split()[0]}` finds nothing here", span)
            return found

        or_none = node.or_none
        return checked

    def _charged(self, node: c.Builtin, function: Callable[..., Value]) -> Callable[..., Value]:
        """What goes in and comes out costs steps; so does a look at the whole graph."""
        graph, meter, span = self.constants.graph, self.expressions.meter, node.span
        always = 1
        if node.name in ("distance", "path", "connected") and graph is not None:
            always = graph.node_count + len(graph.links)
        elif node.name in ("overflow", "space", "mixes"):
            always = 32

        def charged(state: State, *arguments: Value) -> Value:
            steps = always
            for argument in arguments:
                if type(argument) is tuple:
                    steps += len(argument) >> 3
            meter.charge(steps, span)
            found = function(state, *arguments)
            if type(found) is tuple:
                meter.charge(len(found), span)
            return found

        return charged

    def _function(self, node: c.Builtin) -> Callable[..., Value]:
        graph, lengths = self.constants.graph, self.constants.lengths
        tracks, seats = self.constants.tracks, self.constants.seats
        form = node.arguments[0].type.form if node.arguments else ""
        match node.name:
            case "count":
                if form == "int":
                    return lambda state, number: number
                return (lambda state, bag: sum(bag)) if form == "bag" else (lambda state, items: len(items))
            case "first" | "top":
                return lambda state, items: items[0] if items else None
            case "last":
                return lambda state, items: items[-1] if items else None
            case "rest":
                return lambda state, items: tuple(items[1:])
            case "take":
                return lambda state, number, items: tuple(items[: max(0, number)])
            case "reversed":
                return lambda state, items: tuple(reversed(items))
            case "distinct":
                return lambda state, items: tuple(dict.fromkeys(items))
            case "subsets":
                return _subsets
            case "sum of bags":
                return lambda state, found, empty: tuple(map(sum, zip(empty, *found, strict=True)))
            case "position":
                return lambda state, item, items: items.index(item) if item in items else None
            case "without":
                return _without
            case "cards of piles":
                return lambda state, piles: tuple([card for pile in piles for card in pile])
            case "set of list":
                return lambda state, items: tuple(sorted(set(items)))
            case "sum" | "total":
                return lambda state, numbers: sum(numbers)
            case "min":
                return lambda state, *numbers: min(numbers)
            case "max":
                return lambda state, *numbers: max(numbers)
            case "min of list":
                return lambda state, numbers: min(numbers, default=None)
            case "max of list":
                return lambda state, numbers: max(numbers, default=None)
            case "room":
                return lambda state, kinds, number: (kinds, number)
            case "overflow":
                return lambda state, bag, rooms: bags.overflow(bag, rooms)
            case "space":
                return lambda state, bag, rooms, kind: bags.space(bag, rooms, kind)
            case "mixes":
                return lambda state, number, kinds, bag: bags.mixes(number, kinds, bag)
            case "price":
                return lambda state, track, bag: tracks[track].price_of(_as_bag(state.cells[track]), _as_bag(bag))
            case "vacancy":
                return lambda state, track, kind: tracks[track].room(kind, _as_bag(state.cells[track])[kind])
            case "prices":
                return lambda state, track, kind: tracks[track].prices(kind)
            case "clockwise":
                return lambda state, seat: tuple(seats[seat + 1 :] + seats[:seat])
            case _:
                assert graph is not None
                return self._of_graph(node.name, graph, lengths)

    def _of_graph(self, name: str, graph: Graph, lengths: tuple[int, ...]) -> Callable[..., Value]:
        if name in ("distance", "path") and not lengths and graph.links:
            of, ways = dealt_lengths(self.constants.model), graph.path
            if name == "path":
                return lambda state, starts, goal, within, cards: ways(starts, goal, within, of(cards))
            return lambda state, starts, goal, within, cards: graph.distances(starts, within, of(cards))[goal]
        match name:
            case "neighbours":
                return lambda state, node: graph.neighbours(node)
            case "distance":
                return lambda state, starts, goal, within: graph.distances(starts, within, lengths)[goal]
            case "path":
                return lambda state, starts, goal, within: graph.path(starts, goal, within, lengths)
            case "connected":
                return lambda state, nodes: graph.connected(nodes)
            case _:
                raise AssertionError(name)


def dealt_lengths(model: Model) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """The lengths that cards have which are dealt onto the links: the same object for the same cards."""
    assert model.graph is not None
    name, links = model.graph.length or "", len(model.graph.links)

    @lru_cache(64)
    def lengths(cards: tuple[int, ...]) -> tuple[int, ...]:
        if len(cards) < links:
            raise ValueError(f"{len(cards)} cards lie on {links} links")
        return tuple(model.cards[card].values[name] for card in cards[:links])

    return lengths


def _as_bag(value: Value) -> Value:
    return value if isinstance(value, tuple) else (value,)


def _without(state: State, items: Value, item: Value) -> Value:
    if item not in items:
        raise ValueError("what is removed is not in the list")
    at = items.index(item)
    return items[:at] + items[at + 1 :]


def _subsets(state: State, number: int, items: Value) -> Value:
    """Every choice of so many items, in the order in which they stand."""
    many = comb(len(items), number) if number >= 0 else 0
    if many > MAXIMUM_SUBSETS:
        raise ValueError(f"{many:,} choices of {number} among {len(items)}; at most {MAXIMUM_SUBSETS:,} are made")
    return tuple(combinations(items, number)) if many else ()
