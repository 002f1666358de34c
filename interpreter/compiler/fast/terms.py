"""Finished Python expressions: what may be done with one, and copies with something else in its place."""

from __future__ import annotations

import ast
import copy

from interpreter.compiler.fast.letters import letters_of

__all__ = ["CALLED", "CellsAsNames", "cheap", "free_names", "harmless", "in_place", "rename", "shown", "unsure"]

CALLED = frozenset(("claims", "connected", "distances", "distances_dealt", "joined")) | frozenset(
    ("all", "any", "frozenset", "len", "list", "max", "min", "next", "set", "sorted", "sum", "tuple")
)
"""What else emitted expressions name that is no local: helpers, and functions of Python."""


def shown(node: ast.expr) -> str:
    """A text that only equal expressions have."""
    return ast.dump(node)


def cheap(node: ast.expr) -> bool:
    """Whether an expression may be written more than once."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Subscript(value, index):
            return isinstance(value, ast.Name) and cheap(index)
        case ast.Tuple(items):
            return all(isinstance(item, ast.Name | ast.Constant) for item in items)
        case ast.BinOp(left, ast.Add(), right):
            return (
                cheap(left) and isinstance(right, ast.Constant | ast.Name) and isinstance(left, ast.Constant | ast.Name)
            )
        case _:
            return False


def harmless(node: ast.expr) -> bool:
    """Whether an expression may be left out, or worked out later: it cannot fail."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Subscript(ast.Name("S"), index):
            return isinstance(index, ast.Constant)
        case ast.Subscript(ast.Name(name), ast.Constant()):
            return not letters_of(name)  # a part of a bag or record
        case ast.Tuple(items):
            return all(harmless(item) for item in items)
        case _:
            return False


def unsure(node: ast.expr) -> ast.expr:
    """An expression without the check that it gives something, for where nothing would fail by itself."""
    match node:
        case ast.Call(ast.Name("sure"), [inner]):
            return inner
        case ast.IfExp(test, then, otherwise):
            return ast.copy_location(ast.IfExp(test, unsure(then), unsure(otherwise)), node)
        case _:
            return node


def free_names(node: ast.expr) -> set[str]:
    """The names that an expression reads, but for those of the module: locals, and what is in :data:`CALLED`."""
    bound = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return {name for name in used - bound if not letters_of(name)}


def rename(body: ast.expr, names: dict[str, str]) -> None:
    """Gives what a function is given, and its locals, other names, so that equal functions look the same."""
    for node in ast.walk(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in names:
            names[node.id] = f"B_{len(names)}"
    for node in ast.walk(body):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)


def in_place(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """A copy with values in place of names."""
    return _InPlace(values).visit(copy.deepcopy(node))  # type: ignore[no-any-return]


class _InPlace(ast.NodeTransformer):
    """Puts values in place of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.values.get(node.id)
        return node if value is None else self.visit(copy.deepcopy(value))


class CellsAsNames(ast.NodeTransformer):
    """Puts names in place of the cells that an expression reads: ``names`` has these by what they stand for, ``reads``
    what they stand for in the same order."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.reads: list[ast.expr] = []

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not (isinstance(node.value, ast.Name) and node.value.id == "S" and cheap(node.slice)):
            return self.generic_visit(node)
        key = shown(node)
        if key not in self.names:
            self.names[key] = f"C_{len(self.names)}"
            self.reads.append(node)
        return ast.copy_location(ast.Name(self.names[key], ast.Load()), node)
