"""Syntax tree of rule text. A node is named for its construct; ``span`` is its position in the YAML file."""

from __future__ import annotations

from typing import Literal

from interpreter.base.source import NOWHERE, Span
from interpreter.base.tree import Placed


class Node(Placed, frozen=True):
    """Base of all syntax nodes."""


# --- types -----------------------------------------------------------------------------------------------------------


class NamedType(Node, frozen=True):
    """``seat``: a type by its name."""

    name: str


class MadeType(Node, frozen=True):
    """``list of seat``: a type with a type argument."""

    maker: str
    of: Type


class OptionalType(Node, frozen=True):
    """``seat?``: a value of the type, or none."""

    of: Type


class RangeType(Node, frozen=True):
    """``1..3``: whole numbers from the first to the last."""

    first: int
    last: int


Type = NamedType | MadeType | OptionalType | RangeType


# --- expressions -----------------------------------------------------------------------------------------------------


class Name(Node, frozen=True):
    """``limit``: a local, a declaration, a rule without parameters or a member of a kind."""

    name: str


class IntLiteral(Node, frozen=True):
    """``13``."""

    value: int


class TextLiteral(Node, frozen=True):
    """``"North"``: the name of a node."""

    value: str


class BoolLiteral(Node, frozen=True):
    """``yes`` or ``no``."""

    value: bool


class NoneLiteral(Node, frozen=True):
    """``none``."""


class Attribute(Node, frozen=True):
    """Attribute access, ``who.points``."""

    of: Expr
    name: str
    name_span: Span = NOWHERE


class Index(Node, frozen=True):
    """``table[players, red]``, ``who.store[red]`` or ``items[0]``."""

    of: Expr
    keys: tuple[Expr, ...]


class Call(Node, frozen=True):
    """``limit(card)``, ``sale(what = card, price = 3)``: a call of a rule, built-in or record. ``names`` are the names
    of keyword arguments."""

    name: str
    arguments: tuple[Expr, ...]
    names: tuple[str, ...] = ()
    name_span: Span = NOWHERE


class Drawn(Node, frozen=True):
    """``pick from items as chance``: a random item. ``shuffled items as chance``: all items in a random order.
    ``roll number from items as chance``: a list of random items. Allowed only as the whole value that a statement
    assigns, moves or returns."""

    how: Literal["pick", "shuffled", "roll"]
    items: Expr
    chance: str
    number: Expr | None = None


class Aggregate(Node, frozen=True):
    """``count(x in items where test by keys)``; with ``value`` it is ``sum(value for x in items where test)``."""

    name: str
    variable: str
    items: Expr
    test: Expr | None
    keys: tuple[Expr, ...] = ()
    listed: bool = False
    value: Expr | None = None
    name_span: Span = NOWHERE


class ListLiteral(Node, frozen=True):
    """``[a, b]``."""

    items: tuple[Expr, ...]


class ListComprehension(Node, frozen=True):
    """``[x in items where test]``, or with a value ``[value for x in items where test]``."""

    value: Expr | None
    variable: str
    items: Expr
    test: Expr | None


class RangeOf(Node, frozen=True):
    """``1 .. 5``: whole numbers from the first to the last."""

    first: Expr
    last: Expr


Sign = Literal["+", "-", "*", "div", "mod"]


class Binary(Node, frozen=True):
    """``a + b``, ``a and b``: a binary operator."""

    operator: Sign | Literal["and", "or"]
    left: Expr
    right: Expr


Comparison = Literal["==", "!=", "<", "<=", ">", ">="]


class Compare(Node, frozen=True):
    """``a <= b``."""

    operator: Comparison
    left: Expr
    right: Expr


class In(Node, frozen=True):
    """``x in items`` or ``x not in items``."""

    item: Expr
    items: Expr
    negated: bool = False


class IsKind(Node, frozen=True):
    """``card is joker``: a test of the kind of a card or piece."""

    value: Expr
    kind: str
    negated: bool = False
    name_span: Span = NOWHERE


class Not(Node, frozen=True):
    """``not a``."""

    value: Expr


class Negative(Node, frozen=True):
    """``-a``."""

    value: Expr


class Conditional(Node, frozen=True):
    """``a if test else b``."""

    then: Expr
    test: Expr
    otherwise: Expr


class Otherwise(Node, frozen=True):
    """``a otherwise b``: ``a``, or ``b`` if ``a`` is none."""

    value: Expr
    default: Expr


class Amount(Node, frozen=True):
    """``3 of red``: a bag with a number of tokens of one kind."""

    number: Expr
    kind: Expr


Constant = IntLiteral | TextLiteral | BoolLiteral | NoneLiteral | ListLiteral
"""Expressions that may mean another thing if another type is expected."""
Operation = Binary | Compare | In | IsKind | Not | Negative | Conditional | Otherwise | Amount
Expr = Name | Constant | Attribute | Index | Call | Drawn | Aggregate | ListComprehension | RangeOf | Operation


# --- statements ------------------------------------------------------------------------------------------------------


class Let(Node, frozen=True):
    """``let name = value`` or ``let name: type = value``."""

    name: str
    type: Type | None
    value: Expr


class Assign(Node, frozen=True):
    """``target = value``, ``target += value`` or ``target -= value``."""

    target: Expr
    operator: Literal["=", "+=", "-="]
    value: Expr


class Add(Node, frozen=True):
    """``add value to list``."""

    value: Expr
    target: Expr


class Remove(Node, frozen=True):
    """``remove value from list``: removes the first equal item. The list must contain one."""

    value: Expr
    target: Expr


Where = Literal["in", "top", "bottom", "new pile"]


class Target(Node, frozen=True):
    """Destination of a move: a holder, optionally its ``top``, ``bottom`` or a ``new pile``."""

    where: Where
    holder: Expr


class Move(Node, frozen=True):
    """``move what to target``, ``move what from source to target`` or ``move all of source to target``."""

    what: Expr | None
    source: Expr | None
    target: Target


class Shuffle(Node, frozen=True):
    """``shuffle zone as chance``."""

    zone: Expr
    chance: str | None


class Note(Node, frozen=True):
    """``note event(values)``: emits an event; its triggers run at once."""

    event: str
    arguments: tuple[Expr, ...]
    names: tuple[str, ...] = ()
    name_span: Span = NOWHERE


class Return(Node, frozen=True):
    """``return value``."""

    value: Expr | None


class Settle(Node, frozen=True):
    """``settle``: runs the standing rules."""


class Reveal(Node, frozen=True):
    """``reveal``: makes sealed choices public."""


class EndGame(Node, frozen=True):
    """``end game``."""


class Perform(Node, frozen=True):
    """A call as a statement."""

    call: Expr


class TestLet(Node, frozen=True):
    """``let name = value`` as a condition: true if the value is not none."""

    name: str
    value: Expr


class Block(Node, frozen=True):
    """Sequence of statements."""

    statements: tuple[Statement, ...]


class If(Node, frozen=True):
    """``if test:`` with ``else``. An ``elif`` is an ``if`` inside ``otherwise``."""

    test: Expr | TestLet
    then: Block
    otherwise: Block | None


class ForEach(Node, frozen=True):
    """``for each x in items where test:``. Each iteration of ``for each turn`` is a turn."""

    variable: str
    items: Expr
    test: Expr | None
    body: Block
    turn: bool = False


class While(Node, frozen=True):
    """``while test at most n times:``."""

    test: Expr
    bound: Expr | None
    body: Block


class Binder(Node, frozen=True):
    """``x in items``: a name bound to each item in turn."""

    name: str
    items: Expr


class Context(Node, frozen=True):
    """Value shown with a decision."""

    name: str
    value: Expr


class Alternative(Node, frozen=True):
    """``name x in items where test if guard cites X:``: one kind of move. Without a body it ends the decision."""

    name: str
    binders: tuple[Binder, ...]
    test: Expr | None
    guard: Expr | None
    body: Block | None
    cites: tuple[str, ...] = ()


class Alternatives(Node, frozen=True):
    """Text of an ``adds`` or ``wraps`` of a decision."""

    alternatives: tuple[Alternative, ...]


class Choose(Node, frozen=True):
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


class Keep(Node, frozen=True):
    """``at end of phase:`` or ``at start of next round:``: a delayed block."""

    edge: Literal["end", "start"]
    of: str
    body: Block


Computing = Let | Assign | Add | Remove | Return | If | ForEach | While | Perform
"""Statements that functions may have."""
Statement = Computing | Move | Shuffle | Note | Settle | Reveal | EndGame | Choose | Keep


# --- whole texts -----------------------------------------------------------------------------------------------------


class Parameter(Node, frozen=True):
    """Parameter, ``who: seat``. In the head of a rule it has only a name, which determines its type."""

    name: str
    type: Type | None


class Header(Node, frozen=True):
    """Head of a rule, ``(who) -> int``."""

    parameters: tuple[Parameter, ...]
    result: Type | None


class Function(Node, frozen=True):
    """Text of an ``is``: an expression, or a block that returns a value."""

    header: Header | None
    body: Expr | Block


class Procedure(Node, frozen=True):
    """Text of a ``does``."""

    header: Header | None
    body: Block


class Require(Node, frozen=True):
    """``require test cites AB-12``."""

    test: Expr
    cites: tuple[str, ...]


class Verdict(Node, frozen=True):
    """Text of a ``permits``."""

    header: Header | None
    lines: tuple[Require | Let, ...]


class EventPattern(Node, frozen=True):
    """``drew(card) where test``: the events that fire a trigger."""

    event: str
    names: tuple[str, ...]
    test: Expr | None


class Match(Node, frozen=True):
    """``x in items, y in items where test``: the matches that a standing rule handles."""

    binders: tuple[Binder, ...]
    test: Expr | None


class Pattern(Node, frozen=True):
    """``play card, place where test``: a subset of a decision's options. ``any`` matches all of them."""

    name: str
    names: tuple[str, ...]
    test: Expr | None


class Preference(Node, frozen=True):
    """A line of a policy, or ``either …:`` with the lines below it: options, a tie-break and the probability that the
    line is used."""

    patterns: tuple[Pattern, ...]
    tie: Literal["first", "by", "random", "asking"]
    keys: tuple[Expr, ...]
    chance: tuple[int, int] | None


class Preferences(Node, frozen=True):
    """Text of a ``prefer``."""

    lines: tuple[Preference, ...]


NEW_LOCALS: dict[type[object], str] = {
    Aggregate: "variable",
    Binder: "name",
    Choose: "each",
    ForEach: "variable",
    Let: "name",
    ListComprehension: "variable",
    Parameter: "name",
    TestLet: "name",
}
"""Fields that are names of new locals."""
