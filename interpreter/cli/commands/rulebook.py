"""``regelwerk rulebook``: write a composed ruleset as a rulebook."""

from __future__ import annotations

import click

from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.failures import refused_for
from interpreter.cli.output import write_page
from interpreter.pages.page import Page

__all__ = ["command"]

FORMS = ("html", "markdown")
SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}


@click.command("rulebook")
@options.ruleset_argument
@click.argument("file", required=False)
@options.overlays_option
@options.players_option("any")
@options.settings_option
@click.option("--sheet", is_flag=True, help="Write one or two pages with what a map, overlay or edition changes.")
@click.option(
    "-o", "--output", "form", type=click.Choice(FORMS), help="Output format.  [default: as FILE ends; markdown]"
)
@options.requested()
def command(request: options.Request, file: str | None, sheet: bool, form: str | None) -> None:
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

    form = form or SUFFIXES[options.suffix_of(file, *SUFFIXES)]
    page = (sheet and _sheet_of_file(request)) or _page(request, sheet=sheet)
    text = html_of(page) if form == "html" else markdown_of(page)
    write_page(text, file, f"{page.title}, {counted(sum(1 for _ in page.all_sections()), 'section')}")


def _page(request: options.Request, *, sheet: bool) -> Page:
    from interpreter.pages.rulebook import rulebook_of
    from interpreter.pages.sheet import sheet_of

    loaded, values = request.load(), None
    if request.players is not None or request.settings:
        setup = request.setup(loaded)
        values = setup.ruleset.settings(setup.settings)
        loaded = setup.ruleset if request.players is not None else loaded
    return (sheet_of if sheet else rulebook_of)(loaded, request.players, values)


def _sheet_of_file(request: options.Request) -> Page | None:
    """Return the sheet of an overlay, map or edition; None if the name is none of these."""
    from interpreter.compare.operands import file_named
    from interpreter.pages.sheet import KINDS, sheet_of_file

    shelf, document = file_named(request.ruleset)
    if document.kind not in KINDS:
        return None
    if request.overlays or request.settings:
        option = "with" if request.overlays else "set"
        raise click.UsageError(f"--{option} goes with a ruleset, and `{request.ruleset}` is none")
    with refused_for(LookupError, ValueError):
        return sheet_of_file(shelf, document, request.players)
