"""Traversal and rewriting of the IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from interpreter.compiler.ir import ops

__all__ = ["inner", "parts", "rewritten"]

_PLAIN = frozenset(("rep", "span", "offset", "group", "operator", "name", "function", "label", "why", "of", "gives"))
"""Fields that contain no ops."""


_FIELDS: dict[type, tuple[str, ...]] = {}


def _parts(cls: Any) -> tuple[str, ...]:
    names = _FIELDS.get(cls)
    if names is None:
        names = _FIELDS[cls] = tuple(field.name for field in fields(cls) if field.name not in _PLAIN)
    return names


def parts(op: Any) -> list[Any]:
    """Return the direct parts of an op: ops and non-empty tuples of ops."""
    values = (getattr(op, name) for name in _parts(type(op)))
    return [part for part in values if isinstance(part, ops.Op | tuple)]


def inner(op: Any) -> Iterator[Any]:
    """Yield an op and all ops in it, in preorder; tuples are flattened."""
    stack = [op]
    while stack:
        current = stack.pop()
        if isinstance(current, tuple):
            stack.extend(reversed(current))
            continue
        yield current
        for name in reversed(_parts(type(current))):
            part = getattr(current, name)
            if isinstance(part, ops.Op | tuple) and part:
                stack.append(part)


def rewritten(op: Any, change: Callable[[Any], Any]) -> Any:
    """Rewrite an op and all ops in it with ``change``, from the inside out.

    Unchanged ops are reused. A statement in a list may become a tuple of statements.
    """
    if isinstance(op, tuple):
        items: list[Any] = []
        same = True
        for item in op:
            new = rewritten(item, change)
            same = same and new is item
            if isinstance(new, tuple):
                items.extend(new)
            else:
                items.append(new)
        return op if same else tuple(items)
    changed: dict[str, Any] = {}
    for name in _parts(type(op)):
        part = getattr(op, name)
        if isinstance(part, ops.Op | tuple):
            new = rewritten(part, change)
            if new is not part:
                changed[name] = new
    return change(replace(op, **changed) if changed else op)
