"""Boards and overlays that nobody ships (``tests/boards``) wrap what families offer, and scenarios play them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli

BOARDS = Path(__file__).parent.parent / "boards"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(BOARDS.glob("*/scenarios/*.yaml")), ids=lambda path: path.stem)
def test_the_boards_are_played_as_their_scenarios_say(path: Path) -> None:
    result = CliRunner().invoke(cli, ["test", str(path)], env={"REGELWERK_PATH": str(BOARDS), "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
