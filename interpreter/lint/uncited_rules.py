"""Rules without a citation."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.game import Ruleset
from interpreter.language.model import RuleLayer
from interpreter.lint.places import Family, advice

__all__ = ["uncited_rules"]


def uncited_rules(family: Family) -> Iterator[Diagnostic]:
    """Yield layers of rulesets with a rulebook if neither they nor their callers nor the rules they call cite anything.

    Files in which no rule cites anything are skipped: they follow no rulebook, though other files of the ruleset may.
    """
    following: set[str] = set()

    def judged(ruleset: Ruleset) -> Iterator[tuple[RuleLayer, Diagnostic | None]]:
        model, reach = ruleset.model, ruleset.program.reach
        layers = [layer for rule in model.rules.values() for layer in rule.layers]
        if not ruleset.composition.rulebooks or all(layer.span.file.name not in family.files for layer in layers):
            return
        following.update(layer.span.file.name for layer in layers if layer.all_cites)
        citing = {name for name, layer in reach.procedures.items() if layer.all_cites}
        for trigger in model.triggers.values():
            citing |= {case.procedure for case in trigger.cases if case.procedure and (case.cites or trigger.cites)}
        citing |= {rule.procedure for rule in model.standing.values() if rule.cites}
        callers: dict[str, set[str]] = {}
        for name, calls in reach.calls.items():
            for called in (*calls, *reach.procedures[name].facts.keeps):
                callers.setdefault(called, set()).add(name)
        for layer in layers:
            related = {sibling.id for sibling in model.rules[layer.rule].layers}
            related |= callers.get(layer.id, set()) | reach.calls[layer.id].keys()
            message = f"`{layer.rule}` cites nothing, and neither do its callers"
            finding = advice("L006", message, layer.span, "cite its statements, or the gap that it fills")
            yield layer, finding if citing.isdisjoint(related) else None

    found = list(family.in_all(judged))
    return (finding for finding in found if finding.span is not None and finding.span.file.name in following)
