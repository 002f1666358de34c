"""Charts of paired games: the effect size of each measure, and the distribution of one measure on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from interpreter.base.plurals import titled
from interpreter.compare.effect_sizes import Effect, histogram
from interpreter.drawing.game_charts import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["effect_chart", "histogram_chart"]

_SIDES = ("#0072b2", "#c05a00")
_UNSURE = "#a9a59b"
_LARGEST = 6.0
"""Larger effect sizes, some of them infinite, are drawn at the edge."""


def effect_chart(effects: Sequence[Effect], titles: tuple[str, str]) -> Chart:
    """Return a chart with a line for each measure: its effect size as a point, the 95 % interval as a bar.

    Points on the left mean more on the first side. Effects that are not significant are grey.
    """

    def draw(axes: Axes) -> None:
        ends = [abs(end) for effect in effects for end in (effect.size_low, effect.size_high) if isfinite(end)]
        reach = min(max(0.5, *ends), _LARGEST) * 1.05 if ends else _LARGEST
        for row, effect in enumerate(effects):
            colour = _SIDES[effect.size > 0] if effect.is_sure else _UNSURE
            low, size, high = (max(-reach, min(reach, x)) for x in (effect.size_low, effect.size, effect.size_high))
            axes.plot([low, high], [row, row], color=colour, linewidth=2.5, solid_capstyle="round")
            axes.plot(size, row, "o", color=colour, markersize=7, clip_on=False)
        axes.axvline(0, color="#333333", linewidth=0.8)
        axes.set_xlim(-reach, reach)
        axes.set_yticks(range(len(effects)), [effect.name.replace("_", " ") for effect in effects])
        axes.set_ylim(len(effects) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.set_title(f"← {titles[0]}", loc="left", color=_SIDES[0], fontsize=10)
        axes.set_title(f"{titles[1]} →", loc="right", color=_SIDES[1], fontsize=10, y=1.0 if _fit(titles) else 1.08)

    about = "Effect sizes with their 95 % intervals. Grey effects are not significant."
    return Chart("Effect sizes", about, draw, 0.9 + 0.28 * len(effects))


def histogram_chart(effect: Effect, titles: tuple[str, str]) -> Chart:
    """Return a chart of two histograms: the first side above the axis, the second below."""

    def draw(axes: Axes) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        bins = histogram(effect)
        starts = [start for start, _, _ in bins]
        width = (starts[1] - starts[0] if len(starts) > 1 else 1.0) * 0.9
        axes.bar(starts, [first for _, first, _ in bins], width, align="edge", color=_SIDES[0], label=titles[0])
        axes.bar(starts, [-second for _, _, second in bins], width, align="edge", color=_SIDES[1], label=titles[1])
        axes.axhline(0, color="#333333", linewidth=0.8)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda games, _: f"{abs(games):g}"))
        axes.set_ylabel("games")
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, 1.16), ncols=2 if _fit(titles) else 1, borderaxespad=0.0)

    name = titled(effect.name)
    return Chart(name, f"{name}: number of games with each value", draw, 2.8)


def _fit(titles: tuple[str, str]) -> bool:
    """Return whether both titles fit into one line."""
    return sum(map(len, titles)) <= 70
