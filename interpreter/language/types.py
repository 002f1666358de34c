"""The types of the rule language: a class for each form of type, and their union :data:`Type`.

Holders (zone, piles, pool, track, stock) are places where things lie; read as a value, a zone is a list, a pool or
track a bag (or a number), a stock a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import ClassVar, Self

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Value

__all__ = [
    "BOOL",
    "INT",
    "LINK",
    "NEVER",
    "NODE",
    "NONE",
    "NOTHING",
    "OWNERS",
    "PLACE",
    "SEAT",
    "TEXT",
    "BagType",
    "BoolType",
    "CardHolderType",
    "CardType",
    "CollectionType",
    "CompositeType",
    "HolderType",
    "IntType",
    "KindType",
    "LinkType",
    "ListType",
    "MadeType",
    "NamedType",
    "NeverType",
    "NodeType",
    "NoneType",
    "NothingType",
    "PieceType",
    "PileType",
    "PilesType",
    "PlaceType",
    "PoolType",
    "RecordType",
    "RoomType",
    "SeatType",
    "SetType",
    "StockType",
    "TextType",
    "TokenHolderType",
    "TrackType",
    "Type",
    "ZoneType",
    "accepts",
    "cards_in",
    "has_cards",
    "item_type",
    "join",
    "name_of",
    "read_type",
]


@dataclass(frozen=True, slots=True)
class AnyType:
    """The base of all types. ``optional``: a value of the type may also be none."""

    word: ClassVar[str]
    """The form of the type, as authors write it."""
    optional: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        return self._written() + ("?" if self.optional else "")

    def _written(self) -> str:
        return self.word

    @property
    def sure(self) -> Self:
        """The type without none."""
        return replace(self, optional=False) if self.optional else self

    @property
    def maybe(self) -> Self:
        """The type or none."""
        return self if self.optional else replace(self, optional=True)


# --- values of one word ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntType(AnyType):
    """A whole number."""

    word = "int"


@dataclass(frozen=True, slots=True)
class BoolType(AnyType):
    """``yes`` or ``no``."""

    word = "bool"


@dataclass(frozen=True, slots=True)
class TextType(AnyType):
    """A text, as cards and nodes bear."""

    word = "text"


@dataclass(frozen=True, slots=True)
class SeatType(AnyType):
    """A seat."""

    word = "seat"


@dataclass(frozen=True, slots=True)
class NodeType(AnyType):
    """A node of the graph."""

    word = "node"


@dataclass(frozen=True, slots=True)
class LinkType(AnyType):
    """A link of the graph, in one of its two directions."""

    word = "link"


@dataclass(frozen=True, slots=True)
class PlaceType(AnyType):
    """A place of a node."""

    word = "place"


@dataclass(frozen=True, slots=True)
class NamedType(AnyType):
    """The base of types that bear a name."""

    name: str

    def _written(self) -> str:
        return self.name or self.word


@dataclass(frozen=True, slots=True)
class KindType(NamedType):
    """A member of the kind with that name."""

    word = "kind"


@dataclass(frozen=True, slots=True)
class CardType(NamedType):
    """A card of a kind; without a name, any card."""

    word = "card"
    name: str = ""


@dataclass(frozen=True, slots=True)
class PieceType(NamedType):
    """A piece; without a name, any piece."""

    word = "piece"
    name: str = ""


# --- values made of others -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompositeType(AnyType):
    """The base of types whose values are made of others: tuples."""


@dataclass(frozen=True, slots=True)
class RecordType(CompositeType):
    """The record with that name."""

    word = "record"
    name: str

    def _written(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class PileType(CompositeType):
    """A pile of cards of a kind; without a name, of any cards."""

    word = "pile"
    name: str = ""


@dataclass(frozen=True, slots=True)
class BagType(CompositeType):
    """A number of tokens of each member of the kind with that name."""

    word = "bag"
    name: str

    def _written(self) -> str:
        return f"bag of {self.name or 'card'}"


@dataclass(frozen=True, slots=True)
class MadeType(CompositeType):
    """The base of types that are made from another one."""

    of: Type

    def _written(self) -> str:
        return f"{self.word} of {self.of}"


@dataclass(frozen=True, slots=True)
class RoomType(MadeType):
    """A space for tokens of some kinds."""

    word = "room"


@dataclass(frozen=True, slots=True)
class CollectionType(MadeType):
    """The base of :class:`ListType` and :class:`SetType`."""


@dataclass(frozen=True, slots=True)
class ListType(CollectionType):
    """A list of values of a type."""

    word = "list"


@dataclass(frozen=True, slots=True)
class SetType(CollectionType):
    """A set of values of a type: a list in ascending order, each value once."""

    word = "set"


# --- holders ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HolderType(AnyType):
    """The base of types of places where things lie; ``name`` is the kind of these things."""

    name: str

    def _written(self) -> str:
        return f"{self.word} of {self.name or 'card'}"


@dataclass(frozen=True, slots=True)
class CardHolderType(HolderType):
    """The base of :class:`ZoneType` and :class:`PilesType`; without a name, for any cards."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class ZoneType(CardHolderType):
    """Cards, in an order."""

    word = "zone"


@dataclass(frozen=True, slots=True)
class PilesType(CardHolderType):
    """Piles of cards."""

    word = "piles"


@dataclass(frozen=True, slots=True)
class TokenHolderType(HolderType):
    """The base of :class:`PoolType` and :class:`TrackType`."""


@dataclass(frozen=True, slots=True)
class PoolType(TokenHolderType):
    """Tokens."""

    word = "pool"


@dataclass(frozen=True, slots=True)
class TrackType(TokenHolderType):
    """Tokens on spaces with prices."""

    word = "track"


@dataclass(frozen=True, slots=True)
class StockType(HolderType):
    """Pieces of a seat that are not on the board."""

    word = "stock"


# --- no values -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoneType(AnyType):
    """The type of ``none``."""

    word = "none"
    optional: bool = field(default=True, kw_only=True)


@dataclass(frozen=True, slots=True)
class NothingType(AnyType):
    """The result of a procedure without a value."""

    word = "nothing"


@dataclass(frozen=True, slots=True)
class NeverType(AnyType):
    """The type of a mistake: it fits everywhere, so that one mistake gives one message."""

    word = "never"


Scalar = IntType | BoolType | TextType | SeatType | NodeType | LinkType | PlaceType | KindType | CardType | PieceType
Composite = RecordType | PileType | BagType | RoomType | ListType | SetType
Holder = ZoneType | PilesType | PoolType | TrackType | StockType
Type = Scalar | Composite | Holder | NoneType | NothingType | NeverType

INT = IntType()
BOOL = BoolType()
TEXT = TextType()
SEAT = SeatType()
NODE = NodeType()
PLACE = PlaceType()
LINK = LinkType()
NONE = NoneType()
NOTHING = NothingType()
NEVER = NeverType()
OWNERS: dict[str, Type] = {"seat": SEAT, "card": CardType(), "node": NODE, "link": LINK, "place": PLACE}
"""Owners of cells, by their words in declarations."""


def read_type(holder: Type, *, unit: bool) -> Type:
    """The type of what a holder holds; ``unit`` where its token has no kinds of its own."""
    match holder:
        case ZoneType(name=name):
            return ListType(CardType(name))
        case PilesType(name=name):
            return ListType(PileType(name))
        case PoolType(name=name) | TrackType(name=name):
            return INT if unit else BagType(name)
        case StockType():
            return INT
        case _:
            return holder


def name_of(type_: Type) -> str:
    """The kind, record or piece that a type names; an empty text where it names none."""
    return type_.name if isinstance(type_, NamedType | RecordType | PileType | BagType | HolderType) else ""


def item_type(type_: Type) -> Type | None:
    """The type of the items of a list, a set, a pile or a holder of cards; nothing where there are no items."""
    match type_:
        case ListType(of=of) | SetType(of=of):
            return of
        case PileType(name=name) | ZoneType(name=name):
            return CardType(name)
        case PilesType(name=name):
            return PileType(name)
        case _:
            return None


def accepts(wanted: Type, got: Type) -> bool:
    """Return whether a value of type ``got`` may stand where ``wanted`` is wanted."""
    if isinstance(got, NeverType):
        return True
    if isinstance(got, NoneType):
        return wanted.optional
    if got.optional and not wanted.optional:
        return False
    match wanted, got:
        case (SetType(), ListType()):
            return False
        case (CollectionType(of=inner), CollectionType(of=other)) | (RoomType(of=inner), RoomType(of=other)):
            return accepts(inner, other)
        case (CardType(name="") | PieceType(name="") | PileType(name="") | CardHolderType(name=""), _):
            return type(wanted) is type(got)
        case _:
            return wanted.sure == got.sure


def join(a: Type, b: Type) -> Type | None:
    """The narrowest type that takes values of both, or nothing where there is none."""
    if isinstance(a, NeverType):
        return b
    if isinstance(b, NeverType):
        return a
    if isinstance(a, NoneType):
        return b.maybe
    if isinstance(b, NoneType):
        return a.maybe
    found = _joined(a.sure, b.sure)
    return found.maybe if found is not None and (a.optional or b.optional) else found


def _joined(left: Type, right: Type) -> Type | None:
    if accepts(left, right):
        return left
    if accepts(right, left):
        return right
    match left, right:
        case (CardType(), CardType()):
            return CardType()
        case (PieceType(), PieceType()):
            return PieceType()
        case (CollectionType(of=inner), CollectionType(of=other)):
            of = join(inner, other)
            return ListType(of) if of is not None else None
        case _:
            return None


Records = Mapping[str, Mapping[str, Type]]


def has_cards(type_: Type, records: Records) -> bool:
    """Return whether a value of the type can hold cards."""
    match type_:
        case RecordType(name=name):
            return any(has_cards(each, records) for each in records[name].values())
        case ListType(of=of) | SetType(of=of):
            return has_cards(of, records)
        case _:
            return isinstance(type_, CardType | PileType)


def renamed(value: Value, type_: Type, records: Records, swapped: Mapping[int, int]) -> Value:
    """A value that names other cards in place of some."""
    if value is None:
        return None
    match type_:
        case CardType():
            return swapped.get(value, value)
        case PileType():
            return tuple(swapped.get(card, card) for card in value)
        case ListType(of=of) | SetType(of=of) if has_cards(of, records):
            items = (renamed(item, of, records, swapped) for item in value)
            return tuple(sorted(items) if isinstance(type_, SetType) else items)
        case RecordType(name=name):
            types = records[name].values()
            return tuple(renamed(item, each, records, swapped) for item, each in zip(value, types, strict=True))
        case _:
            return value


def cards_in(value: Value, type_: Type, records: Records) -> Iterator[int]:
    """The cards that a value holds."""
    if value is None:
        return
    match type_:
        case CardType():
            yield value
        case PileType():
            yield from value
        case ListType(of=of) | SetType(of=of):
            for item in value:
                yield from cards_in(item, of, records)
        case RecordType(name=name):
            for item, each in zip(value, records[name].values(), strict=True):
                yield from cards_in(item, each, records)
