"""Citations: the parts of a ruleset that cite statements."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from interpreter.base.plain_data import picked
from interpreter.base.source import Span
from interpreter.base.yaml_values import words
from interpreter.engine.game import Ruleset
from interpreter.sections.declarations import Entry

__all__ = ["Citation", "citations_of", "lowest_in_force"]


class Citation(Struct, frozen=True):
    """A part of a ruleset that cites statements.

    ``section`` and ``name`` identify it; ``place`` locates it inside: the layer of a rule and the line, or the case of
    a trigger.
    """

    section: str
    name: str
    file: str
    span: Span
    cites: tuple[str, ...]
    place: tuple[int, ...] = ()
    extent: Span | None = None
    """Full extent of the citing text if it lies inside other rules, as additions to a decision do."""

    def as_data(self) -> dict[str, object]:
        return {**picked(self, "section", "name", "cites"), "place": self.span}


def citations_of(ruleset: Ruleset) -> list[Citation]:
    """Return all citing parts of a ruleset that are in force: first its files, then by section and file."""
    citations: list[Citation] = []
    for document in ruleset.composition.documents:
        cites = tuple(scalar.text for scalar in document.head.cites)
        title = document.title
        citations.append(Citation("files", title, document.id, document.root[document.kind].span, cites))
    for section, names in ruleset.composition.sections.items():
        for name, entries in names.items():
            citations.extend(_of_entries(ruleset, section, name, entries))
    return [citation for citation in citations if citation.cites]


def _of_entries(ruleset: Ruleset, section: str, name: str, entries: list[Entry]) -> Iterator[Citation]:
    lowest = lowest_in_force(ruleset, section, name, entries)
    for index, entry in enumerate(entries[lowest:], lowest):
        place = (index,) if section == "rules" else ()
        cites = (*_texts(entry, "cites"), *_texts(entry, "answers"))
        extent = entry.value.span if section == "decisions" else None
        yield Citation(section, name, entry.file, entry.span, tuple(dict.fromkeys(cites)), place, extent)
        if section == "rules" and name in ruleset.model.rules:
            layer = ruleset.model.rules[name].layers[index]
            for number, line in enumerate(layer.requirements):
                yield Citation("lines", layer.rule, layer.file, line.span, line.cites, (layer.layer, number))
            for number, option in enumerate(layer.facts.options):
                yield Citation("options", layer.rule, layer.file, option.span, option.cites, (layer.layer, number))
        elif section == "triggers" and name in ruleset.model.triggers:
            for number, case in enumerate(ruleset.model.triggers[name].cases):
                yield Citation("cases", name, entry.file, case.span, case.cites, (number,))


def _texts(entry: Entry, key: str) -> list[str]:
    return [scalar.text for scalar in words(entry.get(key))]


def lowest_in_force(ruleset: Ruleset, section: str, name: str, entries: list[Entry]) -> int:
    """Return the lowest layer in force: a layer that replaces without a guard disables all layers below."""
    rule = ruleset.model.rules.get(name) if section == "rules" else None
    for index in range(len(entries) - 1, 0, -1):
        covers = entries[index].covers
        if covers is not None and covers[0] == "replaces" and (rule is None or rule.layers[index].when is None):
            return index
    return 0
