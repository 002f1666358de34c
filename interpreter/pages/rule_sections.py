"""Section of a rulebook about a rule, trigger or standing rule: its summary and statements, then its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import UnionType

from interpreter.base.plurals import titled
from interpreter.base.yaml_values import word
from interpreter.compare.play_order import Topic, nodes_of
from interpreter.engine.game import Ruleset
from interpreter.explain.cross_reference import for_readers, line_of, type_in_words, written
from interpreter.language import core
from interpreter.language.core import Core
from interpreter.language.model import Phrase, RuleLayer, plural
from interpreter.language.nodes import Node
from interpreter.language.types import Type
from interpreter.pages.page import (
    Block,
    Code,
    Facts,
    Folded,
    Id,
    Inline,
    Link,
    Listing,
    Paragraph,
    Place,
    Section,
    Slot,
    Source,
    Statements,
    Strong,
    Words,
    joined,
)
from interpreter.reading.statements import Statement
from interpreter.sections.behaviour import Standing, Trigger
from interpreter.sections.declarations import Entry, amended

__all__ = ["Teller", "sentence"]

_IDS = {"rules": "rule", "tables": "table", "triggers": "trigger", "standing": "standing"}


class Teller:
    """Writer of sections about the rules of one ruleset."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset, self.model = ruleset, ruleset.model
        documents = ruleset.composition.documents
        self._titles = {each.id: each.title for each in documents}
        self._targets = {
            name: f"{_IDS[section]}-{name}" for section in ("tables", "rules") for name in getattr(self.model, section)
        }

    # --- words

    def said(self, name: str) -> str:
        """Return a text of the ruleset without ornaments; an empty text if it is none, or has values."""
        return self.ruleset.names.word(name).strip(" –—-*=.:")

    def heading(self, section: str, name: str) -> str:
        """Return the heading of a declaration: its words for readers, or its name."""
        return titled(self.said(f"{section}.{name}") or name)

    def link(self, topic: Topic) -> Link:
        said = self.said(f"{topic.section}.{topic.name}") or titled(topic.name).lower()
        return Link(f"{_IDS[topic.section]}-{topic.name}", said)

    def reference(self, section: str, name: str) -> Inline:
        """Return a heading, linked to its section if it has one."""
        if section not in _IDS or name not in getattr(self.model, section):
            return titled(name)
        return Link(f"{_IDS[section]}-{name}", self.heading(section, name))

    def type_text(self, type_: Type) -> str:
        return type_in_words(self.ruleset, type_).replace("_", " ")

    def code(self, tree: Core | Node) -> Code:
        return Code(tree.span.on_one_line)

    def guard(self, entry: Entry) -> tuple[Inline, ...]:
        """Return the conditions under which a layer applies."""
        conditions: list[Inline] = [Code(" ".join(each.text.split())) for each in entry.conditions]
        return tuple(joined(conditions))

    def template(self, phrases: dict[str, Phrase] | None) -> tuple[Inline, ...]:
        """Return the text of a log template with placeholders; an empty tuple if it is empty."""
        phrase = (phrases or {}).get("en")
        if phrase is None or not phrase.parts:
            return ()
        parts = (
            part if isinstance(part, str) else plural(part) or Slot(part.span.on_one_line) for part in phrase.parts
        )
        return ("“", *parts, "”")

    # --- statements

    def cites_of(self, entries: Iterable[Entry]) -> list[str]:
        return [cite.text for entry in entries for cite in entry.cited]

    def _quoted(self, ids: Iterable[str]) -> list[Statement]:
        own = dict.fromkeys(self.ruleset.own_cites(tuple(dict.fromkeys(ids))))
        return [self.ruleset.statements[id] for id in own if id in self.ruleset.statements]

    def statements(self, ids: Iterable[str]) -> list[Block]:
        quoted = self._quoted(ids)
        return [Statements(quoted)] if quoted else []

    def folded_statements(self, ids: Iterable[str]) -> list[Block]:
        """Return statements as collapsed content, since the page shows the same facts beside them."""
        quoted = self._quoted(ids)
        ending = "" if len(quoted) == 1 else "s"
        many = f"{len(quoted)} statement{ending} of the rulebook{ending}"
        return [Folded(many, [Statements(quoted)])] if quoted else []

    # --- sections

    def section(self, topic: Topic) -> Section:
        """Return the section of a topic."""
        tell = {"rules": self._rule, "triggers": self._trigger, "standing": self._standing}[topic.section]
        said = tuple(tell(topic.name))
        return Section(
            f"{_IDS[topic.section]}-{topic.name}",
            self.heading(topic.section, topic.name),
            (*said, *self._uses(topic), *self._texts(topic, unfolded=not said)),
            is_listed=bool(said),
        )

    def _rule(self, name: str) -> Iterator[Block]:
        layers = self.model.rules[name].in_force
        entries = self.ruleset.composition.layers("rules", name)
        seen: set[str] = set()
        for layer in layers:
            entry = entries[layer.layer]
            if len(layers) > 1:
                yield self._layer_head(layer, entry)
            yield from _about(entry)
            lines = [*self._lines(layer, seen)]
            yield from self.statements(_fresh(layer.all_cites, seen))
            yield from lines
            yield from self._asks(layer)

    def _layer_head(self, layer: RuleLayer, entry: Entry) -> Paragraph:
        title = self._titles.get(layer.file, layer.file)
        part = f", {titled(layer.part).lower()}" if layer.part else ""
        how = {"replaces": " instead", "wraps": " changes it"}.get(layer.covers, "")
        guard = self.guard(entry)
        return Paragraph((Strong(f"{title}{part}"), how, *((" where ", *guard) if guard else ()), ":"), "layer")

    def _lines(self, layer: RuleLayer, seen: set[str]) -> Iterator[Block]:
        """Yield the conditions of a verdict, each with the statements that it implements."""
        if layer.form != "permits":
            return
        pairs: list[tuple[Words, Words]] = []
        for line in layer.requirements:
            text = (line.span if line.bind is not None else line.test.span).on_one_line
            quoted = self._quoted(_fresh(line.cites, seen))
            pairs.append((Code(text), tuple(word for each in quoted for word in (each.told, " ", Id(each.id), " "))))
        yield Paragraph("All of this must hold:")
        yield Facts(pairs)

    def _asks(self, layer: RuleLayer) -> Iterator[Block]:
        for ask in layer.facts.asks:
            often = ", as often as they like" if ask.repeatedly else ""
            unseen = ", unseen by the others" if ask.sealed else ""
            who: tuple[Inline, ...] = self.code(ask.seat), f" chooses{often}{unseen}:"
            if ask.at_once is not None:
                until = "" if ask.sealed else " until all have"
                who = "each of ", self.code(ask.at_once), f" chooses, unseen by the others{until}:"
            yield Paragraph((Strong(titled(ask.name)), ": ", *who))
            yield Listing([self._alternative(ask, option) for option in ask.options])

    def _alternative(self, ask: core.Ask, option: core.Option) -> Words:
        said = self.template(self.model.says.get(f"{ask.name}.{option.name}"))
        parts: list[Inline] = [Strong(titled(option.name).lower()), *((" ", *said) if said else ())]
        for place, choice in enumerate(option.choices):
            parts += [", with " if place == 0 else " and ", Code(f"{choice.name} in {choice.items.span.on_one_line}")]
        for place, test in enumerate(option.tests):
            parts += [", where " if place == 0 else " and ", self.code(test)]
        if option.guard is not None:
            parts += [", if ", self.code(option.guard)]
        for id in self.ruleset.own_cites(option.cites):
            parts += [" ", Id(id)]
        return tuple(parts)

    def _trigger(self, name: str) -> Iterator[Block]:
        trigger = self.model.triggers[name]
        entry = amended(self.ruleset.composition.layers("triggers", name))
        event = self.model.events[trigger.event]
        said = self.template(self.model.says.get(event.name) or event.says) or (Code(event.name),)
        heard = Code(" ".join(word(entry.read(Trigger).on).split()))
        yield Paragraph(("Right after ", *said, ", in rule text ", heard, ":"))
        yield from _about(entry)
        seen: set[str] = set(trigger.cites)
        yield from self.statements(trigger.cites)
        for case in trigger.cases:
            nothing = "" if case.procedure else " nothing happens"
            if case.phases:
                phases = [Link(f"chapter-{phase}", titled(phase).lower()) for phase in case.phases]
                yield Paragraph(("In ", *joined(phases), f":{nothing}"), "layer")
            elif len(trigger.cases) > 1:
                yield Paragraph(f"In every other phase:{nothing}", "layer")
            yield from self.statements(_fresh(case.cites, seen))
            if case.procedure is not None:
                yield from self._asks(self.model.blocks[case.procedure])

    def _standing(self, name: str) -> Iterator[Block]:
        entry = amended(self.ruleset.composition.layers("standing", name))
        keys = entry.read(Standing)
        for text, how in ((word(keys.for_), "Whenever there is "), (word(keys.whenever), "Whenever ")):
            if text:
                yield Paragraph((how, Code(" ".join(text.split())), ":"))
        yield from _about(entry)
        standing = self.model.standing[name]
        yield from self.statements(standing.cites)
        yield from self._asks(self.model.blocks[standing.procedure])

    # --- related parts and source

    def _uses(self, topic: Topic) -> Iterator[Block]:
        """Yield links to what a rule uses: log texts, triggers, random streams, tables, other rules and settings."""
        nodes = list(nodes_of(self.model, topic))
        events = dict.fromkeys(node.event for node in nodes if isinstance(node, core.Notes))
        texts = [self.template(self.model.says.get(event) or self.model.events[event].says) for event in events]
        pairs: list[tuple[Words, Words]] = []
        if spoken := [part for text in texts if text for part in (*text, " ")]:
            pairs.append(("log text", tuple(spoken[:-1])))
        heard = [each.name for each in self.model.triggers.values() if each.event in events and each.name != topic.name]
        for label, links in (
            ("may trigger", [self.link(Topic("triggers", each)) for each in heard]),
            ("random", [Code(name) for name in _named(nodes, core.Shuffles | core.Picks, "chance")]),
            ("tables", [self.reference("tables", name) for name in _named(nodes, core.TableCell, "table")]),
            ("calls", [self.link(Topic("rules", name)) for name in _named(nodes, core.CallRule, "rule")]),
            ("depends on", [self._setting(name) for name in _named(nodes, core.SettingValue, "name")]),
        ):
            if links:
                pairs.append((label, tuple(joined(links))))
        if pairs:
            yield Facts(pairs)

    def _setting(self, name: str) -> Inline:
        to = f"interpretation-{name}" if name in self.model.interpretations else "settings"
        return Link(to, titled(name).lower())

    def _texts(self, topic: Topic, *, unfolded: bool) -> Iterator[Block]:
        """Yield the source of a rule, each layer with its position."""
        entries = self.ruleset.composition.layers(topic.section, topic.name)
        if topic.section == "rules":
            entries = [entries[layer.layer] for layer in self.model.rules[topic.name].in_force]
        places = [Place(line_of(entry.span)) for entry in entries]
        links = {name: id for name, id in self._targets.items() if (topic.section, topic.name) != ("rules", name)}
        blocks: list[Block] = []
        for entry, place in zip(entries, places, strict=True):
            if len(entries) > 1:
                blocks.append(Paragraph(place))
            blocks += [Source(text, links) for text in _written(topic.section, entry)]
        yield Folded(("source, ", *joined(places)), blocks, unfolded)


def _written(section: str, entry: Entry) -> Iterator[str]:
    """Yield the source of an entry; for a trigger, that of each case."""
    if section == "rules":
        yield written(section, entry)
        return
    trigger = Trigger.of_layers([entry])
    for case in trigger.cases:
        yield f"# {', '.join(each.text for each in case.in_)}\n{for_readers(word(case.does))}"
    for text in (trigger.does, trigger.otherwise):
        if text is not None:
            yield for_readers(text.text)


def _about(entry: Entry) -> Iterator[Block]:
    if about := entry.remarks.about:
        yield Paragraph(sentence(about))


def _fresh(ids: Iterable[str], seen: set[str]) -> list[str]:
    """Return the ids that are not seen yet, and note them."""
    fresh = [id for id in dict.fromkeys(ids) if id not in seen]
    seen.update(fresh)
    return fresh


def sentence(text: str) -> str:
    """Return a remark as a sentence, with a capital letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if re.search(r"[.!?:…]$", text) else ".")


def _named(nodes: Iterable[object], of: type | UnionType, attribute: str) -> list[str]:
    return list(dict.fromkeys(getattr(node, attribute) for node in nodes if isinstance(node, of)))
