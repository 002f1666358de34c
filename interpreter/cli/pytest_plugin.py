"""Pytest plugin that runs scenarios as tests, for packages that ship rulesets. A project enables it with the patterns
of its files:

    [tool.pytest.ini_options]
    regelwerk_scenarios = ["*/scenarios/*.yaml"]

Without patterns, nothing is collected and nothing else of this package is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from interpreter.testing.scenarios import Scenario
    from interpreter.testing.suite import Suite

__all__ = ["pytest_addoption", "pytest_collect_file"]

NAME = "regelwerk_scenarios"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(NAME, "patterns of scenario files to run as tests", type="args", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if any(file_path.match(pattern) for pattern in parent.config.getini(NAME)):
        collected: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
        return collected
    return None


class ScenarioFile(pytest.File):
    """A file of scenarios, with a test for each scenario and each ruleset that it names."""

    def collect(self) -> Iterable[pytest.Item]:
        from interpreter.testing.suite import suite_of

        suite = suite_of([str(self.path)])
        if suite.diagnostics:
            raise self.CollectError("\n".join(suite.messages()))
        for scenario, ruleset in suite.pairs:
            name = scenario.name if ruleset == scenario.ruleset else f"{scenario.name} ({ruleset})"
            yield ScenarioItem.from_parent(self, name=name, suite=suite, scenario=scenario, ruleset=ruleset)


class ScenarioItem(pytest.Item):
    """One scenario with one ruleset."""

    def __init__(self, name: str, parent: ScenarioFile, *, suite: Suite, scenario: Scenario, ruleset: str) -> None:
        super().__init__(name, parent)
        self.suite, self.scenario, self.ruleset = suite, scenario, ruleset

    def runtest(self) -> None:
        from interpreter.cli.scenario_results import failure_report

        outcome = self.suite.outcome(self.scenario, self.ruleset)
        if not outcome.passed:
            report = [*failure_report(outcome, self.suite.statements), *self.suite.messages()]
            pytest.fail("\n".join(report), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.scenario.span.line - 1, self.name
