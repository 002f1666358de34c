"""Dealing: hidden cards, tokens and values of a state anew, consistently with what a seat knows.

**Cards.** The log tells what a seat has seen. A card that moved from an open to a hidden zone stays known until the
zone is shuffled or a card leaves it unseen. All other hidden cards are dealt anew, among the zones between which cards
moved unseen. **Tokens** in hidden pools are known if every move was announced
(:mod:`interpreter.hidden.inferable_pools`), and are shared out anew otherwise, together with those on hidden cards. If
the log does not reach back to the beginning, nothing is known. **Values** are drawn anew if they are hidden or name a
hidden card; one that a rule shows at times is as the seat saw it last. What a rule shows decides nothing else: in what
is dealt, it shows the seat the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, islice

from msgspec import Struct

from interpreter.hidden.sight import Sight
from interpreter.kernel.effects import changes
from interpreter.kernel.invariants import Holdings
from interpreter.kernel.state import Record, State, Value, as_bag
from interpreter.language import types

__all__ = ["Draw", "Hands", "Memory", "shuffled"]

Draw = Callable[[int], int]
"""Draws a number from 0 up to, but not including, another."""

DEALS = 8
"""Attempts to deal cards so that they fit, and values so that no rule shows them."""
LENGTH = 4
"""Maximum length of a list that is drawn with its length."""


class _Place(Struct, frozen=True):
    """Position in a hidden zone whose card is unknown; ``shows`` is its visible back, if any."""

    cell: int
    number: int
    kind: str
    shows: tuple[Value, ...]


class Memory:
    """Knowledge of a seat about hidden cards, from the log of a game that began with the state ``first``: the cards
    that are ``known``. :meth:`learn` updates it as the game goes on."""

    def __init__(self, sight: Sight, first: State, state: State, seat: int) -> None:
        self.zones, self.first = sight.constants.effects.zones, first.cells
        self._sight, self._seat = sight, seat
        self._hidden: frozenset[int] = frozenset()
        """Cells that the seat does not see after the last record read."""
        self.seen: dict[int, Value] = {}
        """Values that a rule has shown to the seat, as it saw them last."""
        self.pools = [cell for name in sorted(sight.inferable) for cell in sight.layout.cells(name)]
        """Pools whose tokens can be counted if the log reaches back to the beginning."""
        self.known: set[int] = set()
        self._parts: dict[int, int] | None = None
        self._left: dict[int, int] = {}
        self._holds: dict[int, tuple[int, ...]] = {}
        self._read: list[Record] = []
        """Last record read from the log, if any."""
        self._until = 0
        """Number of records read from the log."""
        self.learn(state)

    @property
    def counted(self) -> Collection[int]:
        """Hidden pools whose content the seat knows."""
        return self.pools if self._parts is not None else ()

    def part(self, cell: int) -> int:
        """Return the group of hidden zones that a zone belongs to; cards moved unseen between the zones of a group."""
        if self._parts is None:
            return 0
        while self._parts[cell] != cell:
            cell = self._parts[cell]
        return cell

    def learn(self, state: State) -> None:
        """Read new log records. If the log does not reach back to the beginning, nothing is known."""
        log, first = state.log, self.first
        if self._until > len(log) or (self._read and log[self._until - 1] is not self._read[0]):
            self._until = 0  # choices were undone
        past = State(state.cells[:])
        cells, redone = past.cells, list[list[tuple[int, Value]]]()
        judged, is_apart = self._sight.judged, self.zones.keys().isdisjoint
        for record in islice(reversed(log), len(log) - self._until):
            changed = changes(record)
            if changed and (judged or not is_apart([cell for cell, _ in changed])):
                redone.append([(cell, cells[cell]) for cell, _ in reversed(changed)])
            for cell, old in changed:
                cells[cell] = old
        if self._until == 0:
            self._parts = {cell: cell for cell in self.zones}
            self._left.clear()
            self.seen.clear()
            self._holds = {cell: _flat(first[cell]) for cell in self.zones}
            self.known = {card for held in self._holds.values() for card in held}
            self._look(past)
            if any(cells[cell] != first[cell] for cell in (*self.zones, *self.pools)):
                self._parts, self.known = None, set()
        self._until, self._read = len(log), log[-1:]
        if self._parts is not None:
            for again in reversed(redone):
                self._follow(past, again, self._parts)

    def _follow(self, past: State, changed: Sequence[tuple[int, Value]], parts: dict[int, int]) -> None:
        """Make the changes of a record again, with what the seat sees before and after it."""
        before = self._hidden
        for cell, value in changed:
            past.cells[cell] = value
        past.forget()
        self._look(past)
        for cell, new in changed:
            if cell in self.zones:
                self._change(parts, before, cell, _flat(new))
        if self._sight.judged:
            self.known.update(*(self._holds[cell] for cell in self.zones if cell not in self._hidden))

    def _look(self, past: State) -> None:
        """Learn what the seat sees."""
        if not self._hidden or self._sight.judged:
            self._hidden = frozenset(self._sight.hidden_cells(past, self._seat))
        shown = (cell for cell in self._sight.judged if cell not in self._hidden and cell not in self.zones)
        self.seen.update((cell, past.cells[cell]) for cell in shown)

    def _change(self, parts: dict[int, int], before: frozenset[int], cell: int, new: tuple[int, ...]) -> None:
        """Record that a zone has new cards or a new order."""
        old, self._holds[cell] = self._holds[cell], new
        was, now = set(old), set(new)
        arrived = now - was
        self._left.update((card, cell) for card in was - now)
        if cell not in self._hidden:
            return
        if not arrived and [card for card in old if card in now] != list(new):
            self.known -= now
        for card in arrived:
            source = self._left.get(card)
            if source in before:
                self.known -= {card, *self._holds[source]}
                parts[self.part(cell)] = self.part(source)
            else:
                self.known.add(card)


class Hands:
    """What is hidden from a seat in a state, to be dealt anew.

    ``fixed`` cards stay where they are, with what is on them and names them, those in ``placed`` with neither; a card
    in ``backs`` is replaced by one with the same back. ``tokens`` are those of the table.
    """

    def __init__(
        self,
        sight: Sight,
        tokens: Sequence[Holdings],
        memory: Memory,
        state: State,
        seat: int,
        fixed: Collection[int] = (),
        placed: Collection[int] = (),
        backs: Collection[int] = (),
    ) -> None:
        self.sight, self.layout, self.state = sight, sight.layout, state
        self.zones, self._tokens, self._first = sight.constants.effects.zones, tokens, memory.first
        self.fixed, self.backs = {*fixed, *placed}, backs
        self.seat, self.hidden, self.remembered = seat, sight.hidden_cells(state, seat), memory.seen
        self._unseen = frozenset(sight.hidden_cards(state, seat))
        kept = set(fixed)
        veiled = [
            cell
            for cell in sight.veils(state, seat)
            if cell in sight.constants.seen_by or kept.isdisjoint(self._cards_of(cell))
        ]
        self.pools = [cell for cell in veiled if isinstance(self.sight.group(cell).type, types.PoolType)]
        """Pools with hidden content."""
        self._places = list(self._unknown(memory))
        self._pools = self._hidden_pools(memory)
        self._values = [cell for cell in veiled if not isinstance(self.sight.group(cell).type, types.HolderType)]

    def _cards_of(self, cell: int) -> Iterable[int]:
        """Return the card that a cell belongs to, or the cards that its value names."""
        group, model = self.sight.group(cell), self.sight.model
        if isinstance(group.owner, types.CardType):
            return (cell - self.layout.base[group.name],)
        return types.cards_in(self.state.cells[cell], group.type, model.records)

    def _unknown(self, memory: Memory) -> Iterator[tuple[list[_Place], list[int]]]:
        """Yield groups of places with unknown cards, and these cards in order; each group is dealt separately."""
        known, tops = memory.known | self.fixed, {card for _, card in self.sight.uppermost(self.state)}
        parts: dict[int, tuple[list[_Place], list[int]]] = {}
        for cell in self.hidden:
            if cell not in self.zones:
                continue
            places, cards = parts.setdefault(memory.part(cell), ([], []))
            type_, back = self.sight.group(cell).type, self.sight.back(self.state, cell)
            kind = type_.name if isinstance(type_, types.CardHolderType) else ""
            for number, card in enumerate(_flat(self.state.cells[cell])):
                if card not in known:
                    shows = (back(card),) if back is not None and (card in tops or card in self.backs) else ()
                    places.append(_Place(cell, number, kind, shows))
                    cards.append(card)
        for places, cards in parts.values():
            if len(cards) > 1:
                yield sorted(places, key=lambda place: (not place.shows, not place.kind)), sorted(cards)

    def _hidden_pools(self, memory: Memory) -> list[tuple[list[int], list[int]]]:
        """Return the pools with unknown content, grouped by token, and what lies in them together: all tokens that the
        seat does not see elsewhere."""
        unknown = set(self.pools) - set(memory.counted)
        cells, pools = self.state.cells, []
        for token in self._tokens:
            if hidden := [cell for cell in token.cells if cell in unknown]:
                elsewhere = [as_bag(cells[cell]) for cell in token.cells if cell not in unknown]
                counts = zip(token.totals, *elsewhere, strict=True)
                pools.append((hidden, [total - sum(seen) for total, *seen in counts]))
        return pools

    # --- dealing

    def deal(self, state: State, draw: Draw) -> None:
        """Deal the hidden things of a copy of the state, so that rules show the same of it to the seat."""
        for _ in range(DEALS if self.sight.judged else 1):
            self._deal(state, draw)
            state.forget()
            if not self.sight.judged or self.sight.hidden_cells(state, self.seat) == self.hidden:
                return

    def _deal(self, state: State, draw: Draw) -> None:
        cells, location = state.cells, self.layout.base["location"]
        for places, cards in self._places:
            for place, card in zip(places, self._cards_for(places, cards, draw), strict=True):
                flat = list(_flat(cells[place.cell]))
                flat[place.number] = card
                cells[place.cell] = _shaped(flat, cells[place.cell])
                cells[location + card] = place.cell
        for cell in self.hidden:
            shape = self.zones.get(cell)
            if shape is not None and shape.rank is not None and not shape.piles:
                cells[cell] = tuple(sorted(cells[cell], key=partial(shape.rank, state)))
        for pools, amounts in self._pools:
            self._share(cells, pools, amounts, draw)
        for cell in self._values:
            type_ = self.sight.group(cell).type
            many = len(cells[cell]) if cell in self.hidden and self.sight.group(cell).is_counted else None
            last = self.remembered.get(cell)
            if last is not None and (many is None or len(last) == many):
                cells[cell] = last
                continue
            for _ in range(DEALS if cell in self.sight.judged else 1):
                cells[cell] = self._value(cell, type_, many, self._first[cell], draw)
                state.forget()
                if cell not in self.sight.judged or not self.sight.is_judged(state, cell, self.seat):
                    break

    def _value(self, cell: int, type_: types.Type, many: int | None, start: Value, draw: Draw) -> Value:
        """Draw a value of a type uniformly; a number without a range is ``start``. A list gets ``many`` items; None:
        their number is hidden too."""
        records, group = self.sight.model.records, self.sight.group(cell)
        limits = group.range
        item = types.item_type(type_)
        things = self._things(cell, item or type_)
        match type_:
            case types.CollectionType() | types.PileType():
                names = types.has_cards(type_, records)
                number = min(names + draw(LENGTH), group.most or LENGTH) if many is None else many
                if things and (isinstance(type_, types.SetType) or (names and number <= len(things))):
                    chosen = shuffled(things, draw)[:number]
                    return tuple(sorted(chosen) if isinstance(type_, types.SetType) else chosen)
                if item is None or isinstance(type_, types.SetType):
                    return start or ()
                return tuple(self._value(cell, item, None, 0, draw) for _ in range(number))
            case types.IntType() if limits is not None:
                return limits[0] + draw(limits[1] - limits[0] + 1)
            case types.BoolType():
                return bool(draw(2))
            case types.RecordType():
                return tuple(
                    None
                    if of.optional and not types.has_cards(of, records) and draw(2)
                    else self._value(cell, of, None, 0, draw)
                    for of in records[type_.name].values()
                )
            case _:
                return things[draw(len(things))] if things else start

    def _things(self, cell: int, type_: types.Type) -> Sequence[int]:
        """Return the things of a type that a hidden value can name. If it is hidden only because it names a hidden
        card, these are the hidden cards."""
        things = self.sight.model.values(type_, len(self.sight.constants.seats))
        if cell in self.hidden or not isinstance(type_, types.CardType):
            return things
        return [card for card in things if card in self._unseen] or things

    def _cards_for(self, places: Sequence[_Place], cards: Sequence[int], draw: Draw) -> list[int]:
        """Deal a card to each place, matching the visible back and the kind of the zone."""
        for attempt in range(DEALS + 1):
            remaining, dealt = shuffled(cards, draw), []
            for place in places:
                fitting = (card for card in remaining if self._fits(place, card, backs=attempt < DEALS))
                if (card := next(fitting, None)) is None:
                    break
                remaining.remove(card)
                dealt.append(card)
            else:
                return dealt
        return list(cards)

    def _fits(self, place: _Place, card: int, *, backs: bool) -> bool:
        if place.kind not in ("", self.sight.model.cards[card].kind):
            return False
        back = self.sight.back(self.state, place.cell) if place.shows and backs else None
        return back is None or (back(card),) == place.shows

    def _share(self, cells: list[Value], pools: list[int], amounts: list[int], draw: Draw) -> None:
        """Share tokens among hidden pools at random, in parts of similar size."""
        shares = []
        for amount in amounts:
            parts = [3 + draw(3) for _ in pools]
            ends = [amount * end // sum(parts) for end in accumulate(parts)]
            shares.append([end - start for start, end in zip([0, *ends], ends, strict=False)])
        for cell, *held in zip(pools, *shares, strict=True):
            cells[cell] = tuple(held) if isinstance(cells[cell], tuple) else held[0]


def shuffled(items: Sequence[Value], draw: Draw) -> list[Value]:
    """Return the items in random order."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = draw(last + 1)
        result[last], result[other] = result[other], result[last]
    return result


def _flat(content: Value) -> tuple[int, ...]:
    """Return the cards of a zone, pile by pile."""
    return tuple(chain.from_iterable(content)) if content and isinstance(content[0], tuple) else tuple(content)


def _shaped(cards: Iterable[int], like: Value) -> Value:
    """Return cards in piles like these, or as a zone without piles."""
    rest = iter(cards)
    return tuple(tuple(islice(rest, len(pile))) if isinstance(pile, tuple) else next(rest) for pile in like)
