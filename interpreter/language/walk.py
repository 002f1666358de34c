"""Tree traversal: all nodes of a tree, in source order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.lazy import Lazy
from interpreter.base.tree import values_of
from interpreter.language import core
from interpreter.language.core import Core
from interpreter.language.nodes import Node

__all__ = ["descendants", "is_printed", "nested", "rewritten", "size"]

T = TypeVar("T")


def descendants(tree: object) -> Iterator[Struct]:
    """Yield the node itself and all nodes below it, of any tree made of records and tuples."""
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            stack.extend(node[::-1])
        elif (children := _children[type(node)]) is not None:
            yield cast(Struct, node)
            stack.extend(children(node))


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


_PRINTED = (
    core.Const, core.Local, core.Static, core.FieldOf, core.Arithmetic, core.Comparison, core.Logic, core.Negation,
    core.Negate, core.Condition, core.Default, core.MemberOf, core.KindTest,
)  # fmt: skip


def is_printed(tree: object) -> bool:
    """Return whether a tree depends only on its locals and on printed data, not on the state of a game."""
    return all(isinstance(node, _PRINTED) for node in descendants(tree) if isinstance(node, core.Typed))


def size(tree: object) -> int:
    """Return the number of nodes in a tree, faster than counting :func:`descendants`."""
    count = 0
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            stack.extend(node)
        elif (children := _children[type(node)]) is not None:
            count += 1
            stack.extend(children(node))
    return count


def rewritten(tree: T, change: Callable[[object], object]) -> T:
    """Return a tree with ``change`` applied to every node, bottom up."""
    if type(tree) is tuple:
        return cast(T, tuple(rewritten(item, change) for item in cast("tuple[object, ...]", tree)))
    if not isinstance(tree, Core | Node):
        return tree
    changes: dict[str, object] = {}
    apart = _APART[isinstance(tree, Node)]
    for name in tree.__struct_fields__:
        old = getattr(tree, name)
        if name not in apart and (new := rewritten(old, change)) is not old and new != old:
            changes[name] = new
    return cast(T, change(replace(tree, **changes) if changes else tree))


_APART = ("span", "type"), ("span", "name_span")
"""Fields that hold no nodes: positions, and the types of checked trees."""


def _children_of(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """Return a function that returns the children of a node of this class, last to first. None: not a node."""
    if not issubclass(kind, Struct):
        return None
    places = ("span", "name_span", "type")
    return values_of([name for name in reversed(kind.__struct_fields__) if name not in places])


_children = Lazy(_children_of)
