"""Rulesets: read, composed, checked and lowered, ready to create tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.engine.cache import Late, kept_trees, request_for
from interpreter.engine.game import Game, new_game
from interpreter.engine.rules import Rules
from interpreter.engine.scripted_outcomes import Outcomes
from interpreter.kernel.chance import ChanceSource
from interpreter.language.model import Model
from interpreter.reading.dependencies import looked_at, noted

if TYPE_CHECKING:  # imported where needed: a ruleset from the cache uses neither readers nor checker
    from interpreter.base.source import Span
    from interpreter.engine.pipeline import Examined
    from interpreter.lowering.lower import Program
    from interpreter.reading.compose import Composition
    from interpreter.reading.files import Document, Shelf

__all__ = ["Ruleset", "find", "load", "load_document", "ruleset_of"]


_NOW = ("id", "players", "model", "program", "warnings")
_LATE = ("shelf", "document", "composition", "statements")
"""Fields of a cached ruleset: ``_NOW`` are available at once, ``_LATE`` are loaded on first access."""


@dataclass(frozen=True)
class Ruleset(Rules):
    """A runnable composition without errors; ``warnings`` are advice for its author."""

    _taking: dict[str, Ruleset] = field(default_factory=dict, repr=False, compare=False)

    def parts(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Return the parts to store in the cache: what a game needs, and what is loaded on demand."""
        return tuple(getattr(self, name) for name in _NOW), tuple(getattr(self, name) for name in _LATE)

    @classmethod
    def kept(cls, now: tuple[object, ...], late: Late) -> Ruleset:
        """Create a ruleset from the cache; its remaining fields are loaded on first access."""
        ruleset = cls.__new__(cls)
        vars(ruleset).update(zip(_NOW, now, strict=True), _tables={}, _taking={}, _late=late)
        return ruleset

    if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any attribute

        def __getattr__(self, name: str) -> object:
            """Load the fields that are still in the cache."""
            late = vars(self).get("_late")
            if name not in _LATE or late is None:
                raise AttributeError(f"a ruleset has no `{name}`")
            vars(self).update(zip(_LATE, late.read(), strict=True))
            return vars(self)[name]

    def __copy__(self) -> Ruleset:
        return self

    def __deepcopy__(self, memo: object) -> Ruleset:
        return self  # immutable

    def __reduce__(self) -> str:
        raise TypeError("a ruleset cannot be pickled; send its id and overlays, and load it there")

    def new_game(
        self,
        players: int,
        seed: int = 0,
        settings: Mapping[str, object] | None = None,
        chance: ChanceSource | Outcomes | None = None,
    ) -> Game:
        """Start a game and run it to its first decision, with the overlay that the edition requires for this number of
        players.

        ``chance`` may be outcomes by name (see :class:`Scripted`); all others come from the seed. Raises ``ValueError``
        for players, settings or outcomes that the ruleset does not allow, and ``TypeError`` for values of a wrong type.
        """
        return new_game(self, players, seed, settings, chance)

    @property
    def asked_overlays(self) -> tuple[str, ...]:
        """Overlays added to those that the file lists, and, with a leading minus, listed overlays that are left out."""

        listed = [scalar.text for scalar in self.document.head.overlays]
        added = [overlay for overlay in self.overlays if overlay not in listed]
        return (*added, *(f"-{overlay}" for overlay in listed if overlay not in self.overlays))

    def for_players(self, players: int) -> Ruleset:
        """Return the ruleset with the overlay that this number of players requires, or itself if there is none."""
        required = dict(self.players.overlays).get(players)
        if required is None:
            return self
        if required not in self._taking:
            overlays = (*self.asked_overlays, required)
            if self.document.is_changed:
                self._taking[required] = load_document(self.document, overlays, self.shelf)
            else:
                self._taking[required] = load(self.document.path, overlays, self.shelf)
        return self._taking[required]

    @property
    def reasons_for_plain(self) -> list[str]:
        """The reasons why the plain form has made choices that a module could not make, or played all games."""
        rules = [self, *(other for other in self._taking.values() if other is not self)]
        tables = [table for each in rules for table in each._tables.values()]
        return list(dict.fromkeys(reason for table in tables for reason in table.machine.reasons))

    def with_model(self, model: Model, program: Program, composition: Composition | None = None) -> Ruleset:
        """Return a copy with another model that exists in no file.

        It ignores overlays for numbers of players (they are in the model already) and is never cached.
        """
        changed = dataclasses.replace(super().with_model(model, program, composition), _taking={})
        changed._taking.update({overlay: changed for _, overlay in self.players.overlays})
        return changed

    def load_game(self, text: str) -> Game:
        """Restore a game saved by :meth:`Game.to_json`: replay its choices and check that they lead to the saved state.

        Raises ``ValueError`` if the text is no save, is damaged, or belongs to another ruleset, or if the ruleset has
        changed so that a choice no longer fits. The message names the first such choice, with the rule and the reason.
        """
        from interpreter.engine.restore import load_game

        return load_game(self, text)


def load(name: str | Path, overlays: Iterable[str] = (), shelf: Shelf | None = None) -> Ruleset:
    """Load the ruleset of an id or path, with overlays.

    Overlays are ids or paths too; a leading minus leaves out an overlay that the ruleset lists. Raises
    :class:`RulesetError` with all errors.
    """
    overlays = tuple(overlays)
    request = request_for(name, overlays, shelf.roots if shelf else None, shelf.ahead if shelf else 0)
    with no_search():
        if request is None:
            return _load(name, overlays, shelf)
        cached = request.kept()
        if cached is not None:
            ruleset = Ruleset.kept(*cached[:2])
            vars(ruleset)["_looked_at"] = cached[2]
        elif shelf is None and (path := _elsewhere(name)) is not None:
            return load(path, overlays)
        else:
            with noted() as evidence:
                ruleset = _load(name, overlays, shelf)
            vars(ruleset)["_looked_at"] = request.keep(*ruleset.parts(), evidence)
    return ruleset


def _elsewhere(name: str | Path) -> Path | None:
    """Return the path of a ruleset that is in no ruleset folder. It is cached by path, because the id may mean
    another ruleset in another folder."""
    if _is_path(name):
        return None
    shelf, document, _ = find(name)
    return document.path if document is not None and shelf.ahead else None


def _load(name: str | Path, overlays: tuple[str, ...], shelf: Shelf | None) -> Ruleset:
    shelf, document, diagnostics = find(name, shelf)
    if document is None:
        raise RulesetError(diagnostics)
    return load_document(document, overlays, shelf, diagnostics)


def load_document(
    document: Document, overlays: tuple[str, ...], shelf: Shelf, diagnostics: Iterable[Diagnostic] = ()
) -> Ruleset:
    """Load the ruleset of a document, which may differ from its file. Raises :class:`RulesetError`."""
    from interpreter.engine.pipeline import examine
    from interpreter.reading.files import with_files

    if document.kind != "ruleset":
        raise RulesetError([_other_kind(document, shelf, document.root[document.kind].span)])
    shelf, overlay_ids, errors = with_files(shelf, overlays)
    if errors:
        raise RulesetError([*diagnostics, *errors])
    with kept_trees():
        examined = examine(shelf, document, overlay_ids)
    return ruleset_of(shelf, document, examined, diagnostics)


def ruleset_of(
    shelf: Shelf,
    document: Document,
    examined: Examined,
    diagnostics: Iterable[Diagnostic] = (),
    taking: Mapping[str, Ruleset] | None = None,
) -> Ruleset:
    """Create the ruleset from an examined document. Raises :class:`RulesetError`.

    ``taking`` are the known rulesets with the overlays that some numbers of players require.
    """
    if examined.errors or examined.model is None or examined.program is None or examined.composition is None:
        raise RulesetError([*diagnostics, *examined.diagnostics])
    warnings = tuple(d for d in (*diagnostics, *examined.diagnostics) if d.severity == "warning")
    parts = examined.composition, examined.model, examined.program, examined.statements
    return Ruleset(document.id, shelf, document, *parts, warnings, _taking=dict(taking or {}))


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
    other = next((found for id in names for kind in KINDS if (found := _of_kind(shelf, kind, id)) is not None), None)
    if other is not None:
        return shelf, None, [_other_kind(other, shelf)]
    if is_path:
        return shelf, None, [_no_path(Path(text), shelf, diagnostics[0])]
    return shelf, None, diagnostics if is_given else [_nowhere(text, shelf, diagnostics[0])]


def _of_kind(shelf: Shelf, kind: str, id: str) -> Document | None:
    return shelf.read(kind, id)[0] if shelf.find(kind, id) is not None else None


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
