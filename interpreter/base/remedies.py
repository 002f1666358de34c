"""Fixes of a problem that an editor can apply, each made where its remedy is worded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from interpreter.base.source import SourceFile, Span, depth_of
from interpreter.base.suggest import suggested

__all__ = ["Edit", "Fix", "Remedy", "add", "edited", "either", "fixed", "indent", "insert", "remove", "said", "write"]

_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|#[^\n]*|[\[{(,)}\]]")
_CLOSES = {"]": "[", "}": "{", ")": "("}
_WRITE = re.compile(r"write `([^`…]+)`(?:[,;:] .*)?")
_BELOW = re.compile(r"[^\n{]*?:(?: *\{|[^\S\n]*(?:#[^\n]*)?\n(?=( +)))")


class Edit(Struct, frozen=True):
    """The text that takes the place of a span."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
    """Edits that mend a problem, and a title that says what they do."""

    title: str
    edits: tuple[Edit, ...]


class Remedy(str):
    """A help that can be applied: its words, with the fixes that do what they say."""

    fixes: tuple[Fix, ...]

    def __new__(cls, words: str, *fixes: Fix) -> Remedy:
        made = super().__new__(cls, words)
        made.fixes = fixes
        return made


def edited(words: str, *edits: Edit) -> Remedy:
    return Remedy(words, Fix(words, edits))


def write(span: Span, text: str, words: str = "") -> Remedy:
    """Return the remedy that writes a text in place of a span."""
    return edited(words or f"write `{text}`", Edit(span, text))


def either(span: Span, words: str, texts: Iterable[str]) -> Remedy:
    """Return the remedy that writes one of several texts in place of a span."""
    return Remedy(words, *(fix for text in texts for fix in write(span, text).fixes))


def insert(file: SourceFile, offset: int, text: str, words: str = "") -> Remedy:
    return write(Span(file, offset, offset), text, words or f"add `{text.strip().strip(',')}`")


def add(key: Span, text: str, words: str = "") -> Remedy | None:
    """Return the remedy that adds an entry to the keys below a key; None if its value has no keys."""
    if (match := _BELOW.match(key.file.text, key.end)) is None:
        return None
    return insert(key.file, match.end(), f"{text}, " if match[1] is None else f"{match[1]}{text}\n", words)


def remove(span: Span, words: str = "remove it") -> Remedy:
    """Return the remedy that removes the entry, item, row or statement that starts at a span, with the lines that
    belong to it. What would be empty without it goes too."""
    return write(_whole(span), "", words)


def indent(file: SourceFile, lines: Iterable[int], by: int, words: str) -> Remedy:
    """Return the remedy that indents lines of a file."""
    starts = (file.line_starts[line - 1] for line in lines if file.line(line).strip())
    return edited(words, *(Edit(Span(file, start, start), " " * by) for start in starts))


def fixed(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits."""
    for edit in sorted(edits, key=lambda each: each.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def said(message: str, help: str | None, span: Span) -> Iterable[Fix]:
    """Yield the fixes that the words of a diagnostic say: a name that it suggests, or a help ``write `…```, which is
    always about the marked text."""
    name, suggestions = suggested(message)
    at = span.text.find(name)
    if at > 0:  # the name is a part of what is marked
        yield from either(span.file.at(span.start + at, len(name)), "", suggestions).fixes
    elif name in ("", span.text.strip("\"'")):
        yield from either(span, "", suggestions).fixes
    if help is not None and (match := _WRITE.fullmatch(help)):
        around = span.file.text[span.start - 1 : span.start] + match[1] + span.file.text[span.end : span.end + 1]
        blanks = " " * (around.isidentifier() and match[1].isalpha())  # so that it does not join the words beside it
        yield from write(span, f"{blanks}{match[1]}{blanks}", help).fixes


def _whole(span: Span) -> Span:
    """Return an entry from the start of its name to the end of its last line, or of its text in brackets."""
    file = span.file
    number = file.position(span.start)[0]
    while number > 1 and file.line(number - 1).rstrip().endswith((",", "[", "{", "(")):
        number -= 1
    opened, first = _opened(file, file.line_starts[number - 1], span.start)
    return _item(file, opened, first) if opened is not None else _lines(file, file.position(span.start)[0])


def _opened(file: SourceFile, start: int, end: int) -> tuple[int | None, int]:
    """Return the innermost bracket that is open at a place, and where its item there starts."""
    opened: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(file.text, start, end):
        if token[0] in "[{(":
            opened.append((token.start(), token.end()))
        elif token[0] in _CLOSES and opened:
            opened.pop()
        elif token[0] == "," and opened:
            opened[-1] = opened[-1][0], token.end()
    return opened[-1] if opened else (None, end)


def _item(file: SourceFile, opened: int, first: int) -> Span:
    """Return an item in brackets with a comma beside it."""
    depth = 0
    for token in _TOKEN.finditer(file.text, first):
        if (token[0] in _CLOSES and depth == 0) or (token[0] == "," and depth == 0):
            break
        depth += (token[0] in "[{(") - (token[0] in _CLOSES)
    is_first, is_last = file.text[first - 1] != ",", token[0] != ","
    if is_first and is_last:
        return _whole(Span(file, opened, opened))
    blank = len(file.text) - len(file.text[token.end() :].lstrip()) if is_first else token.start()
    return Span(file, first if is_first else first - 1, blank)


def _lines(file: SourceFile, number: int) -> Span:
    """Return a line with the deeper ones below it, and the line above that would be left without content."""

    def depth(line: int) -> int:
        text = file.line(line)
        return depth_of(text) if text.strip() and not text.lstrip().startswith("#") else -1

    own, last, final = depth(number), number, len(file.line_starts)
    below = next((line for line in range(number + 1, final + 1) if 0 <= depth(line) <= own), final + 1)
    last = max((line for line in range(number, below) if depth(line) >= 0), default=number)
    above = next((line for line in range(number - 1, 0, -1) if depth(line) >= 0), 0)
    if 0 <= depth(above) < own and (below > final or depth(below) < own):
        return _whole(file.at(file.line_starts[above - 1] + depth(above)))
    end = file.line_starts[last] if last < final else len(file.text)
    return Span(file, file.line_starts[number - 1], end)
