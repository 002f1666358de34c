"""Dead layers of rules, overridden in every composition."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.engine.unused import reached
from interpreter.language.model import RuleLayer
from interpreter.lint.places import Place, place_of

__all__ = ["dead_layers"]


def dead_layers(family: Sequence[Ruleset], files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield layers that are overridden wherever they are loaded: no `base` and no guard leads to them."""
    alive: set[Place] = set()
    dead: dict[Place, RuleLayer] = {}
    covered: dict[Place, RuleLayer] = {}
    for ruleset in family:
        reach = ruleset.program.reach
        live = reached(ruleset.model, reach, ())
        for rule in ruleset.model.rules.values():
            if rule.top.id not in live:  # `validate` reports rules that nothing calls
                alive.update(place_of(layer) for layer in rule.layers)
            for layer, above in zip(rule.layers, [*rule.layers[1:], None], strict=True):
                if layer.id in live or above is None:
                    alive.add(place_of(layer))
                else:
                    dead.setdefault(place_of(layer), layer)
                    covered.setdefault(place_of(layer), rule.top)
    for place, layer in dead.items():
        if place[0] in files and place not in alive:
            cover = covered[place].file
            message = f"this layer of `{layer.rule}` is dead: wherever it is loaded, `{cover}` overrides it"
            yield Diagnostic("L003", message, layer.span, help="remove it", severity="warning")
