"""Grafting: a ruleset with one rule, trigger, standing rule or table of another ruleset.

The grafted part comes with all its layers, and with the declarations that its text names and the ruleset lacks.
Everything else stays, so that the effect of one difference can be measured alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.engine.game import Ruleset
from interpreter.language.check import check
from interpreter.lowering.lower import lower
from interpreter.lowering.reach import reach_of
from interpreter.reading.composition import Composition
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value
from interpreter.sections.declarations import Entry
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["GRAFTED", "grafted"]

GRAFTED = ("rules", "triggers", "standing", "tables")
"""Sections whose entries can be grafted."""

_BROUGHT = (
    *("rules", "tables", "kinds", "records", *STATE_SECTIONS, "cards"),
    *("events", "settings", "interpretations"),
)
"""Sections whose names rule text can use. Triggers and standing rules act without being named, so they are not brought
along."""

_NAME = re.compile(r"[a-z_]\w*")


def grafted(ruleset: Ruleset, other: Ruleset, section: str, name: str) -> Ruleset:
    """Return the ruleset with the other's entry of this name; without the entry if the other has none.

    Raises :class:`RulesetError` if the result is invalid, as when a name that the entry uses means something else here.
    """
    own, foreign = ruleset.composition, other.composition
    sections, names = _with(own, foreign, section, name), {**foreign.names, **own.names}
    composition = replace(own, sections=sections, names=names)
    model, diagnostics = check(composition, {**other.statements, **ruleset.statements})
    if errors := [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]:
        raise RulesetError(errors)
    return ruleset.with_model(model, lower(model, reach_of(model)), composition)


def _with(own: Composition, other: Composition, section: str, name: str) -> dict[str, dict[str, list[Entry]]]:
    sections = {key: dict(names) for key, names in own.sections.items()}
    layers = other.layers(section, name)
    if not layers:
        sections[section].pop(name, None)
        return sections
    sections.setdefault(section, {})[name] = layers
    known = {word for key in _BROUGHT for word in sections.get(key, {})}
    types = {key.text: type_.text for names in other.names.values() for key, type_ in names if type_ is not None}
    waiting = list(layers)
    while waiting:
        for word in set(_names(waiting.pop(), types)) - known:
            known.add(word)
            for key in _BROUGHT:
                if needed := other.layers(key, word):
                    sections.setdefault(key, {})[word] = needed
                    waiting.extend(needed)
    return sections


def _names(entry: Entry, types: dict[str, str]) -> Iterator[str]:
    """Yield the words in the texts of an entry, and in the types of its parameters."""
    for word in _NAME.findall(entry.head.text) if entry.head is not None else ():
        yield from (word, *_NAME.findall(types.get(word, "")))
    yield from (word for guard in entry.guards for word in _NAME.findall(guard.text))
    yield from (word for text in _texts([entry.value]) for word in _NAME.findall(text))


def _texts(values: Iterable[Value]) -> Iterator[str]:
    for value in values:
        match value:
            case Scalar(text):
                yield text
            case Sequence(items):
                yield from _texts(items)
            case Mapping(entries):
                yield from _texts(entry.value for entry in entries if entry.key.text not in ("about", "cites"))
