"""Lines of rule text that are too long, broken where the text is loosest.

What comes in is a text that is laid out, and the columns that its lines may have; what goes out is laid out too. A line
ends behind a header, an operator or a comma, or before a word that says more (``where``, ``cites``): outside of
brackets if it can, there at the loosest of them, and as far to the right as there is room.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from interpreter.language.grammar import Start
from interpreter.language.rule_layout import OPERANDS, space_out, tokens_of
from interpreter.reading.yaml_layout import STEP

if TYPE_CHECKING:
    from lark import Token

__all__ = ["broken"]

_HEADER, _CITES, _WORD, _COMMA, _CHOICE, *_LEVELS = range(11)
_BEFORE = {"cites": _CITES, "where": _WORD, "by": _WORD}
"""Words that begin a line, by how loose they are."""
_BEFORE_INSIDE = {**_BEFORE, "for": _WORD, "if": _CHOICE}
"""Those that do so within brackets."""
_OPERATORS = ("otherwise",), ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "div", "mod")
_BEHIND = {",": _COMMA, "else": _CHOICE} | {
    sign: level for level, signs in zip(_LEVELS, _OPERATORS, strict=True) for sign in signs
}
"""What ends a line, by how loose it is."""


@dataclass(frozen=True, slots=True)
class _Gap:
    """A place between two words of a line where the line can end."""

    last: Token
    next: Token
    depth: int
    looseness: int

    @property
    def column(self) -> int:
        """The columns before it."""
        return (self.last.end_column or 1) - 1


def broken(text: str, start: Start, width: int) -> str:
    """The text without lines longer than the width, as far as they can be broken."""
    while max(map(len, text.split("\n"))) > width and (again := _broken_once(text, start, width)) is not None:
        text = again
    return text


def _broken_once(text: str, start: Start, width: int) -> str | None:
    """The text with one line more, or with less room before a `cites`; nothing where no line can be broken."""
    words = [token for token in tokens_of(text, start) if not token.type.startswith("_")]
    ends = {word.line: (word.end_column or 1) - 1 for word in words}
    long = {line for line, end in ends.items() if end > width}
    gaps = [gap for gap in _gaps(words, start) if gap.last.line in long]
    if not gaps:
        return None
    mine = [gap for gap in gaps if gap.last.line == gaps[0].last.line]
    fitting = [gap for gap in mine if gap.column <= width]
    gap = min(fitting or mine[:1], key=lambda gap: (gap.depth, gap.looseness, -gap.column))
    spare = (gap.next.column or 0) - 1 - gap.column - 1
    if gap.looseness == _CITES and ends[gap.last.line] - spare <= width:
        return _parted(text, [gap], " ", start)
    looser = [each for each in mine if gap in mine[: mine.index(each)] and each.looseness <= _WORD < gap.looseness]
    return _parted(text, [gap, *(each for each in looser if each.depth <= gap.depth)], "\n" + " " * STEP, start)


def _parted(text: str, gaps: list[_Gap], between: str, start: Start) -> str:
    for gap in reversed(gaps):
        text = text[: gap.last.end_pos] + between + text[gap.next.start_pos :]
    return space_out(text, start)


def _gaps(words: list[Token], start: Start) -> list[_Gap]:
    """Return the positions at which lines can end, in order."""
    gaps, depth, header = list[_Gap](), 0, start == "function" and words[0] == "("
    for number, (last, word) in enumerate(pairwise(words)):
        depth += (last in ("(", "[")) - (last in (")", "]"))
        looseness = (_BEFORE_INSIDE if depth else _BEFORE).get(word) if word.type != "NAME" else None
        if last.type != "NAME" and word != ":" and not (last == "-" and _is_sign(words, number)):
            looseness = _BEHIND.get(last, looseness)
        if header and last == ":" and not depth:
            header, looseness = False, _HEADER
        begins = number == 0 or words[number - 1].line != last.line
        if looseness is not None and last.line == word.line and not (begins and last in _BEHIND):
            gaps.append(_Gap(last, word, depth, looseness))
    return gaps


def _is_sign(words: list[Token], number: int) -> bool:
    """Return whether a minus says that a number is negative."""
    return number == 0 or words[number - 1].type not in OPERANDS
