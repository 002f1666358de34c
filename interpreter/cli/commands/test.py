"""``regelwerk test``: the scenarios of rulesets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from interpreter.cli.options import output_option
from interpreter.cli.output import as_json, notice, say, styled

if TYPE_CHECKING:
    from interpreter.engine.scenario import Failure, Outcome, Suite

__all__ = ["command"]


@click.command("test")
@click.argument("targets", nargs=-1, metavar="[PATH|RULESET]...")
@click.option("-k", "text", metavar="TEXT", help="Only scenarios whose name, file or statements have this text.")
@output_option("text", "json")
def command(targets: tuple[str, ...], text: str | None, output: str) -> None:
    """Runs scenarios: of files, of all files in folders, of rulesets; without arguments, all that there are.

    A scenario that fails is told with its place and the values that show it; the exit status is then 1.

    \b
    Examples:
      regelwerk test
      regelwerk test germany-2018 -k "six players"
      regelwerk test germany-2018 -k GU-191
      regelwerk test rulesets/power-grid/scenarios -o json
    """
    from interpreter.engine.scenario import suite_of

    suite = suite_of(targets)
    if text is not None:
        suite.scenarios = [scenario for scenario in suite.scenarios if _fits(text, scenario.id, scenario.statements)]
    outcomes = list(suite.outcomes())
    if output == "json":
        _json(suite, outcomes)
    else:
        _text(suite, outcomes)
    if not outcomes or suite.told() or any(not outcome.passed for outcome in outcomes):
        raise click.exceptions.Exit(1)


def _fits(text: str, id: str, statements: frozenset[str]) -> bool:
    return text.lower() in id.lower() or text.upper() in statements


def _text(suite: Suite, outcomes: list[Outcome]) -> None:
    for line in suite.told():
        notice(line)
    for outcome in outcomes:
        if not outcome.passed:
            _tell(outcome)
    failed = sum(not outcome.passed for outcome in outcomes)
    if not outcomes:
        say("no scenario fits")
    else:
        say(f"{len(outcomes) - failed} passed" + (f", {styled(f'{failed} failed', fg='red')}" if failed else ""))


def _tell(outcome: Outcome) -> None:
    scenario = outcome.scenario
    cites = f" ({', '.join(cite.text for cite in scenario.cites)})" if scenario.cites else ""
    say(f"{styled('failed', fg='red')} {styled(scenario.id, bold=True)}, with {outcome.ruleset}{cites}")
    for failure in outcome.failures:
        for line in str(failure).splitlines():
            say(f"  {line}")
    say()


def _json(suite: Suite, outcomes: list[Outcome]) -> None:
    from interpreter.base.diagnostics import to_json, unique

    failed = sum(not outcome.passed for outcome in outcomes)
    as_json(
        {
            "passed": len(outcomes) - failed,
            "failed": failed,
            "scenarios": [_outcome(outcome) for outcome in outcomes],
            "diagnostics": [to_json(diagnostic) for diagnostic in unique(suite.diagnostics)],
        }
    )


def _outcome(outcome: Outcome) -> dict[str, Any]:
    scenario = outcome.scenario
    return {
        "name": scenario.name,
        "file": scenario.file,
        "ruleset": outcome.ruleset,
        "place": str(scenario.span),
        "cites": [cite.text for cite in scenario.cites],
        "passed": outcome.passed,
        "failures": [_failure(failure) for failure in outcome.failures],
    }


def _failure(failure: Failure) -> dict[str, Any]:
    place = str(failure.span) if failure.span is not None else None
    return {"message": failure.message, "place": place, "notes": list(failure.notes)}
