"""One side of a comparison: a ruleset by what it does, and where in the order of play each part of it first matters.

Texts are compared by their outline and by the constants in it; in how many layers they were put together, what their
locals are called and which statements they cite makes no difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from collections.abc import Mapping as Dict
from dataclasses import dataclass, replace
from functools import cached_property

from interpreter.compare.outline import Outline
from interpreter.compare.partial_evaluation import applied
from interpreter.compare.play_order import Topic, below, nodes_of
from interpreter.engine.ruleset import Ruleset
from interpreter.explain.cross_reference import Part, for_readers, part_of, type_text
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import Model, RuleLayer
from interpreter.language.types import CardType, KindType, MadeType, NodeType, Type
from interpreter.language.walk import descendants
from interpreter.reading.compose import Entry, word, words
from interpreter.reading.ruleset_files import can_have
from interpreter.reading.yaml import Mapping, Scalar, Sequence

__all__ = ["CHAPTERS", "Compared", "Side", "Text", "View"]

CHAPTERS = {
    "players": "Who plays",
    "box": "What the box holds",
    "board": "The board",
    "start": "Where things lie at first",
    "settings": "Settings and doubts",
    "round": "The course of a round",
    "standing": "At any time",
    "result": "Who wins",
    "others": "Elsewhere",
    "told": "Said and shown",
}
"""What chapters are called that are no phase and not the set-up; those bear the names of their rules."""


@dataclass(frozen=True, slots=True)
class Side:
    """Value of one ruleset at a path: in short form, and for texts each active layer, lowest first."""

    value: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it is compared: its outline, and the constants in it as others name them."""

    shape: Hashable
    constants: tuple[str, ...]


class Compared:
    """A ruleset that is compared, perhaps with several others."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self._views: dict[Hashable, View] = {}

    @cached_property
    def whole(self) -> View:
        return View(self.ruleset, self.ruleset.model)

    @cached_property
    def taken(self) -> frozenset[str]:
        """The overlays that it holds, or that some numbers of players take in."""
        return frozenset([*self.ruleset.overlays, *dict(self.ruleset.players.overlays).values()])

    @cached_property
    def optional(self) -> dict[str, str]:
        """The overlays that it can have and does not, with their titles."""
        shelf = self.ruleset.shelf
        here = {document.id for document in self.ruleset.composition.documents}
        read = (shelf.read("overlay", id)[0] for id in shelf.ids("overlay"))
        return {
            overlay.id: word(overlay.root.get("title"), overlay.id)
            for overlay in read
            if overlay is not None and overlay.id not in self.taken
            if can_have(here, overlay)
        }

    def view(self, settings: Dict[str, Value], open_: frozenset[str]) -> View:
        """Return the part that applies under the known settings; some names are not treated as constants."""
        key = (tuple(sorted(settings.items())), open_)
        if key not in self._views:
            self._views[key] = View(self.ruleset, applied(self.ruleset.model, settings, open_))
        return self._views[key]


class View:
    """A model of a ruleset, with its texts in a form that can be compared."""

    def __init__(self, ruleset: Ruleset, model: Model) -> None:
        self.ruleset, self.model = ruleset, model
        self._layers: dict[str, list[RuleLayer]] = {}
        self._texts: dict[tuple[str, str], list[Text]] = {}

    def text(self, tree: object) -> Text:
        outline = Outline(self.model)
        shape = outline.of(tree)
        return Text(shape, tuple(self._constant(each.value, each.type) for each in outline.constants))

    def _constant(self, value: Value, type_: Type) -> str:
        """A constant as it is compared: all things of a sort are that, whatever they are called."""
        of = type_.of if isinstance(type_, MadeType) else None
        if of is not None and isinstance(value, tuple) and len(value) > 1 and value == self._all(of):
            return f"every {type_text(self.ruleset, of)}"
        return self.shown(value, type_)

    def _all(self, of: Type) -> tuple[int, ...] | None:
        match of:
            case NodeType() if self.model.graph is not None:
                return tuple(range(len(self.model.graph.nodes)))
            case KindType() if of.name in self.model.kinds:
                return tuple(range(len(self.model.kinds[of.name].members)))
            case CardType():
                return tuple(n for n, row in enumerate(self.model.cards) if of.name in ("", row.kind))
            case _:
                return None

    def shown(self, value: Value, type_: Type) -> str:
        return "-" if value is None or value == () else self.ruleset.names.text(value, type_)

    def written(self, tree: core.Expression) -> str:
        """An expression as it stands in a file; a constant as its value."""
        return self.shown(tree.value, tree.type) if isinstance(tree, core.Const) else " ".join(tree.span.text.split())

    # --- rules, triggers and standing rules

    def layers(self, name: str) -> list[RuleLayer]:
        """The layers of a rule down to the first that always answers and asks none below."""
        if name not in self._layers:
            layers = list(self.model.rules[name].layers)
            whole = [place for place, each in enumerate(layers) if each.when is None and not _asks_below(each.body)]
            self._layers[name] = layers[whole[-1] if whole else 0 :]
        return self._layers[name]

    def texts(self, topic: Topic) -> list[Text]:
        """The texts of a topic, one for each layer."""
        key = (topic.section, topic.name)
        if key not in self._texts:
            self._texts[key] = [self.text(tree) for tree in self._trees(topic)]
        return self._texts[key]

    def _trees(self, topic: Topic) -> Iterator[object]:
        model, name = self.model, topic.name
        match topic.section:
            case "rules":
                rule = model.rules[name]
                types = tuple(type_ for _, type_ in rule.parameters)
                yield from ((types, rule.result, each.when, _plain(each)) for each in self.layers(name))
            case "triggers":
                each = model.triggers[name]
                cases = tuple((case.phases, self._block(case.procedure)) for case in each.cases)
                yield each.event, each.test, cases
            case _:
                standing = model.standing[name]
                yield standing.binders, standing.test, self._block(standing.procedure)

    def _block(self, procedure: str | None) -> object:
        return _plain(self.model.blocks[procedure]) if procedure is not None else None

    def entries(self, topic: Topic) -> list[Entry]:
        """The declaration of each text."""
        entries = self.ruleset.composition.layers(topic.section, topic.name)
        if topic.section == "rules":
            return [entries[layer.layer] for layer in self.layers(topic.name)]
        return entries[-1:]

    def side(self, topic: Topic, texts: Iterable[int]) -> Side:
        """Some of the texts of a topic, with what their authors say of them."""
        entries = self.entries(topic)
        parts = tuple(self._part(topic.section, entries[place]) for place in texts)
        return Side("\n".join(f"where {part.when}:\n{part.text}" if part.when else part.text for part in parts), parts)

    def _part(self, section: str, entry: Entry) -> Part:
        part = part_of(self.ruleset, section, entry)
        own = set(self.ruleset.own_cites(tuple(quote.id for quote in part.cites)))
        text = part.text if section == "rules" else "\n".join(_lines(entry.value))
        about = word(entry.get("about"))
        return replace(part, text=text, about=about, cites=tuple(quote for quote in part.cites if quote.id in own))

    # --- where in the order of play

    @cached_property
    def chapters(self) -> dict[Topic, str]:
        """The chapter of every topic: the moment at which it first comes into play."""
        model, facts = self.model, self.ruleset.program.reach.phase_facts
        play = [*([model.setup] if model.setup else []), *model.phases]
        firsts = {Topic("rules", name) for name in play if name in model.rules}
        seen = set(firsts)
        found: dict[Topic, str] = {}
        heads: list[tuple[str, list[Topic]]] = [(name, [Topic("rules", name)]) for name in play if name in model.rules]
        for name in play:
            events = facts[name].events if name in facts else ()
            heard = [Topic("triggers", each.name) for each in model.triggers.values() if each.event in events]
            heads.append((name, heard))
        checks = [each.check for each in model.settings.values() if each.check in model.rules]
        heads += [
            ("standing", [Topic("standing", name) for name in model.standing]),
            ("result", [Topic("rules", each.rule) for each in _calls(model.ranking)]),
            ("settings", [Topic("rules", name) for name in checks if name]),
            ("others", [Topic(of, name) for of in ("triggers", "rules") for name in getattr(model, of)]),
        ]
        for chapter, topics in heads:
            if topics == [Topic("rules", chapter)]:
                seen.difference_update(topics)
            found.update(dict.fromkeys(below(model, topics, seen), chapter))
        return found

    @cached_property
    def tables(self) -> dict[str, str]:
        """The chapter of every table: of what reads it first."""
        order = ["start", *self.phases, *CHAPTERS]
        found = {group.spaces: "start" for group in self.model.groups.values() if group.spaces}
        starts = (group.start for group in self.model.groups.values() if group.start is not None)
        found |= {node.table: "start" for node in descendants(tuple(starts)) if isinstance(node, core.TableCell)}
        for topic, chapter in sorted(self.chapters.items(), key=lambda item: order.index(item[1])):
            for node in nodes_of(self.model, topic):
                if isinstance(node, core.TableCell):
                    found.setdefault(node.table, chapter)
        return found

    @property
    def phases(self) -> list[str]:
        return [*([self.model.setup] if self.model.setup else []), *self.model.phases]


def _plain(layer: RuleLayer) -> object:
    """A text, of which a function in one line says the same as one that only returns a value."""
    match layer.body:
        case (core.Returns(value),) if layer.form == "is":
            return value
        case body:
            return body


def _lines(value: Value) -> Iterator[str]:
    """Return the content of a trigger or standing rule line by line, without its description."""
    for entry in value.entries if isinstance(value, Mapping) else ():
        key, text = entry.key.text, entry.value
        if isinstance(text, Scalar) and key in ("on", "for", "whenever"):
            yield f"{key} {' '.join(text.text.split())}:"
        elif isinstance(text, Scalar) and key in ("does", "otherwise"):
            yield from ("otherwise:",) if key == "otherwise" else ()
            yield from (f"  {line}" for line in for_readers(text.text).splitlines())
        elif isinstance(text, Sequence) and key == "cases":
            for case in text.items:
                if isinstance(case, Mapping):
                    yield f"in {', '.join(each.text for each in words(case.get('in')))}:"
                    yield from _lines(case)


def _asks_below(body: object) -> bool:
    return any(isinstance(node, core.CallBase) for node in descendants(body))


def _calls(tree: object) -> Iterator[core.CallRule]:
    return (node for node in descendants(tree) if isinstance(node, core.CallRule))
