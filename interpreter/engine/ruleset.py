"""A ruleset: read, composed, checked, lowered; ready to set tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.suggest import did_you_mean
from interpreter.engine.cache import Late, Modules, kept_trees, request_for
from interpreter.engine.table import Table, default_settings, set_table
from interpreter.engine.values import Names
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.state import Value
from interpreter.language.model import Model
from interpreter.language.types import BoolType, CollectionType, IntType, Type
from interpreter.reading.dependencies import noted
from interpreter.reading.players import PlayerRange

if TYPE_CHECKING:  # what reads and checks is imported where it is called: a ruleset from the cache needs none of it
    from interpreter.compiler.lower import Program
    from interpreter.compiler.secrecy import Secrecy
    from interpreter.engine.game import Game
    from interpreter.reading.compose import Composition
    from interpreter.reading.files import Document, Shelf
    from interpreter.reading.statements import Statement

__all__ = ["Ruleset", "find", "load", "load_document"]


_NOW = ("id", "players", "model", "program", "warnings")
_LATE = ("shelf", "document", "composition", "statements")
"""What of a ruleset from the cache is there at once, and what is read when it is asked for."""


@dataclass(frozen=True)
class Ruleset:
    """A runnable composition. Loading it found no error; ``warnings`` are what its author may want to know."""

    id: str
    shelf: Shelf = field(repr=False)
    document: Document = field(repr=False)
    composition: Composition = field(repr=False)
    model: Model = field(repr=False)
    program: Program = field(repr=False)
    statements: dict[str, Statement] = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()
    _tables: dict[Any, Table] = field(default_factory=dict, repr=False, compare=False)
    _taking: dict[str, Ruleset] = field(default_factory=dict, repr=False, compare=False)
    _looked_at: bytes | None = field(default=None, repr=False, compare=False)
    """A digest of all that the load looked at, where the cache knows it."""

    @property
    def title(self) -> str:
        return self.composition.title

    @cached_property
    def players(self) -> PlayerRange:
        return self.composition.players

    def parts(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the parts to store: what a game needs, and what is loaded on demand."""
        return tuple(getattr(self, name) for name in _NOW), tuple(getattr(self, name) for name in _LATE)

    @classmethod
    def kept(cls, now: tuple[Any, ...], late: Late) -> Ruleset:
        """A ruleset from the cache, of which some fields are still to be read."""
        ruleset = cls.__new__(cls)
        vars(ruleset).update(zip(_NOW, now, strict=True), _tables={}, _taking={}, _late=late)
        return ruleset

    if not TYPE_CHECKING:  # who checks types shall know the fields, and no others

        def __getattr__(self, name: str) -> Any:
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

    @cached_property
    def secrecy(self) -> Secrecy:
        """Return the locals of procedures that are secret from some seats."""
        from interpreter.compiler.secrecy import Secrecy

        return Secrecy(self.program)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The hidden pools that everybody can count along."""
        from interpreter.compiler.inferable_pools import counted

        return counted(self.program)

    @cached_property
    def names(self) -> Names:
        low, high = self.players.low, self.players.high
        return Names(self.model, low if low == high else None)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of what the ruleset means: comments and layout of its files do not matter."""
        model = self.model
        what = (
            [(name, layer.body, layer.when, layer.parameters) for name, layer in self.program.reach.procedures.items()],
            [(t.name, t.event, t.test, [(x.phases, x.procedure) for x in t.cases]) for t in model.triggers.values()],
            [(r.name, r.binders, r.test) for r in model.standing.values()],
            [(t.name, t.keys, sorted(t.cells.items())) for t in model.tables.values()],
            [(row.kind, row.key, sorted(row.values.items())) for row in model.cards],
            [(g.name, g.owner, g.type, g.order, g.rank, g.start, g.lasts) for g in model.groups.values()],
            [(g.starts, g.unlimited, g.spaces) for g in model.groups.values()],
            [(role.name, role.counts, role.seats, role.setting) for role in model.roles.values()],
            [(event.name, event.fields) for event in model.events.values()],
            (model.records, model.pieces, [(kind.key, kind.carries) for kind in model.card_kinds.values()]),
            [(k.name, k.members, k.range, k.totals) for k in model.kinds.values()],
            model.graph
            and (
                [(n.name, sorted(n.values.items()), n.places, sorted(n.place.items())) for n in model.graph.nodes],
                model.graph.measure,
                [(x.a, x.b, sorted(x.values.items())) for x in model.graph.links],
            ),
            (model.phases, model.setup, model.ranking),
            *([model.phase_guards] if any(model.phase_guards) else []),
        )
        return blake2b(repr(what).encode(), digest_size=16).hexdigest()

    def own_cites(self, cites: tuple[str, ...]) -> tuple[str, ...]:
        """Of the statements that a rule cites, those of this ruleset's books, and the fills and gaps."""
        books = self.composition.rulebooks
        found = [
            id for id in cites if (s := self.statements.get(id)) and (s.book in books or s.kind in ("fill", "gap"))
        ]
        return tuple(found) if books else cites

    def table(self, people: int, settings: dict[str, Value]) -> Table:
        """The machine and first state for so many people, made once for equal settings."""
        key = (people, tuple(sorted(settings.items())))
        if key not in self._tables:
            with no_search():
                table = self._tables[key] = set_table(self.program, people, settings)
            if self._looked_at is not None:
                table.machine.keeper = Modules(self._looked_at, repr(key))
        return self._tables[key]

    def new_game(
        self,
        players: int,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        chance: ChanceSource | Mapping[str, Any] | None = None,
    ) -> Game:
        """A game at its first decision, with the overlay that the edition names for so many players.

        ``chance`` may be outcomes by name (see :class:`Scripted`); what it does not name comes from the seed. Raises
        ``ValueError`` for players, settings or outcomes that the ruleset does not allow, ``TypeError`` for others.
        """
        from interpreter.engine.game import Game

        players, seed = _whole("players", players), _whole("seed", seed)
        if settings is not None and not isinstance(settings, Mapping):
            raise TypeError(f"settings: got {settings!r}, want values by name")
        self.check_players(players)
        ruleset = self.for_players(players)
        return Game.begin(ruleset, players, seed, ruleset.settings(settings or {}), chance)

    def for_players(self, players: int) -> Ruleset:
        """The ruleset with the overlay that a game of so many takes in: itself where there is none."""
        taken = dict(self.players.overlays).get(players)
        if taken is None:
            return self
        if taken not in self._taking:
            from interpreter.reading.compose import words

            listed = [scalar.text for scalar in words(self.document.root.get("overlays"))]
            added = [overlay for overlay in self.overlays if overlay not in listed]
            refused = [f"-{overlay}" for overlay in listed if overlay not in self.overlays]
            asked = (*added, *refused, taken)
            if self.document.is_changed:
                self._taking[taken] = load_document(self.document, asked, self.shelf)
            else:
                self._taking[taken] = load(self.document.path, asked, self.shelf)
        return self._taking[taken]

    def with_model(self, model: Model, program: Program, composition: Composition | None = None) -> Ruleset:
        """The ruleset with another model, as no file says it. It plays alone: what a number of players brings is in it,
        and none of it is kept in the cache."""
        taking: dict[str, Ruleset] = {}
        found = replace(
            self,
            composition=composition or self.composition,
            model=model,
            program=program,
            _tables={},
            _taking=taking,
            _looked_at=None,
        )
        taking.update({overlay: found for _, overlay in self.players.overlays})
        return found

    @property
    def overlays(self) -> tuple[str, ...]:
        """The overlays that it holds, from below."""
        return tuple(document.id for document in self.composition.documents if document.kind == "overlay")

    def check_players(self, players: int) -> None:
        allowed = self.players
        if players not in allowed:
            reason = f": {allowed.otherwise}" if allowed.otherwise else ""
            raise ValueError(f"`{self.id}` is for {allowed} players, not {players}{reason}")

    def settings(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """Public settings as the game holds them, defaults filled in."""
        values = default_settings(self.model)
        for name, public in given.items():
            values[name] = self._setting(name, public)
        return values

    def has_setting(self, name: str) -> bool:
        return name in self.model.settings or name in self.model.interpretations

    def _setting(self, name: str, public: Any) -> Value:
        setting = self.model.settings.get(name)
        doubt = self.model.interpretations.get(name)
        if doubt is not None:
            if not isinstance(public, str) or public not in doubt.readings:
                known = ", ".join(f"`{reading}`" for reading in doubt.readings)
                raise ValueError(f"`{name}`: got {public!r}, want one of {known}")
            return list(doubt.readings).index(public)
        if setting is None:
            known_names = [*self.model.settings, *self.model.interpretations]
            raise ValueError(f"`{self.id}` has no setting `{name}`{did_you_mean(name, known_names)}")
        if isinstance(public, str | int) and isinstance(setting.type, CollectionType):
            public = _items(str(public), setting.type.of)
        if isinstance(public, str) and isinstance(setting.type, IntType) and public.lstrip("-").isdigit():
            public = int(public)
        if isinstance(public, str) and isinstance(setting.type, BoolType) and public in ("yes", "no"):
            public = public == "yes"
        try:
            value = self.names.value(public, setting.type)
        except ValueError as error:
            raise ValueError(f"`{name}`: {error}") from None
        if setting.range is not None and value is not None and not setting.range[0] <= value <= setting.range[1]:
            raise ValueError(f"`{name}`: got {value}, want {setting.range[0]} to {setting.range[1]}")
        return value

    def load_game(self, text: str) -> Game:
        """A game saved by :meth:`Game.to_json`."""
        from interpreter.engine.game import Game

        return Game.from_json(self, text)


def _whole(what: str, number: SupportsIndex) -> int:
    """A whole number, also one of another library."""
    try:
        return index(number)
    except TypeError:
        raise TypeError(f"{what}: got {number!r}, want a whole number") from None


def _items(text: str, of: Type) -> list[Any]:
    """A list that is written as one text: items with commas between them; single digits need none. Of a list of lists
    the inner ones have a minus between their items, and a number alone means so many empty ones."""
    if isinstance(of, CollectionType):
        if text.isdigit():
            return [[]] * min(int(text), 1_000)
        return [_items(part.replace("-", ","), of.of) for part in text.split(",")]
    digits = isinstance(of, IntType) and text.isdigit()
    parts = [part.strip() for part in (text if digits else text.split(",")) if part.strip()]
    return [int(part) if isinstance(of, IntType) and part.lstrip("-").isdigit() else part for part in parts]


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
    from interpreter.compiler.lower import lower
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
    if examined.errors or examined.model is None or examined.reach is None or examined.composition is None:
        raise RulesetError([*diagnostics, *examined.diagnostics])
    program = lower(examined.model, examined.reach)
    warnings = tuple(d for d in (*diagnostics, *examined.diagnostics) if d.severity == "warning")
    return Ruleset(
        document.id, shelf, document, examined.composition, examined.model, program, examined.statements, warnings
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

    message = f"no ruleset `{id}`{did_you_mean_id(id, [*shelf.ids('ruleset'), *nearby_ids()])}"
    folders = ", ".join(root.origin for root in sources())
    notes = [
        replace(note, message=f"{note.message} ({folders}) and in the current folder") for note in diagnostic.notes
    ]
    remedy = "`regelwerk list` tells all rulesets; REGELWERK_PATH names folders of your own; a path will do as well"
    return replace(diagnostic, message=message, notes=tuple(notes), help=remedy)
