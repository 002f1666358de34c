"""``regelwerk rulebook``: write a composed ruleset as a rulebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.failures import refused
from interpreter.cli.output import notice

if TYPE_CHECKING:
    from interpreter.pages.page import Page

__all__ = ["command"]

SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}


@click.command("rulebook")
@options.ruleset_argument
@click.argument("file", required=False)
@options.overlays_option
@options.players_option("any")
@options.settings_option
@click.option("--sheet", is_flag=True, help="Write one or two pages with what a map, overlay or edition changes.")
@click.option(
    "-o", "--output", type=click.Choice(["html", "markdown"]), help="Output format.  [default: as FILE ends; markdown]"
)
def command(
    ruleset: str,
    file: str | None,
    overlays: tuple[str, ...],
    players: int | None,
    settings: tuple[str, ...],
    sheet: bool,
    output: str | None,
) -> None:
    """Write RULESET as a rulebook, to FILE or stdout: components, the board, tables, the course of a round, every rule
    in the order of play with its rulebook sentences, interpretations, and the source file of each part.

    HTML is one self-contained file for screens of any width and for paper, with the rule texts folded away. With
    --players, the columns of tables for that number are marked, and an overlay that the number requires is included.

    With --sheet, RULESET may also be an overlay, a map or an edition. The sheet has one or two pages (A4) to print and
    put into the box: the statements that these files cite, their tables, components and cards, and the board. That of a
    ruleset has what its map and overlays change in its edition.

    \b
    Examples:
      regelwerk rulebook goofspiel
      regelwerk rulebook germany-2018 germany.html
      regelwerk rulebook germany-2018 two.html --players 2 --with start-cities
      regelwerk rulebook germany-2004 --with robots -o html > robots.html
      regelwerk rulebook power-grid/quebec quebec.html --sheet
    """
    from interpreter.pages.html import html_of
    from interpreter.pages.markdown import markdown_of

    form = output or SUFFIXES[options.suffix_of(file, *SUFFIXES)]
    page = (sheet and _sheet_of_file(ruleset, overlays, players, settings)) or _page(
        ruleset, overlays, players, settings, sheet=sheet
    )
    text = html_of(page) if form == "html" else markdown_of(page)
    if file is None or file == "-":
        click.echo(text, nl=False)
        return
    Path(file).write_text(text, encoding="utf-8")
    notice(f"{file}: {page.title}, {counted(sum(1 for _ in page.all_sections()), 'section')}")


def _page(name: str, overlays: tuple[str, ...], players: int | None, settings: tuple[str, ...], *, sheet: bool) -> Page:
    """Return the rulebook or the sheet of a ruleset."""
    from interpreter.pages.rulebook import rulebook_of
    from interpreter.pages.sheet import sheet_of

    loaded = options.loaded(name, overlays)
    values = None
    if players is not None or settings:
        played, number = options.players_for(loaded, players)
        values = played.settings(options.settings_for(played, number, settings))
        loaded = played if players is not None else loaded
    return (sheet_of if sheet else rulebook_of)(loaded, players, values)


def _sheet_of_file(name: str, overlays: tuple[str, ...], players: int | None, settings: tuple[str, ...]) -> Page | None:
    """Return the sheet of an overlay, map or edition; None if the name is none of these."""
    from interpreter.pages.sheet import part_named, sheet_of_file

    found = part_named(name)
    if found is None:
        return None
    if overlays or settings:
        raise click.UsageError(f"--{'with' if overlays else 'set'} goes with a ruleset, and `{name}` is none")
    try:
        return sheet_of_file(*found, players)
    except (LookupError, ValueError) as error:
        refused(str(error.args[0]))
