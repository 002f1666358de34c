"""The largest differences of two rulesets: the parts with the most words that only one side has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from interpreter.base.plain_data import grouped
from interpreter.base.plurals import counted
from interpreter.compare.comparable import Side
from interpreter.compare.differences import Comparison, Difference

__all__ = ["Largest", "largest"]


class Largest(Struct, frozen=True):
    """A rule, a table with all its cells, or another part that differs: its name, kind and chapter, the number of words
    that only one side has, and the difference in short."""

    name: str
    kind: str
    chapter: str
    size: int
    short: str


def largest(comparison: Comparison, names: Sequence[str]) -> list[Largest]:
    """Return the parts that differ in play, the largest first; all others if no such part differs."""
    parts = grouped((each.path.partition("[")[0], each) for each in comparison.in_play or comparison.differences)
    found = [
        Largest(
            part[0].name,
            "table" if part[0].cell else part[0].kind,
            comparison.chapters[part[0].chapter],
            sum(map(_words_apart, part)),
            _short(part, names),
        )
        for part in parts.values()
    ]
    return sorted(found, key=lambda each: -each.size)


def _words_apart(difference: Difference) -> int:
    left, right = (Counter(side.value.split() if side is not None else ()) for side in (difference.a, difference.b))
    return ((left - right) + (right - left)).total()


def _short(part: Sequence[Difference], names: Sequence[str]) -> str:
    first = part[0]
    if first.cell or len(part) > 1:
        number = f"{counted(len(part), 'difference')}, " if len(part) > 1 else ""
        return f"{number}{first.cell or first.within}: {_change(first)}"
    if first.constants:
        return ", ".join(f"{a} → {b}" for a, b in first.constants)
    sides = [side for side in (first.b, first.a) if side is not None]
    telling = min(sides, key=lambda side: not any(part.covers for part in side.parts))  # the other one is covered
    about = next((part.about for part in reversed(telling.parts) if part.about), "")
    if first.a is None or first.b is None:
        only = f"only {names[0] if first.b is None else names[1]}"
        return f"{only}; {about}" if about else only
    return about or (_line(telling) if telling.parts else _change(first))


def _change(difference: Difference) -> str:
    return f"{_line(difference.a)} → {_line(difference.b)}"


def _line(side: Side | None) -> str:
    return "nothing" if side is None else " ".join(side.value.split())
