"""Charts of paired games: the effect size of each measure, and the distribution of one measure on both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from interpreter.base.plurals import titled
from interpreter.compare.effect_sizes import Effect
from interpreter.drawing.game_charts import UNSURE, WHISKERS, Chart, Dot, binned, draw_dots, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["effect_chart", "histogram_chart"]

_SIDES = ("#0072b2", "#c05a00")
_LARGEST = 6.0
"""Larger effect sizes, some of them infinite, are drawn at the edge."""


def effect_chart(effects: Sequence[Effect], titles: tuple[str, str]) -> Chart:
    """Return a chart with a line for each measure: its effect size as a dot.

    Dots on the left mean more on the first side. Effects that are not significant are grey.
    """
    ends = [abs(end) for effect in effects for end in (effect.size_low, effect.size_high) if isfinite(end)]
    reach = min(max(0.5, *ends), _LARGEST) * 1.05 if ends else _LARGEST
    dots = [_dot(effect, reach) for effect in effects]

    def draw(axes: Axes) -> None:
        draw_dots(axes, dots)
        axes.axvline(0, color="#333333", linewidth=0.8)
        axes.set_xlim(-reach, reach)
        axes.set_xlabel("effect size")
        axes.set_title(f"← {titles[0]}", loc="left", color=_SIDES[0], fontsize=9)
        axes.set_title(f"{titles[1]} →", loc="right", color=_SIDES[1], fontsize=9, y=1.0 if _fit(titles) else 1.05)

    about = f"Effect sizes. {WHISKERS} Grey effects are not significant."
    return Chart("Effect sizes", about, draw, height_of(dots) + 0.2)


def _dot(effect: Effect, reach: float) -> Dot:
    low, size, high = (max(-reach, min(reach, x)) for x in (effect.size_low, effect.size, effect.size_high))
    colour = _SIDES[effect.size > 0] if effect.is_sure else UNSURE
    return Dot(effect.name.replace("_", " "), size, low, high, colour)


def histogram_chart(effect: Effect, titles: tuple[str, str]) -> Chart:
    """Return a chart of two histograms: the first side above the axis, the second below."""

    def draw(axes: Axes) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        width, bins = binned(*map(Counter, effect.values))
        places = [start + width / 2 for start, _, _ in bins]
        for side, (colour, sign) in enumerate(zip(_SIDES, (1, -1), strict=True)):
            axes.bar(places, [sign * row[side + 1] for row in bins], 0.9 * width, color=colour, label=titles[side])
        axes.axhline(0, color="#333333", linewidth=0.8)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda games, _: f"{abs(games):g}"))
        axes.set_xlabel(effect.name.replace("_", " "))
        axes.set_ylabel("games")
        axes.grid(axis="x", visible=False)
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2 if _fit(titles) else 1, borderaxespad=0.0)

    name = titled(effect.name)
    return Chart(name, f"{name}: number of games with each value.", draw, 2.6)


def _fit(titles: tuple[str, str]) -> bool:
    return sum(map(len, titles)) <= 60
