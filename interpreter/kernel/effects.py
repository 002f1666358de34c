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
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

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


@dataclass
class Effects:
    """The effects on states of one program, with the layout and structure of its cells.

    ``wakes`` has, for each cell, the standing rules (as bits) that read it. The cell ``pending`` has the rules to
    check. It changes with every other cell and is empty again at nearly every decision, so single changes of it are not
    recorded: see :meth:`settle_up`.
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
        cells = state.cells
        record: list[object] = [MOVE, site]
        for cell, _ in changes:
            record += (cell, cells[cell])
        state.log.append(tuple(record))
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
        """Move several cards from one other zone at once; return False for piles and for cards from several zones."""
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
        """Return the content of zones without these cards, dropping empty piles."""
        cells = state.cells
        removed = frozenset(cards)
        held: dict[int, tuple[Value, ...]] = {}
        for card in cards:
            source = cells[self._location + card]
            if source in held:
                continue
            if self.zones[source].piles:
                piles = [pile if removed.isdisjoint(pile) else _all_but(removed, pile) for pile in cells[source]]
                held[source] = tuple(filter(None, piles))
            else:
                held[source] = _all_but(removed, cells[source])
        if zone not in held:
            held[zone] = cells[zone]
        return held

    def _lie(
        self, state: State, cards: Sequence[int], zone: int, held: Mapping[int, tuple[Value, ...]], site: Site
    ) -> None:
        """Set the content of zones and the location of the cards. Piles are sorted by their top cards if a rule
        defines the order."""
        cells = state.cells
        changes: list[tuple[int, Value]] = []
        for changed, content in held.items():
            rank = self.zones[changed].rank
            if rank is not None and self.zones[changed].piles:
                content = tuple(
                    [pile for _, _, pile in sorted([(rank(state, pile[0]), pile[0], pile) for pile in content])]
                )
            if len(content) != len(cells[changed]) or content != cells[changed]:  # veils are counted, not compared
                changes.append((changed, content))
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
        """Put cards on a new pile, behind the others if the zone has no order."""
        if cards:
            held = self._without(state, cards, zone)
            held[zone] = (*held[zone], tuple(cards))
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
        cells = state.cells
        if source in self.units:
            self._check_number(amount, cells[source], source, target, cells[target])
            if amount:
                self._put_at_once(state, site, (source, cells[source] - amount), (target, cells[target] + amount))
            return
        remaining = tuple(a - b for a, b in zip(cells[source], amount, strict=True))
        increased = tuple(a + b for a, b in zip(cells[target], amount, strict=True))
        if min(amount, default=0) < 0:
            raise Refused("an amount below 0 cannot be moved")
        if source not in self.unlimited and min(remaining, default=0) < 0:
            raise Refused(f"{self.names(source)} holds less than that")
        track = self.tracks.get(target)
        if track is not None and any(n > track.capacity(kind) for kind, n in enumerate(increased)):
            raise Refused(f"{self.names(target)} has no space for that")
        if any(amount):
            self._put_at_once(state, site, (source, remaining), (target, increased))

    def _check_number(self, amount: int, held: int, source: int, target: int, there: int) -> None:
        if amount < 0:
            raise Refused("an amount below 0 cannot be moved")
        if source not in self.unlimited and held < amount:
            raise Refused(f"{self.names(source)} holds {held}, not {amount}")
        track = self.tracks.get(target)
        if track is not None and there + amount > track.capacity(0):
            raise Refused(f"{self.names(target)} has no space for {amount} more")

    def place_piece(self, state: State, stock: int, place: int, owner: int, pieces: int, site: Site) -> None:
        """Move a piece from a stock to an empty place."""
        cell = self._piece + place
        if state.cells[cell] is not None:
            raise Refused("the place is taken")
        if state.cells[stock] < 1:
            raise Refused(f"{self.names(stock)} is empty")
        piece = owner * pieces + self.stock_pieces[stock]
        self._put_at_once(state, site, (stock, state.cells[stock] - 1), (cell, piece))

    def take_piece(self, state: State, place: int, stock: int, owner: int, pieces: int, site: Site) -> None:
        """Move the piece on a place back to its owner's stock."""
        cell = self._piece + place
        if state.cells[cell] != owner * pieces + self.stock_pieces[stock]:
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
        """Record how ``waiting`` changed since the last decision, if it did."""
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
        """Record that something begins or ends, and set its cells: before listeners hear of a beginning, after they
        hear of an end."""
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
    """Yield the cells that a record changed with their old values, last change first."""
    if record[0] in (PUT, MOVE, MARK):
        first = 4 if record[0] == MARK else 2
        for index in range(len(record) - 2, first - 1, -2):
            yield record[index], record[index + 1]


def has_ended(record: Sequence[Value]) -> bool:
    """Return whether a record marks an end; the changes of such a record take effect after it."""
    return bool(record[0] == MARK and record[2].startswith("end of "))


def put_back(cells: list[Value], record: Record) -> None:
    """Undo the changes of a record."""
    sort = record[0]
    if sort == PUT:
        cells[record[2]] = record[3]
    elif sort == MOVE:
        cells[record[2]] = record[3]
        cells[record[4]] = record[5]
        for index in range(6, len(record), 2):
            cells[record[index]] = record[index + 1]
    elif sort == MARK:
        for index in range(4, len(record), 2):
            cells[record[index]] = record[index + 1]


def take_back(state: State, length: int) -> None:
    """Undo everything after the first ``length`` log records. The caller restores the frame."""
    log, cells = state.log, state.cells
    while len(log) > length:
        put_back(cells, log.pop())
    state.forget()


def undo(state: State) -> Record | None:
    """Undo the last choice with everything that followed and return its record; return None if there is none."""
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
    if undone:  # otherwise the memo is still valid
        cells = state.cells
        for change in undone:
            if change[0] == PUT:  # most are
                cells[change[2]] = change[3]
            else:
                put_back(cells, change)
        state.forget()
    return record
