"""``regelwerk serve``: serve games in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from interpreter.base.diagnostics import readable
from interpreter.cli import options
from interpreter.cli.failures import refused_for, wrong_value
from interpreter.cli.output import notice
from interpreter.cli.serving import listening_options, missing, own_file, run

__all__ = ["command"]


@click.command("serve")
@click.argument("rulesets", metavar="[RULESET]...", nargs=-1)
@listening_options
@options.several_option("--bots", metavar="cmd:COMMAND", about="Seat a program as a bot at the tables.")
@options.several_option("--webhook", "hooks", metavar="[json:]HOST", about="Host that may be told whose turn it is.")
@options.several_option("--watch", metavar="FILE|RULESET", about="Reload the rules of open tables when a file changes.")
def command(
    rulesets: tuple[str, ...],
    host: str,
    port: int,
    names: tuple[str, ...],
    data: str | None,
    pace: float,
    bots: tuple[str, ...],
    hooks: tuple[str, ...],
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
      regelwerk serve --webhook ntfy.sh --webhook json:hooks.slack.com
      regelwerk serve --host 0.0.0.0 --name games.example.org --no-browser
    """
    try:
        from interpreter.serve.web import application
    except ImportError as error:
        raise missing(error) from None
    from interpreter.bots.command import CommandBot
    from interpreter.serve.archive import Store, StoreError
    from interpreter.serve.hall import Hall
    from interpreter.serve.watching import Watch

    for bot in bots:
        with wrong_value("--bots"):
            if not bot.startswith("cmd:"):
                raise ValueError(f"got `{bot}`, want a program: `cmd:./mybot`; bots of the rulesets are offered anyway")
            CommandBot(bot)
    path = own_file("tables.sqlite") if data is None else Path(data)
    with refused_for(StoreError, about="cannot open the database of tables: "):
        hall = Hall(Store(path), pace, [*rulesets, *watch] if rulesets or watch else (), bots, hooks)
    for damaged in hall.damaged:
        notice(readable(f"the table {damaged.id} is damaged and was put aside: {damaged.why}"))
    app = application(hall, {*names, host}, before=[Watch(hall).run] if watch else ())
    run(app, host, port, f"tables in {path}", hall.leave_pages, browser=not no_browser)
