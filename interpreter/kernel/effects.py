"""The seven effects: move, set, shuffle, ask, schedule, note, end. Nothing else changes a state.

Each leaves records in the log. A record is a tuple that begins with its sort:

- ``(PUT, site, cell, old)``: a cell changed; with the old value the change can be taken back;
- ``(MOVE, site, cell, old, cell, old, …)``: several cells changed at once: what one lost the other has;
- ``(NOTE, site, event, seen, value, …)``: an event happened; ``seen``: who may see each value (none: all);
- ``(CHOICE, option, frame, actor, values, context, seen)``: a decision was answered with values of an alternative, and
  ``context`` is what it was about; ``seen`` are the seats that may see each of both; what follows is undone with it;
- ``(MARK, None, word, number, cell, old, …)``: a round, phase or turn began or ended, and cells changed that say which
  one it is: before the record of what begins, after that of what ends, which is when a listener hears of it.

``site`` is the place of the statement, for explaining.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import field

from interpreter.base.frozen import dataclass
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.state import Layout, Record, State, Value
from interpreter.kernel.tracks import Track

__all__ = [
    "CHOICE",
    "MARK",
    "MOVE",
    "NOTE",
    "PUT",
    "Effects",
    "Refused",
    "Site",
    "ZoneShape",
    "changes",
    "has_ended",
    "put_back",
    "take_back",
    "undo",
]

PUT, NOTE, CHOICE, MARK, MOVE = range(5)
MAXIMUM_KEPT = 1_000
"""So many blocks may wait for an end or a start."""

Site = object


class Refused(Exception):
    """An effect that cannot happen: what is missing, in words."""


@dataclass(frozen=True, slots=True)
class ZoneShape:
    """Order and visibility of the cards of a zone. ``rank`` gives the key of a card where the order is by a rule."""

    name: str
    order: str
    rank: Callable[[State, int], int] | None
    piles: bool


@dataclass
class Effects:
    """The effects on the states of one program: what its cells are and how they are kept.

    ``wakes`` has, for each cell, the standing rules (as bits) that read it. The rules that must be looked at are a cell
    too, ``pending``. It changes with every other cell and is nothing again at nearly every decision, so no record is
    made of each change: see :meth:`settle_up`.
    """

    layout: Layout
    zones: dict[int, ZoneShape]
    units: frozenset[int]
    tracks: dict[int, Track]
    unlimited: frozenset[int]
    wakes: list[int]
    stock_pieces: dict[int, int]
    names: Callable[[int], str] = field(default=str)

    def __post_init__(self) -> None:
        self._pending = self.layout.base["pending"]
        self._settling = self.layout.base["settling"]
        self._location = self.layout.base.get("location", 0)
        self._piece = self.layout.base.get("piece", 0)
        self._chance = self.layout.base["chance"]
        self._kept = self.layout.base["kept"]

    # --- set

    def put(self, state: State, cell: int, value: Value, site: Site) -> None:
        """A cell gets a value; standing rules that read it are woken."""
        cells = state.cells
        old = cells[cell]
        if old == value and type(old) is type(value):
            return
        state.log.append((PUT, site, cell, old))
        cells[cell] = value
        state.forget()
        woken = self.wakes[cell]
        if woken:
            cells[self._pending] |= woken

    def _put_at_once(self, state: State, site: Site, *changes: tuple[int, Value]) -> None:
        """Different cells get other values than they have, in one record."""
        cells = state.cells
        record: list[object] = [MOVE, site]
        for cell, _ in changes:
            record += (cell, cells[cell])
        state.log.append(tuple(record))
        self._change(state, changes)

    def _change(self, state: State, changes: Sequence[tuple[int, Value]]) -> None:
        """Return the change that a record describes."""
        state.forget()
        for cell, value in changes:
            state.cells[cell] = value
            state.cells[self._pending] |= self.wakes[cell]

    # --- move

    def move_cards(self, state: State, cards: Sequence[int], zone: int, where: str, site: Site) -> None:
        """Cards go to a zone: to the place its order gives, or to its top or bottom, keeping their own order.

        In a zone of piles each card is a pile, unless ``where`` says that all of them are a new one.
        """
        if where == "new pile":
            self._lay_pile(state, cards, zone, site)
            return
        if len(cards) > 1 and self._move_together(state, cards, zone, where, site):
            return
        for card in cards if where != "top" else reversed(cards):
            if self.zones[zone].piles:
                self._lay_pile(state, (card,), zone, site)
                continue
            held = self._without(state, (card,), zone)
            held[zone] = self._with_card(state, card, zone, held[zone], where)
            self._lie(state, (card,), zone, held, site)

    def _move_together(self, state: State, cards: Sequence[int], zone: int, where: str, site: Site) -> bool:
        """Different cards that lie in one other zone move at once; piles, and cards from here and there, do not."""
        cells = state.cells
        sources = {cells[self._location + card] for card in cards}
        moved = frozenset(cards)
        if len(sources) > 1 or len(moved) < len(cards):
            return False
        (source,) = sources
        shape = self.zones[zone]
        if source == zone or shape.piles or self.zones[source].piles:
            return False
        held = cells[zone]
        after: tuple[int, ...]
        if shape.order == "kept":
            after = (*cards, *held) if where == "top" else (*held, *cards)
        elif shape.rank is None:
            after = tuple(sorted((*held, *cards)))
        else:
            rank = shape.rank
            after = tuple(card for _, card in sorted((rank(state, card), card) for card in (*held, *cards)))
        rest = tuple(card for card in cells[source] if card not in moved)
        self._put_at_once(
            state, site, (source, rest), (zone, after), *((self._location + card, zone) for card in cards)
        )
        return True

    def _without(self, state: State, cards: Sequence[int], zone: int) -> dict[int, tuple[Value, ...]]:
        """Return the zones without these cards; an empty pile disappears."""
        cells = state.cells
        gone = frozenset(cards)
        held: dict[int, tuple[Value, ...]] = {}
        for card in cards:
            source = cells[self._location + card]
            if source in held:
                continue
            if self.zones[source].piles:
                piles = [pile if gone.isdisjoint(pile) else _all_but(gone, pile) for pile in cells[source]]
                held[source] = tuple(filter(None, piles))
            else:
                held[source] = _all_but(gone, cells[source])
        if zone not in held:
            held[zone] = cells[zone]
        return held

    def _lie(
        self, state: State, cards: Sequence[int], zone: int, held: Mapping[int, tuple[Value, ...]], site: Site
    ) -> None:
        """Zones hold this now, and the cards lie in one of them. Piles are in the order of their uppermost cards where
        that is by a rule."""
        cells = state.cells
        changes: list[tuple[int, Value]] = []
        for each, there in held.items():
            rank = self.zones[each].rank
            if rank is not None and self.zones[each].piles:
                there = tuple(
                    [pile for _, _, pile in sorted([(rank(state, pile[0]), pile[0], pile) for pile in there])]
                )
            if there != cells[each]:
                changes.append((each, there))
        for card in cards:
            if cells[self._location + card] != zone:
                changes.append((self._location + card, zone))
        if len(changes) == 1:
            self.put(state, *changes[0], site)
        elif changes:
            self._put_at_once(state, site, *changes)

    def _with_card(self, state: State, card: int, zone: int, held: tuple[int, ...], where: str) -> tuple[int, ...]:
        """Return the content of a zone with one more card."""
        shape = self.zones[zone]
        if shape.order == "kept":
            return (card, *held) if where == "top" else (*held, card)
        if shape.rank is None:
            return tuple(sorted((*held, card)))
        rank = shape.rank
        keyed = [(rank(state, c), c) for c in held]
        insort(keyed, (rank(state, card), card))
        return tuple(c for _, c in keyed)

    def _lay_pile(self, state: State, cards: Sequence[int], zone: int, site: Site) -> None:
        """Cards become one more pile of a zone, behind the others where these are kept in no order."""
        if cards:
            held = self._without(state, cards, zone)
            held[zone] = (*held[zone], tuple(cards))
            self._lie(state, cards, zone, held, site)

    def move_to_pile(self, state: State, cards: Sequence[int], pile: Sequence[int], where: str, site: Site) -> None:
        """Cards go to the top (the front) or bottom of a pile, keeping their own order."""
        zone = state.cells[self._location + pile[0]]
        if not self.zones[zone].piles:
            raise Refused("this pile has been taken away")
        stays = next((card for card in pile if card not in cards), None)
        if stays is None:
            return
        held = self._without(state, cards, zone)
        piles = list(held[zone])
        at = next(at for at, other in enumerate(piles) if stays in other)
        piles[at] = (*cards, *piles[at]) if where != "bottom" else (*piles[at], *cards)
        held[zone] = tuple(piles)
        self._lie(state, cards, zone, held, site)

    def move_tokens(self, state: State, amount: Value, source: int, target: int, site: Site) -> None:
        """An amount goes from one pool or track to another; totals hold."""
        if source == target:
            return
        cells = state.cells
        if source in self.units:
            self._check_number(amount, cells[source], source, target, cells[target])
            if amount:
                self._put_at_once(state, site, (source, cells[source] - amount), (target, cells[target] + amount))
            return
        left = tuple(a - b for a, b in zip(cells[source], amount, strict=True))
        more = tuple(a + b for a, b in zip(cells[target], amount, strict=True))
        if min(amount, default=0) < 0:
            raise Refused("an amount below 0 cannot be moved")
        if min(left, default=0) < 0 and source not in self.unlimited:
            raise Refused(f"{self.names(source)} holds less than that")
        track = self.tracks.get(target)
        if track is not None and any(n > track.capacity(kind) for kind, n in enumerate(more)):
            raise Refused(f"{self.names(target)} has no space for that")
        if any(amount):
            self._put_at_once(state, site, (source, left), (target, more))

    def _check_number(self, amount: int, held: int, source: int, target: int, there: int) -> None:
        if amount < 0:
            raise Refused("an amount below 0 cannot be moved")
        if held < amount and source not in self.unlimited:
            raise Refused(f"{self.names(source)} holds {held}, not {amount}")
        track = self.tracks.get(target)
        if track is not None and there + amount > track.capacity(0):
            raise Refused(f"{self.names(target)} has no space for {amount} more")

    def place_piece(self, state: State, stock: int, place: int, owner: int, pieces: int, site: Site) -> None:
        """A piece of a stock goes to an empty place."""
        cell = self._piece + place
        if state.cells[cell] is not None:
            raise Refused("the place is taken")
        if state.cells[stock] < 1:
            raise Refused(f"{self.names(stock)} is empty")
        piece = owner * pieces + self.stock_pieces[stock]
        self._put_at_once(state, site, (stock, state.cells[stock] - 1), (cell, piece))

    def take_piece(self, state: State, place: int, stock: int, owner: int, pieces: int, site: Site) -> None:
        """The piece on a place goes back to its owner's stock."""
        cell = self._piece + place
        if state.cells[cell] != owner * pieces + self.stock_pieces[stock]:
            raise Refused(f"no piece of {self.names(stock)} stands there")
        self._put_at_once(state, site, (cell, None), (stock, state.cells[stock] + 1))

    # --- shuffle and draw

    def shuffle(self, state: State, zone: int, chance: ChanceSource, name: str, number: int, site: Site) -> None:
        """A zone's cards get a random order; the outcome is named."""
        cell = self._chance + number
        count = state.cells[cell]
        cards = chance.shuffle(name, count, state.cells[zone])
        self.put(state, cell, count + 1, site)
        self.put(state, zone, cards, site)

    def pick(
        self, state: State, items: tuple[Value, ...], chance: ChanceSource, name: str, number: int, site: Site
    ) -> Value:
        """One of the items, by chance; the outcome is named."""
        if not items:
            raise Refused("there is nothing to pick from")
        cell = self._chance + number
        count = state.cells[cell]
        index = chance.draw(name, count, items)
        self.put(state, cell, count + 1, site)
        return items[index]

    # --- what is pending

    def waiting(self, state: State) -> tuple[int, int]:
        """The standing rules that must be looked at, and whether that goes on."""
        return state.cells[self._pending], state.cells[self._settling]

    def settle_up(self, state: State, before: tuple[int, int]) -> None:
        """Records how ``waiting`` has changed from one decision to the next, if it has."""
        for cell, old in zip((self._pending, self._settling), before, strict=True):
            if state.cells[cell] != old:
                state.log.append((PUT, None, cell, old))

    def wait_again(self, state: State, before: tuple[int, int]) -> None:
        """``waiting`` is as it was before what is taken back."""
        state.cells[self._pending], state.cells[self._settling] = before

    # --- schedule, note, mark

    def keep(self, state: State, block: tuple[Value, ...], site: Site) -> None:
        """A block waits for its moment."""
        kept = state.cells[self._kept]
        if len(kept) >= MAXIMUM_KEPT:
            raise Refused(f"more than {MAXIMUM_KEPT:,} blocks wait for their moment")
        self.put(state, self._kept, (*kept, block), site)

    def note(
        self, state: State, event: str, values: tuple[Value, ...], seen: tuple[tuple[int, ...] | None, ...], site: Site
    ) -> None:
        state.log.append((NOTE, site, event, seen, *values))

    def mark(self, state: State, word: str, number: int, *changes: tuple[int, Value]) -> None:
        """Something begins or ends, and cells that say so change: before one hears of what begins, after what ends."""
        record: list[Value] = [MARK, None, word, number]
        for cell, _ in changes:
            record += (cell, state.cells[cell])
        ended = has_ended(record)
        if not ended:
            self._change(state, changes)
        state.log.append(tuple(record))
        if ended:
            self._change(state, changes)


def _all_but(cards: Container[int], held: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([card for card in held if card not in cards])


def changes(record: Record) -> Iterator[tuple[int, Value]]:
    """The cells that changed by a record, each with what it held before, the last first."""
    if record[0] in (PUT, MOVE, MARK):
        first = 4 if record[0] == MARK else 2
        for place in range(len(record) - 2, first - 1, -2):
            yield record[place], record[place + 1]


def has_ended(record: Sequence[Value]) -> bool:
    """Return whether a record tells of something that ends. What changes by it changes afterwards."""
    return bool(record[0] == MARK and record[2].startswith("end of "))


def put_back(cells: list[Value], record: Record) -> None:
    """Takes the changes of a record back."""
    sort = record[0]
    if sort == PUT:
        cells[record[2]] = record[3]
    elif sort == MOVE:
        cells[record[2]] = record[3]
        cells[record[4]] = record[5]
        for place in range(6, len(record), 2):
            cells[record[place]] = record[place + 1]
    elif sort == MARK:
        for place in range(4, len(record), 2):
            cells[record[place]] = record[place + 1]


def take_back(state: State, length: int) -> None:
    """Takes back everything since the log was so long. The frame is the caller's to restore."""
    log, cells = state.log, state.cells
    while len(log) > length:
        put_back(cells, log.pop())
    state.forget()


def undo(state: State) -> Record | None:
    """Takes back everything since the last choice, and the choice; gives its record, or nothing where there is none."""
    log = state.log
    undone = []
    while log:
        record = log.pop()
        if record[0] == CHOICE:
            break
        undone.append(record)
    else:
        log.extend(reversed(undone))
        return None
    state.frame = record[2]
    if undone:  # else what functions gave is still true
        cells = state.cells
        for change in undone:
            if change[0] == PUT:  # most are
                cells[change[2]] = change[3]
            else:
                put_back(cells, change)
        state.forget()
    return record
