"""``regelwerk test``: run the scenarios of rulesets."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from interpreter.base.diagnostics import few, unique
from interpreter.base.plurals import counted
from interpreter.cli import options, progress
from interpreter.cli.failures import wrong_use
from interpreter.cli.output import as_json, notice, say, say_lines, styled

if TYPE_CHECKING:
    from interpreter.testing.running import Outcome
    from interpreter.testing.suite import Suite

__all__ = ["command"]


@click.command("test")
@click.argument("targets", nargs=-1, metavar="[PATH|RULESET]...")
@click.option(
    "-k",
    "text",
    metavar="EXPR",
    help="Run only scenarios whose name, file or statements match; supports `and`, `or`, `not`.",
)
@options.all_option
@click.option("--record", is_flag=True, help="Play a few moves of RULESET and turn them into a scenario.")
@options.file_option("--to", "path", about="With --record: append the scenario to FILE.")
@click.option("--name", metavar="TEXT", help="With --record: name of the scenario.")
@options.new_game_options
@options.requested("text", "json")
def command(
    request: options.Request,
    targets: tuple[str, ...],
    text: str | None,
    every: bool,
    record: bool,
    path: Path | None,
    name: str | None,
) -> None:
    """Run scenarios: of files, of all files in folders, of rulesets. Without arguments, those of the current folder if
    it has rulesets or scenarios, else all.

    A failing scenario is reported with its position, the expected and the actual value, and the rulebook sentence; the
    exit status is then 1.

    With --record, you play all seats at the keyboard and then pick facts that the moves have changed, or type some. The
    scenario must pass; it is appended to FILE or printed. Everything else is printed on stderr.

    \b
    Examples:
      regelwerk test
      regelwerk test --all
      regelwerk test germany-2018 -k "six players"
      regelwerk test germany-2018 -k "GU-191 and not robots"
      regelwerk test rulesets/power-grid/scenarios -o json
      regelwerk test --record goofspiel --seed 7 --to my-tests.yaml
    """
    if every and targets:
        raise click.UsageError("--all goes without arguments")
    if record:
        if len(targets) != 1:
            raise click.UsageError("--record needs one RULESET")
        _record(replace(request, ruleset=targets[0]), path, name)
        return
    recording = {"to": path is not None, "name": name is not None}
    for option in (*(each for each, is_given in recording.items() if is_given), *request.of_a_game):
        raise click.UsageError(f"--{option} goes with --record")
    from interpreter.reading.files import shelf_for
    from interpreter.testing.suite import Suite, suite_of

    if text is not None:
        _check_terms(text)
    here = _here() if not targets and not every else None
    suite = suite_of(targets) if here is None else suite_of(here) if here else Suite(shelf_for(), [])
    known, skipped = len(suite.scenarios), list[str]()
    if text is not None:
        suite.scenarios = [scenario for scenario in suite.scenarios if _fits(text, scenario.id, scenario.statements)]
        if len(suite.scenarios) < known:
            skipped.append(f"{counted(known - len(suite.scenarios), 'scenario')} that do not match `{text}`")
    if here is not None:
        skipped.append("the scenarios of other folders; `regelwerk test --all` runs all scenarios")
    outcomes = list(progress.counted(suite.outcomes(), len(suite.pairs), "scenarios"))
    if request.output == "json":
        _json(suite, outcomes, skipped)
    else:
        _text(suite, outcomes, "no scenario matches" if known else _none_for(targets, here is not None))
        for line in skipped:
            notice(f"skipped: {line}")
    if not outcomes or suite.messages() or any(not outcome.passed for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _record(request: options.Request, path: Path | None, name: str | None) -> None:
    from interpreter.cli.scenario_recorder import record
    from interpreter.testing.recording import Recording, stacked

    if path is not None:
        options.can_be_written(path)
    setup = request.setup()
    with wrong_use():
        overlays = stacked(setup.ruleset, request.overlays)
    if request.seed is None:
        notice(f"seed {setup.seed}")
    with redirect_stdout(sys.stderr):
        text = record(Recording(setup.new_game(), setup.settings, overlays), sys.stdin, path, name, "en")
    if path is None:
        say(text.rstrip())
        return
    path.write_text(text, encoding="utf-8")
    notice(f"added to {path}; `regelwerk test {path}` runs it")


def _check_terms(expression: str) -> None:
    """Check that an expression has a text on each side of `and` and `or`, and after `not`."""
    terms = re.split(r"(?:^|\s)(?:and|or)(?=\s|$)", expression)
    if any(not re.sub(r"^\s*not\b", "", term).strip() for term in terms):
        raise click.BadParameter(f"got `{expression}`, want texts joined by `and`, `or` or `not`", param_hint="-k")


def _fits(expression: str, id: str, statements: frozenset[str]) -> bool:
    """Return whether a scenario matches an expression of texts with `or`, `and` (which binds closer) and `not`."""

    def has(text: str) -> bool:
        return text.lower() in id.lower() or text.lower() in map(str.lower, statements)

    def holds(term: str) -> bool:
        text = term.strip()
        return not has(text[4:].strip()) if text.startswith("not ") else has(text)

    return any(all(map(holds, some.split(" and "))) for some in expression.split(" or "))


def _here() -> list[str] | None:
    """Return the scenario files of the current folder; None if it has neither scenarios nor rulesets."""
    from interpreter.reading.files import files_here

    files = [path.as_posix() for path in files_here("scenarios")]
    return files if files or files_here("ruleset", "rulesets", "map") else None


def _none_for(targets: tuple[str, ...], is_here: bool) -> str:
    if not targets:
        who = "this folder has" if is_here else "there are"
    else:
        who = f"{' and '.join(f'`{name}`' for name in targets)} {'has' if len(targets) == 1 else 'have'}"
    return f"{who} no scenarios; `regelwerk test --record RULESET --to FILE` writes one"


def _text(suite: Suite, outcomes: list[Outcome], nothing: str) -> None:
    from interpreter.cli.scenario_results import failure_report

    for line in suite.messages():
        notice(line)
    for outcome in outcomes:
        if not outcome.passed:
            say_lines([*failure_report(outcome, suite.statements), ""])
    failed = sum(not outcome.passed for outcome in outcomes)
    if not outcomes and not suite.messages():
        say(nothing)
    if outcomes:
        say(f"{len(outcomes) - failed} passed" + (f", {styled(f'{failed} failed', fg='red')}" if failed else ""))


def _json(suite: Suite, outcomes: list[Outcome], skipped: list[str]) -> None:
    passed = sum(outcome.passed for outcome in outcomes)
    counts = {"passed": passed, "failed": len(outcomes) - passed, "skipped": skipped}
    as_json({**counts, "scenarios": outcomes, "diagnostics": few(unique(suite.diagnostics))})
