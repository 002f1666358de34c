"""Trees of finished functions: copies of them, the names in them, and where they stand."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from interpreter.compiler.fast.nodes import walk
from interpreter.compiler.fast.parts import part_of
from interpreter.compiler.fast.quote import Quote

__all__ = [
    "copied",
    "is_frame",
    "is_simple",
    "leaves",
    "loaded_in",
    "names_in",
    "placed",
    "quote_at",
    "stored_in",
    "takes_state",
]

FRAMES = re.compile("(asked|env|frame|up|values|back|given_N[0-9]+)(_I[0-9]+)?")
"""Names of tuples whose parts can be read without a failure; a local of a rule has a number at its end."""

NO_NAMES: Mapping[str, str] = {}


def copied(node: Any, names: Mapping[str, str] = NO_NAMES) -> Any:
    """A tree of its own, in which some names are others."""
    kind = type(node)
    if kind is ast.Name:
        made: Any = ast.Name(names.get(node.id, node.id), node.ctx)
    elif kind is ast.Constant:
        made = ast.Constant(node.value)
    elif kind is ast.arg:
        made = ast.arg(names.get(node.arg, node.arg), None)
    else:
        made = kind()
        for name in kind._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value = [copied(each, names) if isinstance(each, ast.AST) else each for each in value]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context | ast.operator | ast.cmpop):
                value = copied(value, names)
            setattr(made, name, value)
        if kind is ast.Subscript and hasattr(node, "width"):
            part_of(made, node.width)
    return ast.copy_location(made, node)


def placed(node: Any, place: ast.AST) -> Any:
    """A node, which stands now where another one does."""
    return ast.copy_location(node, place)


def quote_at(place: ast.stmt | ast.expr) -> Quote:
    """What makes new nodes that stand where this one does."""
    found = Quote()
    found.stay(place)
    return found


def names_in(node: ast.AST) -> set[str]:
    """All names in a tree, and those of parameters."""
    return {each for inner in walk(node) if (each := _named(inner)) is not None}


def _named(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None


def stored_in(node: ast.AST) -> set[str]:
    """Names that are given something anywhere in a tree, those of inner scopes too."""
    found = set()
    for each in walk(node):
        if (isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)) or (
            isinstance(each, ast.arg) and not isinstance(node, ast.FunctionDef)
        ):
            found.add(_named(each) or "")
    return found


def loaded_in(node: ast.AST) -> set[str]:
    """Names that are read; what is changed in place is read, too."""
    found = {each.id for each in walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    changed = (each.target for each in walk(node) if isinstance(each, ast.AugAssign))
    return found | {target.id for target in changed if isinstance(target, ast.Name)}


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block surely leaves its function."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and leaves(last.body) and leaves(last.orelse)
    return isinstance(last, ast.Return)


def takes_state(function: ast.FunctionDef) -> bool:
    """Whether a function is given the state first."""
    return bool(function.args.args) and function.args.args[0].arg == "state"


def is_simple(node: ast.expr) -> bool:
    """Whether it is a name or a constant."""
    return isinstance(node, ast.Name | ast.Constant)


def is_frame(name: str) -> bool:
    """Whether a name is one of a tuple whose parts can be read without a failure."""
    return FRAMES.fullmatch(name) is not None
