"""``regelwerk rulebook``: write a composed ruleset as a rulebook."""

from __future__ import annotations

from pathlib import Path

import click

from interpreter.cli import options
from interpreter.cli.output import notice

__all__ = ["command"]

SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


@click.command("rulebook")
@options.ruleset_argument
@click.argument("file", required=False)
@options.overlays_option
@options.players_option("any")
@options.settings_option
@click.option(
    "-o", "--output", type=click.Choice(["html", "markdown"]), help="Output format.  [default: as FILE ends; markdown]"
)
def command(
    ruleset: str,
    file: str | None,
    overlays: tuple[str, ...],
    players: int | None,
    settings: tuple[str, ...],
    output: str | None,
) -> None:
    """Write RULESET as a rulebook, to FILE or stdout: components, the board, tables, the course of a round, every rule
    in the order of play with its rulebook sentences, interpretations, and the source file of each part.

    HTML is one self-contained file for screens of any width and for paper, with the rule texts folded away. With
    --players, the columns of tables for that number are marked, and an overlay that the number requires is included.

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
    loaded = options.loaded(ruleset, overlays)
    values = None
    if players is not None or settings:
        played, number = options.players_for(loaded, players)
        values = played.settings(options.settings_for(played, number, settings))
        loaded = played if players is not None else loaded
    page = rulebook_of(loaded, players, values)
    text = html_of(page) if form == "html" else markdown_of(page)
    if file is None or file == "-":
        click.echo(text, nl=False)
        return
    Path(file).write_text(text, encoding="utf-8")
    notice(f"{file}: {page.title}, {sum(1 for _ in page.all_sections())} sections")


def _form(file: str | None) -> str:
    """Return the format for the suffix of a file."""
    if file is None or file == "-":
        return "markdown"
    form = SUFFIXES.get(Path(file).suffix.lower())
    if form is None:
        raise click.UsageError(f"got `{file}`, want a file that ends in .html or .md, or -o")
    return form
