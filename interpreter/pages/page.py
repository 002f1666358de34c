"""Elements of a page: sections with words, tables, statements, texts of rules and drawings.

Those who make pages (:mod:`interpreter.pages.rulebook`, :mod:`interpreter.pages.citation_report`) say what stands
there; :mod:`interpreter.pages.html` and :mod:`interpreter.pages.markdown` say how it is written.
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
    "titled",
]


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of rule text in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a sentence that a game fills in."""

    text: str


@dataclass(frozen=True, slots=True)
class Id:
    """The id of a statement, behind its words."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to a section, by its id."""

    to: str
    text: str


Inline = str | Code | Slot | Id | Strong | Link
Words = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more. ``kind`` says what for: ``lead`` (under a title), ``note`` (to be noticed), ``aside``."""

    words: Words
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Items in an order that matters (``numbered``) or does not."""

    items: tuple[Words, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms, each with what is to say of it."""

    pairs: tuple[tuple[Words, Words], ...]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A statement: its id, its words, and how a doubt is read."""

    id: str
    text: str
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements of rulebooks."""

    items: tuple[Quoted, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, as printed. The first ``heads`` columns head their rows; ``marked`` are columns and rows to look at.

    A ``long`` one may be cut into pieces that stand beside each other.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    heads: int = 1
    marked_columns: frozenset[int] = frozenset()
    marked_rows: frozenset[int] = frozenset()
    long: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A text as its author wrote it. Of the names in it those in ``links`` lead to a section; ``marked`` are lines to
    look at."""

    text: str
    links: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Folded:
    """Collapsible content. ``unfolded``: open at first. ``unfolded``: at first it is shown all the same."""

    summary: Words
    blocks: tuple[Block, ...]
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """Two things that are compared: beside each other where there is room, each under its head."""

    heads: tuple[str, str]
    left: tuple[Block, ...]
    right: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A whole SVG document, and what it shows."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it. Its ``id`` is stable: links to it keep their meaning."""

    id: str
    title: str
    blocks: tuple[Block | Section, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Section))


Block = Paragraph | Listing | Facts | Statements | Grid | Source | Folded | Beside | Drawing


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: a title, what stands before the contents, and sections. A ``wide`` one has things side by side."""

    title: str
    front: tuple[Block, ...]
    sections: tuple[Section, ...]
    language: str = "en"
    wide: bool = False

    def all_sections(self) -> Iterator[Section]:
        """Every section, in the order in which they stand."""
        waiting = list(reversed(self.sections))
        while waiting:
            section = waiting.pop()
            yield section
            waiting.extend(reversed(section.sections))


def titled(name: str) -> str:
    """A name of a ruleset as a heading."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def joined(words: Sequence[Inline]) -> Iterator[Inline]:
    """Several things in a sentence: `a, b and c`."""
    for place, each in enumerate(words):
        if place:
            yield " and " if place == len(words) - 1 else ", "
        yield each
