"""Rulesets and their games: choices, undo and clones. Views, logs and saves are produced by other modules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from interpreter.base.cycles import no_search
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.plain_data import Json
from interpreter.base.plurals import counted
from interpreter.base.store import digest_of
from interpreter.compiler.wasm.runner import Runner
from interpreter.engine.cache import Modules, Part
from interpreter.engine.decision import Code, Decision, Named, Option, decision_of, named_at, others_at, turned, waiting
from interpreter.engine.refusal import IllegalMove, IllegalSetUp, legal_choice, refuse
from interpreter.engine.saves import Origin, check_state, played, save_of, text_of
from interpreter.engine.scripted_outcomes import Outcomes, scripted
from interpreter.engine.settings import public_settings, setting_value
from interpreter.engine.setup import Table, default_settings, role_seats, roles_of, set_up
from interpreter.engine.values import Names
from interpreter.engine.views import Line, lines_since, view_of
from interpreter.kernel.chance import ChanceSource, Scripted, Seeded
from interpreter.kernel.state import Frame, Record, State, Value
from interpreter.language.meaning import VERSION, meaning
from interpreter.language.model import Model
from interpreter.lowering.constants import RuleFailure
from interpreter.plain.machine import Machine
from interpreter.reading.players import PlayerRange

if TYPE_CHECKING:  # imported where needed: a ruleset from the cache uses neither readers nor checker
    from interpreter.hidden.secrecy import Secrecy
    from interpreter.lowering.lower import Program
    from interpreter.reading.composition import Composition
    from interpreter.reading.files import Document, Shelf
    from interpreter.reading.statements import Statement

__all__ = ["Game", "Result", "Ruleset", "checked_seat", "places_of"]

T = TypeVar("T")
_NOW = ("id", "title", "provenance", "own_statements", "players", "model", "program", "warnings")
_LATE = ("shelf", "document", "composition", "statements")
"""Fields of a cached ruleset: ``_NOW`` are available at once, ``_LATE`` are loaded on first access."""


@dataclass(frozen=True)
class Ruleset:
    """A composition without errors, ready to play: model, program and files; ``warnings`` are for its author."""

    id: str
    shelf: Shelf = field(repr=False)
    document: Document = field(repr=False)
    composition: Composition = field(repr=False)
    model: Model = field(repr=False)
    program: Program = field(repr=False)
    statements: dict[str, Statement] = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()
    seated: dict[str, Ruleset | list[Diagnostic]] = field(default_factory=dict, repr=False, compare=False)
    """The rulesets with an overlay that some numbers of players require, or why there is none."""
    _tables: dict[tuple[object, ...], Table] = field(default_factory=dict, repr=False, compare=False)
    source: str | None = field(default=None, repr=False, compare=False)
    """Digest of everything that the load read; None if the ruleset is not in the cache."""

    # --- cache

    def parts(self) -> list[tuple[object, ...]]:
        """Return the parts to store in the cache: what a game needs, and what is loaded on demand, of this ruleset and
        then of those that it seats."""
        seated: dict[str, int | list[Diagnostic]] = {}
        others: list[tuple[object, ...]] = []
        for overlay, each in self.seated.items():
            if isinstance(each, Ruleset):
                seated[overlay] = len(others)
                others += each.parts()
            else:
                seated[overlay] = each
        now, late = (tuple(getattr(self, name) for name in names) for names in (_NOW, _LATE))
        return [(*now, seated), late, *others]

    @classmethod
    def kept(cls, now: Part, late: Part, *others: Part) -> Ruleset:
        """Create a ruleset from the cache; what a game does not need is loaded on first access."""
        ruleset = cls.__new__(cls)
        vars(ruleset).update(zip((*_NOW, "_places"), now(), strict=True), _tables={}, _late=late, _others=others)
        return ruleset

    def known_by(self, digest: str | None) -> None:
        """Note the digest of everything that the load of this ruleset, and of those that it seats, has read."""
        vars(self)["source"] = digest
        for overlay, each in vars(self).get("seated", {}).items():
            if isinstance(each, Ruleset):
                each.known_by(digest and digest_of(digest, overlay).hex())

    if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any attribute

        def __getattr__(self, name: str) -> object:
            """Load what is still in the cache."""
            known = vars(self)
            if "_late" not in known or name not in ("seated", *_LATE):
                raise AttributeError(f"a ruleset has no `{name}`")
            if name == "seated":
                known["seated"] = {
                    overlay: Ruleset.kept(*known["_others"][place:]) if isinstance(place, int) else place
                    for overlay, place in self._places.items()
                }
                self.known_by(self.source)
            else:
                known.update(zip(_LATE, self._late(), strict=True))
            return known[name]

    def __copy__(self) -> Ruleset:
        return self

    def __deepcopy__(self, memo: object) -> Ruleset:
        return self  # immutable

    def __reduce__(self) -> str:
        raise TypeError("a ruleset cannot be pickled; send its id and overlays, and load it there")

    # --- facts

    @cached_property
    def title(self) -> str:
        return self.composition.title

    @cached_property
    def provenance(self) -> dict[str, str]:
        """What files say about their sources, by file."""
        return self.composition.provenance

    def title_in(self, language: str) -> str:
        """Return the title, translated if a translation exists."""
        return self.said(f"title.{self.id}", language, self.title)

    def said(self, name: str, language: str, otherwise: str = "") -> str:
        """Return the words for a name in a language, if there are some without values; by default its last part."""
        phrase = self.model.says.get(name, {}).get(language)
        said = "".join(map(str, phrase.parts)) if phrase is not None and not phrase.trees else otherwise
        return said or name.rpartition(".")[2].replace("_", " ")

    @cached_property
    def players(self) -> PlayerRange:
        return self.composition.players

    @cached_property
    def secrecy(self) -> Secrecy:
        from interpreter.hidden.secrecy import Secrecy

        return Secrecy(self.program)

    @cached_property
    def of_scenarios(self) -> Ruleset:
        """The ruleset with tables of its own, since games may be played in another thread meanwhile."""
        return replace(self, _tables={}, source=None)

    @cached_property
    def names(self) -> Names:
        """Names of all values, with those of seats if they do not depend on a table."""
        low, high = self.players.low, self.players.high
        if low < high:
            return Names(self.model)
        return Names(self.model, role_seats(roles_of(self.model, low, default_settings(self.model))))

    @cached_property
    def digest(self) -> str:
        """Hash of the meaning of the ruleset. Comments and layout of its files do not matter, nor in which file and
        order they declare rules, tables and events."""
        model, procedures = self.model, self.program.reach.procedures
        parts: tuple[object, ...] = (
            VERSION,
            [(name, layer.body, layer.when, layer.parameters) for name, layer in sorted(procedures.items())],
            [(t.name, t.event, t.test, [(x.phases, x.procedure) for x in t.cases]) for t in model.triggers.values()],
            [(r.name, r.binders, r.test) for r in model.standing.values()],
            [(name, t.keys, sorted(t.cells.items())) for name, t in sorted(model.tables.items())],
            [(row.kind, row.key, sorted(row.values.items())) for row in model.cards],
            [
                (g.name, g.owner.word if g.owner else "", g.type, g.order, g.rank, g.start, g.lasts)
                for g in model.groups.values()
            ],
            [(g.starts, g.unlimited, g.spaces, *([g.most] if g.most else [])) for g in model.groups.values()],
            [(role.name, role.counts, role.seats, role.setting) for role in model.roles.values()],
            [(name, event.fields) for name, event in sorted(model.events.items())],
            (
                model.records,
                model.pieces,
                [(kind.key, {}) for kind in model.card_kinds.values()],
            ),  # saves know this form
            [(k.name, k.members, k.range, k.totals) for k in model.kinds.values()],
            model.graph
            and (
                [(n.name, sorted(n.values.items()), n.places, sorted(n.place.items())) for n in model.graph.nodes],
                model.graph.measure,
                [(x.a, x.b, sorted(x.values.items())) for x in model.graph.links],
            ),
            (model.phases, model.setup, model.ranking),
            *([[guard and guard.value for guard in model.phase_guards]] if any(model.phase_guards) else []),
        )
        return blake2b(msgspec.json.encode(meaning(parts)), digest_size=16).hexdigest()

    def own_cites(self, cites: tuple[str, ...]) -> tuple[str, ...]:
        """Return the cited statements that belong to this ruleset's books or are fills or gaps."""
        own = self.own_statements
        return cites if own is None else tuple(id for id in cites if id in own)

    @cached_property
    def own_statements(self) -> frozenset[str] | None:
        """Ids of the statements of this ruleset's books, with fills and gaps; None if it has no book."""
        books, statements = self.composition.rulebooks, self.statements.values()
        own = (each.id for each in statements if each.book in books or each.kind in ("fill", "gap"))
        return frozenset(own) if books else None

    @property
    def overlays(self) -> tuple[str, ...]:
        """Ids of the overlays, lowest first."""
        return tuple(document.id for document in self.composition.documents if document.kind == "overlay")

    @property
    def asked_overlays(self) -> tuple[str, ...]:
        """Overlays added to those that the file lists, and, with a leading minus, listed overlays that are left out."""
        listed = [scalar.text for scalar in self.document.head.overlays]
        added = [overlay for overlay in self.overlays if overlay not in listed]
        return (*added, *(f"-{overlay}" for overlay in listed if overlay not in self.overlays))

    @property
    def reasons_for_plain(self) -> list[str]:
        """The reasons why the plain form has made choices that a module could not make, or played all games."""
        seated = vars(self).get("seated", {})  # those that are still in the cache have not played
        rulesets = [self, *(each for each in seated.values() if isinstance(each, Ruleset))]
        tables = [table for each in rulesets for table in each._tables.values()]
        return list(dict.fromkeys(reason for table in tables for reason in table.runner.reasons))

    def with_model(self, model: Model, program: Program, composition: Composition | None = None) -> Ruleset:
        """Return a copy with another model that exists in no file.

        It ignores overlays for numbers of players (they are in the model already) and is never cached.
        """
        composition = composition or self.composition
        return replace(self, composition=composition, model=model, program=program, seated={}, _tables={}, source=None)

    # --- settings

    def settings(self, by_name: Mapping[str, object]) -> dict[str, Value]:
        """Convert public settings to internal values and fill in defaults. Raises ``ValueError`` for invalid ones."""
        chosen = {name: setting_value(self.model, self.names, name, public) for name, public in by_name.items()}
        return default_settings(self.model) | chosen

    def has_setting(self, name: str) -> bool:
        return name in self.model.settings or name in self.model.interpretations

    def own_settings(self, by_name: Mapping[str, T]) -> dict[str, T]:
        """Return those that the ruleset has."""
        return {name: value for name, value in by_name.items() if self.has_setting(name)}

    # --- tables and games

    def check_players(self, players: int) -> None:
        allowed = self.players
        if players not in allowed:
            reason = f": {allowed.otherwise}" if allowed.otherwise else ""
            raise ValueError(f"`{self.id}` is for {allowed} players, not {players}{reason}")

    def for_players(self, players: int) -> Ruleset:
        """Return the ruleset with the overlay that this number of players requires, or itself if there is none. Raises
        :class:`RulesetError`."""
        overlay = dict(self.players.overlays).get(players)
        seated = self if overlay is None else self.seated.get(overlay, self)
        if not isinstance(seated, Ruleset):
            raise RulesetError(seated)
        return seated

    def table(self, people: int, settings: dict[str, Value]) -> Table:
        """Return the table for a number of players and settings; equal ones share it."""
        key = (people, tuple(sorted(settings.items())))
        if key not in self._tables:
            with no_search():
                table = set_up(self.program, people, settings, lambda: self.secrecy, self.own_cites)
            self._tables[key] = table
            if self.source is not None:
                table.runner.keeper = Modules(self.source, repr(key))
        return self._tables[key]

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
        players, seed = _whole("players", players), _whole("seed", seed)
        if settings is not None and not isinstance(settings, Mapping):
            raise TypeError(f"settings: got {settings!r}, want values by name")
        self.check_players(players)
        seated = self.for_players(players)
        return Game.begin(seated, seated.table(players, seated.settings(settings or {})), seed, chance)

    def load_game(self, text: str) -> Game:
        """Restore a game saved by :meth:`Game.to_json`: replay its choices and check that they lead to the saved state.

        Raises ``ValueError`` if the text is no save, is damaged, or belongs to another ruleset, or if the ruleset has
        changed so that a choice no longer fits. The message names the first such choice, with the rule and the reason.
        """
        saved = save_of(text)
        ruleset = self.for_players(saved["players"])
        changed = saved["digest"] != ruleset.digest
        fault = "the ruleset has changed" if changed else "this save is damaged"
        if changed and (saved.get("ruleset"), saved.get("overlays")) != (ruleset.id, list(ruleset.overlays)):
            fault = f"this is a game of {played(saved)}, not of `{ruleset.id}`"
            if unknown := [name for name in saved.get("settings", {}) if not ruleset.has_setting(name)]:
                raise ValueError(f"{fault}, which has no setting `{unknown[0]}`")
        try:
            game = ruleset.new_game(saved["players"], saved["seed"], saved.get("settings"), saved.get("chance"))
            for number, choice in enumerate(saved["choices"], 1):
                _make(game, number, choice)
        except (RuleFailure, _Different) as error:
            raise ValueError(f"{fault}: {error}") from None
        if not changed:
            check_state(game.table, game.state, saved.get("state"))
        return game.clone()


class Result(Struct, frozen=True):
    """Final ranking: for each seat its place and its ranking keys. Place 1 is best; equal keys share a place. A seat
    that does not count has place 0."""

    places: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]

    @property
    def winners(self) -> list[int]:
        return [seat for seat, place in enumerate(self.places) if place == 1]


class _Begun(Struct, frozen=True):
    """Data shared by a game and its copies: one object, because searches make many copies."""

    ruleset: Ruleset
    table: Table
    origin: Origin


_new = object.__new__
Made: TypeAlias = "tuple[Made, int, Named, Code] | None"
"""Choices since the game began, as a linked list with the last one in front: the earlier choices, the seat, the
decision and the option's code."""


class Game:
    """A game of a ruleset, created by :meth:`Ruleset.new_game`.

    Games of one table share its machine and its memory: use them in one thread at a time.
    """

    chance: ChanceSource
    """Source of random outcomes."""
    decision: Decision | None
    """Pending decision, or None once the game is over. The object stays the same until a choice is made or undone."""
    _made: Made = None

    def __init__(self, ruleset: Ruleset, table: Table, state: State, chance: ChanceSource, origin: Origin) -> None:
        self._begun = _Begun(ruleset, table, origin)
        self.state = state
        self.chance = chance
        self._ask()

    @property
    def ruleset(self) -> Ruleset:
        return self._begun.ruleset

    @property
    def table(self) -> Table:
        """The table: the machine and the initial state for this number of players and these settings."""
        return self._begun.table

    def name_seats(self, names: Sequence[str]) -> None:
        """Call the seats by these names in all texts of the game and of later copies."""
        begun = self._begun
        table = replace(begun.table, seat_names=tuple(names))
        self._begun = _Begun(begun.ruleset, table, begun.origin)

    @property
    def machine(self) -> Machine:
        """The reference machine of the table."""
        return self._begun.table.machine

    @property
    def runner(self) -> Runner:
        return self._begun.table.runner

    @property
    def settings(self) -> dict[str, Value]:
        """Values of all settings of the game."""
        return self.machine.constants.settings

    @property
    def origin(self) -> Origin:
        """Return how the game began, apart from settings: players, seed and scripted outcomes."""
        return self._begun.origin

    def __repr__(self) -> str:
        decision = self.decision
        about = [
            counted(self.origin["players"], "player"),
            "over" if self.result is not None else f"round {self.round}",
        ]
        about += [f"decision {decision.name} of seat {decision.actor}"] if decision is not None else []
        return f"<game of {self.ruleset.id}: {', '.join(about)}>"

    @classmethod
    def begin(cls, ruleset: Ruleset, table: Table, seed: int, chance: ChanceSource | Outcomes | None) -> Game:
        game = cls.seated(ruleset, table, seed, chance)
        game.start()
        return game

    @classmethod
    def seated(cls, ruleset: Ruleset, table: Table, seed: int, chance: ChanceSource | Outcomes | None) -> Game:
        """Create a game before its set-up, for callers that begin it in another way."""
        origin: Origin = {"players": table.seats, "seed": seed}
        if isinstance(chance, Mapping):
            origin["chance"] = dict(chance)
        elif isinstance(chance, Scripted):
            origin["chance"] = {name: list(values) for name, values in chance.outcomes.items()}
        game = cls(ruleset, table, table.first.clone(), cls._source(table, seed, chance), origin)
        game._check_set_up()
        return game

    def start(self) -> None:
        """Run the set-up up to the first decision."""
        self.runner.start(self.state, self.chance)
        self._ask()

    def perform(self, procedure: str, then: str, number: int) -> None:
        """Run a procedure in place of the set-up: see :meth:`Runner.perform`."""
        self.runner.perform(self.state, self.chance, procedure, then, number)
        self._ask()

    @staticmethod
    def _source(table: Table, seed: int, chance: ChanceSource | Outcomes | None) -> ChanceSource:
        if chance is None:
            return Seeded(seed)
        if isinstance(chance, Mapping):
            return scripted(table.program, table.names, chance, Seeded(seed))
        if isinstance(chance, Scripted):
            return scripted(table.program, table.names, chance.outcomes, chance.then)
        if not all(callable(getattr(chance, name, None)) for name in ("shuffle", "draw")):
            raise TypeError(f"chance: got {chance!r}, want outcomes by name, or an object with `shuffle` and `draw`")
        return chance

    def _check_set_up(self) -> None:
        """Run the checks of settings and of files. Raises :class:`IllegalSetUp` if one refuses the game."""
        model, values = self.ruleset.model, self.settings
        settings = (each for each in model.settings.values() if values[each.name] is not None)
        checks = [(each.name, each.check, (values[each.name],)) for each in settings if each.check is not None]
        for name, check, arguments in (*checks, *((self.ruleset.id, check, ()) for check in model.checks)):
            if reasons := refuse(self.table, self.state, model.rules[check].top.id, arguments):
                raise IllegalSetUp(name, reasons)

    # --- decisions

    @property
    def is_over(self) -> bool:
        return self.decision is None

    def _ask(self) -> None:
        self.decision = decision_of(self._begun.table, self.state, self.runner.asked(self.state))

    @property
    def decisions(self) -> list[Decision]:
        """All pending decisions: one, or with simultaneous choices one for each seat that has not chosen."""
        return [self.decision, *others_at(self.decision)] if self.decision is not None else []

    def decision_of(self, seat: int) -> Decision | None:
        """Return the pending decision of a seat, or None."""
        return next((decision for decision in self.decisions if decision.actor == seat), None)

    @contextmanager
    def _turned_to(self, seat: int | None) -> Iterator[None]:
        """Let a seat that may choose before its turn decide inside the context. On exit, restore the previous
        decision unless a choice was made."""
        first, state = self.decision, self.state
        if seat is None or (first is not None and first.actor == seat):
            yield
            return
        decision = self.decision_of(seat)
        if decision is None:
            raise IllegalMove(f"seat {seat} does not decide now")
        state.leave()
        self.decision, state.frame = decision, decision.frame
        try:
            yield
        finally:
            if self.decision is decision:
                assert first is not None
                self.decision, state.frame = first, first.frame

    def accepts(self, choice: Option | Mapping[str, object], by: int | None = None) -> bool:
        """Return whether a choice is legal now for the seat that decides, or for the seat ``by``."""
        try:
            with self._turned_to(by):
                self.offered(choice)
        except IllegalMove:
            return False
        return True

    def offered(self, choice: Option | Mapping[str, object], language: str = "en") -> Option:
        """Return the option of a choice by public names. Raises :class:`IllegalMove`, with reasons in a language."""
        code = legal_choice(self.table, self.decision, choice, language)
        assert self.decision is not None
        return self.decision.option(code)

    def apply(self, choice: Option | Mapping[str, object], by: int | None = None) -> None:
        """Make a choice and play on to the next decision.

        With simultaneous choices, ``by`` may be any seat that has not chosen. Raises :class:`IllegalMove`, which
        changes nothing, or :class:`RuleFailure`, which leaves the state as before the choice.
        """
        decision = self.decision
        if by is not None and (decision is None or by != decision.actor):
            with self._turned_to(by):
                self.apply(choice)
            return
        if type(choice) is Option and decision is not None and choice.site is not None:
            code, options = choice.code, decision.named.site.options
            if code[0] < len(options) and options[code[0]] is choice.site and self._is_legal(decision, code):
                self.take(code)
                return
        self.take(legal_choice(self.table, decision, choice))

    def _is_legal(self, decision: Decision, code: Code) -> bool:
        """Return whether a choice of the decision is known to be legal now: that is faster than to find it out."""
        is_read = decision.found == code or (decision.listed is not None and decision.listed.has_read(code))
        return is_read or self.runner.accepts(self.state, code)

    def take(self, code: Code) -> None:
        """Make a choice that is known to be legal now, by its code, and play on: see :meth:`apply`."""
        decision, state = self.decision, self.state
        assert decision is not None
        named = decision.named
        turn = named.runner.go(state, self.chance, code)
        self._made = self._made, decision.actor, named, code
        self.decision = decision_of(self._begun.table, state, turn)

    @property
    def choices(self) -> list[tuple[int, dict[str, Json]]]:
        """All choices since the game began, each as (seat, choice)."""
        choices, rest = [], self._made
        while rest is not None:
            rest, seat, named, code = rest
            choices.append((seat, named.option(code).as_dict()))
        return choices[::-1]

    @property
    def last_choice(self) -> Option | None:
        """Return the last choice, or None before the first."""
        if self._made is None:
            return None
        _, _, named, code = self._made
        return named.option(code)

    def option_of(self, record: Record) -> Option:
        """Return the option that a choice record of the log refers to."""
        _, site, frame, _, values, *_ = record
        named = named_at(self.table, frame[0])
        number = next(number for number, option in enumerate(named.site.options) if option is site)
        return named.option((number, values))

    def unused_chance(self) -> list[str]:
        """Return the names of scripted outcomes that the game has not used (yet)."""
        return self.chance.unused(self.chance_used()) if isinstance(self.chance, Scripted) else []

    def chance_used(self) -> dict[str, int]:
        """Return the number of outcomes that each named chance has had."""
        first = self.machine.constants.layout.base["chance"]
        return {name: self.state.cells[first + number] for name, number in self.machine.constants.chance_names.items()}

    # --- result

    @property
    def result(self) -> Result | None:
        """The final ranking, or None while the game runs."""
        if not self.state.cells[self.machine.constants.layout.base["over"]]:
            return None
        machine, ranking = self.machine, self.ruleset.model.ranking
        machine.meter.refill()
        envs: list[list[Value]] = [[seat, *[None] * 32] for seat in machine.constants.seats]
        keys = tuple(tuple(machine.expressions.compile(key)(self.state, env) for key in ranking) for env in envs)
        return Result(places_of(keys, machine.constants.statics["seat.counts"]), keys)

    # --- copies and undo

    def clone(self, *, log: bool = False) -> Game:
        """Return an independent copy at the same decision, with or without the log."""
        copy = _new(Game)  # skips `__init__`, which would determine the decision again
        copy._begun = self._begun
        copy.state = state = State.clone(self.state) if log else self.state.clone()
        copy.chance, copy._made = self.chance, self._made
        copy.decision = pending = self.decision
        if pending is not None:
            copy.decision = Decision(pending.actor, pending.turn, pending.named, state)
            if pending.turn is None:
                copy.decision.at = pending.frame
        if log:
            state.log = self.state.log[:]
        return copy

    def stood_at(self, frame: Frame) -> Game:
        """Return a copy without log that stands at another frame of the same decision."""
        copy = self.clone()
        copy.state.leave()
        copy.state.frame = frame
        copy._ask()
        return copy

    def __copy__(self) -> Game:
        return self.clone(log=True)

    def __deepcopy__(self, memo: object) -> Game:
        return self.clone(log=True)

    def __reduce__(self) -> str:
        raise TypeError("a game cannot be pickled; send its `to_json()`, which the same ruleset's `load_game` takes")

    def undo(self) -> bool:
        """Return to the previous decision made through this object; return False if there is none."""
        if not self.runner.undo(self.state):
            return False
        if self._made is not None:
            self._made = self._made[0]
        self._ask()
        if self.decision is not None:
            first = next(iter(waiting(self.decision)))  # the first seat decides again, whichever seat had chosen
            if first != self.decision.actor:
                self.state.leave()
                self.state.frame = turned(self.decision, first).frame
                self._ask()
        return True

    def digest(self) -> str:
        """Return a hash of the state: equal games have equal digests on every machine."""
        return self.state.digest()

    @property
    def round(self) -> int:
        """The number of the round; 0 during the set-up."""
        number: int = self.runner.cells(self.state, "round")[0]
        return number

    def position(self) -> str:
        """Return a hash of the state without what is counted on in any case: rounds and random numbers. A game that
        repeats itself returns to an equal position."""
        layout, cells = self.machine.constants.layout, self.state.cells[:]
        for cell in (layout.base["round"], *layout.cells("chance")):
            cells[cell] = 0
        return State(cells, self.state.frame).digest()

    def check(self, changed: Collection[str] | None = None) -> list[str]:
        """Check the invariants of the state, or those about groups of cells that have ``changed``, and return the
        violations: none as long as things only move."""
        census = self.table.census
        checks = [each for each, groups in census.invariants if changed is None or not groups.isdisjoint(changed)]
        cells = self.runner.cells(self.state) if checks else ()
        return [line for each in checks for line in each(census, cells)]

    # --- views

    def view(self, player: int | None = None) -> dict[str, Value]:
        """Return the state by public names, as a player may see it; without a player, all of it. Raises
        ``ValueError`` for an unknown seat."""
        self._check_seat(player)
        return view_of(self.table, self.state, player)

    def log(self, player: int | None = None, language: str = "en") -> list[Line]:
        """Return the log since this object was created, as lines that the player may read. Raises ``ValueError`` for
        an unknown seat."""
        self._check_seat(player)
        return list(lines_since(self.table, self.state, 0, player, language))

    def value(self, text: str, player: int | None = None) -> Value:
        """Evaluate an expression of the rule language, such as `count(seats)`, and return its value as plain data.

        Raises :class:`RulesetError` for an invalid expression, :class:`RuleFailure` if it has no value, and
        ``ValueError`` if it reads something that the player may not see.
        """
        from interpreter.engine.queries import value_of

        self._check_seat(player)
        value, type_ = value_of(self.table, self.state, text, player)
        return self.table.names.public(value, type_)

    def _check_seat(self, player: int | None) -> None:
        seats = len(self.machine.constants.seats)
        if isinstance(player, bool) or not isinstance(player, int | None):
            raise TypeError(f"player: got {player!r}, want the number of a seat, 0 to {seats - 1}")
        checked_seat(player or 0, seats)

    # --- saves

    @property
    def beginning(self) -> dict[str, object]:
        """What a save tells of how the game began: its ruleset, origin and settings."""
        ruleset, table = self.ruleset, self.table
        about = {"ruleset": ruleset.id, "overlays": list(ruleset.overlays), "digest": ruleset.digest}
        return {**about, **self.origin, "settings": public_settings(table.model, table.names, self.settings)}

    def to_json(self) -> str:
        """Return the game as JSON text: its beginning, choices and state."""
        decision = self.decision
        return text_of(self.beginning, self.table, self.state, decision.name if decision else None, self.choices)


def checked_seat(seat: int, seats: int, what: str = "") -> int:
    """Return the seat; raise :class:`ValueError`, which begins with ``what``, if there is no such seat."""
    if not 0 <= seat < seats:
        raise ValueError(f"{what}there is no seat {seat}; the seats are 0 to {seats - 1}")
    return seat


def _whole(name: str, number: SupportsIndex) -> int:
    """Convert to ``int``; accepts integer types of other libraries."""
    try:
        return index(number)
    except TypeError:
        raise TypeError(f"{name}: got {number!r}, want a whole number") from None


def places_of(keys: Sequence[tuple[Value, ...]], counts: Sequence[bool]) -> tuple[int, ...]:
    """Rank seats by their keys; a seat that does not count gets place 0."""
    seats = list(zip(keys, counts, strict=True))
    players = [own for own, counted in seats if counted]
    return tuple([1 + sum([other > own for other in players]) if counted else 0 for own, counted in seats])


class _Different(Exception):
    """Raised for a saved choice that cannot be replayed."""


def _make(game: Game, number: int, choice: dict[str, Value]) -> None:
    decision = game.decision
    if decision is None:
        raise _Different(f"the game is over before choice {number} of the save")
    if choice["by"] != decision.actor and game.decision_of(choice["by"]) is None:
        rule = decision.site.procedure.split("@")[0]
        now = f"seat {decision.actor} decides `{decision.name}` (rule `{rule}`)"
        raise _Different(f"at choice {number} {now}, not seat {choice['by']}")
    try:
        game.apply({name: value for name, value in choice.items() if name != "by"}, choice["by"])
    except IllegalMove as error:
        raise _Different(f"choice {number} is refused: {error}") from None
