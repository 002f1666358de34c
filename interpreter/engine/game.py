"""A game being played: decisions, choices, undo, clones, views, logs and saves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, overload

from interpreter.base.frozen import dataclass
from interpreter.compiler.constants import RuleFailure
from interpreter.compiler.plain.machine import AskSite, OptionSite
from interpreter.engine.refusal import IllegalMove, refuse
from interpreter.kernel.chance import ChanceSource, Scripted, Seeded
from interpreter.kernel.effects import undo
from interpreter.kernel.invariants import broken
from interpreter.kernel.state import State, Value, as_json
from interpreter.language import core as c
from interpreter.language.types import Type, has_cards
from interpreter.language.walk import descendants

if TYPE_CHECKING:
    from interpreter.engine.ruleset import Ruleset
    from interpreter.engine.setup import Table
    from interpreter.engine.show import Line

__all__ = ["Decision", "Game", "Option", "Options", "Result"]

SAVE_VERSION = 1
MAXIMUM_SAVE = 50_000_000
MAXIMUM_RECORDS = 1_000_000
"""So many changes, events and choices may the log of one game hold."""
MAXIMUM_OPTIONS = 20_000
"""So many options are known by their public names before they are made anew."""


@dataclass(frozen=True, slots=True)
class Option:
    """One concrete choice: the alternative and its values, by their public names."""

    do: str
    values: tuple[tuple[str, Any], ...]
    code: tuple[int, tuple[Value, ...]]
    site: OptionSite | None = field(default=None, repr=False, compare=False)
    """Where the game itself made it: there its code is surely what its names say."""

    def as_dict(self) -> dict[str, Any]:
        return {"do": self.do, **dict(self.values)}

    def __getitem__(self, name: str) -> Any:
        return self.as_dict()[name]

    def __str__(self) -> str:
        return " ".join([self.do, *(f"{name}={value}" for name, value in self.values)])


class Options(Sequence[Option]):
    """The legal choices of a decision: behaves as the full list, found as far as it is read."""

    def __init__(self, game: Game, site: AskSite, env: list[Value]) -> None:
        self._game, self._site = game, site
        self._found: list[Option] = []
        self._more: Iterator[tuple[int, tuple[Value, ...]]] | None = game.machine.options(game.state, env, site)

    def _read(self, number: int | None = None) -> None:
        while self._more is not None and (number is None or len(self._found) <= number):
            code = next(self._more, None)
            if code is None:
                self._more = None
            else:
                self._found.append(self._game.option(self._site, code))

    @overload
    def __getitem__(self, index: int) -> Option: ...

    @overload
    def __getitem__(self, index: slice) -> list[Option]: ...

    def __getitem__(self, index: int | slice) -> Option | list[Option]:
        if isinstance(index, slice) or index < 0:
            self._read()
        else:
            self._read(index)
        return self._found[index]

    def __iter__(self) -> Iterator[Option]:
        number = 0
        while True:
            self._read(number)
            if number >= len(self._found):
                return
            yield self._found[number]
            number += 1

    def __len__(self) -> int:
        self._read()
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} options>"


class Decision:
    """A named point where a seat must choose.

    ``actor`` is the seat (from 0), ``context`` the values shown with the decision, ``options`` all legal choices.
    """

    __slots__ = ("_context", "_env", "_game", "_options", "actor", "frame", "offered", "site")

    def __init__(self, game: Game, frame: tuple[Any, ...]) -> None:
        self._game, self.frame = game, frame
        self.site: AskSite = game.machine.asks[frame[0]]
        self._env: list[Value] | None = None
        self._context: dict[str, Any] | None = None
        self._options: Options | None = None
        self.offered: Option | None = None
        """The option that the machine chose, which is surely legal."""
        seat = self.site.ask.seat
        known = type(seat) is c.Local
        self.actor: int = frame[1][seat.index] if known else self.site.seat(game.state, self.env)  # type: ignore[union-attr]

    @property
    def name(self) -> str:
        return self.site.ask.name

    @property
    def env(self) -> list[Value]:
        """The locals of the rule that asks."""
        if self._env is None:
            self._env = list(self.frame[1])
        return self._env

    @property
    def context(self) -> dict[str, Any]:
        if self._context is None:
            names, state = self._game.ruleset.names, self._game.state
            types = {name: value.type for name, value in self.site.ask.context}
            values = ((name, value(state, self.env)) for name, value in self.site.context)
            self._context = {name: names.public(value, types[name]) for name, value in values}
        return self._context

    def offer(self, code: tuple[int, tuple[Value, ...]]) -> Option:
        """The option of a code; if the machine itself chose it by a policy, it need not be looked at again."""
        option = self._game.option(self.site, code)
        if code is self._game.machine.chosen:
            self.offered = option
        return option

    @property
    def options(self) -> Options:
        if self._options is None:
            self._options = Options(self._game, self.site, self.env)
        return self._options

    def __repr__(self) -> str:
        return f"<decision {self.name} of seat {self.actor}>"


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


class Game:
    """One game of a ruleset. Made by :meth:`Ruleset.new_game`."""

    def __init__(
        self,
        ruleset: Ruleset,
        table: Table,
        state: State,
        chance: ChanceSource,
        settings: dict[str, Value],
        origin: dict[str, Any],
    ) -> None:
        self.ruleset = ruleset
        self.table = table
        self.machine = table.machine
        self.state = state
        self.chance = chance
        self.settings = settings
        self.origin = origin
        self.history: tuple[Any, ...] | None = None
        self._decision: Decision | None = None

    @classmethod
    def begin(
        cls,
        ruleset: Ruleset,
        players: int,
        seed: int,
        settings: dict[str, Value],
        chance: ChanceSource | Mapping[str, Any] | None,
    ) -> Game:
        game = cls.seated(ruleset, players, seed, settings, chance)
        game.machine.start(game.state, game.chance)
        return game

    @classmethod
    def seated(
        cls,
        ruleset: Ruleset,
        players: int,
        seed: int,
        settings: dict[str, Value],
        chance: ChanceSource | Mapping[str, Any] | None,
    ) -> Game:
        """A game before its set-up, for who begins it in another way."""
        table = ruleset.table(players, settings)
        source = cls._source(ruleset, seed, chance)
        origin: dict[str, Any] = {"players": players, "seed": seed}
        if isinstance(chance, Mapping):
            origin["chance"] = dict(chance)
        elif isinstance(chance, Scripted):
            origin["chance"] = {name: list(values) for name, values in chance.outcomes.items()}
        game = cls(ruleset, table, table.first.clone(), source, settings, origin)
        game._check_settings()
        return game

    @staticmethod
    def _source(ruleset: Ruleset, seed: int, chance: ChanceSource | Mapping[str, Any] | None) -> ChanceSource:
        if chance is None:
            return Seeded(seed)
        if isinstance(chance, Mapping):
            return Scripted(runtime_chance(ruleset, chance), Seeded(seed))
        if isinstance(chance, Scripted):
            return Scripted(runtime_chance(ruleset, chance.outcomes), chance.then)
        return chance

    def _check_settings(self) -> None:
        """Settings with a `check` pass it, or the line that refuses them is said."""
        for setting in self.ruleset.model.settings.values():
            value = self.settings[setting.name]
            if setting.check is None or value is None:
                continue
            top = self.ruleset.model.rules[setting.check].top
            reasons = refuse(self, top.id, (value,))
            if reasons:
                raise ValueError(f"`{setting.name}`: " + "; ".join(str(reason) for reason in reasons))

    # --- decisions

    @property
    def is_over(self) -> bool:
        return self.state.frame is None

    @property
    def decision(self) -> Decision | None:
        """What is asked now; nothing once the game is over. The same object until a choice is made."""
        if self.state.frame is None:
            return None
        if self._decision is None:
            self.machine.meter.refill()
            self._decision = Decision(self, self.state.frame)
        return self._decision

    def option(self, site: AskSite, code: tuple[int, tuple[Value, ...]]) -> Option:
        """The option of an alternative's number and values. Equal ones are one object, as long as few are known."""
        number, values = code
        option = site.options[number]
        known, key = self.table.options, (id(option), values)
        found = known.get(key)
        if found is None:
            if len(known) >= MAXIMUM_OPTIONS:
                known.clear()
            names = self.ruleset.names
            pairs = zip(option.core.choices, values, strict=True)
            public = tuple((choice.name, names.public(v, choice.type)) for choice, v in pairs)
            types = [choice.type for choice in option.core.choices]
            sure = all(map(self._is_named, values, types))
            found = known[key] = Option(option.name, public, code, option if sure else None)
        return found

    def _is_named(self, value: Value, type_: Type) -> bool:
        """Whether a value has a public name of its own: cards without a key share that of their kind."""
        model = self.ruleset.model
        if type_.form == "card":
            return value is None or model.cards[value].key is not None
        return not has_cards(type_, model.records)

    def accepts(self, choice: Option | Mapping[str, Any]) -> bool:
        """Whether a choice is legal now."""
        try:
            self._legal(choice)
        except IllegalMove:
            return False
        return True

    def offered(self, choice: Option | Mapping[str, Any]) -> Option:
        """The option of a choice by its public names. Raises :class:`IllegalMove`."""
        code = self._legal(choice)
        assert self.state.frame is not None
        return self.option(self.machine.asks[self.state.frame[0]], code)

    def apply(self, choice: Option | Mapping[str, Any]) -> None:
        """Makes a choice and goes on to the next decision. Raises :class:`IllegalMove`, which changes nothing, or
        :class:`RuleFailure`, after which the state is as before the choice."""
        if isinstance(choice, Option) and self._is_sure(choice):
            self._apply(*choice.code, choice)
            return
        option = self.offered(choice)
        self._apply(*option.code, option)

    def _is_sure(self, option: Option) -> bool:
        """Whether an option that the game made itself is legal now: the short way."""
        decision, frame = self._decision, self.state.frame
        if frame is None or option.site is None:
            return False
        if decision is not None and decision.offered is option and decision.frame is frame:
            return True
        number, values = option.code
        options = self.machine.asks[frame[0]].options
        return (
            number < len(options)
            and options[number] is option.site
            and self.machine.accepts(self.state, number, values)
        )

    def _apply(self, number: int, values: tuple[Value, ...], chosen: Option) -> None:
        log = self.state.log
        before = len(log)
        if before > MAXIMUM_RECORDS:
            assert self.state.frame is not None
            place = self.machine.asks[self.state.frame[0]].ask.span
            raise RuleFailure(f"more than {MAXIMUM_RECORDS:,} things happened in this game", place, "R002")
        self.machine.take(self.state, self.chance, number, values)
        self.history = (self.history, log[before][3], chosen)
        self._decision = None

    def _legal(self, choice: Option | Mapping[str, Any]) -> tuple[int, tuple[Value, ...]]:
        from interpreter.engine.refusal import legal_choice

        return legal_choice(self, choice)

    @property
    def choices(self) -> list[tuple[int, dict[str, Any]]]:
        """All choices since the game began: the seat and the choice."""
        found = []
        history = self.history
        while history is not None:
            history, actor, option = history
            found.append((actor, option.as_dict()))
        return found[::-1]

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
        counts = self.machine.constants.statics["seat.counts"]
        players = [own for own, counted in zip(keys, counts, strict=True) if counted]
        places = tuple(
            1 + sum(other > own for other in players) if counted else 0
            for own, counted in zip(keys, counts, strict=True)
        )
        return Result(places, tuple(keys))

    # --- copies and undo

    def clone(self) -> Game:
        """The same game at the same decision, without the log; both can be played on."""
        copy = Game(self.ruleset, self.table, self.state.clone(), self.chance, self.settings, self.origin)
        copy.history = self.history
        return copy

    def undo(self) -> bool:
        """Back to the last decision of this object; false where there is none."""
        if undo(self.state) is None:
            return False
        self._decision = None
        if self.history is not None:
            self.history = self.history[0]
        return True

    def digest(self) -> str:
        """A fingerprint of the state: equal games have equal digests, on every machine."""
        return self.state.digest()

    def check(self) -> list[str]:
        """What is wrong with the state: nothing, as long as tokens, cards and pieces change place by moves alone."""
        return broken(self.table.census, self.state)

    # --- what may be seen

    def view(self, player: int | None = None) -> dict[str, Any]:
        """The state by public names, as the player may see it (without a player: all of it)."""
        from interpreter.engine.show import view_of

        return view_of(self, player)

    def log(self, player: int | None = None, language: str = "en") -> list[Line]:
        """What happened, as lines that the player may read, since this object was made."""
        from interpreter.engine.show import lines_of

        return lines_of(self, player, language)

    # --- saves

    def to_json(self) -> str:
        """The whole game as text: where it comes from, its choices, its state."""
        decision = self.decision
        saved = {
            "save": SAVE_VERSION,
            "ruleset": self.ruleset.id,
            "overlays": [d.id for d in self.ruleset.composition.documents if d.kind == "overlay"],
            "digest": self.ruleset.digest,
            **self.origin,
            "settings": self._public_settings(),
            "choices": [{"by": actor, **choice} for actor, choice in self.choices],
            "decision": decision.name if decision else None,
            "state": self._state_json(),
        }
        return json.dumps(saved, ensure_ascii=False, separators=(",", ":"))

    def _public_settings(self) -> dict[str, Any]:
        model, names = self.ruleset.model, self.ruleset.names
        found: dict[str, Any] = {}
        for name, setting in model.settings.items():
            if self.settings[name] is not None:
                found[name] = names.public(self.settings[name], setting.type)
        for name, doubt in model.interpretations.items():
            found[name] = list(doubt.readings)[self.settings[name]]
        return found

    def _state_json(self) -> dict[str, Any]:
        return {"cells": as_json(tuple(self.state.cells)), "frame": self._frame_json(self.state.frame)}

    def _frame_json(self, frame: Any) -> Any:
        if frame is None:
            return None
        index, locals_, up, into = frame
        return [self._stretch_id(index), as_json(tuple(locals_)), self._frame_json(up), into]

    def _stretch_id(self, index: int) -> str:
        stretches = self.ruleset.program.stretches
        return stretches[index].id if index < len(stretches) else f"!{index - len(stretches)}"

    @classmethod
    def from_json(cls, ruleset: Ruleset, text: str) -> Game:
        """A saved game: its choices are made again, and lead to the state that was saved.

        ``ValueError`` says what is wrong: the text is no save, or is damaged, or the ruleset has changed since, so that
        a choice no longer fits; then the first one is named, with the rule and its reason.
        """
        saved = _save_of(text)
        ruleset = ruleset.for_players(saved["players"])
        changed = saved["digest"] != ruleset.digest
        what = "the ruleset has changed" if changed else "this save is damaged"
        try:
            game = ruleset.new_game(saved["players"], saved["seed"], saved.get("settings"), saved.get("chance"))
            for number, choice in enumerate(saved["choices"], 1):
                game._again(number, choice)
        except RuleFailure as failure:
            raise ValueError(f"{what}: {failure}") from None
        except _Different as different:
            raise ValueError(f"{what}: {different}") from None
        if not changed:
            game._check_saved(saved.get("state"))
        return game.clone()

    def _again(self, number: int, choice: dict[str, Any]) -> None:
        """Makes a choice of a save."""
        decision = self.decision
        if decision is None:
            raise _Different(f"the game is over before choice {number} of the save")
        if decision.actor != choice["by"]:
            rule = decision.site.procedure.split("@")[0]
            now = f"seat {decision.actor} decides `{decision.name}` (rule `{rule}`)"
            raise _Different(f"at choice {number} {now}, not seat {choice['by']}")
        try:
            self.apply({name: value for name, value in choice.items() if name != "by"})
        except IllegalMove as error:
            raise _Different(f"choice {number} is refused: {error}") from None

    def _check_saved(self, state: Any) -> None:
        """The state of a save is the one that its choices lead to."""
        mine = self._state_json()
        if state == mine:
            return
        cells = state.get("cells") if isinstance(state, dict) else None
        if not isinstance(cells, list) or len(cells) != len(mine["cells"]):
            raise ValueError("this save is damaged: its state has not the form of this ruleset")
        for cell, (theirs, own) in enumerate(zip(cells, mine["cells"], strict=True)):
            if theirs != own:
                where = self.table.census.name(cell)
                raise ValueError(f"this save is damaged: {where} is not what the choices lead to")
        raise ValueError("this save is damaged: it waits for another decision than the choices lead to")


class _Different(Exception):
    """A choice of a save that cannot be made again."""


def _save_of(text: str) -> dict[str, Any]:
    """What a save says, in the form that it must have."""
    if len(text) > MAXIMUM_SAVE:
        raise ValueError(f"this is no saved game: it has more than {MAXIMUM_SAVE:,} characters")
    try:
        saved = json.loads(text)
    except (ValueError, RecursionError):
        saved = None
    if not isinstance(saved, dict) or "save" not in saved:
        raise ValueError("this is no saved game")
    if saved["save"] != SAVE_VERSION:
        shown = saved["save"] if isinstance(saved["save"], int) else "?"
        raise ValueError(f"a save of version {shown}; this reads version {SAVE_VERSION}")
    number = saved.get("players"), saved.get("seed")
    right = all(isinstance(each, int) and not isinstance(each, bool) for each in number)
    right &= isinstance(saved.get("digest"), str) and isinstance(saved.get("settings", {}), dict)
    right &= isinstance(saved.get("choices"), list)
    if not right or not all(_is_choice(choice) for choice in saved["choices"]):
        raise ValueError("this save is damaged: players, seed, settings or choices are not as they should be")
    chance = saved.get("chance", {})
    if not isinstance(chance, dict) or not all(isinstance(outcomes, list) for outcomes in chance.values()):
        raise ValueError("this save is damaged: `chance` is not outcomes by name")
    return saved


def _is_choice(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("by"), int) and isinstance(choice.get("do"), str)


def runtime_chance(ruleset: Ruleset, outcomes: Mapping[str, Any]) -> dict[str, list[Value]]:
    """Outcomes by public names as the game holds them, by the type of what each chance shuffles or picks."""
    types = chance_types(ruleset)
    found: dict[str, list[Value]] = {}
    for name, entries in outcomes.items():
        if name not in types:
            from interpreter.base.suggest import did_you_mean

            raise ValueError(f"`{ruleset.id}` has no chance called `{name}`{did_you_mean(name, types)}")
        shuffle, type_ = types[name]
        values: list[Value] = []
        for entry in entries:
            if shuffle and not isinstance(entry, list | tuple):
                raise ValueError(f"`{name}`: got {entry!r}, want the first items in their order")
            if shuffle:
                values.append(tuple(ruleset.names.value(item, type_) for item in entry))
            else:
                values.append(ruleset.names.value(entry, type_))
        found[name] = values
    return found


def chance_types(ruleset: Ruleset) -> dict[str, tuple[bool, Type]]:
    """Each named chance: whether it shuffles (else it picks), and the type of an item."""
    found: dict[str, tuple[bool, Type]] = {}
    for layer in ruleset.program.reach.procedures.values():
        for node in descendants(layer.body):
            if isinstance(node, c.Shuffles):
                found[node.chance] = (True, Type("card", node.zone.type.name))
            elif isinstance(node, c.Picks) and node.items.type.of is not None:
                found[node.chance] = (False, node.items.type.of)
    return found
