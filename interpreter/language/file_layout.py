"""Formatter of files: YAML, rule text, types and printed tables. Meaning and comments are preserved.

The input is a file; the output is its new text, or diagnostics. ``docs/language.md`` describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import SourceFile, depth_of
from interpreter.base.yaml_values import is_nothing
from interpreter.language.line_breaks import broken
from interpreter.language.parse import parse_as
from interpreter.language.reporter import Report
from interpreter.language.rule_layout import Start, space_out
from interpreter.language.texts import parsed, printed
from interpreter.reading.files import Document, read_document
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value, read_yaml
from interpreter.reading.yaml_layout import WIDTH, lay_out, lay_out_table
from interpreter.sections.lookup import forms_in
from interpreter.sections.vocabulary import Code

__all__ = ["rule_texts", "tidy"]

_SIGNIFICANT = re.compile(r": |:$| #")


def tidy(file: SourceFile) -> tuple[str | None, list[Diagnostic]]:
    """Return the formatted text of a file, or None and diagnostics if a part of it cannot be parsed."""
    text = file.text.replace("\r\n", "\n")
    file = SourceFile(file.name, text if text.endswith("\n") or not text else f"{text}\n")
    document, diagnostics = read_document(file, Path(file.name))
    if document is None or diagnostics:
        return None, diagnostics
    texts: dict[int, str] = {}
    for _, scalar, form in forms_in(document.kind, document.root):
        is_table = form.definition == "printed" and scalar.style == "literal"
        if is_table and printed(scalar, diagnostics.append) is not None and not _is_fixed(scalar):
            texts[scalar.span.start] = lay_out_table(scalar.text)
    for scalar, start in rule_texts(document):
        _rule_text(scalar, start, texts, diagnostics.append)
    if diagnostics:
        return None, diagnostics
    return _with_short_lines(_formatted(file, document.root, texts)), []


def rule_texts(document: Document) -> Iterator[tuple[Scalar, Start]]:
    """Yield the rule texts and types of a file, each with its start rule."""
    for _, scalar, form in forms_in(document.kind, document.root):
        if isinstance(form, Code) and isinstance(scalar.value, str) and not form.is_template(scalar):
            yield scalar, form.start


def _formatted(file: SourceFile, root: Mapping, texts: dict[int, str]) -> SourceFile:
    written = SourceFile(file.name, lay_out(file, texts))
    again, _ = read_yaml(written)
    assert again is not None, f"{file.name}: the formatted file cannot be read"
    assert _is_same(root, again, texts), f"{file.name}: formatting changed the meaning"
    return written


def _with_short_lines(file: SourceFile) -> str:
    """Break long lines of rule text in a formatted file: only now is the width of each line known."""
    if max(map(len, file.text.split("\n"))) <= WIDTH:
        return file.text
    document, _ = read_document(file, Path(file.name))
    assert document is not None, f"{file.name}: the formatted file cannot be read"
    texts: dict[int, str] = {}
    for scalar, start in rule_texts(document):
        if scalar.style == "literal" and not _is_fixed(scalar) and (column := _column(scalar)) is not None:
            texts[scalar.span.start] = broken(scalar.text.rstrip("\n"), start, WIDTH - column)
    return _formatted(file, document.root, texts).text


def _column(scalar: Scalar) -> int | None:
    """Return the indentation of a block, or None if it has no lines."""
    lines = [line for line in scalar.span.text.split("\n")[1:] if line.strip()]
    return min(map(depth_of, lines)) if lines else None


def _rule_text(scalar: Scalar, start: Start, texts: dict[int, str], report: Report) -> None:
    if is_nothing(scalar) and start in ("procedure", "preferences"):
        return
    if parsed(scalar, partial(parse_as, start), report) is not None and not _is_fixed(scalar):
        written = space_out(scalar.text, start)
        if scalar.style == "literal":
            texts[scalar.span.start] = written
        elif scalar.style == "quoted":
            quote = scalar.span.text[0]
            texts[scalar.span.start] = f"{quote}{written}{quote}"
        elif not _SIGNIFICANT.search(written):
            texts[scalar.span.start] = written


def _is_fixed(scalar: Scalar) -> bool:
    """Return whether a block has an indentation indicator: its first line is then indented on purpose."""
    return scalar.style == "literal" and any(char.isdigit() for char in scalar.span.text.split("\n")[0].split("#")[0])


def _is_same(old: Value, new: Value, texts: dict[int, str]) -> bool:
    """Return whether two files have the same values. Formatted texts must be as in ``texts``."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        pairs = zip(old.entries, new.entries, strict=False)
        return old.keys() == new.keys() and all(_is_same(a.value, b.value, texts) for a, b in pairs)
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        pairs_ = zip(old.items, new.items, strict=False)
        return len(old.items) == len(new.items) and all(_is_same(a, b, texts) for a, b in pairs_)
    if not isinstance(old, Scalar) or not isinstance(new, Scalar) or old.style != new.style:
        return False
    formatted = texts.get(old.span.start)
    if formatted is None:
        return old.value == new.value
    return formatted == (new.text.rstrip("\n") if new.style == "literal" else new.span.text)
