"""Policies: for each decision a function that returns the address of the option that a bot chooses.

A bot draws from a random stream of its own. The position in the stream is stored beside the state, so that a continued
game continues the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from interpreter.compiler.codegen.function import FRAME, ONE, ZERO
from interpreter.compiler.codegen.memory import Slot
from interpreter.compiler.codegen.shapes import WORD, Unsupported
from interpreter.compiler.codegen.sights import Sights
from interpreter.compiler.ir import ops
from interpreter.compiler.ir.ops import CellGroup
from interpreter.language import core
from interpreter.language.preferences import Line, Pattern, Policy, Preferences, pinned_by
from interpreter.language.types import CardType, HolderType, ListType

if TYPE_CHECKING:
    from interpreter.compiler.wasm.turn import Peeks

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

    index: int
    ask: core.Ask
    seat: ops.Var
    """The decision, and the seat that decides."""
    size: int
    """Size of an option, in bytes."""
    around: Sequence[ops.Var]
    """The first locals of policies: the seat, and what the decision shows."""

    def choices(self, policy: Policy | None, peeks: Peeks | None = None, key: str = "") -> dict[int, str]:
        """Return the functions by which a policy (None: the random bot) chooses, by decision.

        ``peeks`` gives what :meth:`choosing` checks at a decision; without it, all reads are allowed.
        """
        if policy is None:
            return {index: self.random(index) for index in self.asks}
        seen = {index: peeks(end.ask) if peeks is not None else () for index, (_, end) in self.asks.items()}
        return {index: self.choosing(policy, index, key, seen[index]) for index in self.asks}

    def random(self, index: int) -> str:
        def build(b: Policies) -> None:
            b._begin(index)
            b.do(b.options(index), FRAME)
            b._draw(START, ops.Global("options_end"))

        return self._bot(RANDOM, index, build)

    def choosing(self, policy: Policy, index: int, key: str, peeks: Sequence[str | int] | None) -> str:
        """Return the name of the function by which a policy chooses at a decision.

        ``key`` distinguishes policies with equal names. The function traps if the policy reads hidden information:
        always, if ``peeks`` is None; else if a card that one of these groups or locals names is hidden from the seat.
        """

        def build(b: Policies) -> None:
            if peeks is None:
                raise Unsupported(PEEKS)
            b._begin(index)
            context = b.ask.context
            shown = (b.var(b.shapes.rep(node.type), "shown", b.value(node)) for _, node in context)
            b.around = [b.seat, *shown]
            for peek in peeks:
                if isinstance(peek, str):
                    b._check_group(peek)
                elif isinstance(context[peek - 1][1].type, CardType):
                    b._check_card(b.around[peek], b.around[peek].differs(-1))
                else:
                    raise Unsupported(PEEKS)
            for preferences in policy.decisions.get(b.ask.name, ()):
                with b.passing(preferences.when, locals_={0: b.seat}):
                    b._choose_by(preferences)
                if preferences.when is None:
                    return
            b.fail("no lines for this decision")

        return self._bot(key or policy.name, index, build)

    def _bot(self, bot: str, index: int, build: Callable[[Self], None]) -> str:
        return self.named("bot", f"{bot} {self.asks[index][0].id}", (FRAME,), "i32", build)

    def _begin(self, index: int) -> None:
        self.index, self.size = index, self.stride(index) * WORD
        self.ask, self.seat = self.begin_choice(index)

    # --- hidden information

    def _check_group(self, name: str) -> None:
        """Trap if a card that a group of cells names is in a zone that the seat may not see."""
        group, cells = self.model.groups[name], self.memory.groups[name]
        holds_tokens = isinstance(group.type, HolderType) and not isinstance(cells.type, ListType)
        if isinstance(group.owner, CardType) and holds_tokens:
            self._check_filled(cells)
            return
        with self.counted(ops.Constant(cells.count)) as at:
            address = at * cells.stride + cells.address
            first: ops.Value = ops.Load(address, 0, "i32", name)
            if isinstance(group.owner, CardType):
                card, holds = at, first
                if not isinstance(group.type, HolderType):
                    start = group.start or core.Const(None)
                    if not (isinstance(start, core.Const) and self.shapes.is_scalar(group.type)):
                        raise Unsupported(PEEKS)
                    holds = first.differs(self.shapes.word(start.value, group.type))
            elif isinstance(cells.type, CardType):
                card = self.kept(first, "card")
                holds = card.differs(-1)
            else:
                raise Unsupported(PEEKS)
            self._check_card(card, holds)

    def _check_filled(self, cells: CellGroup) -> None:
        """Trap if there are tokens on a card in a zone that the seat may not see."""
        count = ops.Constant(cells.count)
        card = self.var("i32", "card", ZERO)
        with self.repeated("filled", ONE) as label:
            place = ops.Constant(cells.address), ops.Constant(cells.stride // WORD), count
            self.set(card, self.call("next_filled", card, *place))
            self.add(ops.If(card >= count, (ops.Break(label),)))
            self._check_card(card, ONE)
            self.set(card, card + 1)

    def _check_card(self, card: ops.Value, holds: ops.Value) -> None:
        """Trap if a card that counts (``holds``) is in a zone that the seat may not see."""
        zone = ops.Load(card * WORD, self.memory.groups["location"].address, "i32", "location")
        is_seen = self.sees_card(card, self.seat) if self.constants.carriers else self.may_see(zone, self.seat)
        self.fail_if(ops.both(holds, ops.negated(is_seen)), "a card that is hidden")

    # --- lines

    def _choose_by(self, preferences: Preferences) -> None:
        """Return the option that the first fitting line prefers."""
        for line in preferences.lines:
            self.span = line.span
            if line.chance is None:
                self._line(line)
                continue
            with self.block() as inner:
                self._line(line)
            drawn = self.call("draw", self.seat, ops.Constant(line.chance[1]))
            self.add(ops.If(drawn < line.chance[0], tuple(inner), span=line.span))
        if any(pattern.alternative == "" for pattern in preferences.lines[-1].patterns):
            self.do(self.options(self.index), FRAME)
            self.fail_if(START.equals(ops.Global("options_end")), "no choice is left")
            self.give(START)
        else:
            self.fail("no choice is left")

    def _line(self, line: Line) -> None:
        match line.tie:
            case "first":
                self._matches(line, self._give, stops=True)
            case "by":
                self._preferred(line)
            case "random":
                self._any(line)
            case _:
                raise Unsupported("a tie that another seat ends")

    def _put(self, match: Match) -> None:
        self.put_option(START, match.number, match.option, match.values)

    def _give(self, match: Match) -> None:
        self._put(match)
        self.give(START)

    def _any(self, line: Line) -> None:
        """Return a random option that fits; options that fit several patterns count once."""
        end = self.var("i32", "end", START)
        marks = self._marks(line.patterns[0]) if len(line.patterns) == 1 else {}

        def add(match: Match) -> None:
            self.put_next(end, self.size, match.number, match.option, match.values)
            again: ops.Value = ZERO
            if match.number in marks:
                mark = self.kept(match.values[0] * WORD + marks[match.number])
                again = self.kept(ops.Load(mark, WORD))
                self.add(ops.Store(mark, WORD, ONE))
            elif len(line.patterns) > 1 or not _are_distinct(match.option):
                words = ops.Constant(self.size_of(match.option))
                again = self.call("is_listed", START, end, ops.Constant(self.size), words)
            self.set(end, ops.Select(again, end, end + self.size))

        self._matches(line, add, stops=False)
        with self.when(START.differs(end)):
            self._draw(START, end)

    def _marks(self, pattern: Pattern) -> dict[int, ops.Value]:
        """Begin a list for each option with one choice between few things, to mark those that were chosen."""
        marks = {}
        for number, option in enumerate(self.ask.options):
            if pattern.alternative in ("", option.name) and len(option.choices) == 1 and not _are_distinct(option):
                item = self.shapes.item(option.choices[0].items.type)
                if not item.optional and (count := self.shapes.count(item)):
                    empty = ops.Constant(self.memory.words([0]))
                    marks[number] = self.kept(self.call("flags", empty, ops.Constant(count)))
        return marks

    def _draw(self, start: ops.Value, end: ops.Value) -> None:
        """Return a random option between two addresses; a single one is not drawn."""
        count = self.kept((end - start) // self.size, "count")
        self.fail_if(count.equals(0), "no choice is left")
        self.add(ops.If(count.equals(1), (ops.Return(start),)))
        self.give(start + self.call("draw", self.seat, count) * self.size)

    def _preferred(self, line: Line) -> None:
        """Return the first option with the smallest keys. All patterns of a line have the same number of keys."""
        with self.ranked("lt") as (some, better):

            def compare(match: Match) -> None:
                with self.scoped(self._locals(match)):
                    values = [self.wide_key(key) for key in match.pattern.keys]
                with better(values):
                    self._put(match)

            self._matches(line, compare, stops=False)
        self.add(ops.If(some, (ops.Return(START),)))

    # --- options of a pattern

    def _matches(self, line: Line, body: Callable[[Match], None], *, stops: bool) -> None:
        for pattern in line.patterns:
            for number, option in enumerate(self.ask.options):
                if pattern.alternative in ("", option.name):
                    with self.scoped(dict(self.locals)), self.passing(option.guard):
                        self._match(Match(pattern, number, option), body, stops)

    def _locals(self, match: Match) -> dict[int, ops.Var | Slot]:
        return dict(enumerate([*self.around, *match.values] if match.pattern.alternative else self.around))

    def _match(self, match: Match, body: Callable[[Match], None], stops: bool) -> None:
        """Choose further values, and run the body if all tests hold. A choice that a test pins is not searched."""
        pattern, choices, place = match.pattern, match.option.choices, len(match.values)
        if place == len(choices):
            with self.passing(*match.option.tests), self.passing(*pattern.tests, locals_=self._locals(match)):
                body(match)
            return

        def bind(item: ops.Var) -> None:
            self.locals[choices[place].variable] = item
            self._match(replace(match, values=(*match.values, item)), body, stops)

        found = (pinned_by(test, len(self.around), len(choices)) for test in pattern.tests if pattern.alternative)
        pin = next((pinned[1] for pinned in found if pinned is not None and pinned[0] == place), None)
        items = choices[place].items
        if pin is None:
            self.source(items, stops=stops).each(bind)
            return
        with self.scoped(self._locals(match)):
            value = self.value(pin)
        item = self.var(value.rep, "pinned", value)
        with self.when(self.is_item(item, pin.type, items)):
            bind(item)


def _are_distinct(option: core.Option) -> bool:
    """Return whether the things that each choice of an option is between surely differ."""
    return all(_is_distinct(choice.items) for choice in option.choices)


def _is_distinct(items: core.Expression) -> bool:
    if isinstance(items, core.Const):
        return isinstance(items.value, tuple) and len(set(items.value)) == len(items.value)
    return isinstance(items, core.RangeFrom | core.AllSeats)
