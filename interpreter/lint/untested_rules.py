"""Rules that no scenario tests.

``coverage --mutate`` checks more: that scenarios *prove* a statement.
"""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.lint.places import Family, advice, place_of
from interpreter.reading.files import Shelf
from interpreter.sections.declarations import cites_below

__all__ = ["tested", "untested_rules"]


def untested_rules(family: Family) -> Iterator[Diagnostic]:
    """Yield layers whose cited statements no scenario cites, in a family with scenarios."""
    first = family.rulesets[0]
    layers = (layer for ruleset in family.rulesets for rule in ruleset.model.rules.values() for layer in rule.layers)
    here = (layer for layer in layers if layer.span.file.name in family.files)
    here = (layer for layer in here if layer.file.partition("/")[0] == first.model.family)
    citing = {place_of(layer): (layer, cites) for layer in here if (cites := layer.all_cites)}
    cited = tested(first.shelf, first.model.family) if citing else set()
    for layer, cites in citing.values():
        if cited and cited.isdisjoint(cites):
            message = f"no scenario tests `{layer.rule}`: none cites {', '.join(cites[:3])}"
            help = "write a scenario that fails without it"
            yield advice("L010", message, layer.span, help)


def tested(shelf: Shelf, family: str) -> set[str]:
    """Return the statements that scenarios of a family cite."""
    ids = (id for id in shelf.ids("scenarios") if id.partition("/")[0] == family)
    read = (document for id in ids if (document := shelf.read("scenarios", id)[0]) is not None)
    return {scalar.text for document in read for scalar in cites_below(document.root)}
