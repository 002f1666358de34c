"""Composition of files: selects and orders the files of a ruleset and collects the layers of every declaration.

The input is a ruleset with requested or excluded overlays. The output has, for each section and name, the entries of
all files in the order of their layers. The meaning of entries is left to the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plurals import quoted
from interpreter.base.source import Span
from interpreter.base.yaml_values import Scalar, word, words
from interpreter.reading.composition import (
    Composition,
    check_family,
    check_fit,
    check_layers,
    check_players,
    check_references,
    check_size,
    check_undefined,
)
from interpreter.reading.file_declarations import parted
from interpreter.reading.files import Document, Shelf, place_of
from interpreter.reading.ruleset_files import players_of
from interpreter.sections.declarations import Entry
from interpreter.sections.documents import NAMED_SECTIONS

__all__ = ["ALLOW_UNDEFINED", "compose", "only"]


ALLOW_UNDEFINED = "+undefined"


def compose(shelf: Shelf, ruleset: Document, extra: Iterable[str] = ()) -> tuple[Composition | None, list[Diagnostic]]:
    """Compose the files of a ruleset with the extra overlays; a name with a minus excludes an overlay.

    :data:`ALLOW_UNDEFINED` in ``extra`` allows combinations that no rulebook covers. The second part of an overlay's id
    is enough if the ruleset's family, or only one family, has such an overlay.

    The composition is None if a file is missing, does not match its schema or is for other files: further checks are
    then pointless.
    """
    collector = _Collector(shelf)
    collector.take(ruleset)
    head, requested = ruleset.head, list(extra)
    family = collector.named("family", head.family)
    for name in family.head.uses if family is not None else ():
        collector.library(name)
    edition = collector.chain(head.edition)
    chosen_map, deck = collector.named("map", head.map), collector.named("deck", head.deck)
    added = [_full_id(id, ruleset, shelf) for id in requested if id[:1] != "-" and id != ALLOW_UNDEFINED]
    excluded = {_full_id(id[1:], ruleset, shelf) for id in requested if id[:1] == "-"}
    overlays = [collector.named("overlay", name) for name in head.overlays if name.text not in excluded]
    overlays.extend(collector.read("overlay", id) for id in added)
    collector.report_excluded(excluded - {name.text for name in head.overlays}, ruleset, edition)
    if collector.failed or family is None:
        return None, collector.diagnostics
    stack = [*collector.libraries, family, *edition, *(part for part in (chosen_map, deck) if part is not None)]
    on_top = {overlay.id: overlay for overlay in overlays if overlay is not None}
    if misfits := list(check_fit(on_top.values(), stack, word(head.family))):
        return None, [*collector.diagnostics, *misfits]
    if ALLOW_UNDEFINED not in requested:
        collector.diagnostics.extend(check_undefined(on_top.values(), stack))
    stack.extend(_in_order(list(on_top.values()), stack, collector.diagnostics))
    collector.diagnostics.extend(check_family(family, edition))
    collector.diagnostics.extend(check_references(shelf, stack))
    collector.diagnostics.extend(check_players(stack))
    stack.extend(collector.words(family))
    composition = _layered(ruleset, family, stack)
    if too_many := list(check_size(composition)):
        return None, [*collector.diagnostics, *too_many]
    collector.diagnostics.extend(check_layers(composition))
    _remove(composition)
    return composition, collector.diagnostics


def _full_id(name: str, ruleset: Document, shelf: Shelf) -> str:
    if "/" in name:
        return name
    own = f"{word(ruleset.head.family)}/{name}"
    others = [id for id in shelf.ids("overlay") if id.partition("/")[2] == name]
    return others[0] if own not in others and len(others) == 1 else own


class _Collector:
    """Reads the files of a ruleset, each once, and collects their diagnostics."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.diagnostics: list[Diagnostic] = []
        self.libraries: list[Document] = []
        self.failed = False

    def fail(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, help=help))
        self.failed = True

    def take(self, document: Document) -> None:
        self.diagnostics.extend(document.misfits)
        self.failed |= any(d.severity == "error" for d in document.misfits)

    def read(self, kind: str, id: str, at: Span | None = None) -> Document | None:
        document, problems = self.shelf.read(kind, id, at)
        self.diagnostics.extend(problems)
        if document is None:
            self.failed = True
        else:
            self.take(document)
        return document

    def named(self, kind: str, name: Scalar | None) -> Document | None:
        if name is None or (self.failed and place_of(kind, name.text) is None):
            return None  # no name, or an invalid id that is already reported
        return self.read(kind, name.text, name.span)

    def words(self, family: Document) -> list[Document]:
        """Return the translations of the family."""
        ids = [id for id in self.shelf.ids("words") if id.partition("/")[0] == family.id]
        return [document for id in ids if (document := self.read("words", id)) is not None]

    def report_excluded(self, overlays: Iterable[str], ruleset: Document, edition: list[Document]) -> None:
        """Report excluded overlays that the ruleset does not list, or that a number of players needs."""
        listed = ", ".join(quoted(each.text for each in ruleset.head.overlays)) or "none"
        for name in sorted(overlays):
            message = f"`{ruleset.id}` lists no overlay `{name}` to leave out"
            for players in filter(None, (document.players for document in edition)):
                for number in (number for number, needed in players.overlays if needed == name):
                    message = f"a game of {number} needs `{name}`: {players.because or 'this overlay is mandatory'}"
            self.fail("E505", message, ruleset.root[ruleset.kind].span, f"overlays that it lists: {listed}")

    def library(self, name: Scalar, within: tuple[str, ...] = ()) -> None:
        """Add a library, after those that it uses. ``within`` is the chain of libraries that use it."""
        if any(document.id == name.text for document in self.libraries):
            return
        if name.text in within:
            cycle = " → ".join([*within[within.index(name.text) :], name.text])
            self.fail("E504", f"`{name.text}` uses itself: {cycle}", name.span)
        elif (document := self.named("library", name)) is not None:
            for used in document.head.uses:
                self.library(used, (*within, name.text))
            self.libraries.append(document)

    def chain(self, name: Scalar | None) -> list[Document]:
        """Return an edition and the editions that it extends, lowest first."""
        chain: list[Document] = []
        while name is not None and (not chain or "/" in name.text):
            if any(document.id == name.text for document in chain):
                cycle = " → ".join([document.id for document in reversed(chain)] + [name.text])
                self.fail("E504", f"`{name.text}` extends itself: {cycle}", name.span)
                break
            document = self.named("edition", name)
            if document is None:
                break
            chain.insert(0, document)
            name = document.head.extends
        return chain


def _in_order(overlays: list[Document], below: list[Document], diagnostics: list[Diagnostic]) -> list[Document]:
    """Sort overlays by `after` and `layer: last`, and report those that exclude each other."""
    ids = {document.id for document in below}
    for overlay in overlays:
        for other in overlay.head.not_with:
            if other.text in ids or any(other.text == document.id for document in overlays):
                message = f"`{overlay.id}` cannot be combined with `{other.text}`"
                diagnostics.append(Diagnostic("E505", message, other.span))
    ordered: list[Document] = []
    waiting = sorted(overlays, key=lambda overlay: overlay.head.layer == "last")
    while waiting:
        names = {document.id for document in waiting}
        ready = next((d for d in waiting if not any(a.text in names for a in d.head.after)), None)
        if ready is None:
            cycle = ", ".join(quoted(document.id for document in waiting))
            diagnostics.append(Diagnostic("E504", f"each of {cycle} is `after` another", waiting[0].root.span))
            return ordered + waiting
        waiting.remove(ready)
        ordered.append(ready)
    return ordered


def _layered(ruleset: Document, family: Document, stack: list[Document]) -> Composition:
    sections: dict[str, dict[str, list[Entry]]] = {}
    own_rules = _OwnRules(stack)
    for section, entry in _in_layers(stack):
        names = sections.setdefault(section, {})
        name = own_rules.name(entry, names) if section == "rules" else entry.name
        names.setdefault(name, []).append(entry)
    order = {section: number for number, section in enumerate(NAMED_SECTIONS)}  # whatever file has which section
    sections = dict(sorted(sections.items(), key=lambda each: order.get(each[0], len(order))))
    rulebooks = dict.fromkeys(book.text for document in stack for book in words(document.head.rulebook))
    players = players_of(stack)
    needed = tuple((number, overlay) for number, overlay in players.overlays if overlay != "nothing")
    return Composition(
        ruleset.id,
        ruleset.title,
        family.id,
        (ruleset, *stack),
        replace(players, overlays=needed),
        tuple(rulebooks),
        sections,
        ruleset.head.about,
        own_rules.names,
        {document.id: document.head.names for document in stack},
    )


class _OwnRules:
    """Local rules of maps and overlays: unrelated files may declare rules with the same name.

    A file sees the rules of the files that every ruleset of the family has, and of the files that it refers to. The
    lower rule keeps its name; the upper one gets a name with its file.
    """

    def __init__(self, stack: list[Document]) -> None:
        self.stack = {document.id: document for document in stack}
        self.names: dict[str, dict[str, str]] = {}
        self.known: dict[str, list[str]] = {}

    def name(self, entry: Entry, rules: dict[str, list[Entry]]) -> str:
        name, below = entry.name, rules.get(entry.name, [])
        file = entry.covers[1] if entry.covers else entry.file
        for own in self.known.get(name, ()):
            if any(layer.file == file for layer in rules[own]):
                return own
        if entry.covers is not None or not below:
            return name
        document, first = self.stack[entry.file], self.stack[below[0].file]
        special = document.kind in _SPECIAL and first.kind in _SPECIAL and document.id != first.id
        called = {name.text for name in (*document.head.round, document.head.setup) if isinstance(name, Scalar)}
        if not special or _knows(document, first.id) or name in called:
            return name
        own = f"{name} of {entry.file}"
        self.known.setdefault(name, []).append(own)
        for other in self.stack.values():
            knows_below = other.id == first.id or _knows(other, first.id)
            if other.id == entry.file or (_knows(other, entry.file) and not knows_below):
                self.names.setdefault(other.file.name, {})[name] = own
        return own


_SPECIAL = ("map", "overlay")
"""Kinds of files that not every ruleset of a family has."""


def _knows(document: Document, id: str) -> bool:
    """Return whether a file refers to another one, so that it sees its declarations."""
    head = document.head
    return any(name.text == id for name in (*(key for key, _ in head.with_), *head.over, *head.after))


def _in_layers(stack: list[Document]) -> Iterator[tuple[str, Entry]]:
    """Yield all declarations, lowest first. Declarations under `with` for a higher file come right after that file."""
    later = {document.id: list[tuple[str, Entry]]() for document in stack}
    ids = {"", *later}
    for document in stack:
        here = later.pop(document.id, [])
        for other, declarations in parted(document):
            if other in later:
                later[other].extend(declarations)
            elif other in ids:
                yield from declarations
        yield from here


def only(composition: Composition, names: Set[str]) -> Composition:
    """Return a composition with no other declarations than those of some names (see :func:`declared_in`)."""
    sections = {
        section: {name: layers for name, layers in declared.items() if name in names or section == "cards"}
        for section, declared in composition.sections.items()
    }
    return replace(composition, sections=sections)


def _remove(composition: Composition) -> None:
    """Delete the layers that later files remove. Overrides of a removed declaration are deleted with it."""
    for names in composition.sections.values():
        for name, layers in list(names.items()):
            remaining: list[Entry] = []
            for entry in layers:
                if entry.covers is None or entry.covers[0] != "removes":
                    remaining.append(entry)
                elif not remaining or remaining[0].file == entry.covers[1]:
                    remaining = []
                else:
                    remaining = [layer for layer in remaining if layer.file != entry.covers[1]]
            names[name] = remaining
            if not remaining:
                del names[name]
