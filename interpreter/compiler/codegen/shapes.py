"""Shapes: memory layout of values by type.

In a register a number is an ``i64`` and everything else an ``i32``. A list, bag or record in a register is its address:

- a list is a word with its length, then a word for each item (an item that is a list, bag or record is its address);
- a bag is a word for each kind; a record or room a word for each field.

In a cell of the state, or a local of a frame, the same value is stored inline, without addresses. This *kept* form
reserves room for the maximum number of items. If nothing inside is an address, both forms are equal, and reading needs
no copy. A kept list that is none has the length -1; an optional kept bag or record is preceded by a word that is 0 for
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from interpreter.base.source import Span
from interpreter.compiler.ir.ops import Rep, Var
from interpreter.kernel.state import Value
from interpreter.language import types
from interpreter.lowering.constants import Constants

__all__ = ["NO_INDEX", "NO_NUMBER", "WORD", "Bounded", "Shapes", "TooSmall", "Unsupported", "halves", "signed"]

WORD = 4
NO_INDEX = -1
NO_NUMBER = -(2**31)
MOST_WORDS = 64 * 1024
"""Maximum number of words of a kept value. Without need, lists of lists have room for a quarter."""
FEW_ITEMS = 16
MANY_ITEMS = 64
THINGS = types.CardType | types.NodeType | types.PlaceType | types.LinkType | types.PieceType
MOST_NUMBER = 2**31 - 1


class Unsupported(Exception):
    """Something that a module cannot do; the plain form does it. ``span`` is the declaration that is concerned."""

    span: Span | None = None

    @property
    def reason(self) -> str:
        return f"{self.span}: {self}" if self.span is not None else str(self)


class TooSmall(Unsupported):
    """A value that is larger than its room: a type of lists, or the delayed blocks. The room may grow to ``wanted``."""

    def __init__(self, message: str, room: str, wanted: int) -> None:
        super().__init__(message)
        self.room, self.wanted = room, wanted


class Bounded(types.ListType, frozen=True):
    """A list of a cell that says its largest number of items."""

    most: int

    def _written(self) -> str:
        return f"{super()._written()}, at most {self.most}"


class Shapes:
    """Memory layout of the types of one table."""

    def __init__(self, constants: Constants, rooms: Mapping[str, int] | None = None) -> None:
        self.model = constants.model
        self.rooms = dict(rooms or {})
        """Sizes of rooms that have grown, by type."""
        self._capacities: dict[types.Type, int] = {}
        self.texts: dict[str, int] = {}
        self.seats = len(constants.seats)
        self._values: dict[types.Type, range] = {}

    def rep(self, type_: types.Type) -> Rep:
        return "i64" if isinstance(type_, types.IntType) else "i32"

    def is_scalar(self, type_: types.Type) -> bool:
        return not isinstance(type_, types.CompositeType)

    def is_listed(self, type_: types.Type) -> bool:
        return isinstance(type_, types.CollectionType | types.PileType)

    def item(self, type_: types.Type) -> types.Type:
        of = types.item_type(type_)
        if of is None:
            raise Unsupported(f"items of {type_}")
        return of

    def fields(self, type_: types.Type) -> tuple[types.Type, ...]:
        """Return the types of the parts of a bag, record or room."""
        match type_:
            case types.BagType():
                return (types.INT,) * self.width(type_)
            case types.RoomType(of=of):
                return types.ListType(of), types.INT
            case types.RecordType(name=name):
                return tuple(self.model.records[name].values())
            case _:
                raise Unsupported(f"fields of {type_}")

    def width(self, type_: types.Type) -> int:
        if not isinstance(type_, types.BagType | types.TokenHolderType):
            raise Unsupported(f"kinds of {type_}")
        return len(self.model.kinds[type_.name].members)

    def held(self, holder: types.Type) -> types.Type:
        return types.read_type(holder, unit=isinstance(holder, types.HolderType) and self.model.is_unit(holder.name))

    def held_by(self, name: str) -> types.Type:
        group = self.model.groups.get(name)
        if group is not None:
            held = self.held(group.type)
            if group.most is not None and isinstance(held, types.ListType):
                return Bounded(held.of, optional=held.optional, most=group.most)
            return held
        return types.BOOL if name == "over" else types.INT

    def values(self, type_: types.Type) -> range:
        """Return the range from the smallest to the largest value of a scalar type; empty if unknown. Between cards of
        a kind it has others."""
        if type_ not in self._values:
            values = self.model.values(type_, self.seats)
            self._values[type_] = range(values[0], values[-1] + 1) if values else range(0)
        return self._values[type_]

    def count(self, type_: types.Type) -> int:
        """Return the size of a table with a row for each value of a scalar type and, as a value may be tested that is
        none of its kind, for each card; 0 if unknown."""
        return len(self.values(types.CardType() if isinstance(type_, types.CardType) else type_))

    def capacity(self, type_: types.Type) -> int:
        if isinstance(type_, Bounded):
            return type_.most
        if type_ not in self._capacities:
            said = (group.most or 0 for group in self.model.groups.values() if self.held(group.type).sure == type_.sure)
            grown = self.rooms.get(str(type_.sure), 0)
            self._capacities[type_] = max(self._usual_capacity(type_), grown, *said)
        return self._capacities[type_]

    def _usual_capacity(self, type_: types.Type) -> int:
        item = self.item(type_)
        if not self.is_scalar(item):
            count = len(self.model.cards) if isinstance(item, types.PileType) else MANY_ITEMS
            return max(4, min(count, MOST_WORDS // 4 // self.words(item)))
        domain = len(self.values(item))
        if isinstance(type_, types.SetType | types.PileType) and domain:
            return domain
        if isinstance(item, THINGS) and domain:
            return domain + FEW_ITEMS
        return 2 * domain + FEW_ITEMS if isinstance(item, types.SeatType) else max(2 * domain, MANY_ITEMS)

    def too_long(self, type_: types.Type, length: int) -> Unsupported:
        message = f"a `{type_.sure}` of {length:,} items, where a module has room for {self.capacity(type_):,}"
        return self.too_small(message, str(type_.sure), length, self.words(self.item(type_)))

    def too_small(self, message: str, room: str, needed: int, words: int = 1) -> Unsupported:
        """Return the reason why something does not fit into a room for items of some words."""
        most = (MOST_WORDS - 1) // words
        return TooSmall(message, room, min(2 * needed, most)) if needed <= most else Unsupported(message)

    def words(self, type_: types.Type) -> int:
        """Return the size of the kept form."""
        if self.is_scalar(type_):
            return 1
        if self.is_listed(type_):
            return 1 + self.capacity(type_) * self.words(self.item(type_))
        return sum(map(self.words, self.fields(type_))) + type_.optional

    def placed(self, parts: Iterable[types.Type], start: int = 0) -> Iterator[tuple[int, types.Type]]:
        """Yield types with the offsets of their kept forms, which are consecutive."""
        for type_ in parts:
            yield start, type_
            start += self.words(type_) * WORD

    def is_flat(self, type_: types.Type) -> bool:
        """Return whether the kept form contains no list, bag or record, so that it equals the form in registers."""
        if self.is_scalar(type_):
            return True
        if self.is_listed(type_):
            return self.is_scalar(self.item(type_))
        return all(map(self.is_scalar, self.fields(type_)))

    def kept_none(self, type_: types.Type) -> int:
        """Return the first word of the kept form of none."""
        return -1 if self.is_listed(type_) else 0 if not self.is_scalar(type_) else self.none(type_)

    def parameters(self, of: Iterable[types.Type]) -> tuple[Var, ...]:
        return tuple(Var(f"p{number}", self.rep(type_)) for number, type_ in enumerate(of))

    def none(self, type_: types.Type) -> int:
        if not self.is_scalar(type_):
            return 0
        return NO_NUMBER if isinstance(type_, types.IntType) else NO_INDEX

    def word(self, value: Value, type_: types.Type) -> int:
        if value is None:
            return self.none(type_)
        if isinstance(type_, types.TextType):
            return self.texts.setdefault(value, len(self.texts))
        number = int(value)
        if abs(number) > MOST_NUMBER:
            raise Unsupported(f"the number {number}, where a module has room for 31 bits")
        return number


def signed(number: int, bits: int = 64) -> int:
    """Wrap a number to a signed integer of ``bits`` bits."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> bits - 1 else number


def halves(number: int) -> list[int]:
    """Return the two words of a number of 64 bits, the lower one first."""
    return [signed(number, 32), signed(number >> 32, 32)]
