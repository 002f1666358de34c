"""What emitted functions call by name: effects that are too long to write in place, and how a game goes on.

Effects leave the same records as :class:`~interpreter.kernel.effects.Effects`. Whatever is refused raises
:class:`Abandoned`: the machine takes back what was done since the choice, and the plain form says what is wrong.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress, filterfalse, repeat
from operator import ne
from typing import TYPE_CHECKING, Any

from interpreter.compiler.fast import helpers
from interpreter.compiler.fast.budget import LITTLE, MOST_FOLLOWED, Abandoned, Budget
from interpreter.compiler.fast.rooms import claims
from interpreter.compiler.fast.zones import Zones
from interpreter.compiler.plain.builtins import dealt_lengths
from interpreter.compiler.plain.machine import MAXIMUM_DEPTH, SPECIALS, Machine
from interpreter.compiler.watches import with_matches
from interpreter.kernel import bags
from interpreter.kernel.effects import MARK, MAXIMUM_KEPT, MOVE, PUT, changes, has_ended
from interpreter.kernel.graphs import Graph
from interpreter.kernel.state import State, Value

if TYPE_CHECKING:
    from interpreter.compiler.fast.emitted import Emitted
    from interpreter.compiler.fast.machine import FastMachine

__all__ = ["Abandoned", "Runtime"]

ENTERED = 1_000
"""The units that it costs when the machine begins a procedure."""

HELPERS = (
    *("forget", "row_anew", "partial_row_anew", "room_on", "price_on", "put", "move_tokens", "place_piece"),
    *("take_piece", "move_card", "move_cards", "move_to_pile", "shuffle", "pick", "keep", "mark", "visible"),
    *("settle", "matched", "stop", "fall_due", "plain_stretch", "plain_values", "plain_choice", "plain_match"),
    "check_depth",
)
"""Methods that emitted code calls, by the same names."""

Going = tuple[int, tuple[Value, ...], Any]
Special = Callable[[State, tuple[Value, ...], Any], "Going | None"]


MOST_TEMPLATES = 64
"""So many answers of one row are known as they last were."""

MOST_ANSWERS = 1_024
"""So many questions about a map are remembered."""


class Runtime:
    """The helpers of one machine, for what was written of its program."""

    def __init__(self, machine: FastMachine, emitted: Emitted) -> None:
        self.machine = machine
        self.constants = machine.constants
        layout, rows, whole = self.constants.layout, emitted.rows, emitted.whole
        base = self.base = layout.base
        self.budget = Budget(self.constants, emitted.longest)
        self.rows = rows
        self.templates: dict[int, dict[Any, tuple[list[Value], list[Value]]]] = {number: {} for number in whole}
        """Rows as they last were, by what they are given and what all of a row depends on: cells and values."""
        self.spans = {
            number: (
                min(rows[number], default=0),
                max(rows[number], default=-1) + 1,
                tuple(base[name] for name in groups),
            )
            for number, groups in whole.items()
        }
        self.followers: list[Callable[..., None] | None] = [None] * layout.size
        """For each cell that rows read what brings these up to date."""
        read = {cell for places in rows.values() for cell in places}
        self.readers: list[tuple[int, ...]] = [()] * layout.size
        """For each cell the caches that a change of it empties."""
        for group, caches in emitted.readers.items():
            first, count = layout.base[group], layout.count(group)
            self.readers[first : first + count] = [tuple(caches)] * count
        self.changing = [bool(caches) or cell in read for cell, caches in enumerate(self.readers)]
        """For each cell whether anything is remembered that hangs on it."""
        model = self.constants.model
        self.effects = self.constants.effects
        self.keyed = [number not in emitted.single for number in range(emitted.caches)]
        """For each cache whether its answers are kept by what is given; else it is one answer, or ``NOTHING``."""
        self.wakes = self.effects.wakes
        self.zones = self.effects.zones
        self.location, self.piece = base["location"], base.get("piece", 0)
        places = range(self.location, self.location + len(model.cards))
        self.location_matters = any(self.changing[place] or self.wakes[place] for place in places)
        """Whether something is remembered of where cards lie, or a standing rule looks at it."""
        self.pending, self.settling, self.kept = base["pending"], base["settling"], base["kept"]
        self.chance = base["chance"]
        self.phase = base["phase"]
        self.phases = [model.rules[name].top.id for name in model.phases]
        """The procedure of each phase."""
        self.names_of_phases = tuple(model.phases)
        self.owners = [layout.owner_of(cell)[1] for cell in range(layout.size)]
        zones = Zones(machine.program, machine.constants)
        self.order, self.odd = zones.order, zones.odd
        self.full = {cell: track.capacities() for cell, track in self.constants.tracks.items()}
        self.sums = {
            cell: tuple(tuple(accumulate(track.prices(kind), initial=0)) for kind in range(len(track.spaces)))
            for cell, track in self.constants.tracks.items()
        }
        """What the first so many tokens of a full row cost."""
        self.functions: list[Special] = []
        self.backs: list[Callable[..., Going | None]] = []
        """For each stretch what goes on there with what a call gave."""
        self.after: list[Callable[[State], Going | None]] = []
        """For each phase what ends it."""
        self.standing: list[Callable[[State], tuple[Value, ...] | None]] = []

    def names(self) -> dict[str, Any]:
        """All helpers by the names that emitted code has for them."""
        graph, lengths = self.constants.graph, self.constants.lengths
        found: dict[str, Any] = {
            **{name: getattr(helpers, name) for name in helpers.__all__},
            "BACK": self.backs,
            "NEXT": self.after,
            **{
                f"OPTION_{index}_{number}": option
                for index, site in self.machine.asks.items()
                for number, option in enumerate(site.options)
            },
            "SEEN": tuple(self.constants.seen_by.get(cell) for cell in range(self.constants.layout.size)),
            "WAKES": self.wakes,
            "CHANGING": self.changing,
            "ODD": self.odd,
            "bag_sum": bags.add,
            "bag_difference": bags.subtract,
            "claims": claims,
            "ENDLESS": float("inf"),
            "ANY_FAILURE": (ArithmeticError, LookupError, TypeError, ValueError, Abandoned),
            **self.budget.names(),
            "remembered_order": helpers.once_each,
            "insort": insort,
        }
        found.update((name, getattr(self, name)) for name in HELPERS)
        found.update(
            (name, getattr(self, f"_{name}")) for name in ("round_over", "next_phase", "phase_begin", "phase_over")
        )
        found["visible_in"] = self.machine.visible_in
        if graph is not None:
            if self.constants.model.graph is not None and self.constants.model.graph.dealt:
                found.update(self._asked_as_dealt(graph))
            else:
                found["distances"], found["with_start"], found["path"] = graph.asked(lengths)
            found["connected"] = lru_cache(MOST_ANSWERS)(graph.connected)
            found["neighbours"] = graph.neighbours
        return found

    def _asked_as_dealt(self, graph: Graph) -> dict[str, Callable[..., Value]]:
        """The same where cards say how long links are, which come last; those of the last question are known."""
        lengths_of = dealt_lengths(self.constants.model)
        known: tuple[int, ...] | None = None
        asked = graph.asked((0,) * len(graph.links))

        def as_dealt(number: int) -> Callable[..., Value]:
            def ask(*arguments: Value) -> Value:
                nonlocal known, asked
                *given, cards = arguments
                if cards is not known:
                    known, asked = cards, graph.asked(lengths_of(cards))
                return asked[number](*given)

            return ask

        return {f"{name}_dealt": as_dealt(number) for number, name in enumerate(("distances", "with_start", "path"))}

    # --- what is remembered

    def ready(self, state: State) -> None:
        """The caches of a state, new where it has none; what the plain form remembered goes, since it is not looked at.

        The plain form may have made what is too long for the fast one.
        """
        self.budget.check(state)
        state.memo.clear()
        if state.caches is None:
            state.caches = self._no_answers()

    def _no_answers(self) -> list[Any]:
        return [{} if keyed else helpers.NOTHING for keyed in self.keyed]

    def aside(self, state: State, call: Callable[[], Any]) -> Any:
        """Runs something of the plain form in between; what depends on the cells that it changes is not remembered."""
        caches, log, begun = state.caches, state.log, len(state.log)
        try:
            found = call()
        except BaseException:
            caches[:] = self._no_answers()
            raise
        finally:
            state.memo.clear()
            state.caches = caches
        before: dict[int, Value] = {}
        for record in reversed(log[begun:]):
            for cell, old in changes(record):
                if self.changing[cell]:
                    before[cell] = old
        if len(before) > MOST_FOLLOWED:
            caches[:] = self._no_answers()
        else:
            for cell, old in before.items():
                self.forget(state, cell, old)
        return found

    # --- effects

    def put(self, state: State, cell: int, value: Value, site: Any) -> None:
        cells = state.cells
        old = cells[cell]
        if old == value and type(old) is type(value):
            return
        state.log.append((PUT, site, cell, old))
        cells[cell] = value
        if self.changing[cell]:
            self.forget(state, cell, old)
        if woken := self.wakes[cell]:
            cells[self.pending] |= woken

    def put_both(self, state: State, one: tuple[int, Value], other: tuple[int, Value], site: Any) -> None:
        """Two cells get other values than they have, in one record."""
        cells = state.cells
        state.log.append((MOVE, site, one[0], cells[one[0]], other[0], cells[other[0]]))
        self._change(state, (one, other))

    def forget(self, state: State, cell: int, old: Value) -> None:
        """Nothing that depends on a cell is remembered any longer."""
        caches = state.caches
        for number in self.readers[cell]:
            caches[number] = {} if self.keyed[number] else helpers.NOTHING
        follow = self.followers[cell]
        if follow is not None:
            follow(state.cells, caches, cell, old, state.cells[cell])

    def row_anew(
        self,
        S: list[Value],
        M: Any,
        number: int,
        size: int,
        given: tuple[Value, ...],
        one: Any,
        every: Any,
        units: int,
    ) -> list[Value]:
        """A row that was not kept yet: ``one`` works a place out, and ``every`` all of them.

        What it was when it was last made is known for all games: where most of it is the same only the rest is worked
        out.
        """
        first, last, whole = self.spans[number]
        known, key = self.templates[number], (given, *[S[cell] for cell in whole])
        now = S[first:last]
        template = known.get(key)
        values: list[Value] | None = None
        if template is not None:
            before, same = template
            if before == now:
                return same[:]
            changed = list(compress(range(first, last), map(ne, before, now)))
            if 2 * len(changed) < size:
                cells = self.rows[number]
                places = {place for cell in changed for place in cells.get(cell, ())}
                self._pay(len(places) * units)
                values = same[:]
                for place in places:
                    values[place] = one(S, M, place, *given)
        elif len(known) >= MOST_TEMPLATES:
            known.clear()
        if values is None:
            self._pay(size * units)
            values = every(S, M, *given)
        known[key] = now, values[:]
        return values

    def _pay(self, units: int) -> None:
        self.budget.left[0] -= units
        if self.budget.left[0] < 0:
            raise Abandoned

    def partial_row_anew(
        self,
        S: list[Value],
        M: Any,
        number: int,
        size: int,
        given: tuple[Value, ...],
        one: Any,
        every: Any,
        units: int,
    ) -> list[Value]:
        """As ``row_anew``, with none where it cannot be worked out."""

        def one_softly(*arguments: Any) -> Value:
            try:
                return one(*arguments)
            except (LookupError, TypeError):
                return None

        def every_softly(*arguments: Any) -> list[Value]:
            try:
                return every(*arguments)  # type: ignore[no-any-return]
            except (LookupError, TypeError):
                return [one_softly(S, M, place, *given) for place in range(size)]

        return self.row_anew(S, M, number, size, given, one_softly, every_softly, units)

    def move_card(self, state: State, card: int, zone: int, where: str, site: Any) -> None:
        cells, odd, changing, wakes = state.cells, self.odd, self.changing, self.wakes
        place = self.location + card
        source = cells[place]
        if source in odd or zone in odd or source == zone:
            self._move_card_slowly(state, card, zone, where, site)
            return
        held, there, order = cells[source], cells[zone], self.order[zone]
        at = held.index(card)
        state.log.append((MOVE, site, source, held, zone, there, place, source))
        cells[source] = held[:at] + held[at + 1 :]
        if order is None:
            cells[zone] = (card, *there) if where == "top" else (*there, card)
        else:
            at = bisect(there, order[card], key=order.__getitem__)
            cells[zone] = (*there[:at], card, *there[at:])
        cells[place] = zone
        if changing[source]:
            self.forget(state, source, held)
        if changing[zone]:
            self.forget(state, zone, there)
        if changing[place]:
            self.forget(state, place, source)
        if woken := wakes[source] | wakes[zone] | wakes[place]:
            cells[self.pending] |= woken

    def _move_card_slowly(self, state: State, card: int, zone: int, where: str, site: Any) -> None:
        if self.zones[zone].rank is not None and self.order[zone] is None:
            raise Abandoned
        self.aside(state, lambda: self.effects.move_cards(state, (card,), zone, where, site))

    def move_cards(self, state: State, cards: tuple[int, ...], zone: int, where: str, site: Any) -> None:
        if where == "new pile":
            self.aside(state, lambda: self.effects.move_cards(state, cards, zone, where, site))
            return
        if len(cards) > 1 and self._move_together(state, cards, zone, where, site):
            return
        for card in cards if where != "top" else reversed(cards):
            self.move_card(state, card, zone, where, site)

    def _move_together(self, state: State, cards: tuple[int, ...], zone: int, where: str, site: Any) -> bool:
        """As in :class:`~interpreter.kernel.effects.Effects`."""
        cells, location = state.cells, self.location
        source = cells[location + cards[0]]
        moved = frozenset(cards)
        if source == zone or self.zones[source].piles or zone in self.odd or len(moved) < len(cards):
            return False
        held, there, order = cells[source], cells[zone], self.order[zone]
        if not moved.issubset(held):
            return False
        if order is None:
            after = (*cards, *there) if where == "top" else (*there, *cards)
        else:
            after = tuple(sorted((*there, *cards), key=order.__getitem__))
        places = [location + card for card in cards]
        before = chain.from_iterable(zip(places, repeat(source), strict=False))
        state.log.append((MOVE, site, source, held, zone, there, *before))
        for place in places:
            cells[place] = zone
        cells[source], cells[zone] = tuple(filterfalse(moved.__contains__, held)), after
        changing, wakes = self.changing, self.wakes
        for cell, old in ((source, held), (zone, there)):
            if changing[cell]:
                self.forget(state, cell, old)
            if woken := wakes[cell]:
                cells[self.pending] |= woken
        if self.location_matters:
            for place in places:
                if changing[place]:
                    self.forget(state, place, source)
                cells[self.pending] |= wakes[place]
        return True

    def move_to_pile(self, state: State, cards: tuple[int, ...], pile: tuple[int, ...], where: str, site: Any) -> None:
        self.aside(state, lambda: self.effects.move_to_pile(state, cards, pile, where, site))

    def move_tokens(self, state: State, amount: Value, source: int, target: int, site: Any) -> None:
        if source == target:
            return
        cells, effects = state.cells, self.effects
        track = effects.tracks.get(target)
        if source in effects.units:
            if amount < 0 or (cells[source] < amount and source not in effects.unlimited):
                raise Abandoned
            if track is not None and cells[target] + amount > track.capacity(0):
                raise Abandoned
            if amount:
                self.put_both(state, (source, cells[source] - amount), (target, cells[target] + amount), site)
            return
        left = bags.subtract(cells[source], amount)
        more = bags.add(cells[target], amount)
        if min(amount, default=0) < 0 or (min(left, default=0) < 0 and source not in effects.unlimited):
            raise Abandoned
        if track is not None and any(n > track.capacity(kind) for kind, n in enumerate(more)):
            raise Abandoned
        if any(amount):
            self.put_both(state, (source, left), (target, more), site)

    def place_piece(self, state: State, number: int, stock: int, place: int, site: Any) -> None:
        cells = state.cells
        cell = self.piece + place
        if number != 1 or cells[cell] is not None or cells[stock] < 1:
            raise Abandoned
        piece = self.owners[stock] * len(self.constants.pieces) + self.effects.stock_pieces[stock]
        self.put_both(state, (stock, cells[stock] - 1), (cell, piece), site)

    def take_piece(self, state: State, place: int, stock: int, site: Any) -> None:
        owner = self.owners[stock]
        cell = self.piece + place
        if state.cells[cell] != owner * len(self.constants.pieces) + self.effects.stock_pieces[stock]:
            raise Abandoned
        self.put_both(state, (cell, None), (stock, state.cells[stock] + 1), site)

    def shuffle(self, state: State, zone: int, name: str, number: int, site: Any) -> None:
        cell = self.chance + number
        count = state.cells[cell]
        cards = self.machine.chance.shuffle(name, count, state.cells[zone])
        self.put(state, cell, count + 1, site)
        self.put(state, zone, cards, site)

    def pick(self, state: State, items: tuple[Value, ...], name: str, number: int, site: Any) -> Value:
        if not items:
            raise Abandoned
        cell = self.chance + number
        count = state.cells[cell]
        index = self.machine.chance.draw(name, count, items)
        self.put(state, cell, count + 1, site)
        return items[index]

    def keep(self, state: State, block: tuple[Any, ...], site: Any) -> None:
        kept = state.cells[self.kept]
        if len(kept) >= MAXIMUM_KEPT:
            raise Abandoned
        self.put(state, self.kept, (*kept, block), site)

    def mark(self, state: State, word: str, number: int, *changes: tuple[int, Value]) -> None:
        record: list[Any] = [MARK, None, word, number]
        for cell, _ in changes:
            record += (cell, state.cells[cell])
        ended = has_ended(record)
        if not ended:
            self._change(state, changes)
        state.log.append(tuple(record))
        if ended:
            self._change(state, changes)

    def _change(self, state: State, changes: Sequence[tuple[int, Value]]) -> None:
        """What a record says that changes."""
        cells = state.cells
        for cell, value in changes:
            old, cells[cell] = cells[cell], value
            if self.changing[cell]:
                self.forget(state, cell, old)
            cells[self.pending] |= self.wakes[cell]

    def visible(self, state: State, card: Value) -> tuple[int, ...] | None:
        if card is None:
            return None
        return self.constants.seen_by.get(state.cells[self.location + card])

    def room_on(self, track: int, present: Value, kind: int) -> int:
        return self.full[track][kind] - int(present[kind] if type(present) is tuple else present)

    def price_on(self, track: int, present: Value, wanted: Value) -> int:
        sums, full, total = self.sums[track], self.full[track], 0
        for kind, number in enumerate(_as_bag(wanted)):
            if number:
                free = full[kind] - _as_bag(present)[kind]
                if number < 0 or free < 0:
                    raise Abandoned
                total += sums[kind][free + number] - sums[kind][free]
        return total

    # --- what the plain form does here

    def paid(self, state: State, call: Callable[[], Any]) -> Any:
        """Something of the plain form, which counts its steps; what it leaves must suit the fast form."""
        meter = self.machine.meter
        meter.refill()
        try:
            found = self.aside(state, call)
        finally:
            self.budget.pay_for(meter)
        self.budget.check(state)
        return found

    def plain_stretch(self, index: int, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        steps, end, _ = self.machine._stretches[index]

        def run() -> Any:
            locals_ = list(env)
            for step in steps:
                step(state, locals_)
            return end(state, locals_, up)

        going = self.paid(state, run)
        if going is None:
            return None
        self.budget.fits(going[1])
        return going[0], tuple(going[1]), going[2]

    def plain_choice(self, index: int, number: int, state: State, frame: Any, values: tuple[Value, ...]) -> Going:
        site = self.machine.asks[index]
        locals_ = list(frame[1])
        for variable, value in zip(site.options[number].variables, values, strict=True):
            locals_[variable] = value
        return site.bodies[number], tuple(locals_), frame[2]

    def plain_values(
        self, index: int, number: int, state: State, env: tuple[Value, ...]
    ) -> Iterator[tuple[Value, ...]]:
        option = self.machine.asks[index].options[number]
        found = self.paid(state, lambda: list(Machine.values(self.machine, state, list(env), option)))
        self.budget.fits(found)
        return iter(found)

    def plain_match(self, number: int, state: State) -> tuple[Value, ...] | None:
        found: tuple[Value, ...] | None = self.paid(state, lambda: self.machine._watches[number][1](state))
        self.budget.fits(found or ())
        return found

    def check_depth(self, up: Any) -> None:
        """As the plain form does for the frame that is made next."""
        depth = 1
        while up is not None:
            up = up[2]
            depth += 1
        if depth > MAXIMUM_DEPTH:
            raise Abandoned

    # --- how a game goes: as in the plain form

    def settle(self, state: State, back: Any) -> Going | None:
        """Looks at the watches. Nothing where none has a match: then the caller goes on itself."""
        cells, place, standing = state.cells, self.pending, self.standing
        pending = cells[place]
        while pending:
            number = (pending & -pending).bit_length() - 1
            values = standing[number](state)
            if values is not None:
                return self.matched(state, back, number, pending, values)
            pending &= pending - 1
        cells[place] = 0
        return None

    def matched(self, state: State, back: Any, number: int, pending: int, values: tuple[Value, ...]) -> Going | None:
        """Begins to settle with what the first watch has found; of the others only those with a match are pending."""
        self.budget.left[0] -= LITTLE
        left = with_matches(pending, number, lambda other: self.standing[other](state))
        state.cells[self.pending], state.cells[self.settling] = left, 1
        procedure = self.machine._watches[number][0]
        return self.enter(state, procedure, values, (self.machine.SETTLE, (), back, -1))

    def _settle(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        going = self.settle(state, up)
        if going is None:
            state.cells[self.settling] = 0
            return self.back(up)
        return going

    def back(self, up: Any) -> Going:
        index, env, further, into = up
        if into >= 0:
            env = (*env[:into], None, *env[into + 1 :])
        return index, env, further

    def enter(self, state: State, procedure: str, values: tuple[Value, ...], up: Any) -> Going | None:
        lowered = self.machine.program.procedures[procedure]
        self.budget.left[0] -= ENTERED
        if lowered.steps is not None:
            self.machine.whole(procedure)(state, *values)
            return self.back(up)
        self.check_depth(up[2])
        return lowered.entry, (*values, *((None,) * (lowered.local_count - len(values)))), up

    def settled(self, state: State, back: Any) -> Going | None:
        if not state.cells[self.pending] or state.cells[self.settling]:
            return back[0], back[1], back[2]
        return self.settle(state, back) or (back[0], back[1], back[2])

    def take_kept(self, state: State, edge: str, of: str) -> tuple[Any, ...] | None:
        waiting = state.cells[self.kept]
        for position, block in enumerate(waiting):
            if block[0] == edge and block[1] == of:
                self.put(state, self.kept, waiting[:position] + waiting[position + 1 :], None)
                return tuple(block)
        return None

    def fall_due(self, state: State, of: str) -> None:
        waiting = state.cells[self.kept]
        if waiting:
            due = tuple([("due", *block[1:]) if block[:2] == ("start", of) else block for block in waiting])
            self.put(state, self.kept, due, None)

    def reset(self, state: State, lasts: str) -> None:
        cells = state.cells
        for cell, start in self.machine.resets.get(lasts, ()):
            if cells[cell] is not start:
                self.put(state, cell, start, None)

    def stop(self, state: State) -> None:
        self.put(state, self.base["over"], True, None)
        self.mark(state, "end of game", state.cells[self.base["round"]])
        state.frame = None

    def specials(self) -> list[Special]:
        return [getattr(self, f"_{name}") for name in SPECIALS]

    def _start(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        machine = self.machine
        self.mark(state, "start of game", 0)
        top = machine.program.model.rules[machine.program.model.setup].top.id
        return self.enter(state, top, (), (machine.ROUND_START, (), None, -1))

    def _round_start(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        number = state.cells[self.base["round"]] + 1
        self.mark(state, "start of round", number, (self.base["round"], number), (self.phase, -1))
        self.fall_due(state, "round")
        return self._next_phase(state, (), None)

    def _next_phase(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        cells = state.cells
        number = self.machine.phase_due(state)
        if number is None:
            return self._round_over(state, (), None)
        self.mark(state, f"start of {self.names_of_phases[number]}", number, (self.phase, number))
        if cells[self.kept]:
            self.fall_due(state, "phase")
        return self._phase_begin(state, (), None)

    def _phase_begin(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        if state.cells[self.kept]:
            kept = self.take_kept(state, "due", "round") or self.take_kept(state, "due", "phase")
            if kept is not None:
                return self.enter(state, kept[2], kept[3], (self.machine.PHASE_BEGIN, (), None, -1))
        return self.enter(state, self.phases[state.cells[self.phase]], (), (self.machine.PHASE_OVER, (), None, -1))

    def _phase_over(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        cells = state.cells
        if not cells[self.kept] and (not cells[self.pending] or cells[self.settling]):
            return self._phase_done(state, (), None)
        return self.settled(state, (self.machine.PHASE_KEPT, (), None, -1))

    def _phase_kept(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        kept = self.take_kept(state, "end", "phase")
        if kept is not None:
            return self.enter(state, kept[2], kept[3], (self.machine.PHASE_KEPT, (), None, -1))
        return self.settled(state, (self.machine.PHASE_DONE, (), None, -1))

    def _phase_done(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        number = state.cells[self.phase]
        self.reset(state, "phase")
        self.mark(state, f"end of {self.names_of_phases[number]}", number)
        return self._next_phase(state, (), None)

    def _round_over(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        return self.settled(state, (self.machine.ROUND_KEPT, (), None, -1))

    def _round_kept(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        kept = self.take_kept(state, "end", "round")
        if kept is not None:
            return self.enter(state, kept[2], kept[3], (self.machine.ROUND_KEPT, (), None, -1))
        self.reset(state, "round")
        self.mark(state, "end of round", state.cells[self.base["round"]])
        return self.machine.ROUND_START, (), None

    def _turn_over(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        return self.settled(state, (self.machine.TURN_KEPT, (), up, -1))

    def _turn_kept(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        kept = self.take_kept(state, "end", "turn")
        if kept is not None:
            return self.enter(state, kept[2], kept[3], (self.machine.TURN_KEPT, (), up, -1))
        return self.settled(state, (self.machine.TURN_DONE, (), up, -1))

    def _turn_done(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        turn = self.base["turn"]
        self.reset(state, "turn")
        self.mark(state, "end of turn", state.cells[turn], (turn, -1))
        return self.back(up)

    def _nothing(self, state: State, env: tuple[Value, ...], up: Any) -> Going | None:
        state.frame = None
        return None


def _as_bag(value: Value) -> Value:
    return value if isinstance(value, tuple) else (value,)
