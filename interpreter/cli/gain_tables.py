"""Gains of cards, nodes and members of kinds as text, for ``regelwerk compare``."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.cli.output import aligned, say, styled
from interpreter.compare.gains import Gain, tables_of

__all__ = ["tell_gains"]

_MOST = 5
"""Number of things of a measure that are shown, unless all are asked for."""
_WIDE = 80
"""Columns of a table, beyond which names are cut."""


def tell_gains(found: Sequence[Gain], names: Sequence[str], full: bool) -> None:
    """Print a table for each measure by things; the largest effects come first."""
    say()
    say(styled("Cards, nodes and kinds", bold=True))
    if not found:
        say("  no measure of both sides is by a card, node or kind")
        return
    cells = "{} → {} ± half of the 95 % interval of the difference"
    say(f"  {text if len(text := cells.format(*names)) < _WIDE - 1 else cells.format('A', 'B')}")
    say("  times: in a game; winner: % of games in which the winner has it; * significant")
    for table in tables_of(found, None if full else _MOST):
        say()
        say(f"  {table.title}")
        longest, *others = (max(map(len, column)) for column in zip(table.heads, *table.rows, strict=True))
        room = min(longest, _WIDE - sum(others) - 2 * len(table.heads))
        for line in aligned(table.heads, [(_cut(name, room), *cells) for name, *cells in table.rows], "  "):
            say(line)
    if not full:
        say()
        say("  --full shows all")


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else f"{name[: room - 1]}…"
