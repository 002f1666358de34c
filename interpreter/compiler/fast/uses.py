"""What Python's compiler leaves undone with names: one that is read once, or is only another name, is not needed.

Finished functions have names for all parts of frames, so that these can be followed (:mod:`.simplify`). When that is
done, a frame that only one place wants is made there, in the branch where that is, and what it is made of with it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Any

from interpreter.compiler.fast.nodes import walk

__all__ = ["used_in_place"]

LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)
FRAMES = ("env", "frame", "back", "values", "up")


def used_in_place(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function that does the same; the one handed in is changed."""
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Try) for node in walk(function)):
        return function
    names = _Names(function)
    names.block(function.body)
    return function


class _Names:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.loaded: Counter[str] = Counter()
        self.stored: Counter[str] = Counter()
        """How often a name is given something; what a loop gives it counts as more than once."""
        self._count(function, 1)

    def _count(self, node: ast.AST, times: int) -> None:
        match node:
            case ast.Name(name, ast.Load()):
                self.loaded[name] += 1
            case ast.Name(name):
                self.stored[name] += times
            case ast.arg(name):
                self.stored[name] += times
            case ast.AugAssign(ast.Name(name)):
                self.loaded[name] += 1
        times = 2 if isinstance(node, LOOPS) else times
        for child in ast.iter_child_nodes(node):
            self._count(child, times)

    def block(self, block: list[ast.stmt]) -> None:
        place = 0
        while place < len(block):
            match block[place]:
                case ast.Assign([ast.Name(name)], value) if self._moves(name, value, block[place + 1 :]):
                    del block[place]
                    continue
                case ast.If(_, body, orelse) | ast.For(_, _, body, orelse) | ast.While(_, body, orelse):
                    self.block(body)
                    self.block(orelse)
            place += 1

    def _moves(self, name: str, value: ast.expr, behind: list[ast.stmt]) -> bool:
        """Puts what a name was given where it is read, if that is behind it alone and the same is found there."""
        if not _is_steady(value) or _gives(behind, {name}):
            return False
        read = {node.id for node in walk(value) if isinstance(node, ast.Name)}
        if any(self.stored[each] > 1 for each in read) and _gives(behind, read):
            return False
        found = list(_reads(behind, name, False))
        if len(found) != self.loaded[name] or not found:
            return False
        if not isinstance(value, ast.Name) and (len(found) > 1 or found[0][3]):
            return False
        for parent, field, number, _ in found:
            if number is None:
                setattr(parent, field, _copied(value))
            else:
                getattr(parent, field)[number] = _copied(value)
        self.loaded.update({each: len(found) - 1 for each in read})
        return True


def _gives(block: list[ast.stmt], names: set[str]) -> bool:
    """Whether one of some names is given something anywhere in a block."""
    return any(
        (isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg in names)
        for statement in block
        for node in walk(statement)
    )


def _reads(nodes: Any, name: str, circling: bool) -> Iterator[tuple[ast.AST, str, int | None, bool]]:
    """Where a name is read: the node above, which of its fields, at what place in that, and whether in a loop."""
    for node in nodes:
        inner = circling or isinstance(node, LOOPS)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.Name) and value.id == name and isinstance(value.ctx, ast.Load):
                yield node, field, None, inner
            elif isinstance(value, ast.AST):
                yield from _reads((value,), name, inner)
            elif isinstance(value, list):
                for number, each in enumerate(value):
                    if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
                        yield node, field, number, inner
                    elif isinstance(each, ast.AST):
                        yield from _reads((each,), name, inner)


def _is_steady(value: ast.expr) -> bool:
    """Whether something is the same as long as its names are: it reads no state and cannot fail."""
    match value:
        case ast.Name(_, ast.Load()) | ast.Constant():
            return True
        case ast.Tuple(items, ast.Load()):
            return all(_is_steady(item) for item in items)
        case ast.Subscript(ast.Name(name), ast.Constant(int())):
            return name.partition("_I")[0] in FRAMES
        case _:
            return False


def _copied(value: ast.expr) -> ast.expr:
    match value:
        case ast.Name(name):
            made: ast.expr = ast.Name(name, ast.Load())
        case ast.Constant(given):
            made = ast.Constant(given)
        case ast.Tuple(items):
            made = ast.Tuple([_copied(item) for item in items], ast.Load())
        case ast.Subscript(of, place):
            made = ast.Subscript(_copied(of), _copied(place), ast.Load())
        case _:
            raise AssertionError(value)
    return ast.copy_location(made, value)
