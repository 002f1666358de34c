"""Load rulesets: read, composed, checked and lowered, from files or from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.engine.cache import request_for
from interpreter.engine.game import Ruleset
from interpreter.reading.dependencies import at_one_moment, looked_at, noted

if TYPE_CHECKING:  # imported where needed: a ruleset from the cache uses neither readers nor checker
    from interpreter.base.source import Span
    from interpreter.loading.pipeline import Examined
    from interpreter.reading.files import Document, Shelf

__all__ = ["elsewhere", "find", "load", "load_document", "load_to_look", "ruleset_of"]


def load(
    name: str | Path, overlays: Iterable[str] = (), shelf: Shelf | None = None, *, is_kept: bool = True
) -> Ruleset:
    """Load the ruleset of an id or path, with overlays.

    Overlays are ids or paths too; a leading minus leaves out an overlay that the ruleset lists. With ``is_kept`` it
    comes from the cache, or gets into it. Raises :class:`RulesetError` with all errors.
    """
    overlays = tuple(overlays)
    where = (shelf.roots, shelf.ahead) if shelf else (None, 0)
    request = request_for(name, overlays, *where) if is_kept else None
    with no_search():
        if request is None:
            return _load(name, overlays, shelf)
        digest: str | None
        cached = request.kept(Ruleset.kept)
        if cached is not None:
            ruleset, digest = cached
        elif shelf is None and (path := elsewhere(name)) is not None:
            return load(path, overlays)
        else:
            with noted() as evidence:
                ruleset = _load(name, overlays, shelf)
            digest = request.keep(ruleset.parts(), evidence)
        ruleset.known_by(digest)
    return ruleset


def elsewhere(name: str | Path) -> Path | None:
    """Return the path of a ruleset that is in no ruleset folder. It is cached by path, because the id may mean
    another ruleset in another folder."""
    if _is_path(name):
        return None
    shelf, document, _ = find(name)
    return document.address if document is not None and shelf.ahead else None


@at_one_moment()
def _load(name: str | Path, overlays: tuple[str, ...], shelf: Shelf | None) -> Ruleset:
    shelf, document, diagnostics = find(name, shelf)
    if document is None:
        raise RulesetError(diagnostics)
    return load_document(document, overlays, shelf, diagnostics)


def load_to_look(
    load: Callable[[], Ruleset], name: str | Path, overlays: Iterable[str] = (), shelf: Shelf | None = None
) -> tuple[Ruleset, list[Diagnostic]]:
    """Return what ``load`` loads, to look at it, with the errors about its laws. Raises :class:`RulesetError` for all
    other errors."""
    try:
        return load(), []
    except RulesetError as error:
        if any(each.code != "E414" for each in error.diagnostics if each.severity == "error"):
            raise
        shelf, document, diagnostics = find(name, shelf)
        if document is None:
            raise
        return load_document(document, tuple(overlays), shelf, diagnostics, laws=False), error.diagnostics


@at_one_moment()
def load_document(
    document: Document,
    overlays: tuple[str, ...],
    shelf: Shelf,
    diagnostics: Iterable[Diagnostic] = (),
    *,
    laws: bool = True,
) -> Ruleset:
    """Load the ruleset of a document, which may differ from its file. Raises :class:`RulesetError`."""
    from interpreter.engine.kept_texts import kept_trees
    from interpreter.loading.pipeline import examine
    from interpreter.reading.files import with_files

    if document.kind != "ruleset":
        raise RulesetError([_other_kind(document, shelf, document.root[document.kind].span)])
    shelf, overlay_ids, errors = with_files(shelf, overlays)
    if errors:
        raise RulesetError([*diagnostics, *errors])
    with kept_trees():
        examined = examine(shelf, document, overlay_ids, tables=laws)
        return ruleset_of(shelf, document, examined, diagnostics)


def ruleset_of(
    shelf: Shelf,
    document: Document,
    examined: Examined,
    diagnostics: Iterable[Diagnostic] = (),
    seated: Mapping[str, Ruleset | list[Diagnostic]] | None = None,
) -> Ruleset:
    """Create the ruleset from an examined document. Raises :class:`RulesetError`.

    ``seated`` are the rulesets with the overlays that some numbers of players require, if they are known.
    """
    if examined.errors or examined.model is None or examined.program is None or examined.composition is None:
        raise RulesetError([*diagnostics, *examined.diagnostics])
    warnings = tuple(d for d in (*diagnostics, *examined.diagnostics) if d.severity == "warning")
    parts = examined.composition, examined.model, examined.program, examined.statements
    ruleset = Ruleset(document.id, shelf, document, *parts, warnings, dict(seated or {}))
    for _, overlay in ruleset.players.overlays if seated is None else ():
        if overlay not in (*ruleset.overlays, *ruleset.seated):
            ruleset.seated[overlay] = _seated_with(ruleset, overlay)
    return ruleset


def _seated_with(ruleset: Ruleset, overlay: str) -> Ruleset | list[Diagnostic]:
    """Load a ruleset again with an overlay that a number of players requires, or return why that is not possible."""
    try:
        return load_document(ruleset.document, (*ruleset.asked_overlays, overlay), ruleset.shelf)
    except RulesetError as error:
        return error.diagnostics


def find(
    name: str | Path, shelf: Shelf | None = None, beside: Iterable[Path] = ()
) -> tuple[Shelf, Document | None, list[Diagnostic]]:
    """Find the document of an id or path, and the shelf of its neighbours.

    An id that is in no ruleset folder is searched in the current folder and in ``beside``, as if given by path.
    """
    from interpreter.reading.files import KINDS, nearby, several, shelf_for

    text, is_path, is_given = str(name), _is_path(name), shelf is not None
    shelf = shelf or shelf_for(Path(text) if is_path else None)
    document, diagnostics = shelf.read_path(Path(text)) if is_path else shelf.read("ruleset", text, None)
    if [diagnostic.code for diagnostic in diagnostics] not in (["E030"], ["E031"]):
        return shelf, document, diagnostics
    places = [] if is_path or is_given else nearby(text, beside)
    if len(places) == 1:
        shelf = shelf_for(places[0])
        return shelf, *shelf.read_path(places[0])
    if places:
        return shelf, None, [several("ruleset", text, places)]
    names = (text, *(() if is_path else (f"{family}/{text}" for family in shelf.ids("family"))))
    there = ((kind, id) for id in names for kind in KINDS if shelf.find(kind, id) is not None)
    other = next((found for kind, id in there if (found := shelf.read(kind, id)[0]) is not None), None)
    if other is not None:
        return shelf, None, [_other_kind(other, shelf)]
    if is_path:
        return shelf, None, [_no_path(Path(text), shelf, diagnostics[0])]
    return shelf, None, diagnostics if is_given else [_nowhere(text, shelf, diagnostics[0])]


def _other_kind(document: Document, shelf: Shelf, at: Span | None = None) -> Diagnostic:
    """Return the diagnostic for a file that is no ruleset, with the rulesets that have it or can add it."""
    from interpreter.reading.files import A_KIND
    from interpreter.reading.ruleset_files import overlays_for, rulesets_of

    fitting = [f"`{each.id}`" for each in rulesets_of(shelf) if overlays_for(shelf, each, document) is not None]
    remedies = [f"rulesets for it: {', '.join(fitting)}" if fitting else "`regelwerk list` lists all rulesets"]
    if document.kind == "overlay":
        named = document.id if at is None else document.path.as_posix()
        remedies.insert(0, f"`--with {named}` adds it to a ruleset")
    message = f"`{document.id}` is {A_KIND[document.kind]}, not a ruleset"
    return Diagnostic("E034", message, at, help="; ".join(remedies))


def _is_path(name: str | Path) -> bool:
    from interpreter.reading.files import names_a_file

    text = str(name)
    looked_at("form", text)
    return isinstance(name, Path) or "/" in text or names_a_file(text) or Path(text).is_file()


def _no_path(path: Path, shelf: Shelf, diagnostic: Diagnostic) -> Diagnostic:
    """Add to the diagnostic for a path the rulesets that may be meant: those in a folder, or of similar ids."""
    from interpreter.base.suggest import did_you_mean_id, without_suggestion
    from interpreter.reading.files import MOST_LISTED, rulesets_in

    inside = [f"`{each.as_posix()}`" for each in rulesets_in(path)[:MOST_LISTED]]
    if inside:
        return replace(diagnostic, help=f"rulesets in it: {', '.join(inside)}")
    ids = shelf.ids("ruleset")
    if path.stem in ids:
        return replace(diagnostic, help=f"`{path.stem}` is the id of a ruleset: type it without path and suffix")
    near = "" if without_suggestion(diagnostic.message) != diagnostic.message else did_you_mean_id(path.stem, ids)
    return replace(diagnostic, message=diagnostic.message + near, help="`regelwerk list` lists all rulesets")


def _nowhere(id: str, shelf: Shelf, diagnostic: Diagnostic) -> Diagnostic:
    """Return the diagnostic for an unknown id, with all places that were searched."""
    from interpreter.base.paths import sources
    from interpreter.base.suggest import did_you_mean_id
    from interpreter.reading.files import nearby_ids

    message = (
        f"unknown ruleset `{id}`{did_you_mean_id(id, [*shelf.ids('ruleset'), *shelf.ids('family'), *nearby_ids()])}"
    )
    folders = ", ".join(root.origin for root in sources())
    notes = [
        replace(note, message=f"{note.message} ({folders}) and in the current folder") for note in diagnostic.notes
    ]
    remedy = "`regelwerk list` lists all rulesets; set REGELWERK_PATH to folders of your own, or give a path"
    return replace(diagnostic, message=message, notes=tuple(notes), help=remedy)
