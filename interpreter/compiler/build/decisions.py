"""Decisions: the legal options of a seat, and the effect of a choice.

``options`` writes all legal options of a decision into a buffer, with a fixed stride. An option is the number of the
alternative and the kept forms of its values. ``take`` continues with one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from interpreter.compiler import lower
from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder, Slot
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.build.stretches import FRAME
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.types import Type

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Decisions"]

OPTION = ops.Var("option", "i32")


class Decisions:
    """Builds the functions of decisions."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.program, self.shapes = module, module.program, module.shapes
        self.asks = {
            index: (stretch, stretch.end)
            for index, stretch in enumerate(self.program.stretches)
            if isinstance(stretch.end, lower.Asks)
        }

    def words(self, option: core.Option) -> int:
        """Return the size of an option in words: its number and its values."""
        return 1 + sum(self.shapes.words(choice.type) for choice in option.choices)

    def stride(self, index: int) -> int:
        """Return the distance of two options of a decision, in words."""
        return max(self.words(option) for option in self.asks[index][1].ask.options)

    # --- functions

    def _declare(
        self,
        kind: str,
        index: int,
        build: Callable[[FunctionBuilder], None],
        parameters: tuple[ops.Var, ...] = (FRAME,),
        result: ops.Rep | None = "i32",
    ) -> str:
        """Return the name of a function of a decision, which is built once."""
        name = self.module.name(kind, self.asks[index][0].id)
        return self.module.request(name, lambda: self.module.made(name, parameters, result, build))

    def _begin(self, b: FunctionBuilder, index: int) -> tuple[Expressions, core.Ask]:
        stretch, end = self.asks[index]
        assert isinstance(end, lower.Asks)
        b.span = stretch.span
        return self.module.stretches.begin(b, stretch.procedure), end.ask

    def actor(self, index: int) -> str:
        """Return the name of the function that gives the seat that decides."""

        def build(b: FunctionBuilder) -> None:
            x, ask = self._begin(b, index)
            b.add(ops.Return(x.value(ask.seat)))

        return self._declare("actor", index, build)

    def options(self, index: int) -> str:
        """Return the name of the function that writes all legal options to the buffer.

        They are from ``$options`` to ``$options_end``.
        """

        def build(b: FunctionBuilder) -> None:
            x, ask = self._begin(b, index)
            end = b.var("i32", "end")
            b.set(end, ops.Global("options"))
            size = self.stride(index) * WORD

            def put(number: int, option: core.Option, values: list[ops.Var]) -> None:
                limit = ops.Global("options_limit") - size
                b.fail_if(end > limit, "too many options")
                self.put(b, end, number, option, values)
                b.set(end, end + size)

            for number, option in enumerate(ask.options):
                self.each(b, x, option, partial(put, number, option))
            b.add(ops.SetGlobal("options_end", end))

        return self._declare("options", index, build, result=None)

    def placed(self, option: core.Option) -> Iterator[tuple[core.Choice, tuple[int, Type]]]:
        """Return the choices of an option, with the offset and type of each value."""
        return zip(option.choices, self.shapes.placed((choice.type for choice in option.choices), WORD), strict=True)

    def put(
        self, b: FunctionBuilder, at: ops.Value, number: int, option: core.Option, values: Sequence[ops.Var]
    ) -> None:
        """Write an option."""
        b.add(ops.Store(at, 0, ops.Constant(number)))
        for (_, (offset, type_)), value in zip(self.placed(option), values, strict=True):
            b.store(at, offset, value, type_)

    def open(self, index: int) -> str:
        """Return the name of a function: is there an option?"""
        return self._at_least("open", index, 1)

    def free(self, index: int) -> str:
        """Return the name of a function: is there more than one option?"""
        return self._at_least("free", index, 2)

    def _at_least(self, kind: str, index: int, number: int) -> str:
        """Return the name of a function: are there at least ``number`` options?

        It tries alternatives with few choices first.
        """

        def build(b: FunctionBuilder) -> None:
            x, ask = self._begin(b, index)
            count = b.var("i32", "count")
            b.set(count, ZERO)

            def count_one(values: list[ops.Var]) -> None:
                b.set(count, count + 1)
                b.add(ops.If(count.equals(number), (ops.Return(ONE),)))

            for option in sorted(ask.options, key=lambda option: len(option.choices)):
                self.each(b, x, option, count_one, stops=True)
            b.add(ops.Return(ZERO))

        return self._declare(kind, index, build)

    def each(
        self,
        b: FunctionBuilder,
        x: Expressions,
        option: core.Option,
        body: Callable[[list[ops.Var]], None],
        *,
        stops: bool = False,
    ) -> None:
        """Run the body for each combination of values of an alternative that passes its tests."""
        outer = dict(b.locals)

        def tested(values: list[ops.Var]) -> None:
            with x.loops.when(*option.tests):
                body(values)

        with x.loops.when(option.guard):
            x.loops.combinations([(choice.variable, choice.items) for choice in option.choices], tested, stops=stops)
        b.locals = outer

    def take(self, index: int) -> str:
        """Return the name of the function that stores an option's values in the frame and gives the next stretch."""

        def build(b: FunctionBuilder) -> None:
            _, ask = self._begin(b, index)
            end = self.asks[index][1]
            assert isinstance(end, lower.Asks)
            number = b.kept(ops.Load(OPTION), "number")
            for place, option in enumerate(ask.options):
                with b.when(number.equals(place)):
                    for choice, (offset, type_) in self.placed(option):
                        value = b.load(OPTION, offset, type_)
                        if isinstance(b.locals.get(choice.variable), Slot):
                            b.write_local(choice.variable, value, type_)
                    b.add(ops.Return(ops.Constant(end.bodies[place])))
            b.fail("no such alternative")

        return self._declare("take", index, build, (FRAME, OPTION))
