"""Rules that no scenario shows.

That a statement is *proved*, as ``coverage --mutate`` says it, asks for more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import RuleLayer
from interpreter.lint.places import Place, cites_of, place_of

__all__ = ["untested_rules"]


def untested_rules(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Layers that cite statements of which no scenario cites any, in a family that has scenarios."""
    name = family[0].model.family
    layers = (layer for ruleset in family for rule in ruleset.model.rules.values() for layer in rule.layers)
    here = (layer for layer in layers if layer.span.file.name in told and layer.file.partition("/")[0] == name)
    citing: dict[Place, tuple[RuleLayer, tuple[str, ...]]] = {}
    for layer in here:
        if cites := cites_of(layer):
            citing.setdefault(place_of(layer), (layer, cites))
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
