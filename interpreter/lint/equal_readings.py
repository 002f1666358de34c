"""Readings of an interpretation that no rule distinguishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import KindType
from interpreter.language.walk import descendants
from interpreter.lint.places import Family, Place, advice, place_of

__all__ = ["equal_readings"]


def equal_readings(family: Family) -> Iterator[Diagnostic]:
    """Yield interpretations with several readings that no rule names: they have the same effect."""
    named: dict[tuple[Place, str], set[int]] = {}
    interpretations = {}
    for ruleset in family.rulesets:
        model = ruleset.model
        for interpretation in model.interpretations.values():
            if interpretation.span.file.name not in family.files:
                continue
            key = place_of(interpretation.span), interpretation.name
            interpretations[key] = interpretation
            layers = ruleset.program.reach.procedures.values()
            named.setdefault(key, set()).update(_named(model, interpretation.name, layers))
    for key, interpretation in interpretations.items():
        unnamed = [reading for number, reading in enumerate(interpretation.readings) if number not in named[key]]
        if len(unnamed) > 1:
            listed = " and ".join(f"`{reading}`" for reading in unnamed)
            message = f"no rule distinguishes {listed} of `{interpretation.name}`"
            yield advice("L005", message, interpretation.span, "write what one of them changes")


def _named(model: Model, interpretation: str, layers: Iterable[RuleLayer]) -> Iterator[int]:
    """Yield the numbers of the readings that rule text names."""
    trees: list[object] = [tree for layer in layers for tree in (layer.when, layer.body) if tree is not None]
    trees.extend(rule.test for rule in model.standing.values() if rule.test is not None)
    trees.extend(trigger.test for trigger in model.triggers.values() if trigger.test is not None)
    for tree in trees:
        for node in descendants(tree):
            if isinstance(node, core.Const) and isinstance(node.type, KindType) and node.type.name == interpretation:
                yield node.value
