"""Invariants of every state: totals are constant, nothing is in two places, every holder has valid content.

A :class:`Census`, taken when a table is set up, and the cells of a state go in; messages for violations come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from interpreter.kernel.state import Layout, Value, as_bag
from interpreter.kernel.tracks import Track

__all__ = ["Census", "Holdings"]


class Holdings(Struct, frozen=True):
    """All tokens or pieces of one kind: totals by member, and the cells that hold them."""

    name: str
    totals: tuple[int, ...]
    cells: tuple[int, ...]


class Census(Struct, frozen=True, dict=True):
    """Everything that exists at a table. ``zones`` are the cells that hold cards, ``piled`` those that hold piles.
    ``stocks`` has, for each kind of piece, its stocks and the number of pieces in each at the start."""

    layout: Layout
    tokens: tuple[Holdings, ...]
    unlimited: frozenset[int]
    tracks: dict[int, Track]
    zones: tuple[int, ...]
    piled: frozenset[int]
    stocks: tuple[Holdings, ...]
    name: Callable[[int], str]

    @cached_property
    def invariants(self) -> list[tuple[Invariant, frozenset[str]]]:
        """The invariants, each with the groups of cells that it is about."""
        tokens, stocks = ([cell for kind in kinds for cell in kind.cells] for kinds in (self.tokens, self.stocks))
        about = ((_tokens, tokens, ()), (_cards, self.zones, ("location",)), (_pieces, stocks, ("piece",)))
        owner_of = self.layout.owner_of
        return [(check, frozenset((*(owner_of(cell)[0] for cell in cells), *names))) for check, cells, names in about]


Invariant: TypeAlias = Callable[[Census, Sequence[Value]], Iterator[str]]
"""An invariant: yields a message for each violation; none if the kernel works."""


def _tokens(census: Census, cells: Sequence[Value]) -> Iterator[str]:
    for kind in census.tokens:
        bags = [as_bag(cells[cell]) for cell in kind.cells]
        held = [*map(sum, zip([0] * len(kind.totals), *bags, strict=True))]
        for cell, bag in zip(kind.cells, bags, strict=True):
            track = census.tracks.get(cell)
            if min(bag) < 0 and cell not in census.unlimited:
                yield f"{census.name(cell)} holds {min(bag)} of a kind of {kind.name}"
            for number, capacity in zip(bag, track.capacities(), strict=True) if track is not None else ():
                if number > capacity:
                    yield f"{census.name(cell)} holds {number} tokens in {capacity} spaces"
        if tuple(held) != kind.totals:
            yield f"there are {held} {kind.name}, not {list(kind.totals)}"


def _cards(census: Census, cells: Sequence[Value]) -> Iterator[str]:
    location = census.layout.cells("location")
    zones_of: list[list[int]] = [[] for _ in location]
    for zone in census.zones:
        piles = cells[zone] if zone in census.piled else (cells[zone],)
        if zone in census.piled and not all(piles):
            yield f"{census.name(zone)} has a pile without cards"
        for card in (card for pile in piles for card in pile):
            zones_of[card].append(zone)
    for card, zones in enumerate(zones_of):
        if len(zones) != 1:
            where = ", ".join(census.name(zone) for zone in zones) or "no zone"
            yield f"card {card} lies in {where}"
        elif cells[location[card]] != zones[0]:
            yield f"card {card} lies in {census.name(zones[0])}, but its place says otherwise"


def _pieces(census: Census, cells: Sequence[Value]) -> Iterator[str]:
    layout = census.layout
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
