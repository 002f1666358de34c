"""Charts of many games: SVG for a page, or one PNG. Drawn by Matplotlib (extra `charts`).

All data come from the summary (:func:`interpreter.simulate.summary.summary`); the measures of the ruleset determine
which charts there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO, StringIO
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from interpreter.base.extras import install_command
from interpreter.base.plurals import counted, titled
from interpreter.drawing.colours import SEATS, colours_for
from interpreter.simulate.summary import Curve, Length, SeatData, Summary, Thing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Chart", "ChartsUnavailable", "charts_of", "check_charts", "png_of", "svg_of"]

WIDE, HIGH = 7.2, 3.6
"""Size of a chart in inches, about as wide as a line of text."""
_PLAIN, _SECOND = "#4a7fb5", "#dc8a3c"
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


class ChartsUnavailable(Exception):
    """Raised if no charts can be drawn; the message says what is missing."""


class Chart(Struct, frozen=True):
    """A title, a sentence on how to read the chart, and a function that draws it on axes."""

    title: str
    about: str
    draw: Callable[[Axes], None]
    height: float = HIGH
    """Height in inches."""


def check_charts(path: Path) -> None:
    """Check the file type and the library. Raises ``ValueError`` or :class:`ChartsUnavailable`."""
    if path.suffix.lower() not in (".html", ".png"):
        raise ValueError(f"got `{path}`, want a file that ends in .html or .png")
    _figures()


def charts_of(data: Summary) -> Iterator[Chart]:
    """Yield the charts of a summary: wins, lengths of games, changes by round, and values of things."""
    games = counted(data["games"], "game")
    yield Chart(
        "Share of wins",
        f"A shared win counts in parts. Lines are 95 % intervals of {games}; the dashed line is an equal share.",
        lambda axes: _shares(axes, data["seats"]),
    )
    yield Chart("Rounds", "Number of games by their number of rounds.", lambda axes: _lengths(axes, data["lengths"]))
    for name, curve in data["curves"].items():
        if curve:
            title = f"{titled(name)} by round"
            about = "Means, up to the last round that half of the games reach."
            yield Chart(title, about, partial(_curves, curve=curve))
    for name, things in data["tables"].items():
        if any(thing["of"] and thing["mean"] is not None for thing in things):
            about = f"Means by {', '.join(things[0]['of'])}, with minimum and maximum."
            yield Chart(titled(name), about, partial(_means, things=things))
    seats = len(data["seats"])
    for name, things in data["tables"].items():
        if any(thing["of"] and thing["share"] is not None for thing in things):
            title = f"{titled(name)}: wins by {', '.join(things[0]['of'])}"
            about = "Share of the win of seats that had it, with 95 % intervals; the dashed line is an equal share."
            yield Chart(title, about, partial(_wins, things=things, seats=seats))


# --- drawing


def _shares(axes: Axes, seats: Sequence[SeatData]) -> None:
    from matplotlib.patheffects import withStroke

    names = [f"{seat['seat'] + 1}: {seat['bot']}" for seat in seats]
    shares = [100 * (seat["share"] or 0) for seat in seats]
    low = [max(0.0, share - 100 * (seat["low"] or 0)) for share, seat in zip(shares, seats, strict=True)]
    high = [max(0.0, 100 * (seat["high"] or 0) - share) for share, seat in zip(shares, seats, strict=True)]
    colours = [SEATS[place % len(SEATS)] for place in range(len(seats))]
    reach = {"ecolor": "#333333", "capsize": 4}
    bars = axes.bar(names, shares, color=colours, yerr=[low, high], error_kw=reach, width=0.6)
    for lines in bars.errorbar.lines[1:] if bars.errorbar is not None else ():
        for line in lines:
            line.set_path_effects([withStroke(linewidth=2.5, foreground="white")])  # visible on dark bars too
    axes.axhline(100 / len(seats), color="#333333", linestyle="--", linewidth=0.8)
    axes.set_ylabel("% of wins")
    axes.set_ylim(0)
    axes.grid(axis="x", visible=False)


def _lengths(axes: Axes, lengths: Sequence[Length]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.bar([length["rounds"] for length in lengths], [length["games"] for length in lengths], color=_PLAIN, width=0.8)
    axes.set_xlabel("rounds")
    axes.set_ylabel("games")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(axis="x", visible=False)


def _curves(axes: Axes, curve: Sequence[Curve]) -> None:
    from matplotlib.ticker import MaxNLocator

    most = max(point["games"] for thing in curve for point in thing["rounds"])
    colours = colours_for([thing["name"] for thing in curve])
    for place, thing in enumerate(curve):
        points = [point for point in thing["rounds"] if point["games"] * 2 >= most]
        seats = [value for value in thing["of"].values() if isinstance(value, int)]
        colour = SEATS[place % len(SEATS)] if seats else colours[thing["name"]]
        xs, ys = [point["round"] for point in points], [point["mean"] for point in points]
        axes.plot(xs, ys, color=colour, label=thing["name"] or None, marker="o", markersize=3)
    axes.set_xlabel("round")
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if any(thing["name"] for thing in curve):
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _means(axes: Axes, things: Sequence[Thing]) -> None:
    measured_things = [thing for thing in things if thing["mean"] is not None]
    means = [thing["mean"] or 0.0 for thing in measured_things]
    least = [mean - (thing["min"] or 0) for mean, thing in zip(means, measured_things, strict=True)]
    most = [(thing["max"] or 0) - mean for mean, thing in zip(means, measured_things, strict=True)]
    _bars(axes, [thing["name"] for thing in measured_things], means, [least, most], _PLAIN)


def _wins(axes: Axes, things: Sequence[Thing], seats: int) -> None:
    names, shares, low, high = [], [], [], []
    for thing in things:
        if (share := thing["share"]) is not None:
            names.append(thing["name"])
            shares.append(100 * share)
            low.append(max(0.0, 100 * (share - (thing["low"] or 0))))
            high.append(max(0.0, 100 * ((thing["high"] or 0) - share)))
    _bars(axes, names, shares, [low, high], _SECOND)
    axes.axhline(100 / seats, color="#333333", linestyle="--", linewidth=0.8)
    axes.set_ylabel("% of wins")


def _bars(axes: Axes, names: list[str], heights: list[float], reach: list[list[float]], colour: str) -> None:
    """Draw a bar for each thing; many or long names are vertical and small."""
    crowded = sum(map(len, names)) + 2 * len(names) > 70
    places = range(len(names))
    axes.bar(places, heights, color=colour, yerr=reach, error_kw={"ecolor": "#333333", "elinewidth": 0.7}, width=0.7)
    axes.set_xticks(list(places), names, rotation=90 if crowded else 0, fontsize=7 if crowded else 9)
    axes.grid(axis="x", visible=False)
    axes.set_xlim(-0.6, max(len(names), 6) - 0.4)


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


def png_of(title: str, charts: Iterable[Chart]) -> bytes:
    """Draw all charts in one picture with two columns."""
    figure_of, looks = _figures()
    all_charts = list(charts)
    with looks(_LOOKS):
        figure = figure_of(figsize=(2 * WIDE, HIGH * ceil(len(all_charts) / 2)), layout="constrained", dpi=110)
        figure.suptitle(title, fontweight="bold")
        grid = figure.subplots(ceil(len(all_charts) / 2), 2, squeeze=False).flat
        for axes, chart in zip(grid, all_charts, strict=False):
            axes.set_title(chart.title, loc="left", fontsize=10, fontweight="bold")
            chart.draw(axes)
        for axes in list(figure.axes)[len(all_charts) :]:
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
        raise ChartsUnavailable(f"charts need Matplotlib: `{install_command('charts')}`") from None
    return Figure, rc_context
