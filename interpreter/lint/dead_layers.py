"""Dead layers of rules, overridden in every composition."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.remedies import remove
from interpreter.engine.game import Ruleset
from interpreter.language.model import RuleLayer
from interpreter.lint.places import Family, advice
from interpreter.loading.unused import reached

__all__ = ["dead_layers"]


def dead_layers(family: Family) -> Iterator[Diagnostic]:
    """Yield layers that are overridden wherever they are loaded: no `base` and no guard leads to them."""
    return family.in_all(_judged)


def _judged(ruleset: Ruleset) -> Iterator[tuple[RuleLayer, Diagnostic | None]]:
    live = reached(ruleset.model, ruleset.program.reach, ())
    for rule in ruleset.model.rules.values():
        is_called = rule.top.id in live  # `validate` reports rules that nothing calls
        for layer in rule.layers:
            finding = None
            if is_called and layer.id not in live:
                message = f"this layer of `{layer.rule}` is dead: wherever it is loaded, `{rule.top.file}` overrides it"
                finding = advice("L003", message, layer.span, remove(layer.span))
            yield layer, finding
