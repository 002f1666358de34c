"""Search for words: the rules, statements and sentences of the log that say them, the best first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from interpreter.base.plurals import counted
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.explain.cross_reference import WORDS, Explanation, Use, line_of
from interpreter.reading.yaml import Mapping, Scalar, Value
from interpreter.sections.behaviour import Event

__all__ = ["Sentence", "said", "sentences_of"]

MOST_FOUND = 30
_WORD = re.compile(r"\w+")


class Sentence(Struct, frozen=True):
    """A text that may say words. ``name`` is part of it, and counts more."""

    order: int
    label: str
    place: str
    text: str
    name: str
    words: str
    """The words of the name and the text, each between two blanks, as in ``name``."""


def sentences_of(ruleset: Ruleset) -> list[Sentence]:
    """Return all sentences of a ruleset: of its declarations, its statements, and its log."""
    return [*_declarations(ruleset), *_statements(ruleset), *_log(ruleset)]


def said(sentences: Iterable[Sentence], text: str) -> list[Explanation]:
    """Return the sentences that say all words of a text, as one explanation; none if there are none.

    First come names, then sentences with the words as they stand, then those with words that begin so; rules before
    statements before sentences of the log, and short ones first.
    """
    wanted = _words(text)
    ranked = [(rank, each) for each in sentences if wanted.strip() and (rank := _rank(wanted, each)) is not None]
    ranked.sort(key=lambda found: (found[0], found[1].order, len(found[1].text)))
    best = dict.fromkeys(Use(f"{each.label}: {each.text}".strip(": "), each.place) for _, each in ranked)
    if not best:
        return []
    first = f", of which the first {MOST_FOUND} follow" if len(best) > MOST_FOUND else ""
    found = ("found", f"{counted(len(best), 'place')}{first}")
    return [Explanation(text, "words", (found,), (), tuple(best)[:MOST_FOUND])]


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold().replace('_', ' ')))} "


def _rank(wanted: str, sentence: Sentence) -> int | None:
    """Return how well a sentence says words, 0 for best; None if it does not say all of them."""
    if wanted in sentence.words:
        return 0 if wanted in sentence.name else 1
    each = wanted.split()
    if all(f" {word} " in sentence.words for word in each):
        return 2
    return 3 if all(len(word) > 2 and f" {word}" in sentence.words for word in each) else None


def _sentence(order: int, label: str, place: str, name: str, text: str) -> Sentence:
    return Sentence(order, label, place, text, _words(name), _words(f"{name} {text}"))


def _declarations(ruleset: Ruleset) -> Iterator[Sentence]:
    """Yield what declarations are called and what they say about themselves."""
    for section, names in ruleset.composition.sections.items():
        for name, entries in names.items() if section in WORDS and section != "says" else ():
            for entry in entries:
                label = f"{WORDS[section]} `{name}`"
                yield _sentence(0, label, line_of(entry.span), name, " ".join(entry.remarks.about.split()))


def _statements(ruleset: Ruleset) -> Iterator[Sentence]:
    """Yield the statements of the ruleset's books and all others that it cites."""
    own = set(ruleset.own_cites(tuple(id for citation in citations_of(ruleset) for id in citation.cites)))
    for id, statement in ruleset.statements.items():
        if id not in own and statement.book not in ruleset.composition.rulebooks:
            continue
        yield _sentence(1, id, statement.book, "", statement.told)


def _log(ruleset: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences of the log and other words of the game, in all languages."""
    sections = ruleset.composition.sections
    for section in ("events", "says"):
        for name, entries in sections.get(section, {}).items():
            for entry in entries:
                for scalar in _texts(entry.value if section == "says" else entry.read(Event).says):
                    yield _sentence(2, f"{WORDS[section]} `{name}`", line_of(scalar.span), "", scalar.text)


def _texts(value: Value | None) -> Iterator[Scalar]:
    if isinstance(value, Scalar):
        yield value
    for entry in value.entries if isinstance(value, Mapping) else ():
        yield from _texts(entry.value)
