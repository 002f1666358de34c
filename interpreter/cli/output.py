"""Output of commands: data on stdout, everything else on stderr; aligned text, JSON and colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill

import click

from interpreter.base.plain_data import Value, json_of, picked
from interpreter.pages.page import Block, Column, Grid, Page, Paragraph, Section, Strong, inlines
from interpreter.pages.text import lines_of

__all__ = [
    "as_json",
    "board",
    "discard_output",
    "notice",
    "picked",
    "relative",
    "say",
    "say_lines",
    "styled",
    "tell",
    "tell_page",
    "width",
    "wrapped",
    "write_page",
]


def say(text: str = "") -> None:
    """Print a line of data on stdout."""
    click.echo(text)


def say_lines(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def tell(*blocks: Block | Section) -> None:
    """Print blocks of a report."""
    say_lines(lines_of(blocks, width(), partial(styled, bold=True)))


def tell_page(page: Page) -> None:
    """Print a report: its title with its leads, and its blocks."""
    leads = [each.words for each in page.front if isinstance(each, Paragraph) and each.kind == "lead"]
    first = (Strong(page.title), *([": "] if leads else []), *(word for words in leads for word in inlines(words)))
    tell(Paragraph(first), *(each for each in page.front if getattr(each, "kind", "") != "lead"), *page.sections)


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
    say(json_of(value, None if compact else 2))


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


def styled(text: str, *, fg: str | None = None, bold: bool | None = None, dim: bool | None = None) -> str:
    """Return the text with terminal styles if stdout is a terminal and ``NO_COLOR`` is not set."""
    is_coloured = text and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return click.style(text, fg=fg, bold=bold, dim=dim) if is_coloured else text


def width() -> int:
    """Return the columns of the terminal; 80 elsewhere."""
    return get_terminal_size((80, 24)).columns


def board(title: str, columns: Sequence[str | Column], rows: Sequence[Sequence[Value]]) -> None:
    """Print a table with a title, such as a board of a game."""
    if title:
        say(styled(title, bold=True))
    if columns:
        head, *lines = lines_of([Grid(columns, rows)], width(), indent="  ")
        say(styled(head.replace("_", " "), dim=True))
        say_lines(lines)
