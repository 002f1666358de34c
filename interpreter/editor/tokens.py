"""Semantic tokens: what each word of a file is. Words of rule text are told apart by the terminals of the grammar,
names by what the checker bound them to, keys of YAML by their place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from pathlib import Path

from interpreter.base.source import Span
from interpreter.editor.navigation import Answers, values_in
from interpreter.explain.mentions import Mention
from interpreter.language.file_layout import rule_texts
from interpreter.language.grammar import grammar
from interpreter.reading.files import Document
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["KINDS", "inside", "texts_of", "tokens"]

_LITERALS = {"INT": "number", "TEXT": "string", "CITE": "string"}
_SECTIONS = {
    **dict.fromkeys(("rules", "functions", "base", "helpers", "triggers", "standing", "asks"), "function"),
    **dict.fromkeys(("attributes", "fields", "has", *STATE_SECTIONS, "settings", "interpretations"), "property"),
    **dict.fromkeys(("members", "nodes", "pieces", "card", "options"), "enumMember"),
    **dict.fromkeys(("kinds", "tokens", "cards", "records", "roles", "graph"), "type"),
    "events": "event",
    "language": "keyword",
    "statements": "string",
}
KINDS = list(dict.fromkeys([*_SECTIONS.values(), *_LITERALS.values(), "comment", "parameter", "variable"]))
"""All kinds of tokens, named as in the language server protocol."""


def tokens(answers: Answers, path: Path) -> Iterator[tuple[Span, str, bool]]:
    """Yield the words of a file in order, none within another, each with one of :data:`KINDS`, and whether it declares
    what it names."""
    document = answers.desk.document(path)
    if document is None:
        return
    texts, file = texts_of(document), document.file
    found = {span.start: (span, "property", False) for span, value in values_in(document.root) if span != value.span}
    for start, end in texts:
        for match in _words().finditer(file.text, start, end):
            kind = match.lastgroup or ""
            found[match.start()] = Span(file, *match.span()), _LITERALS.get(kind, kind), False
    names = (each for each in answers.mentions(path) if "\n" not in each.span.text)
    found.update({each.span.start: (each.span, _kind(each, texts), each.declares) for each in names})
    last = 0
    for start in sorted(found):
        if start >= last:
            yield found[start]
            last = found[start][0].end


def texts_of(document: Document) -> list[tuple[int, int]]:
    """Return the extents of all rule texts of a file, in order, without their quotes."""
    scalars = (scalar for scalar, _ in rule_texts(document))
    return sorted({(s.span.start + (s.style == "quoted"), s.span.end - (s.style == "quoted")) for s in scalars})


def inside(texts: list[tuple[int, int]], offset: int) -> bool:
    """Return whether a place is in one of the texts."""
    at = bisect_right(texts, offset, key=itemgetter(0)) - 1
    return at >= 0 and offset < texts[at][1]


@cache
def _words() -> re.Pattern[str]:
    """Return the pattern of comments, literals and keywords."""
    terminals = grammar().terminals
    literals = "|".join(f"(?P<{each.name}>{each.pattern.to_regexp()})" for each in terminals if each.name in _LITERALS)
    keywords = "|".join(each.pattern.value for each in terminals if each.pattern.value.isidentifier())
    return re.compile(rf"(?P<comment>#[^\n]*)|(?<!\w)(?:{literals}|(?P<keyword>(?:{keywords})(?!\w)))")


def _kind(mention: Mention, texts: list[tuple[int, int]]) -> str:
    """Return the kind of a name. Locals that a text does not introduce itself are parameters."""
    span = mention.meaning.span
    if mention.meaning.section != "locals":
        return _SECTIONS.get(mention.meaning.section, "variable")
    own = span is not None and span.file.name == mention.span.file.name and inside(texts, span.start)
    return "variable" if own else "parameter"
