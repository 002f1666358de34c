"""Error reporting of the command line: no traceback for mistakes in files or arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import NoReturn

import click

from interpreter.base.diagnostics import Diagnostic, RulesetError, render, rendered
from interpreter.base.plurals import counted
from interpreter.cli.output import notice

__all__ = ["refused", "refused_for", "report", "tell", "way_on", "words_of", "wrong_use", "wrong_value"]


def tell(error: Exception) -> NoReturn:
    """Report the error and exit with status 1. Unexpected exceptions are bugs and are raised again."""
    from interpreter.bots.player import BotFailed
    from interpreter.lowering.constants import RuleFailure

    match error:
        case RulesetError():
            report(error)
        case RuleFailure():
            notice("\n".join([render(Diagnostic(error.code, error.message, error.span)), *error.trace]))
        case BotFailed():
            notice(f"Error: {error}")
        case OSError():
            notice(f"Error: {words_of(error)}")
        case _:
            raise error
    raise click.exceptions.Exit(1)


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


def refused_for(*errors: type[Exception], about: str = "", remedy: str = "") -> AbstractContextManager[None]:
    """Exit with status 1 and the message of an error, if it is one of these."""
    return _ended_by(errors, lambda why: refused(f"{about}{why}{remedy}"))


def wrong_value(option: str, *others: type[Exception], about: str = "") -> AbstractContextManager[None]:
    """Blame the value of an option for a ``ValueError`` or one of the other errors."""
    return _ended_by((ValueError, *others), lambda why: click.BadParameter(f"{about}{why}", param_hint=option))


def wrong_use(about: str = "", remedy: str = "") -> AbstractContextManager[None]:
    """Blame the usage for a ``ValueError``."""
    return _ended_by((ValueError,), lambda why: click.UsageError(f"{about}{why}{remedy}"))


@contextmanager
def _ended_by(errors: tuple[type[Exception], ...], ending: Callable[[str], Exception]) -> Iterator[None]:
    """Make another exception of the message of some errors; that of a ``KeyError`` is quoted in its text."""
    try:
        yield
    except errors as error:
        raise ending(str(error.args[0] if isinstance(error, LookupError) and error.args else error)) from None
