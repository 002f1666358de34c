"""The intermediate form: its text, and a verifier that every function of every shipped ruleset passes."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from interpreter.base.source import SourceFile, Span
from interpreter.compiler.ir import ops as o
from interpreter.compiler.ir.helpers import HELPERS, Signature
from interpreter.compiler.ir.printer import text_of
from interpreter.compiler.wasm.runtime import written
from interpreter.engine.ruleset import load
from interpreter.play.table_module import module_forms, rule_of
from interpreter.reading.files import shelf_for
from tests.compiler.ir_verifier import check_function, signatures_of

X, Y, WIDE = o.Var("x", "i32"), o.Var("y", "i32"), o.Var("wide", "i64")
ONE, LONG = o.Constant(1), o.Constant(1, "i64")
KNOWN = {"pair": Signature(("i32", "i64"), "i32"), "act": Signature((), None)}


def function(*body: o.Statement, result: o.Rep | None = None) -> o.Function:
    return o.Function("try", (X,), result, body)


def wrong(*body: o.Statement, result: o.Rep | None = None) -> list[str]:
    return [text.removeprefix("try: ") for text in check_function(function(*body, result=result), KNOWN)]


# --- all that is shipped


@pytest.mark.parametrize("shipped", shelf_for().ids("ruleset"))
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
    text = "\n".join(written(f"{name}.wat") for name in ("runtime", "effects", "driver", "whole"))
    found = {}
    for match in re.finditer(r"^\s*\(func \$([^\s()]+)((?:\s*\((?:param|result|export)\b[^()]*\))*)", text, re.M):
        reps: dict[str, list[o.Rep]] = {"param": [], "result": []}
        for kind, words in re.findall(r"\((param|result)\b([^()]*)\)", match[2]):
            reps[kind].extend(word for word in words.split() if not word.startswith("$"))
        found[match[1]] = Signature(tuple(reps["param"]), next(iter(reps["result"]), None))
    for name, helper in HELPERS.items():
        assert Signature(helper.parameters, helper.result) == found.get(name), name


# --- what the verifier refuses


def test_a_sound_function_is_accepted() -> None:
    loop = o.While("each", o.Compare("lt", o.Get(Y), o.Get(X)), (o.Break("each"),), (o.Set(Y, ONE),))
    leaves = o.Block("out", (o.If(o.Get(X), (o.Set(WIDE, LONG), o.Break("out"))), o.Set(WIDE, LONG)))
    called = o.Return(o.Call("pair", (o.Get(X), o.Get(WIDE))))
    assert wrong(o.Set(Y, ONE), loop, leaves, o.Do(o.Call("act", ())), called, result="i32") == []


def test_a_function_whose_answers_are_kept_changes_no_cell() -> None:
    body = (o.Do(o.Call("move_all_units", (ONE, ONE))), o.Return(ONE))
    kept = o.Function("try", (X,), "i32", body, memo=o.Memo((o.Key(),)))
    assert check_function(kept, {}) == ["try: `move_all_units` changes cells in a function whose answers are kept"]


def test_a_loop_without_end_needs_no_value_behind_it() -> None:
    assert wrong(o.While("on", ONE, (o.If(o.Get(X), (o.Return(ONE),)),)), result="i32") == []
    left = o.While("on", ONE, (o.Break("on"),))
    assert wrong(left, result="i32") == ["ends without a value, want i32"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((o.Return(o.Get(Y)),), "`y` is read and may not be set"),
        ((o.If(o.Get(X), (o.Set(Y, ONE),)), o.Return(o.Get(Y))), "`y` is read and may not be set"),
        ((o.While("a", o.Get(X), (o.Set(Y, ONE),)), o.Return(o.Get(Y))), "`y` is read and may not be set"),
        (
            (o.Block("a", (o.If(o.Get(X), (o.Break("a"),)), o.Set(Y, ONE))), o.Return(o.Get(Y))),
            "`y` is read and may not be set",
        ),
        (
            (o.While("a", o.Get(X), (o.If(o.Get(X), (o.Set(Y, ONE),)),), (o.Set(X, o.Get(Y)),)), o.Fail()),
            "`y` is read and may not be set",
        ),
        ((o.Set(Y, LONG), o.Fail()), "the value is i64, want i32"),
        ((o.Set(o.Var("x", "i64"), LONG), o.Fail()), "`x` is i64 here, and i32 before"),
        ((o.Return(o.Binary("add", ONE, LONG)),), "the right side of `add` is i64, want i32"),
        ((o.Return(o.Binary("plus", ONE, ONE)),), "unknown operator `plus`"),
        ((o.Return(o.Compare("lt", LONG, ONE)),), "the right side of `lt` is i32, want i64"),
        ((o.Return(o.Not(LONG)),), "the operand of Not is i64, want i32"),
        ((o.Return(o.ToWord(ONE)),), "the operand of ToWord is i32, want i64"),
        ((o.Return(o.ToNumber(ONE)),), "the result is i64, want i32"),
        ((o.Return(o.Select(LONG, ONE, ONE)),), "the test is i64, want i32"),
        ((o.Return(o.Select(ONE, ONE, LONG)),), "the other value is i64, want i32"),
        ((o.Return(o.Load(LONG)),), "the address is i64, want i32"),
        ((o.Return(o.Load(ONE, -4)),), "the offset -4 is outside memory"),
        ((o.Return(o.Constant(2**32)),), f"{2**32} does not fit i32"),
        ((o.Store(ONE, 0, LONG), o.Fail()), "the word is i64, want i32"),
        ((o.StoreLong(ONE, 0, ONE), o.Fail()), "the number is i32, want i64"),
        ((o.CopyWords(ONE, ONE, LONG), o.Fail()), "the words is i64, want i32"),
        ((o.SetGlobal("top", LONG), o.Fail()), "$top is i64, want i32"),
        ((o.Charge(LONG), o.Fail()), "the steps is i64, want i32"),
        ((o.If(LONG, (o.Fail(),)), o.Fail()), "the test is i64, want i32"),
        ((o.Return(o.Call("none", ())),), "unknown function `none`"),
        ((o.Return(o.Call("pair", (ONE,))),), "`pair` takes 2 arguments, got 1"),
        ((o.Return(o.Call("pair", (ONE, ONE))),), "argument 2 of `pair` is i32, want i64"),
        ((o.Return(o.Call("act", ())),), "`act` gives nothing, want a value"),
        ((o.Do(o.Call("pair", (ONE, LONG))), o.Fail()), "`pair` gives i32, want nothing"),
        ((o.Set(WIDE, o.Call("pair", (ONE, LONG), "i64")), o.Fail()), "`pair` gives i32, want i64"),
        ((o.Return(o.Within((o.Set(Y, LONG),), ONE)),), "the value is i64, want i32"),
        ((o.Return(o.Within((), LONG)),), "the result is i64, want i32"),
        ((o.Return(o.Within((), o.Get(Y))),), "`y` is read and may not be set"),
        ((o.Return(o.LoadLong(ONE)),), "the result is i64, want i32"),
        ((o.Return(o.Cell(LONG, "money")),), "the address is i64, want i32"),
        ((o.Touch("money", LONG), o.Fail()), "the owner is i64, want i32"),
        ((o.Do(ONE), o.Fail()), "a value that nobody drops"),
        ((o.TailCall("pair", (ONE,)),), "`pair` takes 2 arguments, got 1"),
        ((o.TailCall("act", ()),), "`act` gives nothing, want a value"),
        ((o.Break("a"),), "no block `a` is open"),
        ((o.Block("a", (o.Block("a", ()),)), o.Fail()), "the label `a` is open already"),
        ((o.Return(),), "returns nothing, want i32"),
        ((), "ends without a value, want i32"),
        ((o.If(o.Get(X), (o.Return(ONE),)),), "ends without a value, want i32"),
    ],
)
def test_the_verifier_refuses(body: tuple[o.Statement, ...], message: str) -> None:
    assert wrong(*body, result="i32") == [message]


def test_a_function_without_a_result_gives_none() -> None:
    assert wrong(o.Return(ONE)) == ["returns i32, want nothing"]
    assert wrong() == wrong(o.Return()) == []


# --- text


GOLDEN = """\
# sell@0 of bank
sell(x: i32) -> i32:
    # bank.yaml:2:3
    y: i32 = 1
    wide: i64 = money[x] + 5L
    while (y + 1) < x as each:
        shares[y] = word(wide)
        if not cash:
            break each
        else:
            store [&bag[x] + 8] = bag[2].1 if x else -1
        copy 3 words from load [(x << 2) + 200] to bag[x]
    step:
        y = index(number(y) * 2L)
    block out:
        drop pair(x, wide)
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
    def cells(address: int, stride: int, count: int) -> SimpleNamespace:
        return SimpleNamespace(address=address, stride=stride, count=count)

    def scaled(value: o.Value, by: int) -> o.Value:
        return o.Binary("shl", value, o.Constant(by))

    groups = {"money": cells(64, 4, 3), "shares": cells(76, 4, 3), "cash": cells(88, 4, 1), "bag": cells(92, 12, 3)}
    x, y = o.Get(X), o.Get(Y)
    bag = o.Binary("add", o.Binary("mul", x, o.Constant(12)), o.Constant(92))
    item = o.Load(o.Constant(0), 92 + 2 * 12 + 4, "i32", "bag")
    deep = o.Within((o.Charge(y),), o.LoadLong(y, 8))
    within = o.Within((o.Set(Y, o.Load(o.Cell(bag, "bag"), 0, "i32", "bag")),), o.ToIndex(deep))
    place = Span(SourceFile("bank.yaml", "sell:\n  x = 1\n"), 8, 13)
    body = (
        o.Set(Y, ONE, span=place),
        o.Set(WIDE, o.Binary("add", o.Load(scaled(x, 2), 64, "i64", "money"), o.Constant(5, "i64")), span=place),
        o.While(
            "each",
            o.Compare("lt", o.Binary("add", y, ONE), x),
            (
                o.Store(scaled(y, 2), 76, o.ToWord(o.Get(WIDE)), "shares"),
                o.If(
                    o.Not(o.Load(o.Constant(88), 0, "i32", "cash")),
                    (o.Break("each"),),
                    (o.Store(bag, 8, o.Select(x, item, o.Constant(-1))),),
                ),
                o.CopyWords(bag, o.Load(o.Binary("add", scaled(x, 2), o.Constant(200))), o.Constant(3), "bag"),
            ),
            (o.Set(Y, o.ToIndex(o.Binary("mul", o.ToNumber(y), o.Constant(2, "i64")))),),
        ),
        o.Block("out", (o.Do(o.Call("pair", (x, o.Get(WIDE))), True), o.Break("out"))),
        o.SetGlobal("top", o.Data(400, "rows")),
        o.Charge(y),
        o.If(x, (o.Fail("no way"),)),
        o.Touch("money", x),
        o.If(o.Compare("gt", within, o.Constant(2)), (o.Set(Y, o.Constant(3)),)),
        o.Return(o.Load(x, 4, "i32", "?")),
    )
    made = o.Function("sell", (X,), "i32", body, "sell@0 of bank")
    assert check_function(made, KNOWN) == []
    assert text_of(made, groups) + "\n" == GOLDEN


def test_functions_go_by_the_names_of_rules() -> None:
    assert rule_of("f price@0") == rule_of("bot bench price@2#1") == rule_of("s price!base/two@0#12") == "price"
    assert rule_of("keep end phase turned_up!1/end of phase/0") == "turned_up"
    assert rule_of("own list of seat") == rule_of("") == ""
