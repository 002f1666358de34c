"""Text renderer of reports, for terminals: aligned tables no wider than the terminal, and headings.

Drawings and asides are left to pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat, zip_longest
from textwrap import wrap

from interpreter.base.source import depth_of
from interpreter.pages import page as elements

__all__ = ["cut", "lines_of", "words_of"]

Bold = Callable[[str], str]
_GAP = "  "
_LEAST = 12
"""Least width of a column whose texts are wrapped."""
_FIGURES = re.compile(r"(?:[-+]?[\d.,∞]+%?|none|[-–]|to|→|±|\*| )*")
"""Numbers with what stands between them, which is not wrapped."""
_PIECE = 12
"""Most rows of a long table, of which pieces stand side by side."""
_SIDES = 140
"""Most columns of texts side by side."""
_NARROW = 70
"""Width below which statements are no table."""


def lines_of(
    blocks: Iterable[elements.Block | elements.Section], width: int, bold: Bold = str, indent: str = ""
) -> Iterator[str]:
    """Yield the lines of blocks. Tables are no wider than ``width``; ``bold`` marks strong words."""
    for number, block in enumerate(blocks):
        if number and not indent and isinstance(block, elements.Grid) and block.columns:
            yield ""
        for line in _block(block, width - len(indent), bold):
            yield (indent + line).rstrip()


def cut(text: str, room: int) -> str:
    """Return the text, or its beginning with `…` if it has no room."""
    return text if len(text) <= room else f"{text[: max(0, room - 1)].rstrip()}…"


def _block(block: elements.Block | elements.Section, width: int, bold: Bold) -> Iterator[str]:
    match block:
        case elements.Section(_, title, blocks):
            yield from ("", bold(title))
            for each in blocks:
                yield from lines_of([each], width, bold, "" if _is_indented(each) else "  ")
        case elements.Folded(summary, blocks):
            yield from ("", bold(words_of(summary)))
            yield from lines_of(blocks, width, bold)
        case elements.Paragraph(words, kind):
            if kind != "aside":
                yield words_of(words, bold)
        case elements.Listing(items):
            yield from map(words_of, items)
        case elements.Facts(pairs):
            yield from _table(elements.Grid((), pairs), width)
        case elements.Statements(items) if width < _NARROW:
            yield from (f"{each.id} {each.told}" for each in items)
        case elements.Statements(items):
            yield from _table(elements.Grid((), [(each.id, each.kind, each.told) for each in items]), width)
        case elements.Grid():
            yield from _table(block, width)
        case elements.Source(text):
            yield from (f"    {line}" for line in text.splitlines())
        case elements.Beside(_, left, right):
            yield from _beside(left, right, min(width, _SIDES))
        case elements.Drawing():
            return


def _is_indented(block: elements.Block | elements.Section) -> bool:
    """Return whether a block is indented under any text, as what has no heads is."""
    if isinstance(block, elements.Grid):
        return not block.columns
    return isinstance(block, elements.Facts | elements.Statements | elements.Source)


def words_of(words: elements.Words, bold: Bold = str) -> str:
    """Return a text without links; ``bold`` marks strong words."""
    texts = (
        each if isinstance(each, str) else bold(each.text) if isinstance(each, elements.Strong) else each.text
        for each in elements.inlines(words)
    )
    return "".join(texts)


def _beside(left: Sequence[elements.Block], right: Sequence[elements.Block], width: int) -> Iterator[str]:
    """Yield two columns of lines, in which long lines go on below, indented like their beginning."""
    half = (width - 3) // 2

    def side(blocks: Sequence[elements.Block]) -> Iterator[str]:
        for line in lines_of(blocks, half):
            indent = " " * depth_of(line)
            yield from wrap(line.strip(), half, initial_indent=indent, subsequent_indent=f"{indent}  ") or [""]

    for before, after in zip_longest(side(left), side(right), fillvalue=""):
        yield f"{before.ljust(half)} │ {after}"


# --- tables


def _table(grid: elements.Grid, width: int) -> Iterator[str]:
    """Yield the lines of a table. Columns of numbers are aligned to the right. In a table that is too wide, texts are
    wrapped; too many columns are parted into blocks of about the same width, which all begin with the first column."""
    rows = [list(map(words_of, row)) for row in grid.cells("-")]
    indent = "" if grid.columns else "  "
    if grid.long:
        rows = _side_by_side(rows, width - len(indent))
    if rows or grid.columns:
        table = [grid.titles or [""] * len(rows[0]), *rows]
        lines = _laid_out([*zip(*table, strict=True)], width - len(indent))
        yield from (indent + line for line in islice(lines, 0 if any(grid.titles) else 1, None))


def _side_by_side(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Part a table into pieces beside each other, with first cells no longer than there is room."""
    pieces = -(-len(rows) // _PIECE) or 1
    high = -(-len(rows) // pieces)
    room = width // pieces - max((len(_GAP.join(row[1:])) for row in rows), default=0) - 2 * len(_GAP)
    short = [[cut(first, room), *more] for first, *more in rows]
    filled = [*short, *repeat([""] * len(rows[0]), high * pieces - len(rows))] if rows else []
    return [[cell for row in filled[line::high] for cell in row] for line in range(high)]


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
    if is_number or all(map(_FIGURES.fullmatch, cells[1:])):
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
