"""Sheet to print: one or two pages with what a map, overlay or edition changes in the game below it.

The input is a ruleset, or the file of a map, overlay or edition; the result is a :class:`Page`. It tells only what
these files declare: the statements that they cite, their tables, components and cards, and the board. Declarations that
cite nothing are told by their ``about``. All words about the game come from the files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.plurals import counted, titled
from interpreter.base.yaml_values import word, words
from interpreter.compare.operands import title_of
from interpreter.engine.citations import citations_of
from interpreter.engine.game import Ruleset
from interpreter.engine.setup import default_settings
from interpreter.kernel.state import Value
from interpreter.loading.load import load_document
from interpreter.pages.page import (
    Block,
    Code,
    Drawing,
    Grid,
    Id,
    Inline,
    Listing,
    Page,
    Paragraph,
    Section,
    Statements,
    Strong,
    Words,
)
from interpreter.pages.rule_sections import sentence
from interpreter.pages.rulebook import Book, component_grid
from interpreter.pages.text import words_of
from interpreter.reading.file_declarations import declarations_in, declared_in, parts_of
from interpreter.reading.files import Document, Shelf
from interpreter.reading.ruleset_files import can_have, files_of, overlays_for, rulesets_of
from interpreter.reading.statements import Statement
from interpreter.reading.yaml import Mapping
from interpreter.sections.declarations import Entry, cites_below
from interpreter.sections.documents import STATE_SECTIONS

__all__ = ["KINDS", "ROOM", "lines_of", "sheet_of", "sheet_of_file"]

KINDS = ("overlay", "map", "edition")
"""Kinds of files that have a sheet, beside rulesets."""
ROOM = {"roomy sheet": 100, "sheet": 270, "dense sheet": 440}
"""Lines, as :func:`lines_of` counts them, for which each form of a sheet has room on two pages; on one if roomy."""
_LETTERS, _DRAWING = 64, 66
"""Letters of a line, and lines in the place of a drawing."""
_ABOVE = ("ruleset", "map", "overlay")
_BELOW = {"ruleset": (("edition", "deck"), ("family", "library")), "edition": (("family", "library"),)}
"""Kinds of files that are told too, group by group, as long as those above them change nothing."""
_PRINTED = ("components", "tokens", "cards", "card_rows", "tables")
"""Sections that are shown as tables."""
_RULES = ("rules", "triggers", "standing")
_LONGEST = 100
"""Most letters of rule text that stand for a change without words."""


class _Part(Struct, frozen=True):
    """Parts of files, with a ruleset that contains them. ``beside`` is the title of another file that they need."""

    ruleset: Ruleset
    roots: tuple[tuple[Document, Mapping], ...]
    beside: str = ""


def sheet_of(ruleset: Ruleset, players: int | None = None, settings: dict[str, Value] | None = None) -> Page:
    """Return the sheet of a ruleset: what its map and overlays change in its edition."""
    files = ruleset.composition.documents
    layers = [*_editions(files), *(file.title for file in files if file.kind in ("map", "overlay"))]
    lead = _lead(ruleset, layers, str(ruleset.players))
    part = _part(ruleset, [file for file in files if file.kind in _ABOVE])
    return _page(ruleset.title, lead, [part], players, settings)


def sheet_of_file(shelf: Shelf, document: Document, players: int | None = None) -> Page:
    """Return the sheet of a map, overlay or edition. Raises ``LookupError`` if no ruleset has it or can have it, and
    ``ValueError`` for a number of players that is not allowed."""
    hosts = list(_hosts(shelf, document))
    if not hosts:
        raise LookupError(f"no ruleset has or can have `{document.id}`")
    parts = []
    for beside, root in parts_of(document):
        host = _least_touched(document, _beside(shelf, hosts, beside))
        if host is not None:
            ruleset = load_document(host.ruleset, tuple(host.overlays), shelf)
            title = next((file.title for file in host.files if file.id == beside), "")
            parts.append(_Part(ruleset, ((document, root),), title) if beside else _part(ruleset, [document]))
    if players is not None:
        parts[0].ruleset.check_players(players)
    editions = [title for host in hosts for title in _editions(host.files)] if document.kind != "edition" else []
    lead = _lead(parts[0].ruleset, [", ".join(dict.fromkeys(editions))], str(document.players or ""))
    return _page(document.title, lead, parts, players, None)


# --- files


class _Host(Struct, frozen=True):
    """A ruleset, the overlays that are added to it, and all files of both."""

    ruleset: Document
    overlays: list[str]
    files: list[Document]


def _hosts(shelf: Shelf, document: Document) -> Iterator[_Host]:
    """Yield the rulesets that have a file, or can have it."""
    for ruleset in rulesets_of(shelf):
        overlays = overlays_for(shelf, ruleset, document)
        if overlays is not None:
            yield _Host(ruleset, overlays, [*files_of(shelf, ruleset), *([document] if overlays else [])])


def _beside(shelf: Shelf, hosts: Iterable[_Host], id: str) -> Iterator[_Host]:
    """Yield the hosts that have a file, or can have it as a further overlay; all hosts if the id is empty."""
    overlay = shelf.read("overlay", id)[0] if id and shelf.find("overlay", id) is not None else None
    for host in hosts:
        ids = {file.id for file in host.files}
        if id in ("", *ids):
            yield host
        elif overlay is not None and can_have(ids, overlay):
            yield _Host(host.ruleset, [*host.overlays, id], [*host.files, overlay])


def _least_touched(document: Document, hosts: Iterable[_Host]) -> _Host | None:
    """Return the host whose other files touch least of what a file declares; None if there is no host."""
    own = declared_in(document)

    def touched(host: _Host) -> int:
        others = [file for file in host.files if file.kind in _ABOVE and file.id != document.id]
        return sum(len(own.keys() & declared_in(other)) for other in others)

    return min(hosts, key=touched, default=None)


def _part(ruleset: Ruleset, own: list[Document]) -> _Part:
    """Return the part of some files of a ruleset, with files below them as long as they change nothing."""
    files = ruleset.composition.documents
    ids = {"", *(file.id for file in files)}
    for kinds in _BELOW.get(own[0].kind, ()):
        if not any(map(_changes, own)):
            own = [*own, *(file for file in files if file.kind in kinds)]
    beside = ids if own[0].kind == "ruleset" else {""}  # what needs other files is told apart for other kinds
    roots = ((file, root) for file in own for needed, root in parts_of(file) if needed in beside)
    return _Part(ruleset, tuple(roots))


def _changes(document: Document) -> bool:
    """Return whether a file says more than which cards there are."""
    sections = {section for section, _ in declarations_in(document, document.root)}
    return any(cites_below(document.root)) or not sections.isdisjoint(
        (*_RULES, *STATE_SECTIONS, "tables", "nodes", "links")
    )


def _editions(files: Sequence[Document]) -> list[str]:
    """Return the titles of the editions that no other one among these files extends."""
    extended = {word(file.head.extends) for file in files}
    return [file.title for file in files if file.kind == "edition" and file.id not in extended]


def _lead(ruleset: Ruleset, layers: Sequence[str], players: str) -> str:
    family = title_of(ruleset, "family")
    return " · ".join(dict.fromkeys(filter(None, (family, *layers, f"{players} players" if players else ""))))


# --- content


def _page(
    title: str, lead: str, parts: Sequence[_Part], players: int | None, settings: dict[str, Value] | None
) -> Page:
    first, *others = (
        _Telling(part, f"part-{number}-" if number else "", players, settings) for number, part in enumerate(parts)
    )
    sections = list(first.sections(frozenset()))
    for other in others:
        blocks = tuple(block for section in other.sections(first.cited) for block in section.blocks)
        sections.append(Section(f"{other.prefix}beside", f"Only with: {other.part.beside}", blocks))
    if doubts := {each.id: each for telling in (first, *others) for each in telling.doubts}:
        sections.append(Section("open", "Where the rulebook leaves it open", [Statements([*doubts.values()])]))
    front = (Paragraph(lead, "lead"), *first.front(title))
    page = Page(title, front, tuple(section for section in sections if section.blocks))
    form = next((form for form, room in ROOM.items() if lines_of(page) <= room), "dense sheet")
    return replace(page, sheet=form)


class _Telling:
    """Content of a part."""

    def __init__(self, part: _Part, prefix: str, players: int | None, settings: dict[str, Value] | None) -> None:
        self.prefix, self.part, self.ruleset, self.model = prefix, part, part.ruleset, part.ruleset.model
        self.book = Book(part.ruleset, players, settings or default_settings(self.model))
        self.files = {document.file.name for document, _ in part.roots}
        self.inner = [each for each in citations_of(self.ruleset) if each.span.file.name in self.files]
        self.entries = [each for document, root in part.roots for each in declarations_in(document, root)]
        printed = self._cited_in(entry for section, entry in self.entries if self._is_printed(section, entry.name))
        told = self._cited_in(entry for section, entry in self.entries if not self._is_printed(section, entry.name))
        told |= {id for _, root in part.roots for id in self._own(cite.text for cite in cites_below(root))} - printed
        self.cited = told | printed
        self.replaced = {id for id in printed - told if self.ruleset.statements[id].kind in ("component", "table")}
        """Statements that say no more than a table on the sheet."""

    def _cited_in(self, entries: Iterable[Entry]) -> set[str]:
        return {id for entry in entries for id in self._own(self._cites(entry))}

    def _cites(self, entry: Entry) -> list[str]:
        """Return the statements that a declaration cites, by its keys or in its rule text."""
        span = entry.value.span
        inner = (each for each in self.inner if each.span.file is span.file)
        inside = (each for each in inner if span.start <= each.span.start < span.end)
        return [*(cite.text for cite in entry.cited), *(id for each in inside for id in each.cites)]

    def _own(self, ids: Iterable[str]) -> Iterable[str]:
        """Return those statements that the ruleset follows, or all if it follows none of them."""
        known = tuple(id for id in ids if id in self.ruleset.statements)
        return self.ruleset.own_cites(known) or known

    def _is_printed(self, section: str, name: str) -> bool:
        return section in _PRINTED and (section != "tables" or name in self.model.tables)

    # --- whole

    def front(self, title: str) -> Iterator[Block]:
        """Yield the origin of data that no rulebook has, and the board."""
        for document, _ in self.part.roots:
            if origin := document.head.provenance:
                yield Paragraph(origin, "note")
        graph = self.model.graph
        if graph is not None and any(section in ("nodes", "links") for section, _ in self.entries):
            yield self.book.drawing(f"{counted(len(graph.nodes), 'node')}, {counted(len(graph.links), 'link')}", title)

    def sections(self, told: Set[str]) -> Iterator[Section]:
        """Yield the content, without the statements that are ``told`` elsewhere."""
        yield Section("box", "In the box", tuple(self._box()))
        for phase, quoted in self._chapters(told).items():
            yield Section(f"chapter-{phase}", self._chapter(phase), [Statements(quoted)] if quoted else ())
        yield Section("tables", "Tables", tuple(self._tables()))
        yield Section("changes", "Changes", tuple(self._changes()))

    @property
    def doubts(self) -> list[Statement]:
        return [each for each in self._in_order(self.cited) if each.kind == "gap"]

    # --- statements

    def _chapters(self, told: Set[str]) -> dict[str, list[Statement]]:
        """Return the statements by the chapters of their rulebook, without doubts and those that tables replace."""
        cited = self._in_order(self.cited - told)
        phases = self._in_order_of_play(each.phase for each in cited)
        chapters: dict[str, list[Statement]] = {phase: [] for phase in phases}
        for each in cited:
            if each.kind != "gap" and each.id not in self.replaced:
                chapters[each.phase].append(each)
        return chapters

    def _in_order_of_play(self, phases: Iterable[str]) -> list[str]:
        """Sort those of some chapters that the longest rulebook of the ruleset has too, in their places, as it does."""
        books = self.ruleset.composition.rulebooks
        known = [each for each in self.ruleset.statements.values() if each.kind not in ("fill", "gap")]
        longest = max(books, key=Counter(each.book for each in known).__getitem__, default="")
        order = list(dict.fromkeys(each.phase for each in known if each.book == longest))
        found = list(dict.fromkeys(phases))
        sorted_ = iter(sorted((phase for phase in found if phase in order), key=order.index))
        return [next(sorted_) if phase in order else phase for phase in found]

    def _in_order(self, ids: Set[str]) -> list[Statement]:
        """Sort statements as their rulebooks do, those of the part's own books first, and fills after all others."""
        books = {book.text for document, _ in self.part.roots for book in words(document.head.rulebook)}
        found = [each for id, each in self.ruleset.statements.items() if id in ids]
        return sorted(found, key=lambda each: (each.book not in books, each.kind == "fill"))

    def _chapter(self, phase: str) -> str:
        if phase in self.model.phases:
            return self.book.phase_title(phase)
        return titled(re.sub(r"(?<=[a-z])(?=[0-9])|-", " ", phase)) or "Rules"

    # --- tables, and changes without statements

    def _box(self) -> Iterator[Block]:
        entries = [entry for section, entry in self.entries if section in _PRINTED and section != "tables"]
        names = {entry.name for entry in entries}
        if components := [each for each in self.model.components.values() if each.name in names]:
            yield component_grid(components)
        if tokens := [kind for kind in self.model.kinds.values() if kind.totals is not None and kind.name in names]:
            yield self.book.token_grid(tokens)
        for kind in self.model.card_kinds:
            if cards := [card for card in self.model.cards if card.kind == kind and card.span.file.name in self.files]:
                yield self.book.card_grid(kind, cards)
        if ids := self._ids(entries):
            yield Paragraph(ids)

    def _tables(self) -> Iterator[Section]:
        entries = [entry for section, entry in self.entries if section == "tables"]
        for name in dict.fromkeys(entry.name for entry in entries):
            if (table := self.model.tables.get(name)) is not None:
                changed = frozenset(key for key, place in table.places.items() if place.file.name in self.files)
                grid = self.book.grid(table, changed if len(changed) < len(table.cells) else frozenset())
                ids = self._ids(entry for entry in entries if entry.name == name)
                blocks = (*([Paragraph(ids)] if ids else ()), replace(grid, long=True))
                yield Section(f"{self.prefix}table-{name}", self.book.heading("tables", name), blocks)

    def _ids(self, entries: Iterable[Entry]) -> Words:
        """Return the ids of the statements that a table replaces."""
        replaced = self._in_order(self._cited_in(entries) & self.replaced)
        return tuple(part for each in replaced for part in (" ", Id(each.id)))

    def _changes(self) -> Iterator[Block]:
        """Yield the changes that no statement tells, by their descriptions. Without any statement, also changes without
        a description, by their rule text, and new rules; else these only serve rules with statements."""
        items: list[Words] = []
        for section, entry in self.entries:
            if section in (*_RULES, *STATE_SECTIONS) and not self._cites(entry):
                name, about = Strong(self.book.heading(section, entry.name)), entry.remarks.about
                if section in _RULES and about and (entry.covers is not None or not self.cited):
                    items.append((name, ": ", sentence(about)))
                elif entry.covers is not None and not self.cited:
                    items.append((name, " ", _text(entry)))
        if items:
            yield Listing(items)


def _text(entry: Entry) -> Inline:
    """Return the rule text of a change if it is short, else how it changes what is below."""
    assert entry.covers is not None
    texts = (" ".join(word(entry.get(key)).split()) for key in ("is", "does", "permits", "start", "value", "seen"))
    return next((Code(text) for text in texts if 0 < len(text) <= _LONGEST), f"({entry.covers[0]} it)")


# --- size


def lines_of(page: Page) -> int:
    """Estimate the lines of a column that a sheet fills."""
    return sum(map(_lines, (*page.front, *page.sections)))


def _lines(block: Block | Section) -> int:
    match block:
        case Section(_, _, blocks):
            return 2 + sum(map(_lines, blocks))
        case Statements(items):
            return sum(_wrapped(f"{each.text}   {each.reading} {each.id}") for each in items)
        case Listing(items):
            return sum(_wrapped(words_of(item)) for item in items)
        case Paragraph(words):
            return _wrapped(words_of(words))
        case Grid(_, rows):
            return 3 + ceil(len(rows) / 2)  # a long table is split, and tables are side by side
        case Drawing():
            return _DRAWING
        case _:
            raise TypeError(f"a sheet has no {type(block).__name__}")


def _wrapped(text: str) -> int:
    return ceil(len(text) / _LETTERS)
