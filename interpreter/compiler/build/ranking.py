"""The result as functions of a module: ranking keys and places, computed from the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Ranking"]

SEAT = ops.Var("seat", "i32")


class Ranking:
    """Builds ``key_of`` and ``place_of``."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.memory, self.shapes = module, module.memory, module.shapes
        self.constants, self.model = module.constants, module.constants.model
        self.seats = len(self.constants.seats)

    def functions(self) -> dict[str, ops.Function]:
        """Return both functions by name."""
        functions = [self._key(), self._place()]
        return {function.name: function for function in functions}

    def _key(self) -> ops.Function:
        """Build the function that returns a ranking key of a seat."""
        number = ops.Var("key", "i32")

        def build(b: FunctionBuilder) -> None:
            b.locals = {0: SEAT}
            x = Expressions(b)
            for place, tree in enumerate(self.model.ranking):
                if not self.shapes.is_scalar(tree.type):
                    raise Unsupported(f"a key that is a {tree.type}")
                b.span = tree.span
                with b.when(number.equals(place)):
                    value = x.value(tree)
                    b.add(ops.Return(value if value.rep == "i64" else ops.ToNumber(value)))
                b.locals = {0: SEAT}
            b.fail("no such key")

        return self.module.made("key_of", (SEAT, number), "i64", build, "a key of the ranking")

    def _place(self) -> ops.Function:
        """Build the function that returns the place of a seat: 1 plus the number of seats ranked before it; 0 if it
        does not count."""
        counts = [seat for seat, counted in enumerate(self.constants.statics["seat.counts"]) if counted]

        def build(b: FunctionBuilder) -> None:
            table = self.memory.words([int(seat in counts) for seat in range(self.seats)])
            b.add(ops.If(ops.Not(ops.Load(SEAT * WORD, table)), (ops.Return(ZERO),)))
            place = b.var("i32", "place")
            b.set(place, ONE)
            for other in counts:
                label = b.label("better")
                with b.block() as inner:
                    for number in range(len(self.model.ranking)):
                        theirs, mine = (
                            b.kept(ops.Call("key_of", (seat, ops.Constant(number)), "i64"))
                            for seat in (ops.Constant(other), SEAT)
                        )
                        b.add(ops.If(theirs < mine, (ops.Break(label),)))
                        better = (ops.Set(place, place + 1), ops.Break(label))
                        b.add(ops.If(theirs > mine, better))
                b.add(ops.Block(label, tuple(inner)))
            b.add(ops.Return(place))

        return self.module.made("place_of", (SEAT,), "i32", build, "the place of a seat")
