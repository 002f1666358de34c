"""A ruleset with one thing of another: a rule, trigger, standing rule or table, and else as it is.

The thing comes with all of its layers, and with the declarations that its text names and the ruleset does not have.
What else the other ruleset has is left out. So it can be asked what one difference does by itself, without the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.compiler.lower import lower
from interpreter.compiler.reach import reach_of
from interpreter.engine.ruleset import Ruleset
from interpreter.language.check import check
from interpreter.reading.compose import Composition, Entry
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value

__all__ = ["GRAFTED", "grafted"]

GRAFTED = ("rules", "triggers", "standing", "tables")
"""Sections of which one thing can be taken over."""

_BROUGHT = (
    *("rules", "tables", "kinds", "records", "zones", "pools", "tracks", "state", "has", "cards"),
    *("events", "settings", "interpretations"),
)
"""Sections of what a text can name. Triggers and standing rules act without being named: they are not brought along."""

_NAME = re.compile(r"[a-z_]\w*")


def grafted(ruleset: Ruleset, other: Ruleset, section: str, name: str) -> Ruleset:
    """The ruleset with what the other has under this name, or without it, where the other has nothing.

    Raises :class:`RulesetError` where that is no whole: it needs what a declaration of that name here is not.
    """
    composition = replace(ruleset.composition, sections=_with(ruleset.composition, other.composition, section, name))
    model, found = check(composition, {**other.statements, **ruleset.statements})
    if errors := [each for each in found if each.severity == "error"]:
        raise RulesetError(errors)
    return ruleset.with_model(model, lower(model, reach_of(model)), composition)


def _with(own: Composition, other: Composition, section: str, name: str) -> dict[str, dict[str, list[Entry]]]:
    sections = {each: dict(names) for each, names in own.sections.items()}
    layers = other.layers(section, name)
    if not layers:
        sections[section].pop(name, None)
        return sections
    sections.setdefault(section, {})[name] = layers
    known = {word for each in _BROUGHT for word in sections.get(each, {})}
    waiting = list(layers)
    while waiting:
        for word in set(_names(waiting.pop())) - known:
            known.add(word)
            for each in _BROUGHT:
                if found := other.layers(each, word):
                    sections.setdefault(each, {})[word] = found
                    waiting.extend(found)
    return sections


def _names(entry: Entry) -> Iterator[str]:
    """The names in the texts of a declaration and its guards."""
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
                yield from _texts(each.value for each in entries if each.key.text not in ("about", "cites"))
            case _:
                pass
