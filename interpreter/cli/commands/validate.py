"""``regelwerk validate``: report all errors of rulesets or files."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.base.diagnostics import Diagnostic, few, rendered
from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.failures import way_on
from interpreter.cli.output import as_json, notice, relative, say, say_lines
from interpreter.cli.progress import naming

if TYPE_CHECKING:
    from interpreter.authoring.validation import Validation
    from interpreter.language.parse import Trees

__all__ = ["annotate", "command", "own_files"]


@click.command("validate")
@click.argument("targets", nargs=-1, metavar="[PATH|ID]...")
@options.overlays_option
@options.all_option
@click.option("--watch", "watching", is_flag=True, help="Check again at every save, until Ctrl-C.")
@options.requested("text", "json", "github")
def command(request: options.Request, targets: tuple[str, ...], every: bool, watching: bool) -> None:
    """Check files of any kind, and every ruleset that contains them. Without arguments, those of the current folder if
    it has any, else all.

    A file is first checked alone, then in every ruleset, beside it or shipped, that contains it: what is found alone
    and in the first of them is reported first. A ruleset is checked with the policies of its family. A folder stands
    for all files below it. All errors are reported; the exit status is then 1.

    \b
    Examples:
      regelwerk validate
      regelwerk validate germany-2018
      regelwerk validate --watch my-town.yaml
      regelwerk validate rulesets/goofspiel/family.yaml -o github
    """
    if request.overlays and not targets:
        raise click.UsageError("--with needs a PATH or ID that the overlay is stacked on")
    if every and targets:
        raise click.UsageError("--all goes without arguments")
    if watching and request.output == "github":
        raise click.UsageError("--watch goes with -o text or -o json")
    skipped: list[str] = []
    if not targets and not every and (targets := own_files()):
        skipped.append("files of other folders; `regelwerk validate --all` checks all files")
    if watching:
        _watch(targets, request)
    elif _check(targets, request, skipped=skipped):
        raise click.exceptions.Exit(1)


def own_files() -> tuple[str, ...]:
    """Return the ruleset files of the current folder, the default targets."""
    from interpreter.reading.files import KINDS, files_here

    return tuple(path.as_posix() for path in files_here(*KINDS))


def _check(
    targets: Sequence[str], request: options.Request, trees: Trees | None = None, skipped: Sequence[str] = ()
) -> int:
    """Report all diagnostics and return the number of errors. With ``trees``, files are checked again and again."""
    from interpreter.authoring.validation import validate

    with naming("checking") as tell:
        validation = validate(targets, request.overlays, trees, tell)
    diagnostics = validation.reported
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    if request.output == "json":
        data = {
            "files": len(validation.files),
            "rulesets": sorted(validation.rulesets),
            "alone": validation.alone,
            "skipped": skipped,
            "errors": errors,
            "warnings": len(diagnostics) - errors,
            "diagnostics": few(diagnostics),
        }
        as_json(data, compact=trees is not None)
    elif request.output == "github":
        annotate(diagnostics, validation.paths)
    else:
        _text(validation, diagnostics, errors)
        for line in skipped:
            notice(f"skipped: {line}")
    return errors


def _watch(targets: Sequence[str], request: options.Request) -> None:
    """Check again at every save. A terminal is cleared before each report; elsewhere an empty line follows it."""
    from interpreter.cli.watch import watch
    from interpreter.language.parse import Trees

    trees = Trees()

    def check() -> None:
        started = time.perf_counter()
        if sys.stdout.isatty():
            click.clear()
        _check(targets, request, trees)
        took = time.perf_counter() - started
        if request.output == "text":
            say(f"{time.strftime('%H:%M:%S')}, {took:.2f} s; checks again when you save a file; Ctrl-C ends")
            if not sys.stdout.isatty():
                say()
        sys.stdout.flush()

    watch(check, targets)


def _text(validation: Validation, diagnostics: Sequence[Diagnostic], errors: int) -> None:
    say_lines(rendered(diagnostics))
    say_lines(f"{name} was checked alone: no ruleset contains it" for name in validation.alone)
    counts = [counted(len(validation.files), "file")]
    counts += [counted(len(validation.rulesets), "ruleset")] if validation.rulesets else []
    counts += [counted(errors, "error") if errors else "no errors"]
    counts += [counted(len(diagnostics) - errors, "warning")] if len(diagnostics) > errors else []
    say(f"{', '.join(counts)}{way_on(diagnostics)}")


def annotate(diagnostics: Iterable[Diagnostic], paths: Mapping[str, Path]) -> None:
    """Print GitHub annotations. ``paths`` maps the file names in diagnostics to files."""
    for diagnostic in few(diagnostics):
        place = ""
        if diagnostic.span is not None:
            path = paths.get(diagnostic.span.file.name, Path(diagnostic.span.file.name))
            place = f" file={_escaped(relative(path))},line={diagnostic.span.line},col={diagnostic.span.column}"
        more = f" ({diagnostic.more} more like this)" if diagnostic.more else ""
        line = f"::{diagnostic.severity}{place},title={diagnostic.code}::{_escaped(diagnostic.message)}{more}"
        say(line.replace(" ,", " "))


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
