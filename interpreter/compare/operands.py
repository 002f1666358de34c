"""Operands of a comparison: two rulesets, or files that make the difference between two rulesets.

A ruleset may be named with overlays: ``NAME+OVERLAY``. Of another file, an overlay, edition, map or deck, it is asked
what it changes: it is put into the ruleset that stands beside it, or into the first of its family that takes both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.frozen import dataclass
from interpreter.engine.ruleset import Ruleset, find, load, load_document
from interpreter.reading.compose import word
from interpreter.reading.files import Document, Shelf, shelf_for

__all__ = ["Member", "family_of", "sides_of"]

_PARTS = ("edition", "map", "deck")


@dataclass(frozen=True, slots=True)
class _Named:
    """Resolved name: the document, its location, and the overlays named with it."""

    text: str
    document: Document
    shelf: Shelf
    overlays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One of several rulesets: what it is loaded by, and with which overlays."""

    name: str
    overlays: tuple[str, ...]
    ruleset: Ruleset


def sides_of(a: str, b: str, overlays: Sequence[str] = ()) -> tuple[Ruleset, Ruleset]:
    """Two rulesets for two names, both with these overlays. Raises :class:`RulesetError`."""
    one, other = _named(a), _named(b)
    if one.document.kind == other.document.kind == "ruleset":
        return _ruleset(one, overlays), _ruleset(other, overlays)
    if one.document.kind == "ruleset":
        return _ruleset(one, overlays), _with(one, other, overlays)
    if other.document.kind == "ruleset":
        return _with(other, one, overlays), _ruleset(other, overlays)
    failure = _no(one.document, f"no ruleset takes both `{one.document.id}` and `{other.document.id}`")
    ids = _rulesets(one) if _family(one) == _family(other) else ()
    for id in ids:
        base = _named(id)
        try:
            return _with(base, one, overlays), _with(base, other, overlays)
        except RulesetError:
            continue
    raise failure


def family_of(names: Sequence[str]) -> list[Member]:
    """The rulesets of these names; of a family's name all that it has."""
    shelf = shelf_for(None)
    found: list[Member] = []
    for name in names:
        ids = shelf.ids("ruleset")
        if name not in ids and name in shelf.ids("family"):
            members = (Member(id, (), load(id)) for id in ids)
            found.extend(each for each in members if each.ruleset.composition.family == name)
        else:
            named = _named(name)
            found.append(Member(_loadable(named), named.overlays, _ruleset(named, ())))
    return found


def _named(text: str) -> _Named:
    name, *overlays = [text] if Path(text).is_file() else text.split("+")
    if name.endswith((".yaml", ".yml")) or Path(name).is_file():
        shelf = shelf_for(Path(name))
        document, found = shelf.read_path(Path(name))
    else:
        shelf = shelf_for(None)
        kinds = [kind for kind in ("overlay", *_PARTS) if "/" in name and shelf.find(kind, name) is not None]
        if kinds:
            document, found = shelf.read(kinds[0], name, None)
        else:
            shelf, document, found = find(name)
    if document is None:
        raise RulesetError(found)
    if document.kind not in ("ruleset", "overlay", *_PARTS):
        raise _no(document, f"`{document.id}` is a {document.kind}, which is compared in rulesets only")
    return _Named(text, document, shelf, tuple(overlays))


def _no(document: Document, why: str) -> RulesetError:
    return RulesetError([Diagnostic("E505", why, document.root.span)])


def _ruleset(named: _Named, overlays: Sequence[str]) -> Ruleset:
    return load(_loadable(named), (*overlays, *named.overlays))


def _loadable(named: _Named) -> str:
    """The path or the id of a ruleset."""
    document = named.document
    is_path = document.path.exists() and named.text.split("+")[0].endswith((".yaml", ".yml"))
    return str(document.path.resolve()) if is_path else document.id


def _with(base: _Named, part: _Named, overlays: Sequence[str]) -> Ruleset:
    """A ruleset with another file in it: an overlay more, or an edition, map or deck instead of its own."""
    document = part.document
    asked = (*overlays, *base.overlays, *part.overlays)
    shelf = part.shelf if part.shelf.ahead else base.shelf
    try:
        if document.kind == "overlay":
            return load(base.document.path, (*asked, document.id), shelf)
        return load_document(base.document.with_words(**{document.kind: document.id}), asked, shelf)
    except RulesetError as error:
        why = _no(document, f"`{base.document.id}` cannot be played with the {document.kind} `{document.id}`")
        raise RulesetError([*why.diagnostics, *error.diagnostics]) from None


def _rulesets(named: _Named) -> Iterator[str]:
    """The rulesets of a file's family, first those that hold it."""
    document = named.document
    ids = []
    for id in named.shelf.ids("ruleset"):
        other, _ = named.shelf.read("ruleset", id)
        if other is not None and word(other.root.get("family")) == _family(named):
            ids.append((word(other.root.get(document.kind)) != document.id, id))
    yield from (id for _, id in sorted(ids))


def _family(named: _Named) -> str:
    return named.document.id.partition("/")[0]
