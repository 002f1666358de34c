"""Decisions: the legal options of a seat, and the effect of a choice.

``options`` writes all legal options of a decision into a buffer, with a fixed stride. An option is the number of the
alternative and the kept forms of its values. ``take`` continues with one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Self

from interpreter.compiler.codegen.function import FRAME, ONE, ZERO
from interpreter.compiler.codegen.memory import Slot
from interpreter.compiler.codegen.shapes import WORD
from interpreter.compiler.codegen.steps import Steps
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import Type
from interpreter.lowering.lower import Asks, Stretch

__all__ = ["Decisions"]

OPTION = ops.Var("option", "i32")


class Decisions(Steps):
    """Builds the functions of decisions. Each returns the name of the function."""

    @property
    def asks(self) -> dict[int, tuple[Stretch, Asks]]:
        return self.program.asks

    def size_of(self, option: core.Option) -> int:
        return 1 + sum(self.shapes.words(choice.type) for choice in option.choices)

    def sizes(self, index: int) -> list[int]:
        """Return the sizes of the options of a decision by alternative, in words."""
        return [self.size_of(option) for option in self.asks[index][1].ask.options]

    def stride(self, index: int) -> int:
        """Return the distance of two options of a decision, in words."""
        return max(self.sizes(index))

    def table(self, word: Callable[[int], int]) -> int:
        """Return the address of a table with a word for each stretch; 0 if it does not ask."""
        return self.memory.words([word(i) if i in self.asks else 0 for i in range(len(self.program.stretches))])

    def in_frame(self, stretch: Stretch) -> None:
        """Begin a function whose locals are in a frame of the stretch's procedure."""
        slots = self.module.frame(stretch.procedure).slots
        layer = self.program.procedures[stretch.procedure].layer
        self.span, self.result, self.types = stretch.span, layer.result, layer.local_types
        self.locals = {index: slot for index, slot in enumerate(slots) if slot is not None}

    def begin_ask(self, index: int) -> core.Ask:
        stretch, end = self.asks[index]
        self.in_frame(stretch)
        return end.ask

    def begin_choice(self, index: int) -> tuple[core.Ask, ops.Var]:
        """Begin a function that looks for options of a decision; return also the seat that decides."""
        ask = self.begin_ask(index)
        actor = self.var("i32", "actor", self.value(ask.seat))
        if isinstance(ask.seat, core.Local):
            self.locals[ask.seat.index] = actor
        return ask, actor

    def _of(
        self, kind: str, index: int, build: Callable[[Self], None], *further: ops.Var, result: ops.Rep | None = "i32"
    ) -> str:
        return self.named(kind, self.asks[index][0].id, (FRAME, *further), result, build)

    def actor(self, index: int) -> str:
        """The function that gives the seat that decides."""
        return self._of("actor", index, lambda b: b.give(b.value(b.begin_ask(index).seat)))

    def options(self, index: int) -> str:
        """The function that writes all legal options to the buffer, from ``$options`` to ``$options_end``."""

        def build(b: Decisions) -> None:
            ask, _ = b.begin_choice(index)
            end = b.var("i32", "end", ops.Global("options"))
            size = b.stride(index) * WORD

            def put(number: int, option: core.Option, values: Sequence[ops.Value]) -> None:
                b.put_next(end, size, number, option, values)
                b.set(end, end + size)

            for number, option in enumerate(ask.options):
                b.each_choice(option, partial(put, number, option))
            b.set(ops.Global("options_end"), end)

        return self._of("options", index, build, result=None)

    def shown(self, index: int) -> str:
        """The function that writes the values shown with a decision behind its options, and moves ``$options_end``."""

        def build(b: Decisions) -> None:
            shown = [value for _, value in b.begin_ask(index).context]
            end = b.var("i32", "end", ops.Global("options_end"))
            types = [value.type for value in shown]
            size = sum(map(b.shapes.words, types)) * WORD
            b.fail_if(end > ops.Global("options_limit") - size, "too many options")
            for value, (offset, type_) in zip(shown, b.shapes.placed(types), strict=True):
                b.store(end, offset, b.value(value), type_)
            b.set(ops.Global("options_end"), end + size)

        return self._of("shown", index, build, result=None)

    def placed(self, option: core.Option) -> Iterator[tuple[core.Choice, tuple[int, Type]]]:
        """Return the choices of an option, with the offset and type of each value."""
        return zip(option.choices, self.shapes.placed((choice.type for choice in option.choices), WORD), strict=True)

    def put_option(self, at: ops.Value, number: int, option: core.Option, values: Sequence[ops.Value]) -> None:
        self.add(ops.Store(at, 0, ops.Constant(number)))
        for (_, (offset, type_)), value in zip(self.placed(option), values, strict=True):
            self.store(at, offset, value, type_)

    def put_next(self, at: ops.Value, size: int, number: int, option: core.Option, values: Sequence[ops.Value]) -> None:
        """Write an option to the buffer; trap if it is full."""
        self.fail_if(at > ops.Global("options_limit") - size, "too many options")
        self.put_option(at, number, option, values)

    def open(self, index: int) -> str:
        return self._at_least("open", index, 1)

    def free(self, index: int) -> str:
        """The function that tests whether there is more than one option."""
        return self._at_least("free", index, 2)

    def _at_least(self, kind: str, index: int, number: int) -> str:
        """The function that tests for at least ``number`` options. It tries alternatives with few choices first."""

        def build(b: Decisions) -> None:
            ask, _ = b.begin_choice(index)
            count = b.var("i32", "count", ZERO)

            def count_one(values: Sequence[ops.Value]) -> None:
                b.set(count, count + 1)
                b.add(ops.If(count.equals(number), (ops.Return(ONE),)))

            for option in sorted(ask.options, key=lambda option: len(option.choices)):
                b.each_choice(option, count_one, stops=True)
            b.give(ZERO)

        return self._of(kind, index, build)

    def each_choice(
        self, option: core.Option, body: Callable[[Sequence[ops.Value]], None], *, stops: bool = False
    ) -> None:
        """Run the body for each combination of values of an alternative that passes its tests."""
        binders = [(choice.variable, choice.items) for choice in option.choices]
        with self.scoped(dict(self.locals)), self.passing(option.guard):
            self.combinations(binders, option.tests, body, stops=stops)

    def take(self, index: int) -> str:
        """The function that stores an option's values in the frame and gives the next stretch."""

        def build(b: Decisions) -> None:
            ask, bodies = b.begin_ask(index), b.asks[index][1].bodies
            number = b.kept(ops.Load(OPTION), "number")
            for option, then in b.cases(number, zip(ask.options, bodies, strict=True)):
                for choice, (offset, type_) in b.placed(option):
                    value = b.load(OPTION, offset, type_)
                    if isinstance(b.locals.get(choice.variable), Slot):
                        b.write_local(choice.variable, value, type_)
                b.give(ops.Constant(then))
            b.fail("no such alternative")

        return self._of("take", index, build, OPTION)
