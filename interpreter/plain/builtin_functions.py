"""Built-in functions in the plain form: a Python function for each row of the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb

from interpreter.kernel import bags
from interpreter.kernel.state import State, Value, as_bag
from interpreter.language import core
from interpreter.language.model import Model
from interpreter.lowering.constants import Constants, RuleFailure
from interpreter.plain.closures import Env, Evaluate, Meter, row

__all__ = ["OF_GAME", "OF_VALUES", "compiled", "dealt_lengths"]

MAXIMUM_SUBSETS = 20_000


def compiled(node: core.CallBuiltin, values: Sequence[Evaluate], game: Constants, meter: Meter) -> Evaluate:
    """Compile a call, given the closures of its arguments. Arguments and results cost steps by their size."""
    built_in, span = node.builtin, node.span
    words = (*built_in.parameters, *built_in.parameters[-1:] * len(node.arguments))
    values_of = row([_argument(word, value, game) for word, value in zip(words, values, strict=False)])
    function, or_none = implementation(node, game), node.or_none
    graph, always = game.graph, built_in.steps
    always = graph.node_count + len(graph.links) if always is None else always

    def call(state: State, env: Env) -> Value:
        values = values_of(state, env)
        steps = always
        for value in values:
            if type(value) is tuple:
                steps += len(value) >> 3
        meter.charge(steps, span)
        try:
            result = function(*values)
        except ValueError as error:
            raise RuleFailure(f"`{built_in.name}`: {error}", span) from None
        if type(result) is tuple:
            meter.charge(len(result), span)
        elif result is None and not or_none:
            raise RuleFailure(f"`{built_in.name.split()[0]}` finds nothing here", span)
        return result

    return call


def _argument(word: str, value: Evaluate, game: Constants) -> Evaluate:
    """Compile an argument. A track becomes a pair: the track and its contents."""
    if word != "track":
        return value
    tracks = game.effects.tracks
    return lambda state, env: (tracks[cell := value(state, env)], as_bag(state.cells[cell]))


def implementation(node: core.CallBuiltin, game: Constants) -> Callable[..., Value]:
    """Return the implementation of a call. One for the type of the first argument takes precedence."""
    name = node.builtin.name
    typed = f"{name} of {node.arguments[0].type.word}"
    return OF_VALUES.get(typed) or OF_VALUES.get(name) or OF_GAME[name](game)


def _without(items: Value, item: Value) -> Value:
    if item not in items:
        raise ValueError("the item to remove is not in the list")
    at = items.index(item)
    return items[:at] + items[at + 1 :]


def _replaced(items: Value, at: int, item: Value) -> Value:
    if not 0 <= at < len(items):
        raise ValueError(f"no item {at} in a list of {len(items)}")
    return (*items[:at], item, *items[at + 1 :])


def _subsets(number: int, items: Value) -> Value:
    """Return all subsets of a size, in the order of the items."""
    count = comb(len(items), number) if number >= 0 else 0
    if count > MAXIMUM_SUBSETS:
        raise ValueError(f"{count:,} choices of {number} among {len(items)}; at most {MAXIMUM_SUBSETS:,} are made")
    return tuple(combinations(items, number)) if count else ()


OF_VALUES: dict[str, Callable[..., Value]] = {
    "count": len,
    "count of bag": sum,
    "count of int": lambda number: number,
    "first": lambda items: items[0] if items else None,
    "top": lambda cards: cards[0] if cards else None,
    "last": lambda items: items[-1] if items else None,
    "rest": lambda items: tuple(items[1:]),
    "take": lambda number, items: tuple(items[: max(0, number)]),
    "reversed": lambda items: tuple(reversed(items)),
    "distinct": lambda items: tuple(dict.fromkeys(items)),
    "subsets": _subsets,
    "position": lambda item, items: items.index(item) if item in items else None,
    "without": _without,
    "replaced": _replaced,
    "sum": sum,
    "total": sum,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "min of list": lambda numbers: min(numbers, default=None),
    "max of list": lambda numbers: max(numbers, default=None),
    "sum of bags": lambda bags_, empty: tuple(map(sum, zip(empty, *bags_, strict=True))),
    "set of list": lambda items: tuple(sorted(set(items))),
    "cards of piles": lambda piles: tuple([card for pile in piles for card in pile]),
    "room": lambda kinds, number: (kinds, number),
    "overflow": bags.overflow,
    "space": bags.space,
    "mixes": bags.mixes,
    "price": lambda track, bag: track[0].price_of(track[1], as_bag(bag)),
    "vacancy": lambda track, kind: track[0].room(kind, track[1][kind]),
    "prices": lambda track, kind: track[0].prices(kind),
}
"""Functions that depend on their arguments alone."""


def _lengths(game: Constants) -> Callable[..., tuple[int, ...]]:
    """Return a function from cards to the lengths of links; without dealt cards, the lengths are constant."""
    if not game.lengths and game.graph.links:
        return dealt_lengths(game.model)
    return lambda: game.lengths


def _distance(game: Constants) -> Callable[..., Value]:
    graph, lengths = game.graph, _lengths(game)
    return lambda starts, goal, within, *cards: graph.distances(starts, within, lengths(*cards))[goal]


def _path(game: Constants) -> Callable[..., Value]:
    graph, lengths = game.graph, _lengths(game)
    return lambda starts, goal, within, *cards: graph.path(starts, goal, within, lengths(*cards))


def dealt_lengths(model: Model) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """Return the memoised function from the cards that are dealt onto the links to their lengths."""
    assert model.graph is not None
    name, links = model.graph.length or "", len(model.graph.links)

    @lru_cache(64)
    def lengths(cards: tuple[int, ...]) -> tuple[int, ...]:
        if len(cards) < links:
            raise ValueError(f"{len(cards)} cards lie on {links} links")
        return tuple(model.cards[card].values[name] for card in cards[:links])

    return lengths


OF_GAME: dict[str, Callable[[Constants], Callable[..., Value]]] = {
    "neighbours": lambda game: game.graph.neighbours,
    "connected": lambda game: game.graph.connected,
    "distance": _distance,
    "path": _path,
    "clockwise": lambda game: lambda seat: game.seats[seat + 1 :] + game.seats[:seat],
}
"""Functions that depend on constants of a game, as factories."""
