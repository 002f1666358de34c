"""Files to one composition: which files take part, in which order, and every declaration with its layers.

What comes in is the name of a ruleset with overlays asked for or refused. What goes out says, for each section and
name, the entries of all files in the order of their layers. What the entries mean is left to the checker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import pairwise

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.frozen import dataclass
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.reading.files import KINDS, Document, Shelf, place_of
from interpreter.reading.players import PlayerRange
from interpreter.reading.yaml import Entry as YamlEntry
from interpreter.reading.yaml import Mapping, Scalar, Sequence, Value

__all__ = [
    "ALLOW_UNDEFINED",
    "VERBS",
    "Composition",
    "Entry",
    "PlayerRange",
    "amended",
    "check_references",
    "cites_below",
    "compose",
    "declared_in",
    "player_range",
    "undefined_with",
    "word",
    "words",
]

NAMED_SECTIONS = (
    "kinds",
    "tokens",
    "pieces",
    "cards",
    "records",
    "zones",
    "pools",
    "tracks",
    "state",
    "settings",
    "interpretations",
    "events",
    "components",
    "tables",
    "rules",
    "triggers",
    "standing",
    "decisions",
    "says",
    "boards",
    "measures",
    "asks",
    "faces",
    "table",
    "policies",
)
"""Sections that map names to declarations."""

SINGLE_SECTIONS = ("graph", "picture", "round", "setup", "result", "nodes", "links", "refuses")
"""Sections that are one declaration."""

LAYERED = ("rules", "tables", "triggers", "standing")
"""Sections of which two overlays that cover one name need an order between them."""

VERBS = ("replaces", "wraps", "amends", "removes")
"""How a later file covers a declaration: instead of it, around it, parts of it, or not at all."""


ALLOW_UNDEFINED = "+undefined"
MAXIMUM_PLAYERS = 12
MOST_RULES = 2_000
MOST_ENTRIES = 10_000
MOST_PHASES = 50

_RANGE = re.compile(r"(-?[0-9]{1,9})(?:\.\.(-?[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file's declaration of a name. ``guards`` are the conditions of the parts that it stands in."""

    name: str
    file: str
    kind: str
    key: Scalar
    value: Value
    guards: tuple[Scalar, ...] = ()
    part: str = ""

    @property
    def span(self) -> Span:
        return self.key.span

    def get(self, key: str) -> Value | None:
        return self.value.get(key) if isinstance(self.value, Mapping) else None

    @property
    def covers(self) -> tuple[str, str, Span] | None:
        """Return the verb of an override (one of :data:`VERBS`) and the file that it names."""
        for how in VERBS:
            value = self.get(how)
            if isinstance(value, Scalar):
                return how, value.text, value.span
        return None


@dataclass(frozen=True)
class Composition:
    """All files of a ruleset as layers."""

    id: str
    title: str
    family: str
    documents: tuple[Document, ...]
    players: PlayerRange
    rulebooks: tuple[str, ...]
    sections: dict[str, dict[str, list[Entry]]] = field(repr=False)
    about: str = ""
    own_rules: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    """By the name of a file, rules that it calls by a name that an unrelated file has too, and what they are here."""

    def layers(self, section: str, name: str) -> list[Entry]:
        return self.sections.get(section, {}).get(name, [])

    @property
    def provenance(self) -> dict[str, str]:
        """Return the provenance notes of values that are not as published, by file."""
        found = {f"{each.kind} {each.id}": word(each.root.get("provenance")) for each in self.documents}
        return {file: text for file, text in found.items() if text}

    def single(self, section: str) -> Entry | None:
        """The uppermost declaration of a section that is one declaration."""
        layers = self.layers(section, section)
        return layers[-1] if layers else None


def word(value: Value | None, default: str = "") -> str:
    """The text of a scalar."""
    return value.text if isinstance(value, Scalar) else default


def phases_of(value: Value) -> list[tuple[Scalar, Value | None]]:
    """The phases of a round by their names, each with its condition where it has one."""
    found: list[tuple[Scalar, Value | None]] = []
    for item in value.items if isinstance(value, Sequence) else (value,):
        name, when = (item.get("phase"), item.get("when")) if isinstance(item, Mapping) else (item, None)
        if isinstance(name, Scalar):
            found.append((name, when))
    return found


def words(value: Value | None) -> list[Scalar]:
    """The scalars of a list, or of one alone."""
    if isinstance(value, Scalar):
        return [value]
    if isinstance(value, Sequence):
        return [item for item in value.items if isinstance(item, Scalar)]
    return []


def cites_below(value: Value) -> Iterator[Scalar]:
    """All statements that a declaration names, those of its cases with them."""
    if isinstance(value, Mapping):
        for entry in value.entries:
            yield from words(entry.value) if entry.key.text in ("cites", "answers") else cites_below(entry.value)
    elif isinstance(value, Sequence):
        for item in value.items:
            yield from cites_below(item)


def amended(layers: list[Entry]) -> Entry:
    """A declaration with what later files change of it, at the place of the last one.

    Keys stand over keys. Where both are names with values, they do so name by name, and `nothing` takes a name out.
    `adds` adds to the items of `is`, and of a trigger each phase has the uppermost text that speaks of it.
    """
    first = last = layers[-1]
    keys: dict[str, YamlEntry] = {}
    for layer in layers:
        if layer.covers is None or layer.covers[0] != "amends":
            first, keys = layer, {}
        if isinstance(layer.value, Mapping):
            for entry in layer.value.entries:
                _amend(keys, entry)
        else:
            keys["is"] = YamlEntry(replace(layer.key, text="is", value="is"), layer.value)
    if last.covers is None or last.covers[0] != "amends":
        return last
    return replace(last, value=Mapping(tuple(keys.values()), last.value.span), guards=first.guards, part=first.part)


def _amend(keys: dict[str, YamlEntry], entry: YamlEntry) -> None:
    name, value = entry.key.text, entry.value
    below = keys[name].value if name in keys else None
    if name in ("does", "otherwise"):  # a text for all phases, or for all others
        for covered in ("cases", "otherwise") if name == "does" else ("does",):
            keys.pop(covered, None)
    elif name == "adds" and "is" in keys and isinstance(value, Sequence):
        known = keys["is"]
        if isinstance(known.value, Sequence):
            keys["is"] = replace(known, value=replace(value, items=(*known.value.items, *value.items)))
            return
    elif name == "cases" and isinstance(below, Sequence) and isinstance(value, Sequence):
        value = replace(value, items=(*_other_cases(below, value), *value.items))
    elif isinstance(below, Mapping) and isinstance(value, Mapping):
        named = {each.key.text: each for each in (*below.entries, *value.entries)}
        value = replace(value, entries=tuple(each for each in named.values() if word(each.value) != "nothing"))
    if name != "amends":
        keys[name] = replace(entry, value=value)


def _other_cases(below: Sequence, above: Sequence) -> Iterator[Value]:
    """Cases of a trigger without the phases that others speak of."""
    taken = {phase.text for case in above.items if isinstance(case, Mapping) for phase in words(case.get("in"))}
    for case in below.items:
        phases = words(case.get("in")) if isinstance(case, Mapping) else []
        left = tuple(phase for phase in phases if phase.text not in taken)
        if isinstance(case, Mapping) and left:
            entries = (
                replace(entry, value=Sequence(left, entry.value.span)) if entry.key.text == "in" else entry
                for entry in case.entries
            )
            yield replace(case, entries=tuple(entries))


def player_range(value: Value | None) -> PlayerRange | None:
    """``3``, ``3..6`` or a map with ``range``, ``otherwise``, ``with`` and ``because``."""
    if isinstance(value, Mapping):
        found, taken = player_range(value.get("range")), value.get("with")
        entries = taken.entries if isinstance(taken, Mapping) else ()
        overlays = tuple((int(entry.key.text), word(entry.value)) for entry in entries)
        texts = word(value.get("otherwise")), word(value.get("because"))
        return PlayerRange(found.low, found.high, texts[0], overlays, texts[1]) if found else None
    found_text = _RANGE.fullmatch(word(value))
    return PlayerRange(int(found_text[1]), int(found_text[2] or found_text[1])) if found_text else None


def compose(shelf: Shelf, ruleset: Document, extra: Iterable[str] = ()) -> tuple[Composition | None, list[Diagnostic]]:
    """The files that a ruleset names, with the overlays asked for (with a minus: without them), as layers.

    :data:`ALLOW_UNDEFINED` among them lets stand beside each other what no rulebook speaks of together.
    An overlay may be named by the second word of its id alone, where the ruleset's own family or just one has it.

    Nothing is returned where a file is missing, its form is wrong or it is for other files: there is then nothing to
    check further.
    """
    collector = _Collector(shelf)
    collector.take(ruleset)
    root = ruleset.root
    family = collector.named("family", root.get("family"))
    for name in words(family.root.get("uses") if family else None):
        collector.library(name)
    edition = collector.chain(root.get("edition"))
    chosen_map = collector.named("map", root.get("map"))
    deck = collector.named("deck", root.get("deck"))
    own, asked = words(root.get("overlays")), list(extra)
    extra = [name for name in asked if name != ALLOW_UNDEFINED]
    refused = {_full_id(name[1:], root, shelf) for name in extra if name[:1] == "-"}
    overlays = [collector.named("overlay", name) for name in own if name.text not in refused]
    overlays.extend(collector.overlay_by_id(_full_id(name, root, shelf)) for name in extra if name[:1] != "-")
    collector.refuse(refused - {name.text for name in own}, ruleset, edition)
    if collector.failed:
        return None, collector.diagnostics
    stack = [*collector.libraries, *([family] if family else []), *edition, *(d for d in (chosen_map, deck) if d)]
    on_top = {overlay.id: overlay for overlay in overlays if overlay}
    if misfits := list(_check_fit(on_top.values(), stack, root)):
        return None, [*collector.diagnostics, *misfits]
    if ALLOW_UNDEFINED not in asked:
        collector.diagnostics.extend(_check_undefined(on_top.values(), stack))
    stack.extend(_in_order(list(on_top.values()), stack, collector.diagnostics))
    collector.diagnostics.extend(_check_family(family, edition))
    collector.diagnostics.extend(check_references(shelf, stack))
    collector.diagnostics.extend(_check_players(stack))
    stack.extend(collector.words(family))
    composition = _layered(ruleset, family, stack)
    too_many = list(_check_size(composition))
    if too_many:
        return None, [*collector.diagnostics, *too_many]
    collector.diagnostics.extend(_check_layers(composition))
    _remove(composition)
    return composition, collector.diagnostics


def _full_id(name: str, ruleset: Mapping, shelf: Shelf) -> str:
    if "/" in name:
        return name
    own = f"{word(ruleset.get('family'))}/{name}"
    others = [id for id in shelf.ids("overlay") if id.partition("/")[2] == name]
    return others[0] if own not in others and len(others) == 1 else own


class _Collector:
    """Reads the files of a ruleset, each once, and keeps what is wrong with them."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.diagnostics: list[Diagnostic] = []
        self.libraries: list[Document] = []
        self.failed = False

    def take(self, document: Document) -> None:
        found = document.misfits
        self.diagnostics.extend(found)
        self.failed |= any(d.severity == "error" for d in found)

    def named(self, kind: str, name: Value | None) -> Document | None:
        if not isinstance(name, Scalar) or (self.failed and place_of(kind, name.text) is None):
            return None  # nothing is named, or what is no id is told already
        document, found = self.shelf.read(kind, name.text, name.span)
        self.diagnostics.extend(found)
        if document is None:
            self.failed = True
            return None
        self.take(document)
        return document

    def words(self, family: Document | None) -> Iterator[Document]:
        """Return the translations of the family."""
        for id in self.shelf.ids("words"):
            if family is not None and id.partition("/")[0] == family.id:
                document, found = self.shelf.read("words", id, None)
                self.diagnostics.extend(found)
                if document is not None:
                    self.take(document)
                    yield document

    def overlay_by_id(self, name: str) -> Document | None:
        document, found = self.shelf.read("overlay", name, None)
        self.diagnostics.extend(found)
        if document is None:
            self.failed = True
            return None
        self.take(document)
        return document

    def refuse(self, overlays: Iterable[str], ruleset: Document, edition: list[Document]) -> None:
        """Overlays that are not wanted, but that the ruleset does not list: they cannot be left out."""
        for name in sorted(overlays):
            why = f"`{ruleset.id}` lists no overlay `{name}` that could be left out"
            for players in filter(None, (player_range(document.root.get("players")) for document in edition)):
                for number in (number for number, taken in players.overlays if taken == name):
                    why = f"a game of {number} takes in `{name}`: {players.because or 'it cannot be left out'}"
            self.diagnostics.append(Diagnostic("E505", why, ruleset.root.span))
            self.failed = True

    def library(self, name: Scalar, within: tuple[str, ...] = ()) -> None:
        """A library after those that it uses. ``within`` are the libraries that led to it."""
        if any(document.id == name.text for document in self.libraries):
            return
        if name.text in within:
            ring = " → ".join([*within[within.index(name.text) :], name.text])
            self.diagnostics.append(Diagnostic("E504", f"`{name.text}` uses itself: {ring}", name.span))
            self.failed = True
            return
        document = self.named("library", name)
        if document is None:
            return
        for used in words(document.root.get("uses")):
            self.library(used, (*within, name.text))
        self.libraries.append(document)

    def chain(self, name: Value | None) -> list[Document]:
        """An edition with what it extends, the furthest first."""
        chain: list[Document] = []
        while isinstance(name, Scalar):
            if any(document.id == name.text for document in chain):
                ring = " → ".join([document.id for document in reversed(chain)] + [name.text])
                self.diagnostics.append(Diagnostic("E504", f"`{name.text}` extends itself: {ring}", name.span))
                self.failed = True
                break
            document = self.named("edition", name)
            if document is None:
                break
            chain.insert(0, document)
            name = document.root.get("extends")
            if isinstance(name, Scalar) and "/" not in name.text:
                break
        return chain


def undefined_with(overlay: Document) -> dict[str, str]:
    """The files with which no rulebook says what holds, each with the reason."""
    undefined = overlay.root.get("undefined")
    entries = undefined.entries if isinstance(undefined, Mapping) else ()
    return {entry.key.text: word(entry.value) for entry in entries}


def _undefined(overlay: Document, ids: Iterable[str]) -> Iterator[tuple[Scalar, str]]:
    """Those of the files with which no rulebook says what holds, and why."""
    undefined = overlay.root.get("undefined")
    for entry in undefined.entries if isinstance(undefined, Mapping) else ():
        if entry.key.text in ids:
            yield entry.key, f"`{overlay.id}` with `{entry.key.text}`: {word(entry.value)}"


def _check_fit(overlays: Iterable[Document], below: list[Document], ruleset: Mapping) -> Iterator[Diagnostic]:
    """Overlays that were written for other files than those below."""
    ids = {document.id for document in below}
    family = word(ruleset.get("family"))
    for overlay in overlays:
        over = words(overlay.root.get("over"))
        if not over or any(name.text in ids for name in over):
            continue
        fits = " or ".join(f"`{name.text}`" for name in over)
        is_far = all(name.text.partition("/")[0] != family for name in over)
        why = f"another family than `{family}`" if is_far else "which is not part of this ruleset"
        reasons = tuple(Note(reason, key.span) for key, reason in _undefined(overlay, ids))
        yield Diagnostic("E505", f"`{overlay.id}` fits {fits}, {why}", over[0].span, reasons)


def _check_undefined(overlays: Iterable[Document], below: list[Document]) -> Iterator[Diagnostic]:
    """Check for overlays that must not be combined because no rulebook covers the combination."""
    ids = {document.id for document in (*below, *overlays)}
    for overlay in overlays:
        for key, reason in _undefined(overlay, ids):
            yield Diagnostic("E505", reason, key.span, help="`--allow undefined` tries it nevertheless")


def _in_order(overlays: list[Document], below: list[Document], diagnostics: list[Diagnostic]) -> list[Document]:
    """Overlays by `after` and `layer: last`; what they may not stand beside is reported."""
    ids = {document.id for document in below}
    for overlay in overlays:
        for other in words(overlay.root.get("not_with")):
            if other.text in ids or any(other.text == each.id for each in overlays):
                diagnostics.append(Diagnostic("E505", f"`{overlay.id}` does not go with `{other.text}`", other.span))
    ordered: list[Document] = []
    waiting = sorted(overlays, key=lambda overlay: word(overlay.root.get("layer")) == "last")
    while waiting:
        names = {document.id for document in waiting}
        ready = next((d for d in waiting if not any(a.text in names for a in words(d.root.get("after")))), None)
        if ready is None:
            ring = ", ".join(f"`{document.id}`" for document in waiting)
            diagnostics.append(Diagnostic("E504", f"each of {ring} wants to be after another", waiting[0].root.span))
            return ordered + waiting
        waiting.remove(ready)
        ordered.append(ready)
    return ordered


def _check_family(family: Document | None, edition: list[Document]) -> Iterator[Diagnostic]:
    """An edition extends the family of the ruleset, at once or through other editions."""
    first = edition[0].root.get("extends") if edition else None
    if family is not None and isinstance(first, Scalar) and first.text != family.id:
        yield Diagnostic(
            "E505",
            f"`{edition[0].id}` extends `{first.text}`, but the family of this ruleset is `{family.id}`",
            first.span,
        )


def check_references(shelf: Shelf, stack: list[Document]) -> Iterator[Diagnostic]:
    """Files that may or may not take part are there at all: a misspelt name would never be noticed."""
    here = {document.id for document in stack}
    folders = {id.partition("/")[0] for id in here}
    for document in stack:
        paired = document.root.get("with")
        named = [entry.key for entry in paired.entries] if isinstance(paired, Mapping) else []
        for key in ("over", "not_with", "after"):
            named.extend(words(document.root.get(key)))
        for name in named:
            if name.text not in here and not any(shelf.find(kind, name.text) for kind in KINDS):
                ids = {id for kind in KINDS for id in shelf.ids(kind) if id.partition("/")[0] in folders}
                near = did_you_mean(name.text, ids)
                yield Diagnostic("W002", f"unknown file `{name.text}`{near}", name.span, severity="warning")


def _limits(stack: list[Document]) -> list[tuple[Document, PlayerRange]]:
    """Return the allowed numbers of players, file by file. What an overlay says stands in place of what its edition
    says."""
    given = [(d, found) for d in stack if (found := player_range(d.root.get("players"))) is not None]
    return [(d, found) for d, found in given if d.kind == "overlay"] or given


def _check_players(stack: list[Document]) -> Iterator[Diagnostic]:
    """Some number of players suits every file."""
    limits = _limits(stack)
    if limits and max(found.low for _, found in limits) > min(MAXIMUM_PLAYERS, *(found.high for _, found in limits)):
        document = limits[-1][0]
        notes = tuple(
            Note(f"`{d.id}` is for {found.low} to {found.high}", d.root["players"].span) for d, found in limits[:-1]
        )
        message = f"no number of players suits {'all files' if notes else 'this file'}"
        yield Diagnostic("E510", message, document.root["players"].span, notes)


def _layered(ruleset: Document, family: Document | None, stack: list[Document]) -> Composition:
    sections: dict[str, dict[str, list[Entry]]] = {}
    players = PlayerRange(1, MAXIMUM_PLAYERS)
    rulebooks: list[str] = []
    own_rules = _Own(stack)
    for section, entry in _in_layers(stack):
        names = sections.setdefault(section, {})
        name = own_rules.name(entry, names) if section == "rules" else entry.name
        names.setdefault(name, []).append(entry)
    for document in stack:
        rulebooks.extend(scalar.text for scalar in words(document.root.get("rulebook")))
    for _, given in _limits(stack):
        players = PlayerRange(
            max(players.low, given.low),
            min(players.high, given.high),
            given.otherwise or players.otherwise,
            tuple({**dict(players.overlays), **dict(given.overlays)}.items()),
            given.because or players.because,
        )
    taken = tuple((number, overlay) for number, overlay in players.overlays if overlay != "nothing")
    return Composition(
        ruleset.id,
        word(ruleset.root.get("title"), ruleset.id),
        family.id if family else "",
        (ruleset, *stack),
        replace(players, overlays=taken),
        tuple(dict.fromkeys(rulebooks)),
        sections,
        word(ruleset.root.get("about")),
        own_rules.names,
    )


class _Own:
    """Rules of a map or overlay that an unrelated file calls by the same name: each file knows its own.

    A file knows what files declare that every ruleset of the family has, and what those do that it is for, lies over or
    speaks of. The lower rule keeps its name, and the upper one is called after its file.
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
        called = {scalar.text for key in ("round", "setup") for scalar in words(document.root.get(key))}
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
"""Files that not every ruleset of a family has."""


def _knows(document: Document, id: str) -> bool:
    """Return whether a file names another one, so that it knows what that one declares."""
    paired = document.root.get("with")
    named = [entry.key for entry in paired.entries] if isinstance(paired, Mapping) else []
    return any(
        name.text == id for name in (*named, *words(document.root.get("over")), *words(document.root.get("after")))
    )


def _in_layers(stack: list[Document]) -> Iterator[tuple[str, Entry]]:
    """All declarations from below. What a file says for another one that lies higher lies right over that one."""
    later = {document.id: list[tuple[str, Entry]]() for document in stack}
    for document in stack:
        here = later.pop(document.id, [])
        yield from _with_parts(document, document.root)
        paired = document.root.get("with")
        for other in paired.entries if isinstance(paired, Mapping) else ():
            if other.key.text in {each.id for each in stack} and isinstance(other.value, Mapping):
                sections = _with_parts(document, other.value)
                if other.key.text in later:
                    later[other.key.text].extend(sections)
                else:
                    yield from sections
        yield from here


def declared_in(document: Document) -> dict[str, set[str]]:
    """The names that a file declares or covers, each with the files for which it does: "" where it always does."""
    found: dict[str, set[str]] = {}

    def add(name: str, file: str) -> None:
        found.setdefault(name, set()).add(file)

    paired = document.root.get("with")
    others = paired.entries if isinstance(paired, Mapping) else ()
    roots = [("", document.root), *((each.key.text, each.value) for each in others)]
    for file, root in roots:
        if not isinstance(root, Mapping):
            continue
        for section, entry in _with_parts(document, root):
            if section in ("says", "policies"):
                continue
            add(entry.name, file)
            carried = entry.get("carries")
            for pool in carried.entries if isinstance(carried, Mapping) else ():
                add(pool.key.text, file)
    return found


def _with_parts(document: Document, root: Mapping) -> Iterator[tuple[str, Entry]]:
    yield from _of_sections(document, root, (), "")
    parts = root.get("parts")
    if isinstance(parts, Mapping):
        for part in parts.entries:
            if isinstance(part.value, Mapping):
                guard = part.value.get("when")
                guards = (guard,) if isinstance(guard, Scalar) else ()
                cites = words(part.value.get("cites"))
                for section, entry in _of_sections(document, part.value, guards, part.key.text):
                    yield section, _citing(entry, cites) if section in LAYERED else entry


def _citing(entry: Entry, cites: list[Scalar]) -> Entry:
    """A declaration that cites these statements too."""
    if not cites or not isinstance(entry.value, Mapping):
        return entry
    others = tuple(each for each in entry.value.entries if each.key.text != "cites")
    every = Sequence((*words(entry.get("cites")), *cites), cites[0].span)
    cited = YamlEntry(Scalar("cites", "plain", cites[0].span, "cites"), every)
    return replace(entry, value=Mapping((*others, cited), entry.value.span))


def _of_sections(
    document: Document, root: Mapping, guards: tuple[Scalar, ...], part: str
) -> Iterator[tuple[str, Entry]]:
    def entry(key: Scalar, value: Value) -> Entry:
        return Entry(key.text, document.id, document.kind, key, value, guards, part)

    for section in root.entries:
        name, value = section.key.text, section.value
        if document.kind == "words" and name == "is" and isinstance(value, Mapping):
            language = Scalar(document.id.partition("/")[2], "plain", section.key.span, None)
            for item in value.entries:
                yield "says", entry(item.key, Mapping((YamlEntry(language, item.value),), item.value.span))
        if name in SINGLE_SECTIONS:
            yield name, entry(section.key, value)
        elif name == "seats" and isinstance(value, Mapping):
            for half in value.entries:
                if isinstance(half.value, Mapping):
                    for item in half.value.entries:
                        yield half.key.text, entry(item.key, item.value)
        elif name in NAMED_SECTIONS and isinstance(value, Mapping):
            target = "card_rows" if name == "cards" and document.kind == "deck" else name
            for item in value.entries:
                yield target, entry(item.key, item.value)


def _check_size(composition: Composition) -> Iterator[Diagnostic]:
    """Check that a composition is small enough to be searched repeatedly."""
    rules = [e for section in LAYERED for layers in composition.sections.get(section, {}).values() for e in layers]
    everything = [e for names in composition.sections.values() for layers in names.values() for e in layers]
    phases = [name for name, _ in phases_of(entry.value)] if (entry := composition.single("round")) else []
    for found, most, what in (
        (rules, MOST_RULES, "rules and tables"),
        (everything, MOST_ENTRIES, "declarations"),
        (phases, MOST_PHASES, "phases"),
    ):
        if len(found) > most:
            message = f"got {len(found):,} {what} in all files, want at most {most:,}"
            yield Diagnostic("E010", message, found[most].span)


def _check_layers(composition: Composition) -> list[Diagnostic]:
    """A name is declared once; what covers it says so, and names a file that has it."""
    found: list[Diagnostic] = []
    for section, names in composition.sections.items():
        if section in SINGLE_SECTIONS or section in ("says", "policies", "decisions", "card_rows"):
            continue
        for name, layers in names.items():
            for position, entry in enumerate(layers):
                below = layers[:position]
                if section == "cards" and entry.covers is not None:
                    below = [*below, *_cards_below(composition, entry)]
                found.extend(_check_layer(section, name, below, entry, names))
    found.extend(_check_overlay_order(composition))
    return found


def _cards_below(composition: Composition, entry: Entry) -> Iterator[Entry]:
    """The cards of decks, which later files amend where their kind stands."""
    order = [document.id for document in composition.documents]
    for row in composition.layers("card_rows", entry.name):
        if order.index(row.file) < order.index(entry.file):
            yield row


def _check_layer(
    section: str, name: str, below: list[Entry], entry: Entry, names: dict[str, list[Entry]]
) -> Iterator[Diagnostic]:
    covers = entry.covers
    if covers is None:
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
    how, file, span = covers
    if how in ("amends", "removes") and entry.guards:
        yield Diagnostic("E507", f"`{how}` holds at all times: a part's `when` cannot guard it", span)
    if how == "removes" and (other := _beside(entry)) is not None:
        message = f"got `removes` and `{other.text}` together, want one of them"
        yield Diagnostic("E105", message, other.span)
    if not below:
        yield Diagnostic(
            "E502", f"`{name}` {how} nothing: no file below declares it{did_you_mean(name, set(names) - {name})}", span
        )
    elif all(file != layer.file for layer in below):
        known = ", ".join(f"`{f}`" for f in dict.fromkeys(layer.file for layer in below))
        remedy = f"say `{how}: {below[0].file}`"
        yield Diagnostic("E503", f"`{name}` does not come from `{file}`; it is declared in {known}", span, help=remedy)


def _beside(entry: Entry) -> Scalar | None:
    """A key beside `removes` that says more than why."""
    keys = [each.key for each in entry.value.entries] if isinstance(entry.value, Mapping) else []
    return next((key for key in keys if key.text not in ("removes", "cites", "about", "provenance")), None)


def _remove(composition: Composition) -> None:
    """Takes out the layers that later files remove: what covers a declaration goes with it."""
    for names in composition.sections.values():
        for name, layers in list(names.items()):
            left: list[Entry] = []
            for entry in layers:
                if entry.covers is None or entry.covers[0] != "removes":
                    left.append(entry)
                    continue
                file = entry.covers[1]
                left = [each for each in left if each.file != file] if left and left[0].file != file else []
            names[name] = left
            if not left:
                del names[name]


def _how_to_cover(section: str, name: str, first: Entry) -> str:
    file = first.file
    if section == "tokens" and isinstance(first.value, Scalar):
        return f"say `{{amends: {file}, {name}: …}}` to change how many there are"
    if section in ("rules", "tables"):
        return f"say `replaces: {file}`" + (f" or `wraps: {file}`" if section == "rules" else "")
    return f"say `amends: {file}` to change it"


def _check_overlay_order(composition: Composition) -> Iterator[Diagnostic]:
    """Two overlays that cover one rule need an order between them."""
    documents = {document.id: document for document in composition.documents if document.kind == "overlay"}
    for section in LAYERED:
        for name, layers in composition.sections.get(section, {}).items():
            overlays = [entry for entry in layers if entry.file in documents]
            for low, high in pairwise(overlays):
                if low.file == high.file or _ordered(documents[low.file], documents[high.file]):
                    continue
                yield Diagnostic(
                    "E506",
                    f"`{low.file}` and `{high.file}` both cover `{name}`, and nothing says which one comes last",
                    high.span,
                    (Note(f"`{low.file}` covers it here", low.span),),
                    f"say `after: [{low.file}]` or `layer: last` in one of them",
                )


def _ordered(low: Document, high: Document) -> bool:
    paired = high.root.get("with")
    named = (
        words(high.root.get("after")),
        [entry.key for entry in paired.entries] if isinstance(paired, Mapping) else [],
    )
    if any(name.text == low.id for names in named for name in names):
        return True
    return word(high.root.get("layer")) == "last" and word(low.root.get("layer")) != "last"
