"""``regelwerk list``: the rulesets that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from interpreter.cli.options import output_option
from interpreter.cli.output import aligned, as_json, notice, say

if TYPE_CHECKING:
    from interpreter.reading.files import Shelf

__all__ = ["command"]


@click.command("list")
@output_option("text", "json")
def command(output: str) -> None:
    """The rulesets that there are: those shipped, and those in the folders of REGELWERK_PATH.

    \b
    Examples:
      regelwerk list
      regelwerk list -o json
    """
    from interpreter.reading.files import shelf_for

    shelf = shelf_for()
    rows = [row for id in shelf.ids("ruleset") if (row := _row(shelf, id)) is not None]
    if output == "json":
        as_json(rows)
        return
    table = [(row["id"], row["family"], _range(row["players"]), row["title"]) for row in rows]
    for line in aligned(("id", "family", "players", "title"), table):
        say(line)


def _row(shelf: Shelf, id: str) -> dict[str, Any] | None:
    """A ruleset as far as its files tell; one that cannot be read is named on stderr."""
    from interpreter.engine.contents import files_of, players_of
    from interpreter.reading.compose import word

    document, diagnostics = shelf.read("ruleset", id)
    if document is None:
        notice(f"{id}: {diagnostics[0].message}; `regelwerk validate {id}` tells more")
        return None
    players = players_of(files_of(shelf, document))
    return {
        "id": id,
        "family": word(document.root.get("family")),
        "players": [players.low, players.high],
        "title": word(document.root.get("title"), id),
    }


def _range(players: list[int]) -> str:
    low, high = players
    return str(low) if low == high else f"{low}–{high}"
