"""The passes from files to a program: which run, in which order, and what stops them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.cli.main import cli
from interpreter.loading.pipeline import examine
from interpreter.reading.files import shelf_for

PEBBLES = Path(__file__).parents[1] / "play" / "rulesets" / "pebbles"
NAMES = ["statements", "compose", "citations", "check", "policies", "reach", "laws", "unused"]


def ran(root: Path, *, tables: bool = True) -> list[str]:
    names: list[str] = []

    def timed(name: str, seconds: float) -> None:
        assert seconds >= 0
        names.append(name)

    path = root / "pebbles.yaml"
    shelf = shelf_for(path)
    document = shelf.read_path(path)[0]
    assert document is not None
    examine(shelf, document, tables=tables, timed=timed)
    return names


def test_all_run_in_their_order() -> None:
    assert ran(PEBBLES) == NAMES


def test_without_tables_no_program_is_made() -> None:
    assert ran(PEBBLES, tables=False) == [name for name in NAMES if name != "laws"]


def test_an_error_stops_what_wants_none(tmp_path: Path) -> None:
    for path in PEBBLES.rglob("*.yaml"):
        copy = tmp_path / "pebbles" / path.relative_to(PEBBLES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        copy.write_text(
            text.replace("clockwise(", "clockwize(") if path.name == "family.yaml" else text, encoding="utf-8"
        )
    assert ran(tmp_path / "pebbles") == NAMES[: NAMES.index("reach")]


@pytest.mark.parametrize("output", ["text", "json"])
def test_the_command_lists_them(output: str) -> None:
    result = CliRunner().invoke(cli, ["show", "goofspiel", "--passes", "-o", output])
    assert result.exit_code == 0, result.output
    if output == "json":
        assert [each["pass"] for each in json.loads(result.output)["passes"]] == NAMES
    else:
        assert [line.split()[0] for line in result.output.splitlines()[1:]] == NAMES
