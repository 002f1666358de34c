"""Every other reading of a rulebook is shown by a scenario that would fail under the reading that is taken."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interpreter.testing.running import run_scenario
from interpreter.testing.suite import suite_of


@pytest.mark.slow
def test_a_scenario_fails_without_each_reading() -> None:
    suite = suite_of()
    played = [suite.ruleset(scenario.ruleset, scenario) for scenario in suite.scenarios]
    doubts = {name: doubt for each in played if each for name, doubt in each.model.interpretations.items()}
    others = {(name, each) for name, doubt in doubts.items() for each in doubt.readings if each != doubt.default}
    assert len(others) > 30
    proved: set[tuple[str, str]] = set()
    for scenario in suite.scenarios:
        for name, reading in [taken for taken in others if taken in scenario.settings.items()]:
            checked = suite.checked(scenario, scenario.ruleset)
            assert checked is not None
            assert run_scenario(checked).passed
            default = replace(scenario, settings={k: v for k, v in scenario.settings.items() if k != name})
            if not run_scenario(replace(checked, scenario=default)).passed:
                proved.add((name, reading))
    assert others - proved == set(), "no scenario would fail under the reading that is taken by default"
