"""Files of a ruleset, found by headers and names without composing or checking them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from interpreter.base.yaml_values import words
from interpreter.reading.compose import PlayerRange, do_meet, player_range, undefined_with
from interpreter.reading.files import Document, Shelf

__all__ = ["can_have", "files_of", "ids_of", "overlays_for", "players_of", "rulesets_of", "stacks_of"]

_PARTS = {"family": "family", "edition": "edition", "map": "map", "deck": "deck", "overlays": "overlay"}


def files_of(shelf: Shelf, ruleset: Document) -> list[Document]:
    """Return a ruleset and all files that it refers to, directly or indirectly, without those that cannot be read."""
    files: dict[tuple[str, str], Document] = {}
    queue = [ruleset]
    while queue:
        document = queue.pop(0)
        if (document.kind, document.id) not in files:
            files[document.kind, document.id] = document
            read = (shelf.read(kind, id)[0] for kind, id in _named(document))
            queue.extend(named for named in read if named is not None)
    return list(files.values())


def rulesets_of(shelf: Shelf) -> list[Document]:
    """Return the rulesets of a shelf, without those that cannot be read."""
    read = (shelf.read("ruleset", id)[0] for id in shelf.ids("ruleset"))
    return [document for document in read if document is not None]


def overlays_for(shelf: Shelf, ruleset: Document, part: Document) -> list[str] | None:
    """Return the overlays that a ruleset needs to contain a file, or None if it cannot contain it."""
    ids = ids_of(shelf, ruleset, part.kind)
    if (part.kind, part.id) in ids or (part.kind == "words" and ("family", part.id.partition("/")[0]) in ids):
        return []
    over = [scalar.text for scalar in part.head.over] if part.kind == "overlay" else []
    names = {id for _, id in ids}
    return [part.id] if names & set(over) and names.isdisjoint(undefined_with(part)) else None


def ids_of(shelf: Shelf, ruleset: Document, *kinds: str) -> set[tuple[str, str]]:
    """Return kind and id of the files of a ruleset.

    Maps, decks and overlays refer only to libraries, so they are not read unless ``kinds`` contains ``library``.
    """
    opened = None if "library" in kinds else ("family", "edition")
    ids = {(ruleset.kind, ruleset.id)}
    queue = [ruleset]
    while queue:
        for named in _named(queue.pop()):
            if named not in ids:
                ids.add(named)
                document = shelf.read(*named)[0] if opened is None or named[0] in opened else None
                queue.extend([document] if document is not None else [])
    return ids


def can_have(here: Collection[str], overlay: Document) -> bool:
    """Return whether an overlay can be added to a ruleset with the files ``here``, which does not contain it."""
    over, not_with = ({scalar.text for scalar in names} for names in (overlay.head.over, overlay.head.not_with))
    conflicts = not_with | undefined_with(overlay).keys()
    return overlay.id not in here and not over.isdisjoint(here) and conflicts.isdisjoint(here)


def stacks_of(
    shelf: Shelf, rulesets: Iterable[Document], overlays: Iterable[str] | None = None
) -> Iterator[tuple[Document, Document]]:
    """Yield rulesets with an overlay that fits (of ``overlays``, or any), overlay by overlay.

    An overlay is combined with one of the rulesets that differ only in files that it does not meet: what is found with
    one of them is found with all. It meets a map or deck that declares the same name, or declares something for it.
    """
    parts = [(ruleset, ids_of(shelf, ruleset)) for ruleset in rulesets]
    read = (shelf.read("overlay", id)[0] for id in (shelf.ids("overlay") if overlays is None else overlays))
    known: dict[tuple[str, str], Document | None] = {}
    for overlay in (overlay for overlay in read if overlay is not None):
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
    root = document.root
    if document.kind == "ruleset":
        for key, kind in _PARTS.items():
            yield from ((kind, scalar.text) for scalar in words(root.get(key)))
    if document.kind == "edition":
        extended = words(root.get("extends"))
        yield from (("edition" if "/" in scalar.text else "family", scalar.text) for scalar in extended)
    yield from (("library", scalar.text) for scalar in words(root.get("uses")))


def players_of(documents: list[Document]) -> PlayerRange:
    """Return the numbers of players that all files allow."""
    limits = [limit for document in documents if (limit := player_range(document.root.get("players"))) is not None]
    low, high = max((limit.low for limit in limits), default=1), min((limit.high for limit in limits), default=12)
    return PlayerRange(low, high)
