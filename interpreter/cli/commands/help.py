"""``regelwerk help``: show the page of an error code, or the help of a command."""

from __future__ import annotations

import click

from interpreter.base.codes import code_pages, meanings
from interpreter.base.suggest import did_you_mean
from interpreter.cli import options
from interpreter.cli.output import as_json, say, tell
from interpreter.pages.page import Grid

__all__ = ["command"]


@click.command("help")
@click.argument("code", metavar="[CODE|COMMAND]", required=False)
@options.output_option("text", "json")
def command(code: str | None, output: str) -> None:
    """Show the page of an error CODE or the help of a COMMAND, or list all codes.

    \b
    Examples:
      regelwerk help E301
      regelwerk help run
      regelwerk help
    """
    if code is None:
        as_json(meanings()) if output == "json" else tell(Grid(("code", "meaning"), [*meanings().items()]))
        return
    context = click.get_current_context().find_root()
    assert isinstance(context.command, click.Group)
    commands = context.command.list_commands(context)
    if code in commands:
        asked = context.command.get_command(context, code)
        assert asked is not None
        about = asked.get_help(click.Context(asked, parent=context, info_name=code))
        as_json({"command": code, "page": about}) if output == "json" else say(about)
        return
    name = code.upper()
    pages = code_pages()
    if name not in pages:
        near = (did_you_mean(name, pages) or did_you_mean(code.lower(), commands)).replace("`", "'")
        remedy = near or "; `regelwerk help` lists all codes"
        raise click.BadParameter(f"unknown code '{code}'{remedy}", param_hint="CODE")
    page = pages[name].read_text(encoding="utf-8")
    data = {"code": name, "meaning": meanings()[name], "page": page}
    as_json(data) if output == "json" else say(page.rstrip())
