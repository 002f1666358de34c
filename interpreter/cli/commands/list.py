"""``regelwerk list``: list the available rulesets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.plain_data import Value
from interpreter.cli import options
from interpreter.cli.output import as_json, notice, say_table

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
    from interpreter.base.paths import sources
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
        rows.extend(row for id in nearby_ids() if id not in ids and (row := _row_here(id)) is not None)
    if output == "json":
        as_json(rows)
        return
    table = [(row["id"], row["family"], _range(row["players"]), row["from"], row["title"]) for row in rows]
    say_table(("id", "family", "players", "from", "title"), table)


_Row = dict[str, Value]


def _row(shelf: Shelf, id: str) -> _Row | None:
    """Return the row of a ruleset, from its files only. An unreadable ruleset is reported on stderr."""
    from interpreter.base.paths import sources

    document, diagnostics = shelf.read("ruleset", id)
    if document is None:
        about = "".join(f"; {note.message}" for note in diagnostics[0].notes)
        notice(f"{id}: {diagnostics[0].message}{about}; for details: `regelwerk validate {id}`")
        return None
    origin = next((root.origin for root in sources() if document.path.is_relative_to(root.path)), "")
    return _about(shelf, document, origin)


def _row_here(id: str) -> _Row | None:
    """Return the row of a file in the current folder. Unreadable files are skipped: they may not be rulesets."""
    from interpreter.engine.ruleset import find

    shelf, document, _ = find(id)
    return _about(shelf, document, document.address.as_posix()) if document is not None else None


def _about(shelf: Shelf, document: Document, origin: str) -> _Row:
    from interpreter.base.yaml_values import word
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
