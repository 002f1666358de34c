"""Policies: for each decision a function that returns the address of the option that a bot chooses.

A bot draws from a random stream of its own. The position in the stream is stored beside the state, so that a continued
game continues the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interpreter.compiler.build.decisions import Decisions
from interpreter.compiler.build.function import FRAME
from interpreter.compiler.build.memory import Slot
from interpreter.compiler.build.shapes import WORD, Unsupported
from interpreter.compiler.build.sights import Sights
from interpreter.compiler.build.steps import Steps
from interpreter.compiler.ir import ops
from interpreter.language import core
from interpreter.language.preferences import Line, Pattern, Preferences, pinned_by
from interpreter.language.types import CardType, ListType

if TYPE_CHECKING:
    from interpreter.compiler.wasm.turn import Peeks
    from interpreter.language.policies import Policy

__all__ = ["RANDOM", "Policies"]

RANDOM = "random"
"""The bot that chooses any option with equal probability."""
PEEKS = "a policy that reads what its seat may not see"
START = ops.Global("options")
"""Address of the first option in the buffer."""


class Match(Struct, frozen=True):
    """An option that a pattern may fit: its number, and the values that are chosen so far."""

    pattern: Pattern
    number: int
    option: core.Option
    values: tuple[ops.Var, ...] = ()


class Policies(Sights):
    """Builds the functions by which bots choose."""

    def __init__(self, decisions: Decisions) -> None:
        super().__init__(decisions.module)
        self.decisions = decisions

    def choices(self, policy: Policy | None, peeks: Peeks | None = None, key: str = "") -> dict[int, str]:
        """Return the functions by which a policy (None: the random bot) chooses, by decision.

        ``peeks`` gives what :meth:`choosing` checks at a decision; without it, all reads are allowed.
        """
        asks = self.decisions.asks
        if policy is None:
            return {index: self.random(index) for index in asks}
        seen = {index: peeks(end.ask) if peeks is not None else () for index, (_, end) in asks.items()}
        return {index: self.choosing(policy, index, key, seen[index]) for index in asks}

    def random(self, index: int) -> str:
        return self._of(RANDOM, index, lambda b: _Chooser(b, self.decisions, index).choose_any())

    def choosing(self, policy: Policy, index: int, key: str, peeks: Sequence[str | int] | None) -> str:
        """Return the name of the function by which a policy chooses at a decision.

        ``key`` distinguishes policies with equal names. The function traps if the policy reads hidden information:
        always, if ``peeks`` is None; else if a card that one of these groups or locals names is hidden from the seat.
        """
        _, end = self.decisions.asks[index]

        def build(b: Steps) -> None:
            if peeks is None:
                raise Unsupported(PEEKS)
            chooser = _Chooser(b, self.decisions, index)
            shown = (b.var(self.shapes.rep(node.type), "shown", b.value(node)) for _, node in end.ask.context)
            chooser.around = [chooser.actor, *shown]
            for peek in peeks:
                if isinstance(peek, str):
                    self._check_group(b, peek, chooser.actor)
                elif isinstance(end.ask.context[peek - 1][1].type, CardType):
                    card = chooser.around[peek]
                    self._check_card(b, card, card.differs(-1), chooser.actor)
                else:
                    raise Unsupported(PEEKS)
            for preferences in policy.decisions.get(end.ask.name, ()):
                with b.scoped({0: chooser.actor}), b.passing(preferences.when), b.scoped(chooser.locals):
                    chooser.choose_by(preferences)
                if preferences.when is None:
                    return
            b.fail("no lines for this decision")

        return self._of(key or policy.name, index, build)

    def _of(self, bot: str, index: int, build: Callable[[Steps], None]) -> str:
        return self.named("bot", f"{bot} {self.decisions.asks[index][0].id}", (FRAME,), "i32", build)

    def _check_group(self, b: Steps, name: str, seat: ops.Value) -> None:
        """Trap if a card that a group of cells names is in a zone that the seat may not see."""
        group, cells = self.model.groups[name], self.memory.groups[name]
        with b.counted(ops.Constant(cells.count)) as at:
            address = at * cells.stride + cells.address
            first: ops.Value = ops.Load(address, 0, "i32", name)
            if group.owner == "card":
                words = self.shapes.words(cells.type) if not isinstance(cells.type, ListType) else 1
                card, holds = at, first
                for word in range(1, words):
                    holds = holds | ops.Load(address, word * WORD, "i32", name)
            elif isinstance(cells.type, CardType):
                card = b.kept(first, "card")
                holds = card.differs(-1)
            else:
                raise Unsupported(PEEKS)
            self._check_card(b, card, holds, seat)

    def _check_card(self, b: Steps, card: ops.Value, holds: ops.Value, seat: ops.Value) -> None:
        """Trap if a card that counts (``holds``) is in a zone that the seat may not see."""
        zone = ops.Load(card * WORD, self.memory.groups["location"].address, "i32", "location")
        b.fail_if(ops.both(holds, ops.negated(self.may_see(zone, seat))), "a card that is hidden")


class _Chooser:
    """Builds the choice of a bot at one decision."""

    def __init__(self, b: Steps, decisions: Decisions, index: int) -> None:
        self.b, self.decisions, self.index = b, decisions, index
        self.ask, self.actor = decisions.begin_choice(b, index)
        self.locals = b.locals
        self.size = decisions.stride(index) * WORD
        self.around: Sequence[ops.Var] = ()
        """The first locals of policies: the seat, and what the decision shows."""

    def choose_any(self) -> None:
        self.b.do(self.decisions.options(self.index), FRAME)
        self._draw(START, ops.Global("options_end"))

    def choose_by(self, preferences: Preferences) -> None:
        """Return the option that the first fitting line prefers."""
        b = self.b
        for line in preferences.lines:
            b.span = line.span
            if line.chance is None:
                self._line(line)
                continue
            with b.block() as inner:
                self._line(line)
            drawn = b.call("draw", self.actor, ops.Constant(line.chance[1]))
            b.add(ops.If(drawn < line.chance[0], tuple(inner), span=line.span))
        if any(pattern.alternative == "" for pattern in preferences.lines[-1].patterns):
            b.do(self.decisions.options(self.index), FRAME)
            b.fail_if(START.equals(ops.Global("options_end")), "no choice is left")
            b.give(START)
        else:
            b.fail("no choice is left")

    def _line(self, line: Line) -> None:
        match line.tie:
            case "first":
                self._matches(line, self._take, stops=True)
            case "by":
                self._best(line)
            case "random":
                self._any(line)
            case _:
                raise Unsupported("a tie that another seat ends")

    def _put(self, match: Match) -> None:
        self.decisions.put(self.b, START, match.number, match.option, match.values)

    def _take(self, match: Match) -> None:
        self._put(match)
        self.b.give(START)

    def _any(self, line: Line) -> None:
        """Return a random option that fits; options that fit several patterns count once."""
        b = self.b
        end = b.var("i32", "end", START)

        def add(match: Match) -> None:
            self.decisions.put_next(b, end, self.size, match.number, match.option, match.values)
            words = ops.Constant(self.decisions.words(match.option))
            again = b.call("is_listed", START, end, ops.Constant(self.size), words)
            b.set(end, ops.Select(again, end, end + self.size))

        self._matches(line, add, stops=False)
        with b.when(START.differs(end)):
            self._draw(START, end)

    def _draw(self, start: ops.Value, end: ops.Value) -> None:
        """Return a random option between two addresses; a single one is not drawn."""
        b = self.b
        count = b.kept((end - start) // self.size, "count")
        b.fail_if(count.equals(0), "no choice is left")
        b.add(ops.If(count.equals(1), (ops.Return(start),)))
        b.give(start + b.call("draw", self.actor, count) * self.size)

    def _best(self, line: Line) -> None:
        """Return the first option with the smallest keys. All patterns of a line have the same number of keys."""
        b = self.b
        with b.ranked("lt") as (some, better):

            def compare(match: Match) -> None:
                with b.scoped(self._locals(match)):
                    values = [b.wide_key(key) for key in match.pattern.keys]
                with better(values):
                    self._put(match)

            self._matches(line, compare, stops=False)
        b.add(ops.If(some, (ops.Return(START),)))

    # --- options of a pattern

    def _matches(self, line: Line, body: Callable[[Match], None], *, stops: bool) -> None:
        for pattern in line.patterns:
            for number, option in enumerate(self.ask.options):
                if pattern.alternative in ("", option.name):
                    with self.b.scoped(dict(self.b.locals)), self.b.passing(option.guard):
                        self._match(Match(pattern, number, option), body, stops)

    def _locals(self, match: Match) -> dict[int, ops.Var | Slot]:
        return dict(enumerate([*self.around, *match.values] if match.pattern.alternative else self.around))

    def _match(self, match: Match, body: Callable[[Match], None], stops: bool) -> None:
        """Choose further values, and run the body if all tests hold. A choice that a test pins is not searched."""
        b, pattern, choices, place = self.b, match.pattern, match.option.choices, len(match.values)
        if place == len(choices):
            with b.passing(*match.option.tests):
                self._tested(match, pattern.tests, body)
            return

        def bind(item: ops.Var) -> None:
            b.locals[choices[place].variable] = item
            self._match(replace(match, values=(*match.values, item)), body, stops)

        found = (pinned_by(test, len(self.around), len(choices)) for test in pattern.tests if pattern.alternative)
        pin = next((pinned[1] for pinned in found if pinned is not None and pinned[0] == place), None)
        items = choices[place].items
        if pin is None:
            b.source(items, stops=stops).each(bind)
            return
        with b.scoped(self._locals(match)):
            value = b.value(pin)
        item = b.var(value.rep, "pinned", value)
        with b.when(b.is_item(item, pin.type, items)):
            bind(item)

    def _tested(self, match: Match, tests: Sequence[core.Expression], body: Callable[[Match], None]) -> None:
        if not tests:
            body(match)
            return
        with self.b.scoped(self._locals(match)):
            holds = self.b.value(tests[0])
        with self.b.when(holds):
            self._tested(match, tests[1:], body)
