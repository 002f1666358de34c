"""``regelwerk rulebook``: a composed ruleset as a book that is read and printed."""

from __future__ import annotations

from pathlib import Path

import click

from interpreter.cli.options import (
    loaded,
    overlays_option,
    players_for,
    ruleset_argument,
    settings_for,
    settings_option,
)
from interpreter.cli.output import notice

__all__ = ["command"]

SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


@click.command("rulebook")
@ruleset_argument
@click.argument("file", required=False)
@overlays_option
@click.option("--players", "-p", type=click.IntRange(min=1), metavar="N", help="The book of a game of so many.")
@settings_option
@click.option(
    "-o", "--output", type=click.Choice(["html", "markdown"]), help="The format.  [default: as FILE ends; markdown]"
)
def command(
    ruleset: str,
    file: str | None,
    overlays: tuple[str, ...],
    players: int | None,
    settings: tuple[str, ...],
    output: str | None,
) -> None:
    """Writes RULESET as a book, to FILE or stdout: what the box holds, the board drawn, the tables, how a round goes,
    every rule in the order of play with the sentences of the rulebooks that it follows, doubts and how they are read,
    and which file says what.

    HTML is one file that needs nothing else, on a screen of any width and on paper; rule texts are folded away in it.
    With --players the columns of tables that hold for so many are marked, and an overlay that such a game takes in is
    in the book.

    \b
    Examples:
      regelwerk rulebook goofspiel
      regelwerk rulebook germany-2018 germany.html
      regelwerk rulebook germany-2018 two.html --players 2 --with start-cities
      regelwerk rulebook germany-2004 --with robots -o html > robots.html
    """
    from interpreter.pages.html import html_of
    from interpreter.pages.markdown import markdown_of
    from interpreter.pages.rulebook import rulebook_of

    form = output or _form(file)
    found = loaded(ruleset, overlays)
    values = None
    if players is not None or settings:
        played, number = players_for(found, players)
        values = played.settings(settings_for(played, number, settings))
        found = played if players is not None else found
    page = rulebook_of(found, players, values)
    text = html_of(page) if form == "html" else markdown_of(page)
    if file is None or file == "-":
        click.echo(text, nl=False)
        return
    Path(file).write_text(text, encoding="utf-8")
    notice(f"{file}: {page.title}, {sum(1 for _ in page.all_sections())} sections")


def _form(file: str | None) -> str:
    """The format that a file's name asks for."""
    if file is None or file == "-":
        return "markdown"
    form = SUFFIXES.get(Path(file).suffix.lower())
    if form is None:
        raise click.UsageError(f"got `{file}`, want a file that ends in .html or .md, or -o")
    return form
