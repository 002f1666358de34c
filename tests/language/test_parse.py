"""Rule text to trees, and syntax errors in the author's words. What parses is printed back in ``test_format.py``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.base.diagnostics import Diagnostic, render
from interpreter.base.source import Excerpt
from interpreter.language import nodes as n
from interpreter.language import parse as p
from interpreter.language.grammar import DeepError, grammar
from tests.printed import format_node
from tests.support import TIMES, rule_text

Parse = Callable[[Excerpt], tuple[n.Node | None, list[Diagnostic]]]

PARSES: list[Parse] = [
    p.parse_function,
    p.parse_procedure,
    p.parse_verdict,
    p.parse_condition,
    p.parse_expression,
    p.parse_event_pattern,
    p.parse_match,
    p.parse_preferences,
    p.parse_type,
]
function, procedure, verdict, condition, expression, heard, match, preferences, type_ = PARSES


def parsed(parse: Parse, text: str) -> Any:
    node, diagnostics = parse(rule_text(text))
    assert node is not None, "\n".join(map(render, diagnostics))
    assert diagnostics == []
    return node


def refused(parse: Parse, text: str) -> str:
    """The whole rendering of the error in a text, without the name of the file."""
    node, diagnostics = parse(rule_text(text))
    assert node is None
    assert len(diagnostics) == 1
    return render(diagnostics[0]).removeprefix("rule:")


# --- errors ----------------------------------------------------------------------------------------------------------

# A text, and what its author reads about it: the message, the carets below the line, and the help.
ERRORS: list[tuple[Parse, str, str]] = [
    # other languages
    (condition, "a && b", "1:3: E201 `&&` does not belong to the rule language\n  ^^\nhelp: write `and`"),
    (condition, "a || b", "1:3: E201 `||` does not belong to the rule language\n  ^^\nhelp: write `or`"),
    (condition, "!a", "1:1: E201 `!` does not belong to the rule language\n^\nhelp: write `not`"),
    (condition, "a <> b", "1:3: E201 `<>` does not belong to the rule language\n  ^^\nhelp: write `!=`"),
    (condition, "a === b", "1:3: E201 `===` does not belong to the rule language\n  ^^^\nhelp: write `==`"),
    (condition, "a =< b", "1:3: E201 `=<` does not belong to the rule language\n  ^^\nhelp: write `<=`"),
    (condition, "a ≥ b", "1:3: E201 `≥` does not belong to the rule language\n  ^\nhelp: write `>=`"),
    (
        expression,
        "'north'",
        "1:1: E201 `'north'` does not belong to the rule language\n"
        "^^^^^^^\n"
        'help: write a text in double quotes: `"…"`',
    ),
    (
        expression,
        "„north“",
        '1:1: E201 `„` does not belong to the rule language\n^\nhelp: write a text in double quotes: `"…"`',
    ),
    (condition, "x == True", "1:6: E201 `True` does not belong to the rule language\n     ^^^^\nhelp: write `yes`"),
    (expression, "None", "1:1: E201 `None` does not belong to the rule language\n^^^^\nhelp: write `none`"),
    (
        expression,
        "a ? b : c",
        "1:3: E201 `?` does not belong to the rule language\n  ^\nhelp: write `a if test else b`",
    ),
    (
        expression,
        "a / b",
        "1:3: E201 `/` does not belong to the rule language\n  ^\nhelp: write `div`, which rounds down",
    ),
    (expression, "a % b", "1:3: E201 `%` does not belong to the rule language\n  ^\nhelp: write `mod`"),
    (
        expression,
        "a ** 2",
        "1:3: E201 `**` does not belong to the rule language\n  ^^\nhelp: multiply with `*`; there are no powers",
    ),
    (expression, "1.5", "1:1: E201 `1.5` does not belong to the rule language\n^^^\nhelp: numbers are whole"),
    (
        expression,
        "{a, b}",
        "1:1: E201 `{` does not belong to the rule language\n^\nhelp: indent a block; write a list in `[` and `]`",
    ),
    (procedure, "i++", "1:1: E201 `i++` does not belong to the rule language\n^^^\nhelp: write `i += 1`"),
    (procedure, "i--", "1:1: E201 `i--` does not belong to the rule language\n^^^\nhelp: write `i -= 1`"),
    (
        procedure,
        "total *= 2",
        "1:1: E201 `total *=` does not belong to the rule language\n^^^^^^^^\nhelp: write `total = total * …`",
    ),
    (procedure, "x := 1", "1:3: E201 `:=` does not belong to the rule language\n  ^^\nhelp: `=` assigns"),
    (
        procedure,
        "x = 1;",
        "1:6: E201 `;` does not belong to the rule language\n     ^\nhelp: write each statement on a line of its own",
    ),
    (
        procedure,
        "// why\nf()",
        "1:1: E201 `//` does not belong to the rule language\n^^\nhelp: a comment begins with `#`",
    ),
    (
        procedure,
        "for x in items:\n  f(x)",
        "1:1: E201 `for x` does not belong to the rule language\n^^^^^\nhelp: write `for each x`",
    ),
    (
        procedure,
        "if a:\n  f()\nelse if b:\n  g()",
        "3:1: E201 `else if` does not belong to the rule language\n^^^^^^^\nhelp: write `elif`",
    ),
    (
        procedure,
        "who.next += pick from seats as lots",
        "1:18: E201 got `from`, want the end of the line\n"
        "                 ^^^^\n"
        "help: `pick` must be the whole value of `let`, `=`, `add`, `move` or `return`: `let one = pick from … as …`",
    ),
    (
        procedure,
        "note began(first(shuffled seats as lots))",
        "1:27: E201 got `seats`, want `)`, `,`, `by` or …\n                          ^^^^^\n"
        "help: `shuffled` must be the whole value of `let`, `=`, `add`, `move` or `return`: "
        "`let order = shuffled … as …`",
    ),
    (
        procedure,
        "who.dice += roll 5 from pip",
        "1:18: E201 got `5`, want an operator or the end of the line\n"
        "                 ^\n"
        "help: `roll` must be the whole value of `let`, `=`, `add`, `move` or `return`: "
        "`let dice = roll 5 from … as …`",
    ),
    (procedure, "break", "1:1: E201 unknown statement `break`\n^^^^^"),
    (procedure, "while a:\n  pass", "2:3: E201 unknown statement `pass`\n  ^^^^"),
    (procedure, "print x", "1:1: E201 `print` does not start a statement\n^^^^^"),
    (
        expression,
        "who.paid(x)",
        "1:9: E201 got `(`, want an operator or the end of the line\n"
        "        ^\n"
        "help: call a rule by its name alone: `paid(…)`",
    ),
    (type_, "list[int]", "1:5: E201 got `[`, want `?`, `of` or the end of the line\n    ^\nhelp: write `list of …`"),
    # names and texts
    (
        procedure,
        "Limit = 1",
        "1:1: E201 `Limit` is not a name: names start with a lowercase letter\n"
        "^^^^^\n"
        'help: write `limit`; the name of a node is a text: `"Limit"`',
    ),
    (
        expression,
        "who.Money",
        "1:5: E201 `Money` is not a name: names start with a lowercase letter\n"
        "    ^^^^^\n"
        'help: write `money`; the name of a node is a text: `"Money"`',
    ),
    (condition, "größe > 3", "1:1: E201 `größe` is not a name: names have the letters a to z, digits and `_`\n^^^^^"),
    (
        expression,
        "N-1 > 3",
        "1:1: E201 `N` is not a name: names start with a lowercase letter\n"
        "^\n"
        'help: write `n`; the name of a node is a text: `"N"`',
    ),
    (expression, "a $ b", "1:3: E201 `$` does not belong to the rule language\n  ^"),
    (expression, "a \x07", "1:3: E201 `U+0007` does not belong to the rule language\n  ^"),
    (expression, '"north', "1:1: E201 a text without its closing quote\n^^^^^^"),
    (expression, '"a\\n"', "1:3: E201 a text cannot hold a backslash\n  ^"),
    # blocks and their lines
    (
        procedure,
        "if a == 1\n  f()",
        "1:10: E201 got the end of the line, want `:`\n         ^\nhelp: a line that opens a block ends with `:`",
    ),
    (
        procedure,
        "for each x in y  # all\n  f()",
        "1:16: E201 got the end of the line, want `:`\n               ^\nhelp: a line that opens a block ends with `:`",
    ),
    (
        procedure,
        "choose a by who\n  b",
        "1:16: E201 got the end of the line, want `:`\n               ^\nhelp: a line that opens a block ends with `:`",
    ),
    (
        procedure,
        "if a: f()",
        "1:7: E201 got `f`, want the end of the line\n      ^\nhelp: indent the block below the line that opens it",
    ),
    (
        procedure,
        "if a:\nf()",
        "2:1: E201 got `f`, want an indented block\n^\nhelp: indent the block below the line that opens it",
    ),
    (
        procedure,
        "if a:",
        "1:6: E201 got the end of the text, want an indented block\n"
        "     ^\n"
        "help: indent the block below the line that opens it",
    ),
    (
        procedure,
        "else:\n  f()",
        "1:1: E201 `else` without an `if`\n^^^^\nhelp: write it below the block of an `if`, with the same indentation",
    ),
    (
        procedure,
        "f()\n  g()\nh()",
        "2:3: E203 this line is indented deeper than the one above it, which opens no block\n"
        "  ^^^\n"
        "help: a line that opens a block ends with `:`",
    ),
    (
        procedure,
        "if a:\n    f()\n  g()\nh()",
        "3:3: E203 this line is indented less than the one above it, but not as far back as any open block\n  ^^^",
    ),
    (
        procedure,
        "f(\n  a)\nif b:\n      g()\n   # why\n   h() # now\ni()",
        "6:4: E203 this line is indented less than the one above it, but not as far back as any open block\n   ^^^",
    ),
    (procedure, "if a:\n\tf()", "2:1: E203 a tab in rule text; indent with spaces\n^"),
    # statements
    (
        procedure,
        "if a = 1:\n  f()",
        "1:6: E201 got `=`, want `:` or an operator\n     ^\nhelp: `==` compares, `=` assigns",
    ),
    (procedure, "x == 1", "1:3: E201 got `==`, want `=`, `+=` or `-=`\n  ^^\nhelp: `==` compares, `=` assigns"),
    (
        procedure,
        "let x == 1",
        "1:8: E201 got `=`, want a value, `pick`, `roll` or `shuffled`\n       ^\nhelp: assign with `=`",
    ),
    (procedure, "f", "1:1: E201 `f` alone is not a statement\n^\nhelp: call a rule with brackets: `f()`"),
    (
        procedure,
        "x + 1",
        "1:3: E201 got `+`, want `=`, `+=` or `-=`\n"
        "  ^\n"
        "help: a statement calls a rule, assigns, or begins with a word such as `let` or `return`",
    ),
    (
        procedure,
        "f() g()",
        "1:5: E201 got `g`, want the end of the line\n    ^\nhelp: write each statement on a line of its own",
    ),
    (procedure, "mvoe x to y", "1:1: E201 `mvoe` does not start a statement; did you mean `move`?\n^^^^"),
    (procedure, "move x", "1:7: E201 got the end of the line, want `from` or `to`\n      ^"),
    (procedure, "add x", "1:6: E201 got the end of the line, want `to`\n     ^"),
    (procedure, "let x", "1:6: E201 got the end of the line, want `:` or `=`\n     ^"),
    (procedure, "let x = pick y", "1:14: E201 got `y`, want `from`\n             ^"),
    (procedure, "end", "1:4: E201 got the end of the line, want `game`\n   ^"),
    (procedure, "settle()", "1:7: E201 got `(`, want the end of the line\n      ^"),
    (procedure, "note done", "1:10: E201 got the end of the line, want `(`\n         ^"),
    (procedure, "at end of game:\n  f()", "1:11: E202 got `game`, want `turn`, `phase` or `round`\n          ^^^^"),
    (
        procedure,
        "at start of next turn:\n  f()",
        "1:18: E202 got `turn`, want `phase` or `round`\n                 ^^^^",
    ),
    (
        procedure,
        "choose a:\n  b",
        "1:9: E201 got `:`, want `(` or `by`\n        ^\nhelp: say who decides: `choose a by who:`",
    ),
    (
        function,
        "1 + return 1",
        "1:12: E201 got `1`, want an operator or the end of the line\n"
        "           ^\n"
        "help: use `return` only in a block, at the start of a line",
    ),
    (
        function,
        "(x) -> int: 1",
        "1:6: E201 got `>`, want a value\n     ^\n"
        "help: the head of a rule is its key: `price_of(kind, number) -> int:`",
    ),
    (
        verdict,
        "(who: seat, n: int):\n  require n > 1",
        "1:1: E201 got `(`, want `require`\n^\nhelp: the head of a rule is its key: `price_of(kind, number) -> int:`",
    ),
    (
        verdict,
        "a == b",
        "1:1: E201 got `a`, want `require`\n^\nhelp: each line of a verdict begins with `require`, or with `let`",
    ),
    (verdict, "require a cites foo", "1:17: E201 got `foo`, want a statement id\n                ^^^"),
    (preferences, "offer card bid", "1:12: E201 got `bid`, want `,`, `asking`, `at` or …\n           ^^^"),
    (heard, "drew card", "1:6: E201 got `card`, want `(`\n     ^^^^"),
    (match, "seats", "1:6: E201 got the end of the line, want `in`\n     ^"),
    (type_, "1..", "1:4: E201 got the end of the text, want a number\n   ^"),
    # expressions
    (expression, "", "1:1: E201 the rule text is empty"),
    (expression, "\n  # nothing\n", "1:1: E201 the rule text is empty"),
    (expression, "a b", "1:3: E201 got `b`, want an operator or the end of the line\n  ^"),
    (
        expression,
        "a < b < c",
        "1:7: E201 got `<`, want an operator or the end of the line\n"
        "      ^\n"
        "help: compare two at a time: `a < b and b < c`",
    ),
    (expression, "a +", "1:4: E201 got the end of the text, want a value\n   ^"),
    (expression, "a if b", "1:7: E201 got the end of the line, want `else` or `or`\n      ^"),
    (expression, "a not b", "1:7: E201 got `b`, want `in`\n      ^"),
    (expression, "f(a,)", "1:5: E201 got `)`, want a value\n    ^"),
    (expression, "(a", "1:1: E201 `(` is never closed\n^"),
    (expression, "f([a, b)", "1:8: E201 got `)`, want `]`\n       ^"),
    (expression, "a)", "1:2: E201 `)` closes nothing\n ^"),
    (
        procedure,
        "x = f(a\ny = 1",
        "2:1: E201 got `y`, want `)`, `,`, `by` or …\n^\nnote: this `(` is still open (rule:1:6)",
    ),
    (
        expression,
        "seek(x in y where z)",
        "1:1: E202 `seek` does not loop over a list; "
        "`all`, `any`, `count`, `first`, `last`, `max`, `min`, `sorted`, `sum` do\n"
        "^^^^",
    ),
    (expression, "min(a by b)", "1:5: E202 want `name in items` before `where` or `by`\n    ^"),
    (expression, "1234567890123", "1:1: E202 a number of more than 12 digits\n^^^^^^^^^^^^^"),
]


@pytest.mark.parametrize(("parse", "text", "expected"), ERRORS, ids=[repr(text) for _, text, _ in ERRORS])
def test_errors_in_the_authors_words(parse: Parse, text: str, expected: str) -> None:
    head, *rest = refused(parse, text).split("\n")
    carets = [line.split("|")[1][1:] for line in rest if line.startswith("      |")]
    others = [line.strip() for line in rest if line.startswith("   ") and "|" not in line[:8]]
    assert "\n".join([head, *carets, *others]) == expected


def test_an_error_as_a_whole() -> None:
    assert refused(procedure, "f()\nif stage = 2:\n  g()") == (
        "2:10: E201 got `=`, want `:` or an operator\n"
        "    2 | if stage = 2:\n"
        "      |          ^\n"
        "   help: `==` compares, `=` assigns"
    )


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["not0if0", "iffy", "order", "android", "notes", "ina", "is_open", "none_left", "yes2"]
)
def test_keywords_are_whole_words(name: str) -> None:
    assert parsed(expression, name) == n.Name(name)
    assert parsed(condition, f"a or {name}") == n.Binary("or", n.Name("a"), n.Name(name))
    assert parsed(procedure, f"{name} = 1").body.statements == (n.Assign(n.Name(name), "=", n.IntLiteral(1)),)


FREE = [
    "top",
    "bottom",
    "turn",
    "round",
    "phase",
    "end",
    "each",
    "listed",
    "random",
    "game",
    "next",
    "start",
    "times",
    "most",
]


@pytest.mark.parametrize("name", [*FREE, "new", "pile", "sealed", "repeatedly", "require", "all", "at"])
def test_most_keywords_are_free_as_names(name: str) -> None:
    assert parsed(expression, f"{name} + {name}") == n.Binary("+", n.Name(name), n.Name(name))
    assert parsed(expression, f"{name}({name}).{name}") == n.Attribute(n.Call(name, (n.Name(name),)), name)
    assert parsed(p.parse_head, f"({name}) -> {name}").parameters[0].name == name
    assert parsed(procedure, f"let {name} = 1\nx = {name}").body.statements[1] == n.Assign(
        n.Name("x"), "=", n.Name(name)
    )
    assert parsed(procedure, f"choose {name} by x:\n  {name} {name} in {name}\n").body.statements[0].name == name


@pytest.mark.parametrize("name", [name for name in FREE if name != "end"])
def test_names_that_may_begin_a_statement(name: str) -> None:
    assert parsed(procedure, f"{name} = 1").body.statements == (n.Assign(n.Name(name), "=", n.IntLiteral(1)),)


@pytest.mark.parametrize("name", FREE)
def test_names_in_loops(name: str) -> None:
    item = "x" if name == "turn" else name  # `for each turn x in …` needs the word
    (loop,) = parsed(procedure, f"for each {item} in {name} where {name}:\n  f({name})").body.statements
    assert (loop.variable, loop.items, loop.test) == (item, n.Name(name), n.Name(name))


# --- places ----------------------------------------------------------------------------------------------------------


def test_places_of_nodes() -> None:
    tree = parsed(procedure, "f()\nif who.points == 3:\n  move card to box")
    statement = tree.body.statements[1]
    assert statement.span.text == "if who.points == 3:\n  move card to box"
    assert (statement.test.span.text, statement.test.left.name_span.text) == ("who.points == 3", "points")
    assert str(statement.then.statements[0].span) == "rule:3:3"


# --- texts too large to read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 2_001, "1:2001: E204 a line of more than 2,000 characters"),
        ("a +\n" * 20_000, "1:1: E204 got a rule of 80,000 characters, want at most 50,000"),
        ("(" * 100 + "a" + ")" * 99, "1:1: E201 `(` is never closed"),
        ("(" * 900 + "a" + ")" * 900, "1:752: E204 a rule nested more than 150 levels deep"),
        ("not " * 400 + "a", "1:1005: E204 a rule nested more than 150 levels deep"),
        ("(" + "a +\n" * 10_000 + "a)", "1:2: E204 a rule nested more than 150 levels deep"),
        ("(" + "a +\n" * 5_000 + "a))", "1:2: E204 a rule nested more than 150 levels deep"),
    ],
    ids=["line", "text", "open", "brackets", "not", "sum", "error"],
)
def test_texts_that_are_too_large(text: str, expected: str) -> None:
    assert refused(expression, text).split("\n")[0] == expected


def test_no_tree_is_made_that_is_too_deep_to_be_freed() -> None:
    with pytest.raises(DeepError) as stopped:
        grammar().parse("(" + "a +\n" * 5_000 + "a))\n", start="expression")
    assert stopped.value.place == 1


def test_the_deepest_texts_are_safe_to_walk() -> None:
    text = "not " * 148 + "a"
    assert format_node(parsed(expression, text)) == text
    assert "E204" in refused(expression, f"not not {text}")


# --- any text --------------------------------------------------------------------------------------------------------

WORDS = sorted(terminal.pattern.value for terminal in grammar().terminals if terminal.pattern.type == "str")
OTHERS = [
    "a",
    "b",
    "1",
    "23",
    '"x"',
    "AB-12",
    "==",
    "<",
    "#",
    '"',
    "'",
    "\\",
    "/",
    "&",
    "!",
    ";",
    "Foo",
    "ü",
    "\t",
    "\r",
]
LINES = ["\n", "\n  ", "\n    ", ":\n  ", "\r\n"]
fragments = st.lists(st.sampled_from([*WORDS, *OTHERS, *LINES]), max_size=30)


@pytest.mark.parametrize("parse", PARSES)
def test_any_text_is_safe_to_parse(parse: Parse) -> None:
    @settings(max_examples=100 * TIMES, deadline=None)
    @given(st.text(max_size=60) | fragments.map(" ".join) | fragments.map("".join))
    def check(text: str) -> None:
        node, diagnostics = parse(rule_text(text))
        assert (node is None) == bool(diagnostics)
        for diagnostic in diagnostics:
            assert diagnostic.span is not None
            assert 0 <= diagnostic.span.start < diagnostic.span.end <= len(text) + 1
            assert render(diagnostic)

    check()


def test_the_grammar_has_no_collisions() -> None:
    pytest.importorskip("interegular")
    assert grammar(strict=True).terminals


@pytest.mark.skipif(sys.platform == "emscripten", reason="a browser has no threads")
def test_threads_parse_at_the_same_time() -> None:
    """An editor checks texts while a page loads others."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        texts = [f"for each x in a{n}:\n  if x > {n}:\n    b = (x +\n      {n})\n  c = x\nd = {n}" for n in range(120)]
        alone = [parsed(procedure, text) for text in texts]
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(partial(parsed, procedure), texts)) == alone
    finally:
        sys.setswitchinterval(before)
