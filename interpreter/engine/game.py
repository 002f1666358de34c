"""A game being played: choices, undo, clones; views, logs and saves are made elsewhere, when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Json
from interpreter.base.plurals import counted
from interpreter.compiler.wasm.compiled_machine import CompiledMachine
from interpreter.engine.decision import Code, Decision, Option, decision_of, named_at, others_at, turned, waiting
from interpreter.engine.refusal import IllegalMove, because_of, legal_choice, refuse
from interpreter.engine.rules import Rules, Table
from interpreter.engine.scripted_outcomes import Outcomes, scripted
from interpreter.engine.views import Line, Spoken, lines_of, view_of
from interpreter.kernel.chance import ChanceSource, Scripted, Seeded
from interpreter.kernel.invariants import broken
from interpreter.kernel.state import Frame, Record, State, Value

if TYPE_CHECKING:  # saves are written when somebody asks for them
    from interpreter.engine.saves import Origin

__all__ = ["Game", "Result", "new_game", "places_of"]


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a game: for each seat its place (1 is best, equal keys share a place) and the keys that decide.

    A seat that does not count has no place: 0.
    """

    places: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]

    @property
    def winners(self) -> list[int]:
        return [seat for seat, place in enumerate(self.places) if place == 1]


@dataclass(frozen=True, slots=True)
class _Begun:
    """Shared data of a game and its copies: one object, since searches make many copies."""

    table: Table
    machine: CompiledMachine
    origin: Origin


_new = object.__new__
Made: TypeAlias = "tuple[Made, int, int, Code] | None"
"""The choices since a game began, the last one in front: those before it, the seat, the stretch that asked, and the
option's code."""


class Game:
    """One game of a ruleset. Made by :meth:`Ruleset.new_game`."""

    chance: ChanceSource
    """Where shuffles and draws come from."""
    decision: Decision | None
    """What is asked now; nothing once the game is over. The same object until a choice is made or taken back."""
    _made: Made = None

    def __init__(self, table: Table, state: State, chance: ChanceSource, origin: Origin) -> None:
        self._begun = _Begun(table, table.machine, origin)
        self.state = state
        self.chance = chance
        self._ask()

    @property
    def ruleset(self) -> Rules:
        """The rules that it follows."""
        return self._begun.table.rules

    @property
    def table(self) -> Table:
        """The machine and the first state, for so many players and these settings."""
        return self._begun.table

    @property
    def machine(self) -> CompiledMachine:
        return self._begun.machine

    @property
    def settings(self) -> dict[str, Value]:
        """The values of the settings with which it is played."""
        return self.machine.constants.settings

    @property
    def origin(self) -> Origin:
        """Return how the game began, beside settings: players, seed and scripted outcomes of chance."""
        return self._begun.origin

    def __repr__(self) -> str:
        players, decision = self.origin["players"], self.decision
        about = [counted(players, "player")]
        if self.result is not None:
            about.append("over")
        else:
            about.append(f"round {self.state.cells[self.machine.constants.layout.base['round']]}")
        if decision is not None:
            about.append(f"decision {decision.name} of seat {decision.actor}")
        return f"<game of {self.ruleset.id}: {', '.join(about)}>"

    @classmethod
    def begin(cls, table: Table, seed: int, chance: ChanceSource | Outcomes | None) -> Game:
        game = cls.seated(table, seed, chance)
        game.start()
        return game

    @classmethod
    def seated(cls, table: Table, seed: int, chance: ChanceSource | Outcomes | None) -> Game:
        """A game before its set-up, for who begins it in another way."""
        origin: Origin = {"players": table.seats, "seed": seed}
        if isinstance(chance, Mapping):
            origin["chance"] = dict(chance)
        elif isinstance(chance, Scripted):
            origin["chance"] = {name: list(values) for name, values in chance.outcomes.items()}
        game = cls(table, table.first.clone(), cls._source(table.rules, seed, chance), origin)
        game._check_settings()
        return game

    def start(self) -> None:
        """From the seats that were taken to the first decision."""
        self.machine.start(self.state, self.chance)
        self._ask()

    def perform(self, procedure: str, then: str, number: int) -> None:
        """The same by a procedure in place of the set-up: see :meth:`Machine.perform`."""
        self.machine.perform(self.state, self.chance, procedure, then, number)
        self._ask()

    @staticmethod
    def _source(rules: Rules, seed: int, chance: ChanceSource | Outcomes | None) -> ChanceSource:
        if chance is None:
            return Seeded(seed)
        if isinstance(chance, Mapping):
            return scripted(rules, chance, Seeded(seed))
        if isinstance(chance, Scripted):
            return scripted(rules, chance.outcomes, chance.then)
        if not all(callable(getattr(chance, name, None)) for name in ("shuffle", "draw")):
            raise TypeError(f"chance: got {chance!r}, want outcomes by name, or what can shuffle and draw")
        return chance

    def _check_settings(self) -> None:
        """Settings with a `check` pass it, or the line that refuses them is said."""
        for setting in self.ruleset.model.settings.values():
            value = self.settings[setting.name]
            if setting.check is None or value is None:
                continue
            top = self.ruleset.model.rules[setting.check].top
            reasons = refuse(Spoken(self.table, self.state, "en"), top.id, (value,), because_of(self.table, self.state))
            if reasons:
                raise ValueError(f"`{setting.name}`: " + "; ".join(str(reason) for reason in reasons))

    # --- decisions

    @property
    def is_over(self) -> bool:
        return self.decision is None

    def _ask(self) -> None:
        """Finds out what is asked now."""
        turn = self._begun.machine.asked(self.state)
        self.decision = None if turn is None else decision_of(self._begun.table, self.state, turn)

    @property
    def decisions(self) -> list[Decision]:
        """All decisions that it waits for: one, or where seats choose at once that of each who has not chosen."""
        return [self.decision, *others_at(self.decision)] if self.decision is not None else []

    def decision_of(self, seat: int) -> Decision | None:
        """Return the decision of a seat, if it has one."""
        return next((decision for decision in self.decisions if decision.actor == seat), None)

    @contextmanager
    def _turned_to(self, seat: int | None) -> Iterator[None]:
        """Inside, a seat decides that may do so before its turn. Afterwards all is as it was, but for a choice."""
        first, state = self.decision, self.state
        if seat is None or (first is not None and first.actor == seat):
            yield
            return
        decision = self.decision_of(seat)
        if decision is None:
            raise IllegalMove(f"seat {seat} does not decide now", [])
        state.leave()
        self.decision, state.frame = decision, decision.frame
        try:
            yield
        finally:
            if self.decision is decision:
                assert first is not None
                self.decision, state.frame = first, first.frame

    def accepts(self, choice: Option | Mapping[str, object], by: int | None = None) -> bool:
        """Return whether a choice is legal now, of the seat that decides or ``by`` another one that may."""
        try:
            with self._turned_to(by):
                self._legal(choice)
        except IllegalMove:
            return False
        return True

    def offered(self, choice: Option | Mapping[str, object]) -> Option:
        """The option of a choice by its public names. Raises :class:`IllegalMove`."""
        code = self._legal(choice)
        assert self.decision is not None
        return self.decision.option(code)

    def apply(self, choice: Option | Mapping[str, object], by: int | None = None) -> None:
        """Makes a choice and goes on to the next decision. Where seats choose at once, ``by`` may be any that has not
        chosen. Raises :class:`IllegalMove`, which changes nothing, or :class:`RuleFailure`, after which the state is as
        before the choice."""
        if by is not None:
            with self._turned_to(by):
                self.apply(choice)
            return
        decision, begun, state = self.decision, self._begun, self.state
        if decision is not None and choice is not None and choice is decision.offered:
            option = choice
        else:
            option = choice if isinstance(choice, Option) and self._is_sure(choice) else self.offered(choice)
        assert decision is not None
        assert isinstance(option, Option)
        code = option.code
        turn = begun.machine.go(state, self.chance, code)
        self._made = self._made, decision.actor, decision.named.index, code
        self.decision = None if turn is None else decision_of(begun.table, state, turn)

    def _is_sure(self, option: Option) -> bool:
        """Return whether an option that the game made itself is legal now: the short way."""
        decision = self.decision
        if decision is None or option.site is None:
            return False
        if decision.gave(option):
            return True
        number, values = option.code
        options = decision.site.options
        return (
            number < len(options)
            and options[number] is option.site
            and self.machine.accepts(self.state, number, values)
        )

    def _legal(self, choice: Option | Mapping[str, object]) -> Code:
        return legal_choice(self.table, self.decision, choice)

    @property
    def choices(self) -> list[tuple[int, dict[str, Json]]]:
        """All choices since the game began: the seat and the choice."""
        found = []
        made = self._made
        while made is not None:
            made, seat, index, code = made
            found.append((seat, named_at(self.table, index).option(code).as_dict()))
        return found[::-1]

    @property
    def last_choice(self) -> Option | None:
        """Return the last choice, if there is one."""
        if self._made is None:
            return None
        _, _, index, code = self._made
        return named_at(self.table, index).option(code)

    def option_of(self, record: Record) -> Option:
        """The option that the record of a choice tells of."""
        _, site, frame, _, values, *_ = record
        named = named_at(self.table, frame[0])
        number = next(number for number, option in enumerate(named.site.options) if option is site)
        return named.option((number, values))

    def unused_chance(self) -> list[str]:
        """Names of scripted outcomes that the game did not ask for (yet)."""
        if not isinstance(self.chance, Scripted):
            return []
        constants = self.machine.constants
        first = constants.layout.base["chance"]
        used = {name: self.state.cells[first + number] for name, number in constants.chance_names.items()}
        return self.chance.unused(used)

    # --- result

    @property
    def result(self) -> Result | None:
        """The places of all seats, once the game is over."""
        if not self.state.cells[self.machine.constants.layout.base["over"]]:
            return None
        keys = []
        self.machine.meter.refill()
        for seat in self.machine.constants.seats:
            env: list[Value] = [seat] + [None] * 32
            keys.append(
                tuple(self.machine.expressions.compile(key)(self.state, env) for key in self.ruleset.model.ranking)
            )
        return Result(places_of(keys, self.machine.constants.statics["seat.counts"]), tuple(keys))

    # --- copies and undo

    def clone(self, *, log: bool = False) -> Game:
        """The same game at the same decision, with the log or without; both can be played on."""
        copy = _new(Game)  # filled here, in the order of `__init__`, and nobody has to find out again what is asked
        copy._begun = self._begun
        copy.state = state = self.state.clone()
        copy.chance, copy._made = self.chance, self._made
        asked = self.decision
        if asked is None:
            copy.decision = None
        else:
            copy.decision = decision = Decision()
            decision.actor, decision.turn, decision.named = asked.actor, asked.turn, asked.named
            decision.offered = decision.listed = None
            if asked.turn is None:
                decision.frame = asked.frame
            decision.state = state
        if log:
            state.leave()
            state.log = self.state.log[:]
        return copy

    def stood_at(self, frame: Frame) -> Game:
        """A copy, without its log, that stands at another frame of the same decision."""
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
        """Back to the last decision of this object; false where there is none."""
        if not self.machine.undo(self.state):
            return False
        if self._made is not None:
            self._made = self._made[0]
        self._ask()
        if self.decision is not None and self.decision.site.ask.at_once is not None:
            first = next(iter(waiting(self.decision)))  # who comes first decides again, whoever had chosen
            if first != self.decision.actor:
                self.state.leave()
                self.state.frame = turned(self.decision, first).frame
                self._ask()
        return True

    def digest(self) -> str:
        """A fingerprint of the state: equal games have equal digests, on every machine."""
        return self.state.digest()

    def check(self) -> list[str]:
        """Check the invariants of the state; no fault as long as things change place by moves alone."""
        return broken(self.table.census, self.state)

    # --- what may be seen

    def view(self, player: int | None = None) -> dict[str, Value]:
        """The state by public names, as the player may see it (without a player: all of it). ``ValueError`` where there
        is no such seat."""
        self._check_seat(player)
        return view_of(self.table, self.state, player)

    def log(self, player: int | None = None, language: str = "en") -> list[Line]:
        """Return the events as lines that the player may read, since this object was made. ``ValueError`` as of a
        view."""
        self._check_seat(player)
        return lines_of(self.table, self.state, player, language)

    def value(self, text: str, player: int | None = None) -> Value:
        """The value of an expression of the rule language now, as plain data: `count(seats)`.

        Raises :class:`RulesetError` where the text is wrong, :class:`RuleFailure` where it has no value, and
        ``ValueError`` where it looks at what the player may not see.
        """
        from interpreter.engine.queries import value_of

        self._check_seat(player)
        value, type_ = value_of(self.table, self.state, text, player)
        return self.ruleset.names.public(value, type_)

    def _check_seat(self, player: int | None) -> None:
        if player is None:
            return
        last = len(self.machine.constants.seats) - 1
        if isinstance(player, bool) or not isinstance(player, int):
            raise TypeError(f"player: got {player!r}, want the number of a seat, 0 to {last}")
        if not 0 <= player <= last:
            raise ValueError(f"there is no seat {player}; the seats are 0 to {last}")

    # --- saves

    def to_json(self) -> str:
        """The whole game as text: where it comes from, its choices, its state."""
        from interpreter.engine.saves import text_of

        decision = self.decision
        return text_of(self.table, self.state, decision.name if decision else None, self.origin, self.choices)


def new_game(
    rules: Rules,
    players: int,
    seed: int = 0,
    settings: Mapping[str, object] | None = None,
    chance: ChanceSource | Outcomes | None = None,
) -> Game:
    """A game at its first decision: see :meth:`~interpreter.engine.ruleset.Ruleset.new_game`."""
    players, seed = _whole("players", players), _whole("seed", seed)
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings: got {settings!r}, want values by name")
    rules.check_players(players)
    rules = rules.for_players(players)
    return Game.begin(rules.table(players, rules.settings(settings or {})), seed, chance)


def _whole(what: str, number: SupportsIndex) -> int:
    """A whole number, also one of another library."""
    try:
        return index(number)
    except TypeError:
        raise TypeError(f"{what}: got {number!r}, want a whole number") from None


def places_of(keys: Sequence[tuple[Value, ...]], counts: Sequence[bool]) -> tuple[int, ...]:
    """The places of seats that are ranked by keys; 0 for one that does not count."""
    players = [own for own, counted in zip(keys, counts, strict=True) if counted]
    return tuple(
        [
            1 + sum([other > own for other in players]) if counted else 0
            for own, counted in zip(keys, counts, strict=True)
        ]
    )
