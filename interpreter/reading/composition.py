"""Composition of a ruleset: its files as layers, and the checks of which files and layers fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct

from interpreter.base.diagnostics import Diagnostic, Note
from interpreter.base.plurals import quoted
from interpreter.base.remedies import add, insert, remove, write
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import Mapping, Scalar, word
from interpreter.reading.file_declarations import LAYERED, phases_of
from interpreter.reading.files import KINDS, Document, Shelf
from interpreter.reading.players import MAXIMUM_PLAYERS, PlayerRange
from interpreter.reading.ruleset_files import limits_of
from interpreter.sections.declarations import Entry, Layered
from interpreter.sections.documents import SINGLE_SECTIONS

__all__ = [
    "Composition",
    *("check_family", "check_fit", "check_layers", "check_players", "check_references", "check_size"),
    "check_undefined",
]

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


def check_references(shelf: Shelf, stack: list[Document]) -> Iterator[Diagnostic]:
    """Warn about references to optional files that do not exist: a typo would go unnoticed."""
    here = {document.id for document in stack}
    folders = {id.partition("/")[0] for id in here}
    for document in stack:
        head = document.head
        numbered = (name for _, command in head.commands for name in command.is_)
        for name in (*(key for key, _ in head.with_), *head.over, *head.not_with, *head.after, *numbered):
            if name.text not in here and not any(shelf.find(kind, name.text) for kind in KINDS):
                ids = {id for kind in KINDS for id in shelf.ids(kind) if id.partition("/")[0] in folders}
                near = did_you_mean(name.text, ids)
                yield Diagnostic("W002", f"unknown file `{name.text}`{near}", name.span, severity="warning")


def check_fit(overlays: Iterable[Document], below: list[Document], family: str) -> Iterator[Diagnostic]:
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


def check_undefined(overlays: Iterable[Document], below: list[Document]) -> Iterator[Diagnostic]:
    """Report overlays in combinations that no rulebook covers."""
    ids = {document.id for document in (*below, *overlays)}
    for overlay in overlays:
        for key, reason in _undefined(overlay, ids):
            yield Diagnostic("E505", reason, key.span, help="use `--allow undefined` to try it")


def _undefined(overlay: Document, ids: Iterable[str]) -> Iterator[tuple[Scalar, str]]:
    """Yield the files among ``ids`` that no rulebook covers in combination with an overlay, with the reason."""
    for key, reason in overlay.head.undefined:
        if key.text in ids:
            yield key, f"`{overlay.id}` with `{key.text}`: {reason}"


def check_family(family: Document, edition: list[Document]) -> Iterator[Diagnostic]:
    """Check that an edition extends the family of the ruleset, directly or through other editions."""
    first = edition[0].head.extends if edition else None
    if first is not None and first.text != family.id:
        message = f"`{edition[0].id}` extends `{first.text}`, but the family of this ruleset is `{family.id}`"
        yield Diagnostic("E505", message, first.span, help=write(first.span, family.id))


def check_players(stack: list[Document]) -> Iterator[Diagnostic]:
    """Check that at least one number of players is allowed by every file, and none is too large."""
    limits = limits_of(stack)
    for document, limit in limits:
        if limit.high > MAXIMUM_PLAYERS:
            message = f"got {limit.high} players, want at most {MAXIMUM_PLAYERS}"
            yield Diagnostic("E313", message, document.root["players"].span)
    if limits and max(limit.low for _, limit in limits) > min(limit.high for _, limit in limits):
        document = limits[-1][0]
        others = [(f"`{d.id}` is for {limit.low} to {limit.high}", d.root["players"]) for d, limit in limits[:-1]]
        notes = tuple(Note(text, players.span) for text, players in others)
        message = f"no number of players suits {'all files' if notes else 'this file'}"
        yield Diagnostic("E510", message, document.root["players"].span, notes)


def check_size(composition: Composition) -> Iterator[Diagnostic]:
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


def check_layers(composition: Composition) -> list[Diagnostic]:
    """Check that each name is declared once, and that overrides use a verb with the id of a file that declares it."""
    diagnostics: list[Diagnostic] = []
    kinds = {document.id: document.kind for document in composition.documents}
    for section, names in composition.sections.items():
        if section in SINGLE_SECTIONS or section in ("says", "policies", "decisions", "card_rows"):
            continue
        for name, layers in names.items():
            for position, entry in enumerate(layers):
                below = layers[:position]
                if section == "cards" and entry.covers is not None:
                    below = [*below, *_cards_below(composition, entry)]
                diagnostics.extend(_check_layer(section, name, below, entry, names, kinds))
    diagnostics.extend(_check_overlay_order(composition))
    return diagnostics


def _check_layer(
    section: str, name: str, below: list[Entry], entry: Entry, names: dict[str, list[Entry]], kinds: dict[str, str]
) -> Iterator[Diagnostic]:
    """Check a declaration over those below it, given the ``kinds`` of the composed files."""
    if entry.covers is None:
        if below and not (section == "kinds" and word(below[-1].value) == "open"):
            first = below[0]
            yield Diagnostic(
                "E501",
                f"`{name}` is already declared in `{first.file}`",
                entry.span,
                (Note("the first declaration", first.span),),
                _how_to_cover(section, entry, first),
            )
        return
    how, file, span = entry.covers
    if how in ("amends", "removes") and entry.guards and section != "cards":
        yield Diagnostic("E507", f"`{how}` is unconditional: a part's `when` cannot guard it", span)
    if how == "removes" and (extra := _extra_key(entry)) is not None:
        message = f"got `removes` and `{extra.text}` together, want one of them"
        yield Diagnostic("E105", message, extra.span, help=remove(extra.span, f"remove `{extra.text}`"))
    is_elsewhere = "/" in file and file not in kinds
    beside = f"if it is for rulesets with `{file}`, write it under `with: {{{file}: {{{section}: …}}}}`"
    if not below:
        near = did_you_mean(name, set(names) - {name})
        remedy = beside if is_elsewhere else None
        place = entry.span if near else span
        yield Diagnostic("E502", f"`{name}` {how} nothing: no file below declares it{near}", place, help=remedy)
    elif all(file != layer.file for layer in below):
        known = ", ".join(quoted(dict.fromkeys(layer.file for layer in below)))
        remedy = write(span, below[0].file, f"write `{how}: {below[0].file}`")
        if is_elsewhere:
            is_shared = kinds[below[0].file] in ("family", "library")
            remedy = f"{remedy}; {beside}" if is_shared else beside
        yield Diagnostic("E503", f"`{name}` does not come from `{file}`; it is declared in {known}", span, help=remedy)


def _cards_below(composition: Composition, entry: Entry) -> Iterator[Entry]:
    """Yield the entries of decks below an amendment of a kind of card."""
    order = [document.id for document in composition.documents]
    for row in composition.layers("card_rows", entry.name):
        if order.index(row.file) < order.index(entry.file):
            yield row


def _extra_key(entry: Entry) -> Scalar | None:
    """Return a key beside `removes` that is not documentation, or None."""
    keys = [item.key for item in entry.value.entries] if isinstance(entry.value, Mapping) else []
    return next((key for key in keys if key.text not in ("removes", "cites", "about", "provenance")), None)


def _how_to_cover(section: str, entry: Entry, first: Entry) -> str:
    file, name = first.file, entry.name
    if section == "tokens" and isinstance(first.value, Scalar):
        words = f"write `{{amends: {file}, {name}: …}}` to change the number of tokens"
        return write(entry.value.span, f"{{amends: {file}, {name}: {entry.value.span.text}}}", words)
    how = "replaces" if section in ("rules", "tables") else "amends"
    words = f"write `{how}: {file}`" + {"rules": f" or `wraps: {file}`", "tables": ""}.get(section, " to change it")
    return add(entry.head.span if entry.head else entry.span, f"{how}: {file}", words) or words


def _check_overlay_order(composition: Composition) -> Iterator[Diagnostic]:
    """Report two overlays that override the same declaration without a defined order."""
    documents = {document.id: document for document in composition.documents if document.kind == "overlay"}
    for section in LAYERED:
        for name, layers in composition.sections.get(section, {}).items():
            overlays = [entry for entry in layers if entry.file in documents]
            for low, high in pairwise(overlays):
                if low.file == high.file or _ordered(documents[low.file], documents[high.file]):
                    continue
                header, after = documents[high.file].root["overlay"].span, f"after: [{low.file}]"
                yield Diagnostic(
                    "E506",
                    f"`{low.file}` and `{high.file}` both override `{name}`, in no defined order",
                    high.span,
                    (Note(f"`{low.file}` overrides it here", low.span),),
                    insert(header.file, header.end, f"\n{after}", f"write `{after}` or `layer: last` in one of them"),
                )


def _ordered(low: Document, high: Document) -> bool:
    if any(name.text == low.id for name in (*high.head.after, *(key for key, _ in high.head.with_))):
        return True
    return high.head.layer == "last" and low.head.layer != "last"
