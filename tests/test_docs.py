"""What the documentation shows is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import interpreter
from interpreter.cli.main import cli
from interpreter.language.signatures import FUNCTIONS

DOCS = Path(__file__).parents[1] / "docs"
ANNOTATED = {
    "annotated-germany-2018.md": ["germany-2018", "--players", "4", "--seed", "7"],
    "annotated-usa-2018.md": ["usa-2018", "--players", "2", "--seed", "2"],
    "annotated-germany-2004.md": ["germany-2004", "--players", "3", "--seed", "7"],
    "annotated-outpost.md": ["outpost", "--players", "4", "--seed", "5"],
    "annotated-outpost-konzern.md": ["outpost", "--players", "2", "--seed", "1"],
    "annotated-bsw-baden-wuerttemberg.md": [
        *("bsw-baden-wuerttemberg", "--players", "3", "--seed", "3", "--set", "setmap=01110"),
    ],
    "annotated-bsw-robots.md": ["bsw-france", "--players", "3", "--with", "robots", "--seed", "1"],
    "annotated-robots.md": ["germany-2004", "--players", "2", "--with", "robots:2", "--seed", "2"],
}
IDS = re.compile(r"\s*\[((?:GU|KZ|IT|BW|RB|F|A|OP|OK)-[^\]]*)\]$")


def blocks(text: str) -> list[str]:
    return [line for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("name", ANNOTATED)
def test_an_annotated_log_is_the_log_of_the_run(name: str) -> None:
    shown = [IDS.sub("", line).rstrip() for line in blocks((DOCS / name).read_text(encoding="utf-8"))]
    result = CliRunner().invoke(cli, ["run", *ANNOTATED[name]], env={"NO_COLOR": "1", "COLUMNS": "200"})
    told = [line.rstrip() for line in result.stdout.splitlines()]
    assert [line for line in shown if line] == [line for line in told if line][: len([line for line in shown if line])]
    assert any(line.startswith("Round 2") for line in shown)


@pytest.mark.parametrize("name", ANNOTATED)
def test_an_annotated_log_cites_statements_that_exist(name: str) -> None:
    statements = interpreter.load(ANNOTATED[name][0]).statements
    lines = blocks((DOCS / name).read_text(encoding="utf-8"))
    cited = {cite.strip() for line in lines if (found := IDS.search(line)) for cite in found[1].split(",")}
    assert cited - set(statements) == set()
    assert len(cited) >= 60


def test_games_in_numbers_are_those_of_the_call() -> None:
    """All but how fast they were."""
    text = (DOCS / "simulating.md").read_text(encoding="utf-8")
    call, shown = re.findall(r"```sh\nregelwerk (.*)\n```\n\n```text\n(.*?)```", text, re.DOTALL)[0]
    told = CliRunner().invoke(cli, call.split(), env={"NO_COLOR": "1"}).stdout.splitlines()
    assert [line for line in told if " s, " not in line] == [line for line in shown.splitlines() if " s, " not in line]


def test_the_reference_names_every_function() -> None:
    reference = (DOCS / "language.md").read_text(encoding="utf-8")
    assert [name for name in FUNCTIONS if f"`{name}(" not in reference and f"{name}(" not in reference] == []


def test_the_reference_names_every_statement_word() -> None:
    grammar = (DOCS.parent / "interpreter" / "language" / "grammar.lark").read_text(encoding="utf-8")
    reference = (DOCS / "language.md").read_text(encoding="utf-8")
    words = set(re.findall(r'"([a-z]+)"', grammar))
    assert {word for word in words if not re.search(rf"\b{word}\b", reference)} == set()
