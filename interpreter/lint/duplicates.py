"""Rules that say the same, or the same with other constants: somebody copied what could be said once.

In go all compositions of a family, so that rules of files which are never loaded together meet too. Names of locals,
citations and places do not matter, and what is smaller than ``SMALLEST`` may be alike by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.compare.outline import Outline
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import Model, RuleLayer
from interpreter.lint.places import Place, place_of

__all__ = ["SMALLEST", "duplicates", "has_rules"]

SMALLEST = 8
"""The fewest nodes of a checked tree that is compared: about a line of text."""

_Rule = tuple[RuleLayer, tuple[str, ...]]
"""A layer with the constants in it as others name them, in written order."""


def has_rules(ruleset: Ruleset, told: Collection[str]) -> bool:
    """Return whether something stands in these files that may say what another rule says."""
    return any(layer.span.file.name in told for layer, _ in _layers(ruleset.model))


def duplicates(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Of every rule the first one before it that is equal, or else differs in constants only."""
    seen: set[Place] = set()  # a rule may take part in many compositions
    alike: dict[Hashable, list[_Rule]] = {}
    for ruleset in family:
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
                other = next((other for other in others if other[1] == rule[1]), others[0])
                touched = any(side.span.file.name in told for side in (layer, other[0]))
                if touched and not (_brings_back(ruleset.model, layer, other[0]) and other[1] == rule[1]):
                    yield _told(rule, other)
            others.append(rule)


def _brings_back(model: Model, layer: RuleLayer, other: RuleLayer) -> bool:
    """Return whether a layer says again what a file between the two has replaced: nothing but a copy can do that."""
    if layer.rule not in model.rules:
        return False
    below = model.rules[layer.rule].layers[: max(0, layer.layer - 1)]
    return any(lower.span == other.span for lower in below)


def _told(rule: _Rule, other: _Rule) -> Diagnostic:
    name, twin = f"`{rule[0].spoken}`", f"`{other[0].spoken}` of `{other[0].file}`"
    pairs = dict.fromkeys(zip(rule[1], other[1], strict=True))
    differ = [f"`{here}` for `{there}`" for here, there in pairs if here != there]
    code, message, help = "L001", f"{name} duplicates {twin}", "say it once, in a file that both share"
    if differ:
        code, message = "L002", f"{name} equals {twin} except for constants: {', '.join(differ)}"
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
