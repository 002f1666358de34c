"""Numbers of things in messages, and what a ruleset is played with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["counted", "stacked"]


def counted(number: int, one: str, many: str = "") -> str:
    """``1 value``, ``2,000 values``; what is not made with an ``s`` is given as ``many``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def stacked(overlays: Iterable[str]) -> Iterator[str]:
    """Overlays as they are asked for: a minus stands before what is left out, a plus before what is allowed."""
    words = {"-": "without", "+": "allowing"}
    for overlay in overlays:
        sign = overlay[:1]
        yield f"{words[sign]} {overlay[1:]}" if sign in words else f"with {overlay}"
