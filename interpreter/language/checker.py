"""Context of a check: the model so far, the signatures of rules, and where diagnostics are reported."""

from __future__ import annotations

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import counted
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.language import core, nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.declared import Declared
from interpreter.language.model import Event, Phrase, Signatures
from interpreter.language.scope import Frame
from interpreter.language.texts import Report, template_parts
from interpreter.language.types import BOOL, TEXT, Type
from interpreter.reading.compose import Composition
from interpreter.reading.yaml import Scalar

__all__ = ["Checker"]


class Checker:
    """Checks texts of a composition. ``signatures`` has the rules whose headers have been read so far."""

    def __init__(self, composition: Composition, declared: Declared, signatures: Signatures, report: Report) -> None:
        self.composition, self.declared, self.model = composition, declared, declared.model
        self.signatures, self.report = signatures, report

    def error(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.report(Diagnostic(code, message, span, help=help))

    def expressions(self, frame: Frame | None = None) -> Expressions:
        """Return a checker for the expressions of one text."""
        return Expressions(self.model, self.signatures, frame or Frame(), self.report)

    def phrase(self, value: Scalar, bound: list[tuple[str, Type]]) -> Phrase:
        """Check a template whose expressions may use the values in ``bound``."""
        frame = Frame()
        for name, type_ in bound:
            frame.add(name, type_)
        parts: list[str | core.Expression] = []
        for part in template_parts(value, self.report):
            if isinstance(part, str):
                parts.append(part)
                continue
            expected = (
                TEXT if isinstance(part, nodes.Conditional) and isinstance(part.then, nodes.TextLiteral) else None
            )
            parts.append(self.expressions(frame).value(part, expected, maybe=True))
        return Phrase(tuple(parts), frame.size)

    def heard(self, pattern: nodes.EventPattern, frame: Frame) -> Event | None:
        """Return the event of a pattern and add its values to the frame. Report an unknown event and return None."""
        event = self.model.events.get(pattern.event)
        if event is None:
            message = f"unknown event `{pattern.event}`{did_you_mean(pattern.event, self.model.events)}"
            self.error("E301", message, pattern.span)
            return None
        if len(pattern.names) != len(event.fields):
            note = Note("it is declared here", event.span)
            message = f"`{pattern.event}` has {counted(len(event.fields), 'value')}, got {len(pattern.names)}"
            self.report(Diagnostic("E404", message, pattern.span, (note,)))
            return None
        for local, type_ in zip(pattern.names, event.fields.values(), strict=True):
            frame.add(local, type_)
        return event

    def narrowed(
        self, before: core.Expression | None, test: nodes.Expr | None, expressions: Expressions
    ) -> core.Expression | None:
        """Check a condition and join it to ``before`` with `and`. Facts that it establishes hold from here on."""
        if test is None:
            return before
        checked = expressions.condition(test)
        expressions.frame.facts[-1].update(expressions.facts(test, holds=True))
        return checked if before is None else core.Logic("and", before, checked, type=BOOL, span=test.span)
