"""Conversion of files of version 1 of the language, in which rule text begins with its header, ``(who: seat) -> int:``:
the head of a rule becomes its key, and parameters get their types from ``names``.

The input is the text of files; the output is their new text. Comments, order and line breaks stay. A rule that is only
a function of one line becomes a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import SourceFile, Span, depth_of
from interpreter.base.yaml_values import Entry as YamlEntry
from interpreter.base.yaml_values import Mapping as YamlMapping
from interpreter.base.yaml_values import Scalar, Value, word
from interpreter.language.file_layout import tidy
from interpreter.language.syntax_errors import code_of
from interpreter.reading.file_declarations import parts_of
from interpreter.reading.files import KINDS, Document, read_document, shelf_for
from interpreter.reading.yaml_layout import WIDTH
from interpreter.sections.behaviour import Rule
from interpreter.sections.declarations import VERBS, name_and_head
from interpreter.sections.documents import Naming
from interpreter.sections.vocabulary import Code

__all__ = ["upgraded"]

Types = dict[str, str]
"""Types of parameters by name."""
_TEXTS = tuple(key for key in Rule.one_of if isinstance(Rule.forms[key], Code))
_LANGUAGE = re.compile(r"^([{ ]*\"?language\"?: *)1\b", re.MULTILINE)
_HEADER = re.compile(r"((?:\s*#[^\n]*\n)*)\s*\(((?:[^()#]|#[^\n]*\n)*)\)\s*(?:->([^:#\n]*))?:")
"""The header of a text of version 1, behind comments."""
_UNSAFE = re.compile(r"^[^\w(]|^- |: |:$| #|\n|^(yes|no|none)$")
"""Rule text that is not the same without quotes."""
_UNSAFE_IN_BRACES = re.compile(rf"{_UNSAFE.pattern}|[,\[\]{{}}]")


class _Text(Struct, frozen=True):
    """A rule text with what its header says. ``body`` is None if it has no header."""

    key: Scalar
    value: Value
    text: Scalar
    form: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    body: str | None
    in_braces: bool

    @property
    def below(self) -> str:
        """Return the file whose rule a layer covers; empty for a rule that is introduced."""
        covers = (word(self.value.get(verb)) for verb in VERBS) if isinstance(self.value, YamlMapping) else ()
        return next(filter(None, covers), "")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.parameters)

    @property
    def head(self) -> str:
        """Return what stands behind the name in the key."""
        names = ", ".join(self.names)
        if self.result:
            return f"({names}) -> {self.result}"
        return f"({names})" if names else ""


def upgraded(file: SourceFile, path: Path) -> tuple[str | None, list[Diagnostic]]:
    """Return the new text of a file, or None and diagnostics if it cannot be converted.

    A file uses the names of its family where they have the same types there; it says the others itself.
    """
    now = _LANGUAGE.sub(r"\g<1>2", file.text, count=1)
    document, diagnostics = read_document(SourceFile(file.name, now), path)
    if document is None or now == file.text:
        return file.text if document is not None else None, diagnostics
    said = _said(document)
    family = said if document.kind in ("family", "library") else _of_family(document) | said
    texts = list(_texts(document))
    heads = {text.key for text in texts if text.head and (not text.below or _names_below(document, text) != text.names)}
    used: dict[str, tuple[str, Span]] = {}
    for text in (text for text in texts if text.key in heads):
        for name, type_ in text.parameters:
            first, at = used.setdefault(name, (type_, text.key.span))
            if first != type_:
                message, note = f"`{name}` is of the type {type_} here, but elsewhere {first}", Note("there", at)
                return None, [Diagnostic("E310", message, text.key.span, (note,), "rename one of them first")]
    own = {name: type_ for name, (type_, _) in used.items() if family.get(name, name) != type_}
    if own and said:
        message = f"`names` must also say `{'`, `'.join(f'{name}: {type_}' for name, type_ in own.items())}`"
        return None, [Diagnostic("E310", message, document.root["names"].span)]
    edits = [edit for text in texts for edit in _edits(now, text, keeps_head=text.key in heads)]
    if own:
        line_end = f"{now}\n".index("\n", document.root[document.kind].span.end)
        edits.append((line_end, line_end, "".join(["\nnames:", *(f"\n  {name}: {own[name]}" for name in own)])))
    for start, end, replacement in sorted(edits, reverse=True):
        now = now[:start] + replacement + now[end:]
    return tidy(SourceFile(file.name, now))


def _beside(document: Document, kind: str, id: str) -> Document | None:
    """Return another file, of either version."""
    path = shelf_for(document.path).find(kind, id)
    if path is None:
        return None
    text = _LANGUAGE.sub(r"\g<1>2", path.read_text(encoding="utf-8"), count=1)
    return read_document(SourceFile(path.as_posix(), text), path)[0]


def _of_family(document: Document) -> Types:
    """Return the types of parameters that the family of a file says, or will say."""
    family = _beside(document, "family", document.id.partition("/")[0])
    if family is None:
        return {}
    pairs = {pair for text in _texts(family) if not text.below for pair in text.parameters}
    types = dict(pairs) if len(dict(pairs)) == len(pairs) else {}  # else it cannot be converted
    return {name: type_ for name, type_ in types.items() if name != type_} | _said(family)


def _said(document: Document) -> Types:
    return {key.text: value.text for key, value in Naming(document.root).names if value is not None}


def _names_below(document: Document, layer: _Text) -> tuple[str, ...] | None:
    """Return the names of the parameters that a layer has if it repeats no head; None if they are not known."""
    name, files = name_and_head(layer.key)[0].text, (_beside(document, kind, layer.below) for kind in KINDS)
    for text in (text for file in files if file is not None for text in _texts(file)):
        key, head = name_and_head(text.key)
        if key.text == name and head is not None:
            return tuple(re.findall(r"[a-z_0-9]+", head.text.partition(")")[0]))
        if key.text == name:
            return text.names if text.body is not None or not text.below else _names_below(document, text)
    return None


def _texts(document: Document) -> Iterator[_Text]:
    for _, root in parts_of(document):
        groups = [root, *(part.value for part in getattr(root.get("parts"), "entries", ()))]
        for group in groups:
            rules = group.get("rules") if isinstance(group, YamlMapping) else None
            in_braces = rules is not None and rules.span.text.startswith("{")
            yield from filter(None, (_text(entry, in_braces=in_braces) for entry in getattr(rules, "entries", ())))


def _text(entry: YamlEntry, *, in_braces: bool) -> _Text | None:
    value = entry.value
    keys = value.items() if isinstance(value, YamlMapping) else [("is", value)]
    for form, text in keys:
        if form in _TEXTS and isinstance(text, Scalar):
            header = _HEADER.match(text.text)
            if header is None:
                return _Text(entry.key, value, text, form, (), "", None, in_braces)
            pairs = re.findall(r"([a-z]\w*) *: *([^,#\n]+)", header[2])
            parameters = tuple((name, type_.strip()) for name, type_ in pairs)
            result, body = (header[3] or "").strip(), _body(header[1], text.text[header.end() :])
            return _Text(entry.key, value, text, form, parameters, result, body, in_braces)
    return None


def _body(before: str, behind: str) -> str:
    """Return rule text without its header: the comments before it, and what stands behind its colon."""
    first, _, rest = behind.partition("\n")
    first, lines = first.strip(), rest.split("\n")
    if not first or first.startswith("#"):
        margin = min((depth_of(line) for line in lines if code_of(line).strip()), default=0)
        lines = [line[min(margin, depth_of(line)) :] for line in lines]
    return "\n".join(filter(None, (before.strip("\n"), "\n".join([first, *lines] if first else lines).strip("\n"))))


def _edits(source: str, rule: _Text, *, keeps_head: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the edits of a rule: its key with the head, its text without."""
    if keeps_head:
        head = f"{rule.key.text}{rule.head}"
        yield rule.key.span.start, rule.key.span.end, f'"{head}"' if rule.in_braces and "," in head else head
    if rule.body is None:
        return
    whole, text, colon = rule.value.span, rule.text.span, source.index(":", rule.key.span.end) + 1
    column, first = rule.key.span.start - source.rfind("\n", 0, rule.key.span.start) - 1, text.text.partition("\n")[0]
    in_block, body = rule.text.style == "literal", rule.body.rstrip("\n")
    behind = "" if in_block else source[text.end : whole.end]
    alone = isinstance(rule.value, YamlMapping) and rule.value.keys() == ["is"]
    alone = alone and "#" not in source[rule.key.span.end : text.start] + first + behind
    width = column + len(rule.key.text) + len(rule.head) + len(body) + 4
    fits = width <= WIDTH and not (_UNSAFE_IN_BRACES if rule.in_braces else _UNSAFE).search(body)
    if alone and (fits or in_block):
        end, block = whole.end if fits else text.end, f"|\n{indent(body, ' ' * (column + 2))}"
        yield colon, end, f" {body if fits else block}"
    elif not in_block:
        quote = rule.text.style == "quoted"
        yield text.start + quote, text.end - quote, body
    elif fits and "#" not in first:
        yield text.start, text.end, body
    else:
        before = source[source.rfind("\n", 0, text.start) + 1 :]
        yield text.start, text.end, f"{first}\n{indent(body, ' ' * (depth_of(before) + 2))}"
