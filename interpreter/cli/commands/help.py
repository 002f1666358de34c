"""``regelwerk help``: show the page of an error code, or the help of a command."""

from __future__ import annotations

from pathlib import Path

import click

from interpreter.cli import options
from interpreter.cli.output import as_json, say, say_table

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
    from interpreter.base.codes import CODES

    if code is None:
        _all(dict(CODES), output)
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
    name, pages = code.upper(), _pages()
    page = pages[name].read_text(encoding="utf-8") if name in pages else None
    if page is None and name not in CODES:
        from interpreter.base.suggest import did_you_mean

        near = did_you_mean(name, {*CODES, *pages}) or did_you_mean(code.lower(), commands)
        remedy = near.replace("`", "'") or "; `regelwerk help` lists all codes"
        raise click.BadParameter(f"unknown code '{code}'{remedy}", param_hint="CODE")
    text = page if page is not None else f"{name}: {CODES[name]}"
    if output == "json":
        as_json({"code": name, "meaning": CODES.get(name, ""), "page": page})
    else:
        say(text.rstrip())


def _all(codes: dict[str, str], output: str) -> None:
    for code, path in _pages().items():
        codes.setdefault(code, _title(path))
    pages = dict(sorted(codes.items()))
    if output == "json":
        as_json(pages)
    else:
        say_table(("code", "meaning"), pages.items())


def _pages() -> dict[str, Path]:
    """Return the pages by code, those of the installed package or of a checkout."""
    package = Path(__file__).resolve().parents[2]
    folders = (package / "docs" / "errors", package.parent / "docs" / "errors")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("[A-Z][0-9][0-9][0-9].md"))} if folder is not None else {}


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").lstrip("# \n").partition("\n")[0]
    return first.removeprefix(path.stem).strip(" :–—")
