"""``regelwerk studio``: write, check, play and compare rulesets on one page."""

from __future__ import annotations

from pathlib import Path

import click

from interpreter.cli import options
from interpreter.cli.failures import refused_for
from interpreter.cli.output import notice
from interpreter.cli.serving import listening_options, missing, own_file, run

__all__ = ["command"]


@click.command("studio")
@click.argument("folder", metavar="[FOLDER]", default=Path(), type=click.Path(path_type=Path, file_okay=False))
@listening_options
@options.folder_option("--export", about="Write the studio as a static site into a new folder, and end.")
@options.folder_option("--pyodide", about="With --export: folder of Pyodide.  [default: its npm package]")
@options.folder_option("--wheels", about="With --export: folder of wheels.  [default: the package index]")
def command(
    folder: Path,
    host: str,
    port: int,
    names: tuple[str, ...],
    data: str | None,
    pace: float,
    no_browser: bool,
    export: Path | None,
    pyodide: Path | None,
    wheels: Path | None,
) -> None:
    """Open a page on which you write rulesets, see their errors, draw, play, test and compare them.

    The files are those below FOLDER, by default the current one. A missing FOLDER is created if the one above it
    exists. Nothing outside FOLDER is written. Only a browser that has opened the printed address gets in.

    \b
    Examples:
      regelwerk studio
      regelwerk studio my-games
      regelwerk studio my-games --port 9000 --no-browser
      regelwerk studio --export site
    """
    if export is None and (pyodide or wheels):
        raise click.UsageError("--pyodide and --wheels go with --export")
    if export is not None:
        _export(export, pyodide, wheels)
        return
    if not folder.is_dir():
        if not folder.parent.is_dir():
            raise click.UsageError(f"`{folder}`: there is no folder `{folder.parent}`")
        folder.mkdir()
        notice(f"created the folder `{folder}`")
    try:
        from interpreter.studio.site import application
    except ImportError as error:
        raise missing(error) from None
    from secrets import token_urlsafe

    from interpreter.serve.archive import Store, StoreError
    from interpreter.serve.hall import Hall
    from interpreter.serve.watching import Watch
    from interpreter.serve.words import Refused
    from interpreter.studio.workbench import Workbench

    workbench = Workbench(folder)
    with refused_for(Refused, StoreError):
        workbench.files()
        hall = Hall(Store(own_file("studio.sqlite") if data is None else data), pace)
    key = token_urlsafe(18)
    app = application(workbench, hall, {*names, host}, key=key, before=[Watch(hall).run])
    about = f"files in {workbench.root}"
    run(app, host, port, about, hall.leave_pages, path=f"/?key={key}", browser=not no_browser)


def _export(folder: Path, pyodide: Path | None, wheels: Path | None) -> None:
    from interpreter.base.extras import Unavailable
    from interpreter.studio.export import export

    with refused_for(Unavailable):
        export(folder, pyodide=pyodide, wheels=wheels, tell=notice)
    notice(f"wrote the static site to `{folder}`; any web server can serve it")
