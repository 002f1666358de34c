"""Measure functions of a module: one for each moment and event at which something is measured.

``$record`` adds a number to the module's records: a key of 64 bits and the value. The key has the number of the
measure, the round, and the subjects, each in its own bits (:class:`KeyPart`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from interpreter.compiler.codegen.expressions import Expressions
from interpreter.compiler.codegen.shapes import NO_NUMBER, Shapes, Unsupported
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.model import Measure
from interpreter.language.types import SEAT, IntType, NeverType, NoneType, TextType, Type

__all__ = ["MEASURE", "OF_BITS", "ROUND", "ROUND_BITS", "KeyPart", "Measures", "parts_if_any"]

OF_BITS, ROUND_BITS = 40, 14
ROUND, MEASURE = OF_BITS, OF_BITS + ROUND_BITS
"""First bits of the round and of the number of the measure in a key; the subjects are below the round."""
NUMBER_BITS = 16
"""Number of bits of a subject that is a number; half of the range is negative."""


class KeyPart(Struct, frozen=True):
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
            if not (count := shapes.count(key.type)):
                raise Unsupported(f"a measure by {key.type}")
            bits, low = count.bit_length(), -1
        parts.append(KeyPart(key.type, shift, bits, low))
        shift += bits
    if shift > OF_BITS:
        raise Unsupported("a measure with too many subjects")
    return tuple(parts)


def parts_if_any(shapes: Shapes, measure: Measure) -> tuple[KeyPart, ...]:
    """Return the parts of a measure's keys; none if they do not fit, which is reported when it is measured."""
    try:
        return key_parts(shapes, measure)
    except Unsupported:
        return ()


class Measures(Expressions):
    """Builds what measures, if measuring is on."""

    def measure_at(self, moment: str) -> None:
        if measures := self._measures_at(moment):
            name = self._measuring(moment, measures, ())
            with self.when(ops.Global("measuring")):
                self.do(name)

    def measure_event(self, event: str, arguments: Sequence[core.Expression]) -> None:
        measures = [number for number, measure in enumerate(self.model.measures) if measure.event == event]
        if not measures:
            return
        types = tuple(self.model.events[event].fields.values())
        with self.when(ops.Global("measuring")):
            values = [self.kept(self.value(node, type_)) for node, type_ in zip(arguments, types, strict=True)]
            self.do(self._measuring(f"on {event}", measures, types), *values)

    def _measures_at(self, moment: str) -> list[int]:
        """Return the measures of a moment. The last round ends with the game."""
        found = [number for number, measure in enumerate(self.model.measures) if moment in measure.when]
        if moment == "end of game":
            at_end = self._measures_at("end of round")
            return [*at_end, *(number for number in found if number not in at_end)]
        return found

    # --- functions

    def _measuring(self, subject: str, measures: Sequence[int], types: Sequence[Type]) -> str:
        """Return the name of the function that takes these measures, given the values of an event."""
        parameters = self.shapes.parameters(types)

        def build(b: Measures) -> None:
            for number in measures:
                b.locals = dict(enumerate(parameters))
                b._take(number, self.model.measures[number])

        return self.named("measured", subject, parameters, None, build)

    def _take(self, number: int, measure: Measure) -> None:
        parts = key_parts(self.shapes, measure)
        self.span = measure.span

        def record(values: Sequence[ops.Value]) -> None:
            value = self.as_number(self.value(measure.value), measure.value.type)
            self.do("record", self._record_key(number, measure, parts), value)

        self.combinations(measure.each, (measure.test,), record)

    def _record_key(self, number: int, measure: Measure, parts: Sequence[KeyPart]) -> ops.Value:
        round_ = self.kept(self.cell("round", "i64"))
        self.fail_if(round_ >= 1 << ROUND_BITS, "a number in so late a round")
        record_key = ops.Constant(number << MEASURE, "i64") | (round_ << ROUND)
        for key, part in zip(measure.keys, parts, strict=True):
            item = self.read_local(key.local, part.type)
            digit = self._bounded(self.kept(item), part) if item.rep == "i64" else ops.ToNumber(item) - part.low
            record_key = record_key | (digit << part.shift if part.shift else digit)
        return record_key

    def _bounded(self, number: ops.Value, part: KeyPart) -> ops.Value:
        """Return the digit of a subject that is a number; none is 0."""
        digit = self.kept(number - part.low)
        is_none = number.equals(NO_NUMBER)
        out = ops.Select(digit < 1, ops.negated(is_none), digit > part.mask)
        self.fail_if(out, "a number that tells values apart is too large")
        return ops.Select(is_none, ops.Constant(0, "i64"), digit)

    def as_number(self, value: ops.Value, type_: Type) -> ops.Value:
        """Convert a value to a 64-bit number; none becomes NO_NUMBER."""
        if isinstance(type_, NoneType | NeverType):
            return ops.Constant(NO_NUMBER, "i64")
        value = self.kept(value)
        if value.rep == "i64":
            return ops.ToNumber(ops.ToWord(value, True))
        if not type_.optional:
            return ops.ToNumber(value)
        return ops.Select(self.is_none(value, type_), ops.Constant(NO_NUMBER, "i64"), ops.ToNumber(value))

    def ranking(self) -> ops.Function:
        """Build the function that writes the ranking keys of all seats, seat by seat."""

        def build(b: Measures) -> None:
            for seat in b.constants.seats:
                for key in b.model.ranking:
                    b.locals = {0: b.var(b.shapes.rep(SEAT), "seat", ops.Constant(seat))}
                    if isinstance(key.type, TextType):
                        raise Unsupported(f"a rank that is a {key.type}")
                    b.do("ranked", b.as_number(b.key(key), key.type))

        return self.made(ops.Function("ranking", (), None), build)
