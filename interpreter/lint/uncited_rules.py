"""Rules without a citation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import RuleLayer
from interpreter.lint.places import Place, cites_of, place_of

__all__ = ["uncited_rules"]


def uncited_rules(family: Sequence[Ruleset], files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield layers of rulesets with a rulebook if neither they nor their callers nor the rules they call cite anything.

    Files in which no rule cites anything are skipped: they follow no rulebook, though other files of the ruleset may.
    """
    backed: set[Place] = set()
    following: set[str] = set()
    uncited: dict[Place, RuleLayer] = {}
    known: dict[tuple[Place, str], bool] = {}

    def has_cites(layer: RuleLayer) -> bool:
        """Return whether a layer cites anything. Cached, as a layer is the same in every composition."""
        key = place_of(layer), layer.id
        if key not in known:
            known[key] = bool(cites_of(layer))
        return known[key]

    for ruleset in family:
        if not ruleset.composition.rulebooks:
            continue
        layers = [layer for rule in ruleset.model.rules.values() for layer in rule.layers]
        if not any(layer.span.file.name in files for layer in layers):
            continue
        reach = ruleset.program.reach
        cites = {name: has_cites(layer) for name, layer in reach.procedures.items()}
        for trigger in ruleset.model.triggers.values():
            cites.update(
                {case.procedure: True for case in trigger.cases if case.procedure and (case.cites or trigger.cites)}
            )
        cites.update({rule.procedure: True for rule in ruleset.model.standing.values() if rule.cites})
        following |= {layer.span.file.name for layer in layers if has_cites(layer)}
        callers: dict[str, set[str]] = {}
        for name, calls in reach.calls.items():
            for called in (*calls, *reach.procedures[name].facts.keeps):
                callers.setdefault(called, set()).add(name)
        for rule in ruleset.model.rules.values():
            for layer in rule.layers:
                place = place_of(layer)
                related = {layer.id} | callers.get(layer.id, set()) | reach.calls[layer.id].keys()
                related |= {sibling.id for sibling in rule.layers}
                if any(cites.get(name, False) for name in related):
                    backed.add(place)
                else:
                    uncited.setdefault(place, layer)
    for place, layer in uncited.items():
        if place not in backed and place[0] in following and place[0] in files:
            message = f"`{layer.rule}` cites nothing, and neither do its callers"
            help = "cite its statements, or the gap that it fills"
            yield Diagnostic("L006", message, layer.span, help=help, severity="warning")
