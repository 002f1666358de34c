"""What finished trees read of a state: to read it once, to tell what of a change can matter."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from interpreter.compiler.fast.letters import KNOWN, PART, is_of
from interpreter.compiler.fast.motion import out_of_loops
from interpreter.compiler.fast.quote import Quote
from interpreter.compiler.fast.statements import Block

__all__ = ["asks_for_any", "gathered", "part_of_one_cell"]


def gathered(function: ast.FunctionDef, quote: Quote) -> ast.FunctionDef:
    """A function that changes nothing reads each cell once: what it reads more often becomes a local."""
    out_of_loops(function, quote)
    names: dict[str, str] = {}
    found: dict[str, ast.expr] = {}
    for key, reads in _Reads(function).reads.items():
        if len(reads) > 1:
            names[key] = f"cell_G{len(names)}"
            found[names[key]] = reads[0]
    _Replace(names).visit(function)
    for name, read in found.items():
        _put_before(function.body, quote.assign(name, read))
    return function


def _put_before(block: Block, assignment: ast.stmt) -> None:
    """What gives a name its value stands before the first statement that uses it, in the innermost branch that holds
    all of these."""
    name = assignment.targets[0].id  # type: ignore[attr-defined]
    using = [position for position, statement in enumerate(block) if _uses(statement, name)]
    first = block[using[0]]
    if len(using) == 1 and isinstance(first, ast.If) and not _uses(first.test, name):
        branches = [branch for branch in (first.body, first.orelse) if any(_uses(each, name) for each in branch)]
        if len(branches) == 1:
            _put_before(branches[0], assignment)
            return
    block.insert(using[0], assignment)


def _uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def part_of_one_cell(body: Block, given: set[str]) -> ast.expr | None:
    """The part of some statements in which alone cells are read, with ``value`` in the place of the cell.

    Nothing where that is more than one cell, or where the part depends on more than what is given. Where the part comes
    to the same, so do the statements.
    """
    reads = [node for statement in body for node in ast.walk(statement) if _is_cell(node)]
    if not reads or len({ast.dump(node) for node in reads}) > 1:
        return None
    wanted = {id(node) for node in reads}
    part: ast.expr | None = None
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr) and wanted <= {id(each) for each in ast.walk(node)}:
                part = node  # the last one is the smallest: a walk goes from the outside to the inside
    if part is None or _is_cell(part):
        return None
    found = _InPlace(wanted).visit(copy.deepcopy(part, {id(node): node for node in reads}))
    free = {node.id for node in ast.walk(found) if isinstance(node, ast.Name)}
    fine = all(name in given or name == "value" or is_of(name, KNOWN) for name in free)
    return found if fine and not any(isinstance(n, ast.Call | ast.NamedExpr) for n in ast.walk(found)) else None


def asks_for_any(body: Block, part: ast.expr) -> bool:
    """Whether some statements ask if a part holds for the cell of any of some things, which stand in a table."""
    match body:
        case [
            ast.For(_, ast.Subscript(ast.Name(), ast.Name()), [ast.If(test, [ast.Return(ast.Constant(True))], [])]),
            ast.Return(ast.Constant(False)),
        ]:
            reads = [node for node in ast.walk(test) if _is_cell(node)]
            asked = _InPlace({id(node) for node in reads}).visit(
                copy.deepcopy(test, {id(node): node for node in reads})
            )
            return ast.dump(asked) == ast.dump(part)
        case _:
            return False


def _is_cell(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "S"


class _InPlace(ast.NodeTransformer):
    def __init__(self, wanted: set[int]) -> None:
        self.wanted = wanted

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if id(node) in self.wanted:
            return ast.copy_location(ast.Name("value", ast.Load()), node)
        return self.generic_visit(node)


class _Reads(ast.NodeVisitor):
    """Reads of cells whose number is known at the head of a function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.reads: dict[str, list[ast.expr]] = {}
        changed: dict[str, int] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                changed[node.id] = changed.get(node.id, 0) + 1
        first = {
            target.id
            for statement in function.body
            if isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Tuple)
            and isinstance(statement.value, ast.Name)
            and statement.value.id == "env"
            for target in statement.targets[0].elts
            if isinstance(target, ast.Name)
        }
        self.steady = {name for name in first if changed[name] == 1}
        self.looped = False
        for statement in function.body:
            self.visit(statement)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """What it is given may be called like a local."""

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._in_loop(node.body)

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        self._in_loop([*node.generators[0].ifs, *node.generators[1:], node.elt])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node)

    def _in_loop(self, nodes: Sequence[ast.AST]) -> None:
        before, self.looped = self.looped, True
        for node in nodes:
            self.visit(node)
        self.looped = before

    def _found(self, node: ast.expr) -> None:
        self.reads.setdefault(ast.dump(node), []).extend([node, node] if self.looped else [node])

    def visit_Call(self, node: ast.Call) -> None:
        """What is remembered is asked for once, too."""
        steady = isinstance(node.func, ast.Name) and is_of(node.func.id, PART)
        if steady and all(self._known(each) or self._is_read(each) for each in node.args):
            self._found(node)
        else:
            self.generic_visit(node)

    def _is_read(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == "S"
            and self._known(node.slice)
        )

    def _is_told(self, node: ast.Subscript) -> bool:
        """What something remembered tells of a cell."""
        match node.value:
            case ast.Attribute(ast.Call(ast.Name(name), arguments)):
                told = is_of(name, PART) and all(self._known(each) or self._is_read(each) for each in arguments)
                return bool(told) and (self._known(node.slice) or self._is_read(node.slice))
            case _:
                return False

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if self._is_read(node) or self._is_told(node):
            self._found(node)
        else:
            self.generic_visit(node)

    def _known(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                return name in self.steady
            case ast.BinOp(left, _, right):
                return self._known(left) and self._known(right)
            case _:
                return False


class _Replace(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self._replaced(node)

    def visit_Call(self, node: ast.Call) -> Any:
        return self._replaced(node)

    def _replaced(self, node: ast.expr) -> Any:
        name = self.names.get(ast.dump(node))
        if name is not None:
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        return self.generic_visit(node)
