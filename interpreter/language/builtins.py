"""Registry of built-in functions, used by the checker and by both execution forms.

A call in the checked tree holds its row. :mod:`interpreter.language.check_expressions` checks the arguments. The plain
form has a function for each row in :mod:`interpreter.plain.builtin_functions`. A module calls the function of
the runtime with that name, or :mod:`interpreter.compiler.codegen.builtin_calls` builds it from other ops.
"""

from __future__ import annotations

from typing import NamedTuple

from interpreter.language import types

__all__ = ["BUILTINS", "FUNCTIONS", "OWN_NAMES", "OWN_TYPES", "OWN_VALUES", "TYPES", "TYPE_FORMS", "Builtin"]


class Builtin(NamedTuple):
    """One built-in function. The types of parameters and result are words: see :data:`TYPES` and :data:`TYPE_FORMS`."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    about: str = ""
    """Description for authors. A built-in without one is internal: the checker inserts it, authors cannot call it."""
    many: bool = False
    """The last parameter is variadic."""
    rewritten: bool = False
    """The checker replaces calls by another expression, so neither execution form implements it."""
    partial: bool = False
    """It may find nothing. The call then fails, or returns none if the context allows none."""
    strict: bool = False
    """It fails for some arguments."""
    reads: bool = False
    """It reads the content of its holder arguments. No built-in writes cells."""
    runtime: bool = False
    """Implemented by the function of the runtime with this name, which also takes the width of bags, if any occur."""
    steps: int | None = 1
    """Cost of a call in steps, in addition to the lengths of arguments and result. None: the size of the graph."""


_ROWS = (
    Builtin("count", ("counted",), "int", "the number of cards, items, tokens or pieces"),
    Builtin("first", ("list",), "item", "the first item", partial=True),
    Builtin("last", ("list",), "item", "the last item", partial=True),
    Builtin("rest", ("list",), "list", "all items but the first", runtime=True),
    Builtin("take", ("int", "list"), "list", "the first n items, or all if there are fewer", runtime=True),
    Builtin("reversed", ("list",), "list", "the items in reverse order", runtime=True),
    Builtin("distinct", ("list",), "list", "each item once, at its first position"),
    Builtin("subsets", ("int", "list"), "lists", "every combination of n of the items", strict=True, runtime=True),
    Builtin("keys", ("table",), "list", "the values of a table's only key, or of the named key", rewritten=True),
    Builtin(
        "cells", ("table",), "list", "the cells of a table, or of its line for all keys but the last", rewritten=True
    ),
    Builtin("position", ("any", "list"), "int", "the position of the item, from 0", partial=True),
    Builtin("sum", ("numbers",), "int", "the sum of all numbers or bags"),
    Builtin("min", ("int", "int"), "int", "the smallest of the numbers", many=True),
    Builtin("max", ("int", "int"), "int", "the largest of the numbers", many=True),
    Builtin("total", ("bag",), "int", "the number of tokens in a bag"),
    Builtin("room", ("kinds", "int"), "room", "a space for n tokens of any of the kinds"),
    Builtin(
        "overflow",
        ("bag", "rooms"),
        "int",
        "the number of tokens of the bag without space, in the best possible storage",
        strict=True,
        steps=32,
    ),
    Builtin(
        "space",
        ("bag", "rooms", "kind"),
        "int",
        "the number of further tokens of the kind that fit in beside the bag",
        strict=True,
        steps=32,
    ),
    Builtin(
        "mixes",
        ("int", "kinds", "bag"),
        "bags",
        "every bag of n tokens of the kinds, taken from the bag",
        strict=True,
        runtime=True,
        steps=32,
    ),
    Builtin(
        "price",
        ("track", "bag"),
        "int",
        "the total price of the cheapest such tokens of the track",
        strict=True,
        reads=True,
    ),
    Builtin("vacancy", ("track", "kind"), "int", "the number of empty spaces of the kind", strict=True, reads=True),
    Builtin("prices", ("track", "kind"), "ints", "the price of each space of the kind, cheapest first", strict=True),
    Builtin("neighbours", ("node",), "nodes", "the nodes that are one link away"),
    Builtin(
        "links",
        ("node",),
        "links",
        "the links of the node, each with its `from` and `to`",
        rewritten=True,
    ),
    Builtin(
        "distance",
        ("nodes", "node", "nodes"),
        "int",
        "the length of the cheapest path from any of the nodes, through the others",
        partial=True,
        steps=None,
    ),
    Builtin(
        "path", ("nodes", "node", "nodes"), "nodes", "the nodes of that path, from its start", partial=True, steps=None
    ),
    Builtin("connected", ("nodes",), "bool", "whether links connect all the nodes", runtime=True, steps=None),
    Builtin("clockwise", ("seat",), "seats", "the other seats, from the one on the left"),
    Builtin("top", ("pile",), "item", "the uppermost card of a pile", strict=True),
    Builtin("min of list", ("ints",), "int", partial=True),
    Builtin("max of list", ("ints",), "int", partial=True),
    Builtin("sum of bags", ("bags", "bag"), "bag", strict=True),
    Builtin("without", ("list", "item"), "list", strict=True),
    Builtin("replaced", ("list", "int", "item"), "list", strict=True),
    Builtin("set of list", ("list",), "set"),
    Builtin("cards of piles", ("piles",), "list"),
)

TYPES: dict[str, types.Type] = {
    "int": types.INT,
    "bool": types.BOOL,
    "node": types.NODE,
    "seat": types.SEAT,
    "ints": types.ListType(types.INT),
    "nodes": types.ListType(types.NODE),
    "seats": types.ListType(types.SEAT),
    "links": types.ListType(types.LINK),
}
"""Words for parameters and results of one type."""
TYPE_FORMS: dict[str, tuple[str, tuple[type[types.Type], ...], type[types.AnyType]]] = {
    "counted": (
        "something to count",
        (types.ListType, types.SetType, types.BagType, types.IntType, types.PileType),
        types.AnyType,
    ),
    "pile": ("a pile", (types.PileType,), types.AnyType),
    "kinds": ("a set of kinds", (types.ListType, types.SetType), types.KindType),
    "rooms": ("a list of rooms", (types.ListType,), types.RoomType),
}
"""Words for parameters of several types: a description, the allowed forms, and the form of items of collections."""

BUILTINS = {row.name: row for row in _ROWS}
FUNCTIONS = {name: row for name, row in BUILTINS.items() if row.about}
"""Built-ins that authors may call."""

OWN_VALUES = {
    "players": "the number of seats that count",
    "seats": "all seats",
    "round": "the number of the round",
    "phase": "the current phase, or none before the first phase of a round",
}
OWN_TYPES = {
    "int": "whole numbers",
    "bool": "yes or no",
    "text": "texts",
    "seat": "the seats at the table, from 0, clockwise",
    "card": "the cards of all kinds",
    "piece": "pieces on places, each with its owner",
    "role": "the roles of seats",
    "phase": "the phases of a round",
    "place": "the places on nodes",
    "link": "links of the graph, in one direction each",
    "pile": "a pile of a zone of piles",
    "list": "values in order",
    "set": "values without order and repeats",
    "bag": "numbers of tokens by kind",
    "zone": "a holder of cards",
    "piles": "a holder of piles of cards",
    "pool": "a holder of tokens",
    "track": "a holder of tokens on printed spaces",
    "stock": "a holder of pieces",
}
OWN_ATTRIBUTES = {
    "counts": "whether a seat counts as a player",
    "role": "the role of a seat",
    "number": "the number of a seat, from 0, or of a place of a node, from 1",
    "places": "the places of a node",
    "piece": "the piece on a place, or none",
    "owner": "the seat that owns a piece",
    "from": "the node at which a link begins",
    "to": "the node at which a link ends",
    "top": "the uppermost card of a pile",
}
OWN_QUERIES = {
    "any": "whether a claim holds for an item, or an item passes a test",
    "all": "whether a claim holds for all items",
    "sorted": "all items, sorted by keys",
    "base": "the layer below, in a rule that wraps it",
}
OWN_NAMES = {"value": OWN_VALUES, "type": OWN_TYPES, "attribute": OWN_ATTRIBUTES, "call": OWN_QUERIES}
"""Names of the language other than functions, by use, with descriptions for authors."""
