"""Conditions as Python asks them quickest: whether a list is empty is the truth of the list itself."""

from __future__ import annotations

import ast

__all__ = ["as_truths", "asks_for_items"]


def asks_for_items(comparison: ast.expr) -> ast.expr:
    """Marks a comparison of a list, never none, with the empty one."""
    comparison.of_list = True  # type: ignore[attr-defined]
    return comparison


def as_truths(function: ast.FunctionDef) -> ast.FunctionDef:
    """Asks such lists themselves wherever only truth or falsehood is wanted. Changes the function in place."""
    for node in ast.walk(function):
        match node:
            case ast.If() | ast.IfExp() | ast.While():
                node.test = _truth(node.test)
            case ast.comprehension():
                node.ifs = [_truth(test) for test in node.ifs]
            case _:
                pass
    return function


def _truth(test: ast.expr) -> ast.expr:
    match test:
        case ast.BoolOp(_, values):
            test.values = [_truth(value) for value in values]
        case ast.UnaryOp(ast.Not(), operand):
            test.operand = _truth(operand)
        case ast.Compare(left, [operator], _) if getattr(test, "of_list", False):
            return left if isinstance(operator, ast.NotEq) else ast.copy_location(ast.UnaryOp(ast.Not(), left), test)
        case _:
            pass
    return test
