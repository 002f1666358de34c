"""The command line: a group that imports a command only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from interpreter import __version__

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: dict[str, str] = {
    "list": "The rulesets that there are.",
    "show": "What a ruleset is composed of, and where each part stands.",
    "new": "The first files of a map, an overlay, an edition or a whole game.",
    "validate": "All that is wrong in rulesets or files.",
    "lint": "What could be said better in rulesets without errors.",
    "fmt": "The layout of rulesets: indentation, tables, rule text.",
    "help": "The page of an error code.",
    "run": "A whole game by bots, line by line.",
    "replay": "A kept game again, checked choice by choice.",
    "simulate": "Many games by bots, in numbers.",
    "whatif": "A kept game, changed at a decision and played on many times.",
    "bench": "How fast rulesets are played, and whether they were faster before.",
    "play": "A game at the keyboard, against bots.",
    "serve": "Games in the browser, with people and bots.",
    "try": "The value of an expression on a fresh or kept game.",
    "test": "The scenarios of rulesets.",
    "verify": "Trouble that play finds, with a scenario that shows it.",
    "coverage": "Which statements of the rulebooks the rules cite.",
    "map": "The graph of a ruleset or game as a picture, or in figures.",
    "build": "A ruleset as a WebAssembly module that stands alone.",
    "rulebook": "A ruleset as a book: HTML or Markdown.",
    "compare": "What differs between two rulesets, where it first matters, and how much.",
    "lsp": "A language server: what an editor asks while one types.",
    "explain": "What a name means; why a kept game went so.",
}
"""Each command, with what it is for: the list of them needs no import. ``commands/<name>.py`` has it as ``command``."""

EPILOG = """\b
Examples:
  regelwerk list
  regelwerk run goofspiel --players 3 --seed 7
  regelwerk validate

\b
Environment:
  REGELWERK_PATH   folders of rulesets of your own, beside the shipped ones
  REGELWERK_CACHE  folder where checked rulesets are kept between runs; `off` for none

Exit status: 0 fine, 1 the ruleset or the question has a negative answer, 2 wrong usage, 130 ended by Ctrl-C.
"""


class ReaderGone(Exception):
    """Nobody reads stdout any more: no failure, but an end."""


class LazyGroup(click.Group):
    """Commands by name; what goes wrong in one of them is told by :mod:`interpreter.cli.failures`."""

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
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
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
    """Rules as data: read, check, run and compare rulesets of board games."""


def main() -> None:
    """The program. A reader that goes away (`| head`) ends it quietly."""
    try:
        code = _code()
        sys.stdout.flush()
    except (ReaderGone, BrokenPipeError):
        from interpreter.cli.output import nobody_reads

        nobody_reads()
        code = 0
    sys.exit(code)


def _code() -> int:
    """Runs the command; what it leaves is the exit status."""
    try:
        left = cli.main(prog_name="regelwerk", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Aborted", err=True)
        return 130
    return left if isinstance(left, int) else 0
