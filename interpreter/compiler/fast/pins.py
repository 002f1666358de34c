"""Conditions on a choice whose value is known: what it was pinned to is not worked out again, nor asked of itself."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

__all__ = ["implied", "pinned"]

Tree = TypeVar("Tree", bound=ast.AST)


def pinned(tree: Tree, name: str, value: ast.expr) -> Tree:
    """A tree in which a name, never none, has that value. It is changed in place."""
    return _Pinned(name, value).visit(tree)  # type: ignore[no-any-return]


class _Pinned(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.sort, self.shown = name, type(value), ast.dump(value)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, self.sort) and isinstance(node, ast.expr) and ast.dump(node) == self.shown:
            return ast.copy_location(ast.Name(self.name, ast.Load()), node)
        found = super().visit(node)
        match found:
            case ast.Compare(ast.Name(one), [ast.Eq() | ast.LtE() | ast.GtE()], [ast.Name(other)]):
                if one == other == self.name:
                    return ast.copy_location(ast.Constant(True), node)
            case ast.IfExp(ast.Compare() as test, ast.Constant(True), otherwise):
                return ast.copy_location(ast.BoolOp(ast.Or(), [test, otherwise]), node)
            case ast.BoolOp(ast.And(), values):
                found.values = [each for each in values if not (isinstance(each, ast.Constant) and each.value is True)]
                if len(found.values) < 2:
                    return found.values[0] if found.values else ast.copy_location(ast.Constant(True), node)
            case _:
                pass
        return found


def implied(tests: list[ast.expr]) -> list[ast.expr]:
    """The tests without those of which one alternative is another test, if they need not be asked for a failure."""
    shown = {ast.dump(test) for test in tests}

    def holds(test: ast.expr) -> bool:
        """Whether it does, if the others do."""
        if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)):
            return False
        others = [value for value in test.values if ast.dump(value) not in shown]
        return len(others) < len(test.values) and all(_cannot_fail(other) for other in others)

    return [test for test in tests if not holds(test)]


def _cannot_fail(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Tuple(items):
            return all(_cannot_fail(item) for item in items)
        case ast.BoolOp(_, values):
            return all(_cannot_fail(value) for value in values)
        case ast.Compare(left, operators, others):
            equal = all(isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) for operator in operators)
            return equal and all(_cannot_fail(each) for each in (left, *others))
        case ast.Subscript(ast.Name("S"), ast.Constant()):
            return True
        case _:
            return False
