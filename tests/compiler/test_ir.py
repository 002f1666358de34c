"""The intermediate form: its text, and a verifier that every function of every shipped ruleset passes."""

from __future__ import annotations

import pytest

from interpreter.base.source import SourceFile, Span
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.helpers import LIST, Helper, Signature, helpers
from interpreter.compiler.ir.printer import text_of
from interpreter.language.builtins import BUILTINS
from interpreter.language.types import INT
from interpreter.loading.load import load
from interpreter.play.table_module import module_forms, rule_of
from tests.compiler.ir_verifier import check_function, signatures_of

X, Y, WIDE = ops.Var("x", "i32"), ops.Var("y", "i32"), ops.Var("wide", "i64")
ONE, LONG = ops.Constant(1), ops.Constant(1, "i64")
KNOWN = {"pair": Signature(("i32", "i64"), "i32"), "act": Signature((), None)}


def function(*body: ops.Statement, result: ops.Rep | None = None) -> ops.Function:
    return ops.Function("try", (X,), result, body)


def wrong(*body: ops.Statement, result: ops.Rep | None = None) -> list[str]:
    return [text.removeprefix("try: ") for text in check_function(function(*body, result=result), KNOWN)]


# --- all that is shipped


SHIPPED = ["goofspiel", "outpost", "germany-2018", "bsw-france", "india-2004", "uk-ireland-2018"]
"""Rulesets of each family and edition, and boards with many rules of their own."""


@pytest.mark.slow
@pytest.mark.parametrize("shipped", SHIPPED)
def test_every_function_of_a_shipped_ruleset_is_sound_after_every_pass(shipped: str) -> None:
    ruleset = load(shipped)
    people = ruleset.players.usual
    ruleset = ruleset.for_players(people)
    builder, forms = module_forms(ruleset, ruleset.table(people, ruleset.settings({})))
    assert len(forms["built"]) > 30
    for name, functions in forms.items():
        known = signatures_of(functions.values())
        assert [text for each in functions.values() for text in check_function(each, known)] == [], name
    printed = {id(each): each for functions in forms.values() for each in functions.values()}
    assert all(text_of(each, builder.memory.groups) for each in printed.values())


def test_helpers_have_the_signatures_of_their_texts() -> None:
    known = helpers()
    assert known["alloc"] == Helper(("i32",), "i32", 0, False)
    assert known["move_kind"] == Helper(("i64", "i32", "i32", "i32", "i32"), None, LIST, True)
    assert known["position"] == Helper(("i32", "i32"), "i64", LIST, False)
    assert {name for name, row in BUILTINS.items() if row.runtime} <= known.keys()


# --- what the verifier refuses


def test_a_sound_function_is_accepted() -> None:
    loop = ops.While("each", ops.Binary("lt", Y, X), (ops.Break("each"),), (ops.Set(Y, ONE),))
    leaves = ops.Block("out", (ops.If(X, (ops.Set(WIDE, LONG), ops.Break("out"))), ops.Set(WIDE, LONG)))
    called = ops.Return(ops.Call("pair", (X, WIDE)))
    assert wrong(ops.Set(Y, ONE), loop, leaves, ops.Do(ops.Call("act", ())), called, result="i32") == []


def test_a_function_whose_answers_are_kept_changes_no_cell() -> None:
    body = (ops.Do(ops.Call("move_all_units", (ONE, ONE))), ops.Return(ONE))
    kept = ops.Function("try", (X,), "i32", body, memo=ops.Memo((ops.Key(),), {}))
    assert check_function(kept, {}) == ["try: `move_all_units` changes cells in a function whose answers are kept"]


def test_a_loop_without_end_needs_no_value_behind_it() -> None:
    assert wrong(ops.While("on", ONE, (ops.If(X, (ops.Return(ONE),)),)), result="i32") == []
    left = ops.While("on", ONE, (ops.Break("on"),))
    assert wrong(left, result="i32") == ["ends without a value, want i32"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((ops.Return(Y),), "`y` is read and may not be set"),
        ((ops.If(X, (ops.Set(Y, ONE),)), ops.Return(Y)), "`y` is read and may not be set"),
        ((ops.While("a", X, (ops.Set(Y, ONE),)), ops.Return(Y)), "`y` is read and may not be set"),
        (
            (ops.Block("a", (ops.If(X, (ops.Break("a"),)), ops.Set(Y, ONE))), ops.Return(Y)),
            "`y` is read and may not be set",
        ),
        (
            (
                ops.While("a", X, (ops.If(X, (ops.Set(Y, ONE),)),), (ops.Set(X, Y),)),
                ops.Fail(),
            ),
            "`y` is read and may not be set",
        ),
        ((ops.Set(Y, LONG), ops.Fail()), "the value is i64, want i32"),
        ((ops.Set(ops.Var("x", "i64"), LONG), ops.Fail()), "`x` is i64 here, and i32 before"),
        ((ops.Return(ops.Binary("add", ONE, LONG)),), "the right side of `add` is i64, want i32"),
        ((ops.Return(ops.Binary("plus", ONE, ONE)),), "unknown operator `plus`"),
        ((ops.Return(ops.Binary("lt", LONG, ONE)),), "the right side of `lt` is i32, want i64"),
        ((ops.Return(ops.ToWord(ONE)),), "the operand of ToWord is i32, want i64"),
        ((ops.Return(ops.ToNumber(ONE)),), "the result is i64, want i32"),
        ((ops.Return(ops.Select(LONG, ONE, ONE)),), "the test is i64, want i32"),
        ((ops.Return(ops.Select(ONE, ONE, LONG)),), "the other value is i64, want i32"),
        ((ops.Return(ops.Load(LONG)),), "the address is i64, want i32"),
        ((ops.Return(ops.Load(ONE, -4)),), "the offset -4 is outside memory"),
        ((ops.Return(ops.Constant(2**32)),), f"{2**32} does not fit i32"),
        ((ops.Store(LONG, 0, ONE), ops.Fail()), "the address is i64, want i32"),
        ((ops.CopyWords(ONE, ONE, LONG), ops.Fail()), "the words is i64, want i32"),
        ((ops.Set(ops.Global("top"), LONG), ops.Fail()), "$top is i64, want i32"),
        ((ops.Charge(LONG), ops.Fail()), "the steps is i64, want i32"),
        ((ops.If(LONG, (ops.Fail(),)), ops.Fail()), "the test is i64, want i32"),
        ((ops.Return(ops.Call("none", ())),), "unknown function `none`"),
        ((ops.Return(ops.Call("pair", (ONE,))),), "`pair` takes 2 arguments, got 1"),
        ((ops.Return(ops.Call("pair", (ONE, ONE))),), "argument 2 of `pair` is i32, want i64"),
        ((ops.Return(ops.Call("act", ())),), "`act` gives nothing, want a value"),
        ((ops.Do(ops.Call("pair", (ONE, LONG))), ops.Fail()), "`pair` gives i32, want nothing"),
        ((ops.Set(WIDE, ops.Call("pair", (ONE, LONG), "i64")), ops.Fail()), "`pair` gives i32, want i64"),
        ((ops.Return(ops.Within((ops.Set(Y, LONG),), ONE)),), "the value is i64, want i32"),
        ((ops.Return(ops.Within((), LONG)),), "the result is i64, want i32"),
        ((ops.Return(ops.Within((), Y)),), "`y` is read and may not be set"),
        ((ops.Return(ops.Load(ONE, 0, "i64")),), "the result is i64, want i32"),
        ((ops.Return(ops.Cell(LONG, "money")),), "the address is i64, want i32"),
        ((ops.Touch("money", LONG), ops.Fail()), "the owner is i64, want i32"),
        ((ops.Do(ONE), ops.Fail()), "a value that nobody drops"),
        ((ops.TailCall("pair", (ONE,)),), "`pair` takes 2 arguments, got 1"),
        ((ops.TailCall("act", ()),), "`act` gives nothing, want a value"),
        ((ops.Break("a"),), "no block `a` is open"),
        ((ops.Block("a", (ops.Block("a", ()),)), ops.Fail()), "the label `a` is open already"),
        ((ops.Return(),), "returns nothing, want i32"),
        ((), "ends without a value, want i32"),
        ((ops.If(X, (ops.Return(ONE),)),), "ends without a value, want i32"),
    ],
)
def test_the_verifier_refuses(body: tuple[ops.Statement, ...], message: str) -> None:
    assert wrong(*body, result="i32") == [message]


def test_a_function_without_a_result_gives_none() -> None:
    assert wrong(ops.Return(ONE)) == ["returns i32, want nothing"]
    assert wrong() == wrong(ops.Return()) == []


# --- text


GOLDEN = """\
# sell@0 of bank
sell(x: i32) -> i32:
    # bank.yaml:2:3
    y: i32 = 1
    wide: i64 = number(money[x]) + 5L
    while (y + 1) < x as each:
        shares[y] = word(wide)
        if cash == 0:
            break each
        else:
            store [&bag[x] + 8] = bag[2].1 if x else -1
        copy 3 words from load [(x << 2) + 200] to bag[x]
    step:
        y = index(number(y) * 2L)
    block out:
        do act()
        break out
    $top = data 400 "rows"
    charge y
    if x:
        fail "no way"
    touch money[x]
    let within1:
        y = load [&bag[x]] bag
        let within2:
            charge y
            give load long [y + 8]
        give index(within2)
    if within1 > 2:
        y = 3
    return load [x + 4] ?
"""


def test_a_function_reads_as_its_rules_name_cells() -> None:
    def cells(address: int, stride: int, count: int) -> ops.CellGroup:
        return ops.CellGroup("", INT, 0, count, address, stride)

    def scaled(value: ops.Value, by: int) -> ops.Value:
        return ops.Binary("shl", value, ops.Constant(by))

    groups = {"money": cells(64, 4, 3), "shares": cells(76, 4, 3), "cash": cells(88, 4, 1), "bag": cells(92, 12, 3)}
    x, y = X, Y
    bag = ops.Binary("add", ops.Binary("mul", x, ops.Constant(12)), ops.Constant(92))
    item = ops.Load(ops.Constant(0), 92 + 2 * 12 + 4, "i32", "bag")
    deep = ops.Within((ops.Charge(y),), ops.Load(y, 8, "i64"))
    within = ops.Within((ops.Set(Y, ops.Load(ops.Cell(bag, "bag"), 0, "i32", "bag")),), ops.ToIndex(deep))
    place = Span(SourceFile("bank.yaml", "sell:\n  x = 1\n"), 8, 13)
    body = (
        ops.Set(Y, ONE, span=place),
        ops.Set(
            WIDE, ops.Binary("add", ops.read(scaled(x, 2), 64, "i64", "money"), ops.Constant(5, "i64")), span=place
        ),
        ops.While(
            "each",
            ops.Binary("lt", ops.Binary("add", y, ONE), x),
            (
                ops.Store(scaled(y, 2), 76, ops.ToWord(WIDE), "shares"),
                ops.If(
                    ops.negated(ops.Load(ops.Constant(88), 0, "i32", "cash")),
                    (ops.Break("each"),),
                    (ops.Store(bag, 8, ops.Select(x, item, ops.Constant(-1))),),
                ),
                ops.CopyWords(
                    bag, ops.Load(ops.Binary("add", scaled(x, 2), ops.Constant(200))), ops.Constant(3), "bag"
                ),
            ),
            (ops.Set(Y, ops.ToIndex(ops.Binary("mul", ops.ToNumber(y), ops.Constant(2, "i64")))),),
        ),
        ops.Block("out", (ops.Do(ops.Call("act", ())), ops.Break("out"))),
        ops.Set(ops.Global("top"), ops.Constant(400, about="rows")),
        ops.Charge(y),
        ops.If(x, (ops.Fail("no way"),)),
        ops.Touch("money", x),
        ops.If(ops.Binary("gt", within, ops.Constant(2)), (ops.Set(Y, ops.Constant(3)),)),
        ops.Return(ops.Load(x, 4, "i32", "?")),
    )
    made = ops.Function("sell", (X,), "i32", body, "sell@0 of bank")
    assert check_function(made, KNOWN) == []
    assert text_of(made, groups) + "\n" == GOLDEN


def test_functions_go_by_the_names_of_rules() -> None:
    assert rule_of("f price@0") == rule_of("bot bench price@2#1") == rule_of("s price!base/two@0#12") == "price"
    assert rule_of("keep end phase turned_up!1/end of phase/0") == "turned_up"
    assert rule_of("own list of seat") == rule_of("") == ""
