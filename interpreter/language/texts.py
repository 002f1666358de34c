"""Parsing of rule text in YAML values. Syntax errors are reported, and the result is then None."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.remedies import insert
from interpreter.base.source import Excerpt
from interpreter.language import nodes
from interpreter.language.parse import parse_condition, parse_expression, parse_type, read_once
from interpreter.language.reporter import Report
from interpreter.reading.printed_tables import PrintedTable, read_printed
from interpreter.reading.yaml import Scalar, Value, excerpt

__all__ = ["condition_of", "expression_of", "parsed", "printed", "template_parts", "type_of"]

Tree = TypeVar("Tree")


def parsed(
    value: Value | None, parse: Callable[[Excerpt], tuple[Tree | None, list[Diagnostic]]], report: Report
) -> Tree | None:
    """Parse the text of a scalar. Return None if it is missing or invalid."""
    if not isinstance(value, Scalar):
        return None

    def read() -> tuple[Tree | None, list[Diagnostic]]:
        text = excerpt(value)
        return (None, [text]) if isinstance(text, Diagnostic) else parse(text)

    tree, diagnostics = read_once(value, read, parse)
    for diagnostic in diagnostics:
        report(diagnostic)
    return tree


def type_of(value: Value | None, report: Report) -> nodes.Type | None:
    return cast("nodes.Type | None", parsed(value, parse_type, report))


def expression_of(value: Value | None, report: Report) -> nodes.Expr | None:
    return cast("nodes.Expr | None", parsed(value, parse_expression, report))


def condition_of(value: Value | None, report: Report) -> nodes.Expr | None:
    return cast("nodes.Expr | None", parsed(value, parse_condition, report))


def printed(value: Value | None, report: Report) -> PrintedTable | None:
    """Parse a printed table. Return None if it is missing or has no header."""
    table = parsed(value, read_printed, report)
    return table if table is not None and table.header else None


def template_parts(value: Scalar, report: Report) -> list[str | nodes.Expr]:
    """Parse a template into literal texts and expressions."""
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
            name = len(after) - len(after.lstrip("abcdefghijklmnopqrstuvwxyz_."))
            close = insert(text.file, text.offset(start + name), "}", "write `}` behind the name")
            report(Diagnostic("E205", "`{` without `}`", text.span(start - 1, start), help=close))
            break
        number, *forms = inside.split("|")
        tree, diagnostics = parse_expression(text.part(start, start + len(number)))
        for diagnostic in diagnostics:
            report(diagnostic)
        if tree is not None:
            parts.append(tree)
        if tree is not None and forms:
            if len(forms) != 2:
                help = "`{number|one|many}`: the number, and the word for one and for several"
                span = text.span(start, start + len(inside))
                report(Diagnostic("E205", f"got {len(forms)} words after a number, want two", span, help=help))
            else:
                parts.append(_plural(tree, *forms))
        offset = start + len(inside) + 1
        rest = behind
    return parts


def _plural(number: nodes.Expr, singular: str, plural: str) -> nodes.Expr:
    """Build the word behind a number: singular for 1, otherwise plural."""
    span = number.span
    forms = [nodes.TextLiteral(f" {form.strip()}", span=span) for form in (singular, plural)]
    is_one = nodes.Compare("==", number, nodes.IntLiteral(1, span=span), span=span)
    return nodes.Conditional(forms[0], is_one, forms[1], span=span)
