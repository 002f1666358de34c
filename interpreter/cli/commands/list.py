"""``regelwerk list``: list the available rulesets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.paths import sources
from interpreter.base.plain_data import Value
from interpreter.base.yaml_values import word
from interpreter.cli import options
from interpreter.cli.output import as_json, notice, tell
from interpreter.pages.page import Column, Grid

if TYPE_CHECKING:
    from interpreter.reading.files import Document, Shelf

__all__ = ["command"]


@click.command("list")
@options.output_option("text", "json")
def command(output: str) -> None:
    """List the available rulesets: those shipped, those of installed packages and of the folders in REGELWERK_PATH, and
    those in the current folder.

    \b
    Examples:
      regelwerk list
      regelwerk list -o json
    """
    from interpreter.loading.load import find
    from interpreter.reading.dependencies import at_one_moment
    from interpreter.reading.files import nearby_ids, shelf_for

    for root in sources():
        if not root.path.is_dir():
            origin = "REGELWERK_PATH" if root.path == Path(root.origin) else root.origin
            notice(f"{origin}: no such folder: `{root.path}`")
    shelf = shelf_for()
    with at_one_moment():
        ids = shelf.ids("ruleset")
        rows = [row for id in ids if (row := _row(shelf, id)) is not None]
        for place, document, _ in (find(id) for id in nearby_ids() if id not in ids):
            if document is not None:  # an unreadable file may be no ruleset
                rows.append(_about(place, document, document.address.as_posix()))
    if output == "json":
        as_json(rows)
        return
    tell(Grid(("id", "family", Column("players", _range), "from", "title"), [[*row.values()] for row in rows]))


_Row = dict[str, Value]


def _row(shelf: Shelf, id: str) -> _Row | None:
    """Return the row of a ruleset, from its files only. An unreadable ruleset is reported on stderr."""
    document, diagnostics = shelf.read("ruleset", id)
    if document is None:
        about = "".join(f"; {note.message}" for note in diagnostics[0].notes)
        notice(f"{id}: {diagnostics[0].message}{about}; for details: `regelwerk validate {id}`")
        return None
    origin = next((root.origin for root in sources() if document.path.is_relative_to(root.path)), "")
    return _about(shelf, document, origin)


def _about(shelf: Shelf, document: Document, origin: str) -> _Row:
    from interpreter.reading.ruleset_files import files_of, players_of

    players = players_of(files_of(shelf, document))
    return {
        "id": document.id,
        "family": word(document.head.family),
        "players": (players.low, players.high),
        "from": origin,
        "title": document.title,
    }


def _range(players: tuple[int, int]) -> str:
    low, high = players
    return str(low) if low == high else f"{low}–{high}"
