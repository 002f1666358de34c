"""Diagnostic codes: each has one meaning, one page in ``docs/errors`` and at least one case in ``tests/bad``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from interpreter.base.paths import shipped

__all__ = ["code_pages", "meanings"]


def code_pages() -> dict[str, Path]:
    """Return the page of each code."""
    pages = shipped("docs/errors").glob("[A-Z][0-9][0-9][0-9].md")
    return {page.stem: page for page in sorted(pages)}


@cache
def meanings() -> dict[str, str]:
    """Return the meaning of each code, which is the heading of its page."""
    texts = {code: page.read_text(encoding="utf-8") for code, page in code_pages().items()}
    return {code: text.partition("\n")[0].removeprefix(f"# {code}: ") for code, text in texts.items()}
