"""A pinned choice is not compared with what it is; a test that others imply is not made."""

from __future__ import annotations

import ast

from interpreter.compiler.fast.pins import implied, pinned

LEAST = "(1 if plant == marked else number[plant])"


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def test_what_a_choice_is_pinned_to_is_its_name() -> None:
    asked = expression(f"bid == {LEAST} if alone == (who,) else {LEAST} <= bid and {LEAST} <= money")
    assert ast.unparse(pinned(asked, "bid", expression(LEAST))) == "alone == (who,) or bid <= money"


def test_another_value_is_still_compared() -> None:
    asked = expression(f"bid < {LEAST} or other <= bid")
    assert ast.unparse(pinned(asked, "bid", expression(LEAST))) == "bid < bid or other <= bid"


def test_a_test_that_another_one_implies_is_left_out() -> None:
    tests = [expression("alone == (who,) or bid <= money"), expression("bid <= money")]
    assert [ast.unparse(each) for each in implied(tests)] == ["bid <= money"]


def test_a_test_that_may_fail_is_asked() -> None:
    tests = [expression("held[at] == 1 or bid <= money"), expression("bid <= money")]
    assert implied(tests) == tests
