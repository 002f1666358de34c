"""What is measured in a game: the numbers that the `measures` of its ruleset take, read off its log.

The log knows what each change changed. So nothing is done while a game is played: once it is over, the log is walked
back from the end, and each number is taken where the game stood at that moment or event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from interpreter.compiler.build.shapes import NO_NUMBER
from interpreter.compiler.constants import Env, Evaluate
from interpreter.compiler.wasm.machine import CompiledMachine
from interpreter.engine.game import Game
from interpreter.engine.values import Names
from interpreter.kernel.effects import MARK, MOVE, NOTE, PUT, has_ended, put_back
from interpreter.kernel.state import State, Value
from interpreter.language.model import Measure, Model
from interpreter.language.types import Type

__all__ = ["Taken", "read", "taken"]


class Taken(NamedTuple):
    """A number that was taken: in which round, of what (the keys of the measure, by their public names), and it."""

    round: int
    of: tuple[Any, ...]
    value: int | None


def read(words: Sequence[int], machine: CompiledMachine, names: Names) -> dict[str, list[Taken]]:
    """The numbers that a module has taken in a game, from their words: see
    :mod:`interpreter.compiler.build.measures`."""
    found: dict[str, list[Taken]] = {measure.name: [] for measure in names.model.measures}
    readers = [(found[name].append, keys, known) for name, keys, known in _readers(machine, names)]
    at = 0
    while at < len(words):
        into, keys, known = readers[words[at]]
        end = at + 2 + len(keys)
        of = tuple(words[at + 2 : end])
        public = known.get(of)
        if public is None:
            module = machine.module
            assert module is not None
            values = (module.codec.scalar(word, type_) for word, type_ in zip(of, keys, strict=True))
            public = known[of] = tuple(names.public(v, type_) for v, type_ in zip(values, keys, strict=True))
        value = words[end]
        into(_made((words[at + 1], public, None if value == NO_NUMBER else value)))
        at = end + 1
    return found


_made = partial(tuple.__new__, Taken)
_Reader = tuple[str, tuple[Type, ...], dict[tuple[int, ...], tuple[Any, ...]]]
_known_readers: WeakKeyDictionary[CompiledMachine, list[_Reader]] = WeakKeyDictionary()


def _readers(machine: CompiledMachine, names: Names) -> list[_Reader]:
    """For each measure its name, the types of its keys, and public names of keys by their words."""
    found = _known_readers.get(machine)
    if found is None:
        measures = names.model.measures
        found = [(measure.name, tuple(key.type for key in measure.keys), {}) for measure in measures]
        _known_readers[machine] = found
    return found


@dataclass(frozen=True)
class _Gauge:
    """A measure, ready to be taken by a machine. ``each`` are the locals that take every item of a list."""

    measure: Measure
    each: tuple[tuple[int, Callable[..., Any]], ...]
    test: Evaluate | None
    value: Evaluate

    def take(
        self, state: State, given: tuple[Value, ...], names: Names
    ) -> Iterator[tuple[tuple[Any, ...], int | None]]:
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
    """What is to be taken at a moment, and what when an event happens; the same for all games of a table."""
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
    ended = {record[3] for record in game.state.log if record[0] == MARK and record[2] == "end of round"}
    for record in reversed(game.state.log):
        sort = record[0]
        first = sort in (PUT, MOVE) or has_ended(record)
        if first:
            put_back(cells, record)
        due = moments.get(record[2]) if sort == MARK else events.get(record[2]) if sort == NOTE else None
        if sort == MARK and record[2] == "end of game" and record[3] not in ended:  # its last round ends with it
            due = [
                *moments.get("end of round", ()),
                *(each for each in due or () if "end of round" not in each.measure.when),
            ]
        if due:
            state.forget()
            for gauge in due:
                machine.meter.refill()
                given = record[4:] if sort == NOTE else ()
                here = [Taken(cells[round_], of, value) for of, value in gauge.take(state, given, names)]
                found[gauge.measure.name].extend(reversed(here))
        if not first:
            put_back(cells, record)
    return {name: numbers[::-1] for name, numbers in found.items()}
