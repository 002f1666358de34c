"""The game as it may be, for all that a seat knows: hidden cards and tokens dealt anew.

What a seat has seen of a hidden card is told by the log: where a card went from an open zone to a hidden one, it is
known there until the zone is shuffled or a card goes on from it unseen. All other hidden cards are dealt anew, among
the zones between which cards went unseen. Where the log does not reach back to the beginning, nothing is known.

No world depends on what is hidden: of two games that look alike to a seat, it deals the same worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from interpreter.engine.game import Game
from interpreter.engine.hidden import shuffled
from interpreter.kernel.chance import Seeded
from interpreter.kernel.effects import changes
from interpreter.kernel.state import Value
from interpreter.language.model import Group

__all__ = ["Worlds"]

Draw = Callable[[int], int]

DEALS = 8
"""So often is dealt anew where a deal does not come out."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A place of a hidden zone whose card is not known. ``shows``: the back that is seen there, if one is."""

    cell: int
    number: int
    kind: str
    shows: tuple[Value, ...]


class Worlds:
    """Deals games like one that stands at a decision, as a seat knows it."""

    def __init__(self, game: Game, seat: int) -> None:
        self.game, self.seat = game, seat
        machine = game.machine
        self.layout, self.zones = machine.constants.layout, machine.constants.effects.zones
        self.cards = game.ruleset.model.cards
        seen = machine.constants.seen_by
        self.hidden = [cell for cell, seats in seen.items() if seat not in seats]
        self._places = list(self._unknown())
        self._pools = self._hidden_pools()

    def _group(self, cell: int) -> Group:
        return self.game.ruleset.model.groups[self.layout.owner_of(cell)[0]]

    # --- what is not known

    def _unknown(self) -> Iterator[tuple[list[_Place], list[int]]]:
        """The places whose cards are not known, and these cards in order: together what is dealt among each other."""
        known, belongs = self._told()
        parts: dict[int, tuple[list[_Place], list[int]]] = {}
        for cell in self.hidden:
            if cell not in self.zones:
                continue
            places, cards = parts.setdefault(belongs(cell), ([], []))
            kind, tops, held = self._group(cell).type.name, self._tops(cell), _flat(self.game.state.cells[cell])
            for number, card in enumerate(held):
                if card not in known:
                    places.append(_Place(cell, number, kind, tops.get(number, ())))
                    cards.append(card)
        for places, cards in parts.values():
            if len(cards) > 1:
                yield sorted(places, key=lambda place: (not place.shows, not place.kind)), sorted(cards)

    def _tops(self, cell: int) -> dict[int, tuple[Value, ...]]:
        """For places of top cards whose backs are open, the back."""
        back, held = self._back(cell), self.game.state.cells[cell]
        if back is None or not held:
            return {}
        piles = held if isinstance(held[0], tuple) else (held,)
        starts = accumulate((len(pile) for pile in piles[:-1]), initial=0)
        return {start: (back(pile[0]),) for start, pile in zip(starts, piles, strict=True)}

    def _back(self, cell: int) -> Callable[[int], Value] | None:
        shows = self._group(cell).top_shows
        if shows is None:
            return None
        back = self.game.machine.expressions.compile(shows)
        return lambda card: back(self.game.state, [card])

    def _told(self) -> tuple[set[int], Callable[[int], int]]:
        """Hidden cards that the seat knows all the same, and to which part of what is hidden a cell belongs."""
        changes, first = self._changes()
        if first != self.game.table.first.cells:
            return set(), lambda cell: 0
        hidden, parts = set(self.hidden), {cell: cell for cell in self.hidden}
        known: set[int] = {card for cell in hidden & self.zones.keys() for card in _flat(first[cell])}
        left: dict[int, int] = {}

        def belongs(cell: int) -> int:
            while parts[cell] != cell:
                cell = parts[cell]
            return cell

        holds = {cell: _flat(first[cell]) for cell in self.zones}
        for cell, new in changes:
            old, holds[cell] = holds[cell], new
            came = set(new) - set(old)
            left.update((card, cell) for card in set(old) - set(new))
            if cell not in hidden:
                continue
            if not came and [card for card in old if card in set(new)] != list(new):
                known -= set(new)
            for card in came:
                source = left.get(card)
                if source in hidden:
                    known -= {card, *holds[source]}
                    parts[belongs(cell)] = belongs(source)
                else:
                    known.add(card)
        return known, belongs

    def _changes(self) -> tuple[list[tuple[int, tuple[int, ...]]], list[Value]]:
        """What each change of a zone left there, in order, and the cells before all that the log tells."""
        cells, found = list(self.game.state.cells), []
        for record in reversed(self.game.state.log):
            for cell, old in changes(record):
                if cell in self.zones:
                    found.append((cell, _flat(cells[cell])))
                cells[cell] = old
        pending = self.layout.base["pending"]
        cells[pending] = self.game.table.first.cells[pending]  # of which no record is made
        return found[::-1], cells

    def _hidden_pools(self) -> list[list[int]]:
        """Pools whose tokens are hidden, those of a token together."""
        found: dict[str, list[int]] = {}
        for cell in self.hidden:
            group = self._group(cell)
            if group.type.form == "pool":
                found.setdefault(group.type.name, []).append(cell)
        return [cells for cells in found.values() if len(cells) > 1]

    # --- dealing

    def deal(self, seed: int, draw: Draw) -> Game:
        """A world, with chance of its own from then on."""
        world = self.game.clone()
        world.chance = Seeded(seed)
        cells, location = world.state.cells, self.layout.base["location"]
        for places, cards in self._places:
            for place, card in zip(places, self._dealt(places, cards, draw), strict=True):
                flat = list(_flat(cells[place.cell]))
                flat[place.number] = card
                cells[place.cell] = _shaped(flat, cells[place.cell])
                cells[location + card] = place.cell
        for cell in self.hidden:
            shape = self.zones.get(cell)
            if shape is not None and shape.rank is not None and not shape.piles:
                rank = shape.rank
                cells[cell] = tuple(sorted(cells[cell], key=lambda card, rank=rank: rank(world.state, card)))  # type: ignore[misc]
        for pools in self._pools:
            self._share(cells, pools, draw)
        return world

    def _dealt(self, places: Sequence[_Place], cards: Sequence[int], draw: Draw) -> list[int]:
        """A card for each place, with the back that is seen there and of the kind that lies there."""
        for attempt in range(DEALS + 1):
            left, found = shuffled(cards, draw), []
            for place in places:
                fits = (card for card in left if self._fits(place, card, backs=attempt < DEALS))
                card = next(fits, None)
                if card is None:
                    break
                left.remove(card)
                found.append(card)
            else:
                return found
        return list(cards)

    def _fits(self, place: _Place, card: int, *, backs: bool) -> bool:
        if place.kind not in ("", self.cards[card].kind):
            return False
        back = self._back(place.cell) if place.shows and backs else None
        return back is None or (back(card),) == place.shows

    def _share(self, cells: list[Value], pools: list[int], draw: Draw) -> None:
        """All that lies in hidden pools, shared out by lot: nobody is likely to have much more than another."""
        held = [cells[cell] for cell in pools]
        kinds = list(zip(*held, strict=True)) if isinstance(held[0], tuple) else [tuple(held)]
        shares = []
        for amounts in kinds:
            parts = [3 + draw(3) for _ in pools]
            ends = [sum(amounts) * end // sum(parts) for end in accumulate(parts)]
            shares.append([end - start for start, end in zip([0, *ends], ends, strict=False)])
        for number, cell in enumerate(pools):
            mine = tuple(share[number] for share in shares)
            cells[cell] = mine if isinstance(cells[cell], tuple) else mine[0]


def _flat(held: Value) -> tuple[int, ...]:
    """The cards of a zone, pile by pile."""
    return tuple(card for pile in held for card in pile) if held and isinstance(held[0], tuple) else tuple(held)


def _shaped(cards: list[int], like: Value) -> Value:
    if not like or not isinstance(like[0], tuple):
        return tuple(cards)
    ends = list(accumulate(len(pile) for pile in like))
    return tuple(tuple(cards[end - len(pile) : end]) for pile, end in zip(like, ends, strict=True))
