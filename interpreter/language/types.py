"""The types of the rule language.

A type is a form, what it is made of and whether it may be none. Holders (zone, pool, track, stock) are places where
things lie; read as a value, a zone is a list, a pool or track a bag (or a number), a stock a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from interpreter.base.frozen import dataclass

__all__ = [
    "BOOL",
    "INT",
    "NEVER",
    "NODE",
    "NONE",
    "NOTHING",
    "PLACE",
    "SEAT",
    "TEXT",
    "Type",
    "accepts",
    "bag_of",
    "cards_in",
    "has_cards",
    "join",
    "list_of",
    "read_type",
    "set_of",
]


@dataclass(frozen=True, slots=True)
class Type:
    """``form`` is one of int, bool, text, kind, card, piece, seat, node, link, place, pile, record, room, list, set,
    bag, zone, piles, pool, track, stock, none, nothing, never. ``name`` is the kind, card kind, piece, token or record
    meant; a card or piece without a name is any of them.
    """

    form: str
    name: str = ""
    of: Type | None = None
    optional: bool = False

    def __str__(self) -> str:
        mark = "?" if self.optional else ""
        if self.of is not None and self.form in ("list", "set", "room"):
            return f"{self.form} of {self.of}{mark}"
        if self.form in ("bag", "zone", "piles", "pool", "track", "stock"):
            return f"{self.form} of {self.name or (self.of and str(self.of)) or 'card'}{mark}"
        if self.form in ("card", "piece", "node", "record", "kind"):
            return (self.name or self.form) + mark
        return self.form + mark

    @property
    def sure(self) -> Type:
        """The type without none."""
        return replace(self, optional=False) if self.optional else self

    @property
    def maybe(self) -> Type:
        """The type or none."""
        return self if self.optional or self.form == "none" else replace(self, optional=True)

    @property
    def is_holder(self) -> bool:
        return self.form in ("zone", "piles", "pool", "track", "stock")


INT = Type("int")
BOOL = Type("bool")
TEXT = Type("text")
SEAT = Type("seat")
NODE = Type("node")
PLACE = Type("place")
NONE = Type("none", optional=True)
NOTHING = Type("nothing")
NEVER = Type("never")


def list_of(of: Type) -> Type:
    return Type("list", of=of)


def set_of(of: Type) -> Type:
    return Type("set", of=of)


def bag_of(name: str) -> Type:
    return Type("bag", name)


def read_type(holder: Type, *, unit: bool) -> Type:
    """The type of what a holder holds; ``unit`` where its token has no kinds of its own."""
    match holder.form:
        case "zone":
            return list_of(Type("card", holder.name))
        case "piles":
            return list_of(Type("pile", holder.name))
        case "pool" | "track":
            return INT if unit else bag_of(holder.name)
        case "stock":
            return INT
        case _:
            return holder


def accepts(wanted: Type, got: Type) -> bool:
    """Return whether a value of type ``got`` may stand where ``wanted`` is wanted."""
    if got.form == "never":
        return True
    if got.form == "none":
        return wanted.optional or wanted.form == "none"
    if got.optional and not wanted.optional:
        return False
    if wanted.form in ("list", "set") and got.form in ("list", "set"):
        if wanted.form == "set" and got.form == "list":
            return False
        assert wanted.of is not None
        assert got.of is not None
        return accepts(wanted.of, got.of)
    if wanted.form != got.form:
        return False
    if wanted.form in ("card", "piece", "pile", "zone", "piles") and not wanted.name:
        return True
    if wanted.of is not None and got.of is not None:
        return accepts(wanted.of, got.of)
    return wanted.name == got.name


def join(a: Type, b: Type) -> Type | None:
    """The narrowest type that takes values of both, or nothing where there is none."""
    if a.form == "never":
        return b
    if b.form == "never":
        return a
    if a.form == "none":
        return b.maybe
    if b.form == "none":
        return a.maybe
    optional = a.optional or b.optional
    left, right = a.sure, b.sure
    found: Type | None = None
    if accepts(left, right):
        found = left
    elif accepts(right, left):
        found = right
    elif left.form == right.form and left.form in ("card", "piece"):
        found = Type(left.form)
    elif left.form in ("list", "set") and right.form in ("list", "set") and left.of and right.of:
        inner = join(left.of, right.of)
        found = list_of(inner) if inner else None
    if found is None:
        return None
    return found.maybe if optional else found


Records = Mapping[str, Mapping[str, Type]]


def has_cards(type_: Type, records: Records) -> bool:
    """Return whether a value of the type can hold cards."""
    if type_.form == "record":
        return any(has_cards(each, records) for each in records[type_.name].values())
    if type_.form in ("list", "set") and type_.of is not None:
        return has_cards(type_.of, records)
    return type_.form in ("card", "pile")


def renamed(value: Any, type_: Type, records: Records, swapped: Mapping[int, int]) -> Any:
    """A value that names other cards in place of some."""
    if value is None:
        return None
    if type_.form == "card":
        return swapped.get(value, value)
    if type_.form == "pile":
        return tuple(swapped.get(card, card) for card in value)
    if type_.form in ("list", "set") and type_.of is not None and has_cards(type_.of, records):
        items = (renamed(item, type_.of, records, swapped) for item in value)
        return tuple(sorted(items) if type_.form == "set" else items)
    if type_.form == "record":
        return tuple(
            renamed(item, each, records, swapped)
            for item, each in zip(value, records[type_.name].values(), strict=True)
        )
    return value


def cards_in(value: Any, type_: Type, records: Records) -> Iterator[int]:
    """The cards that a value holds."""
    if value is None:
        return
    if type_.form == "card":
        yield value
    elif type_.form == "pile":
        yield from value
    elif type_.form in ("list", "set") and type_.of is not None:
        for item in value:
            yield from cards_in(item, type_.of, records)
    elif type_.form == "record":
        for item, each in zip(value, records[type_.name].values(), strict=True):
            yield from cards_in(item, each, records)
