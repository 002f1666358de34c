"""From a YAML value to a parsed text: the excerpt, its tree, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.frozen import dataclass
from interpreter.base.source import SourceFile, Span
from interpreter.language import nodes
from interpreter.language.grammar import Text
from interpreter.language.parse import parse_condition, parse_expression, parse_type
from interpreter.reading.printed_tables import PrintedTable, read_printed
from interpreter.reading.yaml import Excerpt, Scalar, Value, excerpt

__all__ = ["Part", "Typed", "condition_of", "expression_of", "parsed", "printed", "template_parts", "type_of"]

Report = Callable[[Diagnostic], None]
Tree = TypeVar("Tree")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text, with the places of the whole."""

    text: str
    whole: Text
    start: int

    def span(self, start: int, end: int) -> Span:
        return self.whole.span(self.start + start, self.start + end)


@dataclass(frozen=True, slots=True)
class Typed:
    """A text that stands in no file, as somebody types it: places in it are those of a file of its own."""

    file: SourceFile

    @property
    def text(self) -> str:
        return self.file.text

    def span(self, start: int, end: int) -> Span:
        return Span(self.file, start, end)


def parsed(
    value: Value | None, parse: Callable[[Excerpt], tuple[Tree | None, list[Diagnostic]]], report: Report
) -> Tree | None:
    """The tree of a scalar's text; nothing where it is missing or wrong."""
    if not isinstance(value, Scalar):
        return None
    text = excerpt(value)
    if isinstance(text, Diagnostic):
        report(text)
        return None
    tree, found = parse(text)
    for diagnostic in found:
        report(diagnostic)
    return tree


def type_of(value: Value | None, report: Report) -> nodes.Type | None:
    """The type that a text is; nothing where it cannot be read, which is reported."""
    return cast("nodes.Type | None", parsed(value, parse_type, report))


def expression_of(value: Value | None, report: Report) -> nodes.Expr | None:
    """The tree of an expression."""
    return cast("nodes.Expr | None", parsed(value, parse_expression, report))


def condition_of(value: Value | None, report: Report) -> nodes.Expr | None:
    """The tree of a condition."""
    return cast("nodes.Expr | None", parsed(value, parse_condition, report))


def printed(value: Value | None, report: Report) -> PrintedTable | None:
    """A table as printed; nothing where it is missing or has no header."""
    table = parsed(value, read_printed, report)
    return table if table is not None and table.header else None


def template_parts(value: Scalar, report: Report) -> list[str | nodes.Expr]:
    """A template as texts and expressions in turn."""
    text = excerpt(value)
    if isinstance(text, Diagnostic):
        report(text)
        return []
    parts: list[str | nodes.Expr] = []
    rest, offset = text.text.rstrip("\n"), 0
    while rest:
        before, brace, after = rest.partition("{")
        if before:
            parts.append(before)
        if not brace:
            break
        inside, closing, behind = after.partition("}")
        start = offset + len(before) + 1
        if not closing:
            report(Diagnostic("E205", "a `{` without its `}`", text.span(start - 1, start)))
            break
        number, *forms = inside.split("|")
        tree, found = parse_expression(Part(number, text, start))
        for diagnostic in found:
            report(diagnostic)
        if tree is not None:
            parts.append(tree)
        if tree is not None and forms:
            if len(forms) != 2:
                helped = "`{number|one|many}`: the number, and the word for one and for several"
                span = text.span(start, start + len(inside))
                report(Diagnostic("E205", f"got {len(forms)} words behind a number, want two", span, help=helped))
            else:
                parts.append(_plural(tree, *forms))
        offset = start + len(inside) + 1
        rest = behind
    return parts


def _plural(number: nodes.Expr, one: str, many: str) -> nodes.Expr:
    """The word behind a number: one form for 1, the other for all others."""
    span = number.span
    forms = [nodes.TextLiteral(f" {form.strip()}", span=span) for form in (one, many)]
    return nodes.Conditional(
        forms[0], nodes.Compare("==", number, nodes.IntLiteral(1, span=span), span=span), forms[1], span=span
    )
