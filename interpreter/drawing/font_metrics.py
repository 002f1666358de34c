"""Text widths without a font: those of Helvetica Bold, which layouts are computed with."""

from __future__ import annotations

from unicodedata import combining, east_asian_width, normalize

__all__ = ["FAMILY", "lines_for", "width_of"]

FAMILY = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans Condensed', 'DejaVu Sans', 'Noto Sans', sans-serif"
"""Fonts of about these widths, the closest first."""

_WIDTHS = {
    0.278: "ijlI.,:;!|/' ",
    0.333: "ft-()[]`",
    0.389: "r*",
    0.5: "z",
    0.556: "aceksvxyJ0123456789_$#",
    0.611: "bdghnopquFLTZ?",
    0.667: "EPSVXY",
    0.722: "ABCDHKNRU&",
    0.778: "wGOQ",
    0.889: "mM%",
    0.944: "W@",
}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}


def width_of(text: str, size: float) -> float:
    """Return the width of a line of text."""
    return size * sum(map(_width, normalize("NFD", text)))


def _width(letter: str) -> float:
    if combining(letter):
        return 0.0
    if letter in _WIDTH:
        return _WIDTH[letter]
    return 1.0 if east_asian_width(letter) in "WF" else 0.72


def lines_for(text: str) -> list[tuple[str, ...]]:
    """Return the ways to break a name: one line, and for a long name also two of similar length."""
    variants: list[tuple[str, ...]] = [(text,)]
    breaks = [index for index, letter in enumerate(text) if letter in " -" and 0 < index < len(text) - 1]
    if len(text) > 8 and breaks:
        index = min(breaks, key=lambda place: (abs(2 * place - len(text)), place))
        variants.append((text[: index + 1].rstrip(), text[index + 1 :]))
    return variants
