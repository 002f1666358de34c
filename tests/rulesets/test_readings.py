"""Every other reading of a rulebook is shown by a scenario that would fail under the reading that is taken."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from interpreter.testing.running import run_scenario
from interpreter.testing.suite import Suite, suite_of


@cache
def suite() -> Suite:
    return suite_of()


def others() -> list[tuple[str, str]]:
    """All readings that are not taken by default, of all rulesets as scenarios play them."""
    played = [suite().ruleset(scenario.ruleset, scenario) for scenario in suite().scenarios]
    doubts = {name: doubt for each in played if each for name, doubt in each.model.interpretations.items()}
    return [(name, each) for name, doubt in doubts.items() for each in doubt.readings if each != doubt.default]


@pytest.mark.parametrize(("name", "reading"), others())
def test_a_scenario_fails_without_this_reading(name: str, reading: str) -> None:
    shown = []
    for scenario in suite().scenarios:
        if scenario.settings.get(name) == reading:
            checked = suite().checked(scenario, scenario.ruleset)
            assert checked is not None
            assert run_scenario(checked).passed
            default = replace(scenario, settings={k: v for k, v in scenario.settings.items() if k != name})
            shown.append(not run_scenario(replace(checked, scenario=default)).passed)
    assert any(shown), f"{len(shown)} scenarios play with {name}={reading}, and all pass without it"
