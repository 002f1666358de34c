"""Source positions: a :class:`SourceFile` holds a text, a :class:`Span` marks a part of it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import Struct

__all__ = ["NOWHERE", "SourceFile", "Span"]


@dataclass(frozen=True, slots=False)
class SourceFile:
    """A file's name, as the author knows it, and its text."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of each line."""
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both from 1 and counted in characters."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line (from 1), without its line break."""
        if not 1 <= number <= len(self.line_starts):
            return ""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def at(self, start: int, length: int = 1) -> Span:
        """Return the span of some characters, as far as the file has them."""
        start = max(0, min(start, len(self.text)))
        return Span(self, start, min(start + length, len(self.text)))


class Span(Struct, frozen=True, gc=False):
    """A part of a file, from offset ``start`` up to but not including ``end``."""

    file: SourceFile
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.file.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.file.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]

    @property
    def on_one_line(self) -> str:
        """Its text with a blank in place of each break and indent."""
        return " ".join(self.text.split())

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.file, self.start, max(self.end, other.end))

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}:{self.column}"


NOWHERE = Span(SourceFile("<nowhere>", ""), 0, 0)
