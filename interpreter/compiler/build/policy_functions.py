"""Policies: for each decision a function that returns the address of the option that a bot chooses.

A bot draws from a random stream of its own. The position in the stream is stored beside the state, so that a continued
game continues the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from interpreter.compiler import lower
from interpreter.compiler.build.expressions import Expressions
from interpreter.compiler.build.function import ONE, ZERO, FunctionBuilder, Slot
from interpreter.compiler.build.loops import precedes
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.build.sights import Sights
from interpreter.compiler.build.stretches import FRAME
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.preferences import pinned_by
from interpreter.language.types import CardType, ListType

if TYPE_CHECKING:
    from interpreter.language.policies import Line, Pattern, Policy, Preferences

__all__ = ["RANDOM", "Policies"]

RANDOM = "random"
"""The bot that chooses any option with equal probability."""


class Policies(Sights):
    """Builds the functions by which bots choose."""

    def random(self, index: int) -> str:
        """Return the name of the function by which the random bot chooses at a decision."""
        stretch, _ = self.module.decisions.asks[index]
        name = self.module.name("bot", f"{RANDOM} {stretch.id}")

        def build(b: FunctionBuilder) -> None:
            x, ask = self.module.decisions._begin(b, index)
            b.add(ops.Do(ops.Call(self.module.decisions.options(index), (FRAME,))))
            first = ops.Global("options")
            self._draws(b, x, ask, first, ops.Global("options_end"), self.module.decisions.stride(index))

        return self.module.request(name, lambda: self.module.made(name, (FRAME,), "i32", build))

    def choosing(self, policy: Policy, index: int, key: str = "", peeks: Sequence[str] | None = ()) -> str:
        """Return the name of the function by which a policy chooses at a decision.

        ``key`` distinguishes policies with equal names. The function traps if the policy reads hidden information:
        always, if ``peeks`` is None; else if a card that one of these groups names is hidden from the seat.
        """
        stretch, end = self.module.decisions.asks[index]
        assert isinstance(end, lower.Asks)
        name = self.module.name("bot", f"{key or policy.name} {stretch.id}")

        def build(b: FunctionBuilder) -> None:
            if peeks is None:
                raise Unsupported("a policy that reads what its seat may not see")
            x, ask = self.module.decisions._begin(b, index)
            seat = b.kept(x.value(ask.seat), "actor")
            around: list[ops.Var] = []
            actor = b.var("i32", "actor")
            b.set(actor, seat)
            around.append(actor)
            for group in peeks:
                self._check_seen(b, group, actor)
            for _, value in ask.context:
                var = b.var(self.shapes.rep(value.type), "shown")
                b.set(var, x.value(value))
                around.append(var)
            for preferences in policy.decisions.get(ask.name, ()):
                with b.block() as inner:
                    self._preferences(b, x, index, ask, preferences, around)
                if preferences.when is None:
                    b.body.extend(inner)
                    return
                with b.scoped({0: actor}):
                    test = x.value(preferences.when)
                b.add(ops.If(test, tuple(inner)))
            b.fail("no lines for this decision")

        return self.module.request(name, lambda: self.module.made(name, (FRAME,), "i32", build))

    def _check_seen(self, b: FunctionBuilder, name: str, seat: ops.Value) -> None:
        """Trap if a card that a group of cells names is in a zone that the seat may not see."""
        group, cells = self.model.groups[name], self.memory.groups[name]
        location = self.memory.groups["location"].address

        def check(card: ops.Value, holds: ops.Value) -> None:
            zone = ops.Load(card * WORD, location, "i32", "location")
            hidden = ops.Not(self._may_see(b, zone, seat))
            b.fail_if(ops.both(holds, hidden), "a card that is hidden")

        with b.counted(ops.Constant(cells.count)) as at:
            address = at * cells.stride + cells.address
            if group.owner == "card":
                words = self.shapes.words(cells.type) if not isinstance(cells.type, ListType) else 1
                holds: ops.Value = ops.Load(address, 0, "i32", name)
                for word in range(1, words):
                    holds = holds | ops.Load(address, word * WORD, "i32", name)
                check(at, holds)
            elif isinstance(cells.type, CardType):
                card = b.kept(ops.Load(address, 0, "i32", name), "card")
                check(card, card.differs(-1))
            else:
                raise Unsupported("a policy that reads what its seat may not see")

    def _preferences(
        self,
        b: FunctionBuilder,
        x: Expressions,
        index: int,
        ask: core.Ask,
        preferences: Preferences,
        around: list[ops.Var],
    ) -> None:
        for line in preferences.lines:
            b.span = line.span
            with b.block() as inner:
                self._line(b, x, index, ask, line, around)
            if line.chance is None:
                b.body.extend(inner)
                continue
            drawn = self._below(b, around[0], ops.Constant(line.chance[1]))
            b.add(ops.If(drawn < line.chance[0], tuple(inner)))
        last = preferences.lines[-1]
        if not any(pattern.alternative == "" for pattern in last.patterns):
            b.fail("no choice is left")
            return
        b.add(ops.Do(ops.Call(self.module.decisions.options(index), (FRAME,))))
        b.fail_if(ops.Global("options").equals(ops.Global("options_end")), "no choice is left")
        b.add(ops.Return(ops.Global("options")))

    def _below(self, b: FunctionBuilder, seat: ops.Value, n: ops.Value) -> ops.Value:
        return b.call("draw", seat, n)

    def _line(
        self, b: FunctionBuilder, x: Expressions, index: int, ask: core.Ask, line: Line, around: list[ops.Var]
    ) -> None:
        """Build a line of a policy; it returns if an option remains."""
        stride = self.module.decisions.stride(index)
        numbers = {option.name: number for number, option in enumerate(ask.options)}
        patterns = [pattern for pattern in line.patterns if pattern.alternative in ("", *numbers)]

        def each_option(
            body: Callable[[Pattern, int, list[ops.Var], dict[int, ops.Var | Slot]], None], stops: bool
        ) -> None:
            for pattern in patterns:
                alternatives = [numbers[pattern.alternative]] if pattern.alternative else range(len(ask.options))
                for number in alternatives:
                    self._options(b, x, ask.options[number], number, pattern, around, body, stops=stops)

        start = ops.Global("options")
        if line.tie == "first":

            def first(pattern: Pattern, number: int, values: list[ops.Var], own: dict[int, ops.Var | Slot]) -> None:
                self.module.decisions.put(b, start, number, ask.options[number], values)
                b.add(ops.Return(start))

            each_option(first, stops=True)
            return
        if line.tie == "by":
            self._best(b, x, ask, each_option, start)
            return
        if line.tie != "random":
            raise Unsupported("a tie that another seat ends")
        end = b.var("i32", "end")
        b.set(end, start)
        size = stride * WORD

        def add(pattern: Pattern, number: int, values: list[ops.Var], own: dict[int, ops.Var | Slot]) -> None:
            b.fail_if(end > ops.Global("options_limit") - size, "too many options")
            self.module.decisions.put(b, end, number, ask.options[number], values)
            words = ops.Constant(self.module.decisions.words(ask.options[number]))
            again = b.call("is_listed", start, end, ops.Constant(size), words)
            b.set(end, ops.Select(again, end, end + size))

        each_option(add, stops=False)
        with b.when(start.differs(end)):
            self._draws(b, x, ask, start, end, stride)

    def _draws(
        self, b: FunctionBuilder, x: Expressions, ask: core.Ask, start: ops.Value, end: ops.Value, stride: int
    ) -> None:
        """Return a random option between two addresses; a single one is not drawn."""
        size = stride * WORD
        count = b.kept((end - start) // size, "count")
        b.fail_if(count.equals(0), "no choice is left")
        b.add(ops.If(count.equals(1), (ops.Return(start),)))
        drawn = self._below(b, x.value(ask.seat), count)
        b.add(ops.Return(start + drawn * size))

    def _best(
        self,
        b: FunctionBuilder,
        x: Expressions,
        ask: core.Ask,
        each_option: Callable[[Callable[[Pattern, int, list[ops.Var], dict[int, ops.Var | Slot]], None], bool], None],
        start: ops.Value,
    ) -> None:
        """Return the first option with the smallest keys. All patterns of a line have the same number of keys."""
        some = b.var("i32", "some")
        b.set(some, ZERO)
        best: list[ops.Var] = []

        def compare(pattern: Pattern, number: int, values: list[ops.Var], own: dict[int, ops.Var | Slot]) -> None:
            keys: list[ops.Value] = []
            with b.scoped(own):
                for tree in pattern.keys:
                    if not self.shapes.is_scalar(tree.type):
                        raise Unsupported(f"a key that is a {tree.type}")
                    value = x.value(tree)
                    keys.append(b.kept(value if value.rep == "i64" else ops.ToNumber(value), "key"))
            while len(best) < len(keys):
                best.append(b.var("i64", "best"))
            if len(best) != len(keys):
                raise Unsupported("keys of several lengths")
            better = precedes(keys, best, "lt")
            with b.when(ops.Select(some, better, ONE)):
                b.set(some, ONE)
                for key, smallest in zip(keys, best, strict=True):
                    b.set(smallest, key)
                self.module.decisions.put(b, start, number, ask.options[number], values)

        with b.block() as search:
            each_option(compare, False)
        for var in best:
            b.set(var, ops.Constant(0, "i64"))
        b.body.extend(search)
        b.add(ops.If(some, (ops.Return(start),)))

    # --- options of a pattern

    def _options(
        self,
        b: FunctionBuilder,
        x: Expressions,
        option: core.Option,
        number: int,
        pattern: Pattern,
        around: list[ops.Var],
        body: Callable[[Pattern, int, list[ops.Var], dict[int, ops.Var | Slot]], None],
        *,
        stops: bool,
    ) -> None:
        """Run the body for each legal option that passes the tests of a pattern. If a test pins a choice to one value,
        that value is used without a search."""
        outer = dict(b.locals)
        own: dict[int, ops.Var | Slot] = dict(enumerate(around))
        first, count = len(around), len(option.choices)
        pins: dict[int, core.Expression] = {}
        for test in pattern.tests if pattern.alternative else ():
            pinned = pinned_by(test, first, count)
            if pinned is not None:
                pins.setdefault(*pinned)
        values: list[ops.Var] = []

        def bound(place: int, item: ops.Var) -> None:
            b.locals[option.choices[place].variable] = item
            if pattern.alternative:
                own[first + place] = item
            values.append(item)
            choose_from(place + 1)
            values.pop()

        def choose_from(place: int) -> None:
            if place == count:
                with ExitStack() as open_:
                    open_.enter_context(x.loops.when(*option.tests))
                    for test in pattern.tests:
                        with b.scoped(own):
                            holds = x.value(test)
                        open_.enter_context(b.when(holds))
                    body(pattern, number, list(values), own)
                return
            items = option.choices[place].items
            pin = pins.get(place)
            if pin is None:
                x.loops.source(items, stops=stops).each(lambda item: bound(place, item))
                return
            with b.scoped(own):
                value = x.value(pin)
            item = b.var(value.rep, "pinned")
            b.set(item, value)
            is_item = x.is_item(item, pin.type, items)
            with b.when(is_item):
                bound(place, item)

        with x.loops.when(option.guard):
            choose_from(0)
        b.locals = outer
