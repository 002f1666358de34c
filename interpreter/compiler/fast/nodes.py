"""The nodes of Python's trees. Finished functions are gone through often, and ``ast.walk`` looks at every field."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["walk"]

_NO_TREES = frozenset(
    {"arg", "attr", "conversion", "ctx", "id", "is_async", "name", "names", "op", "ops", "type_comment"}
)
"""Fields with names, numbers, contexts and operators."""


class _Places(dict[type, tuple[str, ...]]):
    """By the kind of a node the fields in which others may stand."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if kind is ast.Constant else kind._fields
        found = self[kind] = tuple(name for name in fields if name not in _NO_TREES)
        return found


_places = _Places()


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree, in no order, but for contexts and operators."""
    front: list[ast.AST | None] = [tree]
    while front:
        node = front.pop()
        if node is None:  # as the key of `**` in a dictionary
            continue
        yield node
        for name in _places[type(node)]:
            part = getattr(node, name, None)
            if type(part) is list:
                front.extend(part)
            elif part is not None:
                front.append(part)
