"""Composition of files: selects and orders the files of a ruleset and collects the layers of every declaration.

The input is a ruleset with requested or excluded overlays. The output has, for each section and name, the entries of
all files in the order of their layers. The meaning of entries is left to the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import quoted
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import Entry as YamlEntry
from interpreter.base.yaml_values import Mapping, Scalar, Sequence, Value, word, words
from interpreter.reading.files import KINDS, Document, Shelf, place_of
from interpreter.reading.players import MAXIMUM_PLAYERS, PlayerRange
from interpreter.sections.behaviour import Phase
from interpreter.sections.declarations import Entry, Layered, name_and_head
from interpreter.sections.documents import NAMED_SECTIONS, SINGLE_SECTIONS, Sections
from interpreter.sections.things import Card

__all__ = [
    "ALLOW_UNDEFINED",
    "Composition",
    "check_references",
    "compose",
    "declarations_in",
    "declared_in",
    "do_meet",
    "parts_of",
    "sections_of",
]

LAYERED = ("rules", "tables", "triggers", "standing")
"""Sections in which two overlays that override the same name need a defined order."""

ALLOW_UNDEFINED = "+undefined"
MOST_RULES = 2_000
MOST_ENTRIES = 10_000
MOST_PHASES = 50

D = TypeVar("D", bound=Layered)


class Composition(Struct, frozen=True):
    """All files of a ruleset as layers."""

    id: str
    title: str
    family: str
    documents: tuple[Document, ...]
    players: PlayerRange
    rulebooks: tuple[str, ...]
    sections: dict[str, dict[str, list[Entry]]]
    about: str = ""
    own_rules: dict[str, dict[str, str]] = {}
    """By file, the local rules whose names other files use too, with their unique names."""
    names: dict[str, tuple[tuple[Scalar, Scalar | None], ...]] = {}
    """By file, the types of parameters that it says by their names."""

    def layers(self, section: str, name: str) -> list[Entry]:
        return self.sections.get(section, {}).get(name, [])

    @property
    def provenance(self) -> dict[str, str]:
        """Return the notes on the origin of unpublished values, by file."""
        notes = {f"{file.kind} {file.id}": file.head.provenance for file in self.documents}
        return {file: text for file, text in notes.items() if text}

    def read(self, record: type[D]) -> Iterator[D]:
        """Yield the declarations of a section."""
        return map(record.of_layers, self.sections.get(record.section, {}).values())

    def one(self, record: type[D]) -> D | None:
        """Return the declaration of a section that is a single one."""
        return next(self.read(record), None)

    def single(self, section: str) -> Entry | None:
        """Return the uppermost layer of a section that is a single declaration."""
        layers = self.layers(section, section)
        return layers[-1] if layers else None


def phases_of(value: Value) -> list[tuple[Scalar, Scalar | None]]:
    """Return the names of the phases of a round, each with its condition or None."""
    phases: list[tuple[Scalar, Scalar | None]] = []
    for item in value.items if isinstance(value, Sequence) else (value,):
        name, when = (Phase(item).phase, Phase(item).when) if isinstance(item, Mapping) else (item, None)
        if isinstance(name, Scalar):
            phases.append((name, when))
    return phases


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
    if misfits := list(_check_fit(on_top.values(), stack, word(head.family))):
        return None, [*collector.diagnostics, *misfits]
    if ALLOW_UNDEFINED not in requested:
        collector.diagnostics.extend(_check_undefined(on_top.values(), stack))
    stack.extend(_in_order(list(on_top.values()), stack, collector.diagnostics))
    collector.diagnostics.extend(_check_family(family, edition))
    collector.diagnostics.extend(check_references(shelf, stack))
    collector.diagnostics.extend(_check_players(stack))
    stack.extend(collector.words(family))
    composition = _layered(ruleset, family, stack)
    if too_many := list(_check_size(composition)):
        return None, [*collector.diagnostics, *too_many]
    collector.diagnostics.extend(_check_layers(composition))
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


def _undefined(overlay: Document, ids: Iterable[str]) -> Iterator[tuple[Scalar, str]]:
    """Yield the files among ``ids`` that no rulebook covers in combination with an overlay, with the reason."""
    for key, reason in overlay.head.undefined:
        if key.text in ids:
            yield key, f"`{overlay.id}` with `{key.text}`: {reason}"


def _check_fit(overlays: Iterable[Document], below: list[Document], family: str) -> Iterator[Diagnostic]:
    """Report overlays that are for other files than those below."""
    ids = {document.id for document in below}
    for overlay in overlays:
        over = overlay.head.over
        if not over or any(name.text in ids for name in over):
            continue
        fits = " or ".join(f"`{name.text}`" for name in over)
        is_far = all(name.text.partition("/")[0] != family for name in over)
        reason = f"another family than `{family}`" if is_far else "which is not part of this ruleset"
        notes = tuple(Note(note, key.span) for key, note in _undefined(overlay, ids))
        yield Diagnostic("E505", f"`{overlay.id}` fits {fits}, {reason}", over[0].span, notes)


def _check_undefined(overlays: Iterable[Document], below: list[Document]) -> Iterator[Diagnostic]:
    """Report overlays in combinations that no rulebook covers."""
    ids = {document.id for document in (*below, *overlays)}
    for overlay in overlays:
        for key, reason in _undefined(overlay, ids):
            yield Diagnostic("E505", reason, key.span, help="use `--allow undefined` to try it")


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


def _check_family(family: Document, edition: list[Document]) -> Iterator[Diagnostic]:
    """Check that an edition extends the family of the ruleset, directly or through other editions."""
    first = edition[0].head.extends if edition else None
    if first is not None and first.text != family.id:
        message = f"`{edition[0].id}` extends `{first.text}`, but the family of this ruleset is `{family.id}`"
        yield Diagnostic("E505", message, first.span)


def check_references(shelf: Shelf, stack: list[Document]) -> Iterator[Diagnostic]:
    """Warn about references to optional files that do not exist: a typo would go unnoticed."""
    here = {document.id for document in stack}
    folders = {id.partition("/")[0] for id in here}
    for document in stack:
        head = document.head
        for name in (*(key for key, _ in head.with_), *head.over, *head.not_with, *head.after):
            if name.text not in here and not any(shelf.find(kind, name.text) for kind in KINDS):
                ids = {id for kind in KINDS for id in shelf.ids(kind) if id.partition("/")[0] in folders}
                near = did_you_mean(name.text, ids)
                yield Diagnostic("W002", f"unknown file `{name.text}`{near}", name.span, severity="warning")


def _limits(stack: list[Document]) -> list[tuple[Document, PlayerRange]]:
    """Return the allowed numbers of players of each file. Those of overlays override those of the edition."""
    limits = [(document, players) for document in stack if (players := document.players) is not None]
    return [(d, players) for d, players in limits if d.kind == "overlay"] or limits


def _check_players(stack: list[Document]) -> Iterator[Diagnostic]:
    """Check that at least one number of players is allowed by every file, and none is too large."""
    limits = _limits(stack)
    for document, limit in limits:
        if limit.high > MAXIMUM_PLAYERS:
            message = f"got {limit.high} players, want at most {MAXIMUM_PLAYERS}"
            yield Diagnostic("E313", message, document.root["players"].span)
    if limits and max(limit.low for _, limit in limits) > min(limit.high for _, limit in limits):
        document = limits[-1][0]
        notes = tuple(
            Note(f"`{d.id}` is for {limit.low} to {limit.high}", d.root["players"].span) for d, limit in limits[:-1]
        )
        message = f"no number of players suits {'all files' if notes else 'this file'}"
        yield Diagnostic("E510", message, document.root["players"].span, notes)


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
    players = reduce(and_, (limit for _, limit in _limits(stack)), PlayerRange(1, MAXIMUM_PLAYERS))
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
        for other, declarations in _parted(document):
            if other in later:
                later[other].extend(declarations)
            elif other in ids:
                yield from declarations
        yield from here


def _parted(document: Document) -> list[tuple[str, list[tuple[str, Entry]]]]:
    """Return the declarations of each part of a file. Rulesets that share the file share them."""
    kept: dict[str, list[tuple[str, list[tuple[str, Entry]]]]] = vars(document)
    if "parts" not in kept:
        kept["parts"] = [(other, list(declarations_in(document, root))) for other, root in parts_of(document)]
    return kept["parts"]


def sections_of(document: Document) -> Iterator[tuple[str, Entry]]:
    """Yield every named declaration of a file with its section, including those in `seats`, `parts` and `with`."""
    for section, entry in (each for _, declarations in _parted(document) for each in declarations):
        if section not in SINGLE_SECTIONS and not (section == "says" and document.kind == "words"):
            yield "cards" if section == "card_rows" else section, entry


def parts_of(document: Document) -> Iterator[tuple[str, Mapping]]:
    """Yield the parts of a file, each with the file under `with` that it needs: "" for what is outside of `with`."""
    entries = document.root.entries
    yield "", replace(document.root, entries=tuple(entry for entry in entries if entry.key.text != "with"))
    yield from ((key.text, paired.source) for key, paired in document.head.with_)


def declares(document: Document, besides: str) -> bool:
    """Return whether a file declares or removes anything in another section, in any of its parts."""
    return any(section != besides for _, declarations in _parted(document) for section, _ in declarations)


def declared_in(document: Document) -> dict[str, set[str]]:
    """Return the names that a file declares or overrides, each with the files under `with` for which it does so: "" if
    always."""
    names: dict[str, set[str]] = {}
    for file, declarations in _parted(document):
        for section, entry in declarations:
            if section not in ("says", "policies"):
                carried = [pool.text for pool, _ in Card.of_layers([entry]).carries] if section == "cards" else []
                for name in (entry.name, *carried):
                    names.setdefault(name, set()).add(file)
    return names


def only(composition: Composition, names: Set[str]) -> Composition:
    """Return a composition with no other declarations than those of some names (see :func:`declared_in`)."""
    sections = {
        section: {name: layers for name, layers in declared.items() if name in names or section == "cards"}
        for section, declared in composition.sections.items()
    }
    return replace(composition, sections=sections)


def do_meet(document: Document, other: Document) -> bool:
    """Return whether two files declare or override the same name, or one does so only beside the other."""
    names, others = declared_in(document), declared_in(other)
    beside = set[str]().union(*names.values(), *others.values())
    return not names.keys().isdisjoint(others) or not beside.isdisjoint((document.id, other.id))


def declarations_in(document: Document, root: Mapping) -> Iterator[tuple[str, Entry]]:
    """Yield the declarations of a part of a file, each with its section."""
    for section, key, value in _values_in(document, root):
        yield section, _entry(section, document, key, value)
    for name, part in Sections(root).parts:
        guards = (part.when,) if part.when is not None else ()
        for section, key, value in _values_in(document, part.source):
            entry = _entry(section, document, key, value, guards, name.text)
            yield section, _citing(entry, part.cites) if section in LAYERED else entry


def _entry(
    section: str, document: Document, key: Scalar, value: Value, guards: tuple[Scalar, ...] = (), part: str = ""
) -> Entry:
    name, head = name_and_head(key) if section == "rules" else (key, None)
    return Entry(name.text, document.id, document.kind, name, value, guards, part, head)


def _citing(entry: Entry, cites: tuple[Scalar, ...]) -> Entry:
    """Return a declaration with more citations."""
    if not cites or not isinstance(entry.value, Mapping):
        return entry
    others = tuple(item for item in entry.value.entries if item.key.text != "cites")
    every = Sequence((*entry.remarks.cites, *cites), cites[0].span)
    cited = YamlEntry(Scalar("cites", "plain", cites[0].span, "cites"), every)
    return replace(entry, value=Mapping((*others, cited), entry.value.span))


def _values_in(document: Document, root: Mapping) -> Iterator[tuple[str, Scalar, Value]]:
    """Yield the names and values of all declarations outside of `parts`, each with its section."""
    for section in root.entries:
        name, value = section.key.text, section.value
        if name in SINGLE_SECTIONS:
            yield name, section.key, value
        elif not isinstance(value, Mapping):
            continue
        elif name == "seats":
            for half in value.entries:
                items = half.value.entries if isinstance(half.value, Mapping) else ()
                yield from ((half.key.text, item.key, item.value) for item in items)
        elif name == "is" and document.kind == "words":
            language = Scalar(document.id.partition("/")[2], "plain", section.key.span, None)
            for item in value.entries:
                yield "says", item.key, Mapping((YamlEntry(language, item.value),), item.value.span)
        elif name in NAMED_SECTIONS:
            target = "card_rows" if name == "cards" and document.kind == "deck" else name
            yield from ((target, item.key, item.value) for item in value.entries)


def _check_size(composition: Composition) -> Iterator[Diagnostic]:
    """Check that a composition is small enough for the checks, some of which search it repeatedly."""
    rules = [e for section in LAYERED for layers in composition.sections.get(section, {}).values() for e in layers]
    everything = [e for names in composition.sections.values() for layers in names.values() for e in layers]
    phases = [name for name, _ in phases_of(entry.value)] if (entry := composition.single("round")) else []
    for items, most, noun in (
        (rules, MOST_RULES, "rules and tables"),
        (everything, MOST_ENTRIES, "declarations"),
        (phases, MOST_PHASES, "phases"),
    ):
        if len(items) > most:
            message = f"got {len(items):,} {noun} in all files, want at most {most:,}"
            yield Diagnostic("E010", message, items[most].span)


def _check_layers(composition: Composition) -> list[Diagnostic]:
    """Check that each name is declared once, and that overrides use a verb with the id of a file that declares it."""
    diagnostics: list[Diagnostic] = []
    for section, names in composition.sections.items():
        if section in SINGLE_SECTIONS or section in ("says", "policies", "decisions", "card_rows"):
            continue
        for name, layers in names.items():
            for position, entry in enumerate(layers):
                below = layers[:position]
                if section == "cards" and entry.covers is not None:
                    below = [*below, *_cards_below(composition, entry)]
                diagnostics.extend(_check_layer(section, name, below, entry, names))
    diagnostics.extend(_check_overlay_order(composition))
    return diagnostics


def _cards_below(composition: Composition, entry: Entry) -> Iterator[Entry]:
    """Yield the entries of decks below an amendment of a kind of card."""
    order = [document.id for document in composition.documents]
    for row in composition.layers("card_rows", entry.name):
        if order.index(row.file) < order.index(entry.file):
            yield row


def _check_layer(
    section: str, name: str, below: list[Entry], entry: Entry, names: dict[str, list[Entry]]
) -> Iterator[Diagnostic]:
    if entry.covers is None:
        if below and not (section == "kinds" and word(below[-1].value) == "open"):
            first = below[0]
            yield Diagnostic(
                "E501",
                f"`{name}` is already declared in `{first.file}`",
                entry.span,
                (Note("the first declaration", first.span),),
                _how_to_cover(section, name, first),
            )
        return
    how, file, span = entry.covers
    if how in ("amends", "removes") and entry.guards:
        yield Diagnostic("E507", f"`{how}` is unconditional: a part's `when` cannot guard it", span)
    if how == "removes" and (extra := _extra_key(entry)) is not None:
        message = f"got `removes` and `{extra.text}` together, want one of them"
        yield Diagnostic("E105", message, extra.span)
    if not below:
        yield Diagnostic(
            "E502", f"`{name}` {how} nothing: no file below declares it{did_you_mean(name, set(names) - {name})}", span
        )
    elif all(file != layer.file for layer in below):
        known = ", ".join(quoted(dict.fromkeys(layer.file for layer in below)))
        remedy = f"write `{how}: {below[0].file}`"
        yield Diagnostic("E503", f"`{name}` does not come from `{file}`; it is declared in {known}", span, help=remedy)


def _extra_key(entry: Entry) -> Scalar | None:
    """Return a key beside `removes` that is not documentation, or None."""
    keys = [item.key for item in entry.value.entries] if isinstance(entry.value, Mapping) else []
    return next((key for key in keys if key.text not in ("removes", "cites", "about", "provenance")), None)


def _remove(composition: Composition) -> None:
    """Delete the layers that later files remove. Overrides of a removed declaration are deleted with it."""
    for names in composition.sections.values():
        for name, layers in list(names.items()):
            remaining: list[Entry] = []
            for entry in layers:
                match entry.covers:
                    case "removes", file, _:
                        is_base = not remaining or remaining[0].file == file
                        remaining = [] if is_base else [layer for layer in remaining if layer.file != file]
                    case _:
                        remaining.append(entry)
            names[name] = remaining
            if not remaining:
                del names[name]


def _how_to_cover(section: str, name: str, first: Entry) -> str:
    file = first.file
    if section == "tokens" and isinstance(first.value, Scalar):
        return f"write `{{amends: {file}, {name}: …}}` to change the number of tokens"
    if section in ("rules", "tables"):
        return f"write `replaces: {file}`" + (f" or `wraps: {file}`" if section == "rules" else "")
    return f"write `amends: {file}` to change it"


def _check_overlay_order(composition: Composition) -> Iterator[Diagnostic]:
    """Report two overlays that override the same declaration without a defined order."""
    documents = {document.id: document for document in composition.documents if document.kind == "overlay"}
    for section in LAYERED:
        for name, layers in composition.sections.get(section, {}).items():
            overlays = [entry for entry in layers if entry.file in documents]
            for low, high in pairwise(overlays):
                if low.file == high.file or _ordered(documents[low.file], documents[high.file]):
                    continue
                yield Diagnostic(
                    "E506",
                    f"`{low.file}` and `{high.file}` both override `{name}`, in no defined order",
                    high.span,
                    (Note(f"`{low.file}` overrides it here", low.span),),
                    f"write `after: [{low.file}]` or `layer: last` in one of them",
                )


def _ordered(low: Document, high: Document) -> bool:
    if any(name.text == low.id for name in (*high.head.after, *(key for key, _ in high.head.with_))):
        return True
    return high.head.layer == "last" and low.head.layer != "last"
