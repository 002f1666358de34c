"""Formatter of YAML files: normalises indentation and spacing, and keeps values, comments and line breaks.

The input is a valid file, and the formatted texts of scalars that other formatters handle (rules, printed tables).
Lines are neither broken nor joined. ``docs/language.md`` describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpreter.base.source import SourceFile, depth_of
from interpreter.reading.yaml import loader, offset_of

if TYPE_CHECKING:
    import yaml

__all__ = ["STEP", "WIDTH", "Level", "Writer", "lay_out", "lay_out_table"]

STEP = 2
"""Columns of indentation for each level."""

WIDTH = 120
"""Maximum columns of a line of rule text."""

_BLOCK = re.compile(r"[|>][-+0-9]*")


def lay_out(file: SourceFile, texts: Mapping[int, str]) -> str:
    """Return the formatted text of a file, with a final line break.

    ``texts`` are replacements of scalars by start offset: the lines of a block, or any other scalar with its quotes.
    """
    return _YamlWriter(file.text, texts=texts).written()


def lay_out_table(text: str) -> str:
    """Align the columns of a printed table. Comments stay between its rows."""
    rows = [_cells(line) for line in text.split("\n")]
    columns = max((len(row) for row in rows if row), default=0)
    widths = [max((_width(row[n]) for row in rows if row and n < len(row)), default=0) for n in range(columns)]
    lines = [
        line.strip()
        if row is None
        else " | ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)).rstrip()
        for line, row in zip(text.split("\n"), rows, strict=True)
    ]
    return "\n".join(_without_gaps(lines))


def _cells(line: str) -> list[str] | None:
    if not line.strip() or line.lstrip().startswith("#"):
        return None
    return [cell.strip() for cell in line.split("|")]


def _width(text: str) -> int:
    """Return the display width of a text in columns."""
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def _without_gaps(lines: list[str]) -> Iterator[str]:
    """Drop blank lines at the ends, and collapse several blank lines into one."""
    blank = started = False
    for line in lines:
        if line:
            if blank and started:
                yield ""
            yield line
            blank, started = False, True
        blank = blank or not line


@dataclass(slots=True)
class Level:
    """A block: the column of its lines, keys or dashes in the input and in the output."""

    read: int
    written: int
    mapping: bool = True


@dataclass(slots=True)
class Writer:
    """Writes tokens with the spaces, line breaks and comments between them."""

    text: str
    lines: list[str] = field(default_factory=list)
    line: str = ""
    shift: int = 0  # columns that the line has moved to the right
    levels: list[Level] = field(default_factory=list)
    closed: list[Level] = field(default_factory=list)  # levels that ended since the last token
    brackets: list[int] = field(default_factory=list)  # line of each open bracket
    end: int = 0  # end of the text written so far
    keeps: bool = False  # blank lines belong to the value before them
    exact: bool = False  # spaces at the end of the line belong to the value

    def gap(self, start: int, *, begun: bool) -> list[str]:
        """Return the text up to the next token, by lines; ``begun`` if something has been written. A comment at the end
        of the line, which is the first of these, is at least two spaces after the code."""
        first, *lines = self.text[self.end : start].split("\n")
        if not begun:
            return ["", first, *lines]
        if comment := first.strip():
            column = self.column(self.end + first.index("#")) + self.shift
            self.line = self.line.ljust(max(len(self.line) + 2, column)) + comment
        return [first, *lines]

    def comments(self, lines: list[str], read: int, column: int) -> bool:
        """Write comments on lines of their own, and return whether a blank line follows. The next token is in a column
        of the input and of the output."""
        blank = False
        for line in lines:
            if comment := line.strip():
                self.blank_line(blank)
                self.lines.append(" " * self._aligned(depth_of(line), read, column) + comment)
            elif self.keeps:
                self.lines.append("")
            blank = not comment and not self.keeps
        return blank

    def _aligned(self, read: int, next_read: int, next_column: int) -> int:
        """Return the output column of a comment on its own line: that of the next token, or of a block that continues
        or ends here if the comment was aligned with it."""
        if read != next_read and not self.brackets:
            for level in (*self.levels, *self.closed):
                if level.read == read:
                    return level.written
        return next_column

    def blank_line(self, blank: bool) -> None:
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")

    def flush(self, *, exact: bool = False) -> None:
        self.lines.append(self.line if exact or self.exact else self.line.rstrip())
        self.line, self.exact = "", False

    def column(self, index: int) -> int:
        """Return the column of an offset."""
        return index - self.text.rfind("\n", 0, index) - 1


@dataclass(slots=True)
class _YamlWriter(Writer):
    """Writes the tokens of a file."""

    texts: Mapping[int, str] = field(kw_only=True)
    base: Level = field(default_factory=lambda: Level(0, -STEP))  # key or dash of the current value
    last: str = ""
    keyed: bool = False  # a key follows

    def written(self) -> str:
        import yaml

        for token in yaml.scan(self.text, Loader=loader()):
            self._token(token)
        return "\n".join(self.lines) + "\n"

    def _token(self, token: yaml.Token) -> None:
        name = type(token).__name__.removesuffix("Token")
        mark: Any = token.start_mark
        match name:
            case "BlockMappingStart" | "BlockSequenceStart":
                self.levels.append(Level(mark.column, self.base.written + STEP, name == "BlockMappingStart"))
            case "BlockEnd":
                self.closed.append(self.levels.pop())
            case "Key" if mark.index == offset_of(token.end_mark):
                self.keyed = True
                if not self.brackets and self.levels:
                    self.base = Level(mark.column, self.levels[-1].written)
            case "StreamStart":
                pass
            case "StreamEnd":
                self._between(len(self.text), 0, 0, name)
            case _:
                self._write(name, mark.index, offset_of(token.end_mark), mark.column)

    def _write(self, name: str, start: int, end: int, read: int) -> None:
        if name in ("FlowSequenceEnd", "FlowMappingEnd"):
            self.brackets.pop()
        column = self._column(name)
        self._between(start, read, column, name)
        if name == "BlockEntry":
            self.base = Level(read, column)
        if name == "Scalar":
            self._scalar(start, end)
        else:
            self.line += self.text[start:end].rstrip()
            self.end = end
        if name in ("FlowSequenceStart", "FlowMappingStart"):
            self.brackets.append(len(self.lines))
        self.last, self.keyed = name, False

    def _column(self, name: str) -> int:
        """Return the column of the first token of a line."""
        if name in ("DocumentStart", "DocumentEnd", "Directive"):
            return 0
        if self.brackets or name in ("FlowSequenceEnd", "FlowMappingEnd"):
            return self._continued()
        if name == "BlockEntry":
            level = self.levels[-1]  # dashes may be at the column of their key
            return level.written + (STEP if level.mapping else 0)
        if self.keyed or name in ("Key", "Value"):
            return self.levels[-1].written if self.levels else 0
        return self.base.written + STEP

    def _continued(self) -> int:
        """Return the indentation of a continuation line: a step for each line with an open bracket."""
        return self.base.written + STEP * max(1, len(set(self.brackets)))

    # -- scalars

    def _scalar(self, start: int, end: int) -> None:
        raw = self.text[start:end]
        if _BLOCK.match(raw):
            self._block(start, raw)
            return
        raw = self.texts.get(start, raw)
        first, *lines = raw.split("\n")
        self.line += first
        for line in lines:
            escaped = self.line.rstrip().endswith("\\")  # a space after it belongs to the text
            self.flush(exact=escaped)
            inner = line.lstrip(" ")
            self.line = " " * self._continued() + inner if inner else ""
        self.end = end

    def _block(self, start: int, raw: str) -> None:
        """Write a block scalar, indented one step deeper than its key or dash."""
        head, _, body = raw.partition("\n")
        sign = _BLOCK.match(head)
        assert sign
        indicator = next((int(char) for char in sign[0] if char.isdigit()), 0)
        raw_lines = body.split("\n")
        begin = next((n for n, line in enumerate(raw_lines) if line.strip()), len(raw_lines))
        lines = [""] * begin + raw_lines[begin:]  # spaces above the first line are ignored
        first = next((depth_of(line) for line in lines if line.strip()), 0)
        read = self.base.read + indicator if indicator else first
        while lines and not lines[-1][read:].rstrip("\n"):
            lines.pop()
        self.end = start + len(head) + sum(len(line) + 1 for line in raw_lines[: len(lines)])
        inner = self.texts[start].split("\n") if start in self.texts else [line[read:] for line in lines]
        column = self.base.written + (indicator or STEP)
        self.line += head.rstrip()
        for line in inner:
            self.flush(exact=True)
            self.line = " " * column + line if line else ""
        self.exact, self.keeps = True, "+" in sign[0]

    # -- between tokens

    def _between(self, start: int, read: int, column: int, name: str) -> None:
        """Write spaces, line breaks and comments up to the next token, which goes to ``column`` if it starts a line."""
        _, *lines = self.gap(start, begun=self.last != "")
        if not lines:
            self.line += self._spaces(name)
            return
        if self.last:
            self.flush()
        blank = self.comments(lines[:-1], read, column)
        if name != "StreamEnd":
            self.blank_line(blank)
        self.line, self.shift = " " * column, column - read
        self.closed.clear()
        self.keeps = False

    def _spaces(self, name: str) -> str:
        """Return the text between two tokens on one line."""
        if self.last in ("FlowSequenceStart", "FlowMappingStart"):
            return ""
        if name == "Value":
            return " " if self.last == "Alias" else ""
        if name in ("FlowEntry", "FlowSequenceEnd", "FlowMappingEnd"):
            return " " if self.last in ("Value", "Alias") else ""
        return " "
