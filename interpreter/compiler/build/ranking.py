"""The result as functions of a module: ranking keys and places, computed from the state."""

from __future__ import annotations

from interpreter.compiler.build.function import ONE, ZERO
from interpreter.compiler.build.shapes import WORD
from interpreter.compiler.build.steps import FunctionGroup, Steps
from interpreter.compiler.ir import ops

__all__ = ["Ranking"]

SEAT, KEY = ops.Var("seat", "i32"), ops.Var("key", "i32")


class Ranking(FunctionGroup):
    """Builds ``key_of`` and ``place_of``."""

    def functions(self) -> dict[str, ops.Function]:
        """Return both functions by name."""
        key = ops.Function("key_of", (SEAT, KEY), "i64", about="a key of the ranking")
        place = ops.Function("place_of", (SEAT,), "i32", about="the place of a seat")
        return {key.name: self.made(key, self._key), place.name: self.made(place, self._place)}

    def _key(self, b: Steps) -> None:
        """Build the function that returns a ranking key of a seat."""
        for tree in b.cases(KEY, self.model.ranking):
            b.span, b.locals = tree.span, {0: SEAT}
            b.give(b.wide_key(tree))
        b.fail("no such key")

    def _place(self, b: Steps) -> None:
        """Build the function that returns the place of a seat: 1 plus the number of seats ranked before it; 0 if it
        does not count."""
        counts = [int(bool(counted)) for counted in self.constants.statics["seat.counts"]]
        b.add(ops.If(ops.negated(ops.Load(SEAT * WORD, self.memory.words(counts))), (ops.Return(ZERO),)))
        place = b.var("i32", "place", ONE)
        for other in (seat for seat, counted in enumerate(counts) if counted):
            with b.leaving("better") as label:
                for number in range(len(self.model.ranking)):
                    theirs, mine = (
                        b.kept(ops.Call("key_of", (seat, ops.Constant(number)), "i64"))
                        for seat in (ops.Constant(other), SEAT)
                    )
                    b.add(ops.If(theirs < mine, (ops.Break(label),)))
                    b.add(ops.If(theirs > mine, (ops.Set(place, place + 1), ops.Break(label))))
        b.give(place)
