"""Context of a check: the model so far, the signatures of rules, and where diagnostics are reported."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import counted
from interpreter.language import core, nodes
from interpreter.language.check_expressions import Expressions
from interpreter.language.model import Event, Phrase
from interpreter.language.parse import parse_match
from interpreter.language.reporter import Reporter
from interpreter.language.resolve import Names
from interpreter.language.scope import Frame
from interpreter.language.texts import expression_of, parsed, template_parts
from interpreter.language.types import TEXT
from interpreter.reading.composition import Composition
from interpreter.reading.yaml import Scalar
from interpreter.sections.vocabulary import Code, Record

__all__ = ["Checker"]

T = TypeVar("T")


class Checker(Reporter):
    """Checks texts of a composition. ``signatures`` has the rules whose headers have been read so far."""

    def __init__(self, composition: Composition, names: Names, diagnostics: list[Diagnostic]) -> None:
        self.composition, self.names = composition, names
        self.model, self.signatures = names.model, names.signatures
        self.diagnostics = diagnostics
        self.report, self.spoken = diagnostics.append, self.model.spoken

    def once(self, about: tuple[Hashable, ...], parts: tuple[object, ...], check: Callable[[], T]) -> T:
        """Check a text unless an equal one has been checked: see :meth:`~interpreter.language.resolve.Names.once`."""
        return self.names.once(about, parts, self.diagnostics, check)

    def expressions(self, frame: Frame | None = None) -> Expressions:
        """Return a checker for the expressions of one text."""
        return Expressions(self.names, frame or Frame(), self.report)

    def phrase(self, value: Scalar, frame: Frame) -> Phrase:
        """Check a template whose expressions may use the locals of a frame."""
        parts: list[str | core.Expression] = []
        for part in template_parts(value, self.report):
            if isinstance(part, str):
                parts.append(part)
                continue
            is_word = isinstance(part, nodes.Conditional) and isinstance(part.then, nodes.TextLiteral)
            parts.append(self.expressions(frame).value(part, TEXT if is_word else None, maybe=True))
        return Phrase(tuple(parts), frame.size)

    def look(self, record: Record, form: Code, text: Scalar, thing: str = "") -> Phrase | None:
        """Check an expression or template of a record. Return None for an invalid expression."""
        frame = self.names.scope(record.scope, thing)
        if form.is_template(text):
            return self.phrase(text, frame)
        tree, expressions = expression_of(text, self.report), self.expressions(frame)
        if tree is None:
            return None
        value = expressions.condition(tree) if form.start == "condition" else expressions.value(tree, maybe=True)
        return Phrase((value,), frame.size)

    def looks(self, record: Record, thing: str = "") -> dict[str, Phrase]:
        """Check all expressions and templates of a record. Invalid ones are left out."""
        checked = ((key, self.look(record, form, text, thing)) for key, form, text in record.texts())
        return {key: look for key, look in checked if look is not None}

    def rows(self, text: Scalar | None, expressions: Expressions, owner: str) -> tuple[core.Expression | None, int]:
        """Check the rows of a board or panel. Return the list and the local of a row."""
        match = parsed(text, parse_match, self.report)
        if match is None:
            return None, 0
        binder, *more = match.binders
        for extra in more:
            self.error("E202", f"the rows of a {owner} take only one list", extra.span)
        filtered = nodes.ListComprehension(None, binder.name, binder.items, match.test, span=match.span)
        rows, of = expressions.items(binder.items if match.test is None else filtered)
        return rows, expressions.bound(binder.name, of, binder).index

    def named(
        self, texts: Iterable[tuple[Scalar, Scalar | None]], expressions: Expressions
    ) -> Iterator[tuple[str, core.Expression]]:
        """Check expressions by name, such as columns."""
        for key, text in texts:
            if (tree := expression_of(text, self.report)) is not None:
                yield key.text, expressions.value(tree, maybe=True)

    def heard(self, pattern: nodes.EventPattern, frame: Frame) -> Event | None:
        """Return the event of a pattern and add its values to the frame. Report an unknown event and return None."""
        event = self.names.event(pattern.event)
        if event is None:
            self.unknown("event", pattern.event, self.model.events, pattern.span)
            return None
        if len(pattern.names) != len(event.fields):
            note = Note("it is declared here", event.span)
            message = f"`{pattern.event}` has {counted(len(event.fields), 'value')}, got {len(pattern.names)}"
            self.error("E404", message, pattern.span, None, note)
            return None
        self.names.bind(pattern.span, "events", pattern.event)
        expressions = self.expressions(frame)
        for local, type_ in zip(pattern.names, event.fields.values(), strict=True):
            expressions.bound(local, type_, pattern)
        return event

    def narrowed(
        self, before: core.Expression | None, test: nodes.Expr | None, expressions: Expressions
    ) -> core.Expression | None:
        """Check a condition and join it to ``before`` with `and`. Facts that it establishes hold from here on."""
        return before if test is None else expressions.established(test, before)
