"""Readings of a doubt that no rule tells apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import KindType
from interpreter.language.walk import descendants
from interpreter.lint.places import Place, place_of

__all__ = ["equal_readings"]


def equal_readings(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Readings of a doubt of which no rule names any: they come to the same."""
    named: dict[tuple[Place, str], set[int]] = {}
    doubts = {}
    for ruleset in family:
        model = ruleset.model
        for doubt in model.interpretations.values():
            if doubt.span.file.name not in told:
                continue
            key = place_of(doubt.span), doubt.name
            doubts[key] = doubt
            named.setdefault(key, set()).update(_named(model, doubt.name, ruleset.program.reach.procedures.values()))
    for key, doubt in doubts.items():
        left = [reading for number, reading in enumerate(doubt.readings) if number not in named[key]]
        if len(left) > 1:
            listed = " and ".join(f"`{reading}`" for reading in left)
            message = f"no rule tells {listed} of `{doubt.name}` apart"
            yield Diagnostic("L005", message, doubt.span, help="say what one of them changes", severity="warning")


def _named(model: Model, doubt: str, layers: Iterable[RuleLayer]) -> Iterator[int]:
    """The readings that some text names."""
    trees: list[object] = [tree for layer in layers for tree in (layer.when, layer.body) if tree is not None]
    trees.extend(rule.test for rule in model.standing.values() if rule.test is not None)
    trees.extend(trigger.test for trigger in model.triggers.values() if trigger.test is not None)
    for tree in trees:
        for node in descendants(tree):
            if isinstance(node, core.Const) and isinstance(node.type, KindType) and node.type.name == doubt:
                yield node.value
