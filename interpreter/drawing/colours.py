"""Colours of a picture: for words that name a colour, for other values, and for seats."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.base.colour_values import NAMED

__all__ = ["SEATS", "colours_for", "darker", "ink_on", "lighter"]

_OTHERS = ("#4a7fb5", "#dc8a3c", "#6d9b4a", "#c8523f", "#8467a8", "#9b6f47", "#3fa09a", "#e0b83c", "#d98aa6", "#8f9296")

SEATS = ("#d7263d", "#1b6ca8", "#2e933c", "#f5b700", "#7b2d8b", "#222222", "#f46f1b", "#12a4b8")
"""Strong colours for the pieces of seats. Colour-blind readers tell them apart by the number on each piece."""


def colours_for(words: Sequence[str]) -> dict[str, str]:
    """Return a colour for each word: the named one, or else a different one for each word as long as there are
    enough."""
    assigned = {word: NAMED[word] for word in words if word in NAMED}
    free = [colour for colour in _OTHERS if colour not in assigned.values()] or list(_OTHERS)
    for word in words:
        if word not in assigned:
            assigned[word] = free[(len(assigned) - sum(name in NAMED for name in assigned)) % len(free)]
    return assigned


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mixed(colour: str, target: int, share: float) -> str:
    return "#" + "".join(f"{round(part + (target - part) * share):02x}" for part in _parts(colour))


def lighter(colour: str, share: float) -> str:
    """Mix a colour with a share of white."""
    return _mixed(colour, 255, share)


def darker(colour: str, share: float) -> str:
    """Mix a colour with a share of black."""
    return _mixed(colour, 0, share)


def ink_on(colour: str) -> str:
    """Return a readable text colour on this background."""
    red, green, blue = _parts(colour)
    return "#222222" if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "#ffffff"
