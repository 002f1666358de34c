"""Measures: the numbers that a ruleset takes while games are played whole.

Each moment and event that a measure is taken at has a function. It runs where the moment or event happens, if somebody
measures, and writes words behind each other: the number of the measure, the round, the keys, the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import NO_NUMBER, WORD, Unsupported
from interpreter.compiler.ir import ops as o
from interpreter.language.model import Measure
from interpreter.language.types import Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module import ModuleBuilder

__all__ = ["FREE", "LONG", "MEASURING", "TAKEN", "TALLY_WORDS", "Measures"]

MEASURING, TAKEN, FREE = 0, 1, 2
"""The words of the tally: whether somebody measures (the address behind which there is no more room for numbers), the
address behind the last number, and how many decisions had more than one option."""
TALLY_WORDS = 4
END_OF_GAME, END_OF_ROUND = "end of game", "end of round"
HEAD = 2
LONG = 8


class Measures:
    """Builds what is taken at moments and events."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.memory, self.shapes = module, module.memory, module.shapes
        self.measures = list(enumerate(module.constants.model.measures))
        self.tally = self.memory.reserve(TALLY_WORDS)
        self.ranking = module.constants.model.ranking
        self.keys = self.memory.reserve_long(max(1, len(self.ranking) * len(module.constants.seats)))
        """Where the keys that rank the seats are written, seat by seat."""

    def words(self, measure: Measure) -> int:
        """The words of one number."""
        return HEAD + len(measure.keys) + 1

    def moment(self, b: FunctionBuilder, word: str) -> None:
        """A moment comes: what is measured then is measured here."""
        due = [(number, measure) for number, measure in self.measures if word in measure.when]
        if word == END_OF_GAME:  # the last round ends with it
            last = [(number, measure) for number, measure in self.measures if END_OF_ROUND in measure.when]
            due = last + [each for each in due if END_OF_ROUND not in each[1].when]
        self._call(b, f"moment {word}", due, (), ())

    def event(self, b: FunctionBuilder, event: str, values: Sequence[o.Value], types: Sequence[Type]) -> None:
        """An event happens with these values."""
        due = [(number, measure) for number, measure in self.measures if measure.event == event]
        self._call(b, f"event {event}", due, values, types)

    def hears(self, event: str) -> bool:
        """Whether anything is measured when an event happens."""
        return any(measure.event == event for _, measure in self.measures)

    def ranked(self) -> o.Function:
        """Writes what ranks the seats."""

        def build(b: FunctionBuilder) -> None:
            at = self.keys
            for seat in self.module.constants.seats:
                for tree in self.ranking:
                    who = b.var("i32", "seat")
                    b.set(who, o.Constant(seat))
                    b.locals = {0: who}
                    b.span = tree.span
                    value = Expressions(b).value(tree)
                    if not self.shapes.is_scalar(tree.type):
                        raise Unsupported(f"a key that is a {tree.type}")
                    b.add(o.StoreLong(ZERO, at, value if value.rep == "i64" else o.ToNumber(value)))
                    at += LONG

        return self.module.made("ranked", (), None, build)

    def _call(
        self,
        b: FunctionBuilder,
        what: str,
        due: Sequence[tuple[int, Measure]],
        values: Sequence[o.Value],
        types: Sequence[Type],
    ) -> None:
        if not due:
            return
        name = self.module.name("m", what)
        given = tuple(o.Var(f"p{place}", self.shapes.rep(type_)) for place, type_ in enumerate(types))
        self.module.wanted(name, lambda: self._function(name, due, given))
        test = o.Load(ZERO, self.tally + MEASURING * WORD)
        b.add(o.If(test, (o.Do(o.Call(name, tuple(values))),)))

    def _function(self, name: str, due: Sequence[tuple[int, Measure]], given: tuple[o.Var, ...]) -> o.Function:
        def build(b: FunctionBuilder) -> None:
            for number, measure in due:
                b.span = measure.span
                b.locals = dict(enumerate(given))
                self._taken(b, number, measure)

        return self.module.made(name, given, None, build)

    def _taken(self, b: FunctionBuilder, number: int, measure: Measure) -> None:
        x = Expressions(b)

        def each(place: int) -> None:
            if place < len(measure.each):
                local, items = measure.each[place]

                def one(item: o.Var) -> None:
                    b.locals[local] = item
                    each(place + 1)

                x.loops.source(items).each(one)
                return
            with x.loops.when(measure.test):
                self._put(b, x, number, measure)

        each(0)

    def _put(self, b: FunctionBuilder, x: Expressions, number: int, measure: Measure) -> None:
        keys = []
        for key in measure.keys:
            if not self.shapes.is_scalar(key.type):
                raise Unsupported(f"a key that is a {key.type}")
            keys.append(b.word(b.read_local(key.local, key.type), key.type.optional))
        value = b.kept(x.value(measure.value))
        if value.rep == "i32":
            none = b.is_none(value, measure.value.type)
            value = o.Select(none, o.Constant(NO_NUMBER, "i64"), o.ToNumber(value))
        round_ = o.Load(ZERO, self.memory.groups["round"].address, "i32", "round")
        words = [o.Constant(number), round_, *keys, b.word(value, True)]
        at = b.kept(o.Load(ZERO, self.tally + TAKEN * WORD), "at")
        after = b.kept(b.plus(at, len(words) * WORD), "after")
        b.fail_if(o.Compare("gt", after, o.Load(ZERO, self.tally + MEASURING * WORD)), "too many numbers")
        for place, word in enumerate(words):
            b.add(o.Store(at, place * WORD, word, span=b.span))
        b.add(o.Store(ZERO, self.tally + TAKEN * WORD, after))
