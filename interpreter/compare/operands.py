"""Operands of a comparison: two rulesets, or files that are put into a ruleset.

A ruleset may be named with overlays: ``NAME+OVERLAY``. Another file (an overlay, edition, map or deck) is put into the
ruleset named as the other operand, or, if both are such files, into the first ruleset of the family that accepts both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.suggest import did_you_mean, without_suggestion
from interpreter.base.yaml_values import word
from interpreter.engine.game import Ruleset
from interpreter.loading.load import find, load, load_document
from interpreter.reading.files import A_KIND, Document, Shelf, shelf_for
from interpreter.reading.ruleset_files import rulesets_of

__all__ = ["Member", "family_of", "file_named", "sides_of", "title_of"]

PARTS = ("overlay", "map", "edition", "deck")
"""Kinds of files that are put into a ruleset, by id."""


class _Named(Struct, frozen=True):
    """Resolved name: the document, its shelf, and the overlays named with it."""

    text: str
    document: Document
    shelf: Shelf
    overlays: tuple[str, ...]


class Member(Struct, frozen=True):
    """One of several rulesets, with the name and overlays that load it."""

    name: str
    overlays: tuple[str, ...]
    ruleset: Ruleset


def title_of(ruleset: Ruleset, kind: str) -> str:
    """Return the title of the file of a kind in a ruleset, such as its map or family; its own if it has none."""
    titles = [document.title for document in ruleset.composition.documents if document.kind == kind]
    return titles[-1] if titles else ruleset.title


def sides_of(a: str, b: str, overlays: Sequence[str] = ()) -> tuple[Ruleset, Ruleset]:
    """Return the rulesets of two names, both with these overlays. Raises :class:`RulesetError`."""
    with suppress(RulesetError):  # most are rulesets, which the cache has
        return load(a, overlays), load(b, overlays)
    left, right = _named(a), _named(b)
    for base in (left, right):
        if base.document.kind == "ruleset":
            return _put(base, left, overlays), _put(base, right, overlays)
    failure = _error(left.document, f"no ruleset takes both `{left.document.id}` and `{right.document.id}`")
    for id in _rulesets(left) if _family(left) == _family(right) else ():
        base = _named(id)
        try:
            return _put(base, left, overlays), _put(base, right, overlays)
        except RulesetError:
            continue
    raise failure


def family_of(names: Sequence[str]) -> Iterator[Member]:
    """Yield the rulesets of these names. The name of a family stands for all its rulesets."""
    shelf = shelf_for(None)
    for name in names:
        if name not in shelf.ids("ruleset") and name in shelf.ids("family"):
            yield from (Member(each.id, (), load(each.id)) for each in _of_family(shelf, name))
        else:
            named = _named(name)
            yield Member(_loadable(named), named.overlays, _put(named, named, ()))


def file_named(name: str) -> tuple[Shelf, Document]:
    """Find the ruleset, overlay, map, edition or deck of an id or path, and the shelf of its neighbours. Raises
    :class:`RulesetError` if it cannot be read or the id is misspelt."""
    shelf, document, diagnostics = find(name)
    for kind in PARTS if document is None else ():
        if shelf.find(kind, name) is not None:
            document, diagnostics = shelf.read(kind, name)
            break
    if document is not None:
        return shelf, document
    near = did_you_mean(name, (id for kind in PARTS for id in shelf.ids(kind)))
    if near and [each.code for each in diagnostics] == ["E030"]:
        diagnostics = [replace(each, message=without_suggestion(each.message) + near) for each in diagnostics]
    raise RulesetError(diagnostics)


def _named(text: str) -> _Named:
    name, *overlays = [text] if Path(text).is_file() else text.split("+")
    shelf, document = file_named(name)
    if document.kind not in ("ruleset", *PARTS):
        raise _error(document, f"`{document.id}` is {A_KIND[document.kind]}; compare rulesets that use it instead")
    return _Named(text, document, shelf, tuple(overlays))


def _error(document: Document, why: str) -> RulesetError:
    return RulesetError([Diagnostic("E505", why, document.root.span)])


def _loadable(named: _Named) -> str:
    document = named.document
    is_path = document.path.exists() and named.text.split("+")[0].endswith((".yaml", ".yml"))
    return str(document.address.resolve()) if is_path else document.id


def _put(base: _Named, part: _Named, overlays: Sequence[str]) -> Ruleset:
    """Return a ruleset, or the base with another file: an additional overlay, or an edition, map or deck in place of
    its own."""
    document = part.document
    if document.kind == "ruleset":
        return load(_loadable(part), (*overlays, *part.overlays))
    stack = (*overlays, *base.overlays, *part.overlays)
    shelf = part.shelf if part.shelf.ahead else base.shelf
    try:
        if document.kind == "overlay":
            return load(base.document.address, (*stack, document.id), shelf)
        return load_document(base.document.with_words(**{document.kind: document.id}), stack, shelf)
    except RulesetError as error:
        why = _error(document, f"`{base.document.id}` cannot be played with the {document.kind} `{document.id}`")
        raise RulesetError([*why.diagnostics, *error.diagnostics]) from None


def _rulesets(named: _Named) -> list[str]:
    """Return the rulesets of a file's family, first those that use the file."""
    kind, id = named.document.kind, named.document.id
    family = _of_family(named.shelf, _family(named))
    return [each.id for each in sorted(family, key=lambda each: word(each.root.get(kind)) != id)]


def _of_family(shelf: Shelf, family: str) -> list[Document]:
    return [document for document in rulesets_of(shelf) if word(document.head.family) == family]


def _family(named: _Named) -> str:
    return named.document.id.partition("/")[0]
