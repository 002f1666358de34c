"""Output of commands: data on stdout, everything else on stderr; aligned text, JSON and colour."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat, zip_longest
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap

import click
from msgspec import to_builtins

from interpreter.base.plain_data import picked

__all__ = [
    "aligned",
    "as_json",
    "board",
    "cut",
    "discard_output",
    "notice",
    "picked",
    "relative",
    "say",
    "say_heading",
    "say_lines",
    "say_rows",
    "say_table",
    "styled",
    "unheaded",
    "wants_colour",
    "width",
    "wrapped",
    "write_page",
]

_GAP = "  "
_LEAST = 12
"""Least width of a column whose texts are wrapped."""


def say(text: str = "") -> None:
    """Print a line of data on stdout."""
    click.echo(text)


def say_lines(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def say_heading(text: str) -> None:
    """Print a heading, apart from what stands before it."""
    say()
    say(styled(text, bold=True))


def say_table(columns: Sequence[str], rows: Iterable[Iterable[object]], indent: str = "") -> None:
    say_lines(aligned(columns, rows, indent))


def say_rows(rows: Iterable[Iterable[object]], indent: str = "  ") -> None:
    say_lines(unheaded(rows, indent))


def wrapped(text: str) -> str:
    """Break a long line of text for a terminal, and indent what follows its first row."""
    return fill(text, width(), subsequent_indent="    ") if sys.stdout.isatty() and len(text) > width() else text


def discard_output() -> None:
    """Discard further output, since its reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def notice(text: str) -> None:
    """Print a message on stderr, apart from the data."""
    click.echo(text, err=True)


def as_json(value: object, *, compact: bool = False) -> None:
    """Print a value, which may contain records, as JSON; on one line if ``compact``."""
    say(json.dumps(value, ensure_ascii=False, indent=None if compact else 2, default=to_builtins))


def relative(path: Path) -> str:
    """Return the path relative to the current folder if it is below it."""
    absolute = path.absolute()
    return (absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else path).as_posix()


def write_page(text: str, path: Path | str | None, about: str) -> None:
    """Write a text to a file, and a remark that says what it is; to stdout if there is no file."""
    if path is None or str(path) == "-":
        click.echo(text, nl=False)
        return
    Path(path).write_text(text, encoding="utf-8")
    notice(f"{path}: {about}")


def wants_colour() -> bool:
    """Return whether stdout is a terminal and ``NO_COLOR`` is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def styled(text: str, *, fg: str | None = None, bold: bool | None = None, dim: bool | None = None) -> str:
    """Return the text with terminal styles if colour is enabled."""
    return click.style(text, fg=fg, bold=bold, dim=dim) if text and wants_colour() else text


def width() -> int:
    """Return the columns of the terminal; 80 elsewhere."""
    return get_terminal_size((80, 24)).columns


def cut(text: str, room: int) -> str:
    """Return the text, or its beginning with `…` if it has no room."""
    return text if len(text) <= room else f"{text[: max(0, room - 1)].rstrip()}…"


def aligned(columns: Sequence[str], rows: Iterable[Iterable[object]], indent: str = "") -> list[str]:
    """Return the lines of a table, without trailing blanks and no wider than :func:`width`. Columns of numbers are
    aligned to the right. In a table that is too wide, texts are wrapped; too many columns are parted into blocks of
    about the same width, which all begin with the first column."""
    table = [columns, *(list(map(str, row)) for row in rows)]
    return [(indent + line).rstrip() for line in _laid_out([*zip(*table, strict=True)], width() - len(indent))]


def unheaded(rows: Iterable[Iterable[object]], indent: str = "  ") -> list[str]:
    listed = [list(row) for row in rows]
    return aligned([""] * len(listed[0]), listed, indent)[1:] if listed else []


def _laid_out(columns: Sequence[Sequence[str]], room: int) -> Iterator[str]:
    """Yield the lines of a table. The first cell of each column is its head."""
    right = [len(cells) > 1 and all(map(_is_number, cells[1:])) for cells in columns]
    widths = [max(map(len, cells)) for cells in columns]
    gaps = len(_GAP) * (len(columns) - 1)
    whole, least = ([*map(_least, columns, right, repeat(is_whole))] for is_whole in (True, False))
    if sum(least) + gaps > room and len(columns) > 2:
        least[0] = min(widths[0], room // 3)
        fewest = len(_blocks(columns, least, room))
        evenly = next(less for less in range(room + 1) if len(_blocks(columns, least, less)) == fewest)
        for number, block in enumerate(_blocks(columns, least, evenly)):
            is_headed = number == 0 or any(cells[0] for cells in block)
            yield from islice(_laid_out(block, room), 0 if is_headed else 1, None)
        return
    while sum(widths) + gaps > room and (wide := [p for p, width in enumerate(widths) if width > whole[p]]):
        widths[max(wide, key=widths.__getitem__)] -= 1
    for place in reversed(range(len(widths))):  # words are broken only where that is needed, at the right first
        widths[place] = max(least[place], min(widths[place], widths[place] + room - sum(widths) - gaps))
    for row in zip(*columns, strict=True):
        cells = [
            wrap(cell, width, break_on_hyphens=False) if len(cell) > width else [cell]
            for cell, width in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            yield _GAP.join(
                part.rjust(width) if is_number else part.ljust(width)
                for part, width, is_number in zip(parts, widths, right, strict=True)
            )


def _least(cells: Sequence[str], is_number: bool, is_whole: bool) -> int:
    """Return the least width of a column: numbers stay whole, and so do words if asked for."""
    if is_number:
        return max(map(len, [*cells[0].split(), *cells[1:]]))
    words = [word for cell in cells for word in cell.split()] if is_whole else []
    return min(max(map(len, cells)), max(_LEAST, *map(len, words)) if words else _LEAST)


def _blocks(columns: Sequence[Sequence[str]], widths: Sequence[int], room: int) -> list[list[Sequence[str]]]:
    """Part a table into tables that have room, each of which begins with the first column."""
    blocks, left = list[list[Sequence[str]]](), 0
    for cells, width in zip(columns[1:], widths[1:], strict=True):
        if not blocks or left < width + len(_GAP):
            blocks.append([columns[0]])
            left = room - widths[0]
        blocks[-1].append(cells)
        left -= width + len(_GAP)
    return blocks


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace(".", "", 1).replace("%", "").isdigit() or text in ("", "none", "-")


def board(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a board of a game as a table."""
    if title:
        say(styled(title, bold=True))
    if columns:
        head, *lines = aligned([column.replace("_", " ") for column in columns], rows, "  ")
        say(styled(head, dim=True))
        say_lines(lines)
