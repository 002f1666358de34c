"""Mistakes at the command line: each message says what to do instead, in the same words in every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interpreter.cli.main import COMMANDS
from tests.cli.conftest import Run


@pytest.mark.parametrize("command", COMMANDS)
def test_help_knows_the_commands(run: Run, command: str) -> None:
    result = run("help", command)
    assert (result.exit_code, result.stdout) == (0, run(command, "--help").stdout)


def test_help_of_a_command_for_programs_and_misspelt(run: Run) -> None:
    about = json.loads(run("help", "run", "-o", "json").stdout)
    assert (about["command"], about["page"].splitlines()[0]) == ("run", "Usage: regelwerk run [OPTIONS] RULESET")
    assert "unknown code 'runn'; did you mean 'run'?" in run("help", "runn").stderr


def test_show_with_a_name_leads_to_explain(run: Run) -> None:
    result = run("show", "pebbles", "may_pull")
    assert result.exit_code == 2
    assert "`regelwerk explain pebbles may_pull` tells about a name" in result.stderr
    assert run("explain", "pebbles", "may_pull").exit_code == 0


@pytest.mark.parametrize(
    ("target", "message"), [("nosuch.yaml", "E030 no file `nosuch.yaml`"), ("nosuch", "E031 unknown ruleset `nosuch`")]
)
def test_a_missing_target_of_test_is_reported_once(run: Run, target: str, message: str) -> None:
    result = run("test", target)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


SEATED = (
    ("run", "pebbles"),
    ("play", "pebbles"),
    ("simulate", "pebbles"),
    ("bench", "pebbles"),
    ("try", "pebbles", "1"),
    ("build", "pebbles", "game.wasm"),
    ("rulebook", "pebbles"),
    ("show", "pebbles", "--ir"),
    ("verify", "pebbles"),
    ("tune", "greedy", "--for", "pebbles"),
    ("test", "--record", "pebbles"),
    ("compare", "pebbles", "pebbles", "--games", "2"),
)


@pytest.mark.parametrize("arguments", SEATED, ids=lambda arguments: arguments[0])
def test_a_number_of_players_is_refused_alike(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--players", "9")
    refusal = "Error: `pebbles` is for 2 to 4 players, not 9: the heap is too small for more\n"
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", refusal)
