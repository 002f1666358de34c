"""Output of commands: data on stdout, everything else on stderr; aligned text, JSON and colour."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from textwrap import fill

import click

__all__ = ["aligned", "as_json", "board", "discard_output", "notice", "say", "styled", "wants_colour", "wrapped"]


def say(text: str = "") -> None:
    """Print a line of data on stdout."""
    click.echo(text)


def wrapped(text: str) -> str:
    """Break a long line of text for a terminal, and indent what follows its first row."""
    width = get_terminal_size().columns
    return fill(text, width, subsequent_indent="    ") if sys.stdout.isatty() and len(text) > width else text


def discard_output() -> None:
    """Discard further output, since its reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def notice(text: str) -> None:
    """Print a message on stderr, apart from the data."""
    click.echo(text, err=True)


def as_json(value: object, *, compact: bool = False) -> None:
    """Print a value as JSON; on one line if ``compact``."""
    say(json.dumps(value, ensure_ascii=False, indent=None if compact else 2))


def wants_colour() -> bool:
    """Return whether stdout is a terminal and ``NO_COLOR`` is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def styled(text: str, *, fg: str | None = None, bold: bool | None = None, dim: bool | None = None) -> str:
    """Return the text with terminal styles if colour is enabled."""
    return click.style(text, fg=fg, bold=bold, dim=dim) if text and wants_colour() else text


def aligned(columns: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> list[str]:
    """Return the lines of a table, without trailing blanks. Columns of numbers are aligned to the right."""
    table = [list(map(str, row)) for row in rows]
    widths = [max(map(len, [head, *(row[place] for row in table)])) for place, head in enumerate(columns)]
    right = [bool(table) and all(_is_number(row[place]) for row in table) for place in range(len(columns))]
    lines = [_line(columns, widths, right), *(_line(row, widths, right) for row in table)]
    return [(indent + line).rstrip() for line in lines]


def _line(cells: Sequence[str], widths: list[int], right: list[bool]) -> str:
    padded = [
        cell.rjust(width) if number else cell.ljust(width)
        for cell, width, number in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded)


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace(".", "", 1).replace("%", "").isdigit() or text in ("", "none", "-")


def board(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a board of a game as a table."""
    if title:
        say(styled(title, bold=True))
    if columns:
        head, *lines = aligned([column.replace("_", " ") for column in columns], rows, "  ")
        say(styled(head, dim=True))
        for line in lines:
            say(line)
