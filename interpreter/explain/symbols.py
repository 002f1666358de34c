"""Symbols: the names in a file and their meanings, for hover, definition, references and rename.

The input is a document and the results of checking a ruleset that contains it; the result is :class:`Mention` values,
each with a span and a :class:`Meaning`. Meanings are the same in all files of a family, so equal meanings denote one
thing. Locals are resolved by the syntax tree of their text; attributes by the type from the checker, or, if there is
none, by name if it is unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plain_data import Value as Number
from interpreter.base.source import Span
from interpreter.base.yaml_values import word, words
from interpreter.engine.pipeline import Examined
from interpreter.engine.values import Names, type_text
from interpreter.language import core, nodes
from interpreter.language.builtins import FUNCTIONS, OWN_NAMES, OWN_TYPES, OWN_VALUES
from interpreter.language.grammar import Start
from interpreter.language.model import Model
from interpreter.language.parse import parse_as
from interpreter.language.policies import policies_in
from interpreter.language.texts import template_parts
from interpreter.language.types import (
    NOTHING,
    SEAT,
    CardType,
    KindType,
    LinkType,
    NodeType,
    PlaceType,
    RecordType,
    Type,
)
from interpreter.language.walk import descendants
from interpreter.reading.compose import Composition
from interpreter.reading.files import Document
from interpreter.reading.printed_tables import Cell, read_printed
from interpreter.reading.yaml import Entry, Mapping, Scalar, Sequence, Value, excerpt
from interpreter.sections.documents import NAMED_SECTIONS
from interpreter.sections.lookup import forms_in
from interpreter.sections.vocabulary import Code, Form, Reference

__all__ = [
    "CELLS",
    "Meaning",
    "Mention",
    "declared",
    "described",
    "mentions",
    "own_uses",
    "sections_of",
    "signature_text",
    "types_in",
]

CELLS = ("zones", "pools", "tracks", "has", "state")
"""Sections that declare parts of the state."""

VALUES = (*CELLS, "settings", "interpretations", "roles")
TYPES = ("kinds", "tokens", "cards", "records", "pieces")
_PROCEDURES = frozenset({"setup", "round", "phase", "rule", "check", "in"})
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Meaning(Struct, frozen=True):
    """Meaning of a name: declaring section, name, and owner (the kind of a member)."""

    section: str
    name: str
    of: str = ""
    span: Span | None = None
    """Declaration of a local. For other names, see :func:`declared`."""


class Mention(Struct, frozen=True):
    """Occurrence of a name. ``declares`` is set if it introduces or overrides the thing."""

    span: Span
    meaning: Meaning
    declares: bool = False


def sections_of(root: Mapping) -> Iterator[tuple[str, Entry]]:
    """Yield every named declaration of a file with its section, including those in `seats`, `parts` and `with`."""
    for section in root.entries:
        name, value = section.key.text, section.value
        if not isinstance(value, Mapping):
            continue
        if name == "seats":
            for half in value.entries:
                if isinstance(half.value, Mapping):
                    yield from ((half.key.text, entry) for entry in half.value.entries)
        elif name in ("parts", "with"):
            for part in value.entries:
                if isinstance(part.value, Mapping):
                    yield from sections_of(part.value)
        elif name in NAMED_SECTIONS:
            yield from ((name, entry) for entry in value.entries)


def types_in(examined: Examined, document: Document) -> dict[tuple[int, int], Type]:
    """Return the types that the checker found in a file, by start and end offset. Empty if the file has changed."""
    model, composition = examined.model, examined.composition
    if model is None or composition is None:
        return {}
    types: dict[tuple[int, int], Type] = {}
    for node in descendants(tuple(_trees(examined, model, document))):
        if isinstance(node, core.Typed) and (node.span.file is document.file or node.span.file == document.file):
            types.setdefault((node.span.start, node.span.end), node.type)
    return types


def _trees(examined: Examined, model: Model, document: Document) -> Iterator[object]:
    assert examined.composition is not None
    for rule in model.rules.values():
        yield from ((layer.when, layer.body) for layer in rule.layers)
    yield from (block.body for block in model.blocks.values())
    yield from (trigger.test for trigger in model.triggers.values())
    for things in (model.standing.values(), model.groups.values(), model.boards, model.measures, model.panels):
        yield from (thing.trees for thing in things)
    yield from (tree for look in model.picture.values() for tree in look.trees)
    yield from (tree for face in model.faces.values() for look in face.values() for tree in look.trees)
    yield from (law.condition for law in model.laws)
    yield from (model.ranking, model.phase_guards)
    for event in model.events.values():
        yield from (phrase.parts for phrase in event.says.values())
    for phrases in model.says.values():
        yield from (phrase.parts for phrase in phrases.values())
    if not examined.errors:
        policies = examined.policies
        if document.kind == "policies":
            policies = policies_in(model, document, examined.statements)
        yield from policies.written
        yield from (layer.body for policy in policies.policies.values() for layer in policy.rules)


def declared(examined: Examined, meaning: Meaning) -> list[Span]:
    """Return the positions that declare a name: its introduction, then each override, lowest layer first."""
    if meaning.span is not None:
        return [meaning.span]
    if examined.composition is None:
        return []
    sections = examined.composition.sections
    if meaning.section in ("members", "attributes", "fields"):
        return list(_inside(examined.composition, meaning))
    if meaning.section == "graph":
        return [entry.span for entry in sections.get("graph", {}).get("graph", ())]
    if meaning.section == "nodes" and examined.model is not None and examined.model.graph is not None:
        return [row.span for row in examined.model.graph.nodes if row.name == meaning.name]
    return [entry.span for entry in sections.get(meaning.section, {}).get(meaning.name, ())]


def _inside(composition: Composition, meaning: Meaning) -> Iterator[Span]:
    """Yield the spans of a name inside declarations: a member of a kind, an attribute of cards or nodes, a field."""
    holders = {"members": ("kinds", "tokens", "interpretations"), "fields": ("records", "events")}
    for section in holders.get(meaning.section, ("cards", "graph")):
        for entry in composition.sections.get(section, {}).get(meaning.of, ()):
            insides: list[Value | None] = [entry.value, entry.get("is"), entry.get("has"), entry.get("with")]
            insides += [entry.get("link"), entry.get("place"), entry.get("carries")]
            for value in insides:
                if isinstance(value, Mapping) and (found := value.entry(meaning.name)) is not None:
                    yield found.key.span
                for scalar in words(value):
                    if scalar.text == meaning.name and meaning.section == "members":
                        yield scalar.span


def signature_text(model: Model, name: str) -> str:
    """Return a rule with its parameters and result."""
    signature = model.signatures.get(name)
    if signature is None:
        return name
    gives = f" -> {type_text(model, signature.result)}" if signature.result != NOTHING else ""
    return f"{name}({_typed(model, signature.parameters)}){gives}"


def described(model: Model, meaning: Meaning) -> str:
    """Describe a name on one line; empty if there is nothing to say but its kind."""
    name, of, graph = meaning.name, meaning.of, model.graph
    match meaning.section:
        case section if section in CELLS and name in model.groups:
            group = model.groups[name]
            return f"{f'{group.owner}.' if group.owner else ''}{name}: {type_text(model, group.type)}"
        case "settings" if name in model.settings:
            return f"{name}: {type_text(model, model.settings[name].type)}"
        case "interpretations" if name in model.interpretations:
            doubt = model.interpretations[name]
            readings = (f"  {each}: {text}" for each, text in doubt.readings.items())
            return "\n".join([f"{name} = {doubt.default}", *readings])
        case "tables" if name in model.tables:
            table = model.tables[name]
            return f"{name}[{', '.join(table.keys)}] -> {type_text(model, table.gives)}"
        case "events" if name in model.events:
            return f"event {name}({_typed(model, model.events[name].fields.items())})"
        case "kinds" | "tokens" if name in model.kinds:
            kind = model.kinds[name]
            return f"{name}: {f'{kind.range[0]}..{kind.range[1]}' if kind.range else ', '.join(kind.members)}"
        case "records" if name in model.records:
            return f"record {name}({_typed(model, model.records[name].items())})"
        case "cards" if name in model.card_kinds:
            return f"card {name}: {_typed(model, model.card_kinds[name].attributes.items())}"
        case "asks":
            return ", ".join(each.partition(".")[2] for each in model.alternatives if each.startswith(f"{name}."))
        case "options":
            return f"{name}({_typed(model, model.alternatives.get(f'{of}.{name}', ()))})"
        case "members":
            return f"{name}: a {of}"
        case "attributes" | "fields":
            owner, type_ = graph.node if of == "graph" and graph is not None else of, _type_inside(model, meaning)
            return f"{owner}.{name}{f': {type_text(model, type_)}' if type_ is not None else ''}"
        case "nodes" if graph is not None:
            values = next((row.values for row in graph.nodes if row.name == name), {})
            return f'{graph.node} "{name}" {_valued(model, values, graph.attributes)}'.rstrip()
        case "card":
            row = next((row for row in model.cards if row.span == meaning.span), None)
            values, types = (row.values, model.card_kinds[row.kind].attributes) if row is not None else ({}, {})
            return f"{of} {name} {_valued(model, values, types)}".rstrip()
        case "graph" if graph is not None:
            return f"{graph.node}: a node of the graph"
        case "functions":
            function = FUNCTIONS[name]
            return f"{name}({', '.join(function.parameters)}{', …' if function.many else ''}) -> {function.gives}"
        case _:
            return ""


def _typed(model: Model, pairs: Iterable[tuple[str, Type]]) -> str:
    return ", ".join(f"{name}: {type_text(model, type_)}" for name, type_ in pairs)


def _valued(model: Model, values: dict[str, Number], types: dict[str, Type]) -> str:
    names = Names(model)
    shown = (f"{key}: {names.text(value, types[key])}" for key, value in values.items() if key in types)
    return f"({', '.join(shown)})" if types else ""


def _type_inside(model: Model, meaning: Meaning) -> Type | None:
    """Return the type of an attribute or a field."""
    name, of, graph = meaning.name, meaning.of, model.graph
    if of == "graph" and graph is not None:
        return {**graph.attributes, **graph.link, **graph.place}.get(name)
    if meaning.section == "fields":
        return {**model.records.get(of, {}), **(model.events[of].fields if of in model.events else {})}.get(name)
    return model.card_kinds[of].attributes.get(name) if of in model.card_kinds else None


def own_uses(name: str) -> dict[str, str]:
    """Return the uses of a name of the language, each with its description."""
    return {use: names[name] for use, names in OWN_NAMES.items() if name in names}


# --- a file -----------------------------------------------------------------------------------------------------------


def mentions(document: Document, examined: Examined) -> list[Mention]:
    """Return every name in a file whose meaning is known, in order of position."""
    reader = _Reader(document, examined)
    reader.read()
    return sorted(set(reader.found), key=lambda mention: (mention.span.start, mention.span.end))


class _Reader:
    def __init__(self, document: Document, examined: Examined) -> None:
        self.document, self.examined = document, examined
        self.model = examined.model or Model("", "", "")
        self.sections = examined.composition.sections if examined.composition else {}
        self.types = types_in(examined, document)
        self.nodes = {row.name for row in self.model.graph.nodes} if self.model.graph else set[str]()
        self.found: list[Mention] = []
        bound = [*self.model.alternatives.values(), *(list(e.fields.items()) for e in self.model.events.values())]
        self.shown: dict[str, Span | None] = {name: None for names in bound for name, _ in names}
        self.own = dict(_own_names(document))
        own = [(section, entry.key.text) for section, entry in self._sections()]
        self.known = {(section, name) for section, names in self.sections.items() for name in names} | set(own)

    def mention(self, span: Span, section: str, name: str, of: str = "", *, declares: bool = False) -> None:
        self.found.append(Mention(span, Meaning(section, name, of), declares))

    def local(self, span: Span, name: str, at: Span | None) -> None:
        if at is not None:
            self.found.append(Mention(span, Meaning("locals", name, "", at), span == at))

    def _sections(self) -> Iterator[tuple[str, Entry]]:
        """Yield the declarations of the file, without its private ones."""
        yield from (each for each in sections_of(self.document.root) if each[1].key.text not in self.own)

    def read(self) -> None:
        root = self.document.root
        for name, place in self.own.items():
            self.found.append(Mention(place, Meaning("helpers", name, "", place), declares=True))
        for section, entry in self._sections():
            if section not in ("says", "policies"):
                self.mention(entry.key.span, section, entry.key.text, declares=True)
            self._inner(section, entry)
        graph = root.get("graph")
        for key in ("has", "link", "place"):
            for each in (
                inside.entries if isinstance(graph, Mapping) and isinstance(inside := graph.get(key), Mapping) else ()
            ):
                self.mention(each.key.span, "attributes", each.key.text, "graph", declares=True)
        spans = {entry.value.span: self._around(section, entry) for section, entry in sections_of(root)}
        holders = sorted(spans.items(), key=lambda pair: pair[0].start)
        seen: set[int] = set()
        for key, scalar, form in forms_in(self.document.kind, root):
            if isinstance(form, Reference) and form.to:
                section = "statements" if form.to == ("statement",) else "files"
                self.mention(scalar.span, section, scalar.text, "ruleset" if form.to == ("ruleset",) else "")
            if scalar.span.start in seen:
                continue
            meaning = "template" if isinstance(form, Code) and form.is_template(scalar) else form.definition
            around = next((env for span, env in holders if span.start <= scalar.span.start < span.end), {})
            if meaning in ("rule_text", "type", "value", "template", "name", "order", "moment", "printed"):
                seen.add(scalar.span.start)
                shown = self.shown if meaning == "template" or key == "prefer" else {}
                self._scalar(key, scalar, meaning, form, {**shown, **around})

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
        holder = {"records": value, "events": entry.value, "cards": entry.value}.get(section)
        if section in ("events", "cards") and isinstance(holder, Mapping):
            holder = holder.get("with" if section == "events" else "has")
        if isinstance(holder, Mapping):
            for each in holder.entries:
                kind = "attributes" if section == "cards" else "fields"
                self.mention(each.key.span, kind, each.key.text, name, declares=True)

    def _around(self, section: str, entry: Entry) -> dict[str, Span | None]:
        """Return the locals that a declaration provides to its texts: parameters, values of an event, binders."""
        value, around = entry.value, dict[str, Span | None]()
        if not isinstance(value, Mapping):
            return around
        starts: dict[str, Start] = {"on": "heard", "for": "matched", "rows": "matched"}
        for key, start in starts.items():
            tree = self._tree(start, value.get(key))
            if isinstance(tree, nodes.EventPattern):
                place = tree.span.start + len(tree.event)
                for name in tree.names:
                    around[name] = self._place(tree.span, name, place)
            for binder in tree.binders if isinstance(tree, nodes.Match) else ():
                around[binder.name] = _head(binder.span, binder.name)
        if section == "measures" and isinstance(each := value.get("each"), Scalar):
            around[each.text] = each.span
        if section == "decisions":
            kept = {name for key, bound in self.model.alternatives.items() for name, _ in bound if _is_of(key, entry)}
            around.update(dict.fromkeys(kept))
        if section == "rules":
            signature = self.model.signatures.get(entry.key.text)
            around.update((name, None) for name, _ in (signature.parameters if signature else ()))
            forms: dict[str, Start] = {"is": "function", "does": "procedure", "permits": "verdict"}
            trees = [self._tree(start, value.get(key)) for key, start in forms.items()]
            bodies = [tree for tree in trees if isinstance(tree, nodes.Function | nodes.Procedure | nodes.Verdict)]
            header = next((body.header for body in bodies if body.header is not None), None)
            for parameter in header.parameters if header else ():
                around[parameter.name] = _head(parameter.span, parameter.name)
        return around

    def _tree(self, start: Start, value: Value | None) -> object:
        if not isinstance(value, Scalar):
            return None
        text = excerpt(value)
        return None if isinstance(text, Diagnostic) else parse_as(start, text)[0]

    def _scalar(
        self, key: str, scalar: Scalar, meaning: str, form: Form[object], around: dict[str, Span | None]
    ) -> None:
        span, text = scalar.span, scalar.text
        match meaning:
            case "rule_text" | "type" if isinstance(form, Code):
                tree = self._tree(form.start, scalar)
                if isinstance(tree, nodes.Alternatives):  # of a decision that is declared elsewhere
                    self._alternatives(tree.alternatives, next(self._holders(span)).key.text)
                self._visit(tree, around)
            case "value":
                if _NAME.fullmatch(text):
                    self._word(span, text, ("tables", "rules", "members"))
                elif isinstance(scalar.value, str):
                    self._visit(self._tree("expression", scalar), around)
            case "template":
                for part in template_parts(scalar, lambda diagnostic: None):
                    if not isinstance(part, str):
                        self._visit(part, around)
            case "order":
                if text.startswith("by "):
                    self._order(_tail(span, text[3:].strip()), text[3:].strip())
            case "printed":
                printed = excerpt(scalar)
                if not isinstance(printed, Diagnostic):
                    table, _ = read_printed(printed)
                    for cell in (*table.header, *(cell for row in table.rows for cell in row)):
                        self._cell(cell)
            case "moment":
                phase = text.partition(" of ")[2]
                if ("rules", phase) in self.known:
                    self.mention(_tail(span, phase), "rules", phase)
            case _:
                sections: tuple[str, ...] = (*TYPES, *VALUES, "tables", "events")
                if key in _PROCEDURES:
                    sections = ("rules",)
                elif key == "spaces":
                    sections = ("tables",)
                elif key == "top_shows":
                    sections = ("rules",)
                self._word(span, text, sections)

    def _holders(self, span: Span) -> Iterator[Entry]:
        """Yield the declarations that hold a place."""
        for _, entry in self._sections():
            if entry.value.span.start <= span.start < entry.value.span.end:
                yield entry

    def _alternatives(self, alternatives: tuple[nodes.Alternative, ...], decision: str) -> None:
        for each in alternatives:
            self.mention(_head(each.span, each.name), "options", each.name, decision)

    def _order(self, span: Span, name: str) -> None:
        """Add the rule or the attribute by which the cards of a zone are sorted."""
        zones = [entry.value for entry in self._holders(span)]
        kinds = {word(zone.get(key)) for zone in zones if isinstance(zone, Mapping) for key in ("of", "zone")}
        self._word(span, name, ("rules",))
        for meaning in self._with_attribute(name):
            if meaning.of in kinds:
                self.found.append(Mention(span, meaning))

    def _cell(self, cell: Cell) -> None:
        """Add the node of a printed cell, or the kinds and members in it."""
        if cell.text in self.nodes:
            self.mention(cell.span, "nodes", cell.text)
            return
        for match in _NAME.finditer(cell.text):
            start = cell.span.start + match.start()
            self._word(Span(cell.span.file, start, start + len(match[0])), match[0], ("kinds", "tokens", "members"))

    def _word(self, span: Span, text: str, sections: tuple[str, ...]) -> None:
        for section in sections:
            if section == "members":
                self._member(span, text, None)
            elif (section, text) in self.known:
                self.mention(span, section, text)
                return

    def _member(self, span: Span, name: str, type_: Type | None) -> None:
        """Add a member of the kind from the checker, or of the only kind with such a member."""
        if isinstance(type_, KindType):
            section = {"role": "roles", "phase": "rules"}.get(type_.name, "members")
            self.mention(span, section, name, type_.name if section == "members" else "")
            return
        kinds = [kind.name for kind in self.model.kinds.values() if name in kind.members and not kind.unit]
        if len(kinds) == 1:
            self.mention(span, "members", name, kinds[0])

    # --- rule text

    def _visit(self, node: object, around: dict[str, Span | None]) -> None:
        if isinstance(node, tuple):
            for item in node:
                self._visit(item, around)
            return
        if not isinstance(node, nodes.Node):
            return
        match node:
            case nodes.Name(name):
                self._name(node.span, name, around)
            case nodes.Attribute(of, name):
                self._visit(of, around)
                self._attribute(node, name)
            case nodes.Index(of, keys):
                if isinstance(of, nodes.Name) and of.name not in around and ("tables", of.name) in self.known:
                    self.mention(of.span, "tables", of.name)
                else:
                    self._visit(of, around)
                self._visit(keys, around)
            case nodes.Call(name, arguments):
                self._call(node.name_span, name)
                self._visit(arguments, around)
            case nodes.Aggregate(name, variable, items):
                self.mention(node.name_span, "functions" if name in FUNCTIONS else "language", name)
                self._iterated(node, variable, items, around)
            case nodes.ListFilter(variable, items):
                self._iterated(node, variable, items, around)
            case nodes.ListComprehension(_, variable, items, _):
                self._iterated(node, variable, items, around)
            case nodes.IsKind(value, kind):
                self._visit(value, around)
                self._word(node.kind_span, kind, ("cards", "pieces"))
            case nodes.NamedType(name):
                self._word(node.span, name, TYPES)
                if self.model.graph is not None and name == self.model.graph.node:
                    self.mention(node.span, "graph", "graph")
                elif name in OWN_TYPES:
                    self.mention(node.span, "language", name)
            case nodes.MadeType(maker, of):
                self.mention(_head(node.span, maker), "language", maker)
                self._visit(of, around)
            case nodes.TextLiteral(value):
                self.mention(node.span, "nodes", value)
            case nodes.IntLiteral(value):
                self._card(node.span, value)
            case nodes.Require(test, cites):
                self._visit(test, around)
                for cite in cites:
                    if (place := self._place(node.span, cite)) is not None:
                        self.mention(place, "statements", cite)
            case nodes.Note(event, arguments):
                self.mention(node.name_span, "events", event)
                self._visit(arguments, around)
            case nodes.EventPattern(event, names, test):
                self.mention(_head(node.span, event), "events", event)
                for name in names:
                    self.local(around.get(name) or node.span, name, around.get(name))
                self._visit(test, around)
            case _:
                self._binding(node, around)

    def _binding(self, node: nodes.Node, around: dict[str, Span | None]) -> None:
        """Visit a construct that binds locals; of other nodes, visit the children."""
        match node:
            case nodes.Block(statements):
                inner = dict(around)
                for statement in statements:
                    self._visit(statement, inner)
            case nodes.Let(name, type_, value):
                self._visit((type_, value), around)
                self._bind(node, name, around)
            case nodes.Roll(name, number, items):
                self._visit((number, items), around)
                self._bind(node, name, around)
            case nodes.TestLet(name, value):
                self._visit(value, around)
                self._bind(node, name, around)
            case nodes.If(test, then, otherwise):
                inner = dict(around)
                self._visit(test, inner)
                self._visit(then, inner)
                self._visit(otherwise, around)
            case nodes.ForEach(variable, items, test, body):
                inner = dict(around)
                self._visit(items, inner)
                self._bind(node, variable, inner)
                self._visit((test, body), inner)
            case nodes.Binder(name, items):
                self._visit(items, around)
                place = _head(node.span, name)
                around[name] = place
                self.local(place, name, place)
            case nodes.Match(binders, test):
                self._visit((binders, test), around)
            case nodes.Alternative(_, binders, test, guard, body):
                inner = dict(around)
                self._visit((guard, binders, test, body), inner)
            case nodes.Choose(name, context, seat, _, _, alternatives, each, test):
                inner = dict(around)
                if (asked := self._place(node.span, name)) is not None:
                    self.mention(asked, "asks", name)
                self._alternatives(alternatives, name)
                self._visit(seat, inner)
                if each:
                    self._bind(node, each, inner)
                self._visit((test, tuple(item.value for item in context), alternatives), inner)
            case nodes.Parameter(name, type_):
                place = _head(node.span, name)
                around[name] = place
                self.local(place, name, place)
                self._visit(type_, around)
            case nodes.Function() | nodes.Procedure() | nodes.Verdict():
                inner = dict(around)
                self._visit((node.header, node.lines if isinstance(node, nodes.Verdict) else node.body), inner)
            case _:
                for name in node.__struct_fields__ if isinstance(node, Struct) else ():
                    self._visit(getattr(node, name), around)

    def _bind(self, node: nodes.Node, name: str, around: dict[str, Span | None]) -> None:
        place = self._place(node.span, name)
        around[name] = place
        if place is not None:
            self.local(place, name, place)

    def _iterated(self, node: nodes.Node, variable: str, items: nodes.Expr, around: dict[str, Span | None]) -> None:
        self._visit(items, around)
        inner = dict(around)
        matches = list(re.finditer(rf"\b{variable}\b(?=\s+in\b)", node.span.text[: items.span.start - node.span.start]))
        if matches:
            start = node.span.start + matches[-1].start()
            inner[variable] = place = Span(node.span.file, start, start + len(variable))
            self.local(place, variable, place)
        for name in node.__struct_fields__:
            if name != "items":
                self._visit(getattr(node, name), inner)

    def _name(self, span: Span, name: str, around: dict[str, Span | None]) -> None:
        if name in around:
            self.local(span, name, around[name])
            return
        if name in self.own:
            self.found.append(Mention(span, Meaning("helpers", name, "", self.own[name])))
            return
        if name in OWN_VALUES:
            self.mention(span, "language", name)
            return
        for section in (*VALUES, "kinds", "tokens", "cards"):
            if (section, name) in self.known and section != "has":
                self.mention(span, section, name)
                return
        graph = self.model.graph
        if graph is not None and name == graph.node:
            self.mention(span, "graph", "graph")
            return
        type_ = self.types.get((span.start, span.end))
        if isinstance(type_, KindType):
            self._member(span, name, type_)
            return
        for section in ("tables", "rules", "pieces"):
            if (section, name) in self.known:
                self.mention(span, section, name)
                return
        if name in OWN_TYPES:  # all cards, or all seats
            self.mention(span, "language", name)
        self._member(span, name, None)

    def _call(self, span: Span, name: str) -> None:
        if name == "base":
            self._base(span)
        elif name in self.own:
            self.found.append(Mention(span, Meaning("helpers", name, "", self.own[name])))
        elif ("rules", name) in self.known:
            self.mention(span, "rules", name)
        elif ("records", name) in self.known:
            self.mention(span, "records", name)
        elif name in FUNCTIONS:
            self.mention(span, "functions", name)
        elif ("cards", name) in self.known:
            self.mention(span, "cards", name)

    def _base(self, span: Span) -> None:
        """Add `base`, which means the rule in the layer below."""
        for section, entry in sections_of(self.document.root):
            if section == "rules" and entry.value.span.start <= span.start < entry.value.span.end:
                layers = self.sections.get("rules", {}).get(entry.key.text, ())
                below = [layer.span for layer in layers]
                mine = [i for i, layer in enumerate(below) if layer == entry.key.span]
                if mine and mine[0] > 0:
                    self.found.append(Mention(span, Meaning("base", entry.key.text, "", below[mine[0] - 1])))

    def _card(self, span: Span, value: int) -> None:
        type_ = self.types.get((span.start, span.end))
        if isinstance(type_, CardType):
            for row in self.model.cards:
                if row.key == value and type_.name in ("", row.kind):
                    self.found.append(Mention(span, Meaning("card", str(value), row.kind, row.span)))

    def _attribute(self, node: nodes.Attribute, name: str) -> None:
        of = self.types.get((node.of.span.start, node.of.span.end))
        candidates = set(self._with_attribute(name))
        if of is not None:
            match of:
                case CardType(name=owner) | RecordType(name=owner):
                    pass
                case NodeType() | LinkType() | PlaceType():
                    owner = "graph"
                case _:
                    owner = "seat" if of == SEAT else ""
            own = {each for each in candidates if _owner(each) == owner}
            candidates = own or (set() if name in OWN_NAMES["attribute"] else candidates)
        if not candidates and name in OWN_NAMES["attribute"]:
            candidates = {Meaning("language", name)}
        if len(candidates) == 1:
            self.found.append(Mention(node.name_span, candidates.pop()))

    def _with_attribute(self, name: str) -> Iterator[Meaning]:
        """Yield the meanings of an attribute name, one for each owner."""
        model = self.model
        if ("has", name) in self.known:
            yield Meaning("has", name)
        for kind in model.card_kinds.values():
            if name in kind.attributes or name in kind.carries:
                yield Meaning("attributes", name, kind.name)
        for record, values in model.records.items():
            if name in values:
                yield Meaning("fields", name, record)
        graph = model.graph
        if graph is not None and any(name in each for each in (graph.attributes, graph.link, graph.place)):
            yield Meaning("attributes", name, "graph")
        if graph is not None and name == graph.node:
            yield Meaning("graph", "graph")

    def _place(self, span: Span, name: str, start: int | None = None) -> Span | None:
        """Return the first occurrence of a word within a span."""
        match = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])").search(
            span.file.text, span.start if start is None else start, span.end
        )
        return Span(span.file, match.start(), match.end()) if match else None


def _own_names(document: Document) -> Iterator[tuple[str, Span]]:
    """Yield the private rules and weights of a file of policies or scenarios."""
    for section in ("rules", "weights") if document.kind in ("policies", "scenarios") else ():
        value = document.root.get(section)
        yield from ((entry.key.text, entry.key.span) for entry in (value.entries if isinstance(value, Mapping) else ()))


def _is_of(alternative: str, decision: Entry) -> bool:
    """Return whether an alternative, by its name in a model, belongs to a decision."""
    return alternative.partition(".")[0] == decision.key.text


def _owner(meaning: Meaning) -> str:
    return "seat" if meaning.section == "has" else meaning.of


def _head(span: Span, name: str) -> Span:
    return Span(span.file, span.start, span.start + len(name))


def _tail(span: Span, name: str) -> Span:
    end = span.end - (span.text[-1:] in "\"'")
    return Span(span.file, end - len(name), end)
