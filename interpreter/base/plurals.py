"""Numbers of things in messages, and what a ruleset is played with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.base.messages import frame

__all__ = ["counted", "stacked"]


def counted(number: int, one: str, many: str = "") -> str:
    """``1 value``, ``2,000 values``; what is not made with an ``s`` is given as ``many``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def stacked(overlays: Iterable[str], language: str = "en") -> Iterator[str]:
    """Overlays as they are asked for: a minus stands before what is left out, a plus before what is allowed."""
    for overlay in overlays:
        word = {"-": "without", "+": "allowing"}.get(overlay[:1], "with")
        yield frame(language, word, overlay=overlay if word == "with" else overlay[1:])
