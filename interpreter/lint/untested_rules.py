"""Rules that no scenario tests.

``coverage --mutate`` checks more: that scenarios *prove* a statement.
"""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import RuleLayer
from interpreter.lint.places import Family, Place, advice, place_of

__all__ = ["untested_rules"]


def untested_rules(family: Family) -> Iterator[Diagnostic]:
    """Yield layers whose cited statements no scenario cites, in a family with scenarios."""
    first = family.rulesets[0]
    layers = (layer for ruleset in family.rulesets for rule in ruleset.model.rules.values() for layer in rule.layers)
    here = (layer for layer in layers if layer.span.file.name in family.files)
    here = (layer for layer in here if layer.file.partition("/")[0] == first.model.family)
    citing: dict[Place, tuple[RuleLayer, tuple[str, ...]]] = {}
    for layer in here:
        if cites := layer.all_cites:
            citing.setdefault(place_of(layer), (layer, cites))
    tested = _tested(first) if citing else set()
    for layer, cites in citing.values():
        if tested and tested.isdisjoint(cites):
            message = f"no scenario tests `{layer.rule}`: none cites {', '.join(cites[:3])}"
            help = "write a scenario that fails without it"
            yield advice("L010", message, layer.span, help)


def _tested(ruleset: Ruleset) -> set[str]:
    """Return the statements that scenarios of the family cite."""
    from interpreter.testing.scenarios import read_scenarios

    shelf, family = ruleset.shelf, ruleset.model.family
    ids = (id for id in shelf.ids("scenarios") if id.partition("/")[0] == family)
    read = (document for id in ids if (document := shelf.read("scenarios", id)[0]) is not None)
    return {cite for document in read for scenario in read_scenarios(document)[0] for cite in scenario.statements}
