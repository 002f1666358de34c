"""Duplicate rules: rules that are equal, or equal except for constants.

Takes compositions of a family with all its files, so that rules of files that are never loaded together are compared
too. Ignores names of locals, citations and positions, and trees smaller than ``SMALLEST``, which may be equal by
chance.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.remedies import remove
from interpreter.compare.outline import Outline
from interpreter.engine.game import Ruleset
from interpreter.language.model import Model, RuleLayer
from interpreter.lint.places import Family, Place, advice, place_of

__all__ = ["SMALLEST", "duplicates", "has_rules"]

SMALLEST = 8
"""Smallest number of nodes of a compared tree: about one line of text."""

_Rule = tuple[RuleLayer, tuple[str, ...]]
"""A layer and the public text of its constants, in written order."""


def has_rules(ruleset: Ruleset, files: Collection[str]) -> bool:
    """Return whether any of these files contains rules."""
    return any(layer.span.file.name in files for layer, _ in _layers(ruleset.model))


def duplicates(family: Family) -> Iterator[Diagnostic]:
    """Yield each rule that equals an earlier one, or else differs from it in constants only."""
    seen: set[Place] = set()  # a rule may belong to many compositions
    alike: dict[Hashable, list[_Rule]] = {}
    for ruleset in family.rulesets:
        for layer, around in _layers(ruleset.model):
            place = place_of(layer)
            if place in seen:
                continue
            seen.add(place)
            outline, types = Outline(ruleset.model), tuple(type_ for _, type_ in layer.parameters)
            tree = outline.of((layer.form, types, layer.result, around, layer.when, layer.body))
            if outline.size < SMALLEST:
                continue
            rule = layer, tuple(ruleset.names.text(constant.value, constant.type) for constant in outline.constants)
            others = alike.setdefault(tree, [])
            if others:
                twin = next((twin for twin in others if twin[1] == rule[1]), others[0])
                touched = any(side.span.file.name in family.files for side in (layer, twin[0]))
                if touched and not (_brings_back(ruleset.model, layer, twin[0]) and twin[1] == rule[1]):
                    yield _finding(rule, twin)
            others.append(rule)


def _brings_back(model: Model, layer: RuleLayer, other: RuleLayer) -> bool:
    """Return whether a layer restores a layer that a file in between has replaced, which needs a copy."""
    if layer.rule not in model.rules:
        return False
    below = model.rules[layer.rule].layers[: max(0, layer.layer - 1)]
    return any(lower.span == other.span for lower in below)


def _finding(rule: _Rule, other: _Rule) -> Diagnostic:
    name, twin = f"`{rule[0].spoken}`", f"`{other[0].spoken}` of `{other[0].file}`"
    pairs = dict.fromkeys(zip(rule[1], other[1], strict=True))
    differ = [f"`{here}` for `{there}`" for here, there in pairs if here != there]
    code, message = "L001", f"{name} duplicates {twin}"
    help: str = "write it once, in a file that both share"
    if (rule[0].rule, rule[0].layer) == (other[0].rule, other[0].layer + 1):
        help = remove(rule[0].span, "remove it")
    if differ:
        code, message = "L002", f"{name} equals {twin} except for constants: {', '.join(differ)}"
        help = "write it once, with a parameter, a rule or a table for the differences"
    note = Note(f"`{other[0].spoken}` stands here", other[0].span)
    return advice(code, message, rule[0].span, help, note)


def _layers(model: Model) -> Iterator[tuple[RuleLayer, object]]:
    """Yield the layers of rules, then the bodies of triggers and standing rules with their conditions."""
    yield from ((layer, None) for rule in model.rules.values() for layer in rule.layers)
    for trigger in model.triggers.values():
        handlers = (case.procedure for case in trigger.cases if case.procedure is not None)
        yield from ((model.blocks[handler], (trigger.event, trigger.test)) for handler in handlers)
    for standing in model.standing.values():
        yield model.blocks[standing.procedure], (standing.binders, standing.test)
