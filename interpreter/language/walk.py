"""Tree traversal: all nodes of a tree, in source order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from operator import is_
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.lazy import Lazy
from interpreter.base.tree import field_types, values_of
from interpreter.language import core

__all__ = ["children", "descendants", "is_printed", "nested", "rewritten"]

T = TypeVar("T")
N = TypeVar("N")


def children(tree: object) -> tuple[object, ...]:
    """Return what stands directly below a node, or in a tuple."""
    below = _children[type(tree)]
    return tree if type(tree) is tuple else below(tree) if below is not None else ()


def descendants(tree: object) -> Iterator[Struct]:
    """Yield the node itself and all nodes below it, of any tree made of records and tuples."""
    stack: list[Any] = [tree]
    pop, push = stack.pop, stack.extend
    while stack:
        node = pop()
        kind = type(node)
        if kind is tuple:
            push(node[::-1])
        elif (children := _children[kind]) is not None:
            yield node
            push(children(node))


def nested(tree: object) -> Iterator[tuple[Struct, int]]:
    """Yield all nodes of a tree as :func:`descendants` does, each with its level; that of the tree is 1."""
    stack, levels = [tree], [1]
    while stack:
        node, level = stack.pop(), levels.pop()
        if type(node) is tuple:
            stack.extend(node[::-1])
            levels.extend([level] * len(node))
        elif (children := _children[type(node)]) is not None:
            yield cast(Struct, node), level
            below = children(node)
            stack.extend(below)
            levels.extend([level + 1] * len(below))


_PRINTED = core.Const | core.Local | core.Static | core.FieldOf | core.Operation


def is_printed(tree: object) -> bool:
    """Return whether a tree depends only on its locals and on printed data, not on the state of a game."""
    return all(isinstance(node, _PRINTED) for node in descendants(tree) if isinstance(node, core.Typed))


def rewritten(tree: T, change: Callable[[N], object], *kinds: type) -> T:
    """Return a tree with ``change`` applied to every node, or those of these classes, bottom up. Unchanged parts are
    reused. One of several nodes may become a tuple of nodes."""

    def walk(node: Any) -> Any:
        kind = type(node)
        if kind is tuple:
            after = [walk(item) for item in node]
            if all(map(is_, after, node)):
                return node
            pairs = zip(node, after, strict=True)
            several = (new if type(new) is tuple and type(old) is not tuple else (new,) for old, new in pairs)
            return tuple(chain.from_iterable(several))
        if (names := _places[kind]) is None:
            return node
        changes: dict[str, object] | None = None
        for name in names:
            if (old := getattr(node, name)) and (new := walk(old)) is not old:
                changes = {**(changes or {}), name: new}
        after = replace(node, **changes) if changes else node
        return change(after) if not kinds or kind in kinds else after

    return cast(T, walk(tree))


PLAIN = {"Span", "str", "int", "bool", "Builtin"}
"""Types of fields that hold no nodes."""


def _places_of(kind: type) -> list[str] | None:
    """Return the names of the fields of a node that can hold nodes. None: not a node."""
    if not issubclass(kind, Struct):
        return None
    apart: tuple[str, ...] = getattr(kind, "apart", ())
    return [name for name, type_ in field_types(kind).items() if type_ not in PLAIN and name not in apart]


_places = Lazy(_places_of)


def _children_of(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """Return a function that returns the children of a node of this class, last to first. None: not a node."""
    names = _places[kind]
    return values_of([name for name in reversed(names) if name != "type"]) if names is not None else None


_children = Lazy(_children_of)
