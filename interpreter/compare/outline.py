"""Outlines: normalised checked trees, without positions, names of locals, citations and constants.

Constants are collected separately, because their numbers mean different things in different rulesets: the first node of
one map has the same number as the first node of another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from interpreter.base.lazy import Lazy
from interpreter.base.tree import values_of
from interpreter.language import core
from interpreter.language.model import Model

__all__ = ["Outline"]


class Outline:
    """Makes outlines of one model. ``size`` counts the nodes visited, ``constants`` are those found in them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.size = 0
        self.constants: list[core.Const] = []

    def of(self, tree: object) -> Hashable:
        """Return the outline of a tree or a tuple of trees."""
        if isinstance(tree, tuple):
            return tuple(map(self.of, tree))
        if not isinstance(tree, core.Core):
            return tree
        self.size += 1
        if isinstance(tree, core.Const):
            self.constants.append(tree)
            return core.Const, tree.type
        if isinstance(tree, core.Keeps):  # the name of a delayed block contains that of its rule
            return core.Keeps, tree.edge, tree.of, tree.captured, self.of(self.model.blocks[tree.procedure].body)
        return type(tree), *map(self.of, _compared[type(tree)](tree))


_IGNORED: dict[type, str] = {
    core.Local: "name",
    core.CallBase: "layer",
    core.Requirement: "cites",
    core.Option: "cites",
    core.AmountOf: "size",
}
_compared = Lazy[type[core.Core], Callable[[object], tuple[object, ...]]](
    lambda kind: values_of([name for name in kind.__struct_fields__ if name not in ("span", _IGNORED.get(kind))])
)
"""Gets the fields of a kind of node that affect its behaviour."""
