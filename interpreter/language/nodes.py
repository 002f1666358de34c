"""Syntax tree of rule text. A node is named for its construct; ``span`` is its position in the YAML file."""

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
    """Base of all syntax nodes. Comparison ignores positions: equal texts are equal trees."""

    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """``seat``: a type by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class MadeType(Node):
    """``list of seat``: a type with a type argument."""

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
    """``limit``: a local, a declaration, a rule without parameters or a member of a kind."""

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
    """``limit(card)``, ``sale(what = card, price = 3)``: a call of a rule, built-in or record. ``names`` are the names
    of keyword arguments."""

    name: str
    arguments: tuple[Expr, ...]
    names: tuple[str, ...] = ()
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Drawn(Node):
    """``pick from items as chance``: a random item. ``shuffled items as chance``: all items in a random order. Allowed
    only as the whole value that a statement assigns, moves or returns."""

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
    """``1 .. 5``: whole numbers from the first to the last."""

    first: Expr
    last: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """``a + b``, ``a and b``: a binary operator."""

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
    """``card is joker``: a test of the kind of a card or piece."""

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
    """``a otherwise b``: ``a``, or ``b`` if ``a`` is none."""

    value: Expr
    default: Expr


@dataclass(frozen=True, slots=True)
class Amount(Node):
    """``3 of red``: a bag with a number of tokens of one kind."""

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
    """``let name = roll number from items as chance``: a list of ``number`` random picks from the same items."""

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
    """``remove value from list``: removes the first equal item. The list must contain one."""

    value: Expr
    target: Expr


@dataclass(frozen=True, slots=True)
class Target(Node):
    """Destination of a move: a holder, optionally its ``top``, ``bottom`` or a ``new pile``."""

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
    """``note event(values)``: emits an event; its triggers run at once."""

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
    """``settle``: runs the standing rules."""


@dataclass(frozen=True, slots=True)
class Reveal(Node):
    """``reveal``: makes sealed choices public."""


@dataclass(frozen=True, slots=True)
class EndGame(Node):
    """``end game``."""


@dataclass(frozen=True, slots=True)
class Perform(Node):
    """A call as a statement."""

    call: Expr


@dataclass(frozen=True, slots=True)
class TestLet(Node):
    """``let name = value`` as a condition: true if the value is not none."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Block(Node):
    """Sequence of statements."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    """``if test:`` with ``else``. An ``elif`` is an ``if`` inside ``otherwise``."""

    test: Expr | TestLet
    then: Block
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class ForEach(Node):
    """``for each x in items where test:``. Each iteration of ``for each turn`` is a turn."""

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
    """``x in items``: a name bound to each item in turn."""

    name: str
    items: Expr


@dataclass(frozen=True, slots=True)
class Context(Node):
    """Value shown with a decision."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Alternative(Node):
    """``name x in items where test if guard cites X:``: one kind of move. Without a body it ends the decision."""

    name: str
    binders: tuple[Binder, ...]
    test: Expr | None
    guard: Expr | None
    body: Block | None
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternatives(Node):
    """Text of an ``adds`` or ``wraps`` of a decision."""

    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Choose(Node):
    """``choose name(context) by seat, repeatedly:``, or ``by each s in seats where test, at once:``. In the latter
    form ``each`` is the name bound to the choosing seat and ``seat`` is the list."""

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
    """``at end of phase:`` or ``at start of next round:``: a delayed block."""

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
    """Text of an ``is``: an expression, or a block that returns a value."""

    header: Header | None
    body: Expr | Block


@dataclass(frozen=True, slots=True)
class Procedure(Node):
    """Text of a ``does``."""

    header: Header | None
    body: Block


@dataclass(frozen=True, slots=True)
class Require(Node):
    """``require test cites AB-12``."""

    test: Expr
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict(Node):
    """Text of a ``permits``."""

    header: Header | None
    lines: tuple[Require | Let, ...]


@dataclass(frozen=True, slots=True)
class EventPattern(Node):
    """``drew(card) where test``: the events that fire a trigger."""

    event: str
    names: tuple[str, ...]
    test: Expr | None


@dataclass(frozen=True, slots=True)
class Match(Node):
    """``x in items, y in items where test``: the matches that a standing rule handles."""

    binders: tuple[Binder, ...]
    test: Expr | None


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """``play card, place where test``: a subset of a decision's options. ``any`` matches all of them."""

    name: str
    names: tuple[str, ...]
    test: Expr | None


@dataclass(frozen=True, slots=True)
class Preference(Node):
    """A line of a policy, or ``either …:`` with the lines below it: options, a tie-break and the probability that the
    line is used."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    keys: tuple[Expr, ...]
    chance: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Preferences(Node):
    """Text of a ``prefer``."""

    lines: tuple[Preference, ...]
