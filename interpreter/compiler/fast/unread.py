"""What a finished function gives names to and nobody reads is left out."""

from __future__ import annotations

import ast

from interpreter.compiler.fast.trees import copied, is_frame, loaded_in, placed, quote_at

__all__ = ["without_unread"]


def without_unread(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function that does the same; the one handed in is changed."""
    return _Backwards().block(body, set())


class _Backwards:
    """Goes through a function from its last statement to its first, and leaves out what nobody reads."""

    def block(self, body: list[ast.stmt], live: set[str]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in reversed(body):
            found.extend(reversed(self.statement(statement, live)))
        found.reverse()
        return found

    def statement(self, statement: ast.stmt, live: set[str]) -> list[ast.stmt]:
        match statement:
            case ast.Return() | ast.Raise():
                live.clear()
                live |= loaded_in(statement)
                return [statement]
            case ast.Assign([ast.Name(name)], value):
                if name not in live and _is_pure(value):
                    return []
                live.discard(name)
                live |= loaded_in(value)
                return [statement]
            case ast.Assign([ast.Tuple(targets)], value) if all(isinstance(t, ast.Name) for t in targets):
                return self._unpacks(statement, [t.id for t in targets], value, live)  # type: ignore[attr-defined]
            case ast.If():
                other = set(live)
                statement.body = self.block(statement.body, live)
                statement.orelse = self.block(statement.orelse, other)
                live |= other
                if not statement.body and not statement.orelse:
                    if _is_pure(statement.test):
                        return []
                    live |= loaded_in(statement.test)
                    return [placed(ast.Expr(statement.test), statement)]
                if not statement.body:
                    statement.body = [placed(ast.Pass(), statement)]
                live |= loaded_in(statement.test)
                return [statement]
            case ast.While() | ast.For():
                live |= loaded_in(statement)
                inner = set(live)
                statement.body = self.block(statement.body, inner) or [placed(ast.Pass(), statement)]
                live |= inner
                return [statement]
            case _:
                live |= loaded_in(statement)
                return [statement]

    def _unpacks(self, statement: ast.Assign, names: list[str], value: ast.expr, live: set[str]) -> list[ast.stmt]:
        wanted = [place for place, name in enumerate(names) if name in live]
        if not wanted and _is_pure(value):
            return []
        live -= set(names)
        live |= loaded_in(value)
        if isinstance(value, ast.Name) and is_frame(value.id) and len(wanted) * 3 <= len(names):
            q = quote_at(statement)
            return [q.assign(names[p], q.expression("_0[_1]", copied(value), q.constant(p))) for p in wanted]
        return [statement]


def _is_pure(node: ast.expr) -> bool:
    """Whether something can be left out if nobody reads it: it changes nothing and cannot fail."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Tuple(items):
            return all(_is_pure(item) for item in items)
        case ast.Subscript(ast.Name(name), ast.Constant()):
            return is_frame(name)
        case _:
            return False
