"""Error reporting of the command line: no traceback for mistakes in files or arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import click

from interpreter.base.diagnostics import Diagnostic, RulesetError, render, rendered
from interpreter.base.plurals import counted
from interpreter.cli.output import notice

__all__ = ["refused", "report", "tell", "way_on", "words_of"]


def tell(error: Exception) -> NoReturn:
    """Report the error and exit with status 1. Unexpected exceptions are bugs and are raised again."""
    from interpreter.bots.player import BotFailed
    from interpreter.lowering.constants import RuleFailure

    if isinstance(error, RulesetError):
        report(error)
        raise click.exceptions.Exit(1)
    if isinstance(error, RuleFailure):
        notice(render(Diagnostic(error.code, error.message, error.span)))
        for line in error.trace:
            notice(line)
        raise click.exceptions.Exit(1)
    if isinstance(error, BotFailed):
        refused(str(error))
    if isinstance(error, OSError):
        raise click.ClickException(words_of(error))
    raise error


def report(error: RulesetError) -> None:
    """Print the diagnostics of a ruleset or text, and their number."""
    errors = [diagnostic for diagnostic in error.diagnostics if diagnostic.severity == "error"]
    notice("\n".join(rendered(error.diagnostics)))
    notice(f"{counted(len(errors), 'error')}{way_on(errors)}")


def way_on(diagnostics: Sequence[Diagnostic]) -> str:
    """Return how to read more about diagnostics, to be put behind their number."""
    which = "it" if len(diagnostics) == 1 else "the first"
    return f"; `regelwerk help {diagnostics[0].code}` explains {which}" if diagnostics else ""


def words_of(error: OSError) -> str:
    """Return the file and the reason of an operating system error."""
    return f"{error.filename or 'input or output'}: {(error.strerror or str(error)).lower()}"


def refused(message: str) -> NoReturn:
    """Print the reason of a negative result on stderr and exit with status 1."""
    notice(f"Error: {message}")
    raise click.exceptions.Exit(1)
