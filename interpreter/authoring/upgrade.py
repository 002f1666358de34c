"""Conversion of files to the current version of the language: the head of a rule becomes its key, and parameters get
their types from ``names``.

The input is the text of files; the output is their new text. Comments, order and line breaks stay. A rule that is only
a function of one line becomes a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.source import SourceFile, Span
from interpreter.base.yaml_values import Entry as YamlEntry
from interpreter.base.yaml_values import Mapping as YamlMapping
from interpreter.base.yaml_values import Scalar, Value, word
from interpreter.language import nodes
from interpreter.language.file_layout import tidy
from interpreter.language.parse import parse_as
from interpreter.language.rule_layout import tokens_of
from interpreter.language.syntax_errors import code_of
from interpreter.reading.compose import parts_of
from interpreter.reading.files import KINDS, Document, read_document, shelf_for
from interpreter.reading.yaml import excerpt
from interpreter.reading.yaml_layout import WIDTH
from interpreter.sections.behaviour import Rule
from interpreter.sections.declarations import VERBS, name_and_head
from interpreter.sections.documents import Naming, Sections
from interpreter.sections.starts import Start
from interpreter.sections.vocabulary import Code

__all__ = ["upgraded"]

Types = dict[str, str]
"""Types of parameters by name."""
_TEXTS = {key: form.start for key in Rule.one_of if isinstance(form := Rule.forms[key], Code)}
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
    document, diagnostics = read_document(file, path)
    if document is None or document.root["language"].span.text == "2":
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
    edits = [edit for text in texts for edit in _edits(file.text, text, keeps_head=text.key in heads)]
    language = document.root["language"].span
    edits.append((language.start, language.end, "2"))
    if own:
        at_names = _below_head(document)
        edits.append((at_names, at_names, _names(own)))
    new = file.text
    for start, end, replacement in sorted(edits, reverse=True):
        new = new[:start] + replacement + new[end:]
    return tidy(SourceFile(file.name, new))


def _of_family(document: Document) -> Types:
    """Return the types of parameters that the family of a file says, or will say."""
    family, _ = shelf_for(document.path).read("family", document.id.partition("/")[0])
    if family is None:
        return {}
    pairs = {pair for text in _texts(family) if not text.below for pair in text.parameters}
    types = dict(pairs) if len(dict(pairs)) == len(pairs) else {}  # else it cannot be converted
    return {name: type_ for name, type_ in types.items() if name != type_} | _said(family)


def _said(document: Document) -> Types:
    return {key.text: value.text for key, value in Naming(document.root).names if value is not None}


def _names_below(document: Document, layer: _Text) -> tuple[str, ...] | None:
    """Return the names of the parameters that a layer has if it repeats no head; None if they are not known."""
    shelf, name = shelf_for(document.path), name_and_head(layer.key)[0].text
    files = (shelf.read(kind, layer.below)[0] for kind in KINDS if shelf.find(kind, layer.below) is not None)
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
            whole = excerpt(text)
            tree = None if isinstance(whole, Diagnostic) else parse_as(_TEXTS[form], whole)[0]
            header = tree.header if isinstance(tree, nodes.Function | nodes.Procedure | nodes.Verdict) else None
            if header is None:
                return _Text(entry.key, value, text, form, (), "", None, in_braces)
            parameters = tuple((each.name, each.type.span.on_one_line) for each in header.parameters if each.type)
            result = header.result.span.on_one_line if header.result is not None else ""
            return _Text(entry.key, value, text, form, parameters, result, _body(text.text, _TEXTS[form]), in_braces)
    return None


def _body(text: str, start: Start) -> str:
    """Return rule text without its header."""
    depth, tokens = 0, tokens_of(text, start)
    begin = next(token.start_pos or 0 for token in tokens if str(token) == "(")
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(str(token), 0)
        if str(token) == ":" and not depth:
            end = token.end_pos or 0
            before = text[:begin].strip("\n")
            first, _, rest = text[end:].partition("\n")
            body = f"{first.strip()}\n{rest}" if first.strip() and not first.strip().startswith("#") else None
            margin = min(
                (len(line) - len(line.lstrip()) for line in rest.split("\n") if code_of(line).strip()), default=0
            )
            lines = (line[min(margin, len(line) - len(line.lstrip())) :] for line in rest.split("\n"))
            block = "\n".join((*filter(None, (first.strip(),)), *lines))
            return "\n".join(filter(None, (before, (body or block).strip("\n"))))
    return text


def _edits(source: str, rule: _Text, *, keeps_head: bool) -> Iterator[tuple[int, int, str]]:
    if keeps_head:
        head = f"{rule.key.text}{rule.head}"
        yield rule.key.span.start, rule.key.span.end, f'"{head}"' if rule.in_braces and "," in head else head
    body = (rule.text.text if rule.body is None else rule.body).rstrip("\n")
    if "\n" not in body and rule.form == "permits" and '"' not in body:
        body = re.sub(" +cites ", " cites ", body)
    margin = rule.key.span.start - source.rfind("\n", 0, rule.key.span.start) - 1
    whole, text, colon = rule.value.span, rule.text.span, source.index(":", rule.key.span.end) + 1
    first = text.text.partition("\n")[0]
    opener = source[rule.key.span.end : text.start] + first
    opener += source[text.end : whole.end] if rule.text.style != "literal" else ""
    alone = isinstance(rule.value, YamlMapping) and rule.value.keys() == ["is"] and "#" not in opener
    width = margin + len(rule.key.text) + (len(rule.head) if keeps_head else 0) + len(body)
    unsafe = _UNSAFE_IN_BRACES if rule.in_braces else _UNSAFE
    if alone and not unsafe.search(body) and width + 2 <= WIDTH:
        yield colon, whole.end, f" {body}"
    elif alone and rule.text.style == "literal":
        yield colon, text.end, f" |\n{indent(body, ' ' * (margin + 2))}"
    elif rule.below and not rule.in_braces and "#" not in opener and (line := _in_a_line(rule, body, margin)):
        yield colon, whole.end, f" {line}"
    elif rule.text.style != "literal":
        if rule.body is not None:
            quote = rule.text.style == "quoted"
            yield text.start + quote, text.end - quote, body
    elif "#" not in first and not _UNSAFE.search(body) and margin + len(rule.form) + len(body) + 4 <= WIDTH:
        yield text.start, text.end, body
    elif rule.body is not None:
        before = source[source.rfind("\n", 0, text.start) + 1 :]
        step = len(before) - len(before.lstrip()) + 2
        yield text.start, text.end, f"{first}\n{indent(body, ' ' * step)}"


def _in_a_line(rule: _Text, body: str, margin: int) -> str | None:
    """Return the keys of a layer in braces, if they are short and mean the same there."""
    assert isinstance(rule.value, YamlMapping)
    items = [(key, body if key == rule.form else value.span.text) for key, value in rule.value.items()]
    line = "{" + ", ".join(f"{key}: {text}" for key, text in items) + "}"
    plain = all(isinstance(value, Scalar) for _, value in rule.value.items())
    fits = margin + len(rule.key.text) + len(line) <= 100 and "#" not in rule.value.span.text
    return line if plain and fits and not any(_UNSAFE_IN_BRACES.search(text) for _, text in items) else None


def _below_head(document: Document) -> int:
    """Return the place of the first section that is no key of the head, with the comment above it."""
    source, sections = document.file.text, (*Sections.forms, "with", "nodes", "links", "is", "weights")
    for entry in document.root.entries:
        if entry.key.text in sections and entry.key.text != document.kind:
            at = entry.key.span.start
            while source[:at].endswith("\n") and source[: at - 1].rpartition("\n")[2].startswith("#"):
                at = source.rfind("\n", 0, at - 1) + 1
            return at
    return len(source)


def _names(types: Mapping[str, str]) -> str:
    lines = ["names: {"]
    for number, (name, type_) in enumerate(types.items()):
        item = f"{name}: {type_}" + (", " if number < len(types) - 1 else "}")
        if len(lines[-1]) + len(item) > WIDTH - 20:
            lines[-1] = lines[-1].rstrip()
            lines.append("  ")
        lines[-1] += item
    return "\n".join(lines) + "\n\n"
