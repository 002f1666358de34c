"""The parsed tree of rule text. A node is named for its construct; ``span`` is its place in the YAML file."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from interpreter.base.frozen import dataclass
from interpreter.base.source import NOWHERE, Span

__all__ = [
    "Add",
    "Aggregate",
    "Alternative",
    "Alternatives",
    "Amount",
    "Assign",
    "Attribute",
    "Binary",
    "Binder",
    "Block",
    "BoolLiteral",
    "Call",
    "Choose",
    "Compare",
    "Comparison",
    "Conditional",
    "Context",
    "Drawn",
    "EndGame",
    "EventPattern",
    "Expr",
    "ForEach",
    "Function",
    "Header",
    "If",
    "In",
    "Index",
    "IntLiteral",
    "IsKind",
    "Keep",
    "Let",
    "ListComprehension",
    "ListFilter",
    "ListLiteral",
    "MadeType",
    "Match",
    "Move",
    "Name",
    "NamedType",
    "Negative",
    "Node",
    "NoneLiteral",
    "Not",
    "Note",
    "OptionalType",
    "Otherwise",
    "Parameter",
    "Pattern",
    "Perform",
    "Preference",
    "Preferences",
    "Procedure",
    "RangeOf",
    "RangeType",
    "Remove",
    "Require",
    "Return",
    "Reveal",
    "Roll",
    "Settle",
    "Shuffle",
    "Statement",
    "Target",
    "TestLet",
    "TextLiteral",
    "Type",
    "Verdict",
    "While",
]


@dataclass(frozen=True, slots=True)
class Node:
    """Anything parsed. Places do not take part in comparisons: equal texts are equal trees."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """``seat``: a type by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class MadeType(Node):
    """``list of seat``: a type made from another one."""

    maker: str
    of: Type


@dataclass(frozen=True, slots=True)
class OptionalType(Node):
    """``seat?``: a value of the type, or none."""

    of: Type


@dataclass(frozen=True, slots=True)
class RangeType(Node):
    """``1..3``: whole numbers from the first to the last."""

    first: int
    last: int


Type = NamedType | MadeType | OptionalType | RangeType


# --- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name(Node):
    """``limit``: a local, a thing of the game, a rule without parameters or a member of a kind."""

    name: str


@dataclass(frozen=True, slots=True)
class IntLiteral(Node):
    """``13``."""

    value: int


@dataclass(frozen=True, slots=True)
class TextLiteral(Node):
    """``"North"``: the name of a node."""

    value: str


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    """``yes`` or ``no``."""

    value: bool


@dataclass(frozen=True, slots=True)
class NoneLiteral(Node):
    """``none``."""


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """Attribute access, ``who.points``."""

    of: Expr
    name: str
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index(Node):
    """``table[players, red]``, ``who.store[red]`` or ``items[0]``."""

    of: Expr
    keys: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """``limit(card)``, ``sale(what = card, price = 3)``: a rule, a built-in or a record; ``names`` are those of its
    arguments, where they are said."""

    name: str
    arguments: tuple[Expr, ...]
    names: tuple[str, ...] = ()
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Drawn(Node):
    """``pick from items as chance``, one of the items; ``shuffled items as chance``, all of them in a random order. It
    stands only as all of what a statement keeps, moves or returns."""

    how: Literal["pick", "shuffled"]
    items: Expr
    chance: str


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """``count(x in items where test by keys)``; with ``value`` it is ``sum(value for x in items where test)``."""

    name: str
    variable: str
    items: Expr
    test: Expr | None
    keys: tuple[Expr, ...] = ()
    listed: bool = False
    value: Expr | None = None
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    """``[a, b]``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ListFilter(Node):
    """``[x in items where test]``."""

    variable: str
    items: Expr
    test: Expr | None


@dataclass(frozen=True, slots=True)
class ListComprehension(Node):
    """``[value for x in items where test]``."""

    value: Expr
    variable: str
    items: Expr
    test: Expr | None


@dataclass(frozen=True, slots=True)
class RangeOf(Node):
    """``1 .. 5``: the whole numbers from the first to the last."""

    first: Expr
    last: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """``a + b``, ``a and b``: an operator with two sides."""

    operator: Literal["+", "-", "*", "div", "mod", "and", "or"]
    left: Expr
    right: Expr


Comparison = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """``a <= b``."""

    operator: Comparison
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class In(Node):
    """``x in items`` or ``x not in items``."""

    item: Expr
    items: Expr
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsKind(Node):
    """``card is joker``: whether a card or piece is of a kind."""

    value: Expr
    kind: str
    negated: bool = False
    kind_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not(Node):
    """``not a``."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """``-a``."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """``a if test else b``."""

    then: Expr
    test: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Otherwise(Node):
    """``a otherwise b``: ``a``, or ``b`` where ``a`` is none."""

    value: Expr
    default: Expr


@dataclass(frozen=True, slots=True)
class Amount(Node):
    """``3 of red``: a bag with so many tokens of one kind."""

    number: Expr
    kind: Expr


Expr = (
    Name
    | IntLiteral
    | TextLiteral
    | BoolLiteral
    | NoneLiteral
    | Attribute
    | Index
    | Call
    | Drawn
    | Aggregate
    | ListLiteral
    | ListFilter
    | ListComprehension
    | RangeOf
    | Binary
    | Compare
    | In
    | IsKind
    | Not
    | Negative
    | Conditional
    | Otherwise
    | Amount
)


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let(Node):
    """``let name = value`` or ``let name: type = value``."""

    name: str
    type: Type | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Roll(Node):
    """``let name = roll number from items as chance``: so many picks from the same items, as a list."""

    name: str
    number: Expr
    items: Expr
    chance: str


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """``target = value``, ``target += value`` or ``target -= value``."""

    target: Expr
    operator: Literal["=", "+=", "-="]
    value: Expr


@dataclass(frozen=True, slots=True)
class Add(Node):
    """``add value to list``."""

    value: Expr
    target: Expr


@dataclass(frozen=True, slots=True)
class Remove(Node):
    """``remove value from list``: the first such item, which must be there."""

    value: Expr
    target: Expr


@dataclass(frozen=True, slots=True)
class Target(Node):
    """Destination of a move: a holder, with ``top``, ``bottom`` or ``new pile`` if that matters."""

    where: Literal["in", "top", "bottom", "new pile"]
    holder: Expr


@dataclass(frozen=True, slots=True)
class Move(Node):
    """``move what to target``, ``move what from source to target`` or ``move all of source to target``."""

    what: Expr | None
    source: Expr | None
    target: Target


@dataclass(frozen=True, slots=True)
class Shuffle(Node):
    """``shuffle zone as chance``."""

    zone: Expr
    chance: str | None


@dataclass(frozen=True, slots=True)
class Note(Node):
    """``note event(values)``: the event happens; its triggers run at once."""

    event: str
    arguments: tuple[Expr, ...]
    names: tuple[str, ...] = ()
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Return(Node):
    """``return value``."""

    value: Expr | None


@dataclass(frozen=True, slots=True)
class Settle(Node):
    """``settle``: standing rules are looked at now."""


@dataclass(frozen=True, slots=True)
class Reveal(Node):
    """``reveal``: sealed choices become known."""


@dataclass(frozen=True, slots=True)
class EndGame(Node):
    """``end game``."""


@dataclass(frozen=True, slots=True)
class Perform(Node):
    """A call as a statement."""

    call: Expr


@dataclass(frozen=True, slots=True)
class TestLet(Node):
    """``let name = value`` as a condition: the value is not none."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Statements, one after the other."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    """``if test:`` with ``else``; ``elif`` is an ``if`` inside ``otherwise``."""

    test: Expr | TestLet
    then: Block
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class ForEach(Node):
    """``for each x in items where test:``; each pass of ``for each turn`` is a turn."""

    variable: str
    items: Expr
    test: Expr | None
    body: Block
    turn: bool = False


@dataclass(frozen=True, slots=True)
class While(Node):
    """``while test at most n times:``."""

    test: Expr
    bound: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """``x in items``: a name that takes each item in turn."""

    name: str
    items: Expr


@dataclass(frozen=True, slots=True)
class Context(Node):
    """A value that a decision shows with itself."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Alternative(Node):
    """``name x in items where test if guard cites X:``: one kind of choice. Without a body it ends the decision."""

    name: str
    binders: tuple[Binder, ...]
    test: Expr | None
    guard: Expr | None
    body: Block | None
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternatives(Node):
    """The text of an ``adds`` or ``wraps`` of a decision."""

    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Choose(Node):
    """``choose name(context) by seat, repeatedly:``, or ``by each s in seats where test, at once:``, where ``each`` is
    the name of the seat that chooses, and ``seat`` the list."""

    name: str
    context: tuple[Context, ...]
    seat: Expr
    repeatedly: bool
    sealed: bool
    alternatives: tuple[Alternative, ...]
    each: str = ""
    test: Expr | None = None


@dataclass(frozen=True, slots=True)
class Keep(Node):
    """``at end of phase:`` or ``at start of next round:``: a block for later."""

    edge: Literal["end", "start"]
    of: str
    body: Block


Statement = (
    Let
    | Roll
    | Assign
    | Add
    | Remove
    | Move
    | Shuffle
    | Note
    | Return
    | Settle
    | Reveal
    | EndGame
    | Perform
    | If
    | ForEach
    | While
    | Choose
    | Keep
)


# --- whole texts -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """Parameter, ``who: seat``."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Header(Node):
    """Header of a rule, ``(who: seat) -> int:``."""

    parameters: tuple[Parameter, ...]
    result: Type | None


@dataclass(frozen=True, slots=True)
class Function(Node):
    """The text of an ``is``: an expression, or a block that returns one."""

    header: Header | None
    body: Expr | Block


@dataclass(frozen=True, slots=True)
class Procedure(Node):
    """The text of a ``does``."""

    header: Header | None
    body: Block


@dataclass(frozen=True, slots=True)
class Require(Node):
    """``require test cites AB-12``."""

    test: Expr
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict(Node):
    """The text of a ``permits``."""

    header: Header | None
    lines: tuple[Require | Let, ...]


@dataclass(frozen=True, slots=True)
class EventPattern(Node):
    """``drew(card) where test``: the event that a trigger hears."""

    event: str
    names: tuple[str, ...]
    test: Expr | None


@dataclass(frozen=True, slots=True)
class Match(Node):
    """``x in items, y in items where test``: what a standing rule looks for."""

    binders: tuple[Binder, ...]
    test: Expr | None


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """``play card, place where test``: some of a decision's options; ``any`` is all of them."""

    name: str
    names: tuple[str, ...]
    test: Expr | None


@dataclass(frozen=True, slots=True)
class Preference(Node):
    """A line of a policy, or ``either …:`` with several below it: options, the end to a tie, and the chance that it is
    used."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    keys: tuple[Expr, ...]
    chance: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Preferences(Node):
    """The text of a ``prefer``."""

    lines: tuple[Preference, ...]
