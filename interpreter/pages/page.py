"""Elements of a page: sections with text, tables, statements, rule source and drawings.

Modules such as :mod:`interpreter.pages.rulebook` build pages from them; :mod:`interpreter.pages.html` and
:mod:`interpreter.pages.markdown` render pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of rule text in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder in a sentence that a game fills in."""

    text: str


@dataclass(frozen=True, slots=True)
class Id:
    """The id of a statement, after its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Emphasised text."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a section, by its id."""

    to: str
    text: str


Inline = str | Code | Slot | Id | Strong | Link
Words = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. ``kind`` is ``lead`` (under a title), ``note`` (highlighted), ``aside`` or empty."""

    words: Words
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of items, ``numbered`` if their order matters."""

    items: tuple[Words, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms with their descriptions."""

    pairs: tuple[tuple[Words, Words], ...]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A statement: its id, its text, and the reading chosen if it is ambiguous."""

    id: str
    text: str
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements of rulebooks."""

    items: tuple[Quoted, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. The first ``heads`` columns are row headings; ``marked_columns`` and ``marked_rows`` are highlighted.

    A ``long`` table may be split into pieces side by side.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    heads: int = 1
    marked_columns: frozenset[int] = frozenset()
    marked_rows: frozenset[int] = frozenset()
    long: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Source text. ``links`` maps names in it to sections; ``marked`` lines are highlighted."""

    text: str
    links: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Folded:
    """Collapsible content; open at first if ``unfolded``."""

    summary: Words
    blocks: tuple[Block, ...]
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """Two columns to compare, each under its heading; below each other if the page is narrow."""

    heads: tuple[str, str]
    left: tuple[Block, ...]
    right: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG document with its caption."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its content. The ``id`` is stable, so that links to it stay valid."""

    id: str
    title: str
    blocks: tuple[Block | Section, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Section))


Block = Paragraph | Listing | Facts | Statements | Grid | Source | Folded | Beside | Drawing


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a title, blocks before the table of contents, and sections. A ``wide`` page has columns to compare."""

    title: str
    front: tuple[Block, ...]
    sections: tuple[Section, ...]
    language: str = "en"
    wide: bool = False

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
