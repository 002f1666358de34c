"""The seven effects: move, set, shuffle, ask, schedule, note, end. Nothing else changes a state.

Each appends records to the log. A record is a tuple that begins with its sort:

- ``(PUT, site, cell, old)``: a cell changed; the old value allows undo.
- ``(MOVE, site, cell, old, cell, old, …)``: several cells changed at once, as things moved between them.
- ``(NOTE, site, event, seen, value, …)``: an event happened; ``seen`` has the seats that see each value (None: all).
- ``(CHOICE, option, frame, actor, values, context, seen)``: a decision was answered with an alternative and its values;
  ``seen`` has the seats that may see each context value and each chosen value. Undo removes it with all that follows.
- ``(MARK, None, word, number, cell, old, …)``: a round, phase or turn began or ended, and the cells that hold its name
  or number changed: at a beginning before the record is appended, at an end after it. Listeners are called in between.

``site`` is the source position of the statement, for explanations.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from interpreter.base.plurals import counted
from interpreter.kernel.chance import ChanceSource
from interpreter.kernel.state import Layout, Record, State, Value, as_bag
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
"""Maximum number of scheduled blocks."""

Site = object


class Refused(Exception):
    """Raised for an impossible effect; the message says what is missing."""


class ZoneShape(Struct, frozen=True):
    """Order and structure of a zone. ``rank`` returns the sort key of a card if a rule defines the order."""

    name: str
    order: str
    rank: Callable[[State, int], int] | None
    piles: bool
    most: int | None = None


@dataclass
class Effects:
    """The effects on states of one program, with the layout and structure of its cells.

    ``wakes`` has, for each cell, the standing rules (as bits) that read it. The cell ``pending`` has the rules to
    check. It changes with every other cell and is empty again at nearly every decision, so single changes of it are not
    recorded: see :meth:`settle_up`. ``stock_pieces`` has the pieces of each stock: their owner and kind as a number.
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
        """Set a cell and wake the standing rules that read it."""
        cells = state.cells
        old = cells[cell]
        if type(old) is type(value) and old == value:
            return
        state.log.append((PUT, site, cell, old))
        cells[cell] = value
        state.forget()
        woken = self.wakes[cell]
        if woken:
            cells[self._pending] |= woken

    def _put_at_once(self, state: State, site: Site, *changes: tuple[int, Value]) -> None:
        """Set several cells to different values, in one record."""
        state.log.append((MOVE, site, *_before(state, changes)))
        self._change(state, changes)

    def _change(self, state: State, changes: Sequence[tuple[int, Value]]) -> None:
        """Set cells and wake the standing rules that read them, without a record."""
        state.forget()
        for cell, value in changes:
            state.cells[cell] = value
            state.cells[self._pending] |= self.wakes[cell]

    # --- move

    def move_cards(self, state: State, cards: Sequence[int], zone: int, where: str, site: Site) -> None:
        """Move cards to a zone: to the position that its order defines, or to its top or bottom in their own order.

        In a zone of piles each card becomes a pile, unless ``where`` is ``new pile``, which puts all of them on one.
        """
        if where == "new pile":
            self._lay_pile(state, cards, zone, site)
            return
        moves: list[Sequence[int]] = [cards]
        if len(cards) != 1 and not self._is_one_move(state, cards, zone):
            moves = [(card,) for card in (cards if where != "top" else reversed(cards))]
        for moved in moves:
            if self.zones[zone].piles:
                self._lay_pile(state, moved, zone, site)
                continue
            held = self._without(state, moved, zone)
            held[zone] = self._with(state, moved, zone, held[zone], where)
            self._lie(state, moved, zone, held, site)

    def _is_one_move(self, state: State, cards: Sequence[int], zone: int) -> bool:
        """Return whether cards move from one other zone, without piles."""
        sources = {state.cells[self._location + card] for card in cards}
        is_one = len(sources) == 1 and zone not in sources and len(cards) == len(set(cards))
        return is_one and not any(self.zones[each].piles for each in (*sources, zone))

    def _without(self, state: State, cards: Sequence[int], zone: int) -> dict[int, tuple[Value, ...]]:
        """Return the content of zones without these cards, dropping empty piles."""
        cells = state.cells
        removed = frozenset(cards)
        held: dict[int, tuple[Value, ...]] = {}
        for source in dict.fromkeys(cells[self._location + card] for card in cards):
            if self.zones[source].piles:
                piles = [pile if removed.isdisjoint(pile) else _all_but(removed, pile) for pile in cells[source]]
                held[source] = tuple(filter(None, piles))
            else:
                held[source] = _all_but(removed, cells[source])
        held.setdefault(zone, cells[zone])
        return held

    def _lie(
        self, state: State, cards: Sequence[int], zone: int, held: Mapping[int, tuple[Value, ...]], site: Site
    ) -> None:
        """Set the content of zones and the location of cards. Piles are sorted by top cards if a rule does so."""
        cells = state.cells
        changes: list[tuple[int, Value]] = []
        for changed, content in held.items():
            rank = self.zones[changed].rank
            if rank is not None and self.zones[changed].piles:
                content = tuple(
                    [pile for *_, pile in sorted([(rank(state, pile[0]), pile[0], pile) for pile in content])]
                )
            if len(content) != len(cells[changed]) or content != cells[changed]:  # veils are counted, not compared
                changes.append((changed, content))
        places = [self._location + card for card in cards]
        changes += [(place, zone) for place in places if cells[place] != zone]
        if len(changes) == 1:
            self.put(state, *changes[0], site)
        elif changes:
            self._put_at_once(state, site, *changes)

    def _with(
        self, state: State, cards: Sequence[int], zone: int, held: tuple[int, ...], where: str
    ) -> tuple[int, ...]:
        """Return the content of a zone with more cards."""
        shape = self.zones[zone]
        if shape.most is not None:
            self.check_most(zone, shape.most, len(held) + len(cards), "card")
        if shape.order == "kept":
            return (*cards, *held) if where == "top" else (*held, *cards)
        rank = shape.rank
        if rank is None:
            return tuple(sorted((*held, *cards)))
        keyed = [(rank(state, card), card) for card in held]
        if len(cards) == 1:
            insort(keyed, (rank(state, cards[0]), cards[0]))
        else:
            keyed = sorted([*keyed, *((rank(state, card), card) for card in cards)])
        return tuple(card for _, card in keyed)

    def check_most(self, cell: int, most: int, number: int, noun: str) -> None:
        if number > most:
            raise Refused(f"{self.names(cell)} has room for {counted(most, noun)}, not {number:,}")

    def put_list(self, state: State, cell: int, items: tuple[Value, ...] | None, site: Site, *, most: int) -> None:
        """Set a cell to a list with a maximum length."""
        self.check_most(cell, most, len(items or ()), "item")
        self.put(state, cell, items, site)

    def _lay_pile(self, state: State, cards: Sequence[int], zone: int, site: Site) -> None:
        """Put cards on a new pile, behind the others if the zone has no order."""
        if cards:
            held = self._without(state, cards, zone)
            held[zone] = (*held[zone], tuple(cards))
            if (most := self.zones[zone].most) is not None:
                self.check_most(zone, most, len(held[zone]), "pile")
            self._lie(state, cards, zone, held, site)

    def move_to_pile(self, state: State, cards: Sequence[int], pile: Sequence[int], where: str, site: Site) -> None:
        """Move cards to the top (the front) or bottom of a pile, in their own order."""
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
        """Move an amount from one pool or track to another."""
        if source == target:
            return
        cells, track = state.cells, self.tracks.get(target)
        is_unit = source in self.units
        taken, held, there = map(as_bag, (amount, cells[source], cells[target]))
        left = tuple([a - b for a, b in zip(held, taken, strict=True)])
        increased = tuple([a + b for a, b in zip(there, taken, strict=True)])
        if min(taken, default=0) < 0:
            raise Refused("an amount below 0 cannot be moved")
        if source not in self.unlimited and min(left, default=0) < 0:
            raise Refused(f"{self.names(source)} holds {f'{held[0]}, not {amount}' if is_unit else 'less than that'}")
        if track is not None and any(n > track.capacity(kind) for kind, n in enumerate(increased)):
            raise Refused(f"{self.names(target)} has no space for {f'{amount} more' if is_unit else 'that'}")
        if any(taken):
            changes = ((source, left), (target, increased))
            self._put_at_once(state, site, *((cell, bag[0] if is_unit else bag) for cell, bag in changes))

    def place_piece(self, state: State, stock: int, place: int, site: Site) -> None:
        """Move a piece from a stock to an empty place."""
        cell = self._piece + place
        if state.cells[cell] is not None:
            raise Refused("the place is taken")
        if state.cells[stock] < 1:
            raise Refused(f"{self.names(stock)} is empty")
        self._put_at_once(state, site, (stock, state.cells[stock] - 1), (cell, self.stock_pieces[stock]))

    def take_piece(self, state: State, stock: int, place: int, site: Site) -> None:
        """Move the piece on a place back to its owner's stock."""
        cell = self._piece + place
        if state.cells[cell] != self.stock_pieces[stock]:
            raise Refused(f"no piece of {self.names(stock)} stands there")
        self._put_at_once(state, site, (cell, None), (stock, state.cells[stock] + 1))

    # --- shuffle and draw

    def shuffle(self, state: State, zone: int, chance: ChanceSource, name: str, number: int, site: Site) -> None:
        """Shuffle the cards of a zone with a named chance."""
        cell = self._chance + number
        count = state.cells[cell]
        cards = chance.shuffle(name, count, state.cells[zone])
        self.put(state, cell, count + 1, site)
        self.put(state, zone, cards, site)

    def pick(
        self, state: State, items: tuple[Value, ...], chance: ChanceSource, name: str, number: int, site: Site
    ) -> Value:
        """Return a random item with a named chance."""
        if not items:
            raise Refused("there is nothing to pick from")
        cell = self._chance + number
        count = state.cells[cell]
        index = chance.draw(name, count, items)
        self.put(state, cell, count + 1, site)
        return items[index]

    # --- pending standing rules

    def waiting(self, state: State) -> tuple[int, int]:
        """Return the standing rules to check (as bits), and whether settling is in progress."""
        return state.cells[self._pending], state.cells[self._settling]

    def settle_up(self, state: State, before: tuple[int, int]) -> None:
        """Record how ``waiting`` changed since the last decision."""
        for cell, old in zip((self._pending, self._settling), before, strict=True):
            if state.cells[cell] != old:
                state.log.append((PUT, None, cell, old))

    def wait_again(self, state: State, before: tuple[int, int]) -> None:
        """Restore ``waiting`` when undoing."""
        state.cells[self._pending], state.cells[self._settling] = before

    # --- schedule, note, mark

    def keep(self, state: State, block: tuple[Value, ...], site: Site) -> None:
        """Schedule a block."""
        scheduled = state.cells[self._kept]
        if len(scheduled) >= MAXIMUM_KEPT:
            raise Refused(f"more than {MAXIMUM_KEPT:,} blocks wait for their moment")
        self.put(state, self._kept, (*scheduled, block), site)

    def note(
        self, state: State, event: str, values: tuple[Value, ...], seen: tuple[tuple[int, ...] | None, ...], site: Site
    ) -> None:
        state.log.append((NOTE, site, event, seen, *values))

    def mark(self, state: State, word: str, number: int, *changes: tuple[int, Value]) -> None:
        """Record that something begins or ends. Its cells change before listeners hear of a beginning, after an end."""
        record = (MARK, None, word, number, *_before(state, changes))
        ended = has_ended(record)
        if not ended:
            self._change(state, changes)
        state.log.append(record)
        if ended:
            self._change(state, changes)


def _before(state: State, changes: Sequence[tuple[int, Value]]) -> list[Value]:
    """Return the cells that change, each followed by its value."""
    return [part for cell, _ in changes for part in (cell, state.cells[cell])]


def _all_but(cards: Container[int], held: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([card for card in held if card not in cards])


def changes(record: Record) -> tuple[tuple[int, Value], ...]:
    """Return the cells that a record changed with their old values, last change first."""
    sort = record[0]
    if sort == PUT:
        return (record[2:],)
    if sort in (NOTE, CHOICE):
        return ()
    cells = record[-2:3:-2] if sort == MARK else record[-2:1:-2]  # from the last to the head of the record
    return tuple(zip(cells, record[::-2], strict=False))


def has_ended(record: Sequence[Value]) -> bool:
    """Return whether a record marks an end; the changes of such a record take effect after it."""
    return bool(record[0] == MARK and record[2].startswith("end of "))


def put_back(cells: list[Value], record: Record) -> None:
    """Undo the changes of a record."""
    for cell, old in changes(record):
        cells[cell] = old


def take_back(state: State, length: int) -> None:
    """Undo everything after the first ``length`` log records. The caller restores the frame."""
    while len(state.log) > length:
        put_back(state.cells, state.log.pop())
    state.forget()


def undo(state: State) -> Record | None:
    """Undo the last choice with everything that followed and return its record; return None if there is none."""
    log = state.log
    at = next((number for number in reversed(range(len(log))) if log[number][0] == CHOICE), None)
    if at is None:
        return None
    if at + 1 < len(log):  # otherwise the memo is still valid
        take_back(state, at + 1)
    record = log.pop()
    state.frame = record[2]
    return record
