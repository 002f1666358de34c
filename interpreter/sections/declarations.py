"""Declarations: the base of all records that a file introduces, amends, replaces or removes, and their layers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.source import Span
from interpreter.base.yaml_values import Entry as YamlEntry
from interpreter.base.yaml_values import Mapping, Scalar, Sequence, Value, word, words
from interpreter.sections.atoms import About, Cites, LayerId, Provenance
from interpreter.sections.vocabulary import OneOf, Record

__all__ = ["VERBS", "Declaration", "Entry", "Layered", "OfState", "Remarks", "amended", "cites_below", "name_and_head"]

R = TypeVar("R", bound=Record)

VERBS = ("replaces", "wraps", "amends", "removes")
"""Verbs with which a later file overrides a declaration: replace it, wrap it, change parts of it, or remove it."""


class Entry(Struct, frozen=True, dict=True):
    """Declaration of a name in one file. ``guards`` are the conditions of the enclosing parts; a rule that is
    introduced has a ``head`` behind its name, such as ``(who, number) -> int``."""

    name: str
    file: str
    kind: str
    key: Scalar
    value: Value
    guards: tuple[Scalar, ...] = ()
    part: str = ""
    head: Scalar | None = None

    @property
    def span(self) -> Span:
        return self.key.span

    @property
    def entries(self) -> tuple[YamlEntry, ...]:
        """Return the keys with their values; a value without keys stands for the key `is`."""
        if isinstance(self.value, Mapping):
            return self.value.entries
        return (YamlEntry(replace(self.key, text="is", value="is"), self.value),)

    @property
    def extent(self) -> range:
        """Return the offsets of its head and its value."""
        return range((self.head or self.value).span.start, self.value.span.end)

    def get(self, key: str) -> Value | None:
        return self.value.get(key) if isinstance(self.value, Mapping) else None

    def read(self, record: type[R]) -> R:
        """Return the keys as a record."""
        keys = self.value if isinstance(self.value, Mapping) else Mapping(self.entries, self.value.span)
        return record(keys)

    @property
    def remarks(self) -> Remarks:
        return self.read(Remarks)

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """Return the conditions under which a layer applies: those of the enclosing parts, and its own."""
        own = self.get("when")
        return (*self.guards, own) if isinstance(own, Scalar) else self.guards

    @cached_property
    def cited(self) -> tuple[Scalar, ...]:
        """Return all ids of statements that it cites, at any depth."""
        return tuple(cites_below(self.value))

    @cached_property
    def covers(self) -> tuple[str, str, Span] | None:
        """Return the verb of an override (one of :data:`VERBS`) and the file that it names."""
        if isinstance(self.value, Mapping):
            for how in VERBS:
                value = self.value.get(how)
                if isinstance(value, Scalar):
                    return how, value.text, value.span
        return None

    @property
    def amends(self) -> bool:
        covers = self.covers
        return covers is not None and covers[0] == "amends"


def name_and_head(key: Scalar) -> tuple[Scalar, Scalar | None]:
    """Return the name in the key of a rule, and the head behind it."""
    at = next((at for at, char in enumerate(key.text) if char in "( -"), None)
    if at is None:
        return key, None
    start = key.span.start + (key.style == "quoted")
    texts = ((key.text[:at], start), (key.text[at:], start + at))
    name, head = (Scalar(text, "plain", Span(key.span.file, at, at + len(text)), text) for text, at in texts)
    return name, head


def cites_below(value: Value) -> Iterator[Scalar]:
    """Yield all statement ids that a declaration cites, at any depth."""
    if isinstance(value, Mapping):
        for entry in value.entries:
            yield from words(entry.value) if entry.key.text in ("cites", "answers") else cites_below(entry.value)
    elif isinstance(value, Sequence):
        for item in value.items:
            yield from cites_below(item)


class Remarks(Record):
    """Keys for documentation."""

    cites = Cites()
    about = About()
    provenance = Provenance()


class Layered(Remarks):
    """A declaration with its layers: the keys of the uppermost, and of those that it amends."""

    layers: list[Entry]
    entry: Entry

    @classmethod
    def of_layers(cls, layers: list[Entry]) -> Self:
        entry = amended(layers)
        made = entry.read(cls)
        made.layers, made.entry = layers, entry
        return made

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def first(self) -> Entry:
        """Return the lowest layer, which introduces the declaration."""
        return self.layers[0]


class Declaration(Layered):
    """A declaration that later files can change."""

    amends = LayerId("The file whose declaration this amends; list only the keys that differ.")
    replaces = LayerId("The file whose declaration this one replaces as a whole.")
    removes = LayerId(
        "The file whose declaration is removed, with all layers over it; for a later layer, only that layer."
    )


class OfState(Declaration):
    """A declaration of cells of the state."""

    in_page = OneOf[Literal["yes", "no"]](
        "`no` for what only rules keep count with: rulebooks and tables in a browser leave it out.",
        *("yes", "no"),
        default="yes",
    )


def amended(layers: list[Entry]) -> Entry:
    """Merge the amendments of a declaration. The result has the position of the last layer.

    Later keys override earlier ones. Mappings are merged name by name, and the value `nothing` removes a name. `adds`
    appends to the items of `is`. For each phase, a trigger has the uppermost text that covers the phase.
    """
    first = last = layers[-1]
    if not last.amends:
        return last
    keys: dict[str, YamlEntry] = {}
    for layer in layers:
        if not layer.amends:
            first, keys = layer, {}
        for entry in layer.entries:
            _amend(keys, entry)
    return replace(last, value=Mapping(tuple(keys.values()), last.value.span), guards=first.guards, part=first.part)


def _amend(keys: dict[str, YamlEntry], entry: YamlEntry) -> None:
    name, value = entry.key.text, entry.value
    below = keys[name].value if name in keys else None
    if name in ("does", "otherwise"):  # a text for all phases, or for all remaining ones
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
        named = {item.key.text: item for item in (*below.entries, *value.entries)}
        value = replace(value, entries=tuple(item for item in named.values() if word(item.value) != "nothing"))
    if name != "amends":
        keys[name] = replace(entry, value=value)


def _other_cases(below: Sequence, above: Sequence) -> Iterator[Value]:
    """Yield the lower cases of a trigger, without the phases of the upper ones."""
    covered = {phase.text for case in above.items if isinstance(case, Mapping) for phase in words(case.get("in"))}
    for case in below.items:
        phases = words(case.get("in")) if isinstance(case, Mapping) else []
        remaining = tuple(phase for phase in phases if phase.text not in covered)
        if isinstance(case, Mapping) and remaining:
            entries = (
                replace(entry, value=Sequence(remaining, entry.value.span)) if entry.key.text == "in" else entry
                for entry in case.entries
            )
            yield replace(case, entries=tuple(entries))
