"""What Python's compiler leaves undone: work that a loop repeats without need is done before it.

Only for functions that change nothing and only for work that cannot fail: comparisons, sums and reads of cells. What
may fail stays where it stands, so that it is not worked out where a condition kept it from being worked out.
"""

from __future__ import annotations

import ast
from typing import Any

from interpreter.compiler.fast.letters import ROW, is_of
from interpreter.compiler.fast.quote import Quote

__all__ = ["out_of_loops"]

_SAFE_OPERATORS = (ast.Add, ast.Sub)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def out_of_loops(function: ast.FunctionDef, quote: Quote) -> ast.FunctionDef:
    """Takes what does not change in a loop, or in a comprehension, out of it."""
    function.body = _Mover(quote).block(function.body)
    return function


class _Mover:
    def __init__(self, quote: Quote) -> None:
        self.quote = quote
        self.count = 0

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            found.extend(self.statement(statement))
        return found

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        match statement:
            case ast.For(target, _, body):
                bound = _stored(target, *body)
                for each in body:
                    self._taken(each, bound, before)
                statement.body = self.block(statement.body)
                return [*before, self._asked_once(statement, bound)]
            case ast.If() | ast.While():
                statement.body = self.block(statement.body)
                statement.orelse = self.block(statement.orelse)
                return [statement]
            case _:
                for loop in [n for n in ast.walk(statement) if isinstance(n, ast.ListComp | ast.GeneratorExp)]:
                    self._comprehension(loop, _stored(statement), before)
        return [*before, statement]

    def _asked_once(self, loop: ast.For, bound: set[str]) -> ast.stmt:
        """What a loop asks first of each item, and is the same for all, is asked before it, if what it goes through is
        known without fail."""
        match loop:
            case ast.For(
                _,
                ast.Name() | ast.Subscript(ast.Name("S"), ast.Constant()) | ast.Call(ast.Name()) as items,
                [ast.If(ast.BoolOp(ast.And(), [ast.Name(name) as first, *others]) as test, _, []) as only],
            ) if name not in bound and (not isinstance(items, ast.Call) or _is_row(items)):
                test.values = others
                only.test = test if len(others) > 1 else others[0]
                return ast.copy_location(ast.If(first, [loop], []), loop)
            case _:
                return loop

    def _comprehension(self, loop: ast.ListComp | ast.GeneratorExp, bound: set[str], before: list[ast.stmt]) -> None:
        if any(isinstance(node, ast.Lambda) for node in ast.walk(loop)):
            return
        tested = False
        for clause in loop.generators:
            for place, test in enumerate(clause.ifs):
                clause.ifs[place] = self._taken(test, bound, before, tested)
                tested = True
        loop.elt = self._taken(loop.elt, bound, before, tested)

    def _taken(self, node: Any, bound: set[str], before: list[ast.stmt], behind: bool = False) -> Any:
        """The node, with names for its greatest parts that the loop does not change."""
        return _Taker(self, bound, before, behind).visit(node)

    def named(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        wanted = ast.dump(value)
        for statement in before:
            if isinstance(statement, ast.Assign) and ast.dump(statement.value) == wanted:
                (target,) = statement.targets
                assert isinstance(target, ast.Name)
                return self.quote.name(target.id)
        name = f"steady_M{self.count}"
        self.count += 1
        before.append(self.quote.assign(name, value))
        return self.quote.name(name)


class _Taker(ast.NodeTransformer):
    """Takes parts out. Behind a condition only what cannot fail with none either: the condition may have looked."""

    def __init__(self, mover: _Mover, bound: set[str], before: list[ast.stmt], behind: bool) -> None:
        self.mover, self.bound, self.before, self.behind = mover, bound, before, behind

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Compare | ast.BinOp | ast.Subscript | ast.BoolOp | ast.UnaryOp) and self._steady(node):
            return self.mover.named(node, self.before)
        match node:
            case ast.Lambda():
                return node
            case ast.BoolOp(_, [first, *others]):
                node.values = [self.visit(first), *self._behind(others)]  # type: ignore[list-item]
                return node
            case ast.IfExp(
                test, ast.Constant() as one, ast.Subscript(ast.Name(row) as items, ast.Name(at) as index)
            ) if at in self.bound and row not in self.bound and self._steady(test):
                # One row or another, chosen once.
                quote = self.mover.quote
                chosen = quote.expression("[_0] * len(_1) if _2 else _1", one, items, test)
                return quote.expression("_0[_1]", self.mover.named(chosen, self.before), index)
            case ast.IfExp(test, body, orelse):
                node.test = self.visit(test)  # type: ignore[assignment]
                node.body, node.orelse = self._behind([body, orelse])
                return node
            case ast.If(test, body, orelse):
                node.test = self.visit(test)  # type: ignore[assignment]
                node.body, node.orelse = self._behind(body), self._behind(orelse)
                return node
            case ast.ListComp() | ast.GeneratorExp():
                for clause in node.generators:
                    clause.iter = self.visit(clause.iter)  # type: ignore[assignment]
                    clause.ifs = self._behind(clause.ifs)
                node.elt = self._behind([node.elt])[0]
                return node
        return self.generic_visit(node)

    def _behind(self, nodes: list[Any]) -> list[Any]:
        before, self.behind = self.behind, True
        found = [self.visit(node) for node in nodes]
        self.behind = before
        return found

    def _steady(self, node: ast.expr) -> bool:
        """Whether it is always the same in the loop, and cannot fail."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                return name not in self.bound
            case ast.Compare(left, operators, others):
                allowed = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
                fine = all(isinstance(each, allowed if self.behind else (*allowed, *_ORDERS)) for each in operators)
                return fine and all(self._steady(each) for each in (left, *others))
            case ast.BinOp(left, operator, right) if not self.behind:
                return isinstance(operator, _SAFE_OPERATORS) and self._steady(left) and self._steady(right)
            case ast.Subscript(ast.Name("S"), index):
                return self._steady(index) if not self.behind else isinstance(index, ast.Constant)
            case ast.BoolOp(_, values):
                return all(self._steady(value) for value in values)
            case ast.UnaryOp(ast.Not(), operand):
                return self._steady(operand)
            case _:
                return False


def _is_row(call: ast.Call) -> bool:
    """Whether it gives a list that the state keeps."""
    return isinstance(call.func, ast.Name) and is_of(call.func.id, ROW)


def _stored(*nodes: ast.AST) -> set[str]:
    return {
        node.id
        for tree in nodes
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
