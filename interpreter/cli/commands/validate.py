"""``regelwerk validate``: all that is wrong in rulesets or files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interpreter.cli.options import output_option, overlays_option
from interpreter.cli.output import as_json, say

if TYPE_CHECKING:
    from interpreter.base.diagnostics import Diagnostic
    from interpreter.engine.validation import Validation

__all__ = ["annotate", "command"]


@click.command("validate")
@click.argument("targets", nargs=-1, metavar="[PATH|ID]...")
@overlays_option
@output_option("text", "json", "github")
def command(targets: tuple[str, ...], overlays: tuple[str, ...], output: str) -> None:
    """Checks files of any kind, and every ruleset that contains them; without arguments, all that there is.

    A file that is named by its path is checked alone first, then in every ruleset, shipped or beside it, of which it
    is a part; of a folder, every file below it. All errors are told, not the first; the exit status is then 1.

    \b
    Examples:
      regelwerk validate
      regelwerk validate germany-2018
      regelwerk validate rulesets/goofspiel/family.yaml -o github
    """
    from interpreter.base.diagnostics import unique
    from interpreter.engine.validation import validate

    if overlays and not targets:
        raise click.UsageError("--with needs a PATH or ID that the overlay is stacked on")
    validation = validate(targets, overlays)
    diagnostics = unique(validation.diagnostics)
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    if output == "json":
        _json(validation, diagnostics, errors)
    elif output == "github":
        annotate(diagnostics, validation.paths)
    else:
        _text(validation, diagnostics, errors)
    if errors:
        raise click.exceptions.Exit(1)


def _json(validation: Validation, diagnostics: Sequence[Diagnostic], errors: int) -> None:
    from interpreter.base.diagnostics import to_json

    as_json(
        {
            "files": len(validation.files),
            "rulesets": sorted(validation.rulesets),
            "errors": errors,
            "warnings": len(diagnostics) - errors,
            "diagnostics": [to_json(diagnostic) for diagnostic in diagnostics],
        }
    )


def _text(validation: Validation, diagnostics: Iterable[Diagnostic], errors: int) -> None:
    from interpreter.base.diagnostics import render

    warnings = 0
    for diagnostic in diagnostics:
        warnings += diagnostic.severity == "warning"
        say(render(diagnostic))
    found = [_count(errors, "error") if errors else "no errors", *([_count(warnings, "warning")] if warnings else [])]
    say(f"{_count(len(validation.files), 'file')}, {', '.join(found)}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def annotate(diagnostics: Iterable[Diagnostic], paths: Mapping[str, Path]) -> None:
    """Annotations that a forge shows beside the lines. ``paths`` are by the names that diagnostics use."""
    for diagnostic in diagnostics:
        place = ""
        if diagnostic.span is not None:
            path = paths.get(diagnostic.span.file.name, Path(diagnostic.span.file.name))
            place = f" file={_escaped(_relative(path))},line={diagnostic.span.line},col={diagnostic.span.column}"
        say(
            f"::{diagnostic.severity}{place},title={diagnostic.code}::{_escaped(diagnostic.message)}".replace(" ,", " ")
        )


def _relative(path: Path) -> str:
    """The path from the current folder, where it lies below it."""
    absolute = path.absolute()
    return (absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else path).as_posix()


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
