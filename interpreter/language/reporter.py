"""Base of what reports errors in a ruleset."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.remedies import Remedy
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean

__all__ = ["Report", "Reporter"]

Report = Callable[[Diagnostic], None]


class Reporter:
    """Reports errors to ``report``."""

    report: Report
    spoken: Callable[[str], str] = str
    """Puts the text of a message into the author's words, where they are known."""

    def error(self, code: str, message: str, span: Span, help: str | None = None, *notes: Note) -> None:
        said = help if isinstance(help, Remedy) or help is None else self.spoken(help)
        self.report(Diagnostic(code, self.spoken(message), span, notes, said))

    def unknown(
        self,
        what: str,
        name: str,
        known: Iterable[str],
        span: Span,
        help: str | None = None,
        *notes: Note,
        code: str = "E301",
    ) -> None:
        """Report a name that is none of those known."""
        self.error(code, f"unknown {what} `{name}`{did_you_mean(name, known)}", span, help, *notes)
