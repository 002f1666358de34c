"""Every name that rules can use: its meanings, and all places that use it.

A composed ruleset and a name go in: a declaration such as a rule, table, trigger or setting, a member of a kind, an
attribute, a node, the family's word for nodes, a built-in, a cell of a table, the id of a statement, or words that
sentences say. :class:`~interpreter.explain.cross_reference.Explanation` values come out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import Mapping
from interpreter.engine.citations import lowest_in_force
from interpreter.engine.game import Ruleset
from interpreter.engine.kept_texts import kept_trees
from interpreter.explain.cross_reference import (
    WORDS,
    Explanation,
    Part,
    Use,
    cell_explained,
    facts_of,
    line_of,
    part_of,
    statement_explained,
)
from interpreter.explain.mentions import Meaning
from interpreter.explain.symbols import declared, described, mentions, own_uses
from interpreter.explain.word_search import Sentence, said, sentences_of
from interpreter.language.builtins import FUNCTIONS, OWN_NAMES
from interpreter.loading.pipeline import Examined, follow
from interpreter.reading.file_declarations import sections_of
from interpreter.reading.files import Document
from interpreter.reading.yaml import Scalar
from interpreter.sections.documents import NAMED_SECTIONS, SINGLE_SECTIONS

__all__ = ["Lexicon", "explain"]

_CELL = re.compile(r"([a-z][a-z0-9_]*)\[(.*)\]")
_OF_OTHERS = ("decisions", "says")
"""Sections whose names are declared elsewhere."""
_PRIVATE = ("base", "files", "helpers", "locals", "statements")
"""Sections of mentions that are no names for all rules."""
_INSIDE = {"attributes": "attribute", "fields": "field", "members": "member", "options": "alternative"}


def explain(ruleset: Ruleset, name: str) -> list[Explanation]:
    """Return all meanings of a name in a ruleset, or the sentences that say some words. Raises ``LookupError``."""
    return Lexicon(ruleset).explain(name)


class Lexicon:
    """The names of a ruleset."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset, self.model = ruleset, ruleset.model
        self.sections = ruleset.composition.sections
        self._examined = Examined([], ruleset.composition, ruleset.model, None, ruleset.statements)
        follow(ruleset.shelf, self._examined)
        self._uses: dict[Meaning, dict[Use, str]] = {}
        self._meanings: dict[str, dict[Meaning, None]] = {}
        for section, entries in self.sections.items():
            for name in entries if section in WORDS and section not in _OF_OTHERS else ():
                self._add(Meaning(section, name))
        for row in self.model.cards:
            if row.key is not None:
                self._add(Meaning("card", str(row.key), row.kind, row.span))
        with kept_trees():
            for document in ruleset.composition.documents:
                self._read(document)
        for name in FUNCTIONS:
            self._add(Meaning("functions", name))
        for name in (name for names in OWN_NAMES.values() for name in names):
            self._add(Meaning("language", name))

    def _add(self, meaning: Meaning) -> dict[Use, str]:
        name, graph = meaning.name, self.model.graph
        if meaning.section == "rules":
            name = name.partition(" of ")[0]  # without the file of a local rule
        words = [name, *([graph.node] if meaning.section == "graph" and graph is not None else [])]
        if meaning.section == "has" and (group := self.model.groups.get(name)) is not None:
            words += [meaning.word, self.model.spoken_group(group)]
        for word in dict.fromkeys(words):
            self._meanings.setdefault(word, {})[meaning] = None
        return self._uses.setdefault(meaning, {})

    def _read(self, document: Document) -> None:
        """Add the names in a file, each with the declaration that uses it, as far as this is in force."""
        places = list(self._declarations(document))
        for mention in mentions(document, self._examined):
            meaning, start = mention.meaning, mention.span.start
            if meaning.section == "rules":
                meaning = Meaning("rules", self.model.called(meaning.name, mention.span))
            is_there = meaning.section not in NAMED_SECTIONS or meaning.name in self.sections.get(meaning.section, ())
            if meaning.section in _PRIVATE or not is_there:
                continue
            section, owner = next((place[1:] for place in places if start in place[0]), ("", ""))
            if section:
                uses = self._add(meaning)
                if not mention.declares:
                    uses[Use(owner, line_of(mention.span))] = section

    def _declarations(self, document: Document) -> Iterator[tuple[range, str, str]]:
        """Yield the extent, the section and a description of each declaration in a file, innermost first. The section
        of one that is not in force is empty."""
        for section, entry in sections_of(document):
            name = entry.key.text
            label = f"{WORDS.get(section, section)} `{name}`" + (f" ({document.id})" if section == "rules" else "")
            name = self.model.called(name, entry.key.span) if section == "rules" else name
            yield entry.extent, self._in_force(section, name, entry.key), label
        for key, value in ((entry.key, entry.value) for entry in document.root.entries):
            extent, name = range(key.span.start, value.span.end), key.text
            if document.kind == "words" and isinstance(value, Mapping):
                for word in value.entries:
                    yield range(word.key.span.start, word.value.span.end), name, f"words `{word.key.text}`"
            is_single = name in SINGLE_SECTIONS and name in self.sections
            yield extent, self._in_force(name, name, key) if is_single else name, name

    def _in_force(self, section: str, name: str, key: Scalar) -> str:
        """Return the section of a declaration; empty if it is not in force."""
        layers = self.sections.get(section, {}).get(name, [])
        if section in ("round", "setup", "result", "picture"):
            layers = layers[-1:]
        layers = layers[lowest_in_force(self.ruleset, section, name, layers) :]
        is_layer = section in self.sections
        return section if not is_layer or any(layer.span == key.span for layer in layers) else ""

    # --- explanations

    def explain(self, name: str) -> list[Explanation]:
        if name in self.ruleset.statements:
            return [statement_explained(self.ruleset, name)]
        if match := _CELL.fullmatch(name.strip()):
            uses = self._uses.get(Meaning("tables", match[1]), ())
            return [cell_explained(self.ruleset, match[1], [part.strip() for part in match[2].split(",")], uses)]
        found = name if name in self._meanings else name.strip().replace(" ", "_")
        meanings = self._meanings.get(found, {})
        explanations = [self._explained(found, meaning) for meaning in meanings]
        are_ours = all(meaning.section in ("functions", "language") for meaning in meanings)
        if found != name or (are_ours and "_" not in name):  # the files declare no such name
            explanations += said(self._sentences, name)
        if not explanations:
            hint = did_you_mean(name, {*self._meanings, *self.ruleset.statements})
            raise LookupError(f"unknown name `{name}` in `{self.ruleset.id}`{hint}")
        return explanations

    @cached_property
    def _sentences(self) -> list[Sentence]:
        return sentences_of(self.ruleset)

    def _explained(self, name: str, meaning: Meaning) -> Explanation:
        section, entries = meaning.section, self.sections.get(meaning.section, {}).get(meaning.name, [])
        facts, parts, kind = list[tuple[str, str]](), tuple[Part, ...](), WORDS.get(section, section.rstrip("s"))
        if section == "language":
            kind, facts = "part of the language", list(own_uses(name).items())
        elif section == "functions":
            kind = "function of the language"
            facts = [("call", described(self.model, meaning)), ("gives", FUNCTIONS[name].about)]
        elif section in WORDS and entries:
            parts = tuple(part_of(self.ruleset, section, entry) for entry in reversed(entries))
            facts = list(facts_of(self.ruleset, section, meaning.name)) or [("is", described(self.model, meaning))]
        else:
            of = f" of `{meaning.of}`" if meaning.of and meaning.of != "graph" else ""
            kind, facts = f"{_INSIDE.get(section, kind)}{of}", [("is", described(self.model, meaning))]
            parts = tuple(map(_printed, declared(self._examined, meaning)))
        return Explanation(name, kind, tuple(fact for fact in facts if fact[1]), parts, self._users(meaning))

    def _users(self, meaning: Meaning) -> tuple[Use, ...]:
        """Return all places that use a name; for a trigger, those that note its event."""
        trigger = self.model.triggers.get(meaning.name) if meaning.section == "triggers" else None
        if trigger is None:
            return tuple(self._uses[meaning])
        noted = self._uses.get(Meaning("events", trigger.event), {})
        return tuple(use for use, section in noted.items() if section in ("rules", "standing", "decisions"))


def _printed(span: Span) -> Part:
    """Return the line that declares a name."""
    text = span.file.line(span.line).strip()
    return Part(span.file.name, line_of(span), covers="", when="", about="", text=text, cites=())
