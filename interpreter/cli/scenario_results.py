"""Report of scenario results: for a failure, the expected and the actual value, and the rulebook sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interpreter.base.diagnostics import excerpt
from interpreter.cli.output import styled
from interpreter.reading.statements import Statement
from interpreter.testing.running import Failure, Outcome

__all__ = ["failure_report"]


def failure_report(outcome: Outcome, statements: Mapping[str, Statement]) -> Iterator[str]:
    scenario = outcome.scenario
    yield f"{styled('failed', fg='red')} {styled(scenario.id, bold=True)}, with {outcome.ruleset}"
    for failure in outcome.failures:
        yield from _failure(failure)
    for cite in scenario.keys.cites:
        if cite.text in statements:
            yield f"   {cite.text}: {statements[cite.text].text}"


def _failure(failure: Failure) -> Iterator[str]:
    where = f"{failure.span}: " if failure.span else ""
    yield f"  {where}{failure.message}"
    yield from (f"  {line}" for line in (excerpt(failure.span) if failure.span else ()))
    for pair in failure.compared:
        yield f"   {pair.what}"
        yield f"      expected  {styled(pair.expected, fg='green')}"
        yield f"      actual    {styled(pair.actual, fg='red')}"
    yield from (f"   note: {note}" for note in (() if failure.compared else failure.notes))
