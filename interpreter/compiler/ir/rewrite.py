"""Traversal and rewriting of the IR."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import cast

from interpreter.base.frozen import with_fields
from interpreter.compiler.ir.ops import Call, Function, Op, Statement, TailCall

__all__ = ["Part", "called", "callees_first", "inner", "parts", "rewritten"]

Part = Op | tuple["Part", ...]
Change = Callable[[Op], Part]


_known: dict[type[Op], tuple[str, ...]] = {}


def _names(cls: type[Op]) -> tuple[str, ...]:
    """Return the names of the fields that contain ops, by their annotations."""
    if cls not in _known:
        typed = ((field.name, str(field.type)) for field in fields(cls))
        _known[cls] = tuple(name for name, type_ in typed if "Value" in type_ or "Statement" in type_)
    return _known[cls]


def parts(op: Op) -> list[Part]:
    """Return the direct parts of an op: ops and non-empty tuples of ops."""
    return [part for name in _names(type(op)) if (part := getattr(op, name))]


def inner(part: Part) -> Iterator[Op]:
    """Yield an op and all ops in it, in preorder; tuples are flattened."""
    stack: list[Part] = [part]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple):
            stack.extend(reversed(current))
        else:
            yield current
            stack.extend(reversed(parts(current)))


def called(part: Part) -> list[str]:
    """Return the functions that ops call, once for each call."""
    return [op.function for op in inner(part) if isinstance(op, Call | TailCall)]


def callees_first(functions: Mapping[str, Function]) -> list[str]:
    """Return the names of functions in an order in which callees precede callers, except in circles."""
    order: dict[str, None] = {}
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in functions and name not in order and name not in open_:
            open_.add(name)
            for callee in called(functions[name].body):
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
        items: list[Part] = []
        for item in part:
            new = _rewritten(item, change)
            items.extend(new if isinstance(new, tuple) else (new,))
        is_same = len(items) == len(part) and all(map(operator.is_, items, part))
        return part if is_same else tuple(items)
    changes: dict[str, object] = {}
    for name in _names(type(part)):
        old = getattr(part, name)
        if old and (new := _rewritten(old, change)) is not old:
            changes[name] = new
    return change(with_fields(part, changes))
