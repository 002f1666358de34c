"""Texts and displays of a ruleset: events, boards, measures, the picture and policies.

Takes a model; returns each of these with its facts, in comparable form and as text. None of them is a rule: two
rulesets that differ only in them play the same games.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from msgspec import Struct

from interpreter.compare.play_order import nodes_of, topics_of
from interpreter.engine.ruleset import Ruleset
from interpreter.language import core
from interpreter.language.model import Board, Measure, Model, Phrase, plural
from interpreter.language.translations import TITLED
from interpreter.language.types import Type
from interpreter.reading import yaml

__all__ = ["Facts", "Presented", "own_policies", "plain_facts", "policy_files", "policy_of", "presented"]

Facts = dict[str, tuple[Hashable, str]]
"""Facts of a thing by name: comparable form and text."""


def plain_facts(values: Mapping[str, str] | Iterable[tuple[str, str]]) -> Facts:
    """Return facts whose comparable form is their text, without empty ones."""
    return {key: (value, value) for key, value in dict(values).items() if value}


class Presented(Struct, frozen=True):
    """A text, display or policy: its path, its facts, and a description of the whole."""

    path: str
    kind: str
    name: str
    whole: str
    facts: Facts


def presented(model: Model, text: Callable[[object], Hashable], typed: Callable[[Type], str]) -> Iterator[Presented]:
    """Yield all texts and displays of a model. ``text`` makes a checked tree comparable, ``typed`` describes a type."""
    return _Presenter(model, text, typed).all()


class _Presenter:
    def __init__(self, model: Model, text: Callable[[object], Hashable], typed: Callable[[Type], str]) -> None:
        self.model, self.text, self.typed = model, text, typed

    def all(self) -> Iterator[Presented]:
        noted, offered = self._happens()
        for event in self.model.events.values():
            if event.name in noted:
                values = ", ".join(f"{name}: {self.typed(type_)}" for name, type_ in event.fields.items())
                facts = plain_facts({"with": values}) | self._phrases("says", event.says)
                yield self._thing("events", "event", event.name, facts)
        for name, phrases in self.model.says.items():
            says = self.model.events[name].says if name in self.model.events else {}
            if "en" not in phrases or phrases["en"] == says.get("en") or name.partition(".")[0] in TITLED:
                continue  # same text as the thing itself, or its heading: the thing is compared anyway
            due = offered if name in self.model.alternatives else noted if name in self.model.events else {name}
            if name in due:
                yield self._thing("says", "words", name, self._phrases("", phrases))
        for board in self.model.boards:
            facts = self._board(board)
            columns = ", ".join(name.replace("_", " ") for name, _ in board.columns)
            whole = {key: fact for key, fact in facts.items() if not key.startswith("columns.")}
            whole |= plain_facts({"columns": columns})
            yield self._thing("boards", "board of the log", board.name, facts, whole)
        for measure in self.model.measures:
            yield self._thing("measures", "measure", measure.name, self._measure(measure))
        for name, look in self.model.picture.items():
            facts = {
                str(number or ""): (part, part) if isinstance(part, str) else self._tree(part)
                for number, part in enumerate(look.parts)
            }
            yield self._thing("picture", "look", name, facts)

    def _happens(self) -> tuple[set[str], set[str]]:
        """Return the events that any text notes, and the alternatives that any text offers."""
        noted: set[str] = set()
        offered: set[str] = set()
        for node in chain.from_iterable(nodes_of(self.model, topic) for topic in topics_of(self.model)):
            if isinstance(node, core.Notes):
                noted.add(node.event)
            elif isinstance(node, core.Ask):
                offered.update(f"{node.name}.{option.name}" for option in node.options)
        return noted, offered

    def _thing(self, section: str, kind: str, name: str, facts: Facts, short: Facts | None = None) -> Presented:
        whole = "; ".join(f"{key} {value}".strip() for key, (_, value) in (short or facts).items())
        return Presented(f"{section}.{name}", kind, name, whole, facts)

    def _phrases(self, key: str, phrases: Mapping[str, Phrase]) -> Facts:
        """Return the phrase of each language by key. The key of English, the default, is left out."""
        return {
            ".".join(filter(None, (key, language if language != "en" else ""))): self._phrase(phrase)
            for language, phrase in phrases.items()
        }

    def _phrase(self, phrase: Phrase) -> tuple[Hashable, str]:
        shown = "".join(
            part if isinstance(part, str) else plural(part) or f"{{{_written(part)}}}" for part in phrase.parts
        )
        return self.text(phrase.parts), f"“{shown}”"

    def _tree(self, tree: object) -> tuple[Hashable, str]:
        return self.text(tree), _written(tree)

    def _board(self, board: Board) -> Facts:
        facts: Facts = {"when": (board.when, board.when), **self._phrases("says", board.says)}
        if board.test is not None:
            facts["if"] = self._tree(board.test)
        if board.rows is not None:
            facts["rows"] = self._tree(board.rows)
        return facts | {f"columns.{name}": self._tree(column) for name, column in board.columns}

    def _measure(self, measure: Measure) -> Facts:
        facts: Facts = {"value": self._tree(measure.value)}
        plain = {
            "when": ", ".join(measure.when),
            "on": measure.event or "",
            "by": ", ".join(key.name for key in measure.keys),
            "sums": "yes" if measure.sums else "",
        }
        facts |= plain_facts(plain)
        if measure.test is not None:
            facts["where"] = self._tree(measure.test)
        for number, (_, items) in enumerate(measure.each):
            facts["for" if number == 0 else f"for {number + 1}"] = self._tree(items)
        return facts


def _written(tree: object) -> str:
    assert isinstance(tree, core.Core)
    return " ".join(tree.span.text.split())


# --- policies of bots -------------------------------------------------------------------------------------------------


def policy_files(ruleset: Ruleset) -> dict[str, Path]:
    """Return the policy files of a ruleset's family by id."""
    paths = {id: ruleset.shelf.find("policies", id) for id in ruleset.shelf.ids("policies")}
    family = ruleset.composition.family
    return {id: path for id, path in paths.items() if path is not None and id.partition("/")[0] == family}


def policy_of(ruleset: Ruleset, id: str) -> Presented | None:
    """Return the content of a policy file; None if it cannot be read."""
    document, _ = ruleset.shelf.read("policies", id)
    if document is None:
        return None
    facts: Facts = {}
    for section in ("weights", "rules"):
        facts |= {f"{section}.{name}": (text, text) for name, text in _texts(document.root.get(section))}
    policies = document.root.get("is")
    for entry in policies.entries if isinstance(policies, yaml.Mapping) else ():
        facts |= {f"{entry.key.text}.{name}": (text, text) for name, text in _texts(entry.value)}
    return Presented(f"policies.{id}", "policy", id, document.title, facts)


def own_policies(ruleset: Ruleset) -> Iterator[Presented]:
    """Yield the policies in the ruleset's own files."""
    for name, layers in ruleset.composition.sections.get("policies", {}).items():
        facts: Facts = {decision: (text, text) for entry in layers for decision, text in _texts(entry.value)}
        whole = "; ".join(f"{decision}: {text}" for decision, (_, text) in facts.items())
        yield Presented(f"policies.{name}", "policy", name, whole, facts)


def _texts(value: yaml.Value | None) -> Iterator[tuple[str, str]]:
    """Yield each key and its content on one line, without descriptions."""
    for entry in value.entries if isinstance(value, yaml.Mapping) else ():
        yield entry.key.text, _line(entry.value)


def _line(value: yaml.Value) -> str:
    match value:
        case yaml.Scalar():
            return " ".join(value.text.split())
        case yaml.Sequence():
            return ", ".join(map(_line, value.items))
        case _:
            entries = [entry for entry in value.entries if entry.key.text not in ("about", "cites")]
            return "; ".join(f"{entry.key.text}: {_line(entry.value)}" for entry in entries)
