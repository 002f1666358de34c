"""What Python's compiler leaves undone with bags: one whose parts are read several times is taken apart once.

Whoever writes the read of a part says how many parts there are (:func:`part_of`). Where a name was given a bag, and
enough parts of it are read behind that, its parts get names of their own before the first one is read.
"""

from __future__ import annotations

import ast

from interpreter.compiler.fast.nodes import walk

__all__ = ["is_part", "part_of", "taken_apart"]

SCOPES = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Lambda)


def part_of(read: ast.expr, width: int) -> ast.expr:
    """Marks the read of a part of a bag that has so many."""
    read.width = width  # type: ignore[attr-defined]
    return read


def is_part(node: ast.expr) -> bool:
    """Whether it is a known part of a bag that has a name."""
    return _part(node) is not None


def taken_apart(function: ast.FunctionDef) -> ast.FunctionDef:
    """Changes the function in place."""
    bags = {name for node in walk(function) if (name := _part(node)) is not None}
    if bags:
        _block(function.body, bags)
        ast.fix_missing_locations(function)
    return function


def _block(block: list[ast.stmt], bags: set[str]) -> None:
    """Begins behind: what is put in stands behind the statement that gives the bag."""
    for place in reversed(range(len(block))):
        match block[place]:
            case ast.If(_, body, orelse):
                _block(body, bags)
                _block(orelse, bags)
            case ast.While(_, body):
                _block(body, bags)
            case ast.For(target, _, body):
                _block(body, bags)
                if isinstance(target, ast.Name) and target.id in bags:
                    _behind(body, 0, target.id)
            case ast.Assign([ast.Name(name)], _) if name in bags:
                _behind(block, place + 1, name)
            case _:
                pass


def _behind(block: list[ast.stmt], start: int, name: str) -> None:
    """Takes a bag apart in what stands behind a place of a block, as far as the name holds it."""
    end = next((place for place in range(start, len(block)) if _stores(block[place], name)), len(block))
    reading = [place for place in range(start, end) if _reads(block[place], name)]
    if not reading:
        return
    match block[reading[0]]:
        case ast.If(test, body, orelse) if len(reading) == 1 and not _reads(test, name):
            if not any(_reads(each, name) for each in orelse):
                _behind(body, 0, name)
                return
            if not any(_reads(each, name) for each in body):
                _behind(orelse, 0, name)
                return
        case _:
            pass
    taker = _TakesApart(name)
    if not _reads(block[reading[0]], name, 0):
        return  # where it is not looked into, it may be none
    if 2 * sum([_reads(block[place], name) for place in reading]) > taker.width_in(block[start:end]) + 2:
        for place in reading:
            taker.visit(block[place])
        block.insert(reading[0], taker.apart(block[reading[0]]))


def _stores(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load)
        for each in walk(statement)
    )


def _part(node: ast.AST) -> str | None:
    """The name of the bag of which a part is read."""
    match node:
        case ast.Subscript(ast.Name(name), ast.Constant(int()), ast.Load()) if hasattr(node, "width"):
            return name
        case _:
            return None


def _reads(node: ast.AST, name: str, seldom: float = 0.5) -> float:
    """How many parts of a bag are read; ``seldom`` is what one counts that is not always read."""
    match node:
        case ast.If(test, body, orelse):
            others: list[ast.AST] = [*body, *orelse]
            surely: list[ast.AST] = [test]
        case ast.BoolOp(_, [first, *rest]):
            surely, others = [first], [*rest]
        case ast.IfExp(test, then, otherwise):
            surely, others = [test], [then, otherwise]
        case ast.For(_, items, body):
            surely, others = [items], [*body]
        case _ if isinstance(node, SCOPES):
            return 0
        case _:
            surely, others = list(ast.iter_child_nodes(node)), []
    own = 1 if _part(node) == name else 0
    sure, unsure = (sum([_reads(each, name, seldom) for each in parts]) for parts in (surely, others))
    return own + sure + seldom * unsure


class _TakesApart(ast.NodeTransformer):
    def __init__(self, name: str) -> None:
        self.name, self.width = name, 0

    def width_in(self, block: list[ast.stmt]) -> int:
        for statement in block:
            for node in walk(statement):
                if _part(node) == self.name:
                    self.width = node.width  # type: ignore[attr-defined]
        return self.width

    def visit(self, node: ast.AST) -> ast.AST:
        return node if isinstance(node, SCOPES) else super().visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node.slice:
            case ast.Constant(int(place)) if _part(node) == self.name:
                return ast.copy_location(ast.Name(self._name(place), ast.Load()), node)
            case _:
                return self.generic_visit(node)

    def apart(self, at: ast.stmt) -> ast.stmt:
        """The statement that names the parts."""
        targets: list[ast.expr] = [ast.Name(self._name(place), ast.Store()) for place in range(self.width)]
        value = ast.Name(self.name, ast.Load())
        return ast.copy_location(ast.Assign([ast.Tuple(targets, ast.Store())], value), at)

    def _name(self, place: int) -> str:
        return f"{self.name}_part_{place}"
