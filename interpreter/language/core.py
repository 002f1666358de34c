"""The checked tree: names are bound, types are known, literals are resolved.

All values are plain data: whole numbers (cards, seats, nodes, places and members of kinds are indexes), booleans, none
and tuples of these. A holder (zone, pool, track, stock or place) is represented by the number of its cell.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from interpreter.base.plain_data import Value
from interpreter.base.tree import Placed
from interpreter.language.builtins import Builtin
from interpreter.language.types import INT, Type


class Core(Placed, frozen=True, tag_field="node"):
    """Base of all checked nodes. Each class has a tag, by which digests of rulesets name it; it never changes."""

    apart: ClassVar = ("type",)


# --- expressions -----------------------------------------------------------------------------------------------------


class Typed(Core, frozen=True, kw_only=True):
    """Base of expressions: nodes with a value, of type ``type``."""

    type: Type = INT


class Const(Typed, frozen=True, tag="const"):
    """Constant."""

    value: Value


class Local(Typed, frozen=True, tag="local"):
    """A parameter or local, by its index in the frame."""

    index: int
    name: str


class PlayerCount(Typed, frozen=True, tag="player_count"):
    """``players``: number of seats that count."""


class AllSeats(Typed, frozen=True, tag="all_seats"):
    """``seats``: all seats, in clockwise order."""


class RoleSeat(Typed, frozen=True, tag="role_seat"):
    """The only seat of a role."""

    role: str


class SettingValue(Typed, frozen=True, tag="setting_value"):
    """A setting or interpretation: constant in one game."""

    name: str


class Cell(Typed, frozen=True, tag="cell"):
    """Address of a cell: a group of cells, and an owner if the group has owners."""

    group: str
    owner: Expression | None


class Read(Typed, frozen=True, tag="read"):
    """Value of a cell."""

    cell: Expression


class Static(Typed, frozen=True, tag="static"):
    """A printed attribute (``card.number``, ``node.region``, ``place.node``), looked up by index."""

    attribute: str
    of: Expression


class FieldOf(Typed, frozen=True, tag="field_of"):
    """Field of a record, or part of a room."""

    of: Expression
    index: int


class Element(Typed, frozen=True, tag="element"):
    """Item of a list, by its index from 0."""

    of: Expression
    index: Expression


class BagItem(Typed, frozen=True, tag="bag_item"):
    """Number of tokens of one kind in a bag."""

    of: Expression
    kind: Expression


class TableCell(Typed, frozen=True, tag="table_cell"):
    """Cell of a printed table."""

    table: str
    keys: tuple[Expression, ...]


class CallRule(Typed, frozen=True, tag="call_rule"):
    """Call of a rule, that is, of its uppermost layer."""

    rule: str
    arguments: tuple[Expression, ...]


class CallBase(Typed, frozen=True, tag="call_base"):
    """``base()``: a call of the layer below."""

    rule: str
    layer: int
    arguments: tuple[Expression, ...]


class CallBuiltin(Typed, frozen=True, tag="call_builtin"):
    """Call of a built-in function. With ``or_none``, the result is none instead of a failure if nothing is found."""

    builtin: Builtin
    arguments: tuple[Expression, ...]
    or_none: bool = False


class MakeRecord(Typed, frozen=True, tag="make_record"):
    """Construction of a record or room from its fields."""

    fields: tuple[Expression, ...]


class MakeList(Typed, frozen=True, tag="make_list"):
    """List literal."""

    items: tuple[Expression, ...]


class AmountOf(Typed, frozen=True, tag="amount_of"):
    """Bag over ``size`` kinds with ``number`` tokens of one kind."""

    number: Expression
    kind: Expression
    size: int


class RangeFrom(Typed, frozen=True, tag="range_from"):
    """Whole numbers from the first to the last, inclusive."""

    first: Expression
    last: Expression


class Arithmetic(Typed, frozen=True, tag="arithmetic"):
    """Arithmetic on numbers. ``+`` also concatenates lists and adds bags, ``-`` subtracts bags."""

    operator: Literal["+", "-", "*", "div", "mod"]
    left: Expression
    right: Expression


class Comparison(Typed, frozen=True, tag="comparison"):
    """``a < b`` and the other five comparisons."""

    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression


class Logic(Typed, frozen=True, tag="logic"):
    """``a and b``, ``a or b``, with short-circuit evaluation."""

    operator: Literal["and", "or"]
    left: Expression
    right: Expression


class Negation(Typed, frozen=True, tag="negation"):
    """``not a``."""

    value: Expression


class Negate(Typed, frozen=True, tag="negate"):
    """``-a``, for a number or a bag."""

    value: Expression


class Condition(Typed, frozen=True, tag="condition"):
    """``a if test else b``."""

    then: Expression
    test: Expression
    otherwise: Expression


class Default(Typed, frozen=True, tag="default"):
    """``a otherwise b``."""

    value: Expression
    default: Expression


class MemberOf(Typed, frozen=True, tag="member_of"):
    """``a in b``: membership in a list, set or range."""

    item: Expression
    items: Expression
    negated: bool


class KindTest(Typed, frozen=True, tag="kind_test"):
    """``a is b``: test of the kind of a card or piece."""

    value: Expression
    kind: str
    negated: bool


class Loop(Typed, frozen=True, tag="loop"):
    """Base of loops over a list: a local takes each item, and items that fail the test are skipped."""

    variable: int
    items: Expression
    test: Expression | None


class Select(Loop, frozen=True, tag="select"):
    """``[x in items where test]``, or with a value ``[value for x in items where test]``."""

    value: Expression | None = None


class Fold(Loop, frozen=True, tag="fold"):
    """``count(x in items where test)``, ``any(…)`` and ``all(test for x in items)``: a number or a boolean."""

    operation: Literal["count", "any", "all"]


class Search(Loop, frozen=True, tag="search"):
    """``first(x in items where test)`` and ``last(…)``. ``or_none`` as in :class:`CallBuiltin`."""

    operation: Literal["first", "last"]
    or_none: bool = False


class Order(Loop, frozen=True, tag="order"):
    """``sorted(x in items where test by keys)``, and its first or last item: ``min`` and ``max``. The sort is stable;
    without keys, items are compared themselves. ``or_none`` as in :class:`CallBuiltin`."""

    operation: Literal["sorted", "min", "max"]
    keys: tuple[Expression, ...]
    or_none: bool = False


class Noted(Typed, frozen=True, tag="noted"):
    """Value whose evaluation is recorded: ``what`` is added to ``found``, as a tuple with the values of ``keys`` if
    there are any. Occurs only in instrumented rules, which run in the plain form (``testing/instrumentation.py``)."""

    value: Expression
    what: str
    found: set[Any]
    keys: tuple[Expression, ...] = ()


Leaf = Const | Local | PlayerCount | AllSeats | RoleSeat | SettingValue
Lookup = Cell | Read | Static | FieldOf | Element | BagItem | TableCell
Call = CallRule | CallBase
Made = MakeRecord | MakeList | AmountOf | RangeFrom
Operation = Arithmetic | Comparison | Logic | Negation | Negate | Condition | Default | MemberOf | KindTest
Expression = Leaf | Lookup | Call | CallBuiltin | Made | Operation | Select | Fold | Search | Order | Noted


# --- steps -----------------------------------------------------------------------------------------------------------


class SetLocal(Core, frozen=True, tag="set_local"):
    """Assign a value to a local. The value may be a call that asks."""

    index: int
    value: Expression


class SetCell(Core, frozen=True, tag="set_cell"):
    """Assign a value to a cell."""

    cell: Expression
    value: Expression


class MoveCards(Core, frozen=True, tag="move_cards"):
    """Move a card, a list of cards or a pile to a zone by its order, or to the top or bottom of it or of a pile."""

    cards: Expression
    target: Expression
    where: Literal["in", "top", "bottom", "new pile"]


class MoveTokens(Core, frozen=True, tag="move_tokens"):
    """Move an amount (a bag, or a number for a token without kinds) from one holder to another."""

    amount: Expression
    source: Expression
    target: Expression


class MovePiece(Core, frozen=True, tag="move_piece"):
    """Move a piece from a stock to a place or back, or a number of pieces from one stock to another."""

    number: Expression
    source: Expression
    target: Expression


class MoveAll(Core, frozen=True, tag="move_all"):
    """Move the whole content of a holder to another holder of the same type."""

    source: Expression
    target: Expression
    where: Literal["in", "top", "bottom", "new pile"]


class Shuffles(Core, frozen=True, tag="shuffles"):
    """Shuffle the cards of a zone."""

    zone: Expression
    chance: str


class Picks(Core, frozen=True, tag="picks"):
    """Assign a random item to a local."""

    index: int
    items: Expression
    chance: str


class Notes(Core, frozen=True, tag="notes"):
    """Emit an event."""

    event: str
    arguments: tuple[Expression, ...]


class Returns(Core, frozen=True, tag="returns"):
    """``return``, with or without a value."""

    value: Expression | None


class Settles(Core, frozen=True, tag="settles"):
    """Run the standing rules."""


class Reveals(Core, frozen=True, tag="reveals"):
    """Make sealed choices public, or those of the simultaneous decision that has just been completed (``at_once``)."""

    at_once: bool = False


class Ends(Core, frozen=True, tag="ends"):
    """End the game."""


class Performs(Core, frozen=True, tag="performs"):
    """Call for its effects; the result is dropped."""

    call: Expression


class Test(Core, frozen=True, tag="test"):
    """A condition. With ``bind``, the value is stored in that local and the test passes if it is not none."""

    value: Expression
    bind: int | None = None


class Branch(Core, frozen=True, tag="branch"):
    """``if``."""

    test: Test
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]


class Iterate(Core, frozen=True, tag="iterate"):
    """``for each``, over a copy of the items. ``hidden`` are the locals of the copy and the position."""

    variable: int
    items: Expression
    test: Expression | None
    body: tuple[Step, ...]
    turn: bool
    hidden: tuple[int, int]


class Repeat(Core, frozen=True, tag="repeat"):
    """``while``. ``hidden`` is the local that counts the iterations if there is a bound."""

    test: Expression
    bound: Expression | None
    body: tuple[Step, ...]
    hidden: int


class Choice(Core, frozen=True, tag="choice"):
    """One binder of an alternative: a local that takes each item, with its public name and type."""

    variable: int
    name: str
    items: Expression
    type: Type


class Option(Core, frozen=True, tag="option"):
    """One kind of move. ``tests`` are the conditions of ``where``, split at ``and``."""

    name: str
    choices: tuple[Choice, ...]
    tests: tuple[Expression, ...]
    guard: Expression | None
    body: tuple[Step, ...] | None
    cites: tuple[str, ...] = ()


class Ask(Core, frozen=True, tag="ask"):
    """Decision of a seat. ``context`` holds the values shown with it, as (name, value).

    ``at_once`` is a list of seats that decide simultaneously; ``seat`` is then the local that takes each of them. After
    lowering, ``at_once`` is the local that holds the seats that have not chosen yet, and ``kept`` are three locals: all
    seats, the seats that have chosen, and their choices in the same order. Choices that are ``sealed`` are revealed by
    ``reveal``, others at once when all have chosen.
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
    def is_closed(self) -> bool:
        """Return whether other seats do not see a choice when it is made."""
        return self.sealed or self.at_once is not None

    @property
    def chosen(self) -> frozenset[int]:
        """Locals that its alternatives bind. They are none while it is open, even if it was made before."""
        return frozenset(choice.variable for option in self.options for choice in option.choices)


class Keeps(Core, frozen=True, tag="keeps"):
    """Delayed block: its procedure, and the locals captured as parameters."""

    edge: Literal["end", "start"]
    of: str
    procedure: str
    captured: tuple[int, ...]


class Requirement(Core, frozen=True, tag="requirement"):
    """Line of a verdict: a condition with its citations, or a local for the lines below."""

    test: Expression
    cites: tuple[str, ...]
    bind: int | None = None


Change = SetLocal | SetCell | MoveCards | MoveTokens | MovePiece | MoveAll | Shuffles | Picks
Control = Branch | Iterate | Repeat | Performs | Returns | Ends | Ask
Step = Change | Control | Notes | Settles | Reveals | Keeps
