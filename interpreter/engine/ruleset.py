"""A ruleset: read, composed, checked, lowered; ready to set tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.engine.cache import Late, kept_trees, request_for
from interpreter.engine.game import Game, new_game
from interpreter.engine.rules import Rules
from interpreter.engine.scripted_outcomes import Outcomes
from interpreter.kernel.chance import ChanceSource
from interpreter.language.model import Model
from interpreter.reading.dependencies import noted

if TYPE_CHECKING:  # what reads and checks is imported where it is called: a ruleset from the cache needs none of it
    from interpreter.compiler.lower import Program
    from interpreter.engine.pipeline import Examined
    from interpreter.reading.compose import Composition
    from interpreter.reading.files import Document, Shelf

__all__ = ["Ruleset", "find", "load", "load_document", "ruleset_of"]


_NOW = ("id", "players", "model", "program", "warnings")
_LATE = ("shelf", "document", "composition", "statements")
"""What of a ruleset from the cache is there at once, and what is read when it is asked for."""


@dataclass(frozen=True)
class Ruleset(Rules):
    """A runnable composition. Loading it found no error; ``warnings`` are what its author may want to know."""

    _taking: dict[str, Ruleset] = field(default_factory=dict, repr=False, compare=False)

    def parts(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Return the parts to store: what a game needs, and what is loaded on demand."""
        return tuple(getattr(self, name) for name in _NOW), tuple(getattr(self, name) for name in _LATE)

    @classmethod
    def kept(cls, now: tuple[object, ...], late: Late) -> Ruleset:
        """A ruleset from the cache, of which some fields are still to be read."""
        ruleset = cls.__new__(cls)
        vars(ruleset).update(zip(_NOW, now, strict=True), _tables={}, _taking={}, _late=late)
        return ruleset

    if not TYPE_CHECKING:  # who checks types shall know the fields, and no others

        def __getattr__(self, name: str) -> object:
            """A field that is still to be read; only then is it missing."""
            late = vars(self).get("_late")
            if name not in _LATE or late is None:
                raise AttributeError(f"a ruleset has no `{name}`")
            vars(self).update(zip(_LATE, late.read(), strict=True))
            return vars(self)[name]

    def __copy__(self) -> Ruleset:
        return self

    def __deepcopy__(self, memo: object) -> Ruleset:
        return self  # nothing of it changes

    def __reduce__(self) -> str:
        raise TypeError("a ruleset cannot be pickled; send its id and overlays, and load it there")

    def new_game(
        self,
        players: int,
        seed: int = 0,
        settings: Mapping[str, object] | None = None,
        chance: ChanceSource | Outcomes | None = None,
    ) -> Game:
        """A game at its first decision, with the overlay that the edition names for so many players.

        ``chance`` may be outcomes by name (see :class:`Scripted`); what it does not name comes from the seed. Raises
        ``ValueError`` for players, settings or outcomes that the ruleset does not allow, ``TypeError`` for others.
        """
        return new_game(self, players, seed, settings, chance)

    @property
    def asked_overlays(self) -> tuple[str, ...]:
        """The overlays that it has beside those that its file lists; with a minus, those of the list that it lacks."""
        from interpreter.reading.compose import words

        listed = [scalar.text for scalar in words(self.document.root.get("overlays"))]
        added = [overlay for overlay in self.overlays if overlay not in listed]
        return (*added, *(f"-{overlay}" for overlay in listed if overlay not in self.overlays))

    def for_players(self, players: int) -> Ruleset:
        """The ruleset with the overlay that a game of so many takes in: itself where there is none."""
        taken = dict(self.players.overlays).get(players)
        if taken is None:
            return self
        if taken not in self._taking:
            asked = (*self.asked_overlays, taken)
            if self.document.is_changed:
                self._taking[taken] = load_document(self.document, asked, self.shelf)
            else:
                self._taking[taken] = load(self.document.path, asked, self.shelf)
        return self._taking[taken]

    def with_model(self, model: Model, program: Program, composition: Composition | None = None) -> Ruleset:
        """The ruleset with another model, as no file says it. It plays alone: what a number of players brings is in it,
        and none of it is kept in the cache."""
        changed = replace(super().with_model(model, program, composition), _taking={})
        changed._taking.update({overlay: changed for _, overlay in self.players.overlays})
        return changed

    def load_game(self, text: str) -> Game:
        """A game saved by :meth:`Game.to_json`: its choices are made again, and lead to the state that was saved.

        ``ValueError`` says what is wrong: the text is no save, or is damaged, or is a game of another ruleset, or the
        ruleset has changed since, so that a choice no longer fits; then the first one is named, with the rule and its
        reason.
        """
        from interpreter.engine.restore import load_game

        return load_game(self, text)


def load(name: str | Path, overlays: Iterable[str] = (), shelf: Shelf | None = None) -> Ruleset:
    """The ruleset of an id or path, with overlays, those too by id or path; with a minus before it, one that it
    lists is left out.

    Raises :class:`RulesetError` with everything that is wrong.
    """
    overlays = tuple(overlays)
    request = request_for(name, overlays, shelf.roots if shelf else None, shelf.ahead if shelf else 0)
    with no_search():
        if request is None:
            return _load(name, overlays, shelf)
        kept = request.kept()
        if kept is not None:
            ruleset = Ruleset.kept(*kept[:2])
            vars(ruleset)["_looked_at"] = kept[2]
        elif shelf is None and (place := _elsewhere(name)) is not None:
            return load(place, overlays)
        else:
            with noted() as evidence:
                ruleset = _load(name, overlays, shelf)
            vars(ruleset)["_looked_at"] = request.keep(*ruleset.parts(), evidence)
    return ruleset


def _elsewhere(name: str | Path) -> Path | None:
    """The file of an id that no folder of rulesets has. What is kept of it is kept by its path: in another folder the
    id may mean another one."""
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
    """The ruleset of a document, which need not stand in a file as it is. Raises :class:`RulesetError`."""
    from interpreter.engine.pipeline import examine
    from interpreter.reading.files import with_files

    if document.kind != "ruleset":
        raise RulesetError(
            [Diagnostic("E034", f"`{document.id}` is a {document.kind}, not a ruleset", document.root.span)]
        )
    shelf, asked, wrong = with_files(shelf, overlays)
    if wrong:
        raise RulesetError([*diagnostics, *wrong])
    with kept_trees():
        examined = examine(shelf, document, asked)
    return ruleset_of(shelf, document, examined, diagnostics)


def ruleset_of(
    shelf: Shelf,
    document: Document,
    examined: Examined,
    diagnostics: Iterable[Diagnostic] = (),
    taking: Mapping[str, Ruleset] | None = None,
) -> Ruleset:
    """The ruleset that was found in a document. ``taking`` are those that are known to have further overlays, which
    some numbers of players take in. Raises :class:`RulesetError`."""
    if examined.errors or examined.model is None or examined.program is None or examined.composition is None:
        raise RulesetError([*diagnostics, *examined.diagnostics])
    warnings = tuple(d for d in (*diagnostics, *examined.diagnostics) if d.severity == "warning")
    return Ruleset(
        document.id,
        shelf,
        document,
        examined.composition,
        examined.model,
        examined.program,
        examined.statements,
        warnings,
        _taking=dict(taking or {}),
    )


def find(
    name: str | Path, shelf: Shelf | None = None, beside: Iterable[Path] = ()
) -> tuple[Shelf, Document | None, list[Diagnostic]]:
    """The file of an id or a path, and the shelf on which its neighbours stand.

    An id that no folder of rulesets has is looked for in the current folder and in those ``beside``, as if its path
    had been named.
    """
    from interpreter.reading.files import nearby, several, shelf_for

    text = str(name)
    if _is_path(name):
        shelf = shelf or shelf_for(Path(text))
        return shelf, *shelf.read_path(Path(text))
    if shelf is not None:
        return shelf, *shelf.read("ruleset", text, None)
    shelf = shelf_for(None)
    document, diagnostics = shelf.read("ruleset", text, None)
    if [each.code for each in diagnostics] != ["E031"]:
        return shelf, document, diagnostics
    places = nearby(text, beside)
    if len(places) == 1:
        shelf = shelf_for(places[0])
        return shelf, *shelf.read_path(places[0])
    return shelf, None, [several("ruleset", text, places) if places else _nowhere(text, shelf, diagnostics[0])]


def _is_path(name: str | Path) -> bool:
    """Return whether a path is meant, not an id."""
    from interpreter.reading.files import names_a_file

    text = str(name)
    return isinstance(name, Path) or "/" in text or names_a_file(text) or Path(text).is_file()


def _nowhere(id: str, shelf: Shelf, diagnostic: Diagnostic) -> Diagnostic:
    """Return the diagnostic for an unknown id, with all places that were searched."""
    from interpreter.base.paths import sources
    from interpreter.base.suggest import did_you_mean_id
    from interpreter.reading.files import nearby_ids

    message = f"unknown ruleset `{id}`{did_you_mean_id(id, [*shelf.ids('ruleset'), *nearby_ids()])}"
    folders = ", ".join(root.origin for root in sources())
    notes = [
        replace(note, message=f"{note.message} ({folders}) and in the current folder") for note in diagnostic.notes
    ]
    remedy = "`regelwerk list` tells all rulesets; REGELWERK_PATH names folders of your own; a path will do as well"
    return replace(diagnostic, message=message, notes=tuple(notes), help=remedy)
