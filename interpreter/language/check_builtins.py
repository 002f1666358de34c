"""Checks the arguments of calls of built-in functions and infers the type of the result."""

from __future__ import annotations

from typing import Protocol

from interpreter.base.source import Span
from interpreter.language import core, nodes
from interpreter.language.resolve import Names
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

__all__ = ["TYPES", "BuiltinCall"]

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

    names: Names

    def value(self, node: nodes.Expr, expected: Type | None = None) -> core.Expression: ...

    def need(self, node: nodes.Expr, expected: Type) -> core.Expression: ...

    def items(self, node: nodes.Expr) -> tuple[core.Expression, Type]: ...

    def holder(self, node: nodes.Expr) -> core.Expression: ...

    def fit(self, value: core.Expression, expected: Type, span: Span, subject: str) -> core.Expression: ...

    def error(self, code: str, message: str, span: Span) -> None: ...

    def sure(self, node: nodes.Expr, expected: Type | None = None) -> core.Expression: ...


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
                value = checker.sure(node, ListType(INT))
                if isinstance(value.type, ListType) and isinstance(value.type.of, BagType):
                    self.bag = value.type.of.name
                    return value
                return checker.fit(value, ListType(INT), node.span, "")
            case "kind":
                return checker.need(node, KindType(self.bag)) if self.bag else checker.value(node)
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
        value = self.checker.sure(node)
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
        return value

    def _bag(self, node: nodes.Expr) -> core.Expression:
        checker, bag = self.checker, self.bag
        if checker.names.is_unit(bag):
            return checker.need(node, INT)
        value = checker.sure(node, BagType(bag) if bag else None)
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
