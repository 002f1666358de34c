"""Errors of the YAML parser, reworded for authors and moved to their cause: the parser may find them lines below."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.remedies import Remedy, indent, insert, write
from interpreter.base.source import SourceFile, Span, depth_of

if TYPE_CHECKING:
    import yaml

__all__ = ["syntax_error"]

_QUOTE = "put text in double quotes if it contains `: ` or ` #`, or starts with a special character"
_CLOSE = "close it, or put text with brackets, braces, commas or `: ` in double quotes"
_REMOVE = "remove it, or put text with brackets, braces or commas in double quotes"
_REPEAT = "write the quote again at the end of the text"
_INNER = "in double quotes write `\\\"` for a quote, in single quotes `''`"
_ESCAPE = "write `\\\\` for `\\`, or use single quotes"
_DEPTH = "compare the indentation with the lines above"
_OUTER = "write all keys of the file at the depth of the first one, outside of brackets"
_HASH = "put text with a `#` in double quotes"
_NO_COLON = "got text without `:`, want `key: value`"
# PyYAML's message (its two parsers differ) | our message | help | position: that of the problem or of its context.
# `{}` stands for the text there.
_SAYINGS: tuple[tuple[str, str, str, str], ...] = (
    ("could not find expected ':'", _NO_COLON, _QUOTE, "context"),
    ("values are not allowed|unexpected ':'", "got an unexpected `:`, want one `key: value` a line", _QUOTE, "problem"),
    ("cannot start any token", "got {}, which cannot start a value", _QUOTE, "problem"),
    ("quoted.*unexpected (end of stream|document)", "this quote is not closed", _REPEAT, "context"),
    ("escape|hexdecimal|hexadecimal|invalid Unicode", "got an unknown escape", _ESCAPE, "problem"),
    ("',' or '\\]'", "got {} in the list in `[`, want `,` or `]`", _CLOSE, "problem"),
    ("',' or '}'", "got {} in the mapping in `{{`, want `,` or `}}`", _CLOSE, "problem"),
    ("(block|flow) node", "got {}, want a value", _REMOVE, "problem"),
    ("sequence entries are not allowed", "got `-` after something else, want it on its own line", _QUOTE, "problem"),
    ("mapping keys are not allowed", "got `?`, want a key", _QUOTE, "problem"),
    ("document start", "got {} after the end of the keys, want nothing", _OUTER, "problem"),
    ("block mapping", "got {}, want a key at the depth of the keys before it", _DEPTH, "problem"),
    ("block (collection|sequence)", "got {}, want `-` at the depth of those before it", _DEPTH, "problem"),
    ("block scalar", "got {} after `|` or `>`, want the text on the lines below", _QUOTE, "problem"),
    ("anchor|alias", "got `&` or `*` without a name, want a value", _QUOTE, "context"),
    ("directive|incompatible YAML", "got a line that starts with `%`, want keys", _QUOTE, "context"),
    ("tag", "got a tag, want a value without tag", _QUOTE, "problem"),
    ("", "this cannot be read as YAML", _QUOTE, "problem"),
)
_LINE = re.compile(r"^ *(?=[^\s#])", re.MULTILINE)
_COLON = re.compile(r":(\s|$)")
_COMMENT = re.compile(r"(?<=[\s\[{,])#[^\n]*|\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_AFTER_VALUE = ("block mapping", "block (collection|sequence)")
_BELOW_VALUE = ("values are not allowed|unexpected ':'", "document start", "block mapping")
_WORD = re.compile(r"\w+|\S")
_QUOTES = ('"', "'")
_CLOSING = {"[": "]", "{": "}"}


def syntax_error(file: SourceFile, error: yaml.YAMLError, depth: int, opened: Iterable[Span]) -> Diagnostic:
    """Return the diagnostic for an error of PyYAML. ``depth`` is the indentation of the block that was read; the error
    may come from one of the quotes and brackets that were ``opened`` there."""
    original = f"{getattr(error, 'context', None) or ''}; {getattr(error, 'problem', None) or ''}"
    pattern, message, remedy, where = next(saying for saying in _SAYINGS if re.search(saying[0], original))
    marks = {name: getattr(error, f"{name}_mark", None) for name in ("problem", "context")}
    mark = marks[where] or marks["problem"] or marks["context"]
    span = file.at(mark.index if mark else 0)
    for text in opened:
        if (unclosed := _unclosed(text, min(text.end, span.start), depth)) is not None:
            return unclosed
    if span.text == "\t":
        return Diagnostic("E004", "got a tab, want spaces", span)
    before = file.line(span.line)[: span.column - 1].lstrip(" -")
    if pattern.startswith("','") and before.rstrip().endswith(_QUOTES) and not span.text.startswith(_QUOTES):
        remedy = _INNER
    elif pattern.startswith("escape"):
        span = file.at(file.text.rfind("\\", 0, span.start + 1))
    elif pattern in _AFTER_VALUE and before:
        message, where = "got {} after a value, want the end of the line", "context"
        remedy = _INNER if before.rstrip().endswith(_QUOTES) else _REMOVE if span.text in "]}" else _QUOTE
    elif pattern in _BELOW_VALUE and not _COLON.search(before):
        key = file.at(span.start - len(before), max(1, len(before)))
        above = _text_above(key)
        if above is not None:
            span, message, remedy, where = above, _NO_COLON, _QUOTE, "context"
        elif before:
            span, message, remedy = key, "got a key below a line that has a value already", f"{_DEPTH}, or {_QUOTE}"
    found = _WORD.match(file.text, span.start)
    got = "the end" if found is None else "a backtick" if found[0] == "`" else f"`{found[0]}`"
    start = marks["context"].index if where == "problem" and marks["context"] else span.start
    notes = (Note("the value starts here", file.at(start)),) if start != span.start else ()
    return Diagnostic("E001", message.format(got), span, notes, _applied(span, _remedy_at(span) or remedy))


def _unclosed(text: Span, end: int, depth: int) -> Diagnostic | None:
    """Return the diagnostic for a quote or bracket if the lines after it, up to ``end``, leave its block."""
    file, opening = text.file, text.text[0]
    closing, start = _CLOSING.get(opening, opening), file.at(text.start)
    lines = (line.end() for line in _LINE.finditer(file.text, text.start + 1, end + 1))
    outside = next((at for at in lines if file.position(at)[1] <= depth + 1 and file.text[at] != closing), None)
    if outside is None and file.text[end:].strip():
        return None
    notes = () if outside is None else (Note("it is still open here", file.at(outside)),)
    if opening == closing:
        remedy = insert(file, file.line_starts[start.line - 1] + len(file.line(start.line)), opening, _REPEAT)
        return Diagnostic("E001", "this quote is not closed", start, notes, remedy)
    what = f"the {'list' if opening == '[' else 'mapping'} in `{opening}` is not closed"
    for comment in _COMMENT.finditer(file.text, text.start, end if outside is None else outside):
        if comment[0][0] == "#" and closing in comment[0]:
            notes = (Note("the value starts here", start),)
            return Diagnostic("E001", f"`#` starts a comment: {what}", Span(file, *comment.span()), notes, _HASH)
    return Diagnostic("E001", f"{what}, want `,` or `{closing}`", start, notes, _CLOSE)


def _text_above(key: Span) -> Span | None:
    """Return the first line without a key above that of ``key``, up to the key before; None for a deeper one."""
    file, found = key.file, None
    for number in range(key.line - 1, 0, -1):
        text = file.line(number).partition(" #")[0]
        content = text.lstrip(" -")
        if _COLON.search(text):
            break
        if content and not content.startswith("#"):
            found = file.at(file.line_starts[number - 1] + len(text) - len(content), len(content.rstrip()))
        if text.lstrip().startswith("- "):
            break
    return found if found is not None and found.column <= key.column else None


# Patterns of lines at which YAML parsing fails, and the help for each.
_LOOKS: tuple[tuple[str, str], ...] = (
    (
        r"^ *[a-z_]\w*\([^)]*: ",
        "a head has names alone, as `cost(who, number) -> int`; types stand under `names`",
    ),
    (
        r"^[ -]*(is|does|permits|when|on|for|whenever|given|prefer|[a-z]\w*\([^)]*\)( -> [^:]+)?): +[^|{\s]",
        "put rule text that contains `: ` in a block: write `|` after the key and the text on the lines below",
    ),
    (
        r"^ *(- +)?([\w-]+: +)?\[.*\] *[^\s,#\]}]",
        "a list ends at its `]`; put text that starts with `[` in double quotes",
    ),
    (r": *\{\w+\}", "put text that starts with `{` in double quotes"),
    (r"^ *[a-z_][\w-]*:[^\s:]", "write a space after the `:`"),
    (r"^(<<<<<<<|=======|>>>>>>>)", "a merge of Git left two versions here: keep one, and remove the lines of Git"),
)


_VALUE = re.compile(r" *(?:- +)*(?:[\w.]+(?:\([^)]*\))?(?: -> [\w ?]+)?:)? *([^\s\"'\\-][^\"\\]*?)\s*(?: #.*)?")


def _applied(span: Span, remedy: str) -> str:
    """Return a help as one that can be applied, if it puts the value on the line of an error in quotes."""
    value = _VALUE.fullmatch(span.file.line(span.line))
    if value is None or remedy in (_CLOSE, _REMOVE) or not (remedy == _QUOTE or remedy.endswith("in double quotes")):
        return remedy
    place = span.file.at(span.file.line_starts[span.line - 1] + value.start(1), len(value[1]))
    return write(place, f'"{value[1]}"', remedy)


def _remedy_at(span: Span) -> str | None:
    """Suggest a fix by the line of an error, or by the block of text to which it may belong."""
    line = span.file.line(span.line)
    return _deeper(span.file, span.line) or next((remedy for look, remedy in _LOOKS if re.search(look, line)), None)


def _deeper(file: SourceFile, number: int) -> Remedy | None:
    """Return the remedy that indents a line, and those that go with it, as the text of the block above; None if it does
    not stand below one."""
    depths = [depth_of(text) if (text := file.line(each + 1)).strip() else 99 for each in range(number)]
    own = depths[-1]
    head = next((each for each in range(number - 1, 0, -1) if depths[each - 1] <= own), 0)
    if not head or not re.search(r": *\|\s*$", file.line(head)) or ": " in file.line(number):
        return None
    by, last = (depths[head] if head + 1 < number else depths[head - 1] + 2) - own, number
    opens = file.line(number).rstrip().endswith(":")
    while last < len(file.line_starts) and (text := file.line(last + 1)).strip():
        depth, is_key = depth_of(text), re.match(r" *(?!else:)[\w.-]+:(\s|$)", text)
        if depth < own or (depth == own and is_key) or (depth > own and not opens):
            break
        last, opens = last + 1, opens if depth > own else text.rstrip().endswith(":")
    return indent(file, range(number, last + 1), by, "indent the text below a `|` deeper than the key before it")
