"""Formatting of counts, names and overlay lists in messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from interpreter.base.messages import frame

__all__ = ["MOST_LISTED", "composed", "counted", "joined", "listed", "quoted", "stacked", "titled"]


MOST_LISTED = 12
"""Maximum number of names listed in a message."""


def counted(number: int, one: str, many: str = "") -> str:
    """Format a count with its noun: ``1 value``, ``2,000 values``. Pass ``many`` for plurals without ``s``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def quoted(names: Iterable[object]) -> list[str]:
    """Return names in backticks."""
    return [f"`{name}`" for name in names]


def listed(names: Sequence[object], most: int = MOST_LISTED) -> str:
    """List names in backticks, at most so many of them."""
    return ", ".join(quoted(names[:most])) + (", …" if len(names) > most else "")


def joined(items: Iterable[str], word: str = "and") -> str:
    """Join items as ``a``, ``a and b``, ``a, b and c``."""
    *first, last = items
    return f"{', '.join(first)} {word} {last}" if first else last


def stacked(overlays: Iterable[str], language: str = "en") -> Iterator[str]:
    """Format requested overlays: a leading minus means left out, a plus means allowed."""
    for overlay in overlays:
        word = {"-": "without", "+": "allowing"}.get(overlay[:1], "with")
        yield frame(language, word, overlay=overlay if word == "with" else overlay[1:])


def composed(name: str, overlays: Iterable[str], settings: Mapping[str, object]) -> str:
    """Format a ruleset with requested overlays and settings."""
    return ", ".join([name, *stacked(overlays), *(f"{key}={value}" for key, value in settings.items())])


def titled(name: str) -> str:
    """Return a name from a ruleset as a heading."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
