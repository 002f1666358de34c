"""The command line: a group that imports a command only when it is called."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from unicodedata import normalize

import click

from interpreter import __version__
from interpreter.base.cycles import search_rarely

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: dict[str, str] = {
    "list": "List the available rulesets.",
    "show": "Show the parts of a ruleset and the file of each.",
    "new": "Create a map, an overlay, an edition or a whole game.",
    "validate": "Check rulesets or files and report all errors.",
    "lint": "Find code that is correct but could be better.",
    "fmt": "Format rulesets: indentation, tables, rule text.",
    "help": "Show the page of an error code, or the help of a command.",
    "run": "Let bots play a game and print it line by line.",
    "replay": "Replay a saved game and check every choice.",
    "simulate": "Let bots play many games and summarise them.",
    "whatif": "Fork a saved game at a decision and compare the outcomes.",
    "tune": "Improve the weights of a policy by games.",
    "bench": "Measure the speed of rulesets and compare with a baseline.",
    "play": "Play at the keyboard against bots.",
    "studio": "Write, check, play and compare rulesets in the browser.",
    "serve": "Play in the browser, with people and bots.",
    "try": "Evaluate an expression on a new or saved game.",
    "test": "Run scenarios, the tests of rulesets.",
    "verify": "Search for faults by playing, and write failing scenarios.",
    "coverage": "Report which rulebook statements are implemented and tested.",
    "map": "Draw the map of a ruleset or game, or analyse it.",
    "build": "Compile a ruleset to a standalone WebAssembly module.",
    "rulebook": "Write a ruleset as a rulebook in HTML or Markdown.",
    "compare": "Compare two rulesets: differences, and their effects on play.",
    "engine": "Answer requests of other programs: JSON lines on stdin and stdout.",
    "lsp": "Run the language server for editors.",
    "explain": "Explain a name, a log line or the legality of a move.",
}
"""Commands and their summaries, so that listing them imports none. ``commands/<name>.py`` defines ``command``."""

EPILOG = """\b
Examples:
  regelwerk list
  regelwerk run goofspiel --players 3 --seed 7
  regelwerk validate

\b
Environment:
  REGELWERK_PATH   your own folders of rulesets, in addition to the shipped ones
  REGELWERK_CACHE  cache folder for checked rulesets, or `off`

Exit status: 0 success, 1 errors or a negative result, 2 wrong usage, 130 interrupted by Ctrl-C.
"""


class ReaderGone(Exception):
    """The reader of stdout has gone. This ends the program, but is no error."""


class LazyGroup(click.Group):
    """Command group with lazy imports. :mod:`interpreter.cli.failures` reports errors of a command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = "try_" if cmd_name == "try" else cmd_name  # no module can have the name of a keyword
        command = import_module(f"interpreter.cli.commands.{module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from interpreter.base.suggest import did_you_mean

            near = did_you_mean(args[0], COMMANDS).replace("`", "'")
            raise click.UsageError(f"No such command '{args[0]}'{near}", ctx)
        names = (arg if os.path.exists(arg.rpartition("@")[0] or arg) else normalize("NFC", arg) for arg in args)
        return super().resolve_command(ctx, list(names))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.MissingParameter as error:
            from interpreter.cli.options import about_missing

            about = about_missing(error.param)
            raise click.MissingParameter(about, error.ctx, error.param, error.param_hint, error.param_type) from None
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except BrokenPipeError:
            raise ReaderGone from None
        except Exception as error:
            from interpreter.cli.failures import tell

            tell(error)


@click.command(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="regelwerk")
def cli() -> None:
    """Rules as data: check, play and compare rulesets of board games."""


def main() -> None:
    """Run the program. It ends quietly if the reader of stdout goes away (`| head`)."""
    search_rarely()
    _open_missing_streams()
    try:
        code = _code()
        sys.stdout.flush()
    except (ReaderGone, BrokenPipeError):
        from interpreter.cli.output import discard_output

        discard_output()
        code = 0
    gc.freeze()  # nothing is collected at exit
    sys.exit(code)


def _open_missing_streams() -> None:
    """Open the null device for each standard stream that is missing, as in services: no command has to ask for it, and
    no file of a command gets the number of a stream. Processes that a command starts inherit it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _code() -> int:
    """Run the command and return its exit status."""
    try:
        status = cli.main(prog_name="regelwerk", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Aborted", err=True)
        return 130
    return status if isinstance(status, int) else 0
