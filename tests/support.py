"""What several tests need."""

from __future__ import annotations

from interpreter.base.source import SourceFile
from interpreter.language.texts import Typed

__all__ = ["rule_text"]


def rule_text(text: str) -> Typed:
    """Rule text that is a whole file, so that places in the text are places in the file."""
    return Typed(SourceFile("rule", text))
