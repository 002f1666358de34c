"""Walking trees: every node below one, in written order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["descendants", "size"]


def descendants(tree: Any) -> Iterator[Any]:
    """The node itself and all nodes below it, of any tree made of dataclasses and tuples."""
    if isinstance(tree, tuple):
        for item in tree:
            yield from descendants(item)
        return
    children = _children(type(tree))
    if children is None:
        return
    yield tree
    for name in children:
        below = getattr(tree, name)
        if below is not None and type(below) not in (str, int, bool):
            yield from descendants(below)


def size(tree: Any) -> int:
    """How many nodes a tree has: as many as :func:`descendants` gives, sooner."""
    found = 0
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if type(node) is tuple:
            waiting.extend(node)
            continue
        children = _children(type(node))
        if children is not None:
            found += 1
            waiting.extend([below for name in children if type(below := getattr(node, name)) not in _LEAVES])
    return found


_LEAVES = frozenset({str, int, bool, type(None)})
_known: dict[type, tuple[str, ...] | None] = {}


def _children(of: type) -> tuple[str, ...] | None:
    """The fields of a kind of node in which further nodes may stand; nothing for what is no node."""
    if of not in _known:
        places = ("span", "name_span", "kind_span", "type")
        _known[of] = tuple(f.name for f in fields(of) if f.name not in places) if is_dataclass(of) else None
    return _known[of]
