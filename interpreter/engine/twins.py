"""Rules that say the same, or the same with other constants: somebody copied what could be said once.

In go all compositions of a family, so that rules of files which are never loaded together meet too. Names of locals,
citations and places do not matter, and what is smaller than ``SMALLEST`` may be alike by chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields
from functools import cache

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core as c
from interpreter.language.model import Model, RuleLayer

__all__ = ["SMALLEST", "twins"]

SMALLEST = 8
"""The fewest nodes of a checked tree that is compared: about a line of text."""

_Rule = tuple[RuleLayer, tuple[str, ...]]
"""A layer with the constants in it as others name them, in written order."""


def twins(family: Sequence[Ruleset]) -> Iterator[Diagnostic]:
    """Of every rule the first one before it that is equal, or else differs in constants only."""
    seen: set[tuple[str, int]] = set()  # a rule may take part in many compositions
    alike: dict[Hashable, list[_Rule]] = {}
    for ruleset in family:
        for layer, around in _layers(ruleset.model):
            place = (layer.span.file.name, layer.span.start)
            if place in seen:
                continue
            seen.add(place)
            outline, types = _Outline(ruleset.model), tuple(type_ for _, type_ in layer.parameters)
            tree = outline.of((layer.form, types, layer.result, around, layer.when, layer.body))
            if outline.size < SMALLEST:
                continue
            rule = layer, tuple(ruleset.names.text(constant.value, constant.type) for constant in outline.constants)
            others = alike.setdefault(tree, [])
            if others:
                yield _told(rule, next((other for other in others if other[1] == rule[1]), others[0]))
            others.append(rule)


def _told(rule: _Rule, other: _Rule) -> Diagnostic:
    name, twin = f"`{rule[0].spoken}`", f"`{other[0].spoken}` of `{other[0].file}`"
    pairs = dict.fromkeys(zip(rule[1], other[1], strict=True))
    differ = [f"`{here}` for `{there}`" for here, there in pairs if here != there]
    code, message, help = "L001", f"{name} says the same as {twin}", "say it once, in a file that both share"
    if differ:
        code, message = "L002", f"{name} is {twin}, but for constants: {', '.join(differ)}"
        help = "say it once, and what differs in a parameter, a rule or a table"
    note = Note(f"`{other[0].spoken}` stands here", other[0].span)
    return Diagnostic(code, message, rule[0].span, (note,), help, "warning")


def _layers(model: Model) -> Iterator[tuple[RuleLayer, object]]:
    """The layers of rules; the texts of triggers and standing rules, with what stands around them."""
    yield from ((layer, None) for rule in model.rules.values() for layer in rule.layers)
    for trigger in model.triggers.values():
        handlers = (case.procedure for case in trigger.cases if case.procedure is not None)
        yield from ((model.blocks[handler], (trigger.event, trigger.test)) for handler in handlers)
    for standing in model.standing.values():
        yield model.blocks[standing.procedure], (standing.binders, standing.test)


class _Outline:
    """Draws trees without their constants, which it collects; ``size`` is how many nodes it has passed."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.size = 0
        self.constants: list[c.Const] = []

    def of(self, tree: object) -> Hashable:
        if isinstance(tree, tuple):
            return tuple(map(self.of, tree))
        if not isinstance(tree, c.Core):
            return tree
        self.size += 1
        if isinstance(tree, c.Const):
            self.constants.append(tree)
            return c.Const, tree.type
        if isinstance(tree, c.Keeps):  # the name of a kept block has the name of its rule in it
            return c.Keeps, tree.edge, tree.of, tree.captured, self.of(self.model.blocks[tree.procedure].body)
        kind: type = type(tree)
        return kind, *(self.of(getattr(tree, name)) for name in _compared(kind))


@cache
def _compared(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that say what it does."""
    ignored = {c.Local: "name", c.CallBase: "layer", c.Requirement: "cites"}
    return tuple(field.name for field in fields(kind) if field.name not in ("span", ignored.get(kind)))
