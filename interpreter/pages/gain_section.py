"""Section of a comparison: which cards, nodes and members of kinds gain, as a chart and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interpreter.base.plurals import titled
from interpreter.compare.gains import Gain, GainTable, tables_of
from interpreter.drawing.effect_charts import effect_chart
from interpreter.drawing.game_charts import Chart, ChartsUnavailable, svg_of
from interpreter.pages.page import Block, Drawing, Folded, Grid, Paragraph, Section, Words

__all__ = ["drawn", "gains_sections"]

_MOST_DRAWN = 24
"""Number of effects in the chart."""


def gains_sections(found: Sequence[Gain], titles: tuple[str, str]) -> Iterator[Section]:
    """Yield the section, if there is anything to tell."""
    if not found:
        return
    text = (
        f"“{titles[0]}” → “{titles[1]}”: how often a card, node or member of a kind occurs in a game, the mean of its "
        "values, and the percentage of games in which the winner has it. After ± stands half of the 95 % interval of "
        "the difference; * marks significant ones. One in twenty is so by chance. The largest effects come first."
    )
    effects = [effect for gain in found for effect in gain.effects]
    strongest = sorted(effects, key=lambda effect: -abs(effect.size))[:_MOST_DRAWN]
    tables = (
        Folded((titled(table.title),), (Grid(table.heads, _rows(table), marked_rows=table.sure),))
        for table in tables_of(found)
    )
    yield Section(
        "gains", "Cards, nodes and kinds", (Paragraph((text,)), *drawn([effect_chart(strongest, titles)]), *tables)
    )


def _rows(table: GainTable) -> tuple[tuple[Words, ...], ...]:
    return tuple(tuple((cell,) for cell in row) for row in table.rows)


def drawn(charts: Sequence[Chart]) -> Iterator[Block]:
    """Yield drawings of charts, or a line that says why there are none."""
    try:
        drawings = [Drawing(svg_of(chart), chart.about) for chart in charts]
    except ChartsUnavailable as missing:
        yield Paragraph((f"{str(missing)[:1].upper()}{str(missing)[1:]}.",))
    else:
        yield from drawings
