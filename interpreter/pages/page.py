"""Blocks of reports: sections with text, tables, statements, rule source and drawings.

Modules such as :mod:`interpreter.pages.rulebook` and commands build reports from them. Three modules write them:
:mod:`interpreter.pages.html`, :mod:`interpreter.pages.markdown` and, for terminals, :mod:`interpreter.pages.text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from interpreter.base.plain_data import Value

if TYPE_CHECKING:  # not needed to print a table
    from interpreter.reading.statements import Statement

__all__ = [
    "Beside",
    "Block",
    "Code",
    "Column",
    "Drawing",
    "Facts",
    "Folded",
    "Grid",
    "Id",
    "Inline",
    "Link",
    "Listing",
    "Page",
    "Paragraph",
    "Place",
    "Section",
    "Slot",
    "Source",
    "Statements",
    "Strong",
    "Words",
    "inlines",
    "joined",
]


class _Marked(Struct, frozen=True):
    text: str


class Code(_Marked, frozen=True):
    """A piece of rule text in a sentence."""


class Place(_Marked, frozen=True):
    """A line of a file, as `FILE:LINE`."""


class Slot(_Marked, frozen=True):
    """A placeholder in a sentence that a game fills in."""


class Id(_Marked, frozen=True):
    """The id of a statement, after its text; links lead to it if it is a target."""

    is_target: bool = False


class Strong(_Marked, frozen=True):
    """Emphasised text."""


class Link(Struct, frozen=True):
    """A link to a section, by its id."""

    to: str
    text: str


Inline = str | Code | Place | Slot | Id | Strong | Link
Words = Inline | tuple[Inline, ...]
"""A text: one inline element, or several."""


class Paragraph(Struct, frozen=True):
    """A paragraph. ``kind`` is ``lead`` (under a title), ``note`` (highlighted), ``aside`` or empty. Asides explain;
    terminals do without them."""

    words: Words
    kind: str = ""


class Listing(Struct, frozen=True):
    """A list of items, ``numbered`` if their order matters."""

    items: Sequence[Words]
    numbered: bool = False


class Facts(Struct, frozen=True):
    """Terms with their descriptions."""

    pairs: Sequence[tuple[Words, Words]]


class Statements(Struct, frozen=True):
    """Statements of rulebooks."""

    items: Sequence[Statement]


class Column(Struct, frozen=True):
    """A column of a table whose values ``form`` writes."""

    title: str
    form: Callable[[Value], str]


class Grid(Struct, frozen=True):
    """A table of words and values; None is no value. Without ``columns``, it has no heads. The first ``heads`` columns
    are row headings; ``marked_columns`` and ``marked_rows`` are highlighted.

    A ``long`` table may be split into pieces side by side. Columns of a ``sortable`` one can be sorted; with ``bars``,
    bars show its numbers. The rows of a ``filtered`` one can be chosen by words and by the values of this column.
    """

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Value]]
    heads: int = 1
    marked_columns: frozenset[int] = frozenset()
    marked_rows: frozenset[int] = frozenset()
    long: bool = False
    sortable: bool = False
    bars: bool = False
    filtered: int | None = None

    @property
    def titles(self) -> list[str]:
        return [column.title if isinstance(column, Column) else column for column in self.columns]

    def cells(self, nothing: str) -> list[list[Words]]:
        """Return the words of the cells, with this sign where there is no value."""
        forms = [column.form if isinstance(column, Column) else None for column in self.columns]

        def words(cell: Value, form: Callable[[Value], str] | None) -> Words:
            if cell is None or isinstance(cell, str):
                return nothing if cell is None else cell
            return str(cell) if form is None and isinstance(cell, int | float) else (form or inlines)(cell)

        return [[*map(words, row, forms or repeat(None))] for row in self.rows]


class Source(Struct, frozen=True):
    """Source text. ``links`` maps names in it to sections; ``marked`` lines are highlighted."""

    text: str
    links: dict[str, str] = {}
    marked: frozenset[int] = frozenset()


class Folded(Struct, frozen=True):
    """Collapsible content; open at first if ``unfolded``."""

    summary: Words
    blocks: Sequence[Block]
    unfolded: bool = False


class Beside(Struct, frozen=True):
    """Two columns to compare, each under its heading; below each other if the page is narrow."""

    heads: tuple[str, str]
    left: Sequence[Block]
    right: Sequence[Block]


class Drawing(Struct, frozen=True):
    """An SVG document with its caption. ``kind`` is ``chart``, ``board`` (one of several) or empty."""

    svg: str
    caption: str
    kind: str = ""


class Section(Struct, frozen=True):
    """A heading with its content. The ``id`` is stable, so that links to it stay valid. ``is_listed``: the table of
    contents has it."""

    id: str
    title: str
    blocks: Sequence[Block | Section]
    is_listed: bool = True

    @property
    def sections(self) -> list[Section]:
        return [block for block in self.blocks if isinstance(block, Section)]

    def with_subsections(self) -> Iterator[Section]:
        yield self
        for section in self.sections:
            yield from section.with_subsections()


Block = Paragraph | Listing | Facts | Statements | Grid | Source | Folded | Beside | Drawing


class Page(Struct, frozen=True):
    """A page: a title, blocks before the table of contents, and sections. A ``wide`` page has columns to compare. A
    ``sheet`` without contents is printed on one or two pages; it is ``roomy`` or ``dense`` as its text needs it."""

    title: str
    front: Sequence[Block]
    sections: Sequence[Section]
    language: str = "en"
    wide: bool = False
    sheet: Literal["", "sheet", "roomy sheet", "dense sheet"] = ""

    def all_sections(self) -> Iterator[Section]:
        """Yield all sections and subsections in reading order."""
        for section in self.sections:
            yield from section.with_subsections()


def inlines(words: Words) -> tuple[Inline, ...]:
    """Return the inline elements of a text."""
    return words if isinstance(words, tuple) else (words,)


def joined(words: Sequence[Inline]) -> Iterator[Inline]:
    """Join words as an enumeration: `a, b and c`."""
    for place, each in enumerate(words):
        if place:
            yield " and " if place == len(words) - 1 else ", "
        yield each
