"""The result as functions of a module: the keys of the ranking and the places, worked out from the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.ir import ops as o

if TYPE_CHECKING:
    from interpreter.compiler.build.module_builder import ModuleBuilder

__all__ = ["Ranking"]

SEAT = o.Var("seat", "i32")


class Ranking:
    """Builds them."""

    def __init__(self, module: ModuleBuilder) -> None:
        self.module, self.memory, self.shapes = module, module.memory, module.shapes
        self.constants, self.model = module.constants, module.constants.model
        self.seats = len(self.constants.seats)

    def functions(self) -> dict[str, o.Function]:
        """Both, by name."""
        made = [self._key(), self._place()]
        return {function.name: function for function in made}

    def _key(self) -> o.Function:
        """A key of the ranking, by its number, of a seat."""
        number = o.Var("key", "i32")

        def build(b: FunctionBuilder) -> None:
            b.locals = {0: SEAT}
            x = Expressions(b)
            for place, tree in enumerate(self.model.ranking):
                if not self.shapes.is_scalar(tree.type):
                    raise Unsupported(f"a key that is a {tree.type}")
                b.span = tree.span
                with b.when(o.Compare("eq", o.Get(number), o.Constant(place))):
                    value = x.value(tree)
                    b.add(o.Return(value if value.rep == "i64" else o.ToNumber(value)))
                b.locals = {0: SEAT}
            b.fail("no such key")

        return self.module.made("key_of", (SEAT, number), "i64", build, "a key of the ranking")

    def _place(self) -> o.Function:
        """The place of a seat: 1 and one more for each seat that is ranked before it; 0 for one that does not count."""
        counts = [seat for seat, counted in enumerate(self.constants.statics["seat.counts"]) if counted]

        def build(b: FunctionBuilder) -> None:
            table = self.memory.words([int(seat in counts) for seat in range(self.seats)])
            b.add(o.If(o.Not(o.Load(b.times(o.Get(SEAT), WORD), table)), (o.Return(ZERO),)))
            place = b.var("i32", "place")
            b.set(place, ONE)
            for other in counts:
                label = b.label("better")
                with b.block() as inner:
                    for number in range(len(self.model.ranking)):
                        theirs, mine = (
                            b.kept(o.Call("key_of", (seat, o.Constant(number)), "i64"))
                            for seat in (o.Constant(other), o.Get(SEAT))
                        )
                        b.add(o.If(o.Compare("lt", theirs, mine), (o.Break(label),)))
                        better = (o.Set(place, b.plus(o.Get(place), 1)), o.Break(label))
                        b.add(o.If(o.Compare("gt", theirs, mine), better))
                b.add(o.Block(label, tuple(inner)))
            b.add(o.Return(o.Get(place)))

        return self.module.made("place_of", (SEAT,), "i32", build, "the place of a seat")
