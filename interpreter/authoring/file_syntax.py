"""Checks of a single file: its schema, and the syntax of its rule texts. Names are checked in whole rulesets."""

from __future__ import annotations

from functools import partial

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.yaml_values import is_nothing
from interpreter.language.parse import parse_as
from interpreter.language.texts import parsed, printed
from interpreter.reading.files import Document
from interpreter.sections.lookup import forms_in
from interpreter.sections.vocabulary import Code

__all__ = ["check_alone"]


def check_alone(document: Document) -> list[Diagnostic]:
    """Check a file against the schema of its kind, and its rule text if the schema is satisfied."""
    diagnostics = list(document.misfits)
    if diagnostics:
        return diagnostics
    for _, scalar, form in forms_in(document.kind, document.root):
        if form.definition == "printed" and scalar.style == "literal":
            printed(scalar, diagnostics.append)
        elif isinstance(form, Code) and not is_nothing(scalar) and not form.is_template(scalar):
            parsed(scalar, partial(parse_as, form.start), diagnostics.append)
    if document.kind == "scenarios" and not diagnostics and "rules" in document.root:
        from interpreter.testing.scenarios import unused_helpers

        diagnostics.extend(unused_helpers(document))
    return diagnostics
