"""Walking trees: every node below one, in written order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["descendants"]


def descendants(tree: Any) -> Iterator[Any]:
    """The node itself and all nodes below it, of any tree made of dataclasses and tuples."""
    if isinstance(tree, tuple):
        for item in tree:
            yield from descendants(item)
    elif is_dataclass(tree) and not isinstance(tree, type):
        yield tree
        for field in fields(tree):
            if field.name not in ("span", "name_span", "kind_span", "type"):
                yield from descendants(getattr(tree, field.name))
