"""Registry of built-in functions, used by the checker and by both execution forms.

The plain form has a function for each row in :mod:`interpreter.compiler.plain.builtin_functions`. A module calls the
function of the runtime with that name, or :mod:`interpreter.compiler.build.builtin_calls` builds it from other ops.
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
    """One built-in function. The types of parameters and result are words: see :data:`TYPES`, :data:`TYPE_FORMS`
    and :class:`BuiltinCall`."""

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
    Builtin("set of list", ("list",), "set"),
    Builtin("cards of piles", ("piles",), "list"),
)

BUILTINS = {row.name: row for row in _ROWS}
FUNCTIONS = {name: row for name, row in BUILTINS.items() if row.about}
"""Built-ins that authors may call."""

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
TYPE_FORMS: dict[str, tuple[str, tuple[type[Type], ...], type[AnyType]]] = {
    "counted": ("something to count", (ListType, SetType, BagType, IntType, PileType), AnyType),
    "pile": ("a pile", (PileType,), AnyType),
    "kinds": ("a set of kinds", (ListType, SetType), KindType),
    "rooms": ("a list of rooms", (ListType,), RoomType),
}
"""Words for parameters of several types: a description, the allowed forms, and the form of items of collections."""


class Checker(Protocol):
    """Entry points of the expression checker, for arguments."""

    model: Model

    def value(self, node: nodes.Expr, expected: Type | None = None) -> core.Expression: ...

    def need(self, node: nodes.Expr, expected: Type) -> core.Expression: ...

    def items(self, node: nodes.Expr) -> tuple[core.Expression, Type]: ...

    def holder(self, node: nodes.Expr) -> core.Expression: ...

    def fit(self, value: core.Expression, expected: Type, span: Span, subject: str) -> core.Expression: ...

    def error(self, code: str, message: str, span: Span) -> None: ...


class BuiltinCall:
    """One call, whose arguments are checked in order. ``item`` is the item type and ``bag`` the kind of tokens inferred
    so far."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.item: Type = NEVER
        self.bag = ""

    def argument(self, word: str, node: nodes.Expr) -> core.Expression:
        """Check the next argument, for a parameter with this word."""
        checker = self.checker
        match word:
            case "numbers":
                value = checker.value(node, ListType(INT))
                if (
                    isinstance(value.type, ListType)
                    and value.type.of is not None
                    and isinstance(value.type.of, BagType)
                ):
                    self.bag = value.type.of.name
                    return value
                return checker.fit(value, ListType(INT), node.span, "")
            case "kind":
                return checker.need(node, KindType(self.bag))
            case "any":
                return checker.value(node)
            case "list":
                value, self.item = checker.items(node)
                return value
            case "bag":
                return self._bag(node)
            case "track":
                value = checker.holder(node)
                if isinstance(value.type, HolderType):
                    self.bag = value.type.name
                if not isinstance(value.type, TrackType | NeverType):
                    checker.error("E401", f"got {value.type}, want a track", node.span)
                return value
            case _ if word in TYPES:
                return checker.need(node, TYPES[word])
            case _:
                return self._of_forms(word, node)

    def _of_forms(self, word: str, node: nodes.Expr) -> core.Expression:
        value = self.checker.value(node)
        expected, forms, item = TYPE_FORMS[word]
        match value.type:
            case NeverType():
                pass
            case PileType(name=name) if PileType in forms:
                self.item = CardType(name)
            case CollectionType(of=KindType(name=name)) if word == "kinds":
                self.bag = name
            case CollectionType(of=of) as type_ if type(type_) in forms and isinstance(of, item | NeverType):
                pass
            case type_ if type(type_) not in forms or isinstance(type_, CollectionType):
                self.checker.error("E401", f"got {type_}, want {expected}", node.span)
            case _:
                pass
        return value

    def _bag(self, node: nodes.Expr) -> core.Expression:
        checker, bag = self.checker, self.bag
        if checker.model.is_unit(bag):
            return checker.need(node, INT)
        value = checker.value(node, BagType(bag) if bag else None)
        if isinstance(value.type, BagType) and bag in ("", value.type.name):
            self.bag = value.type.name
        elif not isinstance(value.type, NeverType):
            expected = f"bag of {bag}" if bag else "a bag"
            checker.error("E401", f"got {value.type}, want {expected}", node.span)
        return value

    def gives(self, word: str) -> Type:
        """Return the result type. Call it after all arguments are checked."""
        inferred: dict[str, Type] = {
            "item": self.item,
            "list": ListType(self.item),
            "lists": ListType(ListType(self.item)),
            "bags": ListType(BagType(self.bag)),
            "room": RoomType(KindType(self.bag)),
        }
        return TYPES.get(word) or inferred[word]
