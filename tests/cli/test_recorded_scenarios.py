"""Scenarios that are recorded at the keyboard, those that fail, and scenarios as tests of pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytest_plugins = ["pytester"]
MOVES = "5\n9\ndone\n"
RECORD = ("test", "--record", "goofspiel", "--players", "2", "--seed", "7")


def test_a_recorded_scenario_passes_and_fails_when_the_rule_is_another(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    facts = "count(seats[1].won)\npoints(seats[1]) > points(seats[0])\nround == 9\n1\n\n"
    result = run(*RECORD, "--to", str(path), input=f"{MOVES}{facts}the higher bid wins\n")
    assert result.exit_code == 0, result.stderr
    assert "this condition is false" in result.stderr
    text = path.read_text(encoding="utf-8")
    assert "      - {by: 0, do: play, value: 5}\n      - {by: 1, do: play, value: 9}\n" in text
    assert "      - count(seats[1].won) == 1\n      - points(seats[1]) > points(seats[0])\n" in text
    assert run("validate", str(path)).exit_code == 0
    assert run("test", str(path)).stdout == "1 passed\n"
    path.write_text(text.replace("value: 9", "value: 4"), encoding="utf-8")  # as if the lower bid won
    failed = run("test", str(path))
    assert failed.exit_code == 1
    assert "   count(seats[1].won)\n      expected  1\n      actual    0\n" in failed.stdout


def test_a_second_scenario_is_added_and_a_refusal_is_one(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    run(*RECORD, "--to", str(path), "--name", "one", input=f"{MOVES}1\n\n")
    refusal = run("test", "--record", "pebbles", "--seed", "1", "--to", str(path), input="refuse nonsense\ndone\n\n")
    assert refusal.exit_code == 1
    assert "a scenario needs a fact or a refused move" in refusal.stderr
    run(*RECORD, "--to", str(path), "--name", "two", input=f"{MOVES}1\n\n")
    assert run("test", str(path), "-k", "one or two").stdout == "2 passed\n"
    assert run("test", str(path), "-k", "mine and not two").stdout == "1 passed\n"


def test_without_a_file_the_scenario_is_printed_and_nothing_else(run: Run) -> None:
    result = run(*RECORD, "--name", "it", input=f"{MOVES}1\n\n")
    assert result.stdout.startswith('language: 2\nscenarios: goofspiel/recorded\nis:\n  - name: "it"\n')


@pytest.mark.parametrize("option", [("--to", "x.yaml"), ("--seed", "1"), ("--with", "half")])
def test_what_goes_with_record_goes_with_nothing_else(run: Run, option: tuple[str, str]) -> None:
    assert run("test", *option).exit_code == 2


def test_pytest_collects_scenarios_where_it_is_asked_to(pytester: pytest.Pytester) -> None:
    scenario = (
        "language: 2\nscenarios: goofspiel/{}\nis:\n  - name: it\n    ruleset: goofspiel\n    then: [round == {}]\n"
    )
    for name, number in (("good", 0), ("bad", 2)):
        pytester.path.joinpath(f"{name}.yaml").write_text(scenario.format(name, number))
    # Installed, the package brings the plugin along. faulthandler, once it is turned off and on again in this process,
    # takes the signals by which modules trap.
    arguments = ("-p", "no:cacheprovider", "-p", "no:faulthandler")
    assert pytester.runpytest_inprocess(*arguments).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result = pytester.runpytest_inprocess(*arguments, "-o", "regelwerk_scenarios=*.yaml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*`round == 2` does not hold*", "*expected  2*"])


@pytest.mark.parametrize("expression", ["one and", "or one", "not", "one and not"])
def test_what_is_looked_for_stands_between_the_words(run: Run, expression: str) -> None:
    result = run("test", "goofspiel", "-k", expression)
    assert (result.exit_code, f"got `{expression}`" in result.stderr) == (2, True)


def test_where_there_are_no_scenarios(run: Run) -> None:
    assert (
        run("test", "pebbles").stdout
        == "`pebbles` has no scenarios; `regelwerk test --record RULESET --to FILE` writes one\n"
    )
    assert run("test", "goofspiel", "-k", "robots").stdout == "no scenario matches\n"
