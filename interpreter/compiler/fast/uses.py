"""What Python's compiler leaves undone with names: one that is read once, or is only another name, is not needed.

Finished functions have names for all parts of frames, so that these can be followed (:mod:`.simplify`). When that is
done, a frame that only one place wants is made there, in the branch where that is, and what it is made of with it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.trees import copied

__all__ = ["kept_as_it_was", "used_in_place"]

LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)
FRAMES = ("asked", "env", "frame", "back", "values", "up")


def used_in_place(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function that does the same; the one handed in is changed."""
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Try) for node in walk(function)):
        return function
    names = _Names(function)
    names.block(function.body)
    return function


def kept_as_it_was(function: ast.FunctionDef, stretch: int, none: Collection[int]) -> ast.FunctionDef:
    """Where a function that is given the frame of a decision would make another that is the same, it takes that one.

    ``none``: the locals that are none as long as the decision waits. The function is changed in place.
    """
    names = _Names(function)
    given: dict[str, str] = {}
    """How names that are given something once are written in terms of the frame."""
    for node in walk(function):
        match node:
            case ast.Assign([ast.Tuple(targets)], ast.Subscript(ast.Name("frame"), _) as value):
                for place, target in enumerate(targets):
                    if isinstance(target, ast.Name) and names.stored[target.id] == 1:
                        given[target.id] = f"{ast.unparse(value)}[{place}]"
            case ast.Assign([ast.Name(name)], ast.Subscript() as value) if names.stored[name] == 1:
                given[name] = ast.unparse(value)
    if names.stored["frame"] == 1:
        used_in_place(_SameFrame(stretch, none, given).visit(function))
        _StillThere().visit(function)
    return function


class _SameFrame(ast.NodeTransformer):
    def __init__(self, stretch: int, none: Collection[int], given: dict[str, str]) -> None:
        self.stretch, self.none, self.given = stretch, none, given

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Tuple([ast.Constant(self.stretch), ast.Tuple(locals_), up, ast.Constant(-1)], ast.Load()):
                same = all(self._is_same(place, each) for place, each in enumerate(locals_))
                if same and self._written(up) == "frame[2]":
                    return ast.copy_location(ast.Name("frame", ast.Load()), node)
        return node

    def _is_same(self, place: int, value: ast.expr) -> bool:
        if place in self.none:
            return isinstance(value, ast.Constant) and value.value is None
        return self._written(value) == f"frame[1][{place}]"

    def _written(self, node: ast.expr) -> str:
        found = ast.unparse(node)
        while (whole := found.partition("[")[0]) in self.given:
            found = self.given[whole] + found.removeprefix(whole)
        return found


class _StillThere(ast.NodeTransformer):
    """The state has its frame still where it is given no other."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        match node:
            case ast.Assign([ast.Attribute(ast.Name("state"), "frame")], ast.Name("frame")):
                return None
            case _:
                return node


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
                setattr(parent, field, copied(value))
            else:
                getattr(parent, field)[number] = copied(value)
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
