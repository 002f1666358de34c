"""Files of a ruleset, by their headers and names, without composing or checking."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from interpreter.reading.compose import PlayerRange, player_range, undefined_with, words
from interpreter.reading.files import Document, Shelf

__all__ = ["can_have", "files_of", "ids_of", "overlays_for", "players_of", "rulesets_of"]

_PARTS = {"family": "family", "edition": "edition", "map": "map", "deck": "deck", "overlays": "overlay"}


def files_of(shelf: Shelf, ruleset: Document) -> list[Document]:
    """The ruleset, the files that it names and those that they name in turn. What cannot be read is left out."""
    found: dict[tuple[str, str], Document] = {}
    front = [ruleset]
    while front:
        document = front.pop(0)
        if (document.kind, document.id) not in found:
            found[document.kind, document.id] = document
            read = (shelf.read(kind, id)[0] for kind, id in _named(document))
            front.extend(named for named in read if named is not None)
    return list(found.values())


def rulesets_of(shelf: Shelf) -> list[Document]:
    """The rulesets of a shelf, as far as their files can be read."""
    read = (shelf.read("ruleset", id)[0] for id in shelf.ids("ruleset"))
    return [document for document in read if document is not None]


def overlays_for(shelf: Shelf, ruleset: Document, part: Document) -> list[str] | None:
    """The overlays with which a ruleset contains a file; nothing where it cannot."""
    ids = ids_of(shelf, ruleset, part.kind)
    if (part.kind, part.id) in ids or (part.kind == "words" and ("family", part.id.partition("/")[0]) in ids):
        return []
    over = [scalar.text for scalar in words(part.root.get("over"))] if part.kind == "overlay" else []
    found = {id for _, id in ids}
    return [part.id] if found & set(over) and found.isdisjoint(undefined_with(part)) else None


def ids_of(shelf: Shelf, ruleset: Document, *wanted: str) -> set[tuple[str, str]]:
    """Kind and id of the files of a ruleset. Maps, decks and overlays name libraries alone, and are read only where
    these are wanted."""
    opened = None if "library" in wanted else ("family", "edition")
    found = {(ruleset.kind, ruleset.id)}
    front = [ruleset]
    while front:
        for named in _named(front.pop()):
            if named not in found:
                found.add(named)
                document = shelf.read(*named)[0] if opened is None or named[0] in opened else None
                front.extend([document] if document is not None else [])
    return found


def can_have(here: Collection[str], overlay: Document) -> bool:
    """Return whether what is made of the files with these ids, and lacks the overlay, can have it."""
    over, not_with = ({scalar.text for scalar in words(overlay.root.get(key))} for key in ("over", "not_with"))
    apart = not_with | undefined_with(overlay).keys()
    return overlay.id not in here and not over.isdisjoint(here) and apart.isdisjoint(here)


def _named(document: Document) -> Iterator[tuple[str, str]]:
    """Return the files that a file names: parts of a ruleset, extended editions, used libraries."""
    root = document.root
    if document.kind == "ruleset":
        for key, kind in _PARTS.items():
            yield from ((kind, scalar.text) for scalar in words(root.get(key)))
    if document.kind == "edition":
        extended = words(root.get("extends"))
        yield from (("edition" if "/" in scalar.text else "family", scalar.text) for scalar in extended)
    yield from (("library", scalar.text) for scalar in words(root.get("uses")))


def players_of(documents: list[Document]) -> PlayerRange:
    """Return the number of players that all files allow."""
    given = [found for document in documents if (found := player_range(document.root.get("players"))) is not None]
    return PlayerRange(max((found.low for found in given), default=1), min((found.high for found in given), default=12))
