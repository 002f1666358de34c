"""Every other reading of a doubt has a scenario that passes with it and fails by the default."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interpreter.engine.scenario import Suite, run_scenario, suite_of

SUITE: Suite = suite_of()


def readings() -> list[tuple[str, str, str]]:
    """Each interpretation with its default and each of its other readings, of all rulesets as scenarios play them."""
    found: dict[tuple[str, str, str], None] = {}
    for scenario in SUITE.scenarios:
        ruleset = SUITE.ruleset(scenario.ruleset, scenario)
        for name, doubt in ruleset.model.interpretations.items() if ruleset else ():
            found.update(
                dict.fromkeys((name, doubt.default, other) for other in doubt.readings if other != doubt.default)
            )
    return list(found)


@pytest.mark.parametrize(("name", "default", "other"), readings())
def test_a_scenario_tells_the_readings_apart(name: str, default: str, other: str) -> None:
    said = [scenario for scenario in SUITE.scenarios if scenario.settings.get(name) == other]
    assert said, f"no scenario sets `{name}` to `{other}`"
    telling = []
    for scenario in said:
        checked = SUITE.checked(scenario, scenario.ruleset)
        assert checked is not None
        assert run_scenario(checked).passed, scenario.id
        by_default = replace(checked, scenario=replace(scenario, settings={**scenario.settings, name: default}))
        if not run_scenario(by_default).passed:
            telling.append(scenario.id)
    assert telling, f"`{name}`: {', '.join(scenario.id for scenario in said)} pass by `{default}` too"
