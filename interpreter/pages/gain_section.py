"""Sections of a comparison: which seats gain, and which cards, nodes and members of kinds, as charts and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from interpreter.base.extras import Unavailable
from interpreter.base.plurals import titled
from interpreter.compare.effect_sizes import Effect
from interpreter.compare.gains import Gain, tables_of
from interpreter.drawing.effect_charts import effect_chart
from interpreter.drawing.game_charts import Chart, svg_of
from interpreter.pages.page import Block, Drawing, Folded, Grid, Paragraph, Section

__all__ = ["drawn", "gains_sections"]

_MOST_DRAWN = 12
"""Number of effects in a chart."""
_CHARTS = {"times": "How often in a game", "mean": "Mean value", "winner": "Share of games in which the winner has it"}


def gains_sections(
    effects: Sequence[Effect], found: Sequence[Gain], titles: tuple[str, str], how: str
) -> Iterator[Section]:
    """Yield the sections about seats and about things, if there is anything to tell. ``how`` describes the games."""
    if wins := [effect for effect in effects if effect.is_of_wins]:
        text = (
            "Share of wins of each seat, and of the only seat that met an event with a number, such as a place in the "
            "first order. Several winners of a game have equal parts of its win."
        )
        chart = replace(effect_chart(wins, titles), title="Shares of wins")
        yield Section("seats", "Seats", (Paragraph(text), *drawn([chart], how)))
    if found:
        text = (
            f"“{titles[0]}” → “{titles[1]}”: how often a card, node or member of a kind occurs in a game, the mean of "
            "its values, and the percentage of games in which the winner has it. After ± stands half of the 95 % "
            "interval of the difference; * marks significant ones. One in twenty is so by chance. The largest effects "
            "come first."
        )
        charts = [chart for fact, about in _CHARTS.items() for chart in _charts(found, fact, about, titles)]
        tables = (
            Folded(titled(table.title), [Grid(table.heads, table.rows, marked_rows=table.sure)])
            for table in tables_of(found)
        )
        yield Section("gains", "Cards, nodes and kinds", (Paragraph(text), *drawn(charts, how), *tables))


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
