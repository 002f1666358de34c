"""Builder of syntax trees from Lark's trees, with a method for each rule of the grammar, of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar, cast

from lark import Token, Tree

from interpreter.base.source import Span
from interpreter.language import nodes
from interpreter.language.grammar import RESERVED_WORDS, MisplacedError, ReservedError, Text

__all__ = ["AGGREGATES", "Builder"]

MAXIMUM_DIGITS = 12
AGGREGATES = frozenset({"count", "any", "all", "first", "last", "min", "max", "sum", "sorted"})

Child = TypeVar("Child")
Tie = tuple[Literal["first", "by", "random", "asking"], tuple[nodes.Expr, ...]]
Keys = tuple[tuple[nodes.Expr, ...], bool]
NO_KEYS: Keys = ((), False)
PERIODS: dict[Literal["end", "start"], tuple[str, ...]] = {
    "end": ("turn", "phase", "round"),
    "start": ("phase", "round"),
}


def _node(kind: Callable[..., nodes.Node], *first: object) -> Callable[..., nodes.Node]:
    """Return a builder method for a rule whose children are the fields of a node, in order, after ``first``."""

    def build(builder: Builder, span: Span, *children: nodes.Node | None) -> nodes.Node:
        return kind(*first, *children, span=span)

    return build


class Builder:
    """Builds the nodes of one text. Each method takes the span of the node and the children of the rule."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def build(self, tree: Tree[Token]) -> object:
        """Build a node, or a part of a node, from a tree."""
        children = [self.build(child) if isinstance(child, Tree) else child for child in tree.children]
        meta = tree.meta
        span = self._text.span(0, 1) if meta.empty else self._text.span(meta.start_pos, meta.end_pos)
        return getattr(self, tree.data)(span, *children)

    def _token(self, token: Token) -> Span:
        return self._text.span(token.start_pos or 0, token.end_pos or 1)

    def _new(self, token: Token) -> str:
        """Return the name of a new local. Raise ``ReservedError`` for a reserved word."""
        if token in RESERVED_WORDS:
            raise ReservedError(str(token), self._token(token))
        return str(token)

    def _only(self, span: Span, child: Child) -> Child:
        return child

    def _all(self, span: Span, *children: Child) -> tuple[Child, ...]:
        return children

    # --- whole texts

    def function(self, span: Span, header: nodes.Header | None, body: nodes.Expr | nodes.Block) -> nodes.Function:
        if (
            isinstance(body, nodes.Block)
            and len(body.statements) == 1
            and isinstance(body.statements[0], nodes.Perform)
        ):
            body = body.statements[0].call  # a block with only a call is an expression
        return nodes.Function(header, body, span=span)

    headed_procedure = _node(nodes.Procedure)

    def bare_procedure(self, span: Span, *statements: nodes.Statement) -> nodes.Procedure:
        return nodes.Procedure(None, nodes.Block(statements, span=span), span=span)

    headed_verdict = _node(nodes.Verdict)

    def bare_verdict(self, span: Span, *lines: nodes.Require | nodes.Let) -> nodes.Verdict:
        return nodes.Verdict(None, lines, span=span)

    condition = expression = a_type = _only

    def heard(
        self, span: Span, event: Token, names: tuple[str, ...] | None, test: nodes.Expr | None
    ) -> nodes.EventPattern:
        return nodes.EventPattern(str(event), names or (), test, span=span)

    def matched(self, span: Span, *children: nodes.Binder | nodes.Expr | None) -> nodes.Match:
        *binders, test = children
        return nodes.Match(cast("tuple[nodes.Binder, ...]", tuple(binders)), cast("nodes.Expr | None", test), span=span)

    def alternatives(self, span: Span, *alternatives: nodes.Alternative) -> nodes.Alternatives:
        return nodes.Alternatives(alternatives, span=span)

    def preferences(self, span: Span, *lines: nodes.Preference) -> nodes.Preferences:
        return nodes.Preferences(lines, span=span)

    def header(
        self, span: Span, parameters: tuple[nodes.Parameter, ...] | None, result: nodes.Type | None
    ) -> nodes.Header:
        return nodes.Header(parameters or (), result, span=span)

    parameters = _all

    def parameter(self, span: Span, name: Token, type_: nodes.Type) -> nodes.Parameter:
        return nodes.Parameter(self._new(name), type_, span=span)

    def names(self, span: Span, *names: Token) -> tuple[str, ...]:
        return tuple(self._new(name) for name in names)

    # --- types

    plain_type = _only
    optional_type = _node(nodes.OptionalType)

    def named_type(self, span: Span, name: Token) -> nodes.Type:
        return nodes.NamedType(str(name), span=span)

    def made_type(self, span: Span, maker: Token, of: nodes.Type) -> nodes.Type:
        return nodes.MadeType(str(maker), of, span=span)

    def range_type(self, span: Span, first: Token, last: Token) -> nodes.Type:
        return nodes.RangeType(self._number(first), self._number(last), span=span)

    # --- statements

    def block(self, span: Span, *statements: nodes.Statement) -> nodes.Block:
        return nodes.Block(statements, span=span)

    body = block
    indented = else_block = _only
    requirements = _all

    def require(self, span: Span, test: nodes.Expr, cites: tuple[str, ...] | None) -> nodes.Require:
        return nodes.Require(test, cites or (), span=span)

    def cites(self, span: Span, *cites: Token) -> tuple[str, ...]:
        return tuple(map(str, cites))

    def let_plain(self, span: Span, name: Token, value: nodes.Expr) -> nodes.Let:
        return nodes.Let(self._new(name), None, value, span=span)

    def let_typed(self, span: Span, name: Token, type_: nodes.Type, value: nodes.Expr) -> nodes.Let:
        return nodes.Let(self._new(name), type_, value, span=span)

    def pick(self, span: Span, items: nodes.Expr, chance: Token) -> nodes.Drawn:
        return nodes.Drawn("pick", items, str(chance), span=span)

    def shuffled(self, span: Span, items: nodes.Expr, chance: Token) -> nodes.Drawn:
        return nodes.Drawn("shuffled", items, str(chance), span=span)

    def roll(self, span: Span, name: Token, number: nodes.Expr, items: nodes.Expr, chance: Token) -> nodes.Roll:
        return nodes.Roll(self._new(name), number, items, str(chance), span=span)

    def assign(self, span: Span, target: nodes.Expr, value: nodes.Expr) -> nodes.Assign:
        return nodes.Assign(target, "=", value, span=span)

    def increase(self, span: Span, target: nodes.Expr, value: nodes.Expr) -> nodes.Assign:
        return nodes.Assign(target, "+=", value, span=span)

    def decrease(self, span: Span, target: nodes.Expr, value: nodes.Expr) -> nodes.Assign:
        return nodes.Assign(target, "-=", value, span=span)

    add = _node(nodes.Add)
    remove = _node(nodes.Remove)
    move_from = _node(nodes.Move)
    move_all = _node(nodes.Move, None)

    def move(self, span: Span, what: nodes.Expr, target: nodes.Target) -> nodes.Move:
        return nodes.Move(what, None, target, span=span)

    onto = _node(nodes.Target, "in")
    on_top = _node(nodes.Target, "top")
    at_bottom = _node(nodes.Target, "bottom")
    new_pile = _node(nodes.Target, "new pile")

    def shuffle(self, span: Span, zone: nodes.Expr, chance: Token | None) -> nodes.Shuffle:
        return nodes.Shuffle(zone, None if chance is None else str(chance), span=span)

    def note(self, span: Span, event: Token, arguments: tuple[nodes.Expr, ...] | None) -> nodes.Note:
        return nodes.Note(str(event), arguments or (), span=span, name_span=self._token(event))

    def note_named(self, span: Span, event: Token, named: tuple[tuple[str, ...], tuple[nodes.Expr, ...]]) -> nodes.Note:
        names, values = named
        return nodes.Note(str(event), values, names, span=span, name_span=self._token(event))

    return_ = _node(nodes.Return)
    settle = _node(nodes.Settle)
    reveal = _node(nodes.Reveal)
    end_game = _node(nodes.EndGame)
    perform = _node(nodes.Perform)

    def test_let(self, span: Span, name: Token, value: nodes.Expr) -> nodes.TestLet:
        return nodes.TestLet(self._new(name), value, span=span)

    def if_(
        self, span: Span, test: nodes.Expr | nodes.TestLet, then: nodes.Block, otherwise: nodes.Block | None = None
    ) -> nodes.If:
        return nodes.If(test, then, otherwise, span=span)

    def elif_(
        self, span: Span, test: nodes.Expr | nodes.TestLet, then: nodes.Block, otherwise: nodes.Block | None = None
    ) -> nodes.Block:
        return nodes.Block((nodes.If(test, then, otherwise, span=span),), span=span)

    def for_each(
        self, span: Span, name: Token, items: nodes.Expr, test: nodes.Expr | None, body: nodes.Block
    ) -> nodes.ForEach:
        return nodes.ForEach(self._new(name), items, test, body, span=span)

    def for_each_turn(
        self, span: Span, name: Token, items: nodes.Expr, test: nodes.Expr | None, body: nodes.Block
    ) -> nodes.ForEach:
        return nodes.ForEach(self._new(name), items, test, body, turn=True, span=span)

    while_ = _node(nodes.While)

    def choose(
        self,
        span: Span,
        name: Token,
        context: tuple[nodes.Context, ...] | None,
        seat: nodes.Expr,
        *rest: str | nodes.Alternative,
    ) -> nodes.Choose:
        alternatives = tuple(item for item in rest if isinstance(item, nodes.Alternative))
        return nodes.Choose(
            str(name), context or (), seat, "repeatedly" in rest, "sealed" in rest, alternatives, span=span
        )

    def choose_at_once(
        self,
        span: Span,
        name: Token,
        context: tuple[nodes.Context, ...] | None,
        seat: Token,
        seats: nodes.Expr,
        test: nodes.Expr | None,
        *alternatives: nodes.Alternative,
    ) -> nodes.Choose:
        local = self._new(seat)
        return nodes.Choose(str(name), context or (), seats, False, False, alternatives, local, test, span=span)

    context = _all

    def about_name(self, span: Span, name: Token) -> nodes.Context:
        return nodes.Context(str(name), nodes.Name(str(name), span=span), span=span)

    def about_value(self, span: Span, name: Token, value: nodes.Expr) -> nodes.Context:
        return nodes.Context(str(name), value, span=span)

    def repeatedly(self, span: Span) -> str:
        return "repeatedly"

    def sealed(self, span: Span) -> str:
        return "sealed"

    def alternative_block(
        self,
        span: Span,
        name: Token,
        binders: tuple[nodes.Binder, ...] | None,
        test: nodes.Expr | None,
        guard: nodes.Expr | None,
        cites: tuple[str, ...] | None,
        body: nodes.Block | None = None,
    ) -> nodes.Alternative:
        return nodes.Alternative(str(name), binders or (), test, guard, body, cites or (), span=self._token(name))

    alternative_end = alternative_block
    choices = _all

    def choice(self, span: Span, name: Token, items: nodes.Expr) -> nodes.Binder:
        return nodes.Binder(self._new(name), items, span=span)

    def at_end(self, span: Span, period: Token, body: nodes.Block) -> nodes.Keep:
        return self._keep(span, "end", period, body)

    def at_start(self, span: Span, period: Token, body: nodes.Block) -> nodes.Keep:
        return self._keep(span, "start", period, body)

    def _keep(self, span: Span, edge: Literal["end", "start"], period: Token, body: nodes.Block) -> nodes.Keep:
        periods = PERIODS[edge]
        if str(period) not in periods:
            expected = ", ".join(f"`{word}`" for word in periods[:-1]) + f" or `{periods[-1]}`"
            raise MisplacedError(f"got `{period}`, want {expected}", self._token(period))
        return nodes.Keep(edge, str(period), body, span=span)

    # --- policies

    def preference(
        self, span: Span, pattern: nodes.Pattern, tie: Tie | None, chance: tuple[int, int] | None
    ) -> nodes.Preference:
        return self.either(span, tie, chance, pattern)

    def either(
        self, span: Span, tie: Tie | None, chance: tuple[int, int] | None, *patterns: nodes.Pattern
    ) -> nodes.Preference:
        kind, keys = tie or ("first", ())
        return nodes.Preference(patterns, kind, keys, chance, span=span)

    def pattern(self, span: Span, name: Token, names: tuple[str, ...] | None, test: nodes.Expr | None) -> nodes.Pattern:
        return nodes.Pattern(str(name), names or (), test, span=span)

    def tie_by(self, span: Span, keys: Keys) -> Tie:
        return "by", keys[0]

    def tie_random(self, span: Span) -> Tie:
        return "random", ()

    def tie_asking(self, span: Span, rule: nodes.Expr) -> Tie:
        return "asking", (rule,)

    def chance(self, span: Span, some: Token, of: Token) -> tuple[int, int]:
        return int(some), int(of)

    # --- expressions

    conditional = _node(nodes.Conditional)
    otherwise = _node(nodes.Otherwise)
    or_ = _node(nodes.Binary, "or")
    and_ = _node(nodes.Binary, "and")
    not_ = _node(nodes.Not)
    in_ = _node(nodes.In)

    def compare(self, span: Span, left: nodes.Expr, operator: Token, right: nodes.Expr) -> nodes.Compare:
        return nodes.Compare(cast("nodes.Comparison", str(operator)), left, right, span=span)

    def not_in(self, span: Span, item: nodes.Expr, items: nodes.Expr) -> nodes.In:
        return nodes.In(item, items, negated=True, span=span)

    def is_kind(self, span: Span, value: nodes.Expr, kind: Token) -> nodes.IsKind:
        return nodes.IsKind(value, str(kind), span=span, kind_span=self._token(kind))

    def is_not_kind(self, span: Span, value: nodes.Expr, kind: Token) -> nodes.IsKind:
        return nodes.IsKind(value, str(kind), negated=True, span=span, kind_span=self._token(kind))

    range_ = _node(nodes.RangeOf)
    plus = _node(nodes.Binary, "+")
    minus = _node(nodes.Binary, "-")
    times = _node(nodes.Binary, "*")
    div = _node(nodes.Binary, "div")
    mod = _node(nodes.Binary, "mod")
    negative = _node(nodes.Negative)
    amount = _node(nodes.Amount)
    index = _node(nodes.Index)
    yes = _node(nodes.BoolLiteral, True)
    no = _node(nodes.BoolLiteral, False)
    none = _node(nodes.NoneLiteral)
    group = _only

    def attribute(self, span: Span, of: nodes.Expr, name: Token) -> nodes.Attribute:
        return nodes.Attribute(of, str(name), span=span, name_span=self._token(name))

    def number(self, span: Span, digits: Token) -> nodes.IntLiteral:
        return nodes.IntLiteral(self._number(digits), span=span)

    def _number(self, token: Token) -> int:
        if len(token) > MAXIMUM_DIGITS:
            raise MisplacedError(f"a number of more than {MAXIMUM_DIGITS} digits", self._token(token))
        return int(token)

    def text(self, span: Span, text: Token) -> nodes.TextLiteral:
        return nodes.TextLiteral(str(text)[1:-1], span=span)

    def name(self, span: Span, name: Token) -> nodes.Name:
        return nodes.Name(str(name), span=span)

    def list_(self, span: Span, items: tuple[nodes.Expr, ...] | None) -> nodes.ListFilter | nodes.ListLiteral:
        if items and len(items) == 1 and _is_binding(items[0]):
            return self.list_where(span, items[0], None)
        return nodes.ListLiteral(items or (), span=span)

    def list_where(self, span: Span, binding: nodes.Expr, test: nodes.Expr | None) -> nodes.ListFilter:
        variable, items = self._binding(binding)
        return nodes.ListFilter(variable, items, test, span=span)

    def list_for(
        self, span: Span, value: nodes.Expr, variable: Token, items: nodes.Expr, test: nodes.Expr | None
    ) -> nodes.ListComprehension:
        return nodes.ListComprehension(value, self._new(variable), items, test, span=span)

    def call(self, span: Span, name: Token, arguments: tuple[nodes.Expr, ...] | None) -> nodes.Call | nodes.Aggregate:
        if name in AGGREGATES and arguments and len(arguments) == 1 and _is_binding(arguments[0]):
            return self.call_where(span, name, arguments[0], None, None)
        return nodes.Call(str(name), arguments or (), span=span, name_span=self._token(name))

    def call_named(self, span: Span, name: Token, named: tuple[tuple[str, ...], tuple[nodes.Expr, ...]]) -> nodes.Call:
        names, values = named
        return nodes.Call(str(name), values, names, span=span, name_span=self._token(name))

    def call_by(self, span: Span, name: Token, binding: nodes.Expr, by: Keys) -> nodes.Aggregate:
        return self.call_where(span, name, binding, None, by)

    def call_where(
        self, span: Span, name: Token, binding: nodes.Expr, test: nodes.Expr | None, by: Keys | None
    ) -> nodes.Aggregate:
        self._known_aggregate(name)
        variable, items = self._binding(binding)
        keys, listed = by or NO_KEYS
        return nodes.Aggregate(
            str(name), variable, items, test, keys, listed, None, span=span, name_span=self._token(name)
        )

    def call_for(
        self, span: Span, name: Token, value: nodes.Expr, variable: Token, items: nodes.Expr, test: nodes.Expr | None
    ) -> nodes.Aggregate:
        self._known_aggregate(name)
        local = self._new(variable)
        return nodes.Aggregate(str(name), local, items, test, *NO_KEYS, value, span=span, name_span=self._token(name))

    def _known_aggregate(self, name: Token) -> None:
        if str(name) not in AGGREGATES:
            known = ", ".join(f"`{word}`" for word in sorted(AGGREGATES))
            raise MisplacedError(f"`{name}` does not loop over a list; {known} do", self._token(name))

    def _binding(self, expr: nodes.Expr) -> tuple[str, nodes.Expr]:
        match expr:
            case nodes.In(item=nodes.Name(name=name), items=items, negated=False):
                return name, items
            case nodes.In(item=nodes.BoolLiteral(value=value) as item):
                raise ReservedError("yes" if value else "no", item.span)
            case nodes.In(item=nodes.NoneLiteral() as item):
                raise ReservedError("none", item.span)
        raise MisplacedError("want `name in items` before `where` or `by`", expr.span)

    arguments = _all

    def named(self, span: Span, *children: Token | nodes.Expr) -> tuple[tuple[str, ...], tuple[nodes.Expr, ...]]:
        """Split alternating names and values."""
        return tuple(map(str, children[::2])), cast("tuple[nodes.Expr, ...]", children[1::2])

    def by(self, span: Span, *children: nodes.Expr | Literal[True] | None) -> Keys:
        *keys, listed = children
        return cast("tuple[nodes.Expr, ...]", tuple(keys)), listed is True

    def listed(self, span: Span) -> Literal[True]:
        return True


def _is_binding(expr: nodes.Expr) -> bool:
    return isinstance(expr, nodes.In) and not expr.negated and isinstance(expr.item, nodes.Name)
