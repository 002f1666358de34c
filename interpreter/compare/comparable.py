"""One side of a comparison: the behaviour of a ruleset, and the chapter in which each part first matters.

Texts are compared by their outline and its constants. Names of locals, citations and the number of layers do not
matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from collections.abc import Mapping as Dict
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.lazy import Once
from interpreter.compare.outline import Outline
from interpreter.compare.partial_evaluation import Applied
from interpreter.compare.play_order import Topic, calls_in, facts_in, placed, play_of, topics_of, trees_of
from interpreter.engine.game import Ruleset
from interpreter.explain.cross_reference import Part, for_readers, part_of
from interpreter.kernel.state import Value
from interpreter.language import core
from interpreter.language.model import Model
from interpreter.language.types import MadeType, Type
from interpreter.language.walk import descendants
from interpreter.reading.ruleset_files import can_have
from interpreter.reading.yaml import Mapping, Scalar, Sequence
from interpreter.sections.behaviour import Case

__all__ = ["CHAPTERS", "Compared", "Side", "Text", "View"]

CHAPTERS = {
    "players": "Who plays",
    "box": "What the box holds",
    "board": "The board",
    "start": "Where things lie at first",
    "settings": "Settings and interpretations",
    "round": "The course of a round",
    "standing": "At any time",
    "result": "Who wins",
    "others": "Elsewhere",
    "told": "Said and shown",
}
"""Titles of the chapters other than phases and the set-up, which are titled after their rules."""


class Side(Struct, frozen=True):
    """Value of one ruleset at a path: in short form, and for rule texts the active layers, lowest first."""

    value: str
    parts: tuple[Part, ...] = ()


class Text(Struct, frozen=True):
    """A rule text in comparable form: its outline, and the public names of its constants."""

    shape: Hashable
    constants: tuple[str, ...]


class Compared(Once):
    """A ruleset to compare, possibly with several others."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset, self.whole = ruleset, View(ruleset, ruleset.model)
        self._applied = Applied(ruleset.model)
        self._views: dict[int, View] = {}

    @cached_property
    def taken(self) -> frozenset[str]:
        """Ids of the overlays that it has, or gets with some number of players."""
        return frozenset([*self.ruleset.overlays, *dict(self.ruleset.players.overlays).values()])

    @cached_property
    def optional(self) -> dict[str, str]:
        """Optional overlays that it does not have: titles by id."""
        shelf = self.ruleset.shelf
        here = {document.id for document in self.ruleset.composition.documents}
        return {
            overlay.id: overlay.title
            for overlay in shelf.documents("overlay")
            if overlay.id not in self.taken and can_have(here, overlay)
        }

    def view(self, settings: Dict[str, Value], open_: frozenset[str]) -> View:
        """Return the part that applies under known settings. The names in ``open_`` are not treated as constants."""
        model = self._applied.under(settings, open_)
        return self._views.setdefault(id(model), View(self.ruleset, model, self.whole))


class View(Once):
    """A model of a ruleset, with its texts in comparable form. ``whole`` is the view without known settings, in which
    all that does not depend on them is found once."""

    def __init__(self, ruleset: Ruleset, model: Model, whole: View | None = None) -> None:
        self.ruleset, self.model, self.whole = ruleset, model, whole or self
        self._texts: dict[Topic, list[Text]] = {}
        self._shared: dict[int, list[Text]] = whole._shared if whole is not None else {}
        """Texts by identity of their rules, most of which are the same in all views."""

    def text(self, tree: object) -> Text:
        outline = Outline(self.model)
        shape = outline.of(tree)
        return Text(shape, tuple(self._constant(constant.value, constant.type) for constant in outline.constants))

    def _constant(self, value: Value, type_: Type) -> str:
        """Return a constant in comparable form. All things of a kind are equal to all things of the same kind, whatever
        their names."""
        of = type_.of if isinstance(type_, MadeType) else None
        if of is not None and isinstance(value, tuple) and len(value) > 1 and value == tuple(self.model.values(of)):
            return f"every {self.ruleset.model.word(of)}"
        return self.shown(value, type_)

    def shown(self, value: Value, type_: Type) -> str:
        return "-" if value is None or value == () else self.ruleset.names.text(value, type_)

    def written(self, tree: core.Expression) -> str:
        """Return the source text of an expression, or the value of a constant."""
        return self.shown(tree.value, tree.type) if isinstance(tree, core.Const) else tree.span.on_one_line

    # --- rules, triggers and standing rules

    def texts(self, topic: Topic) -> list[Text]:
        """Return the texts of a topic, one per layer."""
        if topic not in self._texts:
            rule = self.model.rules[topic.name] if topic.section == "rules" else None
            is_own = rule is None or any(layer.facts.keeps for layer in rule.layers)  # other views have other blocks
            known = {} if is_own else self._shared
            if id(rule) not in known:
                known[id(rule)] = [self.text(tree) for tree in trees_of(self.model, topic)]
            self._texts[topic] = known[id(rule)]
        return self._texts[topic]

    def side(self, topic: Topic, texts: Iterable[int]) -> Side:
        """Return some of the texts of a topic, with their descriptions and citations."""
        is_rule = topic.section == "rules"
        layers = [layer.layer for layer in self.model.rules[topic.name].in_force] if is_rule else [-1]
        parts = tuple(self.whole.once(View._part, topic, layers[place]) for place in texts)
        return Side("\n".join(f"where {part.when}:\n{part.text}" if part.when else part.text for part in parts), parts)

    def _part(self, topic: Topic, layer: int) -> Part:
        section, entry = topic.section, self.ruleset.composition.layers(topic.section, topic.name)[layer]
        part = part_of(self.ruleset, section, entry)
        own = set(self.ruleset.own_cites(tuple(quote.id for quote in part.cites)))
        text = part.text if section == "rules" else "\n".join(_lines(entry.value))
        cites = tuple(quote for quote in part.cites if quote.id in own)
        return replace(part, text=text, about=entry.remarks.about, cites=cites)

    # --- chapters in the order of play

    @cached_property
    def chapters(self) -> dict[Topic, str]:
        """The chapter of every topic: the first moment at which it matters."""
        model, possible = self.model, self.ruleset.program.reach.phase_events
        heads = [(name, [Topic("rules", name)]) for name in self.phases if name in model.rules]
        for name in self.phases:
            events = possible.get(name, ())
            heard = [Topic("triggers", trigger.name) for trigger in model.triggers.values() if trigger.event in events]
            heads.append((name, heard))
        checks = [name for name in model.all_checks if name in model.rules]
        heads += [
            ("standing", [*topics_of(model, "standing")]),
            ("result", [*calls_in(descendants(model.ranking))]),
            ("settings", [Topic("rules", name) for name in checks]),
            ("others", [*topics_of(model, "triggers", "rules")]),
        ]
        return {topic: chapter for chapter, topic in placed(model, heads)}

    @cached_property
    def tables(self) -> dict[str, str]:
        """The chapter of every table: the chapter of its first reader."""
        order = ["start", *self.phases, *CHAPTERS]
        chapters = {group.spaces: "start" for group in self.model.groups.values() if group.spaces}
        starts = (group.start for group in self.model.groups.values() if group.start is not None)
        chapters |= {node.table: "start" for node in descendants(tuple(starts)) if isinstance(node, core.TableCell)}
        for topic, chapter in sorted(self.chapters.items(), key=lambda item: order.index(item[1])):
            for facts in facts_in(self.model, topic):
                for table in sorted(facts.tables):
                    chapters.setdefault(table, chapter)
        return chapters

    @property
    def phases(self) -> list[str]:
        return play_of(self.model)


def _lines(value: Value) -> Iterator[str]:
    """Yield the lines of a trigger or standing rule, without its description."""
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
                    yield f"in {', '.join(phase.text for phase in Case(case).in_)}:"
                    yield from _lines(case)
