"""What is known of standing rules within a function: whether one may be waiting to be looked at.

Before a decision, and before a turn or phase ends, it is asked whether rules wait that nobody is looking at. Where that
was asked before and no cell has changed since that a rule reads, it need not be asked again.
"""

from __future__ import annotations

import ast

from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.repeats import is_following, is_harmless

__all__ = ["asked_once"]


def asked_once(function: ast.FunctionDef, pending: int, settling: int, *, calm: bool) -> ast.FunctionDef:
    """A function that does the same; the one handed in is changed.

    ``pending`` and ``settling`` are the cells that tell of rules; ``calm``: none waits where the function is called.
    """
    if not any(isinstance(node, ast.Try | ast.Yield | ast.YieldFrom) for node in walk(function)):
        _Calm(pending, settling).block(function.body, calm)
    return function


class _Calm:
    def __init__(self, pending: int, settling: int) -> None:
        self.pending, self.settling = pending, settling

    def block(self, block: list[ast.stmt], calm: bool) -> bool:
        """Goes through a block; gives whether nothing can wait behind it."""
        found: list[ast.stmt] = []
        for statement in block:
            calm = self.statement(statement, calm, found)
        block[:] = found or [ast.copy_location(ast.Pass(), block[0])]
        return calm

    def statement(self, statement: ast.stmt, calm: bool, found: list[ast.stmt]) -> bool:
        match statement:
            case ast.If(test, body, orelse):
                if self._asks(test) and not orelse:
                    if not calm:
                        found.append(statement)
                    return True  # what waited has settled
                if calm and isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
                    others = [each for each in test.values if not self._asks(each)]
                    statement.test = (
                        others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(test.op, others), test)
                    )
                found.append(statement)
                asked = (
                    isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and any(map(self._asks, test.values))
                )
                calm = calm and not self._wakes(test)
                yes = self.block(body, calm) or _leaves(body)
                no = self.block(orelse, calm or asked) or _leaves(orelse) if orelse else calm or asked
                return yes and no
            case ast.For(_, _, body, orelse) | ast.While(_, body, orelse):
                found.append(statement)
                calm = calm and not self._wakes(statement)
                self.block(body, calm)
                return calm
            case _:
                found.append(statement)
                return calm and not self._wakes(statement)

    def _asks(self, test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(ast.And(), [one, ast.UnaryOp(ast.Not(), other)]):
                return _cell(one) == self.pending and _cell(other) == self.settling
            case _:
                return False

    def _wakes(self, tree: ast.AST) -> bool:
        for node in walk(tree):
            match node:
                case ast.Subscript(_, _, ast.Store()) if _cell(node) in (self.pending, self.settling):
                    return True
                case ast.Call(function) if not is_harmless(function) and not is_following(function):
                    return True
        return False


def _cell(node: ast.expr) -> int | None:
    match node:
        case ast.Subscript(ast.Name("S"), ast.Constant(int(cell))):
            return cell
        case _:
            return None


def _leaves(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, ast.Return)
