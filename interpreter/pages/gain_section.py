"""Section of a comparison: which cards, nodes and members of kinds gain, as charts and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median

from msgspec.structs import replace

from interpreter.base.extras import Unavailable
from interpreter.compare.effect_sizes import Effect
from interpreter.compare.gains import Gain
from interpreter.drawing.effect_charts import effect_chart
from interpreter.drawing.game_charts import Chart, svg_of
from interpreter.pages.page import Block, Drawing, Folded, Grid, Paragraph, Section

__all__ = ["drawn", "gains_section", "things_told"]

_TITLE = "Cards, nodes and kinds"
_MOST = 5
"""Things of a measure in a report that is not full."""
_MOST_DRAWN = 12
"""Number of effects in a chart."""
_CHARTS = {"times": "How often in a game", "mean": "Mean value", "winner": "Share of games in which the winner has it"}


def gains_section(found: Sequence[Gain], titles: tuple[str, str], how: str, *, terse: bool, full: bool) -> Section:
    """Return the section about things: a table for each measure, and charts unless it is ``terse``. ``how`` describes
    the games."""
    if not found:
        nothing = "no measure of both sides is by a card, node or kind: add one under `measures`"
        return Section("gains", _TITLE, (Paragraph(nothing),))
    blocks: list[Block] = [
        Paragraph(f"{titles[0]} → {titles[1]} ± half of the 95 % interval of the difference"),
        Paragraph("times: in a game; winner: % of games in which the winner has it; * significant"),
        Paragraph("One in twenty is significant by chance. The largest effects come first.", "aside"),
    ]
    if not terse:
        charts = [chart for fact, about in _CHARTS.items() for chart in _charts(found, fact, about, titles)]
        blocks += drawn(charts, how)
    blocks += things_told(found, None if full else _MOST)
    return Section("gains", _TITLE, blocks)


def things_told(found: Sequence[Gain], most: int | None = None) -> Iterator[Block]:
    """Yield a table for each measure: all things, or at most so many that differ."""
    left_out = False
    for measure, group in groupby(found, key=lambda gain: gain.measure):
        things = list(group)
        shown = things if most is None else [gain for gain in things if gain.size][:most]
        left_out |= len(shown) < len(things)
        columns = {
            "": [gain.name for gain in shown],
            "times": _cells([gain.times for gain in shown]),
            "mean": _cells([gain.mean for gain in shown]),
            "winner, %": _cells([gain.winner for gain in shown]),
        }
        filled = {head: cells for head, cells in columns.items() if any(cells)}
        title = f"{measure}, by {', '.join(things[0].of)}".replace("_", " ")
        count = f"{len(shown)} of {len(things)}" if len(shown) < len(things) else str(len(things))
        sure = frozenset(place for place, gain in enumerate(shown) if gain.is_sure)
        significant = sum(gain.is_sure for gain in things)
        grid = Grid(tuple(filled), tuple(zip(*filled.values(), strict=True)), marked_rows=sure)
        yield Folded(f"{title}: {count}, {significant} significant", [grid] if shown else [])
    if left_out:
        yield from (Paragraph(""), Paragraph("--full shows all"))


def _cells(effects: Sequence[Effect | None]) -> list[str]:
    """Return the cells of a column: both sides and the interval, with as many digits as the intervals allow."""
    known = [effect for effect in effects if effect is not None]
    typical = median([effect.high - effect.difference for effect in known]) if known else 0.0
    digits = 0 if typical >= 2 else 1 if typical >= 0.2 else 2
    parts = [
        [f"{number:.{digits}f}" for number in (effect.a, effect.b, effect.high - effect.difference)] for effect in known
    ]
    widths = [max(map(len, numbers)) for numbers in zip(*parts, strict=True)]
    texts = iter(
        f"{a.rjust(widths[0])} → {b.rjust(widths[1])} ± {reach.rjust(widths[2])}{' *' if effect.is_sure else ''}"
        for effect, (a, b, reach) in zip(known, parts, strict=True)
    )
    return ["" if effect is None else next(texts) for effect in effects]


def _charts(found: Sequence[Gain], fact: str, about: str, titles: tuple[str, str]) -> Iterator[Chart]:
    """Yield a chart of the largest effects. Of measures that agree on a thing, only the first one is shown."""
    effects = {
        (gain.name, effect.a, effect.b, effect.low): effect for gain in reversed(found) if (effect := gain.facts[fact])
    }
    largest = sorted(effects.values(), key=lambda effect: -abs(effect.size))[:_MOST_DRAWN]
    if largest:
        chart = effect_chart(largest, titles)
        yield replace(chart, title=about, about=f"{about}: the largest effects. {chart.about}")


def drawn(charts: Sequence[Chart], how: str) -> Iterator[Block]:
    """Yield drawings of charts of these games, or a line that says why there are none."""
    try:
        drawings = [Drawing(svg_of(chart), f"{chart.about} {how}", "chart") for chart in charts]
    except Unavailable as missing:
        yield Paragraph(f"{str(missing)[:1].upper()}{str(missing)[1:]}.")
    else:
        yield from drawings
