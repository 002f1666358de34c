"""Calls of the language's own functions: what their arguments must be, and of which type what they give is.

:data:`interpreter.language.signatures.FUNCTIONS` has a word for each parameter, and one for what is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.language import core as c
from interpreter.language import nodes as n
from interpreter.language.types import BOOL, INT, NEVER, NODE, SEAT, Type, bag_of, list_of

if TYPE_CHECKING:
    from interpreter.language.expressions import Expressions

__all__ = ["BuiltinCall"]


class BuiltinCall:
    """One call, whose arguments are checked one after another: ``item`` and ``bag`` are the type of items and the kind
    of tokens that they have shown so far."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.item: Type = NEVER
        self.bag = ""

    def argument(self, word: str, node: n.Expr) -> c.Expression:
        """The next argument, whose parameter has this word."""
        x = self.expressions
        match word:
            case "int":
                return x.need(node, INT)
            case "ints":
                found = x.value(node, list_of(INT))
                if found.type.form == "list" and found.type.of is not None and found.type.of.form == "bag":
                    self.bag = found.type.of.name
                    return found
                return x.fit(found, list_of(INT), node.span, "")
            case "node":
                return x.need(node, NODE)
            case "nodes":
                return x.need(node, list_of(NODE))
            case "seat":
                return x.need(node, SEAT)
            case "kind":
                return x.need(node, Type("kind", self.bag))
            case "any":
                return x.value(node)
            case "list":
                found, self.item = x.items(node)
                return found
            case "counted":
                return self._value(node, "something to count", "list", "set", "bag", "int", "pile")
            case "bag":
                return self._bag(node)
            case "kinds":
                return self._kinds(node)
            case "rooms":
                return self._rooms(node)
            case "track":
                found = x.holder(node)
                if found.type.form not in ("track", "never"):
                    x.error("E401", f"got {found.type}, want a track", node.span)
                self.bag = found.type.name
                return found
            case "pile":
                found = self._value(node, "a pile", "pile")
                self.item = Type("card", found.type.name)
                return found
            case _:
                raise AssertionError(word)

    def _value(self, node: n.Expr, wanted: str, *forms: str) -> c.Expression:
        """A value of one of some forms."""
        found = self.expressions.value(node)
        if found.type.form not in (*forms, "never"):
            self.expressions.error("E401", f"got {found.type}, want {wanted}", node.span)
        return found

    def _bag(self, node: n.Expr) -> c.Expression:
        x, bag = self.expressions, self.bag
        token = x.model.kinds.get(bag)
        if token is not None and token.unit:
            return x.need(node, INT)
        found = x.value(node, bag_of(bag) if bag else None)
        if found.type.form not in ("bag", "never") or (bag and found.type.name not in (bag, "")):
            wanted = f"bag of {bag}" if bag else "a bag"
            x.error("E401", f"got {found.type}, want {wanted}", node.span)
        self.bag = found.type.name or bag
        return found

    def _kinds(self, node: n.Expr) -> c.Expression:
        found = self.expressions.value(node)
        kinds = found.type.of
        if found.type.form in ("list", "set") and kinds is not None and kinds.form in ("kind", "never"):
            self.bag = kinds.name
        elif found.type.form != "never":
            self.expressions.error("E401", f"got {found.type}, want a set of kinds", node.span)
        return found

    def _rooms(self, node: n.Expr) -> c.Expression:
        found = self.expressions.value(node)
        rooms = found.type.of
        if found.type.form != "list" or rooms is None or rooms.form not in ("room", "never"):
            self.expressions.error("E401", f"got {found.type}, want a list of rooms", node.span)
        return found

    def gives(self, word: str) -> Type:
        """The type of what the call gives, now that all arguments are checked."""
        match word:
            case "int":
                return INT
            case "bool":
                return BOOL
            case "item" | "card":
                return self.item
            case "list":
                return list_of(self.item)
            case "lists":
                return list_of(list_of(self.item))
            case "nodes":
                return list_of(NODE)
            case "links":
                return list_of(Type("link"))
            case "seats":
                return list_of(SEAT)
            case "ints":
                return list_of(INT)
            case "bags":
                return list_of(bag_of(self.bag))
            case "room":
                return Type("room", of=Type("kind", self.bag))
            case _:
                raise AssertionError(word)
