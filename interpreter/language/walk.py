"""Tree traversal: all nodes of a tree, in source order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from interpreter.base.frozen import values_of, with_fields
from interpreter.base.lazy import Lazy
from interpreter.language import core
from interpreter.language.core import Core
from interpreter.language.nodes import Node

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["asks_in", "descendants", "is_printed", "rewritten", "size"]

T = TypeVar("T")


def descendants(tree: object) -> Iterator[DataclassInstance]:
    """Yield the node itself and all nodes below it, of any tree made of dataclasses and tuples."""
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            stack.extend(node[::-1])
        elif (children := _children[type(node)]) is not None:
            yield cast("DataclassInstance", node)
            stack.extend(children(node))


def asks_in(body: object) -> Iterator[core.Ask]:
    """Yield all decisions in steps, in source order. Expressions contain none, so they are skipped."""
    stack: list[object] = [body]
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            stack.extend(node[::-1])
        elif not isinstance(node, core.Typed) and (children := _children[type(node)]) is not None:
            if isinstance(node, core.Ask):
                yield node
            stack.extend(children(node))


_PRINTED = (
    core.Const, core.Local, core.Static, core.FieldOf, core.Arithmetic, core.Comparison, core.Logic, core.Negation,
    core.Negate, core.Condition, core.Default, core.MemberOf, core.KindTest,
)  # fmt: skip


def is_printed(tree: Core) -> bool:
    """Return whether an expression depends only on its locals and on printed data, not on the state of a game."""
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
    if not isinstance(tree, Core | Node) or not is_dataclass(tree):
        return tree
    changes: dict[str, object] = {}
    for field in fields(tree):
        old = getattr(tree, field.name)
        if (
            field.name not in _APART[isinstance(tree, Node)]
            and (new := rewritten(old, change)) is not old
            and new != old
        ):
            changes[field.name] = new
    return cast(T, change(with_fields(tree, changes)))


_APART = ("span", "type"), ("span", "name_span")
"""Fields that hold no nodes: positions, and the types of checked trees."""


def _children_of(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """Return a function that returns the children of a node of this class, last to first. None: not a node."""
    if not is_dataclass(kind):
        return None
    places = ("span", "name_span", "kind_span", "type")
    return values_of([field.name for field in reversed(fields(kind)) if field.name not in places])


_children = Lazy(_children_of)
