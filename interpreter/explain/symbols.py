"""Symbols: the names in the files of a ruleset, for hover, definition, references, rename and explanations.

The input is a document and the results of checking a ruleset that contains it. What names mean comes from the checker
(:mod:`interpreter.explain.mentions`); this module collects it, says where names are declared and describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.base.plain_data import Value as Number
from interpreter.base.source import Span
from interpreter.base.yaml_values import words
from interpreter.engine.values import Names
from interpreter.explain.mentions import Meaning, Mention, mentions_in
from interpreter.language.builtins import FUNCTIONS, OWN_NAMES
from interpreter.language.check import bindings
from interpreter.language.model import Model
from interpreter.language.types import NOTHING, SEAT, Type
from interpreter.loading.pipeline import Examined
from interpreter.reading.composition import Composition
from interpreter.reading.files import Document
from interpreter.reading.yaml import Mapping, Value
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["declared", "described", "mentions", "own_uses", "signature_text"]


def mentions(document: Document, examined: Examined) -> list[Mention]:
    """Return every name in a file whose meaning is known, in order of position."""
    model, composition, statements = examined.model or Model("", "", ""), examined.composition, examined.statements
    if examined.bindings is None:
        found = bindings(composition, statements) if composition is not None else []
        examined.bindings = [*found, *examined.policies.bindings]
    return mentions_in(document, composition, model, statements, examined.bindings)


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
            insides += [entry.get("link"), entry.get("place")]
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
    gives = f" -> {model.word(signature.result)}" if signature.result != NOTHING else ""
    return f"{name}({_typed(model, signature.parameters)}){gives}"


def described(model: Model, meaning: Meaning) -> str:
    """Describe a name on one line; empty if there is nothing to say but its kind."""
    name, of, graph = meaning.name, meaning.of, model.graph
    match meaning.section:
        case section if section in STATE_SECTIONS and name in model.groups:
            group = model.groups[name]
            return f"{'seat.' if group.owner == SEAT else ''}{model.spoken_group(group)}: {model.word(group.type)}"
        case "settings" if name in model.settings:
            return f"{name}: {model.word(model.settings[name].type)}"
        case "interpretations" if name in model.interpretations:
            doubt = model.interpretations[name]
            readings = (f"  {each}: {text}" for each, text in doubt.readings.items())
            return "\n".join([f"{name} = {doubt.default}", *readings])
        case "tables" if name in model.tables:
            table = model.tables[name]
            return f"{name}[{', '.join(table.keys)}] -> {model.word(table.gives)}"
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
            return f"{owner}.{name}{f': {model.word(type_)}' if type_ is not None else ''}"
        case "nodes" if graph is not None:
            values = next((row.values for row in graph.nodes if row.name == name), {})
            return f'{graph.node} "{name}" {_valued(model, values, graph.attributes)}'.rstrip()
        case "card":
            row = next((row for row in model.cards if row.span == meaning.span), None)
            values, types = (row.values, model.card_kinds[row.kind].columns) if row is not None else ({}, {})
            return f"{of} {name} {_valued(model, values, types)}".rstrip()
        case "graph" if graph is not None:
            return f"{graph.node}: a node of the graph"
        case "functions":
            function = FUNCTIONS[name]
            return f"{name}({', '.join(function.parameters)}{', …' if function.many else ''}) -> {function.gives}"
        case _:
            return ""


def _typed(model: Model, pairs: Iterable[tuple[str, Type]]) -> str:
    return ", ".join(f"{name}: {model.word(type_)}" for name, type_ in pairs)


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
