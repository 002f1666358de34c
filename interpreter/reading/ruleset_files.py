"""Files of a ruleset, found by headers and names without composing or checking them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from operator import and_

from interpreter.base.yaml_values import words
from interpreter.reading.file_declarations import do_meet
from interpreter.reading.files import KINDS, Document, Shelf
from interpreter.reading.players import MAXIMUM_PLAYERS, PlayerRange

__all__ = ["can_have", "files_of", "ids_of", "limits_of", "overlays_for", "players_of", "rulesets_of", "stacks_of"]


def files_of(shelf: Shelf, ruleset: Document) -> list[Document]:
    """Return a ruleset and all files that it refers to, directly or indirectly, without those that cannot be read."""
    return [document for document in _reached(shelf, ruleset, KINDS).values() if document is not None]


def rulesets_of(shelf: Shelf) -> list[Document]:
    """Return the rulesets of a shelf, without those that cannot be read."""
    return shelf.documents("ruleset")


def overlays_for(shelf: Shelf, ruleset: Document, part: Document) -> list[str] | None:
    """Return the overlays that a ruleset needs to contain a file, or None if it cannot contain it."""
    if part.kind == "rulesets":
        return [] if ruleset.path == part.path else None
    ids = ids_of(shelf, ruleset, part.kind)
    if (part.kind, part.id) in ids or (part.kind == "words" and ("family", part.id.partition("/")[0]) in ids):
        return []
    over = [scalar.text for scalar in part.head.over] if part.kind == "overlay" else []
    names = {id for _, id in ids}
    return [part.id] if names & set(over) and names.isdisjoint(part.undefined) else None


def ids_of(shelf: Shelf, ruleset: Document, *kinds: str) -> set[tuple[str, str]]:
    """Return kind and id of the files of a ruleset.

    Maps, decks and overlays refer only to libraries, so they are not read unless ``kinds`` contains ``library``.
    """
    return set(_reached(shelf, ruleset, KINDS if "library" in kinds else ("family", "edition")))


def _reached(shelf: Shelf, ruleset: Document, opened: Collection[str]) -> dict[tuple[str, str], Document | None]:
    """Return the files of a ruleset by kind and id; None for those that cannot be read or are not to be opened."""
    reached: dict[tuple[str, str], Document | None] = {(ruleset.kind, ruleset.id): ruleset}
    queue = [ruleset]
    while queue:
        for kind, id in _named(queue.pop(0)):
            if (kind, id) not in reached:
                document = reached[kind, id] = shelf.read(kind, id)[0] if kind in opened else None
                queue.extend([document] if document is not None else [])
    return reached


def can_have(here: Collection[str], overlay: Document) -> bool:
    """Return whether an overlay can be added to a ruleset with the files ``here``, which does not contain it."""
    over, not_with = ({scalar.text for scalar in names} for names in (overlay.head.over, overlay.head.not_with))
    conflicts = not_with | overlay.undefined.keys()
    return overlay.id not in here and not over.isdisjoint(here) and conflicts.isdisjoint(here)


def stacks_of(
    shelf: Shelf, rulesets: Iterable[Document], overlays: Iterable[str] | None = None
) -> Iterator[tuple[Document, Document]]:
    """Yield rulesets with an overlay that fits (of ``overlays``, or any), overlay by overlay.

    An overlay is combined with one of the rulesets that differ only in files that it does not meet: what is found with
    one of them is found with all. It meets a map or deck that declares the same name, or declares something for it.
    """
    parts = [(ruleset, ids_of(shelf, ruleset)) for ruleset in rulesets]
    known: dict[tuple[str, str], Document | None] = {}
    for overlay in shelf.documents("overlay", overlays):
        seen: set[frozenset[str]] = set()
        for ruleset, ids in parts:
            if can_have({part for _, part in ids}, overlay):
                met = frozenset(part for kind, part in ids if _meets(known, shelf, kind, part, overlay))
                if met not in seen:
                    seen.add(met)
                    yield ruleset, overlay


def _meets(known: dict[tuple[str, str], Document | None], shelf: Shelf, kind: str, id: str, overlay: Document) -> bool:
    if (kind, id) not in known:
        known[kind, id] = None if kind == "ruleset" else shelf.read(kind, id)[0]
    document = known[kind, id]
    return document is not None and (kind in ("family", "edition") or do_meet(document, overlay))


def _named(document: Document) -> Iterator[tuple[str, str]]:
    """Yield kind and id of the files that a file refers to: parts of a ruleset, extended editions, used libraries."""
    head = document.head
    if document.kind == "ruleset":
        for kind in ("family", "edition", "map", "deck"):
            yield from ((kind, name.text) for name in words(document.root.get(kind)))
        yield from (("overlay", name.text) for name in head.overlays)
    if document.kind == "edition" and head.extends:
        yield "edition" if "/" in head.extends.text else "family", head.extends.text
    yield from (("library", name.text) for name in head.uses)


def limits_of(stack: list[Document]) -> list[tuple[Document, PlayerRange]]:
    """Return the allowed numbers of players of each file. Those of overlays override those of the edition."""
    limits = [(document, players) for document in stack if (players := document.players) is not None]
    return [(d, players) for d, players in limits if d.kind == "overlay"] or limits


def players_of(documents: list[Document]) -> PlayerRange:
    """Return the numbers of players that the files allow together."""
    return reduce(and_, (limit for _, limit in limits_of(documents)), PlayerRange(1, MAXIMUM_PLAYERS))
