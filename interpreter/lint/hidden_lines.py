"""Events that hide a card which lies open a moment later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.tree import parts
from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import ZoneType
from interpreter.language.walk import descendants
from interpreter.lint.places import Family, advice

__all__ = ["hidden_lines"]


def hidden_lines(family: Family) -> Iterator[Diagnostic]:
    """Yield events that name a card of a hidden zone before it moves to an open one."""
    for ruleset, layer in family.procedures():
        hidden = {index for node in descendants(layer.body) for index in _filled(ruleset.model, node)}
        opened: dict[int, int] = {}
        for index, start in (found for node in descendants(layer.body) for found in _opened(ruleset.model, node)):
            opened[index] = min(start, opened.get(index, start))
        blocks = [layer.body, *(part for node in descendants(layer.body) for part in parts(node))]
        for block in blocks if hidden else ():
            if type(block) is tuple:
                yield from _early(block, hidden, opened)


def _filled(model: Model, node: object) -> Iterator[int]:
    """Yield the local that a node fills from hidden zones, and from no open one."""
    match node:
        case core.SetLocal(index, source) | core.Choice(index, _, source) | core.Iterate(index, source):
            if _openness(model, source) == {False}:
                yield index


def _openness(model: Model, tree: object) -> set[bool]:
    """Return whether everyone sees them, for the zones in a tree."""
    groups = [model.groups[node.group] for node in descendants(tree) if isinstance(node, core.Cell)]
    return {group.seen == "everyone" for group in groups if isinstance(group.type, ZoneType)}


def _opened(model: Model, node: object) -> Iterator[tuple[int, int]]:
    """Yield the local whose card a node moves to an open zone, and where it does so."""
    match node:
        case core.MoveCards(core.Local(index=index, span=span), target) if _openness(model, target) == {True}:
            yield index, span.start


def _early(block: Sequence[object], hidden: set[int], opened: Mapping[int, int]) -> Iterator[Diagnostic]:
    """Yield the events of a block that come before the first move which opens their card."""
    noted: dict[int, core.Notes] = {}
    for step in block:
        match step:
            case core.Notes(arguments=arguments):
                noted |= {value.index: step for value in arguments if isinstance(value, core.Local)}
            case core.MoveCards(core.Local(index=index, name=name)) if index in hidden.intersection(noted, opened):
                if noted[index].span.start < opened[index]:
                    message = f"others do not see `{name}` in this line, though it lies open afterwards"
                    yield advice("L014", message, noted[index].span, "note the event after the move")
