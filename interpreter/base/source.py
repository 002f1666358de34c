"""Source positions: a :class:`SourceFile` holds a text, a :class:`Span` marks a part of it, and an :class:`Excerpt`
is a text from it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from unicodedata import normalize

from msgspec import Struct

__all__ = ["NOWHERE", "Excerpt", "SourceFile", "Span", "depth_of", "typed"]


@dataclass(frozen=True, slots=False)
class SourceFile:
    """A file's name, as the author knows it, and its text in the Unicode form NFC, so that equal names are equal texts.
    ``written`` is the text as it was given, as editors count it."""

    name: str
    text: str = field(repr=False)
    written: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", self.text)
        object.__setattr__(self, "text", normalize("NFC", self.text))

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

    def as_data(self) -> str:
        return str(self)

    @property
    def extent(self) -> dict[str, str | int]:
        """The file, with both ends: lines and columns from 1, counted in characters."""
        line, column = self.file.position(self.end)
        return {
            "file": self.file.name,
            "line": self.line,
            "column": self.column,
            "end_line": line,
            "end_column": column,
        }

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
        line, column = self.file.position(self.start)
        return f"{self.file.name}:{line}:{column}"


class Excerpt(Struct, frozen=True):
    """A text from a file, with the position of each character in the file.

    ``lines`` are pairs of offsets: the start of a line in ``text`` and in the file.
    """

    text: str
    file: SourceFile
    lines: tuple[tuple[int, int], ...]

    def part(self, start: int, end: int | None = None) -> Excerpt:
        """Return ``text[start:end]``, with the positions in the file."""
        text = self.text[start:end]
        lines = ((line - start, place) for line, place in self.lines if 0 < line - start <= len(text))
        return Excerpt(text, self.file, ((0, self.offset(start)), *lines))

    def offset(self, position: int) -> int:
        """Return the offset in the file of the character at ``position`` of the text."""
        position = max(0, min(position, len(self.text)))
        start, place = self.lines[bisect_right(self.lines, position, key=lambda line: line[0]) - 1]
        return min(place + position - start, len(self.file.text))

    def span(self, start: int, end: int) -> Span:
        """Return the span of ``text[start:end]``. It ends after its last character, not before the next one."""
        first = self.offset(start)
        return Span(self.file, first, max(first, self.offset(end - 1) + 1) if end > start else first)


def typed(text: str, name: str = "") -> Excerpt:
    """Return a text that is typed interactively, as a file of its own."""
    return Excerpt(text, SourceFile(name, text), ((0, 0),))


NOWHERE = Span(SourceFile("<nowhere>", ""), 0, 0)


def depth_of(line: str) -> int:
    """Return the indentation of a line."""
    return len(line) - len(line.lstrip(" "))
