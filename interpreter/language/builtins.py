"""The registry of built-in functions: a row for each, which the checker and both machines ask.

The plain form has a function for each row in :mod:`interpreter.compiler.plain.builtin_functions`. In a module it is a
function of the runtime with that name, or one of :mod:`interpreter.compiler.build.builtin_calls` builds it of other
ops.
"""

from __future__ import annotations

from typing import Protocol

from interpreter.base.frozen import dataclass
from interpreter.base.source import Span
from interpreter.language import core, nodes
from interpreter.language.model import Model
from interpreter.language.types import (
    BOOL,
    INT,
    LINK,
    NEVER,
    NODE,
    SEAT,
    AnyType,
    BagType,
    CardType,
    CollectionType,
    HolderType,
    IntType,
    KindType,
    ListType,
    NeverType,
    PileType,
    RoomType,
    SetType,
    TrackType,
    Type,
)

__all__ = ["BUILTINS", "FUNCTIONS", "Builtin", "BuiltinCall"]


@dataclass(frozen=True, slots=True)
class Builtin:
    """One built-in function. Parameters and the result are words: see :data:`TYPES`, :data:`WANTED` and
    :class:`BuiltinCall`."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    about: str = ""
    """Its line for authors. Without one, only the checker puts it into a tree: no author can write its name."""
    many: bool = False
    """The last parameter may be given several times."""
    rewritten: bool = False
    """The checker puts another expression in its place: no machine knows it."""
    partial: bool = False
    """It may find nothing: a failure, unless none is allowed where it is called."""
    strict: bool = False
    """It refuses some arguments: a failure."""
    reads: bool = False
    """It reads cells: what the holders hold that it is given. None writes any."""
    runtime: bool = False
    """A function of the runtime with this name does it; it is also given the width of bags, where there are any."""
    steps: int | None = 1
    """What a call takes of the budget of steps, beside the lengths of what goes in and out; none: the graph's size."""


_ROWS = (
    Builtin("count", ("counted",), "int", "how many cards, items, tokens or pieces"),
    Builtin("first", ("list",), "item", "the first item", partial=True),
    Builtin("last", ("list",), "item", "the last item", partial=True),
    Builtin("rest", ("list",), "list", "all items but the first", runtime=True),
    Builtin("take", ("int", "list"), "list", "the first so many items, or all where there are fewer", runtime=True),
    Builtin("reversed", ("list",), "list", "the items from the last to the first", runtime=True),
    Builtin("distinct", ("list",), "list", "each item once, where it stands first"),
    Builtin("subsets", ("int", "list"), "lists", "every choice of so many of the items", strict=True, runtime=True),
    Builtin(
        "keys", ("table",), "list", "the values of a table's only key, or of the key that is named", rewritten=True
    ),
    Builtin(
        "cells", ("table",), "list", "the cells of a table, or of its line for all keys but the last", rewritten=True
    ),
    Builtin("position", ("any", "list"), "int", "where the item stands, from 0", partial=True),
    Builtin("sum", ("numbers",), "int", "all numbers, or all bags, added up"),
    Builtin("min", ("int", "int"), "int", "the smallest of the numbers", many=True),
    Builtin("max", ("int", "int"), "int", "the largest of the numbers", many=True),
    Builtin("total", ("bag",), "int", "how many tokens a bag holds"),
    Builtin("room", ("kinds", "int"), "room", "a space for so many tokens of any of the kinds"),
    Builtin(
        "overflow",
        ("bag", "rooms"),
        "int",
        "how many tokens of the bag find no space, stored as well as can be",
        strict=True,
        steps=32,
    ),
    Builtin(
        "space",
        ("bag", "rooms", "kind"),
        "int",
        "how many more tokens of the kind find space beside the bag",
        strict=True,
        steps=32,
    ),
    Builtin(
        "mixes",
        ("int", "kinds", "bag"),
        "bags",
        "every bag of so many tokens of the kinds that the bag holds",
        strict=True,
        runtime=True,
        steps=32,
    ),
    Builtin(
        "price",
        ("track", "bag"),
        "int",
        "what the cheapest such tokens of the track cost together",
        strict=True,
        reads=True,
    ),
    Builtin("vacancy", ("track", "kind"), "int", "how many spaces of the kind are empty", strict=True, reads=True),
    Builtin(
        "prices", ("track", "kind"), "ints", "the price of each space of the kind, the cheapest first", strict=True
    ),
    Builtin("neighbours", ("node",), "nodes", "the nodes that a link leads to from this one"),
    Builtin(
        "links",
        ("node",),
        "links",
        "the links that lead away from the node, each with its `from` and `to`",
        rewritten=True,
    ),
    Builtin(
        "distance",
        ("nodes", "node", "nodes"),
        "int",
        "the length of the cheapest way from any of the nodes, within the others",
        partial=True,
        steps=None,
    ),
    Builtin(
        "path", ("nodes", "node", "nodes"), "nodes", "the nodes of that way, from its start", partial=True, steps=None
    ),
    Builtin("connected", ("nodes",), "bool", "whether links join the nodes to one piece", runtime=True, steps=None),
    Builtin("clockwise", ("seat",), "seats", "the other seats, from the one on the left"),
    Builtin("top", ("pile",), "item", "the uppermost card of a pile", strict=True),
    Builtin("min of list", ("ints",), "int", partial=True),
    Builtin("max of list", ("ints",), "int", partial=True),
    Builtin("sum of bags", ("bags", "bag"), "bag", strict=True),
    Builtin("without", ("list", "item"), "list", strict=True),
    Builtin("set of list", ("list",), "set"),
    Builtin("cards of piles", ("piles",), "list"),
)

BUILTINS = {row.name: row for row in _ROWS}
FUNCTIONS = {name: row for name, row in BUILTINS.items() if row.about}
"""Those that every rule may call."""

TYPES: dict[str, Type] = {
    "int": INT,
    "bool": BOOL,
    "node": NODE,
    "seat": SEAT,
    "ints": ListType(INT),
    "nodes": ListType(NODE),
    "seats": ListType(SEAT),
    "links": ListType(LINK),
}
"""Words for parameters and results of one type."""
WANTED: dict[str, tuple[str, tuple[type[Type], ...], type[AnyType]]] = {
    "counted": ("something to count", (ListType, SetType, BagType, IntType, PileType), AnyType),
    "pile": ("a pile", (PileType,), AnyType),
    "kinds": ("a set of kinds", (ListType, SetType), KindType),
    "rooms": ("a list of rooms", (ListType,), RoomType),
}
"""Words for parameters of several types: what is wanted, the forms of such types, and that of items of collections."""


class Checker(Protocol):
    """Checks arguments: the entry points of the checker of expressions."""

    model: Model

    def value(self, node: nodes.Expr, wanted: Type | None = None) -> core.Expression: ...

    def need(self, node: nodes.Expr, wanted: Type) -> core.Expression: ...

    def items(self, node: nodes.Expr) -> tuple[core.Expression, Type]: ...

    def holder(self, node: nodes.Expr) -> core.Expression: ...

    def fit(self, found: core.Expression, wanted: Type, span: Span, what: str) -> core.Expression: ...

    def error(self, code: str, message: str, span: Span) -> None: ...


class BuiltinCall:
    """One call, whose arguments are checked one after another: ``item`` and ``bag`` are the type of items and the kind
    of tokens that they have shown so far."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.item: Type = NEVER
        self.bag = ""

    def argument(self, word: str, node: nodes.Expr) -> core.Expression:
        """The next argument, whose parameter has this word."""
        checker = self.checker
        match word:
            case "numbers":
                found = checker.value(node, ListType(INT))
                if (
                    isinstance(found.type, ListType)
                    and found.type.of is not None
                    and isinstance(found.type.of, BagType)
                ):
                    self.bag = found.type.of.name
                    return found
                return checker.fit(found, ListType(INT), node.span, "")
            case "kind":
                return checker.need(node, KindType(self.bag))
            case "any":
                return checker.value(node)
            case "list":
                found, self.item = checker.items(node)
                return found
            case "bag":
                return self._bag(node)
            case "track":
                found = checker.holder(node)
                if isinstance(found.type, HolderType):
                    self.bag = found.type.name
                if not isinstance(found.type, TrackType | NeverType):
                    checker.error("E401", f"got {found.type}, want a track", node.span)
                return found
            case _ if word in TYPES:
                return checker.need(node, TYPES[word])
            case _:
                return self._of_forms(word, node)

    def _of_forms(self, word: str, node: nodes.Expr) -> core.Expression:
        found = self.checker.value(node)
        wanted, forms, item = WANTED[word]
        match found.type:
            case NeverType():
                pass
            case PileType(name=name) if PileType in forms:
                self.item = CardType(name)
            case CollectionType(of=KindType(name=name)) if word == "kinds":
                self.bag = name
            case CollectionType(of=of) as type_ if type(type_) in forms and isinstance(of, item | NeverType):
                pass
            case type_ if type(type_) not in forms or isinstance(type_, CollectionType):
                self.checker.error("E401", f"got {type_}, want {wanted}", node.span)
            case _:
                pass
        return found

    def _bag(self, node: nodes.Expr) -> core.Expression:
        checker, bag = self.checker, self.bag
        if checker.model.is_unit(bag):
            return checker.need(node, INT)
        found = checker.value(node, BagType(bag) if bag else None)
        if isinstance(found.type, BagType) and bag in ("", found.type.name):
            self.bag = found.type.name
        elif not isinstance(found.type, NeverType):
            wanted = f"bag of {bag}" if bag else "a bag"
            checker.error("E401", f"got {found.type}, want {wanted}", node.span)
        return found

    def gives(self, word: str) -> Type:
        """The type of what the call gives, now that all arguments are checked."""
        shown: dict[str, Type] = {
            "item": self.item,
            "list": ListType(self.item),
            "lists": ListType(ListType(self.item)),
            "bags": ListType(BagType(self.bag)),
            "room": RoomType(KindType(self.bag)),
        }
        return TYPES.get(word) or shown[word]
