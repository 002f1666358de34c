"""Pictures of effects as SVG that stands in a page: effect sizes with intervals, and two distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, isfinite

from interpreter.compare.effect_sizes import Effect
from interpreter.pages.html import element

__all__ = ["effect_sizes", "two_histograms"]

_FONT = "system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_INK, _SOFT, _LINE, _PALE = "#23221f", "#6a665e", "#d9d4c7", "#a9a59b"
_SIDES = ("#0072b2", "#c05a00")
_WIDTH = 480
_LETTERS = 52
"""So many letters of two titles stand beside each other."""


def effect_sizes(effects: Sequence[Effect], titles: tuple[str, str]) -> str:
    """A line for each measure: its effect size as a point, its interval as a bar; left is more on the first side."""
    wide = sum(map(len, titles)) > _LETTERS
    left, right, row, top = 120, _WIDTH - 14, 26, 58 if wide else 40
    ends = [abs(end) for each in effects for end in (each.size_low, each.size_high) if isfinite(end)]
    reach = max([0.5, *ends])
    reach = min(reach, 6.0) * 1.05
    height = top + row * len(effects) + 34

    def x(value: float) -> float:
        return round((left + right) / 2 + max(-1.0, min(1.0, value / reach)) * (right - left) / 2, 1)

    def parts() -> Iterator[str]:
        yield _text(0, 16, f"← {titles[0]}", "start", _SIDES[0])
        yield _text(_WIDTH, 34 if wide else 16, f"{titles[1]} →", "end", _SIDES[1])
        for tick in _ticks(reach):
            yield _line(x(tick), top - 8, x(tick), height - 26, _SOFT if tick == 0 else _LINE)
            yield _text(x(tick), height - 10, f"{tick:g}".replace("-", "−"), "middle", _SOFT)
        for number, each in enumerate(effects):
            y = top + row * number + row / 2
            colour = _SIDES[each.size > 0] if each.is_sure else _PALE
            yield _text(left - 10, y + 4, each.name.replace("_", " "), "end", _INK)
            yield _line(x(each.size_low), y, x(each.size_high), y, colour, 3)
            yield element("circle", cx=x(each.size), cy=y, r=5, fill=colour)

    about = "; ".join(f"{each.name.replace('_', ' ')} {each.size:+.2f}" for each in effects)
    return _svg(height, f"Effect sizes: {about}".replace("inf", "∞"), parts())


def two_histograms(bins: Sequence[tuple[float, int, int]], titles: tuple[str, str]) -> str:
    """Draw two histograms, above and below a line."""
    left, right, half, top = 20, _WIDTH - 20, 70, 26
    most = max(max(a, b) for _, a, b in bins) or 1
    step = (right - left) / len(bins)
    middle = top + half
    height = 2 * half + top + 48

    def parts() -> Iterator[str]:
        yield _text(left, 14, titles[0], "start", _SIDES[0])
        yield _text(left, height - 6, titles[1], "start", _SIDES[1])
        room = 8 * max(len(f"{start:g}") for start, _, _ in bins) + 8
        every = max(1, ceil(room / step))
        for number, (start, a, b) in enumerate(bins):
            x, width = round(left + number * step, 1), round(max(1.0, step - 2), 1)
            up, down = round(a / most * half, 1), round(b / most * half, 1)
            yield element("rect", x=x, y=round(middle - up, 1), width=width, height=up, fill=_SIDES[0])
            yield element("rect", x=x, y=middle + 20, width=width, height=down, fill=_SIDES[1])
            if number % every == 0:
                yield _text(round(x + width / 2, 1), middle + 14, f"{start:g}", "middle", _SOFT)

    return _svg(height, f"Two distributions: {titles[0]} above, {titles[1]} below", parts())


def _ticks(reach: float) -> list[float]:
    step = next(step for step in (0.1, 0.2, 0.5, 1.0, 2.0) if reach / step <= 5)
    count = int(reach / step)
    return [round(number * step, 1) for number in range(-count, count + 1)]


def _svg(height: float, about: str, parts: Iterator[str]) -> str:
    return element(
        "svg",
        element("title", escape(about)),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {round(height)}",
        font_family=_FONT,
        font_size=13,
        role="img",
    )


def _text(x: float, y: float, text: str, anchor: str, colour: str) -> str:
    return element("text", escape(text), x=x, y=y, text_anchor=anchor, fill=colour)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int = 1) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width)
