"""Charts of many games: SVG for a page, or one PNG. Drawn by Matplotlib (extra `charts`).

All data come from the summary (:func:`interpreter.simulate.summary.summary`); the measures of the ruleset determine
which charts there are. Every whisker and band is a 95 % interval.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO, StringIO
from itertools import cycle
from math import floor, log10, nan
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from interpreter.base.extras import Unavailable, install_command
from interpreter.base.paths import suffix_of
from interpreter.base.plurals import titled
from interpreter.drawing.colours import SEATS, colours_for
from interpreter.simulate.summary import Curve, Length, Share, Summary, Thing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "UNSURE",
    "WHISKERS",
    "Chart",
    "Dot",
    "binned",
    "charts_of",
    "check_charts",
    "draw_dots",
    "height_of",
    "png_of",
    "svg_of",
]

WHISKERS = "Whiskers are 95 % intervals."
UNSURE = "#a9a59b"
"""Colour of a dot that may be due to chance."""
WIDE, HIGH = 5.8, 3.0
"""Size of a chart in inches; its text is readable on a phone."""
_PLAIN, _SECOND = "#4a7fb5", "#c05a00"
_MANY = 12
"""Number of lines from which they are close together."""
_LOOKS = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e0",
    "legend.frameon": False,
    "svg.fonttype": "none",
}


class Chart(Struct, frozen=True):
    """A title, sentences on how to read the chart, and a function that draws it on axes."""

    title: str
    about: str
    draw: Callable[[Axes], None]
    height: float = HIGH
    """Height in inches."""


class Dot(Struct, frozen=True):
    """A line of a chart: a name, a value, and its interval, if known."""

    name: str
    value: float
    low: float | None
    high: float | None
    colour: str = _PLAIN


def check_charts(path: Path) -> None:
    """Check the file type and the library. Raises ``ValueError`` or :class:`Unavailable`."""
    suffix_of(path, ".html", ".png")
    _figures()


def charts_of(data: Summary) -> Iterator[Chart]:
    """Yield the charts of a summary: wins, lengths of games, changes by round, and values of things."""
    equal = 1 / len(data["seats"])
    seats = zip(data["seats"], cycle(SEATS), strict=False)
    yield _dots(
        "Share of wins",
        f"A shared win counts in parts. {WHISKERS} The dashed line is an equal share.",
        [_share_of(f"player {seat['seat'] + 1}, {seat['bot']}", seat, colour) for seat, colour in seats],
        ("% of wins", 100 * equal),
    )
    yield Chart("Rounds", "Number of games with each number of rounds.", lambda axes: _lengths(axes, data["lengths"]))
    for name, curve in data["curves"].items():
        if curve:
            title = f"{titled(name)} by round"
            about = "Means, up to the last round that half of the games reach. Bands are 95 % intervals."
            yield Chart(title, about, partial(_curves, curve=curve))
    for name, things in data["tables"].items():
        if dots := [
            Dot(thing["name"], thing["mean"], thing["mean_low"], thing["mean_high"])
            for thing in things
            if thing["of"] and thing["mean"] is not None
        ]:
            yield _dots(f"{titled(name)} by {_key(things)}", f"Means. {WHISKERS}", _in_order(things, dots), ("", None))
    for name, things in data["tables"].items():
        if dots := [_wins_of(thing, equal) for thing in things if thing["of"] and thing["share"] is not None]:
            title = f"{titled(name)}: wins by {_key(things)}"
            about = (
                f"Share of wins of the seats that had it. {WHISKERS} The dashed line is an equal share; a grey dot may "
                "differ from it by chance."
            )
            yield _dots(title, about, _in_order(things, dots), ("% of wins", 100 * equal))


# --- lines of dots


def _key(things: Sequence[Thing]) -> str:
    return ", ".join(things[0]["of"]).replace("_", " ")


def _wins_of(thing: Thing, equal: float) -> Dot:
    is_sure = not (thing["low"] or 0) <= equal <= (thing["high"] or 0)
    return _share_of(thing["name"], thing, _SECOND if is_sure else UNSURE)


def _share_of(name: str, data: Share, colour: str) -> Dot:
    share, low, high = (100 * (part or 0) for part in (data["share"], data["low"], data["high"]))
    return Dot(name, share, low, high, colour)


def _in_order(things: Sequence[Thing], dots: list[Dot]) -> list[Dot]:
    """Sort lines by their values, unless the things have an order of their own."""
    return dots if things[0]["numbered"] else sorted(dots, key=lambda dot: -dot.value)


def _dots(title: str, about: str, dots: Sequence[Dot], scale: tuple[str, float | None]) -> Chart:
    """Return a chart with a line for each dot. ``scale`` is the unit, and a value to compare with."""

    def draw(axes: Axes) -> None:
        unit, middle = scale
        draw_dots(axes, dots)
        if middle is not None:
            axes.axvline(middle, color="#333333", linestyle="--", linewidth=0.8)
        axes.set_xlim(left=min(0, axes.get_xlim()[0]))
        axes.set_xlabel(unit)

    return Chart(title, about, draw, height_of(dots))


def height_of(dots: Sequence[Dot]) -> float:
    """Return the height of a chart with these lines."""
    return 0.8 + len(dots) * (0.17 if len(dots) > _MANY else 0.27)


def draw_dots(axes: Axes, dots: Sequence[Dot]) -> None:
    """Draw a line for each dot, from top to bottom, with its interval as a whisker."""
    many = len(dots) > _MANY
    for row, dot in enumerate(dots):
        if dot.low is not None and dot.high is not None:
            axes.plot([dot.low, dot.high], [row, row], color=dot.colour, linewidth=2, solid_capstyle="round")
        axes.plot(dot.value, row, "o", color=dot.colour, markersize=5 if many else 7, clip_on=False)
    axes.set_yticks(range(len(dots)), [dot.name for dot in dots], fontsize=7.5 if many else 9)
    axes.set_ylim(len(dots) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


# --- other charts


def _lengths(axes: Axes, lengths: Sequence[Length]) -> None:
    width, bins = binned({length["rounds"]: length["games"] for length in lengths})
    starts, games = zip(*bins, strict=True)
    axes.bar([start + width / 2 for start in starts], games, color=_PLAIN, width=0.9 * width)
    axes.set_xlabel("rounds")
    axes.set_ylabel("games")
    _count_on(axes.xaxis, axes.yaxis)
    axes.grid(axis="x", visible=False)


def _count_on(*lines: Axis) -> None:
    """Mark integers only."""
    from matplotlib.ticker import MaxNLocator

    for line in lines:
        line.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def binned(*sides: Mapping[float, int], most: int = 24) -> tuple[float, list[tuple[float, ...]]]:
    """Sort numbers, given with their frequencies, into bins whose width is a round number. Return the width, and the
    left edge of each bin with the frequencies on every side. Whole numbers have whole bins around them."""
    values = [value for side in sides for value in side]
    low, high = min(values), max(values)
    whole = all(value == int(value) for value in values)
    width = _round_width((high - low) / (most - 1), whole)
    first = floor(low / width + _SLIP)
    counts = [[0] * len(sides) for _ in range(floor(high / width + _SLIP) - first + 1)]
    for place, side in enumerate(sides):
        for value, frequency in side.items():
            counts[floor(value / width + _SLIP) - first][place] += frequency
    edge = 0.5 if whole else 0.0
    return width, [(round((first + number) * width - edge, 9), *row) for number, row in enumerate(counts)]


_SLIP = 1e-9
"""Tolerance for quotients slightly below an integer."""


def _round_width(least: float, whole: bool) -> float:
    """Return the smallest sufficient width of 1, 2, 5, 10, 20 … and, unless values are integers, of 0.5, 0.2, 0.1 …"""
    if least <= 0 or (whole and least <= 1):
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - _SLIP))


def _curves(axes: Axes, curve: Sequence[Curve]) -> None:
    most = max(point["games"] for thing in curve for point in thing["rounds"])
    colours = colours_for([thing["name"] for thing in curve])
    for place, thing in enumerate(curve):
        points = [point for point in thing["rounds"] if point["games"] * 2 >= most]
        seats = [value for value in thing["of"].values() if isinstance(value, int)]
        colour = SEATS[place % len(SEATS)] if seats else colours[thing["name"]]
        xs, ys = [point["round"] for point in points], [point["mean"] for point in points]
        axes.plot(xs, ys, color=colour, label=thing["name"] or None, marker="o", markersize=3)
        lows = [nan if (low := point["mean_low"]) is None else low for point in points]
        highs = [nan if (high := point["mean_high"]) is None else high for point in points]
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.2, linewidth=0)
    axes.set_xlabel("round")
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    _count_on(axes.xaxis)
    if any(thing["name"] for thing in curve):
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


# --- files


def svg_of(chart: Chart) -> str:
    """Return a chart as SVG; equal data give equal output."""
    figure_of, looks = _figures()
    with looks({**_LOOKS, "svg.hashsalt": chart.title}):
        figure = figure_of(figsize=(WIDE, chart.height), layout="constrained")
        chart.draw(figure.add_subplot())
        buffer = StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"\s*<metadata>.*</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'<g id="[^"]*"', "<g", text)  # names of parts, equal in all charts of a page


def png_of(title: str, caption: str, charts: Iterable[Chart]) -> bytes:
    """Draw all charts in one picture with two columns."""
    figure_of, looks = _figures()
    shown = sorted(charts, key=lambda chart: chart.height)  # rows have charts of similar height
    rows = [shown[start : start + 2] for start in range(0, len(shown), 2)]
    heights = [max(chart.height for chart in row) for row in rows]
    with looks(_LOOKS):
        figure = figure_of(figsize=(2 * WIDE, sum(heights) + 0.4 * len(rows)), layout="constrained", dpi=110)
        figure.suptitle(title, fontweight="bold")
        figure.supxlabel(caption, fontsize=9)
        grid = figure.subplots(len(rows), 2, squeeze=False, height_ratios=heights)
        for of_row, row in zip(grid, rows, strict=True):
            for axes, chart in zip(of_row, row, strict=False):
                axes.set_title(chart.title, loc="left", fontsize=10, fontweight="bold")
                chart.draw(axes)
            for axes in of_row[len(row) :]:
                axes.set_visible(False)
        buffer = BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _figures() -> tuple[Callable[..., Figure], Callable[..., AbstractContextManager[None]]]:
    """Return a factory of figures without a window, and a context that sets their style."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise Unavailable(f"charts need Matplotlib: `{install_command('charts')}`") from None
    return Figure, rc_context
