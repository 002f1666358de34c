"""The checked tree: names are bound, types known, literals turned into the things they name.

All values are plain data: whole numbers (cards, seats, nodes, places and members of kinds are indexes), booleans, none
and tuples of these. A holder (a zone, a pool, a track, a stock, a place) is the number of the cell that keeps it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Value
from interpreter.base.source import NOWHERE, Span
from interpreter.language.types import INT, Type

__all__ = [
    "AllSeats",
    "AmountOf",
    "Arithmetic",
    "Ask",
    "BagItem",
    "Branch",
    "Builtin",
    "CallBase",
    "CallRule",
    "Cell",
    "Choice",
    "Comparison",
    "Condition",
    "Const",
    "Core",
    "Default",
    "Element",
    "Ends",
    "Expression",
    "FieldOf",
    "Fold",
    "Iterate",
    "Keeps",
    "KindTest",
    "Local",
    "Logic",
    "Loop",
    "MakeList",
    "MakeRecord",
    "MemberOf",
    "MoveAll",
    "MoveCards",
    "MovePiece",
    "MoveTokens",
    "Negate",
    "Negation",
    "Noted",
    "Notes",
    "Option",
    "Order",
    "Performs",
    "Picks",
    "PlayerCount",
    "RangeFrom",
    "Read",
    "Repeat",
    "Requirement",
    "Returns",
    "Reveals",
    "RoleSeat",
    "Search",
    "Select",
    "SetCell",
    "SetLocal",
    "SettingValue",
    "Settles",
    "Shuffles",
    "Static",
    "Step",
    "TableCell",
    "Test",
]


@dataclass(frozen=True, slots=True)
class Core:
    """Anything checked."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


# --- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Typed(Core):
    """A node that gives a value of a type."""

    type: Type = field(default=INT, kw_only=True)


@dataclass(frozen=True, slots=True)
class Const(Typed):
    """A value known now."""

    value: Value


@dataclass(frozen=True, slots=True)
class Local(Typed):
    """A parameter or local, by its place in the frame."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class PlayerCount(Typed):
    """``players``: seats that count."""


@dataclass(frozen=True, slots=True)
class AllSeats(Typed):
    """``seats``: every seat, in clockwise order."""


@dataclass(frozen=True, slots=True)
class RoleSeat(Typed):
    """The only seat of a role."""

    role: str


@dataclass(frozen=True, slots=True)
class SettingValue(Typed):
    """A setting or interpretation: constant in one game."""

    name: str


@dataclass(frozen=True, slots=True)
class Cell(Typed):
    """Place in the state: a group of cells and its owner, if it has owners."""

    group: str
    owner: Expression | None


@dataclass(frozen=True, slots=True)
class Read(Typed):
    """Value of a cell."""

    cell: Expression


@dataclass(frozen=True, slots=True)
class Static(Typed):
    """A printed attribute (``card.number``, ``node.region``, ``place.node``), looked up by index."""

    attribute: str
    of: Expression


@dataclass(frozen=True, slots=True)
class FieldOf(Typed):
    """A field of a record, or a part of a room."""

    of: Expression
    index: int


@dataclass(frozen=True, slots=True)
class Element(Typed):
    """An item of a list by its position from 0."""

    of: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class BagItem(Typed):
    """Count of one kind in a bag."""

    of: Expression
    kind: Expression


@dataclass(frozen=True, slots=True)
class TableCell(Typed):
    """A cell of a printed table."""

    table: str
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class CallRule(Typed):
    """A call of a rule, answered by its uppermost layer."""

    rule: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class CallBase(Typed):
    """A call of the layer below."""

    rule: str
    layer: int
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Builtin(Typed):
    """A call of one of the language's own functions. ``or_none``: nothing to find gives none instead of a failure."""

    name: str
    arguments: tuple[Expression, ...]
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class MakeRecord(Typed):
    """A record, or a room, from its fields."""

    fields: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MakeList(Typed):
    """A list of the given items."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AmountOf(Typed):
    """A bag over ``size`` kinds that holds ``number`` of one."""

    number: Expression
    kind: Expression
    size: int


@dataclass(frozen=True, slots=True)
class RangeFrom(Typed):
    """Whole numbers from the first to the last, both included."""

    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Typed):
    """Numbers; ``+`` also joins lists and adds bags, ``-`` subtracts bags."""

    operator: Literal["+", "-", "*", "div", "mod"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison(Typed):
    """``a < b``, and the other five."""

    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logic(Typed):
    """``a and b``, ``a or b``: the right side is looked at only where the left one leaves it open."""

    operator: Literal["and", "or"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negation(Typed):
    """``not a``."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Negate(Typed):
    """``-a``: of a number or a bag."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Condition(Typed):
    """``a if test else b``."""

    then: Expression
    test: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Default(Typed):
    """``a otherwise b``."""

    value: Expression
    default: Expression


@dataclass(frozen=True, slots=True)
class MemberOf(Typed):
    """Whether an item is in a list, set or range."""

    item: Expression
    items: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class KindTest(Typed):
    """Whether a card or piece is of a kind."""

    value: Expression
    kind: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Loop(Typed):
    """The base of looks through a list: a local takes each item, and those that pass the test count."""

    variable: int
    items: Expression
    test: Expression | None


@dataclass(frozen=True, slots=True)
class Select(Loop):
    """``[x in items where test]``, or with a value ``[value for x in items where test]``: a list."""

    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Fold(Loop):
    """``count(x in items where test)``, ``any(…)`` and ``all(test for x in items)``: a number or a truth of all."""

    operation: Literal["count", "any", "all"]


@dataclass(frozen=True, slots=True)
class Search(Loop):
    """``first(x in items where test)`` and ``last(…)``. ``or_none``: nothing to find gives none, not a failure."""

    operation: Literal["first", "last"]
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class Order(Loop):
    """``sorted(x in items where test by keys)``, and its first item or last: ``min`` and ``max``. Where keys are equal,
    the earlier item is first; without keys, items are in their own order. ``or_none`` as in :class:`Search`."""

    operation: Literal["sorted", "min", "max"]
    keys: tuple[Expression, ...]
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class Noted(Typed):
    """A value, and that it was worked out: ``what`` is put into ``found``. It stands in no rules but those that are
    watched while the plain form runs them (``testing/instrumentation.py``)."""

    value: Expression
    what: str
    found: set[str] = field(compare=False, repr=False)


Expression = (
    Const
    | Local
    | PlayerCount
    | AllSeats
    | RoleSeat
    | SettingValue
    | Cell
    | Read
    | Static
    | FieldOf
    | Element
    | BagItem
    | TableCell
    | CallRule
    | CallBase
    | Builtin
    | MakeRecord
    | MakeList
    | AmountOf
    | RangeFrom
    | Arithmetic
    | Comparison
    | Logic
    | Negation
    | Negate
    | Condition
    | Default
    | MemberOf
    | KindTest
    | Select
    | Fold
    | Search
    | Order
    | Noted
)


# --- steps -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetLocal(Core):
    """A local gets a value. ``call``: the value is a call that may ask."""

    index: int
    value: Expression


@dataclass(frozen=True, slots=True)
class SetCell(Core):
    """A value of the state changes."""

    cell: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class MoveCards(Core):
    """A card, a list of cards or a pile goes to a zone: where its order says, or on top or bottom of it or a pile."""

    cards: Expression
    target: Expression
    where: Literal["in", "top", "bottom", "new pile"]


@dataclass(frozen=True, slots=True)
class MoveTokens(Core):
    """An amount (a bag, or a number of a token without kinds) goes from one holder to another."""

    amount: Expression
    source: Expression
    target: Expression


@dataclass(frozen=True, slots=True)
class MovePiece(Core):
    """A piece goes from a stock to a place or back; a number of pieces from one stock to another."""

    number: Expression
    source: Expression
    target: Expression


@dataclass(frozen=True, slots=True)
class MoveAll(Core):
    """All that a holder has goes to another of its sort."""

    source: Expression
    target: Expression
    where: Literal["in", "top", "bottom", "new pile"]


@dataclass(frozen=True, slots=True)
class Shuffles(Core):
    """A zone's cards get a random order."""

    zone: Expression
    chance: str


@dataclass(frozen=True, slots=True)
class Picks(Core):
    """A local gets one of the items, by chance."""

    index: int
    items: Expression
    chance: str


@dataclass(frozen=True, slots=True)
class Notes(Core):
    """An event happens."""

    event: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Returns(Core):
    """``return``, with a value or without."""

    value: Expression | None


@dataclass(frozen=True, slots=True)
class Settles(Core):
    """Standing rules are looked at."""


@dataclass(frozen=True, slots=True)
class Reveals(Core):
    """Sealed choices become known."""


@dataclass(frozen=True, slots=True)
class Ends(Core):
    """The game is over."""


@dataclass(frozen=True, slots=True)
class Performs(Core):
    """A call for its effects."""

    call: Expression


@dataclass(frozen=True, slots=True)
class Test(Core):
    """A condition; with ``bind`` the value is kept there and the test is that it is not none."""

    value: Expression
    bind: int | None = None


@dataclass(frozen=True, slots=True)
class Branch(Core):
    """``if``."""

    test: Test
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Iterate(Core):
    """``for each``: over a copy of the items. ``hidden`` are two locals that keep the copy and the position."""

    variable: int
    items: Expression
    test: Expression | None
    body: tuple[Step, ...]
    turn: bool
    hidden: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Repeat(Core):
    """``while``; ``hidden`` is a local that counts the passes of a bounded one."""

    test: Expression
    bound: Expression | None
    body: tuple[Step, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class Choice(Core):
    """One binding of an alternative: a local that takes each item, and its public name and type."""

    variable: int
    name: str
    items: Expression
    type: Type


@dataclass(frozen=True, slots=True)
class Option(Core):
    """One kind of choice. ``tests`` are the conditions of ``where``, one for each side of an ``and``."""

    name: str
    choices: tuple[Choice, ...]
    tests: tuple[Expression, ...]
    guard: Expression | None
    body: tuple[Step, ...] | None
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask(Core):
    """A decision of a seat. ``context`` are values shown with it: name, value.

    ``at_once`` is a list of seats that all decide, each by itself: ``seat`` is the local that takes each of them. Once
    it is lowered, ``at_once`` is the local that holds those who have not chosen yet, and ``kept`` are the locals with
    all seats, those that have chosen, and at the same place what they chose.
    """

    name: str
    seat: Expression
    context: tuple[tuple[str, Expression], ...]
    options: tuple[Option, ...]
    repeatedly: bool
    sealed: bool
    at_once: Expression | None = None
    kept: tuple[int, ...] = ()

    @property
    def chosen(self) -> frozenset[int]:
        """The locals that its alternatives give something. While it waits they are none, whatever was chosen before."""
        return frozenset(choice.variable for option in self.options for choice in option.choices)


@dataclass(frozen=True, slots=True)
class Keeps(Core):
    """A block for later: the procedure made of it, and the locals that it keeps as its parameters."""

    edge: Literal["end", "start"]
    of: str
    procedure: str
    captured: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Requirement(Core):
    """A line of a verdict: a condition with its statements, or a local that later lines read."""

    test: Expression
    cites: tuple[str, ...]
    bind: int | None = None


Step = (
    SetLocal
    | SetCell
    | MoveCards
    | MoveTokens
    | MovePiece
    | MoveAll
    | Shuffles
    | Picks
    | Notes
    | Returns
    | Settles
    | Reveals
    | Ends
    | Performs
    | Branch
    | Iterate
    | Repeat
    | Ask
    | Keeps
)
