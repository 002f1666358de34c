"""Rewriting of the IR, and the order of its functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from typing import cast

from msgspec.structs import replace

from interpreter.compiler.ir.ops import Function, Op, Part, Statement, fields_with_ops

__all__ = ["callees_first", "rewritten"]

Change = Callable[[Op], Part]


def callees_first(functions: Mapping[str, Function]) -> list[str]:
    """Return the names of functions in an order in which callees precede callers, except in circles."""
    order: dict[str, None] = {}
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in functions and name not in order and name not in open_:
            open_.add(name)
            for callee in functions[name].called:
                visit(callee)
            open_.discard(name)
            order[name] = None

    for name in functions:
        visit(name)
    return list(order)


def rewritten(body: tuple[Statement, ...], change: Change) -> tuple[Statement, ...]:
    """Rewrite all ops in statements with ``change``, from the inside out.

    Unchanged ops are reused. A statement may become a tuple of statements.
    """
    return cast("tuple[Statement, ...]", _rewritten(body, change))


def _rewritten(part: Part, change: Change) -> Part:
    if isinstance(part, tuple):
        items = [_rewritten(item, change) for item in part]
        if all(map(is_, items, part)):
            return part
        return tuple(one for item in items for one in (item if isinstance(item, tuple) else (item,)))
    changes: dict[str, object] = {}
    for name in fields_with_ops[type(part)]:
        old = getattr(part, name)
        if old and (new := _rewritten(old, change)) is not old:
            changes[name] = new
    return change(replace(part, **changes) if changes else part)
