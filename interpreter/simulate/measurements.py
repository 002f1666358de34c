"""Measurements of a game: the numbers of its ruleset's `measures`.

A module measures the whole games that it plays (:mod:`interpreter.compiler.codegen.measure_functions`); the result is
unpacked lazily (:class:`Packed`). Other games are measured after they end, at no cost during play: the log records
every change, so it is undone step by step from the end, and each number is taken from the state at its moment or event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

from msgspec import Struct

from interpreter.base.plain_data import grouped
from interpreter.compiler.codegen.measure_functions import MEASURE, OF_BITS, ROUND, ROUND_BITS, parts_if_any
from interpreter.compiler.codegen.shapes import NO_NUMBER
from interpreter.compiler.wasm.driver import KIND
from interpreter.compiler.wasm.whole_games import Whole
from interpreter.engine.game import Game
from interpreter.engine.log_records import Event, Mark, read
from interpreter.engine.values import Names
from interpreter.kernel.effects import has_ended, put_back
from interpreter.kernel.state import State, Value
from interpreter.language.model import Measure, Model
from interpreter.language.types import BoolType, IntType
from interpreter.plain.closures import Env, Evaluate
from interpreter.plain.machine import Machine, combinations

__all__ = ["Decoder", "Head", "Packed", "Taken", "reading", "taken", "taking"]

Head = tuple[int, str, int, tuple[object, ...]]
"""Subject of a sum: the kind, the measure, the round, and the thing. In a table whose things belong to seats, the round
is 0 without a result, 1 if the seat has lost, and one more than the number of winners if it has won; the thing has its
seat only if the measure sums."""


class Taken(Struct, frozen=True, gc=False):
    """A measurement: its round, its subject (public names of the measure's keys) and its value."""

    round: int
    of: tuple[Value, ...]
    value: int | None


@dataclass(eq=False)
class Decoder:
    """Decoder of the records and sums of a module.

    ``parts`` has the parts of each measure's keys: shift, mask, the value that 0 stands for, and the public name of
    each value (None: the value itself).
    """

    names: tuple[str, ...]
    parts: tuple[tuple[tuple[int, int, int, tuple[object, ...] | None], ...], ...]
    _heads: dict[int, Head] = field(default_factory=dict, init=False)

    def __reduce__(self) -> tuple[type[Decoder], tuple[object, ...]]:
        return Decoder, (self.names, self.parts)

    def of(self, measure: int, thing: int) -> tuple[object, ...]:
        """Return the subjects of a number by their public names."""
        digits = ((thing >> shift & mask, low, names) for shift, mask, low, names in self.parts[measure])
        return tuple(names[digit] if names else digit + low if digit else None for digit, low, names in digits)

    def records(self, data: bytes) -> dict[str, list[Taken]]:
        """Return all records by measure."""
        words = memoryview(data).cast("q")
        records: dict[str, list[Taken]] = {name: [] for name in self.names}
        known, head = self._heads.get, self.head
        for key, value in zip(words[::2], words[1::2], strict=True):
            _, name, round_, of = known(key) or head(key)
            records[name].append(Taken(round_, of, None if value == NO_NUMBER else value))
        return records

    def head(self, key: int) -> Head:
        """Return the subjects of the record or sum under a key."""
        if key not in self._heads:
            kind, measure = key >> KIND & 3, key >> MEASURE & 255
            round_, thing = key >> ROUND & (1 << ROUND_BITS) - 1, key & (1 << OF_BITS) - 1
            self._heads[key] = kind, self.names[measure], round_, self.of(measure, thing)
        return self._heads[key]


class Packed(Mapping[str, list[Taken]]):
    """Measurements of one game by a module, by measure, decoded on first access."""

    def __init__(self, reading: Decoder, records: bytes) -> None:
        self.reading, self._records = reading, records

    @cached_property
    def _unpacked(self) -> dict[str, list[Taken]]:
        return self.reading.records(self._records)

    def __getitem__(self, name: str) -> list[Taken]:
        return self._unpacked[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reading.names)

    def __len__(self) -> int:
        return len(self.reading.names)

    def __reduce__(self) -> tuple[object, ...]:
        return Packed, (self.reading, self._records)

    def __repr__(self) -> str:
        return repr(self._unpacked)


def reading(whole: Whole, model: Model, names: Names) -> Decoder:
    """Return the decoder of a module's measurements."""
    shapes, parts = whole.built.builder.shapes, []
    for measure in model.measures:
        keys = []
        for part in parts_if_any(shapes, measure):
            public = None
            if not isinstance(part.type, IntType):
                numbers = range(shapes.count(part.type))
                values = map(bool, numbers) if isinstance(part.type, BoolType) else numbers
                public = (None, *(names.public(value, part.type) for value in values))
            keys.append((part.shift, part.mask, part.low, public))
        parts.append(tuple(keys))
    return Decoder(tuple(measure.name for measure in model.measures), tuple(parts))


class _Gauge(Struct, frozen=True):
    """A compiled measure. ``each`` are the loop variables: locals with the lists that they iterate over."""

    measure: Measure
    each: tuple[tuple[int, Callable[..., Value]], ...]
    test: Evaluate | None
    value: Evaluate

    def take(
        self, state: State, arguments: tuple[Value, ...], names: Names
    ) -> Iterator[tuple[tuple[Value, ...], int | None]]:
        env: Env = [*arguments, *([None] * (self.measure.local_count + 1 - len(arguments)))]
        for _ in combinations(state, env, self.each):
            if self.test is None or self.test(state, env):
                value = self.value(state, env)
                of = tuple(names.public(env[key.local], key.type) for key in self.measure.keys)
                yield of, None if value is None else int(value)


Gauges = tuple[dict[str, list[_Gauge]], dict[str, list[_Gauge]]]
_gauges: WeakKeyDictionary[Machine, Gauges] = WeakKeyDictionary()


def _gauges_of(machine: Machine, model: Model) -> Gauges:
    """Return the gauges of each moment and event. Cached, as all games of a table share them."""
    if (cached := _gauges.get(machine)) is not None:
        return cached
    expressions = machine.expressions
    gauges = [
        _Gauge(
            measure,
            tuple((local, expressions.items(items)) for local, items in measure.each),
            expressions.compile(measure.test) if measure.test is not None else None,
            expressions.compile(measure.value),
        )
        for measure in model.measures
    ]
    moments = grouped((moment, gauge) for gauge in gauges for moment in gauge.measure.when)
    events = grouped((gauge.measure.event, gauge) for gauge in gauges if gauge.measure.event is not None)
    return _gauges.setdefault(machine, (moments, events))


def taken(game: Game) -> dict[str, list[Taken]]:
    """Return all measurements of a game by measure, in chronological order. The game is not changed."""
    return deque(taking(game), maxlen=1)[0]


def taking(game: Game) -> Iterator[dict[str, list[Taken]]]:
    """Take the measurements in steps; the last one yields what :func:`taken` returns."""
    machine, names = game.machine, game.ruleset.names
    moments, events = _gauges_of(machine, game.ruleset.model)
    results: dict[str, list[Taken]] = {measure.name: [] for measure in game.ruleset.model.measures}
    round_ = machine.constants.layout.base["round"]
    state = game.state.clone()
    cells = state.cells
    marks = (mark for record in game.state.log if isinstance(mark := read(record), Mark))
    ended = {mark.number for mark in marks if mark.word == "end of round"}
    for record in reversed(game.state.log):
        entry = read(record)
        first = entry is None or has_ended(record)
        if first:
            put_back(cells, record)
        due: Sequence[_Gauge] = ()
        values: tuple[Value, ...] = ()
        match entry:
            case Event():
                due, values = events.get(entry.name, ()), tuple(entry.values)
            case Mark("end of game", number) if number not in ended:  # the last round ends with the game
                at_end = moments.get("end of game", ())
                due = [
                    *moments.get("end of round", ()),
                    *(gauge for gauge in at_end if "end of round" not in gauge.measure.when),
                ]
            case Mark():
                due = moments.get(entry.word, ())
        if due:
            state.forget()
            for gauge in due:
                machine.meter.refill()
                measured = [Taken(cells[round_], of, value) for of, value in gauge.take(state, values, names)]
                results[gauge.measure.name].extend(reversed(measured))
            yield results
        if not first:
            put_back(cells, record)
    yield {name: numbers[::-1] for name, numbers in results.items()}
