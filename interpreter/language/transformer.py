"""Lark's tree to nodes: one method for each rule of the grammar, with the same name."""

from __future__ import annotations

from typing import Any, Literal

from lark import Token, Transformer
from lark.visitors import v_args

from interpreter.base.source import Span
from interpreter.language import nodes as n
from interpreter.language.grammar import RESERVED_WORDS, MisplacedError, ReservedError, Text

__all__ = ["AGGREGATES", "Builder"]

MAXIMUM_DIGITS = 12
AGGREGATES = frozenset({"count", "any", "all", "first", "last", "min", "max", "sum", "sorted"})


@v_args(meta=True)
class Builder(Transformer[Token, Any]):
    """Builds the nodes of one text."""

    def __init__(self, text: Text) -> None:
        super().__init__(visit_tokens=False)
        self._text = text

    def _span(self, meta: Any) -> Span:
        if getattr(meta, "empty", True):
            return self._text.span(0, 1)
        return self._text.span(meta.start_pos, meta.end_pos)

    def _token(self, token: Token) -> Span:
        return self._text.span(token.start_pos or 0, token.end_pos or 1)

    def _new(self, token: Token) -> str:
        """The name of a new local."""
        if token in RESERVED_WORDS:
            raise ReservedError(str(token), self._token(token))
        return str(token)

    # --- whole texts

    def function(self, meta: Any, c: list[Any]) -> n.Function:
        header, body = c
        if isinstance(body, n.Block) and len(body.statements) == 1 and isinstance(body.statements[0], n.Perform):
            body = body.statements[0].call  # a call alone in a function's block is its value
        return n.Function(header, body, span=self._span(meta))

    def headed_procedure(self, meta: Any, c: list[Any]) -> n.Procedure:
        return n.Procedure(c[0], c[1], span=self._span(meta))

    def bare_procedure(self, meta: Any, c: list[Any]) -> n.Procedure:
        return n.Procedure(None, n.Block(tuple(c), span=self._span(meta)), span=self._span(meta))

    def headed_verdict(self, meta: Any, c: list[Any]) -> n.Verdict:
        return n.Verdict(c[0], c[1], span=self._span(meta))

    def bare_verdict(self, meta: Any, c: list[Any]) -> n.Verdict:
        return n.Verdict(None, tuple(c), span=self._span(meta))

    def condition(self, meta: Any, c: list[Any]) -> n.Expr:
        return c[0]  # type: ignore[no-any-return]

    expression = condition
    a_type = condition

    def heard(self, meta: Any, c: list[Any]) -> n.EventPattern:
        return n.EventPattern(str(c[0]), c[1] or (), c[2], span=self._span(meta))

    def matched(self, meta: Any, c: list[Any]) -> n.Match:
        return n.Match(tuple(c[:-1]), c[-1], span=self._span(meta))

    def alternatives(self, meta: Any, c: list[Any]) -> n.Alternatives:
        return n.Alternatives(tuple(c), span=self._span(meta))

    def preferences(self, meta: Any, c: list[Any]) -> n.Preferences:
        return n.Preferences(tuple(c), span=self._span(meta))

    def header(self, meta: Any, c: list[Any]) -> n.Header:
        return n.Header(c[0] or (), c[1], span=self._span(meta))

    def parameters(self, meta: Any, c: list[Any]) -> tuple[n.Parameter, ...]:
        return tuple(c)

    def parameter(self, meta: Any, c: list[Any]) -> n.Parameter:
        return n.Parameter(self._new(c[0]), c[1], span=self._span(meta))

    def names(self, meta: Any, c: list[Any]) -> tuple[str, ...]:
        return tuple(self._new(name) for name in c)

    # --- types

    def plain_type(self, meta: Any, c: list[Any]) -> n.Type:
        return c[0]  # type: ignore[no-any-return]

    def optional_type(self, meta: Any, c: list[Any]) -> n.Type:
        return n.OptionalType(c[0], span=self._span(meta))

    def named_type(self, meta: Any, c: list[Any]) -> n.Type:
        return n.NamedType(str(c[0]), span=self._span(meta))

    def made_type(self, meta: Any, c: list[Any]) -> n.Type:
        return n.MadeType(str(c[0]), c[1], span=self._span(meta))

    def range_type(self, meta: Any, c: list[Any]) -> n.Type:
        return n.RangeType(self._number(c[0]), self._number(c[1]), span=self._span(meta))

    # --- statements

    def block(self, meta: Any, c: list[Any]) -> n.Block:
        return n.Block(tuple(c), span=self._span(meta))

    body = block

    def indented(self, meta: Any, c: list[Any]) -> n.Expr:
        return c[0]  # type: ignore[no-any-return]

    def requirements(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def require(self, meta: Any, c: list[Any]) -> n.Require:
        return n.Require(c[0], c[1] or (), span=self._span(meta))

    def cites(self, meta: Any, c: list[Any]) -> tuple[str, ...]:
        return tuple(str(cite) for cite in c)

    def let_plain(self, meta: Any, c: list[Any]) -> n.Let:
        return n.Let(self._new(c[0]), None, c[1], span=self._span(meta))

    def let_typed(self, meta: Any, c: list[Any]) -> n.Let:
        return n.Let(self._new(c[0]), c[1], c[2], span=self._span(meta))

    def pick(self, meta: Any, c: list[Any]) -> n.Drawn:
        return n.Drawn("pick", c[0], str(c[1]), span=self._span(meta))

    def shuffled(self, meta: Any, c: list[Any]) -> n.Drawn:
        return n.Drawn("shuffled", c[0], str(c[1]), span=self._span(meta))

    def roll(self, meta: Any, c: list[Any]) -> n.Roll:
        return n.Roll(self._new(c[0]), c[1], c[2], str(c[3]), span=self._span(meta))

    def assign(self, meta: Any, c: list[Any]) -> n.Assign:
        return n.Assign(c[0], "=", c[1], span=self._span(meta))

    def increase(self, meta: Any, c: list[Any]) -> n.Assign:
        return n.Assign(c[0], "+=", c[1], span=self._span(meta))

    def decrease(self, meta: Any, c: list[Any]) -> n.Assign:
        return n.Assign(c[0], "-=", c[1], span=self._span(meta))

    def add(self, meta: Any, c: list[Any]) -> n.Add:
        return n.Add(c[0], c[1], span=self._span(meta))

    def remove(self, meta: Any, c: list[Any]) -> n.Remove:
        return n.Remove(c[0], c[1], span=self._span(meta))

    def move(self, meta: Any, c: list[Any]) -> n.Move:
        return n.Move(c[0], None, c[1], span=self._span(meta))

    def move_from(self, meta: Any, c: list[Any]) -> n.Move:
        return n.Move(c[0], c[1], c[2], span=self._span(meta))

    def move_all(self, meta: Any, c: list[Any]) -> n.Move:
        return n.Move(None, c[0], c[1], span=self._span(meta))

    def onto(self, meta: Any, c: list[Any]) -> n.Target:
        return n.Target("in", c[0], span=self._span(meta))

    def on_top(self, meta: Any, c: list[Any]) -> n.Target:
        return n.Target("top", c[0], span=self._span(meta))

    def at_bottom(self, meta: Any, c: list[Any]) -> n.Target:
        return n.Target("bottom", c[0], span=self._span(meta))

    def new_pile(self, meta: Any, c: list[Any]) -> n.Target:
        return n.Target("new pile", c[0], span=self._span(meta))

    def shuffle(self, meta: Any, c: list[Any]) -> n.Shuffle:
        return n.Shuffle(c[0], str(c[1]) if c[1] is not None else None, span=self._span(meta))

    def note(self, meta: Any, c: list[Any]) -> n.Note:
        return n.Note(str(c[0]), c[1] or (), span=self._span(meta), name_span=self._token(c[0]))

    def note_named(self, meta: Any, c: list[Any]) -> n.Note:
        return n.Note(
            str(c[0]), c[1][1::2], tuple(map(str, c[1][::2])), span=self._span(meta), name_span=self._token(c[0])
        )

    def return_(self, meta: Any, c: list[Any]) -> n.Return:
        return n.Return(c[0], span=self._span(meta))

    def settle(self, meta: Any, c: list[Any]) -> n.Settle:
        return n.Settle(span=self._span(meta))

    def reveal(self, meta: Any, c: list[Any]) -> n.Reveal:
        return n.Reveal(span=self._span(meta))

    def end_game(self, meta: Any, c: list[Any]) -> n.EndGame:
        return n.EndGame(span=self._span(meta))

    def perform(self, meta: Any, c: list[Any]) -> n.Perform:
        return n.Perform(c[0], span=self._span(meta))

    def test_let(self, meta: Any, c: list[Any]) -> n.TestLet:
        return n.TestLet(self._new(c[0]), c[1], span=self._span(meta))

    def if_(self, meta: Any, c: list[Any]) -> n.If:
        return n.If(c[0], c[1], c[2] if len(c) > 2 else None, span=self._span(meta))

    def elif_(self, meta: Any, c: list[Any]) -> n.Block:
        inner = n.If(c[0], c[1], c[2] if len(c) > 2 else None, span=self._span(meta))
        return n.Block((inner,), span=self._span(meta))

    def else_block(self, meta: Any, c: list[Any]) -> n.Block:
        return c[0]  # type: ignore[no-any-return]

    def for_each(self, meta: Any, c: list[Any]) -> n.ForEach:
        return n.ForEach(self._new(c[0]), c[1], c[2], c[3], span=self._span(meta))

    def for_each_turn(self, meta: Any, c: list[Any]) -> n.ForEach:
        return n.ForEach(self._new(c[0]), c[1], c[2], c[3], turn=True, span=self._span(meta))

    def while_(self, meta: Any, c: list[Any]) -> n.While:
        return n.While(c[0], c[1], c[2], span=self._span(meta))

    def choose(self, meta: Any, c: list[Any]) -> n.Choose:
        name, context, seat, *rest = c
        manners = [item for item in rest if isinstance(item, str)]
        alternatives = tuple(item for item in rest if isinstance(item, n.Alternative))
        return n.Choose(
            str(name),
            context or (),
            seat,
            "repeatedly" in manners,
            "sealed" in manners,
            alternatives,
            span=self._span(meta),
        )

    def choose_at_once(self, meta: Any, c: list[Any]) -> n.Choose:
        name, context, each, seats, test, *alternatives = c
        span, who = self._span(meta), self._new(each)
        return n.Choose(str(name), context or (), seats, False, False, tuple(alternatives), who, test, span=span)

    def context(self, meta: Any, c: list[Any]) -> tuple[n.Context, ...]:
        return tuple(c)

    def about_name(self, meta: Any, c: list[Any]) -> n.Context:
        span = self._span(meta)
        return n.Context(str(c[0]), n.Name(str(c[0]), span=span), span=span)

    def about_value(self, meta: Any, c: list[Any]) -> n.Context:
        return n.Context(str(c[0]), c[1], span=self._span(meta))

    def repeatedly(self, meta: Any, c: list[Any]) -> str:
        return "repeatedly"

    def sealed(self, meta: Any, c: list[Any]) -> str:
        return "sealed"

    def alternative_block(self, meta: Any, c: list[Any]) -> n.Alternative:
        return n.Alternative(str(c[0]), c[1] or (), c[2], c[3], c[5], c[4] or (), span=self._token(c[0]))

    def alternative_end(self, meta: Any, c: list[Any]) -> n.Alternative:
        return n.Alternative(str(c[0]), c[1] or (), c[2], c[3], None, c[4] or (), span=self._token(c[0]))

    def choices(self, meta: Any, c: list[Any]) -> tuple[n.Binder, ...]:
        return tuple(c)

    def choice(self, meta: Any, c: list[Any]) -> n.Binder:
        return n.Binder(self._new(c[0]), c[1], span=self._span(meta))

    def at_end(self, meta: Any, c: list[Any]) -> n.Keep:
        return self._keep(meta, "end", c)

    def at_start(self, meta: Any, c: list[Any]) -> n.Keep:
        return self._keep(meta, "start", c)

    def _keep(self, meta: Any, edge: Any, c: list[Any]) -> n.Keep:
        edges = {"end": ("turn", "phase", "round"), "start": ("phase", "round")}[edge]
        if str(c[0]) not in edges:
            wanted = ", ".join(f"`{word}`" for word in edges[:-1]) + f" or `{edges[-1]}`"
            raise MisplacedError(f"got `{c[0]}`, want {wanted}", self._token(c[0]))
        return n.Keep(edge, str(c[0]), c[1], span=self._span(meta))

    # --- policies

    def preference(self, meta: Any, c: list[Any]) -> n.Preference:
        return self._preference(meta, (c[0],), c[1], c[2])

    def either(self, meta: Any, c: list[Any]) -> n.Preference:
        return self._preference(meta, tuple(c[2:]), c[0], c[1])

    def _preference(self, meta: Any, patterns: tuple[n.Pattern, ...], tie: Any, chance: Any) -> n.Preference:
        kind: Literal["first", "by", "random", "asking"]
        kind, keys = tie if tie is not None else ("first", ())
        return n.Preference(patterns, kind, keys, chance, span=self._span(meta))

    def pattern(self, meta: Any, c: list[Any]) -> n.Pattern:
        return n.Pattern(str(c[0]), c[1] or (), c[2], span=self._span(meta))

    def tie_by(self, meta: Any, c: list[Any]) -> tuple[str, tuple[n.Expr, ...]]:
        return "by", c[0][0]

    def tie_random(self, meta: Any, c: list[Any]) -> tuple[str, tuple[n.Expr, ...]]:
        return "random", ()

    def tie_asking(self, meta: Any, c: list[Any]) -> tuple[str, tuple[n.Expr, ...]]:
        return "asking", (c[0],)

    def chance(self, meta: Any, c: list[Any]) -> tuple[int, int]:
        return int(c[0]), int(c[1])

    # --- expressions

    def conditional(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Conditional(c[0], c[1], c[2], span=self._span(meta))

    def otherwise(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Otherwise(c[0], c[1], span=self._span(meta))

    def or_(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("or", c[0], c[1], span=self._span(meta))

    def and_(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("and", c[0], c[1], span=self._span(meta))

    def not_(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Not(c[0], span=self._span(meta))

    def compare(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Compare(str(c[1]), c[0], c[2], span=self._span(meta))  # type: ignore[arg-type]

    def in_(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.In(c[0], c[1], span=self._span(meta))

    def not_in(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.In(c[0], c[1], negated=True, span=self._span(meta))

    def is_kind(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.IsKind(c[0], str(c[1]), span=self._span(meta), kind_span=self._token(c[1]))

    def is_not_kind(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.IsKind(c[0], str(c[1]), negated=True, span=self._span(meta), kind_span=self._token(c[1]))

    def range_(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.RangeOf(c[0], c[1], span=self._span(meta))

    def plus(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("+", c[0], c[1], span=self._span(meta))

    def minus(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("-", c[0], c[1], span=self._span(meta))

    def times(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("*", c[0], c[1], span=self._span(meta))

    def div(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("div", c[0], c[1], span=self._span(meta))

    def mod(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Binary("mod", c[0], c[1], span=self._span(meta))

    def negative(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Negative(c[0], span=self._span(meta))

    def amount(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Amount(c[0], c[1], span=self._span(meta))

    def attribute(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Attribute(c[0], str(c[1]), span=self._span(meta), name_span=self._token(c[1]))

    def index(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Index(c[0], c[1], span=self._span(meta))

    def number(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.IntLiteral(self._number(c[0]), span=self._span(meta))

    def _number(self, token: Token) -> int:
        if len(token) > MAXIMUM_DIGITS:
            raise MisplacedError(f"a number of more than {MAXIMUM_DIGITS} digits", self._token(token))
        return int(token)

    def text(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.TextLiteral(str(c[0])[1:-1], span=self._span(meta))

    def yes(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.BoolLiteral(True, span=self._span(meta))

    def no(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.BoolLiteral(False, span=self._span(meta))

    def none(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.NoneLiteral(span=self._span(meta))

    def name(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Name(str(c[0]), span=self._span(meta))

    def group(self, meta: Any, c: list[Any]) -> n.Expr:
        return c[0]  # type: ignore[no-any-return]

    def list_(self, meta: Any, c: list[Any]) -> n.Expr:
        items: tuple[n.Expr, ...] = c[0] or ()
        if (
            len(items) == 1
            and isinstance(items[0], n.In)
            and not items[0].negated
            and isinstance(items[0].item, n.Name)
        ):
            return n.ListFilter(items[0].item.name, items[0].items, None, span=self._span(meta))
        return n.ListLiteral(items, span=self._span(meta))

    def list_where(self, meta: Any, c: list[Any]) -> n.Expr:
        variable, items = self._binding(c[0])
        return n.ListFilter(variable, items, c[1], span=self._span(meta))

    def list_for(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.ListComprehension(c[0], self._new(c[1]), c[2], c[3], span=self._span(meta))

    def call(self, meta: Any, c: list[Any]) -> n.Expr:
        name = str(c[0])
        arguments: tuple[n.Expr, ...] = c[1] or ()
        if name in AGGREGATES and len(arguments) == 1:
            only = arguments[0]
            if isinstance(only, n.In) and not only.negated and isinstance(only.item, n.Name):
                return self._aggregate(meta, c[0], only, None, ((), False))
        return n.Call(name, arguments, span=self._span(meta), name_span=self._token(c[0]))

    def call_named(self, meta: Any, c: list[Any]) -> n.Expr:
        return n.Call(
            str(c[0]), c[1][1::2], tuple(map(str, c[1][::2])), span=self._span(meta), name_span=self._token(c[0])
        )

    def call_where(self, meta: Any, c: list[Any]) -> n.Expr:
        return self._aggregate(meta, c[0], c[1], c[2], c[3] or ((), False))

    def call_by(self, meta: Any, c: list[Any]) -> n.Expr:
        return self._aggregate(meta, c[0], c[1], None, c[2])

    def call_for(self, meta: Any, c: list[Any]) -> n.Expr:
        name, value, variable, items, test = c
        self._known_aggregate(name)
        span, local = self._span(meta), self._new(variable)
        return n.Aggregate(str(name), local, items, test, (), False, value, span=span, name_span=self._token(name))

    def _aggregate(self, meta: Any, name: Token, binding: n.Expr, test: Any, by: Any) -> n.Expr:
        self._known_aggregate(name)
        variable, items = self._binding(binding)
        keys, listed = by
        return n.Aggregate(
            str(name), variable, items, test, keys, listed, None, span=self._span(meta), name_span=self._token(name)
        )

    def _known_aggregate(self, name: Token) -> None:
        if str(name) not in AGGREGATES:
            known = ", ".join(f"`{word}`" for word in sorted(AGGREGATES))
            raise MisplacedError(f"`{name}` does not look through a list; {known} do", self._token(name))

    def _binding(self, expr: n.Expr) -> tuple[str, n.Expr]:
        if isinstance(expr, n.In) and not expr.negated and isinstance(expr.item, n.Name):
            return expr.item.name, expr.items
        if isinstance(expr, n.In) and isinstance(expr.item, n.BoolLiteral | n.NoneLiteral):
            value = expr.item.value if isinstance(expr.item, n.BoolLiteral) else None
            raise ReservedError({True: "yes", False: "no", None: "none"}[value], expr.item.span)
        raise MisplacedError("want `name in items` before `where` or `by`", expr.span)

    def arguments(self, meta: Any, c: list[Any]) -> tuple[n.Expr, ...]:
        return tuple(c)

    named = arguments

    def by(self, meta: Any, c: list[Any]) -> tuple[tuple[n.Expr, ...], bool]:
        return tuple(item for item in c if item is not None and item is not True), c[-1] is True

    def listed(self, meta: Any, c: list[Any]) -> bool:
        return True
