"""Each folder of ``docs/examples`` is whole: it validates, its scenarios hold, and bots play it. `.ci/run` lints it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.base.paths import ruleset_roots
from interpreter.bots.registry import bots_of, default_bots
from interpreter.cli.main import cli
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.reading.files import Shelf

EXAMPLES = sorted({path.parents[1] for path in (Path(__file__).parents[1] / "docs" / "examples").glob("*/*/*.yaml")})
GAMES = [
    (folder, path)
    for folder in EXAMPLES
    for path in sorted(folder.glob("*/*.yaml"))
    if "\nruleset:" in f"\n{path.read_text(encoding='utf-8')}"
]


@pytest.mark.slow
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("command", [["validate"], ["test"], ["fmt", "--check"]], ids=lambda words: words[0])
def test_an_example_is_whole(folder: Path, command: list[str]) -> None:
    result = CliRunner().invoke(cli, [*command, str(folder)], env={"NO_COLOR": "1"})
    assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_scenarios_prove_each_sentence_of_an_example(folder: Path) -> None:
    """In one of its rulesets: an edition may lack what a sentence is about."""
    left: dict[str, set[str]] = {}
    for path in [path for each, path in GAMES if each == folder]:
        for book in json.loads(CliRunner().invoke(cli, ["coverage", str(path), "--mutate", "-o", "json"]).stdout):
            ids = {statement["id"] for statement in (*book["uncited"], *book["unproved"])}
            left[book["rulebook"]] = left.get(book["rulebook"], ids) & ids
    assert left
    assert {book: ids for book, ids in left.items() if ids} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "path"), GAMES, ids=[path.stem for _, path in GAMES])
def test_bots_play_an_example(folder: Path, path: Path) -> None:
    ruleset = load(path, shelf=Shelf([folder, *ruleset_roots()], ahead=1))
    for players, bot in ((ruleset.players.low, default_bots(ruleset)), (ruleset.players.high, "random")):
        assert Match(ruleset, bots_of(bot, ruleset, players), seed=players).play() is not None, (players, bot)
