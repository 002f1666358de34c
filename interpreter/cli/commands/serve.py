"""``regelwerk serve``: serve games in the browser."""

from __future__ import annotations

from contextlib import suppress
from errno import EADDRINUSE
from pathlib import Path
from types import FrameType

import click

from interpreter.base.diagnostics import readable
from interpreter.base.extras import install_command
from interpreter.cli import options
from interpreter.cli.failures import refused_for, wrong_value
from interpreter.cli.output import notice

__all__ = ["command"]

_HERE = ("127.0.0.1", "localhost", "::1")


@click.command("serve")
@click.argument("rulesets", metavar="[RULESET]...", nargs=-1)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@options.number_option("--port", about="Port to listen on.", least=0, most=65535, default=8765, show=True)
@options.several_option("--name", "names", metavar="HOST", about="Host name of this server behind a reverse proxy.")
@click.option("--data", metavar="FILE", help="Database of the tables.  [default: in your data folder]")
@click.option(
    "--pace",
    default=1.0,
    show_default=True,
    type=options.Seconds(0, 60),
    metavar="SECONDS",
    help="Time before a bot chooses.",
)
@options.several_option("--bots", metavar="cmd:COMMAND", about="Seat a program as a bot at the tables.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@options.several_option("--watch", metavar="FILE|RULESET", about="Reload the rules of open tables when a file changes.")
def command(
    rulesets: tuple[str, ...],
    host: str,
    port: int,
    names: tuple[str, ...],
    data: str | None,
    pace: float,
    bots: tuple[str, ...],
    no_browser: bool,
    watch: tuple[str, ...],
) -> None:
    """Serve games of any ruleset in the browser, with people and bots, and open the lobby.

    RULESET is an id or a path; the default is every ruleset of `regelwerk list`. Every choice is saved to a database
    before it is acknowledged.

    \b
    Examples:
      regelwerk serve
      regelwerk serve germany-2018 goofspiel --port 9000
      regelwerk serve mine/my-game.yaml --watch mine/my-game.yaml
      regelwerk serve goofspiel --bots "cmd:node bot.mjs"
      regelwerk serve --host 0.0.0.0 --name games.example.org --no-browser
    """
    try:
        import uvicorn

        from interpreter.serve.connections import configured
        from interpreter.serve.web import application
    except ImportError as error:
        message = f"a server needs {error.name}: `{install_command('web')}`"
        raise click.ClickException(message) from None
    from interpreter.bots.command import CommandBot
    from interpreter.serve.archive import Store, StoreError
    from interpreter.serve.hall import Hall
    from interpreter.serve.watching import Watch

    for bot in bots:
        with wrong_value("--bots"):
            if not bot.startswith("cmd:"):
                raise ValueError(f"got `{bot}`, want a program: `cmd:./mybot`; bots of the rulesets are offered anyway")
            CommandBot(bot)
    path = Path(data) if data is not None else _own_file()
    with refused_for(StoreError, about="cannot open the database of tables: "):
        hall = Hall(Store(path), pace, [*rulesets, *watch] if rulesets or watch else (), bots)
    for damaged in hall.damaged:
        notice(readable(f"the table {damaged.id} is damaged and was put aside: {damaged.why}"))
    watched = Watch(hall).run if watch else None
    app = application(hall, {*names, *(() if host in _HERE else (host,))}, before=watched)
    server = uvicorn.Server(configured(app, host, port))
    stop = server.handle_exit

    def stopped(sig: int, frame: FrameType | None) -> None:
        hall.leave_pages()  # else the server would wait for their event streams
        stop(sig, frame)

    server.handle_exit = stopped  # type: ignore[method-assign]
    _run(server, host, port, path, browser=not no_browser)


def _own_file() -> Path:
    from platformdirs import user_data_path

    return user_data_path("regelwerk", appauthor=False, ensure_exists=True) / "tables.sqlite"


def _run(server: object, host: str, port: int, path: Path, *, browser: bool) -> None:
    """Serve until Ctrl-C and print the address once it is known."""
    import socket

    try:
        listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        remedy = "; `--port N` takes another one" if error.errno == EADDRINUSE else ""
        raise click.ClickException(f"cannot listen at {host}:{port}: {str(error.strerror).lower()}{remedy}") from None
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    notice(f"{address} (tables in {path}; Ctrl-C ends it)")
    if browser:
        import threading
        import webbrowser

        threading.Timer(0.7, webbrowser.open, [address]).start()
    with suppress(KeyboardInterrupt):  # the way to end it, no failure
        server.run(sockets=[listening])  # type: ignore[attr-defined]
