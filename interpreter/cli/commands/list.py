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
    """The rulesets that there are: those shipped, and those of packages and of the folders of REGELWERK_PATH.

    \b
    Examples:
      regelwerk list
      regelwerk list -o json
    """
    from interpreter.base.paths import sources
    from interpreter.reading.files import shelf_for

    for root in sources():
        if not root.path.is_dir():
            notice(f"{root.origin}: there is no folder `{root.path}`")
    shelf = shelf_for()
    rows = [row for id in shelf.ids("ruleset") if (row := _row(shelf, id)) is not None]
    if output == "json":
        as_json(rows)
        return
    table = [(row["id"], row["family"], _range(row["players"]), row["from"], row["title"]) for row in rows]
    for line in aligned(("id", "family", "players", "from", "title"), table):
        say(line)


def _row(shelf: Shelf, id: str) -> dict[str, Any] | None:
    """A ruleset as far as its files tell; one that cannot be read is named on stderr."""
    from interpreter.base.paths import sources
    from interpreter.engine.contents import files_of, players_of
    from interpreter.reading.compose import word

    document, diagnostics = shelf.read("ruleset", id)
    if document is None:
        about = "".join(f"; {note.message}" for note in diagnostics[0].notes)
        notice(f"{id}: {diagnostics[0].message}{about}; `regelwerk validate {id}` tells more")
        return None
    players = players_of(files_of(shelf, document))
    return {
        "id": id,
        "family": word(document.root.get("family")),
        "players": [players.low, players.high],
        "from": next((root.origin for root in sources() if document.path.is_relative_to(root.path)), ""),
        "title": word(document.root.get("title"), id),
    }


def _range(players: list[int]) -> str:
    low, high = players
    return str(low) if low == high else f"{low}–{high}"
