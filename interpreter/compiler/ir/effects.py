"""What checked trees and ops read, write and may fail at: asked by the builder and by every pass."""

from __future__ import annotations

from typing import Any

from interpreter.compiler.lower import Program
from interpreter.language import core as c
from interpreter.language.walk import descendants

__all__ = ["may_fail"]

PARTIAL = frozenset(("first", "last", "top", "position", "min of list", "max of list", "distance", "path"))
"""Functions of the language that can find nothing: a failure, unless none is allowed there."""
STRICT = frozenset(("without", "mixes", "subsets", "price", "vacancy", "prices", "overflow", "space", "sum of bags"))
"""Functions of the language that refuse some arguments."""


def may_fail(program: Program, tree: Any, _open: frozenset[str] = frozenset()) -> bool:
    """Whether working out a tree can be a failure: then it is worked out wherever the plain form does."""
    for node in descendants(tree):
        match node:
            case c.Element() | c.TableCell():
                return True
            case c.Arithmetic(operator) if operator in ("*", "div", "mod"):
                return True
            case c.Arithmetic("+") if node.type.form in ("list", "set"):
                return True
            case c.RangeFrom(first, last):
                if not (isinstance(first, c.Const) and isinstance(last, c.Const)):
                    return True
            case c.Builtin(name) if name in STRICT or (name in PARTIAL and not node.or_none):
                return True
            case c.Loop(operation) if operation in ("first", "last", "min", "max") and not node.or_none:
                return True
            case c.CallRule() | c.CallBase():
                target = program.target(node)
                layer = program.reach.procedures[target]
                if target in _open or layer.form == "does":
                    return True
                if may_fail(program, (layer.body, layer.when), _open | {target}):
                    return True
                if layer.when is not None and layer.layer > 0:
                    below = c.CallBase(layer.rule, layer.layer - 1, ())
                    if may_fail(program, below, _open | {target}):
                        return True
    return False
