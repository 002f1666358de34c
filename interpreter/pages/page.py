"""Elements of a page: sections with text, tables, statements, rule source and drawings.

Modules such as :mod:`interpreter.pages.rulebook` build pages from them; :mod:`interpreter.pages.html` and
:mod:`interpreter.pages.markdown` render pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

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
    "Quoted",
    "Section",
    "Slot",
    "Source",
    "Statements",
    "Strong",
    "Words",
    "joined",
]


class Code(Struct, frozen=True):
    """A piece of rule text in a sentence."""

    text: str


class Slot(Struct, frozen=True):
    """A placeholder in a sentence that a game fills in."""

    text: str


class Id(Struct, frozen=True):
    """The id of a statement, after its text."""

    text: str


class Strong(Struct, frozen=True):
    """Emphasised text."""

    text: str


class Link(Struct, frozen=True):
    """A link to a section, by its id."""

    to: str
    text: str


Inline = str | Code | Slot | Id | Strong | Link
Words = tuple[Inline, ...]


class Paragraph(Struct, frozen=True):
    """A paragraph. ``kind`` is ``lead`` (under a title), ``note`` (highlighted), ``aside`` or empty."""

    words: Words
    kind: str = ""


class Listing(Struct, frozen=True):
    """A list of items, ``numbered`` if their order matters."""

    items: tuple[Words, ...]
    numbered: bool = False


class Facts(Struct, frozen=True):
    """Terms with their descriptions."""

    pairs: tuple[tuple[Words, Words], ...]


class Quoted(Struct, frozen=True):
    """A statement: its id, its text, and the reading chosen if it is ambiguous."""

    id: str
    text: str
    reading: str = ""


class Statements(Struct, frozen=True):
    """Statements of rulebooks."""

    items: tuple[Quoted, ...]


class Grid(Struct, frozen=True):
    """A table. The first ``heads`` columns are row headings; ``marked_columns`` and ``marked_rows`` are highlighted.

    A ``long`` table may be split into pieces side by side. Columns of a ``sortable`` one can be sorted; with ``bars``,
    bars show its numbers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
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
    blocks: tuple[Block, ...]
    unfolded: bool = False


class Beside(Struct, frozen=True):
    """Two columns to compare, each under its heading; below each other if the page is narrow."""

    heads: tuple[str, str]
    left: tuple[Block, ...]
    right: tuple[Block, ...]


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
    blocks: tuple[Block | Section, ...]
    is_listed: bool = True

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Section))


Block = Paragraph | Listing | Facts | Statements | Grid | Source | Folded | Beside | Drawing


class Page(Struct, frozen=True):
    """A page: a title, blocks before the table of contents, and sections. A ``wide`` page has columns to compare. A
    ``sheet`` without contents is printed on one or two pages; it is ``roomy`` or ``dense`` as its text needs it."""

    title: str
    front: tuple[Block, ...]
    sections: tuple[Section, ...]
    language: str = "en"
    wide: bool = False
    sheet: Literal["", "sheet", "roomy sheet", "dense sheet"] = ""

    def all_sections(self) -> Iterator[Section]:
        """Yield all sections and subsections in reading order."""
        waiting = list(reversed(self.sections))
        while waiting:
            section = waiting.pop()
            yield section
            waiting.extend(reversed(section.sections))


def joined(words: Sequence[Inline]) -> Iterator[Inline]:
    """Join words as an enumeration: `a, b and c`."""
    for place, each in enumerate(words):
        if place:
            yield " and " if place == len(words) - 1 else ", "
        yield each
