"""What several tests need."""

from __future__ import annotations

from dataclasses import dataclass

from interpreter.base.source import SourceFile, Span

__all__ = ["RuleText", "rule_text"]


@dataclass(frozen=True)
class RuleText:
    """Rule text that is a whole file, so that places in the text are places in the file."""

    file: SourceFile

    @property
    def text(self) -> str:
        return self.file.text

    def span(self, start: int, end: int) -> Span:
        return Span(self.file, start, end)


def rule_text(text: str) -> RuleText:
    return RuleText(SourceFile("rule", text))
