"""Mentions: the names in a file and their meanings, for the editor and explanations.

Names in rule text mean what the checker bound them to (:mod:`interpreter.language.resolve`); texts that are not in
force, because a later file replaces them, are checked for themselves. Other names in YAML refer to declarations of the
sections that their key names. Meanings are the same in all files of a family, so equal meanings denote one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.source import Span
from interpreter.base.yaml_values import word, words
from interpreter.bots.policies import policies_in
from interpreter.language import nodes
from interpreter.language.check import bindings
from interpreter.language.check_quietly import check_quietly, ignored
from interpreter.language.local_rules import check_helpers, helpers_in
from interpreter.language.model import Model
from interpreter.language.parse import parse_as
from interpreter.language.resolve import Binding, Names
from interpreter.language.scope import Frame
from interpreter.language.texts import parsed
from interpreter.language.types import Type
from interpreter.language.walk import descendants
from interpreter.reading.composition import Composition
from interpreter.reading.file_declarations import sections_of
from interpreter.reading.files import Document
from interpreter.reading.printed_tables import Cell, read_printed
from interpreter.reading.statements import Statement
from interpreter.reading.yaml import Mapping, Scalar, Sequence
from interpreter.sections.atoms import TypeText
from interpreter.sections.declarations import Entry, name_and_head
from interpreter.sections.documents import STATE_SECTIONS, Sections
from interpreter.sections.lookup import forms_in
from interpreter.sections.vocabulary import Code, Form, Reference

__all__ = ["Meaning", "Mention", "holders_of", "mentions_in"]

VALUES = (*STATE_SECTIONS, "settings", "interpretations", "roles")
TYPES = ("kinds", "tokens", "cards", "records", "pieces")
_PROCEDURES = frozenset({"setup", "round", "phase", "rule", "check", "in"})
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PART = re.compile(r"[^,\s](?:[^,]*[^,\s])?")
"""One of the things in a printed cell that are separated by commas."""
_WORDS = ("value", "name", "order", "seen", "moment", "printed")
"""Definitions of values that are, or may be, names."""


class Meaning(Struct, frozen=True):
    """Meaning of a name: declaring section, name, and owner (the kind of a member)."""

    section: str
    name: str
    of: str = ""
    span: Span | None = None
    """Declaration of a local, a private rule or a card. For other names, see
    :func:`~interpreter.explain.symbols.declared`."""

    @property
    def word(self) -> str:
        """Return the name as texts write it: that of a belonging is without the thing that has it."""
        return self.name.rpartition(".")[2] if self.section == "has" else self.name


class Mention(Struct, frozen=True):
    """Occurrence of a name. ``declares`` is set if it introduces or overrides the thing. Locals have a type."""

    span: Span
    meaning: Meaning
    declares: bool = False
    type: Type | None = None


def mentions_in(
    document: Document,
    composition: Composition | None,
    model: Model,
    statements: dict[str, Statement],
    checked: Iterable[Binding],
) -> list[Mention]:
    """Return every name in a file whose meaning is known, in order of position.

    ``composition`` and ``model`` are those of a ruleset that the file belongs to, if there is one, and ``checked`` what
    the names in its rule texts mean.
    """
    reader = _Reader(document, composition, model)
    reader.keys()
    bound = [*policies_in(model, document, statements).bindings] if document.kind == "policies" else []
    if composition is not None:
        aside = _set_aside(document, composition)
        checked = chain(checked, bindings(aside, statements) if aside is not None else ())
        bound += (each for each in checked if each.span.file is document.file or each.span.file == document.file)
    reader.texts(bound)
    reader.texts(_alone(document, model, {binding.span.start for binding in bound}))
    return sorted(set(reader.found), key=lambda mention: (mention.span.start, mention.span.end))


def _set_aside(document: Document, composition: Composition) -> Composition | None:
    """Return a composition in which the declarations of a file are in force that others replace or remove; None if
    there are none."""
    sections = dict(composition.sections)
    aside = False
    private = dict(_own_names(document))
    for section, entry in sections_of(document):
        if entry.key.text in private:
            continue
        layers = sections.get(section, {}).get(entry.key.text, [])
        if all(layer.value is not entry.value for layer in layers):
            aside = True
            sections[section] = {**sections.get(section, {}), entry.key.text: [*layers[:1], entry]}
    return replace(composition, sections=sections) if aside else None


def _alone(document: Document, model: Model, known: set[int]) -> list[Binding]:
    """Return the names in texts of which the checker has bound none, such as those of scenarios.

    Where the type of a value is not known, an attribute is the only one of its name.
    """
    names = Names(model, dict(model.signatures))
    if document.kind == "scenarios":
        check_helpers(helpers_in(document.root, ignored), names, document.id, [])
    for _, scalar, form in forms_in(document.kind, document.root):
        extent = range(scalar.span.start, scalar.span.end)
        if isinstance(form, Code) and not form.is_template(scalar) and known.isdisjoint(extent):
            tree, first = parsed(scalar, partial(parse_as, form.start), ignored), len(names.bindings)
            check_quietly(tree, names, Frame(), next((e.key.text for e in holders_of(document, scalar.span)), ""))
            bound = {binding.span.start for binding in names.bindings[first:]}
            for node in descendants(tree):
                if isinstance(node, nodes.Attribute) and node.name_span.start not in bound:
                    declarations = set(_with_attribute(model, node.name))
                    if len(declarations) == 1:
                        names.bind(node.name_span, *declarations.pop())
    return names.bindings


def holders_of(document: Document, span: Span) -> Iterator[Entry]:
    """Yield the declarations that hold a place."""
    for _, entry in sections_of(document):
        if span.start in entry.extent:
            yield entry


def _with_attribute(model: Model, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the declarations of attributes of a name."""
    for group in model.groups.values():
        if group.owner is not None and group.own_name == name and group.section:
            yield group.section, group.name, ""
    for kind in model.card_kinds.values():
        if name in kind.attributes:
            yield "attributes", name, kind.name
    for record, values in model.records.items():
        if name in values:
            yield "fields", name, record
    graph = model.graph
    if graph is not None and name in (*graph.attributes, *graph.link, *graph.place):
        yield "attributes", name, "graph"


class _Reader:
    """Collects the mentions of one file."""

    def __init__(self, document: Document, composition: Composition | None, model: Model) -> None:
        self.document, self.model = document, model
        self.sections = composition.sections if composition is not None else {}
        self.nodes = {row.name for row in model.graph.nodes} if model.graph else set[str]()
        self.found: list[Mention] = []
        self.own = dict(_own_names(document))
        own = [(section, entry.key.text) for section, entry in self._sections()]
        self.known = {(section, name) for section, names in self.sections.items() for name in names} | set(own)

    def mention(self, span: Span, section: str, name: str, of: str = "", *, declares: bool = False) -> None:
        self.found.append(Mention(span, Meaning(section, name, of), declares))

    def _sections(self) -> Iterator[tuple[str, Entry]]:
        """Yield the declarations of the file, without its private ones."""
        yield from (each for each in sections_of(self.document) if each[1].key.text not in self.own)

    # --- rule text

    def texts(self, bound: Iterable[Binding]) -> None:
        """Add the names in rule text."""
        for each in bound:
            in_it = each.section in ("asks", "events", "options", "statements")
            span = _place(each.span, each.name) if in_it else each.span
            match each.section:
                case "locals":
                    assert each.binder is not None
                    place = _introduced(each.binder, each.name)
                    if place is not None and place.file is span.file:  # else it is a decision's, amended by a file
                        meaning = Meaning("locals", each.name, "", place)
                        self.found.append(Mention(place if each.declares else span, meaning, each.declares, each.type))
                case "helpers" if each.name not in self.own:
                    pass  # of a file of policies below
                case "helpers":
                    self.found.append(Mention(span, Meaning("helpers", each.name, "", self.own[each.name])))
                case "base":
                    layers = self.sections.get("rules", {}).get(each.name, ())
                    if each.of.isdecimal() and int(each.of) < len(layers):
                        self.found.append(Mention(span, Meaning("base", each.name, "", layers[int(each.of)].span)))
                case "card":
                    for row in self.model.cards:
                        if str(row.key) == each.name and row.kind == each.of:
                            self.found.append(Mention(span, Meaning("card", each.name, each.of, row.span)))
                case _:
                    self.mention(span, each.section, each.name, each.of)

    # --- keys and words of YAML

    def keys(self) -> None:
        """Add the names that the file declares, and those that stand in YAML without being rule text."""
        root = self.document.root
        for name, place in self.own.items():
            self.found.append(Mention(place, Meaning("helpers", name, "", place), declares=True))
        for section, entry in self._sections():
            if section not in ("says", "policies"):
                self.mention(entry.key.span, section, entry.key.text, declares=True)
            self._inner(section, entry)
        graph = Sections(root).graph
        for attribute, _ in (*graph.has, *graph.link, *graph.place.rest(TypeText)):
            self.mention(attribute.span, "attributes", attribute.text, "graph", declares=True)
        seen: set[int] = set()
        for key, scalar, form in forms_in(self.document.kind, root):
            if isinstance(form, Reference) and form.to:
                section, id = "statements" if form.to == ("statement",) else "files", scalar.text.removeprefix("-")
                self.mention(_tail(scalar.span, id), section, id, "ruleset" if form.to == ("ruleset",) else "")
            elif scalar.span.start not in seen and form.definition in _WORDS:
                seen.add(scalar.span.start)
                self._scalar(key, scalar, form)

    def _inner(self, section: str, entry: Entry) -> None:
        """Add the names that are declared inside a declaration."""
        name, value = entry.key.text, entry.value
        if section in ("kinds", "tokens", "interpretations"):
            inside = value.get("is") if isinstance(value, Mapping) and "is" in value else value
            if isinstance(inside, Mapping):
                for each in inside.entries:
                    self.mention(each.key.span, "members", each.key.text, name, declares=True)
            elif isinstance(inside, Sequence):
                for scalar in words(inside):
                    self.mention(scalar.span, "members", scalar.text, name, declares=True)
        holder = value if section in ("records", "events", "cards") else None
        if section in ("events", "cards") and isinstance(holder, Mapping):
            holder = holder.get("with" if section == "events" else "has")
        if isinstance(holder, Mapping):
            for each in holder.entries:
                kind = "attributes" if section == "cards" else "fields"
                self.mention(each.key.span, kind, each.key.text, name, declares=True)

    def _scalar(self, key: str, scalar: Scalar, form: Form[object]) -> None:
        span, text = scalar.span, scalar.text
        match form.definition:
            case "value":
                if _NAME.fullmatch(text):
                    self._word(span, text, ("tables", "rules", "members"))
            case "order" | "seen":
                if text.startswith("by "):
                    self._order(_tail(span, text[3:].strip()), text[3:].strip())
            case "printed":
                if (table := parsed(scalar, read_printed, ignored)) is not None:
                    for cell in (*table.header, *(cell for row in table.rows for cell in row)):
                        self._cell(cell)
            case "moment":
                phase = text.partition(" of ")[2]
                if ("rules", phase) in self.known:
                    self.mention(_tail(span, phase), "rules", phase)
            case _:
                sections: tuple[str, ...] = (*TYPES, *VALUES, "tables", "events")
                if key in _PROCEDURES or key == "top_shows":
                    sections = ("rules",)
                elif key == "spaces":
                    sections = ("tables",)
                self._word(span, text, sections)

    def _order(self, span: Span, name: str) -> None:
        """Add the rule or the attribute by which the cards of a zone are sorted."""
        zones = [entry.value for entry in holders_of(self.document, span)]
        kinds = {word(zone.get(key)) for zone in zones if isinstance(zone, Mapping) for key in ("of", "zone")}
        self._word(span, name, ("rules",))
        for kind in self.model.card_kinds.values():
            if name in kind.attributes and kind.name in kinds:
                self.mention(span, "attributes", name, kind.name)

    def _cell(self, cell: Cell) -> None:
        """Add the nodes of a printed cell, also those of places, or the kinds and members in it."""
        parts = [(each[0], each[0].rpartition(" ")[0], each.start()) for each in _PART.finditer(cell.text)]
        named = [(part if part in self.nodes else of, start) for part, of, start in parts]
        if named and all(name in self.nodes for name, _ in named):
            for name, start in named:
                at = cell.span.start + start
                self.mention(Span(cell.span.file, at, at + len(name)), "nodes", name)
            return
        for match in _NAME.finditer(cell.text):
            start = cell.span.start + match.start()
            self._word(Span(cell.span.file, start, start + len(match[0])), match[0], ("kinds", "tokens", "members"))

    def _word(self, span: Span, text: str, sections: tuple[str, ...]) -> None:
        for section in sections:
            if section == "members":
                self._member(span, text)
            elif (section, text) in self.known:
                self.mention(span, section, text)
                return

    def _member(self, span: Span, name: str) -> None:
        """Add a member of the only kind that has one of this name."""
        kinds = [kind.name for kind in self.model.kinds.values() if name in kind.members and not kind.unit]
        if len(kinds) == 1:
            self.mention(span, "members", name, kinds[0])


def _introduced(binder: nodes.Node, name: str) -> Span | None:
    """Return the place where a node introduces a local."""
    match binder:
        case nodes.Parameter() | nodes.Binder():
            return binder.span.file.at(binder.span.start, len(name))
        case nodes.EventPattern(event=event):
            return _place(binder.span, name, binder.span.start + len(event))
        case nodes.Aggregate(items=items) | nodes.ListComprehension(items=items):
            before = binder.span.text[: items.span.start - binder.span.start]
            matches = list(re.finditer(rf"\b{name}\b(?=\s+in\b)", before))
            start = binder.span.start + matches[-1].start() if matches else 0
            return Span(binder.span.file, start, start + len(name)) if matches else None
        case nodes.Choose():
            return _place(binder.span, name, binder.span.start + binder.span.text.index(" by each "))
        case _:
            return _place(binder.span, name)


def _place(span: Span, name: str, start: int | None = None) -> Span:
    """Return the first occurrence of a word within a span; the span itself if there is none."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    match = pattern.search(span.file.text, span.start if start is None else start, span.end)
    return Span(span.file, match.start(), match.end()) if match else span


def _own_names(document: Document) -> Iterator[tuple[str, Span]]:
    """Yield the private rules and weights of a file of policies or scenarios."""
    for section in ("rules", "weights") if document.kind in ("policies", "scenarios") else ():
        value = document.root.get(section)
        for entry in value.entries if isinstance(value, Mapping) else ():
            name, _ = name_and_head(entry.key)
            yield name.text, name.span


def _tail(span: Span, name: str) -> Span:
    end = span.end - (span.text[-1:] in "\"'")
    return Span(span.file, end - len(name), end)
