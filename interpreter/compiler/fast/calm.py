"""What is known of standing rules within a function: whether one may be waiting to be looked at.

Before a decision, and before a turn or phase ends, it is asked whether rules wait that nobody is looking at. Where that
was asked before and no cell has changed since that a rule reads, it need not be asked again. So it is with blocks that
wait for a moment.
"""

from __future__ import annotations

import ast

from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.repeats import is_following, is_harmless

__all__ = ["asked_once"]


def asked_once(function: ast.FunctionDef, pending: int, settling: int, kept: int, *, calm: bool) -> ast.FunctionDef:
    """A function that does the same; the one handed in is changed.

    ``pending`` and ``settling`` are the cells that tell of rules, ``kept`` is that of blocks that wait for a moment;
    ``calm``: no rule waits where the function is called.
    """
    if not any(isinstance(node, ast.Try | ast.Yield | ast.YieldFrom) for node in walk(function)):
        _Calm(pending, settling, kept).block(function.body, frozenset((RULES,)) if calm else frozenset())
    return function


RULES, BLOCKS = "rules", "blocks"
Calm = frozenset[str]
"""What surely does not wait: rules, blocks."""


class _Calm:
    def __init__(self, pending: int, settling: int, kept: int) -> None:
        self.pending, self.settling, self.kept = pending, settling, kept

    def block(self, block: list[ast.stmt], calm: Calm) -> Calm:
        """Goes through a block; gives what cannot wait behind it."""
        found: list[ast.stmt] = []
        for statement in block:
            calm = self.statement(statement, calm, found)
        block[:] = found or [ast.copy_location(ast.Pass(), block[0])]
        return calm

    def statement(self, statement: ast.stmt, calm: Calm, found: list[ast.stmt]) -> Calm:
        match statement:
            case ast.If():
                return self._if(statement, calm, found)
            case ast.For(_, _, body) | ast.While(_, body):
                found.append(statement)
                calm -= self._wakes(statement)
                self.block(body, calm)
                return calm
            case _:
                found.append(statement)
                return calm - self._wakes(statement)

    def _if(self, statement: ast.If, calm: Calm, found: list[ast.stmt]) -> Calm:
        """An alternative of the test that surely does not hold is not asked; where none holds, none of it waits."""
        test = statement.test
        either = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
        left = [each for each in either if self._asks(each) not in calm]
        if not left and not statement.orelse:
            return calm
        if left:
            whole = left[0] if len(left) == 1 else ast.BoolOp(ast.Or(), left)
            statement.test = ast.copy_location(whole, test)
        found.append(statement)
        calm -= self._wakes(test)
        none = calm | {asked for each in left if (asked := self._asks(each)) is not None}
        settles = either == left == [test] and self._asks(test) == RULES and not _leaves(statement.body)
        yes, body_leaves = self.block(statement.body, calm), _leaves(statement.body)
        if settles:
            yes |= {RULES}  # what waited has settled
        no = self.block(statement.orelse, none) if statement.orelse else none
        if body_leaves:
            return no
        return yes if statement.orelse and _leaves(statement.orelse) else yes & no

    def _asks(self, test: ast.expr) -> str | None:
        """What a test asks about."""
        match test:
            case ast.BoolOp(ast.And(), [one, ast.UnaryOp(ast.Not(), other)]):
                return RULES if _cell(one) == self.pending and _cell(other) == self.settling else None
            case _:
                return BLOCKS if _cell(test) == self.kept else None

    def _wakes(self, tree: ast.AST) -> Calm:
        found: Calm = frozenset()
        for node in walk(tree):
            match node:
                case ast.Subscript(_, _, ast.Store()) if _cell(node) in (self.pending, self.settling):
                    found |= {RULES}
                case ast.Subscript(_, _, ast.Store()) if _cell(node) == self.kept:
                    found |= {BLOCKS}
                case ast.Call(function) if not is_harmless(function) and not is_following(function):
                    return frozenset((RULES, BLOCKS))
        return found


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
