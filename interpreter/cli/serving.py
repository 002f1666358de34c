"""What commands share that serve pages: a socket, a server that ends at Ctrl-C, a browser that opens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from errno import EADDRINUSE
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from interpreter.base.extras import install_command
from interpreter.cli import options
from interpreter.cli.output import notice

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["listening_options", "missing", "own_file", "run"]


def listening_options(function: options.Function) -> options.Function:
    """Add ``--host``, ``--port``, ``--name``, ``--data``, ``--pace`` and ``--no-browser``."""
    about = "Do not open a browser."
    function = click.option("--no-browser", is_flag=True, help=about)(function)
    kind, about = options.Seconds(0, 60), "Time before a bot chooses."
    form = click.option("--pace", default=1.0, show_default=True, type=kind, metavar="SECONDS", help=about)
    about = "Database of the tables.  [default: in your data folder]"
    function = click.option("--data", metavar="FILE", help=about)(form(function))
    about = "Host name of this server behind a reverse proxy."
    function = options.several_option("--name", "names", metavar="HOST", about=about)(function)
    about = "Port to listen on."
    function = options.number_option("--port", about=about, least=0, most=65535, default=8765, show=True)(function)
    about = "Address to listen on."
    return click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help=about)(function)


def own_file(name: str) -> Path:
    """Return the path of a database in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("regelwerk", appauthor=False, ensure_exists=True) / name


def missing(error: ImportError) -> click.ClickException:
    """Return the error for a library of the extra `web` that is not installed."""
    return click.ClickException(f"a server needs {error.name}: `{install_command('web')}`")


def run(
    app: ASGIApp, host: str, port: int, about: str, stop: Callable[[], object], *, path: str = "", browser: bool
) -> None:
    """Serve until Ctrl-C and print the address once it is known, with the ``path`` to open. ``stop`` ends event
    streams, for which the server would wait."""
    import socket

    import uvicorn

    from interpreter.serve.connections import configured

    server = uvicorn.Server(configured(app, host, port))
    ends = server.handle_exit

    def stopped(sig: int, frame: FrameType | None) -> None:
        stop()
        ends(sig, frame)

    server.handle_exit = stopped  # type: ignore[method-assign]
    try:
        listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        remedy = "; `--port N` takes another one" if error.errno == EADDRINUSE else ""
        raise click.ClickException(f"cannot listen at {host}:{port}: {str(error.strerror).lower()}{remedy}") from None
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}{path}"
    notice(f"{address} ({about}; Ctrl-C ends it)")
    if browser:
        import threading
        import webbrowser

        threading.Timer(0.7, webbrowser.open, [address]).start()
    with suppress(KeyboardInterrupt):  # the way to end it, no failure
        server.run(sockets=[listening])
