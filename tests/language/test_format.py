"""Trees are drawn as nodes, printed, and parsed back to the same tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interpreter.base.diagnostics import Diagnostic, render
from interpreter.base.source import Excerpt
from interpreter.language import nodes as n
from interpreter.language import parse as p
from interpreter.language.grammar import grammar
from interpreter.language.syntax_errors import STATEMENTS
from interpreter.language.transformer import AGGREGATES
from tests.printed import AnyNode, format_node
from tests.support import TIMES, rule_text

Parse = Callable[[Excerpt], tuple[n.Node | None, list[Diagnostic]]]


def parsed(parse: Parse, text: str) -> n.Node:
    node, diagnostics = parse(rule_text(text))
    assert node is not None, "\n".join([text, *map(render, diagnostics)])
    assert diagnostics == []
    return node


# --- trees to draw ---------------------------------------------------------------------------------------------------

# Every keyword is drawn as a name too, wherever the grammar leaves it free.
KEYWORDS = sorted(t.pattern.value for t in grammar().terminals if t.pattern.value.isidentifier())
GOING_ON = {"where", "by", "cites"}  # where a line begins with one of these, the line before goes on
LITERALS = {"yes", "no", "none", "not", "and", "or"}

words = st.one_of(
    st.sampled_from(["a", "b", "limit", "x1", "_", "who", "not0if0", "iffy", "camelCase"]),
    st.from_regex(r"[a-z_][a-zA-Z0-9_]{0,5}", fullmatch=True),
    st.sampled_from(KEYWORDS),
).filter(lambda text: text not in GOING_ON)


def word(*reserved: str) -> st.SearchStrategy[str]:
    return words.filter(lambda text: text not in reserved)


names = word(*LITERALS)
numbers = st.integers(0, 10**12 - 1)
simple_types: st.SearchStrategy[n.Type] = st.recursive(
    st.one_of(st.builds(n.NamedType, words), st.builds(n.RangeType, numbers, numbers)),
    lambda inner: st.builds(n.MadeType, words, inner),
    max_leaves=3,
)
types: st.SearchStrategy[n.Type] = st.one_of(simple_types, st.builds(n.OptionalType, simple_types))


def lists(strategy: st.SearchStrategy[Any], least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


def is_binding(node: n.Expr) -> bool:
    """Alone in the brackets of a list or an aggregate, `x in items` means something else."""
    return isinstance(node, n.In) and not node.negated and isinstance(node.item, n.Name)


def is_call(node: n.Call) -> bool:
    return not (node.name in AGGREGATES and len(node.arguments) == 1 and is_binding(node.arguments[0]))


def is_list(node: n.ListLiteral) -> bool:
    return not (len(node.items) == 1 and is_binding(node.items[0]))


def calls(inner: st.SearchStrategy[n.Expr], names: st.SearchStrategy[str]) -> st.SearchStrategy[n.Expr]:
    aggregates = st.sampled_from(sorted(AGGREGATES))
    maybe = st.none() | inner
    return st.one_of(
        st.builds(n.Call, names, lists(inner)).filter(is_call),
        st.builds(n.Aggregate, aggregates, names, inner, maybe),
        st.builds(n.Aggregate, aggregates, names, inner, maybe, lists(inner, 1), st.booleans()),
        st.builds(n.Aggregate, aggregates, names, inner, maybe, value=inner),
    )


def larger(inner: st.SearchStrategy[n.Expr]) -> st.SearchStrategy[n.Expr]:
    maybe = st.none() | inner
    return st.one_of(
        st.builds(n.Attribute, inner, words),
        st.builds(n.Index, inner, lists(inner, 1)),
        calls(inner, names),
        st.builds(n.ListLiteral, lists(inner)).filter(is_list),
        st.builds(n.ListComprehension, st.none(), names, inner, maybe),
        st.builds(n.ListComprehension, inner, names, inner, maybe),
        st.builds(n.RangeOf, inner, inner),
        st.builds(n.Binary, st.sampled_from(["+", "-", "*", "div", "mod", "and", "or"]), inner, inner),
        st.builds(n.Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(n.In, inner, inner, st.booleans()),
        st.builds(n.IsKind, inner, word("not"), st.booleans()),
        st.builds(n.Not, inner),
        st.builds(n.Negative, inner),
        st.builds(n.Conditional, inner, inner, inner),
        st.builds(n.Otherwise, inner, inner),
        st.builds(n.Amount, inner, inner),
    )


smallest: st.SearchStrategy[n.Expr] = st.one_of(
    st.builds(n.Name, names),
    st.builds(n.IntLiteral, numbers),
    st.builds(n.TextLiteral, st.text(st.characters(codec="utf-8", exclude_characters='"\n\\\t'), max_size=8)),
    st.builds(n.BoolLiteral, st.booleans()),
    st.builds(n.NoneLiteral),
)
expressions: st.SearchStrategy[n.Expr] = st.recursive(smallest, larger, max_leaves=8)
small: st.SearchStrategy[n.Expr] = st.recursive(smallest, larger, max_leaves=3)
maybe_small = st.none() | small

drawn = st.builds(n.Drawn, st.sampled_from(["pick", "shuffled"]), small, words) | st.builds(
    n.Drawn, st.just("roll"), small, words, small
)

moves = st.one_of(
    st.builds(
        n.Move,
        small,
        maybe_small,
        st.builds(n.Target, st.sampled_from(["in", "top", "bottom", "new pile"]), small),
    ),
    st.builds(
        n.Move, st.none(), small, st.builds(n.Target, st.sampled_from(["in", "top", "bottom", "new pile"]), small)
    ),
)
simple_statements: st.SearchStrategy[n.Statement] = st.one_of(
    st.builds(n.Let, names, st.none() | types, small),
    st.builds(n.Let, names, st.none(), drawn),
    st.builds(n.Assign, small, st.sampled_from(["=", "+=", "-="]), small),
    st.builds(n.Assign, small, st.just("="), drawn),
    st.builds(n.Add, small | drawn, small),
    st.builds(n.Remove, small, small),
    moves,
    st.builds(n.Shuffle, small, st.none() | words),
    st.builds(n.Note, words, lists(small)),
    st.builds(n.Return, maybe_small | drawn),
    st.sampled_from([n.Settle(), n.Reveal(), n.EndGame()]),
    st.builds(n.Perform, calls(small, word(*LITERALS, *STATEMENTS))),
)


def keeps(blocks: st.SearchStrategy[n.Block]) -> st.SearchStrategy[n.Keep]:
    ends = st.builds(n.Keep, st.just("end"), st.sampled_from(["turn", "phase", "round"]), blocks)
    return ends | st.builds(n.Keep, st.just("start"), st.sampled_from(["phase", "round"]), blocks)


@st.composite
def alternatives(draw: st.DrawFn, blocks: st.SearchStrategy[n.Block]) -> n.Alternative:
    binders = draw(lists(st.builds(n.Binder, names, small), most=2))
    if binders and binders[0].name in ("where", "if"):
        binders = ()
    # Below an alternative with a block, the parser takes these words for the start of a statement.
    name = draw(word(*LITERALS, *STATEMENTS))
    return n.Alternative(name, binders, draw(maybe_small), draw(maybe_small), draw(st.none() | blocks))


contexts = st.one_of(st.builds(n.Context, words, small), words.map(lambda text: n.Context(text, n.Name(text))))


def compound(statements: st.SearchStrategy[n.Statement]) -> st.SearchStrategy[n.Statement]:
    blocks = st.builds(n.Block, lists(statements, 1))
    ifs = st.builds(n.If, small | st.builds(n.TestLet, names, small), blocks, st.none() | blocks)
    return st.one_of(
        ifs,
        st.builds(n.If, small, blocks, st.builds(lambda inner: n.Block((inner,)), ifs)),
        st.builds(n.ForEach, word("turn", *LITERALS), small, maybe_small, blocks),
        st.builds(n.ForEach, names, small, maybe_small, blocks, st.just(True)),
        st.builds(n.While, small, maybe_small, blocks),
        st.builds(
            n.Choose,
            words,
            lists(contexts, most=2),
            small,
            st.booleans(),
            st.booleans(),
            lists(alternatives(blocks), 1, 2),
        ),
        st.builds(
            n.Choose,
            words,
            lists(contexts, most=2),
            small,
            st.just(False),
            st.just(False),
            lists(alternatives(blocks), 1, 2),
            word("_", *LITERALS),
            maybe_small,
        ),
        keeps(blocks),
    )


statements: st.SearchStrategy[n.Statement] = st.recursive(simple_statements, compound, max_leaves=5)
blocks = st.builds(n.Block, lists(statements, 1))
heads = st.builds(n.Header, lists(st.builds(n.Parameter, names, st.none())), st.none() | types)
function_blocks = blocks.filter(
    lambda block: len(block.statements) > 1 or not isinstance(block.statements[0], n.Perform)
)
functions = st.builds(n.Function, st.none(), expressions | function_blocks)  # a call alone is the value
procedures = st.builds(n.Procedure, st.none(), blocks)
cites = st.from_regex(r"[A-Z]{1,3}-[A-Za-z0-9-]{1,5}", fullmatch=True)
requirements = st.builds(n.Require, small, lists(cites)) | st.builds(n.Let, names, st.none(), small)
verdicts = st.builds(n.Verdict, st.none(), lists(requirements, 1))
event_patterns = st.builds(n.EventPattern, words, lists(names), maybe_small)
matches = st.builds(n.Match, lists(st.builds(n.Binder, names, small), 1), maybe_small)


@st.composite
def patterns(draw: st.DrawFn) -> n.Pattern:
    heard = draw(lists(names))
    if heard and heard[0] in ("at", "asking"):
        heard = ()
    return n.Pattern(draw(word("either")), heard, draw(maybe_small))


@st.composite
def policy_lines(draw: st.DrawFn) -> n.Preference:
    tie = draw(st.sampled_from(["first", "by", "random", "asking"]))
    keys: tuple[n.Expr, ...] = ()
    if tie in ("by", "asking"):
        keys = draw(lists(small, 1, 3 if tie == "by" else 1))
    chance = draw(st.none() | st.tuples(numbers, numbers))
    return n.Preference(draw(lists(patterns(), 1, 2)), tie, keys, chance)  # type: ignore[arg-type]


preferences = st.builds(n.Preferences, lists(policy_lines(), 1))

TREES: list[tuple[str, Parse, st.SearchStrategy[Any]]] = [
    ("head", p.parse_head, heads),
    ("function", p.parse_function, functions),
    ("procedure", p.parse_procedure, procedures),
    ("verdict", p.parse_verdict, verdicts),
    ("expression", p.parse_expression, expressions),
    ("event pattern", p.parse_event_pattern, event_patterns),
    ("match", p.parse_match, matches),
    ("preferences", p.parse_preferences, preferences),
    ("type", p.parse_type, types),
]


@pytest.mark.slow
@pytest.mark.parametrize(("parse", "trees"), [pytest.param(parse, trees, id=name) for name, parse, trees in TREES])
def test_printed_trees_parse_to_themselves(parse: Parse, trees: st.SearchStrategy[Any]) -> None:
    @settings(max_examples=60 * TIMES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(trees)
    def check(tree: Any) -> None:
        text = format_node(tree)
        assert parsed(parse, text) == tree, text

    check()


def groups(text: str) -> list[tuple[int, int]]:
    """The places of each pair of brackets that belongs to no call."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for match in re.finditer(r'"[^"]*"|[()]', text):
        if match[0] == "(":
            opened.append(match.start())
        elif match[0] == ")":
            first = opened.pop()
            if not re.search(r"\w$", text[:first]):
                pairs.append((first, match.start()))
    return pairs


@settings(max_examples=100 * TIMES, deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions)
def test_brackets_stand_only_where_they_are_needed(tree: n.Expr) -> None:
    text = format_node(tree)
    for first, last in groups(text):
        without = f"{text[:first]} {text[first + 1 : last]} {text[last + 1 :]}"
        node, _ = p.parse_expression(rule_text(without))
        assert node != tree, without


# --- canonical texts -------------------------------------------------------------------------------------------------

EXPRESSIONS = [
    "limit",
    "13",
    '"Frankfurt (Oder)"',
    "yes",
    "no",
    "none",
    "who.store.coal",
    "resupply[players, coal, stage]",
    "places[0].price",
    "minimum_bid(plant)",
    "draw()",
    "count(stacks)",
    "count(x in items)",
    "count(x in items where x > 1)",
    "min(p in for_sale() by p.number, -p.price)",
    "first(p in market where p.number > 3 by p.number, as listed)",
    "sum(p.needs for p in who.plants where p.needs > 0)",
    "max(p.needs for p in who.plants)",
    "all(limit[n] >= limit[n + 1] for n in 2 .. 5)",
    "[]",
    "[a, b]",
    "[x in items where x != none]",
    "[x in items]",
    "[x.price for x in items where x.open and not x.taken]",
    "[x.price for x in a or b]",
    "price + 1 .. spending_limit(next)",
    "a - b - c",
    "a - (b - c)",
    "a * (b + c)",
    "a + b * c",
    "a div b mod c",
    "a div (b mod c)",
    "-a * -b",
    "--a",
    "-(a + b)",
    "a or b and not c",
    "(a or b) and c",
    "not (a and b)",
    "not not a",
    "not a == b",
    "(not a) == b",
    "(a == b) == c",
    "a in b",
    "a not in b",
    "not a in b",
    "card is stage_3",
    "card is not stage_3",
    "a if b else c if d else e",
    "(a if b else c) if d else e",
    "a if (b if c else d) else e",
    "a otherwise b otherwise c",
    "(a otherwise b) otherwise c",
    "(a otherwise b) + c",
    "3 of coal",
    "count(a) of kinds[0]",
    "(a + b) of coal",
    "(1 of coal)[coal]",
    "(a or b).price",
    "1 .. (2 .. 3)",
]
PROCEDURES = [
    "let x = 1",
    "let x: list of seat = []",
    "let x: 1..3? = none",
    "let x = pick from turn_order as first_seat",
    "let x = roll count(who.dice) from step as dice",
    "x = 1\nx += 1\nx -= 1",
    "who.powered = 3\nitems[0] = x",
    "add x to waiting\nremove x from deal.waiting",
    "move card to box",
    "move card to top of deck",
    "move card to bottom of deck",
    "move card to new pile in market",
    "move 3 of coal from bank to who.store",
    "move all of pile.top.discount to card.discount",
    "shuffle deck\nshuffle deck as second_shuffle",
    "note built(who, city, 10)\nnote done()",
    "return\nsettle\nreveal\nend game\nrefill()",
    "any(x in y)",
    "if a:\n  f()",
    "if a:\n  f()\nelse:\n  g()",
    "if a:\n  f()\nelif let x = b:\n  g()\nelif c:\n  h()\nelse:\n  i()",
    "if a:\n  f()\nelse:\n  if b:\n    g()\n  h()",
    "if let least = min(p in plants_in(market) by p.number):\n  move least to box",
    "for each who in turn_order:\n  act(who)",
    "for each who in turn_order where who.money > 0:\n  act(who)",
    "for each turn who in reversed(turn_order) where who.counts:\n  act(who)",
    "while ring != [best]:\n  f()",
    "while ring != [best] at most count(ring) * 2 times:\n  f()",
    "choose answer(what, price, least = price + 1) by next, repeatedly, sealed:\n"
    "  raise amount in price + 1 .. limit, by_card in cards where amount > 3 if open:\n"
    "    price = amount\n"
    "  pass if price > 0\n"
    "  stop",
    "at end of turn:\n  f()\nat end of phase:\n  f()\nat end of round:\n  f()",
    "at start of next phase:\n  f()\nat start of next round:\n  f()",
    "note sold(what = a, price = 3 + 1)\nlet x = sale(winner = w, price = 3)",
    "return (shuffled)",
    "let x = (pick)\nif (let):\n  (end.top) = all\nmove (all) to (top)\nmove all of all to top of top",
]
OTHERS: list[tuple[Parse, str]] = [
    (p.parse_function, "a + b"),
    (p.parse_head, "() -> int"),
    (p.parse_head, "(who, city) -> list of city?"),
    (p.parse_head, "(who, city)"),
    (p.parse_function, "let x = 1\nreturn x"),
    (p.parse_function, "return 1"),
    (p.parse_function, "(a + b) * c"),
    (p.parse_verdict, "require a cites GU-158, RB-P2-1b\nlet b = c\nrequire b"),
    (p.parse_verdict, "require not city in network(who) cites GU-162\nlet x = 1\nrequire x > 0"),
    (p.parse_condition, "who.money > 3 or yes"),
    (p.parse_event_pattern, "drew(card) where card is stage_3"),
    (p.parse_event_pattern, "moved()"),
    (p.parse_match, "who in seats, card in who.cards where card.number > 3"),
    (p.parse_match, "old in for_sale()"),
    (
        p.parse_preferences,
        "decline 4 in 10\neither at random:\n  offer plant, bid where bid == minimum_bid(plant) or a\n  decline",
    ),
    (p.parse_alternatives, "borrow n in 1 .. 5 if who.money < 20:\n  lend(who, n)\nstop where round > 1"),
    (p.parse_preferences, "connect city by cost(who, city), -city.size 9 in 10\nany"),
    (
        p.parse_preferences,
        "offer plant where (a or b) and c asking best_person() 1 in 2\neither by n, -m 1 in 2:\n  a\n  b n",
    ),
    (p.parse_type, "seat"),
    (p.parse_type, "list of set of card?"),
    (p.parse_type, "1..3"),
    *((p.parse_expression, text) for text in EXPRESSIONS),
    *((p.parse_procedure, text) for text in PROCEDURES),
]


@pytest.mark.parametrize(("parse", "text"), OTHERS)
def test_canonical_texts_stay_as_they_are(parse: Parse, text: str) -> None:
    tree: Any = parsed(parse, text)
    assert format_node(tree) == text


@pytest.mark.parametrize(
    ("parse", "text", "canonical"),
    [
        (p.parse_expression, "((a))+( b*c )", "a + b * c"),
        (p.parse_expression, "f(\n  a,   # the first\n  b)", "f(a, b)"),
        (p.parse_expression, "2..5", "2 .. 5"),
        (p.parse_expression, "007", "7"),
        (p.parse_type, "1 .. 3", "1..3"),
        (p.parse_head, "->int", "() -> int"),
        (p.parse_procedure, "if (a):\n      f()\n# why\nelse:\n   if b:\n     g()", "if a:\n  f()\nelif b:\n  g()"),
        (
            p.parse_procedure,
            "choose a(x = x) by b,sealed,repeatedly:\n c",
            "choose a(x) by b, repeatedly, sealed:\n  c",
        ),
    ],
)
def test_other_texts_become_canonical(parse: Parse, text: str, canonical: str) -> None:
    tree: Any = parsed(parse, text)
    assert format_node(tree) == canonical
    assert parsed(parse, canonical) == tree


def test_every_kind_of_node_is_printed() -> None:
    """Walks the trees of the texts above: each node prints alone, and no kind of node is missing."""
    seen: set[type[Any]] = set()

    def visit(value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                visit(item)
        elif isinstance(value, n.Node):
            seen.add(type(value))
            assert format_node(value)  # type: ignore[arg-type]
            for name in value.__struct_fields__:
                visit(getattr(value, name))

    for parse, text in OTHERS:
        visit(parsed(parse, text))
    assert seen == set(get_args(AnyNode))
