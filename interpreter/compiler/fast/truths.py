"""Conditions as Python asks them quickest: whether a list is empty, or a count is 0, is the truth of that itself."""

from __future__ import annotations

import ast

from interpreter.compiler.fast.nodes import walk

__all__ = ["as_truths", "asks_for_items", "asks_for_some"]


def asks_for_items(comparison: ast.expr) -> ast.expr:
    """Marks a comparison of a list, never none, with the empty one."""
    comparison.of_list = True  # type: ignore[attr-defined]
    return comparison


def asks_for_some(comparison: ast.expr) -> ast.expr:
    """Marks a comparison of a number, never below 0 and never none, if it asks whether that is more than 0."""
    match comparison:
        case (
            ast.Compare(_, [ast.Gt() | ast.NotEq()], [ast.Constant(0)])
            | ast.Compare(_, [ast.GtE()], [ast.Constant(1)])
            | ast.Compare(ast.Constant(1), [ast.LtE()], _)
            | ast.Compare(ast.Constant(0), [ast.Lt()], _)
        ):
            comparison.of_count = True  # type: ignore[attr-defined]
    return comparison


def as_truths(function: ast.FunctionDef) -> ast.FunctionDef:
    """Asks such lists themselves wherever only truth or falsehood is wanted. Changes the function in place."""
    for node in walk(function):
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
        case ast.Compare(left, _, [right]) if getattr(test, "of_count", False):
            return right if isinstance(left, ast.Constant) else left
        case _:
            pass
    return test
