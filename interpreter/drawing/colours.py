"""Colours of a picture: for words that name a colour, for other values, and for seats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from interpreter.base.colour_values import NAMED
from interpreter.hidden.sight import Veil
from interpreter.kernel.state import Value
from interpreter.language.model import Model
from interpreter.language.types import KindType, SeatType, Type, item_type, name_of

__all__ = [
    *("SEATS", "card_colours", "colours_for", "darker", "ink_on", "lighter"),
    *("member_colour", "members_of", "own_colour"),
]

_PLAIN = "#8f9296"

_OTHERS = ("#4a7fb5", "#dc8a3c", "#6d9b4a", "#c8523f", "#8467a8", "#9b6f47", "#3fa09a", "#e0b83c", "#d98aa6", "#8f9296")

SEATS = ("#d7263d", "#1b6ca8", "#2e933c", "#f5b700", "#7b2d8b", "#222222", "#f46f1b", "#12a4b8")
"""Strong colours for the pieces of seats. Colour-blind readers tell them apart by the number on each piece."""


def colours_for(words: Sequence[str]) -> dict[str, str]:
    """Return a colour for each word: the named one, else a different one for each as long as there are enough."""
    assigned = {word: NAMED[word] for word in words if word in NAMED}
    free = [colour for colour in _OTHERS if colour not in assigned.values()] or list(_OTHERS)
    for word in words:
        if word not in assigned:
            assigned[word] = free[(len(assigned) - sum(name in NAMED for name in assigned)) % len(free)]
    return assigned


def own_colour(model: Model, type_: Type, value: Value) -> str | None:
    """Return the colour that a seat has everywhere, or a member of a kind with colours in `faces`."""
    if isinstance(type_, SeatType):
        return SEATS[value % len(SEATS)]
    kind = name_of(type_)
    return member_colour(model, kind, value) if kind in model.colours else None


def member_colour(model: Model, kind: str, number: int) -> str:
    """Return the colour of a member of a kind."""
    return _colours_of(model, kind)[number]


@lru_cache(maxsize=64)
def _colours_of(model: Model, kind: str) -> list[str]:
    """Return the colours of the members of a kind."""
    named = model.colours.get(kind, {})
    words = [named.get(member, member) for member in model.members(kind)]
    return list(map(colours_for(words).__getitem__, words))


def members_of(value: Value, type_: Type) -> list[tuple[str, int]]:
    """Return the kind and the number of a member of a kind, or of several."""
    of = item_type(type_)
    if isinstance(value, Veil) or value is None or not isinstance(kind := of or type_, KindType):
        return []
    return [(kind.name, each) for each in ((value,) if of is None else value)]


def card_colours(model: Model, card: int, members: Iterable[tuple[str, int]]) -> list[str]:
    """Return the colours of a card: those of the members of kinds that its face names, or else its plain one."""
    plain = model.plain.get(model.cards[card].kind, "")
    return [member_colour(model, *each) for each in members] or [colours_for([plain])[plain] if plain else _PLAIN]


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@lru_cache(10_000)
def _mixed(colour: str, target: int, share: float) -> str:
    return "#" + "".join(f"{round(part + (target - part) * share):02x}" for part in _parts(colour))


def lighter(colour: str, share: float) -> str:
    """Mix a colour with a share of white."""
    return _mixed(colour, 255, share)


def darker(colour: str, share: float) -> str:
    """Mix a colour with a share of black."""
    return _mixed(colour, 0, share)


@lru_cache(10_000)
def ink_on(colour: str) -> str:
    """Return a readable text colour on this background."""
    red, green, blue = _parts(colour)
    return "#222222" if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "#ffffff"
