"""Elements of a page: sections with text, tables, statements, rule source and drawings.

Modules such as :mod:`interpreter.pages.rulebook` build pages from them; :mod:`interpreter.pages.html` and
:mod:`interpreter.pages.markdown` render pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from interpreter.explain.cross_reference import Quote
from interpreter.reading.statements import Statement

__all__ = [
    "Beside",
    "Block",
    "Code",
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


class Slot(_Marked, frozen=True):
    """A placeholder in a sentence that a game fills in."""


class Id(_Marked, frozen=True):
    """The id of a statement, after its text."""


class Strong(_Marked, frozen=True):
    """Emphasised text."""


class Link(Struct, frozen=True):
    """A link to a section, by its id."""

    to: str
    text: str


Inline = str | Code | Slot | Id | Strong | Link
Words = Inline | tuple[Inline, ...]
"""A text: one inline element, or several."""


class Paragraph(Struct, frozen=True):
    """A paragraph. ``kind`` is ``lead`` (under a title), ``note`` (highlighted), ``aside`` or empty."""

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

    items: Sequence[Statement | Quote]


class Grid(Struct, frozen=True):
    """A table. The first ``heads`` columns are row headings; ``marked_columns`` and ``marked_rows`` are highlighted.

    A ``long`` table may be split into pieces side by side. Columns of a ``sortable`` one can be sorted; with ``bars``,
    bars show its numbers.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Words]]
    heads: int = 1
    marked_columns: frozenset[int] = frozenset()
    marked_rows: frozenset[int] = frozenset()
    long: bool = False
    sortable: bool = False
    bars: bool = False


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
