"""The checked tree: names are bound, types are known, literals are resolved.

All values are plain data: whole numbers (cards, seats, nodes, places and members of kinds are indexes), booleans, none
and tuples of these. A holder (zone, pool, track, stock or place) is represented by the number of its cell.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Value
from interpreter.base.source import NOWHERE, Span
from interpreter.language.builtins import Builtin
from interpreter.language.types import INT, Type

__all__ = [
    "AllSeats",
    "AmountOf",
    "Arithmetic",
    "Ask",
    "BagItem",
    "Branch",
    "CallBase",
    "CallBuiltin",
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
    """Base of all checked nodes."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


# --- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Typed(Core):
    """Base of expressions: nodes with a value, of type ``type``."""

    type: Type = field(default=INT, kw_only=True)


@dataclass(frozen=True, slots=True)
class Const(Typed):
    """Constant."""

    value: Value


@dataclass(frozen=True, slots=True)
class Local(Typed):
    """A parameter or local, by its index in the frame."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class PlayerCount(Typed):
    """``players``: number of seats that count."""


@dataclass(frozen=True, slots=True)
class AllSeats(Typed):
    """``seats``: all seats, in clockwise order."""


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
    """Address of a cell: a group of cells, and an owner if the group has owners."""

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
    """Field of a record, or part of a room."""

    of: Expression
    index: int


@dataclass(frozen=True, slots=True)
class Element(Typed):
    """Item of a list, by its index from 0."""

    of: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class BagItem(Typed):
    """Number of tokens of one kind in a bag."""

    of: Expression
    kind: Expression


@dataclass(frozen=True, slots=True)
class TableCell(Typed):
    """Cell of a printed table."""

    table: str
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class CallRule(Typed):
    """Call of a rule, that is, of its uppermost layer."""

    rule: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class CallBase(Typed):
    """``base()``: a call of the layer below."""

    rule: str
    layer: int
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class CallBuiltin(Typed):
    """Call of a built-in function. With ``or_none``, the result is none instead of a failure if nothing is found."""

    builtin: Builtin
    arguments: tuple[Expression, ...]
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class MakeRecord(Typed):
    """Construction of a record or room from its fields."""

    fields: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MakeList(Typed):
    """List literal."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AmountOf(Typed):
    """Bag over ``size`` kinds with ``number`` tokens of one kind."""

    number: Expression
    kind: Expression
    size: int


@dataclass(frozen=True, slots=True)
class RangeFrom(Typed):
    """Whole numbers from the first to the last, inclusive."""

    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Typed):
    """Arithmetic on numbers. ``+`` also concatenates lists and adds bags, ``-`` subtracts bags."""

    operator: Literal["+", "-", "*", "div", "mod"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison(Typed):
    """``a < b`` and the other five comparisons."""

    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logic(Typed):
    """``a and b``, ``a or b``, with short-circuit evaluation."""

    operator: Literal["and", "or"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negation(Typed):
    """``not a``."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Negate(Typed):
    """``-a``, for a number or a bag."""

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
    """``a in b``: membership in a list, set or range."""

    item: Expression
    items: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class KindTest(Typed):
    """``a is b``: test of the kind of a card or piece."""

    value: Expression
    kind: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Loop(Typed):
    """Base of loops over a list: a local takes each item, and items that fail the test are skipped."""

    variable: int
    items: Expression
    test: Expression | None


@dataclass(frozen=True, slots=True)
class Select(Loop):
    """``[x in items where test]``, or with a value ``[value for x in items where test]``."""

    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Fold(Loop):
    """``count(x in items where test)``, ``any(…)`` and ``all(test for x in items)``: a number or a boolean."""

    operation: Literal["count", "any", "all"]


@dataclass(frozen=True, slots=True)
class Search(Loop):
    """``first(x in items where test)`` and ``last(…)``. ``or_none`` as in :class:`CallBuiltin`."""

    operation: Literal["first", "last"]
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class Order(Loop):
    """``sorted(x in items where test by keys)``, and its first or last item: ``min`` and ``max``. The sort is stable;
    without keys, items are compared themselves. ``or_none`` as in :class:`CallBuiltin`."""

    operation: Literal["sorted", "min", "max"]
    keys: tuple[Expression, ...]
    or_none: bool = False


@dataclass(frozen=True, slots=True)
class Noted(Typed):
    """Value whose evaluation is recorded: ``what`` is added to ``found``. Occurs only in instrumented rules, which run
    in the plain form (``testing/instrumentation.py``)."""

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
    | CallBuiltin
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
    """Assign a value to a local. The value may be a call that asks."""

    index: int
    value: Expression


@dataclass(frozen=True, slots=True)
class SetCell(Core):
    """Assign a value to a cell."""

    cell: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class MoveCards(Core):
    """Move a card, a list of cards or a pile to a zone: by the zone's order, or to the top or bottom of it or a
    pile."""

    cards: Expression
    target: Expression
    where: Literal["in", "top", "bottom", "new pile"]


@dataclass(frozen=True, slots=True)
class MoveTokens(Core):
    """Move an amount (a bag, or a number for a token without kinds) from one holder to another."""

    amount: Expression
    source: Expression
    target: Expression


@dataclass(frozen=True, slots=True)
class MovePiece(Core):
    """Move a piece from a stock to a place or back, or a number of pieces from one stock to another."""

    number: Expression
    source: Expression
    target: Expression


@dataclass(frozen=True, slots=True)
class MoveAll(Core):
    """Move the whole content of a holder to another holder of the same type."""

    source: Expression
    target: Expression
    where: Literal["in", "top", "bottom", "new pile"]


@dataclass(frozen=True, slots=True)
class Shuffles(Core):
    """Shuffle the cards of a zone."""

    zone: Expression
    chance: str


@dataclass(frozen=True, slots=True)
class Picks(Core):
    """Assign a random item to a local."""

    index: int
    items: Expression
    chance: str


@dataclass(frozen=True, slots=True)
class Notes(Core):
    """Emit an event."""

    event: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Returns(Core):
    """``return``, with or without a value."""

    value: Expression | None


@dataclass(frozen=True, slots=True)
class Settles(Core):
    """Run the standing rules."""


@dataclass(frozen=True, slots=True)
class Reveals(Core):
    """Make sealed choices public."""


@dataclass(frozen=True, slots=True)
class Ends(Core):
    """End the game."""


@dataclass(frozen=True, slots=True)
class Performs(Core):
    """Call for its effects; the result is dropped."""

    call: Expression


@dataclass(frozen=True, slots=True)
class Test(Core):
    """A condition. With ``bind``, the value is stored in that local and the test passes if it is not none."""

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
    """``for each``, over a copy of the items. ``hidden`` are the locals of the copy and the position."""

    variable: int
    items: Expression
    test: Expression | None
    body: tuple[Step, ...]
    turn: bool
    hidden: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Repeat(Core):
    """``while``. ``hidden`` is the local that counts the iterations if there is a bound."""

    test: Expression
    bound: Expression | None
    body: tuple[Step, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class Choice(Core):
    """One binder of an alternative: a local that takes each item, with its public name and type."""

    variable: int
    name: str
    items: Expression
    type: Type


@dataclass(frozen=True, slots=True)
class Option(Core):
    """One kind of move. ``tests`` are the conditions of ``where``, split at ``and``."""

    name: str
    choices: tuple[Choice, ...]
    tests: tuple[Expression, ...]
    guard: Expression | None
    body: tuple[Step, ...] | None
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask(Core):
    """Decision of a seat. ``context`` holds the values shown with it, as (name, value).

    ``at_once`` is a list of seats that decide simultaneously; ``seat`` is then the local that takes each of them. After
    lowering, ``at_once`` is the local that holds the seats that have not chosen yet, and ``kept`` are three locals: all
    seats, the seats that have chosen, and their choices in the same order.
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
        """Locals that its alternatives bind. They are none while it is open, even if it was made before."""
        return frozenset(choice.variable for option in self.options for choice in option.choices)


@dataclass(frozen=True, slots=True)
class Keeps(Core):
    """Delayed block: its procedure, and the locals captured as parameters."""

    edge: Literal["end", "start"]
    of: str
    procedure: str
    captured: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Requirement(Core):
    """Line of a verdict: a condition with its citations, or a local for the lines below."""

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
