"""Gains of cards, nodes and members of kinds as text, for ``regelwerk compare``."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.cli.output import cut, say, say_heading, say_table, width
from interpreter.compare.gains import Gain, tables_of

__all__ = ["tell_gains"]

_MOST = 5
"""Number of things of a measure that are shown, unless all are asked for."""


def tell_gains(found: Sequence[Gain], names: Sequence[str], full: bool) -> None:
    """Print a table for each measure by things; the largest effects come first."""
    say_heading("Cards, nodes and kinds")
    if not found:
        say("  no measure of both sides is by a card, node or kind: add one under `measures`")
        return
    cells = "{} → {} ± half of the 95 % interval of the difference"
    say(f"  {text if len(text := cells.format(*names)) < width() - 1 else cells.format('A', 'B')}")
    say("  times: in a game; winner: % of games in which the winner has it; * significant")
    tables = list(tables_of(found, None if full else _MOST))
    for table in tables:
        say()
        say(f"  {table.title}")
        widths = [max(map(len, column)) for column in zip(table.heads, *table.rows, strict=True)]
        room = width() - sum(widths[1:]) - 2 * len(widths)
        rows = [(cut(name, room), *cells) for name, *cells in table.rows]
        if rows:
            say_table(table.heads, rows, "  ")
    if any(table.left_out for table in tables):
        say()
        say("  --full shows all")
