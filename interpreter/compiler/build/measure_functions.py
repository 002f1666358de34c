"""Measure functions of a module: one for each moment and event at which something is measured.

``$record`` adds a number to the module's records: a key of 64 bits and the value. The key has the number of the
measure, the round, and the subjects, each in its own bits (:class:`KeyPart`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from interpreter.base.frozen import dataclass
from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import NO_NUMBER, Shapes, Unsupported
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.model import Measure
from interpreter.language.types import SEAT, IntType, NeverType, NoneType, TextType, Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["MEASURE", "OF_BITS", "ROUND", "ROUND_BITS", "KeyPart", "Measures", "key_parts"]

OF_BITS, ROUND_BITS, MEASURE_BITS = 40, 14, 8
ROUND, MEASURE = OF_BITS, OF_BITS + ROUND_BITS
"""First bits of the round and of the number of the measure in a key; the subjects are below the round."""
NUMBER_BITS = 16
"""Number of bits of a subject that is a number; half of the range is negative."""


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A subject of a measure in a key. ``low`` is the value that 0 stands for (if that is none: -1)."""

    type: Type
    shift: int
    bits: int
    low: int

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1


def key_parts(shapes: Shapes, measure: Measure) -> tuple[KeyPart, ...]:
    """Return the parts of a measure's keys; raise :class:`Unsupported` if they do not fit."""
    parts = []
    shift = 0
    for key in measure.keys:
        if not shapes.is_scalar(key.type) or isinstance(key.type, TextType):
            raise Unsupported(f"a measure by {key.type}")
        if isinstance(key.type, IntType):
            bits, low = NUMBER_BITS, -(1 << NUMBER_BITS - 1)
        else:
            if not (domain := shapes.domain(key.type)):
                raise Unsupported(f"a measure by {key.type}")
            bits, low = domain.bit_length(), -1
        parts.append(KeyPart(key.type, shift, bits, low))
        shift += bits
    if shift > OF_BITS:
        raise Unsupported("a measure with too many subjects")
    return tuple(parts)


class Measures:
    """Builds the functions that measure."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.shapes, self.model = module, module.shapes, module.constants.model

    @cached_property
    def by_moment(self) -> dict[str, list[int]]:
        """The measures of each moment. If the end of the game cuts the last round short, that round ends with it."""
        numbers: dict[str, list[int]] = {}
        for number, measure in enumerate(self.model.measures):
            for moment in measure.when:
                numbers.setdefault(moment, []).append(number)
        at_end = numbers.get("end of round", [])
        last = [number for number in numbers.get("end of game", ()) if number not in at_end]
        if at_end or last:
            numbers["end of game"] = [*at_end, *last]
        return numbers

    @cached_property
    def by_event(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, measure in enumerate(self.model.measures):
            if measure.event is not None:
                numbers.setdefault(measure.event, []).append(number)
        return numbers

    # --- moments and events

    def at(self, b: FunctionBuilder, moment: str) -> None:
        """Measure at this moment, if measuring is on."""
        if moment == "end of game" and self.model.ranking:
            b.add(ops.Do(ops.Call(self._ranking(), ())))
        if moment in self.by_moment:
            call = ops.Do(ops.Call(self._moment(moment), ()))
            b.add(ops.If(ops.Global("measuring"), (call,)))

    def at_phase(self, b: FunctionBuilder, edge: str, phase: ops.Value) -> None:
        """Measure at the start or end of a phase, given by its number."""
        for number, name in enumerate(self.model.phases):
            moment = f"{edge} of {name}"
            if moment in self.by_moment:
                with b.when(phase.equals(number)):
                    self.at(b, moment)

    def happens(self, b: FunctionBuilder, x: Expressions, event: str, arguments: Sequence[core.Expression]) -> None:
        """Measure at an event with these values."""
        if event not in self.by_event:
            return
        types = self.model.events[event].fields.values()
        with b.when(ops.Global("measuring")):
            values = tuple(b.kept(x.value(argument, type_)) for argument, type_ in zip(arguments, types, strict=True))
            b.add(ops.Do(ops.Call(self._event(event), values)))

    # --- functions

    def _moment(self, moment: str) -> str:
        name = self.module.name("measured", moment)

        def build(b: FunctionBuilder) -> None:
            for number in self.by_moment[moment]:
                self._take(b, number, ())

        return self.module.request(name, lambda: self.module.made(name, (), None, build))

    def _event(self, event: str) -> str:
        name = self.module.name("measured", f"on {event}")
        types = self.model.events[event].fields.values()
        parameters = tuple(ops.Var(f"p{i}", self.shapes.rep(type_)) for i, type_ in enumerate(types))

        def build(b: FunctionBuilder) -> None:
            for number in self.by_event[event]:
                self._take(b, number, parameters)

        return self.module.request(name, lambda: self.module.made(name, parameters, None, build))

    def _take(self, b: FunctionBuilder, number: int, parameters: Sequence[ops.Var]) -> None:
        """Record a number for each combination of items that passes the test."""
        measure = self.model.measures[number]
        parts = key_parts(self.shapes, measure)
        b.locals = dict(enumerate(parameters))
        b.span = measure.span
        x = Expressions(b)

        def tested(values: list[ops.Var]) -> None:
            with x.loops.when(measure.test):
                self._record(b, x, number, measure, parts)

        x.loops.combinations(measure.each, tested)

    def _record(
        self, b: FunctionBuilder, x: Expressions, number: int, measure: Measure, parts: Sequence[KeyPart]
    ) -> None:
        value = self._number(b, x.value(measure.value), measure.value.type)
        round_ = b.kept(ops.Load(ZERO, b.memory.groups["round"].address, "i64", "round"))
        limit = ops.Constant(1 << ROUND_BITS, "i64")
        b.fail_if(round_ >= limit, "a number in so late a round")
        record_key = ops.Constant(number << MEASURE, "i64") | _shifted(round_, ROUND)
        for key, part in zip(measure.keys, parts, strict=True):
            item = b.read_local(key.local, part.type)
            if item.rep == "i32":
                digit: ops.Value = ops.ToNumber(item) - part.low
            else:
                digit = self._bounded(b, b.kept(item), part)
            record_key = record_key | _shifted(digit, part.shift)
        b.do("record", record_key, value)

    def _bounded(self, b: FunctionBuilder, number: ops.Value, part: KeyPart) -> ops.Value:
        """Return the digit of a subject that is a number; none is 0."""
        digit = b.kept(number - part.low)
        none = number.equals(NO_NUMBER)
        out = ops.Select(digit < 1, ops.Not(none), digit > part.mask)
        b.fail_if(out, "a number that tells values apart is too large")
        return ops.Select(none, ops.Constant(0, "i64"), digit)

    def _number(self, b: FunctionBuilder, value: ops.Value, type_: Type) -> ops.Value:
        """Convert a value to a 64-bit number; none becomes NO_NUMBER."""
        if isinstance(type_, NoneType | NeverType):
            return ops.Constant(NO_NUMBER, "i64")
        value = b.kept(value)
        if value.rep == "i64":
            return ops.ToNumber(ops.ToWord(value, True))
        if not type_.optional:
            return ops.ToNumber(value)
        return ops.Select(b.is_none(value, type_), ops.Constant(NO_NUMBER, "i64"), ops.ToNumber(value))

    def _ranking(self) -> str:
        """Return the name of the function that writes the ranking keys of all seats, seat by seat."""
        name = self.module.name("ranking", "")

        def build(b: FunctionBuilder) -> None:
            b.do("ranks_anew")
            for seat in self.module.constants.seats:
                for key in self.model.ranking:
                    var = b.var(self.shapes.rep(SEAT), "seat")
                    b.set(var, ops.Constant(seat))
                    b.locals = {0: var}
                    if not self.shapes.is_scalar(key.type) or isinstance(key.type, TextType):
                        raise Unsupported(f"a rank that is a {key.type}")
                    b.do("ranked", self._number(b, Expressions(b).value(key), key.type))

        return self.module.request(name, lambda: self.module.made(name, (), None, build))


def _shifted(value: ops.Value, bits: int) -> ops.Value:
    return value << bits if bits else value
