"""Python syntax trees from templates: a template is fixed text of this package, its holes are trees.

Nothing that comes from a ruleset is ever pasted into a text: names and values enter as nodes.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from interpreter.base.source import Span

__all__ = ["Quote", "constant", "is_constant", "name", "value_of"]


@lru_cache(maxsize=1024)
def _parsed(template: str, mode: str) -> ast.AST:
    return ast.parse(template, mode=mode)


def constant(value: Any) -> ast.Constant:
    """A constant that stands nowhere yet."""
    return ast.Constant(value)


def name(text: str) -> ast.Name:
    """A name that is read, and stands nowhere yet."""
    return ast.Name(text, ast.Load())


def is_constant(node: ast.expr) -> bool:
    """Whether an expression is a constant."""
    return isinstance(node, ast.Constant)


def value_of(node: ast.expr) -> Any:
    """What a constant is."""
    assert isinstance(node, ast.Constant)
    return node.value


class Quote:
    """Fills templates in. Every new node stands at the place that :meth:`at` said last."""

    def __init__(self) -> None:
        self.file: str = ""
        self._line, self._column = 1, 0
        self._kept: dict[int, tuple[int, int]] = {}

    def at(self, span: Span | None) -> None:
        """New nodes stand here, if it is in the file that is being written."""
        if span is None or span.file.name != self.file:
            return
        found = self._kept.get(span.start)
        if found is None:
            line, column = span.file.position(span.start)
            start = span.file.line_starts[line - 1]
            found = (line, len(span.file.text[start : start + column - 1].encode()))
            self._kept[span.start] = found
        self._line, self._column = found

    def stay(self, node: ast.stmt | ast.expr) -> None:
        """New nodes stand where this one does."""
        self._line, self._column = node.lineno, node.col_offset

    def enter(self, span: Span) -> None:
        """A new function begins, in this file."""
        if span.file.name != self.file:
            self.file, self._kept = span.file.name, {}
            self._line, self._column = 1, 0
        self.at(span)

    @property
    def place(self) -> tuple[int, int]:
        return self._line, self._column

    def expression(self, template: str, *parts: ast.expr) -> ast.expr:
        """A template with holes ``_0``, ``_1`` …"""
        tree = _parsed(template, "eval")
        assert isinstance(tree, ast.Expression)
        return self._copy(tree.body, {f"_{number}": part for number, part in enumerate(parts)})  # type: ignore[no-any-return]

    def statements(self, template: str, *parts: ast.expr, **blocks: list[ast.stmt]) -> list[ast.stmt]:
        """As ``expression``; a statement that is a block's name alone is replaced by that block."""
        tree = _parsed(template, "exec")
        assert isinstance(tree, ast.Module)
        holes: dict[str, Any] = {f"_{number}": part for number, part in enumerate(parts)}
        return self._block(tree.body, holes, blocks)

    def _block(self, block: list[ast.stmt], holes: dict[str, Any], blocks: dict[str, list[ast.stmt]]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in block:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name):
                inner = blocks.get(statement.value.id)
                if inner is not None:
                    found.extend(inner)
                    continue
            found.append(self._copy(statement, holes, blocks))
        return found

    def _copy(self, node: Any, holes: dict[str, Any], blocks: dict[str, list[ast.stmt]] | None = None) -> Any:
        if isinstance(node, ast.Name) and node.id in holes:
            hole = holes[node.id]
            if not isinstance(node.ctx, ast.Load) and isinstance(hole, ast.Name):
                return self.placed(ast.Name(hole.id, node.ctx))
            return hole
        if isinstance(node, ast.AST):
            made = type(node)()
            for field in node._fields:
                old = getattr(node, field, None)
                if isinstance(old, list):
                    if old and isinstance(old[0], ast.stmt) and blocks is not None:
                        inner = self._block(old, holes, blocks)
                        setattr(made, field, inner or [self.placed(ast.Pass())])
                    else:
                        setattr(made, field, [self._copy(item, holes, blocks) for item in old])
                else:
                    setattr(made, field, self._copy(old, holes, blocks))
            return self.placed(made)
        return node

    def placed(self, node: Any) -> Any:
        node.lineno = node.end_lineno = self._line
        node.col_offset, node.end_col_offset = self._column, self._column + 1
        return node

    def constant(self, value: Any) -> ast.Constant:
        return self.placed(ast.Constant(value))  # type: ignore[no-any-return]

    def name(self, text: str) -> ast.Name:
        return self.placed(ast.Name(text, ast.Load()))  # type: ignore[no-any-return]

    def store(self, text: str) -> ast.Name:
        return self.placed(ast.Name(text, ast.Store()))  # type: ignore[no-any-return]

    def tuple(self, items: list[ast.expr]) -> ast.expr:
        """A tuple; of constants, one constant."""
        if all(isinstance(item, ast.Constant) for item in items):
            return self.constant(tuple([value_of(item) for item in items]))
        return self.placed(ast.Tuple(list(items), ast.Load()))  # type: ignore[no-any-return]

    def call(self, function: str, arguments: list[ast.expr]) -> ast.expr:
        return self.placed(ast.Call(self.name(function), list(arguments), []))  # type: ignore[no-any-return]

    def assign(self, target: str, value: ast.expr) -> ast.stmt:
        return self.placed(ast.Assign([self.store(target)], value))  # type: ignore[no-any-return]

    def function(self, text: str, parameters: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
        arguments = ast.arguments([], [self.placed(ast.arg(p, None)) for p in parameters], None, [], [], None, [])
        return self.placed(ast.FunctionDef(text, arguments, body or [self.placed(ast.Pass())], [], None))  # type: ignore[no-any-return]
