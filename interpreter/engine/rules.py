"""Rules: a checked and lowered ruleset as tables and games use it, independent of how it was loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

import msgspec

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plain_data import Json, number_in
from interpreter.base.suggest import did_you_mean_one_of
from interpreter.compiler.wasm.compiled_machine import CompiledMachine
from interpreter.engine.cache import Modules
from interpreter.engine.setup import default_settings, role_seats, roles_of, set_up
from interpreter.engine.values import Names, type_text
from interpreter.hidden.secrecy import Secrecy
from interpreter.hidden.sight import Sight
from interpreter.kernel.invariants import Census
from interpreter.kernel.state import State, Value
from interpreter.language.meaning import VERSION, meaning
from interpreter.language.model import Model
from interpreter.language.types import BoolType, CollectionType, IntType, KindType, NodeType, SeatType, Type
from interpreter.reading.players import PlayerRange

if TYPE_CHECKING:  # imported where needed: a ruleset from the cache uses neither readers nor checker
    from interpreter.lowering.lower import Program
    from interpreter.reading.compose import Composition
    from interpreter.reading.files import Document, Shelf
    from interpreter.reading.statements import Statement

__all__ = ["Rules", "Table"]


@dataclass(frozen=True)
class Table:
    """Rules with players and settings: a machine and the initial state of its games."""

    rules: Rules = field(repr=False)
    machine: CompiledMachine
    first: State
    seats: int
    census: Census
    sight: Sight = field(repr=False)
    options: dict[int, Value] = field(default_factory=dict, repr=False, compare=False)
    """Cache of options by stretch: :class:`~interpreter.engine.decision.Named`."""
    seat_names: tuple[str, ...] = ()
    """Names of the persons in the seats, for texts. An empty name leaves the seat its word of the ruleset."""

    @cached_property
    def names(self) -> Names:
        """Names of all values, with the seats of roles."""
        return Names(self.rules.model, self.machine.constants.role_seats)


@dataclass(frozen=True)
class Rules:
    """A composition without errors: its model, its program and its files."""

    id: str
    shelf: Shelf = field(repr=False)
    document: Document = field(repr=False)
    composition: Composition = field(repr=False)
    model: Model = field(repr=False)
    program: Program = field(repr=False)
    statements: dict[str, Statement] = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()
    _tables: dict[tuple[object, ...], Table] = field(default_factory=dict, repr=False, compare=False)
    _looked_at: bytes | None = field(default=None, repr=False, compare=False)
    """Digest of everything that the load read; None if the ruleset is not in the cache."""

    @property
    def title(self) -> str:
        return self.composition.title

    @cached_property
    def players(self) -> PlayerRange:
        return self.composition.players

    @cached_property
    def secrecy(self) -> Secrecy:
        return Secrecy(self.program)

    @cached_property
    def names(self) -> Names:
        """Names of all values, with those of seats if they do not depend on a table."""
        low, high = self.players.low, self.players.high
        if low < high:
            return Names(self.model)
        return Names(self.model, role_seats(roles_of(self.model, low, default_settings(self.model))))

    @cached_property
    def digest(self) -> str:
        """Hash of the meaning of the ruleset. Comments and layout of its files do not matter."""
        model = self.model
        parts = (
            VERSION,
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
        return blake2b(msgspec.json.encode(meaning(parts)), digest_size=16).hexdigest()

    @property
    def source_digest(self) -> tuple[str, bytes] | None:
        """Identifies the source text of the ruleset; None if the ruleset is not in the cache."""
        return (self.digest, self._looked_at) if self._looked_at is not None else None

    def own_cites(self, cites: tuple[str, ...]) -> tuple[str, ...]:
        """Return the cited statements that belong to this ruleset's books or are fills or gaps."""
        books = self.composition.rulebooks
        own = [id for id in cites if (s := self.statements.get(id)) and (s.book in books or s.kind in ("fill", "gap"))]
        return tuple(own) if books else cites

    def table(self, people: int, settings: dict[str, Value]) -> Table:
        """Return the table for a number of players and settings; equal ones share it."""
        key = (people, tuple(sorted(settings.items())))
        if key not in self._tables:
            with no_search():
                setup = set_up(self.program, people, settings)
            sight = Sight(setup.machine, self.secrecy)
            self._tables[key] = Table(self, setup.machine, setup.first, people, setup.census, sight)
            if self._looked_at is not None:
                setup.machine.keeper = Modules(self._looked_at, repr(key))
        return self._tables[key]

    def for_players(self, players: int) -> Self:
        """Return the rules for a number of players: these, because a table includes what the number requires."""
        return self

    def with_model(self, model: Model, program: Program, composition: Composition | None = None) -> Self:
        """Return a copy with another model that exists in no file; it is never cached."""
        composition = composition or self.composition
        return replace(self, composition=composition, model=model, program=program, _tables={}, _looked_at=None)

    @property
    def overlays(self) -> tuple[str, ...]:
        """Ids of the overlays, lowest first."""
        return tuple(document.id for document in self.composition.documents if document.kind == "overlay")

    def check_players(self, players: int) -> None:
        allowed = self.players
        if players not in allowed:
            reason = f": {allowed.otherwise}" if allowed.otherwise else ""
            raise ValueError(f"`{self.id}` is for {allowed} players, not {players}{reason}")

    def settings(self, by_name: Mapping[str, object]) -> dict[str, Value]:
        """Convert public settings to internal values and fill in defaults. Raises ``ValueError`` for invalid ones."""
        return default_settings(self.model) | {name: self._setting(name, public) for name, public in by_name.items()}

    def has_setting(self, name: str) -> bool:
        return name in self.model.settings or name in self.model.interpretations

    def _setting(self, name: str, public: object) -> Value:
        doubt = self.model.interpretations.get(name)
        if doubt is not None:
            readings = list(doubt.readings)
            if public not in readings:
                raise ValueError(f"`{name}`: got {public!r}, want one of {', '.join(f'`{each}`' for each in readings)}")
            return readings.index(public)
        setting = self.model.settings.get(name)
        if setting is None:
            known = [*self.model.settings, *self.model.interpretations]
            raise ValueError(f"unknown setting `{name}`{did_you_mean_one_of(name, known)}")
        match setting.type, public:
            case CollectionType(of=of), str() | int():
                public = _items(str(public), of)
            case IntType(), str():
                public = number_in(public)
            case BoolType(), "yes" | "no":
                public = public == "yes"
        try:
            value = self.names.value(public, setting.type)
        except ValueError as error:
            raise ValueError(f"`{name}`: {error}") from None
        if setting.range is not None and value is not None and not setting.range[0] <= value <= setting.range[1]:
            raise ValueError(f"`{name}`: got {value}, want {setting.range[0]} to {setting.range[1]}")
        return value

    def setting_syntax(self, name: str) -> str:
        """Say what can be typed for a setting."""
        setting = self.model.settings[name]
        match setting.type:
            case _ if setting.range is not None:
                return f"a number from {setting.range[0]} to {setting.range[1]}"
            case IntType():
                return "a number"
            case BoolType():
                return "yes or no"
            case SeatType():
                return "the number of a seat, from 0"
            case KindType(name=kind):
                return f"one of {', '.join(self.model.members(kind))}"
            case CollectionType(of=CollectionType()):
                return "lists, separated by commas, their items by minus signs; or the number of empty lists"
            case CollectionType(of=KindType(name=kind)):
                return f"some of {', '.join(self.model.members(kind))}; separated by commas"
            case CollectionType(of=of):
                words = {IntType: "numbers", SeatType: "numbers of seats, from 0", NodeType: "names"}
                return f"{words.get(type(of), 'values')}, separated by commas"
            case type_:
                return type_text(self.model, type_)


def _items(text: str, of: Type) -> list[Json]:
    """Parse a list written as one text: items separated by commas, which single digits may omit. In a list of lists, a
    minus separates the inner items, and a number alone means that many empty lists."""
    if isinstance(of, CollectionType):
        if isinstance(number := number_in(text), int):
            return [[]] * min(number, 1_000)
        return [_items(part.replace("-", ","), of.of) for part in text.split(",")]
    numbers = isinstance(of, IntType | SeatType)
    digits = numbers and text.isdecimal()
    parts = [part.strip() for part in (text if digits else text.split(",")) if part.strip()]
    return [number_in(part) if numbers else part for part in parts]
