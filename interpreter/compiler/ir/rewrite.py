"""Walking through the IR, and making it anew with some ops replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from interpreter.compiler.ir import ops

__all__ = ["inner", "parts", "rewritten"]

_PLAIN = frozenset(("rep", "span", "offset", "group", "operator", "name", "function", "label", "why", "of", "gives"))
"""Fields that hold no op."""


_FIELDS: dict[type, tuple[str, ...]] = {}


def _parts(cls: Any) -> tuple[str, ...]:
    found = _FIELDS.get(cls)
    if found is None:
        found = _FIELDS[cls] = tuple(field.name for field in fields(cls) if field.name not in _PLAIN)
    return found


def parts(op: Any) -> list[Any]:
    """The ops, and tuples of ops, that stand directly in an op."""
    found = (getattr(op, name) for name in _parts(type(op)))
    return [part for part in found if isinstance(part, ops.Op | tuple)]


def inner(op: Any) -> Iterator[Any]:
    """The op and all ops in it, each before those in it; also tuples of ops."""
    waiting = [op]
    while waiting:
        now = waiting.pop()
        if isinstance(now, tuple):
            waiting.extend(reversed(now))
            continue
        yield now
        for name in reversed(_parts(type(now))):
            part = getattr(now, name)
            if isinstance(part, ops.Op | tuple) and part:
                waiting.append(part)


def rewritten(op: Any, change: Callable[[Any], Any]) -> Any:
    """The op with each op in it replaced by what ``change`` makes of it, from the inside out.

    What stays the same is not made anew. A statement in a list of statements may become a tuple of several.
    """
    if isinstance(op, tuple):
        found: list[Any] = []
        same = True
        for each in op:
            new = rewritten(each, change)
            same = same and new is each
            if isinstance(new, tuple):
                found.extend(new)
            else:
                found.append(new)
        return op if same else tuple(found)
    changed: dict[str, Any] = {}
    for name in _parts(type(op)):
        part = getattr(op, name)
        if isinstance(part, ops.Op | tuple):
            new = rewritten(part, change)
            if new is not part:
                changed[name] = new
    return change(replace(op, **changed) if changed else op)
