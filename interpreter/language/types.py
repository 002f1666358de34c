"""Types of the rule language: a class for each form of type, and their union :data:`Type`.

Holders (zone, piles, pool, track, stock) are containers. Read as a value, a zone is a list, a pool or track is a bag
(or a number), a stock is a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plain_data import Value
from interpreter.base.tree import printed


class AnyType(Struct, frozen=True, kw_only=True, gc=False):
    """Base of all types. A value of an ``optional`` type may also be none."""

    word: ClassVar[str]
    """Word for the type in rule text."""
    optional: bool = False

    def __str__(self) -> str:
        written = self._written()
        if not self.optional:
            return written
        return f"({written})?" if " of " in written else f"{written}?"

    def __repr__(self) -> str:
        return printed(self)

    def _written(self) -> str:
        return self.word

    @property
    def sure(self) -> Self:
        """This type, not optional."""
        return replace(self, optional=False) if self.optional else self

    @property
    def maybe(self) -> Self:
        """This type, optional."""
        return self if self.optional else replace(self, optional=True)


# --- scalars ---------------------------------------------------------------------------------------------------------


class IntType(AnyType, frozen=True):
    """A whole number."""

    word = "int"


class BoolType(AnyType, frozen=True):
    """``yes`` or ``no``."""

    word = "bool"


class TextType(AnyType, frozen=True):
    """A text, as in attributes of cards and nodes."""

    word = "text"


class SeatType(AnyType, frozen=True):
    """A seat."""

    word = "seat"


class NodeType(AnyType, frozen=True):
    """A node of the graph."""

    word = "node"


class LinkType(AnyType, frozen=True):
    """A link of the graph, in one of its two directions."""

    word = "link"


class PlaceType(AnyType, frozen=True):
    """A place of a node."""

    word = "place"


class NamedType(AnyType, frozen=True):
    """Base of types with a name."""

    name: str

    def _written(self) -> str:
        return self.name or self.word


class KindType(NamedType, frozen=True):
    """A member of the named kind."""

    word = "kind"


class CardType(NamedType, frozen=True):
    """A card of a kind; without a name, any card."""

    word = "card"
    name: str = ""


class PieceType(NamedType, frozen=True):
    """A piece; without a name, any piece."""

    word = "piece"
    name: str = ""


# --- composites ------------------------------------------------------------------------------------------------------


class CompositeType(AnyType, frozen=True):
    """Base of types whose values are tuples of other values."""


class RecordType(CompositeType, frozen=True):
    """The named record."""

    word = "record"
    name: str

    def _written(self) -> str:
        return self.name


class PileType(CompositeType, frozen=True):
    """A pile of cards of a kind; without a name, of any cards."""

    word = "pile"
    name: str = ""


class BagType(CompositeType, frozen=True):
    """A number of tokens for each member of the named kind."""

    word = "bag"
    name: str

    def _written(self) -> str:
        return f"bag of {self.name or 'card'}"


class MadeType(CompositeType, frozen=True):
    """Base of types with a type argument."""

    of: Type

    def _written(self) -> str:
        return f"{self.word} of ({self.of})" if self.of.optional else f"{self.word} of {self.of}"


class RoomType(MadeType, frozen=True):
    """A space for tokens of some kinds."""

    word = "room"


class CollectionType(MadeType, frozen=True):
    """Base of :class:`ListType` and :class:`SetType`."""


class ListType(CollectionType, frozen=True):
    """A list of values of a type."""

    word = "list"


class SetType(CollectionType, frozen=True):
    """A set of values of a type: a list in ascending order, each value once."""

    word = "set"


# --- holders ---------------------------------------------------------------------------------------------------------


class HolderType(AnyType, frozen=True):
    """Base of container types. ``name`` is the kind of the contents."""

    name: str

    def _written(self) -> str:
        return f"{self.word} of {self.name or 'card'}"


class CardHolderType(HolderType, frozen=True):
    """Base of :class:`ZoneType` and :class:`PilesType`; without a name, for any cards."""

    name: str = ""


class ZoneType(CardHolderType, frozen=True):
    """Cards, ordered."""

    word = "zone"


class PilesType(CardHolderType, frozen=True):
    """Piles of cards."""

    word = "piles"


class TokenHolderType(HolderType, frozen=True):
    """Base of :class:`PoolType` and :class:`TrackType`."""


class PoolType(TokenHolderType, frozen=True):
    """Tokens."""

    word = "pool"


class TrackType(TokenHolderType, frozen=True):
    """Tokens on spaces with prices."""

    word = "track"


class StockType(HolderType, frozen=True):
    """Pieces of a seat that are not on the board."""

    word = "stock"


# --- types without values --------------------------------------------------------------------------------------------


class NoneType(AnyType, frozen=True, kw_only=True):
    """The type of ``none``."""

    word = "none"
    optional: bool = True

    def __str__(self) -> str:
        return self.word


class NothingType(AnyType, frozen=True):
    """The result of a procedure without a value."""

    word = "nothing"


class NeverType(AnyType, frozen=True):
    """Type of an expression with an error. It is accepted everywhere, so that one error gives one message."""

    word = "never"


Scalar = IntType | BoolType | TextType | SeatType | NodeType | LinkType | PlaceType | KindType | CardType | PieceType
Sortable = IntType | BoolType | SeatType | NodeType | KindType | CardType | NeverType
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
"""Types of things, by their words in declarations."""


def read_type(holder: Type, *, unit: bool) -> Type:
    """Return the type of a holder read as a value. ``unit``: its token has no kinds."""
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
    """Return the kind, record or piece that a type names, or an empty text."""
    return type_.name if isinstance(type_, NamedType | RecordType | PileType | BagType | HolderType) else ""


def item_type(type_: Type) -> Type | None:
    """Return the item type of a list, set, pile or holder of cards, or None for other types."""
    match type_:
        case ListType(of=of) | SetType(of=of):
            return of
        case PileType(name=name) | ZoneType(name=name):
            return CardType(name)
        case PilesType(name=name):
            return PileType(name)
        case _:
            return None


def accepts(expected: Type, got: Type) -> bool:
    """Return whether a value of type ``got`` is allowed where ``expected`` is expected."""
    if isinstance(got, NeverType):
        return True
    if isinstance(got, NoneType):
        return expected.optional
    if got.optional and not expected.optional:
        return False
    match expected, got:
        case (SetType(), ListType()):
            return False
        case (CollectionType(of=inner), CollectionType(of=other)) | (RoomType(of=inner), RoomType(of=other)):
            return accepts(inner, other)
        case (CardType(name="") | PieceType(name="") | PileType(name="") | CardHolderType(name=""), _):
            return type(expected) is type(got)
        case _:
            return expected.sure == got.sure


def join(a: Type, b: Type) -> Type | None:
    """Return the narrowest type that accepts values of both types, or None."""
    if isinstance(a, NeverType):
        return b
    if isinstance(b, NeverType):
        return a
    if isinstance(a, NoneType):
        return b.maybe
    if isinstance(b, NoneType):
        return a.maybe
    joined = _joined(a.sure, b.sure)
    return joined.maybe if joined is not None and (a.optional or b.optional) else joined


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
            return any(has_cards(field_type, records) for field_type in records[name].values())
        case ListType(of=of) | SetType(of=of):
            return has_cards(of, records)
        case _:
            return isinstance(type_, CardType | PileType)


def renamed(value: Value, type_: Type, records: Records, swapped: Mapping[int, int]) -> Value:
    """Return a value with cards replaced as ``swapped`` maps them."""
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
            fields = zip(value, records[name].values(), strict=True)
            return tuple(renamed(item, of, records, swapped) for item, of in fields)
        case _:
            return value


def cards_in(value: Value, type_: Type, records: Records) -> Iterator[int]:
    """Yield the cards in a value."""
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
            for item, field_type in zip(value, records[name].values(), strict=True):
                yield from cards_in(item, field_type, records)
