"""Declarations, cells and statements of a ruleset for readers: source texts, positions and cited statements.

:mod:`interpreter.explain.names` finds what a name means and who uses it, and puts :class:`Explanation` values together,
which the command line prints as text or JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plurals import counted
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean, did_you_mean_one_of
from interpreter.base.yaml_values import word
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.language.check_quietly import ignored
from interpreter.language.model import Table
from interpreter.language.texts import parsed
from interpreter.language.types import NOTHING, IntType, KindType, Type
from interpreter.reading.printed_tables import read_printed
from interpreter.reading.statements import Statement
from interpreter.reading.yaml import Mapping, Scalar
from interpreter.sections.declarations import Entry
from interpreter.sections.documents import NOUNS

__all__ = [
    "WORDS",
    "Explanation",
    "Part",
    "Use",
    "cell_explained",
    "cell_place",
    "facts_of",
    "for_readers",
    "line_of",
    "part_of",
    "quote",
    "statement_explained",
    "type_in_words",
    "written",
]

_MOST_CELLS = 20
"""Largest number of cells that a message names."""
WORDS = {
    **NOUNS,
    "roles": "role",
    "asks": "decision",
    "decisions": "decision",
    "says": "words of",
    "lines": "line of the rule",
    "options": "alternative of the rule",
    "cases": "case of the trigger",
    "result": "result",
    "files": "file",
}
"""Names of the kinds of declarations, by section."""

TEXTS = ("rules", "tables")  # sections whose declarations are shown by their text only
_REMARK = re.compile(r"^[ ]*# *lint:.*\n|[ ]+# *lint:.*$", re.MULTILINE)


class Part(Struct, frozen=True):
    """One layer of a declaration: its position, how it overrides the layers below, and its source text.

    ``value`` is the value of a cell in this layer, ``-`` if the layer leaves it unchanged.
    """

    file: str
    place: str
    covers: str
    when: str
    about: str
    text: str
    cites: tuple[Statement, ...]
    value: str = ""


class Use(Struct, frozen=True):
    """A place that uses or cites something, with a description."""

    what: str
    place: str


class Explanation(Struct, frozen=True):
    """Explanation of a name: single ``facts``, its layers as ``parts`` (uppermost first), and its uses."""

    name: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    uses: tuple[Use, ...]


def part_of(ruleset: Ruleset, section: str, entry: Entry) -> Part:
    """Describe one layer of a declaration."""
    covers = entry.covers
    rule = ruleset.model.rules.get(entry.name) if section == "rules" else None
    layers = [layer for layer in rule.layers if layer.span == entry.span] if rule is not None else []
    cites = [*(cite.text for cite in entry.cited), *(cite for layer in layers for cite in layer.all_cites)]
    short = section in TEXTS
    return Part(
        file=entry.file,
        place=line_of(entry.span),
        covers=f"{covers[0]} {covers[1]}" if covers else "",
        when=" and ".join(" ".join(guard.text.split()) for guard in entry.conditions) if short else "",
        about=entry.remarks.about if short else "",
        text=written(section, entry),
        cites=tuple(quote(ruleset, id) for id in dict.fromkeys(cites)),
    )


def for_readers(text: str) -> str:
    """Remove the `lint` comments from the text of a rule."""
    return _REMARK.sub("", text).rstrip()


def written(section: str, entry: Entry) -> str:
    """Return the text of a rule or table, or the whole source of another declaration."""
    if section in TEXTS:
        for key in ("is", "does", "permits"):
            if isinstance(text := entry.get(key), Scalar):
                return for_readers(text.text)
    file, start = entry.span.file, entry.span.start
    column = entry.span.column - 1
    return dedent(" " * column + file.text[start : entry.value.span.end]).rstrip()


def line_of(span: Span) -> str:
    """Return the file and line of a span."""
    return f"{span.file.name}:{span.line}"


def quote(ruleset: Ruleset, id: str) -> Statement:
    """Return a statement by id; one without words if it is unknown."""
    return ruleset.statements.get(id) or Statement(id, "", "", "", "")


def facts_of(ruleset: Ruleset, section: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a declaration as a whole, some of it empty."""
    model = ruleset.model
    match section:
        case "rules":
            rule = model.rules[name]
            yield "form", rule.form
            yield "takes", ", ".join(f"{parameter}: {model.word(of)}" for parameter, of in rule.parameters)
            yield "gives", model.word(rule.result) if rule.form != "permits" and rule.result != NOTHING else ""
            yield "is", _place_in_game(ruleset, name)
        case "tables":
            table = model.tables[name]
            yield "keys", ", ".join(table.keys)
            yield "gives", model.word(table.gives)
        case "triggers":
            event, possible = model.triggers[name].event, ruleset.program.reach.phase_events
            yield "event", event
            yield "phases", ", ".join(phase for phase, events in possible.items() if event in events)
        case "interpretations":
            doubt = model.interpretations[name]
            yield "taken", doubt.default
            yield from doubt.readings.items()
        case "settings":
            setting = model.settings[name]
            yield "type", model.word(setting.type)
            yield "check", setting.check or ""


def type_in_words(ruleset: Ruleset, type_: Type) -> str:
    """Format a type for readers who do not know the rule language: ``number``, ``seat or none``."""
    named = ruleset.model.word(type_.sure)
    return _PLAIN.get(named, named) + (" or none" if type_.optional else "")


_PLAIN = {"bool": "yes or no", "int": "number", "list of int": "list of numbers"}


def _place_in_game(ruleset: Ruleset, name: str) -> str:
    model = ruleset.model
    if name in model.phases:
        return f"phase {model.phases.index(name) + 1} of the round"
    return "the set-up" if name == model.setup else "before a game" if name in model.checks else ""


# --- cells and statements ---------------------------------------------------------------------------------------------


def cell_explained(ruleset: Ruleset, name: str, keys: list[str], uses: Iterable[Use]) -> Explanation:
    """Explain a cell of a table, by its keys as written in a rule."""
    table, place = cell_place(ruleset, name, keys)
    shown = ruleset.names.text(table.cells[place], table.gives)
    span = table.places.get(place, table.span)
    entries = ruleset.composition.layers("tables", name)
    parts = tuple(
        replace(part_of(ruleset, "tables", entry), value=_cell_of(entry, keys) or "-") for entry in reversed(entries)
    )
    facts = (("value", shown), ("place", str(span)))
    return Explanation(f"{name}[{', '.join(keys)}]", "cell", facts, parts, tuple(uses))


def cell_place(ruleset: Ruleset, name: str, keys: list[str]) -> tuple[Table, tuple[int, ...]]:
    """Return a table and the position of a cell, by its keys as written. Raises ``LookupError``."""
    table = ruleset.model.tables.get(name)
    if table is None:
        raise LookupError(f"unknown table `{name}`{did_you_mean(name, ruleset.model.tables)}")
    if len(keys) != len(table.keys):
        raise LookupError(f"`{name}` has the keys [{', '.join(table.keys)}], got {counted(len(keys), 'key')}")
    place = tuple(_key(ruleset, table, index, text) for index, text in enumerate(keys))
    if place not in table.cells:
        cells = (zip(cell, table.key_types, strict=True) for cell in table.cells)
        known = [", ".join(ruleset.names.text(key, type_) for key, type_ in cell) for cell in cells]
        hint = did_you_mean_one_of if len(known) <= _MOST_CELLS else did_you_mean
        raise LookupError(f"`{name}` has no cell [{', '.join(keys)}]{hint(', '.join(keys), known)}")
    return table, place


def _cell_of(entry: Entry, keys: list[str]) -> str:
    """Return the value that one file prints in a cell; empty if it leaves the cell unchanged."""
    changes = entry.get("cells")
    if isinstance(changes, Mapping):
        for change in changes.entries:
            if [part.strip() for part in change.key.text.split(",")] == keys:
                return word(change.value)
    table = parsed(entry.get("is"), read_printed, ignored)
    if table is None:
        return ""
    *rows_by, column = keys
    above: list[str] = []
    for row in table.rows:
        above = [cell.text or (above[place] if above else "") for place, cell in enumerate(row[: len(rows_by)])]
        if above == rows_by:
            width = max(1, len(rows_by))
            heads = [cell.text for cell in table.header[width:]]
            return row[width + heads.index(column)].text if column in heads else ""
    return ""


def _key(ruleset: Ruleset, table: Table, index: int, text: str) -> int:
    type_ = table.key_types[index]
    if isinstance(type_, KindType):
        members = ruleset.model.members(type_.name)
        if text in members:
            return members.index(text)
        raise LookupError(f"unknown {type_.name} `{text}`{did_you_mean(text, members)}")
    if text.isdecimal():
        return int(text)
    want = "whole number" if isinstance(type_, IntType) else ruleset.model.word(type_)
    raise LookupError(f"got `{text}`, want a {want} for `{table.keys[index]}`")


def statement_explained(ruleset: Ruleset, id: str) -> Explanation:
    """Explain a statement: its text, the parts that cite it, and the scenarios that test it."""
    from interpreter.testing.suite import suite_of

    statement = ruleset.statements[id]
    facts = tuple((key, value) for key in ("book", "kind", "text", "reading") if (value := getattr(statement, key)))
    citing = [
        Use(f"{WORDS.get(each.section, each.section)} `{each.name}` ({each.file})", line_of(each.span))
        for each in citations_of(ruleset)
        if id in each.cites
    ]
    scenarios = [
        Use(f"scenario `{scenario.name}`", line_of(scenario.span))
        for scenario in suite_of([ruleset.id], ruleset.shelf).scenarios
        if id in scenario.statements
    ]
    return Explanation(id, "statement", facts, (), (*citing, *scenarios))
