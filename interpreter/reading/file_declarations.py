"""Declarations of a file, those of its parts and under `with` too, each with its section."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from interpreter.base.yaml_values import Entry as YamlEntry
from interpreter.base.yaml_values import Mapping, Scalar, Sequence, Value
from interpreter.reading.files import Document
from interpreter.sections.behaviour import Phase
from interpreter.sections.declarations import Entry, name_and_head
from interpreter.sections.documents import NAMED_SECTIONS, SINGLE_SECTIONS, Sections

__all__ = [
    *("LAYERED", "declarations_in", "declared_in", "declares", "do_meet", "parted"),
    *("parts_of", "phases_of", "sections_of"),
]

LAYERED = ("rules", "tables", "triggers", "standing")
"""Sections in which two overlays that override the same name need a defined order."""


def phases_of(value: Value) -> list[tuple[Scalar, Scalar | None]]:
    """Return the names of the phases of a round, each with its condition or None."""
    phases: list[tuple[Scalar, Scalar | None]] = []
    for item in value.items if isinstance(value, Sequence) else (value,):
        name, when = (Phase(item).phase, Phase(item).when) if isinstance(item, Mapping) else (item, None)
        if isinstance(name, Scalar):
            phases.append((name, when))
    return phases


def sections_of(document: Document) -> Iterator[tuple[str, Entry]]:
    """Yield every named declaration of a file with its section, including those in `seats`, `parts` and `with`."""
    for section, entry in (each for _, declarations in parted(document) for each in declarations):
        if section not in SINGLE_SECTIONS and not (section == "says" and document.kind == "words"):
            yield "cards" if section == "card_rows" else section, entry


def parts_of(document: Document) -> Iterator[tuple[str, Mapping]]:
    """Yield the parts of a file, each with the file under `with` that it needs: "" for what is outside of `with`."""
    entries = document.root.entries
    yield "", replace(document.root, entries=tuple(entry for entry in entries if entry.key.text != "with"))
    yield from ((key.text, paired.source) for key, paired in document.head.with_)


def declares(document: Document, besides: str) -> bool:
    """Return whether a file declares or removes anything in another section, in any of its parts."""
    return any(section != besides for _, declarations in parted(document) for section, _ in declarations)


def declared_in(document: Document) -> dict[str, set[str]]:
    """Return the names that a file declares or overrides, each with the files under `with` for which it does so: "" if
    always."""
    names: dict[str, set[str]] = {}
    for file, declarations in parted(document):
        for section, entry in declarations:
            if section not in ("says", "policies"):
                names.setdefault(entry.name, set()).add(file)
    return names


def do_meet(document: Document, other: Document) -> bool:
    """Return whether two files declare or override the same name, or one does so only beside the other."""
    names, others = declared_in(document), declared_in(other)
    beside = set[str]().union(*names.values(), *others.values())
    return not names.keys().isdisjoint(others) or not beside.isdisjoint((document.id, other.id))


def parted(document: Document) -> list[tuple[str, list[tuple[str, Entry]]]]:
    """Return the declarations of each part of a file. Rulesets that share the file share them."""
    kept: dict[str, list[tuple[str, list[tuple[str, Entry]]]]] = vars(document)
    if "parts" not in kept:
        kept["parts"] = [(other, list(declarations_in(document, root))) for other, root in parts_of(document)]
    return kept["parts"]


def declarations_in(document: Document, root: Mapping) -> Iterator[tuple[str, Entry]]:
    """Yield the declarations of a part of a file, each with its section."""
    for section, key, value in _values_in(document, root):
        yield section, _entry(section, document, key, value)
    for name, part in Sections(root).parts:
        guards = (part.when,) if part.when is not None else ()
        for section, key, value in _values_in(document, part.source):
            entry = _entry(section, document, key, value, guards, name.text)
            yield section, _citing(entry, part.cites) if section in (*LAYERED, "cards") else entry


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
    """Yield the names and values of all declarations outside of `parts`, each with its section. What a thing holds is
    named by the thing too: `cart.load`, `node.owner`."""
    for section in root.entries:
        name, value = section.key.text, section.value
        if name in SINGLE_SECTIONS:
            yield name, section.key, value
            yield from _held_in("node", value)
            yield from _held_in("place", value.get("place") if isinstance(value, Mapping) else None)
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
            for item in value.entries:
                yield target, item.key, item.value
                yield from _held_in(item.key.text, item.value)


def _held_in(of: str, value: Value | None) -> Iterator[tuple[str, Scalar, Value]]:
    """Yield what each thing of a declaration holds."""
    holds = value.get("holds") if isinstance(value, Mapping) else None
    for item in holds.entries if isinstance(holds, Mapping) else ():
        name = f"{of}.{item.key.text}"
        yield "has", replace(item.key, text=name, value=name), item.value
