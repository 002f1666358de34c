"""Rules without a source, and rules that no scenario shows.

In go all compositions of a family. That a statement is *proved*, as ``coverage --mutate`` says it, asks for more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.citations import options_of
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import RuleLayer

__all__ = ["shown", "uncited"]

Place = tuple[str, int]


def uncited(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Layers of rulesets with a rulebook that cite nothing, though nothing that calls them and nothing that they call
    cites anything either: a part of a rule that cites needs no citation of its own, nor does an outline of such.

    A file in which no rule cites anything follows no rulebook, though another one of the ruleset may."""
    backed: set[Place] = set()
    following: set[str] = set()
    found: dict[Place, RuleLayer] = {}
    known: dict[tuple[Place, str], bool] = {}

    def has_cites(layer: RuleLayer) -> bool:
        """A layer says the same in every composition."""
        key = (layer.span.file.name, layer.span.start), layer.id
        if key not in known:
            known[key] = bool(_cites(layer))
        return known[key]

    for ruleset in family:
        if not ruleset.composition.rulebooks:
            continue
        layers = [layer for rule in ruleset.model.rules.values() for layer in rule.layers]
        if not any(layer.span.file.name in told for layer in layers):
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
        for name, facts in reach.own.items():
            for called in facts.calls | facts.keeps:
                callers.setdefault(called, set()).add(name)
        for rule in ruleset.model.rules.values():
            for layer in rule.layers:
                place = layer.span.file.name, layer.span.start
                around = {layer.id} | callers.get(layer.id, set()) | reach.own[layer.id].calls
                around |= {other.id for other in rule.layers}
                if any(cites.get(name, False) for name in around):
                    backed.add(place)
                else:
                    found.setdefault(place, layer)
    for place, layer in found.items():
        if place not in backed and place[0] in following and place[0] in told:
            message = f"`{layer.rule}` cites nothing, and neither do its callers"
            help = "cite the statements that say it, or a gap that it fills"
            yield Diagnostic("L006", message, layer.span, help=help, severity="warning")


def _cites(layer: RuleLayer) -> tuple[str, ...]:
    lines = layer.body if isinstance(layer.body, tuple) else ()
    said = [line.cites for line in lines if isinstance(line, core.Requirement)]
    said += [option.cites for option in options_of(layer.body)]
    return (*layer.cites, *(cite for cites in said for cite in cites))


def shown(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Layers that cite statements of which no scenario cites any, in a family that has scenarios."""
    name = family[0].model.family
    layers = (layer for ruleset in family for rule in ruleset.model.rules.values() for layer in rule.layers)
    here = (each for each in layers if each.span.file.name in told and each.file.partition("/")[0] == name)
    citing: dict[Place, tuple[RuleLayer, tuple[str, ...]]] = {}
    for layer in here:
        if cites := _cites(layer):
            citing.setdefault((layer.span.file.name, layer.span.start), (layer, cites))
    proved = _proved(family[0]) if citing else set()
    for layer, cites in citing.values():
        if proved and proved.isdisjoint(cites):
            message = f"no scenario tests `{layer.rule}`: none cites {', '.join(cites[:3])}"
            help = "write one that fails without it"
            yield Diagnostic("L010", message, layer.span, help=help, severity="warning")


def _proved(ruleset: Ruleset) -> set[str]:
    """The statements that scenarios of its family cite."""
    from interpreter.testing.scenarios import read_scenarios

    shelf, family = ruleset.shelf, ruleset.model.family
    ids = (id for id in shelf.ids("scenarios") if id.partition("/")[0] == family)
    read = (document for id in ids if (document := shelf.read("scenarios", id)[0]) is not None)
    return {cite for document in read for scenario in read_scenarios(document)[0] for cite in scenario.statements}
