"""Line breaking of rule text: splits long lines where the syntax binds least.

The input is formatted text and a maximum width; the output is formatted too. A line can be split after an operator or
a comma, or before a clause (``where``, ``cites``): outside of brackets if possible, there at the loosest operator, and
as far to the right as fits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from interpreter.language.grammar import Start
from interpreter.language.rule_layout import is_sign, space_out, tokens_of
from interpreter.reading.yaml_layout import STEP

if TYPE_CHECKING:
    from lark import Token

__all__ = ["broken"]

_CITES, _WORD, _COMMA, _CHOICE, *_LEVELS = range(10)
_BEFORE = {"cites": _CITES, "where": _WORD, "by": _WORD}
"""Words that a line can be split before, with their looseness (0 is loosest)."""
_BEFORE_INSIDE = {**_BEFORE, "for": _WORD, "if": _CHOICE}
"""The same within brackets."""
_OPERATORS = ("otherwise",), ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "div", "mod")
_BEHIND = {",": _COMMA, "else": _CHOICE} | {
    sign: level for level, signs in zip(_LEVELS, _OPERATORS, strict=True) for sign in signs
}
"""Tokens that a line can be split after, with their looseness."""


class _Gap(Struct, frozen=True):
    """A position between two tokens at which a line can be split."""

    last: Token
    next: Token
    depth: int
    looseness: int

    @property
    def column(self) -> int:
        """Length of the line if it is split here."""
        return (self.last.end_column or 1) - 1


def broken(text: str, start: Start, width: int) -> str:
    """Return the text with lines split to the width, as far as possible."""
    while max(map(len, text.split("\n"))) > width and (again := _broken_once(text, start, width)) is not None:
        text = again
    return text


def _broken_once(text: str, start: Start, width: int) -> str | None:
    """Split one line, or reduce the space before a `cites`. Return None if no long line can be split."""
    words = [token for token in tokens_of(text, start) if not token.type.startswith("_")]
    ends = {word.line: (word.end_column or 1) - 1 for word in words}
    long = {line for line, end in ends.items() if end > width}
    gaps = [gap for gap in _gaps(words) if gap.last.line in long]
    if not gaps:
        return None
    first = [gap for gap in gaps if gap.last.line == gaps[0].last.line]
    fitting = [gap for gap in first if gap.column <= width]
    gap = min(fitting or first[:1], key=lambda gap: (gap.depth, gap.looseness, -gap.column))
    spare = (gap.next.column or 0) - 1 - gap.column - 1
    if gap.looseness == _CITES and ends[gap.last.line] - spare <= width:
        return _replaced(text, [gap], " ", start)
    later = [other for other in first if gap in first[: first.index(other)]]
    looser = [other for other in later if other.looseness <= _WORD < gap.looseness and other.depth <= gap.depth]
    return _replaced(text, [gap, *looser], "\n" + " " * STEP, start)


def _replaced(text: str, gaps: list[_Gap], between: str, start: Start) -> str:
    for gap in reversed(gaps):
        text = text[: gap.last.end_pos] + between + text[gap.next.start_pos :]
    return space_out(text, start)


def _gaps(words: list[Token]) -> list[_Gap]:
    """Return the positions at which lines can be split, in order."""
    gaps, depth = list[_Gap](), 0
    for number, (last, word) in enumerate(pairwise(words)):
        depth += (last in ("(", "[")) - (last in (")", "]"))
        looseness = (_BEFORE_INSIDE if depth else _BEFORE).get(word) if word.type != "NAME" else None
        if last.type != "NAME" and word != ":" and not is_sign(words[max(0, number - 1) : number + 1]):
            looseness = _BEHIND.get(last, looseness)
        begins = number == 0 or words[number - 1].line != last.line
        if looseness is not None and last.line == word.line and not (begins and last in _BEHIND):
            gaps.append(_Gap(last, word, depth, looseness))
    return gaps
