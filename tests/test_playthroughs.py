"""A whole game of each ruleset as text. What changed in it is read like code, then written anew:

REGELWERK_REWRITE=1 python -m pytest tests/test_playthroughs.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli

FOLDER = Path(__file__).parent / "playthroughs"
GAMES = {
    "germany-2018": ["--players", "4", "--seed", "7"],
    "usa-2018": ["--players", "2", "--seed", "2"],
    "germany-2004": ["--players", "2", "--seed", "3"],
    "bsw-baden-wuerttemberg": ["--players", "3", "--seed", "3"],
    "goofspiel": ["--players", "3", "--seed", "7"],
    "outpost": ["--players", "4", "--seed", "5"],
}


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", GAMES)
def test_a_whole_game_reads_as_before(ruleset: str) -> None:
    result = CliRunner().invoke(cli, ["run", ruleset, *GAMES[ruleset]], env={"NO_COLOR": "1", "COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    path = FOLDER / f"{ruleset}.txt"
    if os.environ.get("REGELWERK_REWRITE"):
        path.write_text(result.stdout, encoding="utf-8")
    assert result.stdout == path.read_text(encoding="utf-8")
