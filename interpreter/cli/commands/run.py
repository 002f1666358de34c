"""``regelwerk run``: let bots play a game and print it line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from interpreter.base.messages import frame
from interpreter.base.plurals import joined, stacked
from interpreter.cli import options
from interpreter.cli.output import as_json, board, discard_output, picked, say, styled, wrapped
from interpreter.language.types import SEAT

if TYPE_CHECKING:
    from interpreter.bots.player import Bot
    from interpreter.engine.game import Game
    from interpreter.engine.views import BoardTable, Line, Spoken

__all__ = ["command", "print_entry", "print_result"]


@click.command("run")
@options.ruleset_argument
@options.new_game_options
@options.bots_option()
@options.file_option("--log", about="Save the game to a file.", allow_dash=True)
@click.option("-v", "--verbose", is_flag=True, help="Print every line by itself, with its rule and citations.")
@click.option("--prompts", is_flag=True, help="Print what each decision asks, before the choice.")
@options.language_option
@options.requested("text", "json")
def command(request: options.Request, log: Path | None, verbose: bool, prompts: bool, language: str) -> None:
    """Let bots play a whole game and print it. Lines that read as one are one, such as what a player does in a turn,
    unless -v is given; with -o json, every line is an object.

    A game in which nothing is new for 500 rounds stops there, and the message says what repeats.

    \b
    Examples:
      regelwerk run goofspiel --players 3 --seed 7
      regelwerk run germany-2018 --bots sensible,random -v
      regelwerk run germany-2018 --prompts
      regelwerk run goofspiel --seed 7 --log game.jsonl
    """
    from interpreter.play.match import Match, Watcher
    from interpreter.play.narration import Narrator

    setup = request.setup()
    options.tell_plain(setup.ruleset)
    language = options.language_for(setup.ruleset, language)
    table = setup.bots(request.bots)
    names = [bot.name for bot in table]

    def tell(entry: Line | BoardTable) -> None:
        try:
            print_entry(entry, request.output, verbose=verbose)
        except BrokenPipeError:
            if log is None:
                raise
            discard_output()  # go on, to complete the log

    narrator = Narrator(tell, language, prompts=prompts, joins=request.output == "text" and not verbose)
    watchers: list[Watcher] = [narrator]
    with ExitStack() as stack:
        recorder = None
        if log is not None:
            from interpreter.play.game_records import Recorder

            recorder = Recorder(stack.enter_context(_log_file(log)).write)
            watchers.append(recorder)
        if request.output == "json":
            as_json({"kind": "begin", **setup.as_data(), "bots": names}, compact=True)
        else:
            say(styled(_header(setup, names, language), bold=True))
        stack.callback(narrator.flush)
        match = Match(setup.ruleset, table, setup.seed, setup.settings, watchers=watchers)
        if recorder is not None:
            recorder.begin(match.game, names)
        match.play()
        if recorder is not None:
            recorder.finish(match.game)
    print_result(match.game, table, request.output, language)


@contextmanager
def _log_file(log: Path) -> Iterator[IO[str]]:
    """Open a temporary file that replaces the log when the game is over. An aborted game leaves the old log."""
    if str(log) == "-" or (log.exists() and not log.is_file()):
        with click.open_file(str(log), "w", encoding="utf-8") as file:
            yield file
        return
    options.can_be_written(log)
    unfinished = log.with_name(f"{log.name}.part")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            yield file
        unfinished.replace(log)
    finally:
        unfinished.unlink(missing_ok=True)


def _header(setup: options.Setup, bots: Sequence[str], language: str) -> str:
    """Return the first line, with all that is needed to reproduce the game."""
    extra = [*stacked(setup.overlays, language)] + [f"{key}={value}" for key, value in setup.settings.items()]
    return frame(
        language,
        "begin",
        title=setup.ruleset.title_in(language),
        which=", ".join([setup.ruleset.id, *extra]),
        players=frame(language, "players", n=setup.players),
        seed=setup.seed,
        bots=", ".join(bots),
    )


def print_entry(entry: Line | BoardTable, output: str, *, verbose: bool = False) -> None:
    from interpreter.engine.views import BoardTable

    if output == "json":
        as_json(entry, compact=True)
    elif isinstance(entry, BoardTable):
        board(entry.text, *((), ()) if entry.seats else (entry.columns, entry.rows))  # the result has such a table
    elif entry.text:
        say(wrapped(entry.text) + (styled(_source(entry), dim=True) if verbose else ""))


def _source(line: Line) -> str:
    if not line.rule:
        return ""
    cites = f": {', '.join(line.cites)}" if line.cites else ""
    return f"   [{line.rule}{cites}]"


def _more_columns(game: Game, spoken: Spoken, names: Sequence[str]) -> dict[str, dict[int, str]]:
    """Return what boards of the end of the game have for the seats, by column; not these names and the seats."""
    from interpreter.play.narration import boards_of

    found = {}
    for table in boards_of(game, spoken.language, moment="end of game"):
        for name, *cells in zip(table.columns, *table.rows, strict=True):
            of = dict(zip(table.seats, cells, strict=False))
            if name not in names and any(cell != spoken.text(seat, SEAT) for seat, cell in of.items()):
                found[name] = of
    return found


def print_result(game: Game, bots: Sequence[Bot], output: str, language: str = "en") -> None:
    """Print the places of all seats, the best first, with what the boards of the end of the game add."""
    from interpreter.engine.views import Spoken

    result = game.result
    if result is None:
        return
    keys = list(map(game.ruleset.model.keys_by_name, result.keys))
    if output == "json":
        data = {"kind": "result", **picked(result, "places", "winners"), "keys": keys}
        provenance = game.ruleset.provenance
        data |= {"provenance": provenance} if provenance else {}
        as_json({**data, "decisions": len(game.choices), "digest": game.digest()}, compact=True)
        return
    spoken = Spoken(game.table, game.state, language)
    played = [bot.name for bot in bots] + [spoken.frame("result.rules")] * (len(result.places) - len(bots))
    order = sorted(filter(result.places.__getitem__, range(len(played))), key=lambda seat: (result.places[seat], seat))
    names = [*(spoken.frame(f"result.{name}") for name in ("place", "player", "bot"))]
    names += [spoken.word(f"result.{name}") or name for name in keys[0]]
    more = _more_columns(game, spoken, names)
    rows = [
        (
            str(result.places[seat]),
            spoken.text(seat, SEAT),
            played[seat],
            *map(str, keys[seat].values()),
            *(cells.get(seat, "") for cells in more.values()),
        )
        for seat in order
    ]
    seats = [spoken.text(seat, SEAT) for seat in result.winners]
    won = spoken.frame("wins" if len(seats) == 1 else "share_the_win", who=joined(seats, frame(language, "and")))
    board(won, (*names, *more), rows)
    for file, text in game.ruleset.provenance.items():
        say(f"{file}: {text}")
