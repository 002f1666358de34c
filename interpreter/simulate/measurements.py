"""Measurements of a game: the numbers of its ruleset's `measures`.

A game that a module plays whole is measured there (:mod:`interpreter.compiler.build.measure_functions`), and what comes
back is unpacked when somebody looks at it: :class:`Packed`. Of any other game the log is read, which knows what each
change changed. So nothing is done while such a game is played: once it is over, the log is walked back from the end,
and each number is taken where the game stood at that moment or event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

from interpreter.compiler.constants import Env, Evaluate
from interpreter.compiler.wasm.compiled_machine import CompiledMachine
from interpreter.compiler.wasm.whole_games import Facts, Whole
from interpreter.engine.game import Game
from interpreter.engine.log_records import Event, Mark, read
from interpreter.engine.values import Names
from interpreter.kernel.effects import has_ended, put_back
from interpreter.kernel.state import State, Value
from interpreter.language.model import Measure, Model
from interpreter.language.types import BoolType, IntType

__all__ = ["Packed", "Taken", "reading", "taken"]


class Taken(NamedTuple):
    """A number that was taken: in which round, of what (the keys of the measure, by their public names), and it."""

    round: int
    of: tuple[Value, ...]
    value: int | None


class Packed(Mapping[str, list[Taken]]):
    """The numbers of one game as a module took them, by measure."""

    __slots__ = ("_found", "_records", "reading")

    def __init__(self, reading: Facts, records: bytes) -> None:
        self.reading, self._records = reading, records
        self._found: dict[str, list[Taken]] | None = None

    def _unpacked(self) -> dict[str, list[Taken]]:
        if self._found is None:
            names = self.reading.names
            found: dict[str, list[Taken]] = {name: [] for name in names}
            for measure, number, of, value in self.reading.records(self._records):
                found[names[measure]].append(Taken(number, of, value))
            self._found = found
        return self._found

    def __getitem__(self, name: str) -> list[Taken]:
        return self._unpacked()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reading.names)

    def __len__(self) -> int:
        return len(self.reading.names)

    def __reduce__(self) -> tuple[object, ...]:
        return Packed, (self.reading, self._records)

    def __repr__(self) -> str:
        return repr(self._unpacked())


def reading(whole: Whole, model: Model, names: Names) -> Facts:
    """Return the decoder of a module's measurements."""
    parts = []
    for measure in model.measures:
        found = []
        for part in whole.parts(measure):
            known = None
            if not isinstance(part.type, IntType):
                values = (bool(n) if isinstance(part.type, BoolType) else n for n in range(whole.domain(part)))
                known = (None, *(names.public(value, part.type) for value in values))
            found.append((part.shift, part.mask, part.low, known))
        parts.append(tuple(found))
    return Facts(tuple(measure.name for measure in model.measures), tuple(parts))


@dataclass(frozen=True)
class _Gauge:
    """A measure, ready to be taken by a machine. ``each`` are the locals that take every item of a list."""

    measure: Measure
    each: tuple[tuple[int, Callable[..., Value]], ...]
    test: Evaluate | None
    value: Evaluate

    def take(
        self, state: State, given: tuple[Value, ...], names: Names
    ) -> Iterator[tuple[tuple[Value, ...], int | None]]:
        env: Env = [*given, *([None] * (self.measure.local_count + 1 - len(given)))]
        for _ in self._items(state, env, 0):
            if self.test is None or self.test(state, env):
                value = self.value(state, env)
                of = tuple(names.public(env[key.local], key.type) for key in self.measure.keys)
                yield of, None if value is None else int(value)

    def _items(self, state: State, env: Env, place: int) -> Iterator[None]:
        """All combinations of the items, one after another in their locals."""
        if place == len(self.each):
            yield
            return
        local, items = self.each[place]
        for item in items(state, env):
            env[local] = item
            yield from self._items(state, env, place + 1)


Gauges = tuple[dict[str, list[_Gauge]], dict[str, list[_Gauge]]]
_gauges: WeakKeyDictionary[CompiledMachine, Gauges] = WeakKeyDictionary()


def _gauges_of(machine: CompiledMachine, model: Model) -> Gauges:
    """Return the gauges of each moment and event; the same for all games of a table."""
    known = _gauges.get(machine)
    if known is not None:
        return known
    moments: dict[str, list[_Gauge]] = {}
    events: dict[str, list[_Gauge]] = {}
    expressions = machine.expressions
    for measure in model.measures:
        gauge = _Gauge(
            measure,
            tuple((local, expressions.items(items)) for local, items in measure.each),
            expressions.compile(measure.test) if measure.test is not None else None,
            expressions.compile(measure.value),
        )
        for moment in measure.when:
            moments.setdefault(moment, []).append(gauge)
        if measure.event is not None:
            events.setdefault(measure.event, []).append(gauge)
    _gauges[machine] = moments, events
    return moments, events


def taken(game: Game) -> dict[str, list[Taken]]:
    """All numbers of a game by measure, in the order in which they were taken. The game stays as it is."""
    machine, names = game.machine, game.ruleset.names
    moments, events = _gauges_of(machine, game.ruleset.model)
    found: dict[str, list[Taken]] = {measure.name: [] for measure in game.ruleset.model.measures}
    round_ = machine.constants.layout.base["round"]
    state = game.state.clone()
    cells = state.cells
    marks = (mark for record in game.state.log if isinstance(mark := read(record), Mark))
    ended = {mark.number for mark in marks if mark.word == "end of round"}
    for record in reversed(game.state.log):
        happened = read(record)
        first = happened is None or has_ended(record)
        if first:
            put_back(cells, record)
        due: Sequence[_Gauge] = ()
        values: tuple[Value, ...] = ()
        match happened:
            case Event():
                due, values = events.get(happened.name, ()), tuple(happened.values)
            case Mark("end of game", number) if number not in ended:  # its last round ends with it
                at_end = moments.get("end of game", ())
                due = [
                    *moments.get("end of round", ()),
                    *(gauge for gauge in at_end if "end of round" not in gauge.measure.when),
                ]
            case Mark():
                due = moments.get(happened.word, ())
        if due:
            state.forget()
            for gauge in due:
                machine.meter.refill()
                here = [Taken(cells[round_], of, value) for of, value in gauge.take(state, values, names)]
                found[gauge.measure.name].extend(reversed(here))
        if not first:
            put_back(cells, record)
    return {name: numbers[::-1] for name, numbers in found.items()}
