"""Builder of syntax trees from Lark's trees.

A rule of the grammar is named for the node whose fields are its children, or for a method of the builder. The children
of any other rule are a part of a node.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeVar, cast

from lark import Token, Tree

from interpreter.base.diagnostics import Diagnostic, RefusedError
from interpreter.base.lazy import Lazy
from interpreter.base.plain_data import Value
from interpreter.base.plurals import joined, quoted
from interpreter.base.source import Excerpt, Span
from interpreter.language import nodes
from interpreter.language.grammar import RESERVED_WORDS
from interpreter.language.syntax_errors import reserved

__all__ = ["AGGREGATES", "Builder"]

MAXIMUM_DIGITS = 12
AGGREGATES = frozenset({"count", "any", "all", "first", "last", "min", "max", "sum", "sorted"})

Child = TypeVar("Child")
Fields = dict[str, Value]
Method = Callable[..., nodes.Node]
NODES = {
    re.sub(r"\B(?=[A-Z])", "_", kind.__name__).lower(): kind
    for kind in vars(nodes).values()
    if isinstance(kind, type) and issubclass(kind, nodes.Node)
}
"""Nodes by the names of rules."""
LISTS = frozenset({"arguments", "binders", "cites", "context", "items", "keys", "names", "parameters"})
"""Fields that are empty if their part of the text is missing."""
PERIODS = {"end": ("turn", "phase", "round"), "start": ("phase", "round")}


def _node(kind: type[nodes.Node], fields: str = "", **fixed: object) -> Method:
    """Return a builder method for a rule whose children are fields of a node; others are ``fixed``.

    ``fields`` are their names in the order of the children, by default in that of the class; one with a star takes all
    further children. A child may also be a dictionary of fields.
    """
    names, _, many = (fields or " ".join(kind.__match_args__)).partition("*")
    ones, has_place = names.split(), "name_span" in kind.__struct_fields__

    def build(builder: Builder, span: Span, *children: object) -> nodes.Node:
        values = dict(fixed)
        for name, child in zip(ones, children, strict=False):
            if isinstance(child, Token):
                values[name] = builder._new(child) if nodes.NEW_LOCALS.get(kind) == name else builder._word(child)
                if has_place:
                    values.setdefault("name_span", builder._token(child))
            elif isinstance(child, dict):
                values |= child
            else:
                values[name] = () if child is None and name in LISTS else child
        if many:
            rest = children[len(ones) :]
            values[many] = tuple(child for child in rest if not isinstance(child, dict))
            for child in rest:
                values |= child if isinstance(child, dict) else {}
        return kind(**values, span=span)

    return build


class Builder:
    """Builds the nodes of one text. Each method takes the span of the node and the children of the rule."""

    def __init__(self, text: Excerpt) -> None:
        self._text = text

    def build(self, tree: Tree[Token]) -> object:
        """Build a node, or a part of a node, from a tree."""
        children = [self.build(child) if isinstance(child, Tree) else child for child in tree.children]
        meta = tree.meta
        span = self._text.span(0, 1) if meta.empty else self._text.span(meta.start_pos, meta.end_pos)
        return _methods[tree.data](self, span, *children)

    def _token(self, token: Token) -> Span:
        return self._text.span(token.start_pos or 0, token.end_pos or 1)

    def _new(self, token: Token) -> str:
        """Return the name of a new local. Raise :class:`RefusedError` for a reserved word."""
        if token in RESERVED_WORDS:
            raise RefusedError(reserved(str(token), self._token(token)))
        return str(token)

    def _word(self, token: Token) -> str | int:
        """Return the value of a token: a name or sign, a number, or what a text has in its quotes."""
        if token.type == "INT" and len(token) > MAXIMUM_DIGITS:
            raise _misplaced(f"a number of more than {MAXIMUM_DIGITS} digits", self._token(token))
        return int(token) if token.type == "INT" else str(token)[1:-1] if token.type == "TEXT" else str(token)

    def _only(self, span: Span, child: Child) -> Child:
        return child

    # --- whole texts

    function = _node(nodes.Function, "body", header=None)

    def steps(self, span: Span, *statements: nodes.Statement) -> nodes.Node:
        match statements:
            case (nodes.Perform(call),):  # only a call is an expression
                return self.function(span, call)
        return self.function(span, self.block(span, *statements))

    def procedure(self, span: Span, *statements: nodes.Statement) -> nodes.Procedure:
        return nodes.Procedure(None, nodes.Block(statements, span=span), span=span)

    verdict = _node(nodes.Verdict, "*lines", header=None)
    condition = expression = a_type = _only
    _match = _node(nodes.Match)

    def matched(self, span: Span, *children: nodes.Binder | nodes.Expr | None) -> nodes.Node:
        *binders, test = children
        return self._match(span, tuple(binders), test)

    alternatives = _node(nodes.Alternatives, "*alternatives")
    preferences = _node(nodes.Preferences, "*lines")
    parameter = _node(nodes.Parameter, type=None)
    head = _node(nodes.Header)
    result = _node(nodes.Header, "result", parameters=())

    def names(self, span: Span, *names: Token) -> tuple[str, ...]:
        return tuple(self._new(name) for name in names)

    # --- types

    plain_type = type_in_brackets = _only

    # --- statements

    block = body = _node(nodes.Block, "*statements")
    else_block = _only

    def cites(self, span: Span, *cites: Token) -> tuple[str, ...]:
        return tuple(map(str, cites))

    let_plain = _node(nodes.Let, "name value", type=None)
    pick = _node(nodes.Drawn, "items chance", how="pick")
    shuffled = _node(nodes.Drawn, "items chance", how="shuffled")
    roll = _node(nodes.Drawn, "number items chance", how="roll")
    assign, increase, decrease = (_node(nodes.Assign, "target value", operator=sign) for sign in ("=", "+=", "-="))
    move_some = _node(nodes.Move, "what target", source=None)
    move_all = _node(nodes.Move, "source target", what=None)
    onto, on_top, at_bottom, new_pile = (
        _node(nodes.Target, "holder", where=where) for where in ("in", "top", "bottom", "new pile")
    )
    if_ = _node(nodes.If, otherwise=None)

    def elif_(self, span: Span, *parts: nodes.Node) -> nodes.Node:
        return self.block(span, self.if_(span, *parts))

    for_each_turn = _node(nodes.ForEach, turn=True)
    choose = _node(nodes.Choose, "name context seat *alternatives", repeatedly=False, sealed=False)
    choose_at_once = _node(nodes.Choose, "name context each seat test *alternatives", repeatedly=False, sealed=False)

    def about_name(self, span: Span, name: Token) -> nodes.Node:
        return nodes.Context(str(name), nodes.Name(str(name), span=span), span=span)

    def repeatedly(self, span: Span) -> Fields:
        return {"repeatedly": True}

    def sealed(self, span: Span) -> Fields:
        return {"sealed": True}

    _alternative = _node(nodes.Alternative, "name binders test guard cites body", body=None)

    def alternative_block(self, span: Span, name: Token, *parts: object) -> nodes.Node:
        return self._alternative(self._token(name), name, *parts)

    alternative_end = alternative_block

    def at_end(self, span: Span, period: Token, body: nodes.Block) -> nodes.Keep:
        return self._keep(span, "end", period, body)

    def at_start(self, span: Span, period: Token, body: nodes.Block) -> nodes.Keep:
        return self._keep(span, "start", period, body)

    def _keep(self, span: Span, edge: Literal["end", "start"], period: Token, body: nodes.Block) -> nodes.Keep:
        periods = PERIODS[edge]
        if str(period) not in periods:
            raise _misplaced(f"got `{period}`, want {joined(quoted(periods), 'or')}", self._token(period))
        return nodes.Keep(edge, str(period), body, span=span)

    # --- policies

    either = _node(nodes.Preference, "keys chance *patterns", tie="first")

    def preference(
        self, span: Span, pattern: nodes.Pattern, tie: Fields | None, chance: tuple[int, int] | None
    ) -> nodes.Node:
        return self.either(span, tie, chance, pattern)

    def tie_by(self, span: Span, by: Fields) -> Fields:
        return {"tie": "by", "keys": by["keys"]}

    def tie_random(self, span: Span) -> Fields:
        return {"tie": "random", "keys": ()}

    def tie_asking(self, span: Span, rule: nodes.Expr) -> Fields:
        return {"tie": "asking", "keys": (rule,)}

    def chance(self, span: Span, some: Token, of: Token) -> tuple[int, int]:
        return int(some), int(of)

    # --- expressions

    or_, and_, plus, minus, times, div, mod = (
        _node(nodes.Binary, "left right", operator=sign) for sign in ("or", "and", "+", "-", "*", "div", "mod")
    )
    compare = _node(nodes.Compare, "left operator right")
    not_in = _node(nodes.In, negated=True)
    is_not_kind = _node(nodes.IsKind, negated=True)
    yes = _node(nodes.BoolLiteral, value=True)
    no = _node(nodes.BoolLiteral, value=False)
    group = _only

    _list = _node(nodes.ListLiteral)
    _filter = _node(nodes.ListComprehension, "items test", value=None)

    def list_(self, span: Span, items: tuple[nodes.Expr, ...] | None) -> nodes.Node:
        if items and len(items) == 1 and _is_binding(items[0]):
            return self.list_where(span, items[0], None)
        return self._list(span, items)

    def list_where(self, span: Span, binding: nodes.Expr, test: nodes.Expr | None) -> nodes.Node:
        return self._filter(span, self._binding(binding), test)

    call_named = _node(nodes.Call)
    _aggregate = _node(nodes.Aggregate, "name items test keys")
    _aggregate_of_values = _node(nodes.Aggregate, "name value variable items test")

    def call(self, span: Span, name: Token, arguments: tuple[nodes.Expr, ...] | None) -> nodes.Node:
        if name in AGGREGATES and arguments and len(arguments) == 1 and _is_binding(arguments[0]):
            return self.call_where(span, name, arguments[0], None, None)
        return self.call_named(span, name, arguments)

    def call_by(self, span: Span, name: Token, binding: nodes.Expr, by: Fields) -> nodes.Node:
        return self.call_where(span, name, binding, None, by)

    def call_where(
        self, span: Span, name: Token, binding: nodes.Expr, test: nodes.Expr | None, by: Fields | None
    ) -> nodes.Node:
        self._known_aggregate(name)
        return self._aggregate(span, name, self._binding(binding), test, by)

    def call_for(self, span: Span, name: Token, *parts: object) -> nodes.Node:
        self._known_aggregate(name)
        return self._aggregate_of_values(span, name, *parts)

    def _known_aggregate(self, name: Token) -> None:
        if str(name) not in AGGREGATES:
            known = ", ".join(f"`{word}`" for word in sorted(AGGREGATES))
            raise _misplaced(f"`{name}` does not loop over a list; {known} do", self._token(name))

    def _binding(self, expr: nodes.Expr) -> Fields:
        match expr:
            case nodes.In(item=nodes.Name(name=name), items=items, negated=False):
                return {"variable": name, "items": items}
            case nodes.In(item=nodes.BoolLiteral(value=value) as item):
                raise RefusedError(reserved("yes" if value else "no", item.span))
            case nodes.In(item=nodes.NoneLiteral() as item):
                raise RefusedError(reserved("none", item.span))
        raise _misplaced("want `name in items` before `where` or `by`", expr.span)

    def named(self, span: Span, *children: Token | nodes.Expr) -> Fields:
        """Split alternating names and values."""
        return {"names": tuple(map(str, children[::2])), "arguments": children[1::2]}

    def by(self, span: Span, *children: nodes.Expr | Literal[True] | None) -> Fields:
        *keys, listed = children
        return {"keys": tuple(keys), "listed": listed is True}

    def listed(self, span: Span) -> Literal[True]:
        return True


def _misplaced(message: str, span: Span) -> RefusedError:
    return RefusedError(Diagnostic("E202", message, span))


def _is_binding(expr: nodes.Expr) -> bool:
    return isinstance(expr, nodes.In) and not expr.negated and isinstance(expr.item, nodes.Name)


def _method(rule: str) -> Callable[..., object]:
    """Return the method that builds a rule."""
    if (method := vars(Builder).get(rule)) is not None:
        return cast("Method", method)
    return _node(NODES[rule]) if rule in NODES else lambda builder, span, *children: children


_methods = Lazy(_method)
