"""The functions that every rule may call. Each line is a name, its parameters and what it gives.

A parameter is described by a word: ``int``, ``list`` (any list, set or zone), ``bag``, ``track`` (the holder),
``node``, ``nodes`` (a list of them), ``seat``, ``rooms``, ``kind``, ``kinds``, ``pile``, ``any``. A result is a word
too: ``item`` is an item of the list, ``bags`` a list of bags of the kind that the other arguments show.
"""

from __future__ import annotations

from interpreter.base.frozen import dataclass

__all__ = ["FUNCTIONS", "Function"]


@dataclass(frozen=True, slots=True)
class Function:
    """One built-in function. ``partial``: it may have nothing to give, which stops the game unless asked."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    about: str
    partial: bool = False
    many: bool = False


_ALL = (
    Function("count", ("counted",), "int", "how many cards, items, tokens or pieces"),
    Function("first", ("list",), "item", "the first item", partial=True),
    Function("last", ("list",), "item", "the last item", partial=True),
    Function("rest", ("list",), "list", "all items but the first"),
    Function("take", ("int", "list"), "list", "the first so many items, or all where there are fewer"),
    Function("reversed", ("list",), "list", "the items from the last to the first"),
    Function("distinct", ("list",), "list", "each item once, where it stands first"),
    Function("subsets", ("int", "list"), "lists", "every choice of so many of the items"),
    Function("keys", ("table",), "list", "the values of a table's only key, or of the key that is named"),
    Function("cells", ("table",), "list", "the cells of a table, or of its line for all keys but the last"),
    Function("position", ("any", "list"), "int", "where the item stands, from 0", partial=True),
    Function("sum", ("ints",), "int", "all numbers, or all bags, added up"),
    Function("min", ("int", "int"), "int", "the smallest of the numbers", many=True),
    Function("max", ("int", "int"), "int", "the largest of the numbers", many=True),
    Function("total", ("bag",), "int", "how many tokens a bag holds"),
    Function("room", ("kinds", "int"), "room", "a space for so many tokens of any of the kinds"),
    Function("overflow", ("bag", "rooms"), "int", "how many tokens of the bag find no space, stored as well as can be"),
    Function("space", ("bag", "rooms", "kind"), "int", "how many more tokens of the kind find space beside the bag"),
    Function("mixes", ("int", "kinds", "bag"), "bags", "every bag of so many tokens of the kinds that the bag holds"),
    Function("price", ("track", "bag"), "int", "what the cheapest such tokens of the track cost together"),
    Function("vacancy", ("track", "kind"), "int", "how many spaces of the kind are empty"),
    Function("prices", ("track", "kind"), "ints", "the price of each space of the kind, the cheapest first"),
    Function("neighbours", ("node",), "nodes", "the nodes that a link leads to from this one"),
    Function("links", ("node",), "links", "the links that lead away from the node, each with its `from` and `to`"),
    Function(
        "distance",
        ("nodes", "node", "nodes"),
        "int",
        "the length of the cheapest way from any of the nodes, within the others",
        partial=True,
    ),
    Function("path", ("nodes", "node", "nodes"), "nodes", "the nodes of that way, from its start", partial=True),
    Function("connected", ("nodes",), "bool", "whether links join the nodes to one piece"),
    Function("clockwise", ("seat",), "seats", "the other seats, from the one on the left"),
    Function("top", ("pile",), "card", "the uppermost card of a pile"),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
