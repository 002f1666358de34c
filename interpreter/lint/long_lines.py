"""Lines of rule text that are too long."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.remedies import write
from interpreter.base.source import Span
from interpreter.language.file_layout import rule_texts, tidy
from interpreter.lint.places import Family, advice
from interpreter.reading.yaml_layout import WIDTH

__all__ = ["long_lines"]


def long_lines(family: Family) -> Iterator[Diagnostic]:
    """Yield lines of rule text with more than ``WIDTH`` columns."""
    parts = (document for ruleset in family.rulesets for document in ruleset.composition.documents)
    for name, document in {document.file.name: document for document in parts}.items():
        if name not in family.files or max(map(len, document.file.text.split("\n"))) <= WIDTH:
            continue
        for span in (line for scalar, _ in rule_texts(document) for line in _lines(scalar.span)):
            if (columns := span.column + len(span.text) - 1) > WIDTH:
                message = f"a line of rule text has {columns} columns, more than {WIDTH}"
                help = "`regelwerk fmt` breaks lines of a block (`|`); a comment may stand on a line of its own"
                written, whole = tidy(document.file)[0] or "", document.file.at(0, len(document.file.text))
                remedy = help if not written or span.text in written else write(whole, written, help)
                yield advice("L012", message, span, remedy)


def _lines(span: Span) -> Iterator[Span]:
    """Yield the span of each line, without indentation."""
    start = span.start
    for line in span.text.split("\n"):
        yield Span(span.file, start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
        start += len(line) + 1
