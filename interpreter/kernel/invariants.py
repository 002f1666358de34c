"""Invariants of every state: totals are constant, nothing is in two places, every holder has valid content.

A :class:`Census`, taken when a table is set up, and the cells of a state go in; messages for violations come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from interpreter.kernel.effects import Effects
from interpreter.kernel.state import Value, as_bag

__all__ = ["Census", "Holdings"]


class Holdings(Struct, frozen=True):
    """All tokens or pieces of one kind: totals by member, and the cells that hold them."""

    name: str
    totals: tuple[int, ...]
    cells: tuple[int, ...]


class Census(Struct, frozen=True, dict=True):
    """Everything that exists at a table, in cells whose structure its ``effects`` know. ``stocks`` has, for each kind
    of piece, its stocks and the number of pieces in each at the start."""

    effects: Effects
    tokens: tuple[Holdings, ...]
    stocks: tuple[Holdings, ...]

    @cached_property
    def invariants(self) -> list[tuple[Invariant, frozenset[str]]]:
        """The invariants, each with the groups of cells that it is about."""
        tokens, stocks = ([cell for kind in kinds for cell in kind.cells] for kinds in (self.tokens, self.stocks))
        about = ((_tokens, tokens, ()), (_cards, self.effects.zones, ("location",)), (_pieces, stocks, ("piece",)))
        owner_of = self.effects.layout.owner_of
        return [(check, frozenset((*(owner_of(cell)[0] for cell in cells), *names))) for check, cells, names in about]


Invariant: TypeAlias = Callable[[Census, Sequence[Value]], Iterator[str]]
"""An invariant: yields a message for each violation; none if the kernel works."""


def _tokens(census: Census, cells: Sequence[Value]) -> Iterator[str]:
    effects = census.effects
    for kind in census.tokens:
        bags = [as_bag(cells[cell]) for cell in kind.cells]
        held = [*map(sum, zip([0] * len(kind.totals), *bags, strict=True))]
        for cell, bag in zip(kind.cells, bags, strict=True):
            track = effects.tracks.get(cell)
            if min(bag) < 0 and cell not in effects.unlimited:
                yield f"{effects.names(cell)} holds {min(bag)} of a kind of {kind.name}"
            for number, capacity in zip(bag, track.capacities(), strict=True) if track is not None else ():
                if number > capacity:
                    yield f"{effects.names(cell)} holds {number} tokens in {capacity} spaces"
        if tuple(held) != kind.totals:
            yield f"there are {held} {kind.name}, not {list(kind.totals)}"


def _cards(census: Census, cells: Sequence[Value]) -> Iterator[str]:
    location, name = census.effects.layout.cells("location"), census.effects.names
    zones_of: list[list[int]] = [[] for _ in location]
    for zone, shape in census.effects.zones.items():
        piles = cells[zone] if shape.piles else (cells[zone],)
        if shape.piles and not all(piles):
            yield f"{name(zone)} has a pile without cards"
        for card in (card for pile in piles for card in pile):
            zones_of[card].append(zone)
    for card, zones in enumerate(zones_of):
        if len(zones) != 1:
            where = ", ".join(map(name, zones)) or "no zone"
            yield f"card {card} lies in {where}"
        elif cells[location[card]] != zones[0]:
            yield f"card {card} lies in {name(zones[0])}, but its place says otherwise"


def _pieces(census: Census, cells: Sequence[Value]) -> Iterator[str]:
    layout = census.effects.layout
    standing = [0] * len(census.stocks)
    if "piece" in layout.base:
        for cell in layout.cells("piece"):
            if (piece := cells[cell]) is not None:
                standing[piece % len(census.stocks)] += 1
    for number, kind in enumerate(census.stocks):
        held = [cells[cell] for cell in kind.cells]
        if min(held, default=0) < 0:
            yield f"a stock of {kind.name} holds {min(held)}"
        if sum(held) + standing[number] != sum(kind.totals):
            yield f"there are {sum(held) + standing[number]} {kind.name}, not {sum(kind.totals)}"
