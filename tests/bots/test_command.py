"""Bots that are programs of their own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import which

import pytest
from click.testing import CliRunner

from interpreter.bots.command import CommandBot
from interpreter.bots.player import BotFailed
from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.loading.load import load
from interpreter.play.match import Match

NODE = Path(__file__).parents[2] / "docs" / "examples" / "node"
PROGRAM = """
import json, sys
said = open(sys.argv[1], "a")
for line in sys.stdin:
    request = json.loads(line)
    said.write(line)
    said.flush()
    method = request["method"]
    result = {"wants": ["view", "log"]} if method == "hello" else {"option": 0} if method == "choose" else {}
    print(json.dumps({"id": request["id"], "result": result}), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "bot.py").write_text(PROGRAM, encoding="utf-8")
    return f"cmd:{sys.executable} {tmp_path / 'bot.py'} {tmp_path / 'said'}"


def test_a_program_is_told_what_its_seat_sees(program: str, tmp_path: Path) -> None:
    ruleset = load("goofspiel")
    for seed in (1, 2):
        table = [CommandBot(program), *bots_of("random", ruleset, 1)]
        if seed == 1:
            first = table[0]
        match = Match(ruleset, [first, table[1]], seed=seed)
        match.play()
    said = [json.loads(line) for line in (tmp_path / "said").read_text(encoding="utf-8").splitlines()]
    assert [each["method"] for each in said].count("hello") == 1
    assert [each["method"] for each in said].count("begin") == 2
    choices = [each["params"] for each in said if each["method"] == "choose"]
    assert len(choices) == 26
    for params in choices:
        assert params["seat"] == 0
        assert params["options"][0]["do"] == "play"
        assert params["view"]["seats"][1]["hand"].keys() == {"count"}
        assert isinstance(params["log"], list)
    assert choices[0]["log"]
    assert len(json.dumps(choices[12]["log"])) < len(json.dumps([each["log"] for each in choices[:13]]))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("import time; time.sleep(9)", "did not answer `hello` within 0.3 s"),
        ("pass", "ended before it answered `hello`"),
        ("print('hello')", "answered `hello` with no JSON: hello"),
        ("print('{}')", "answered `hello` without its id 1"),
        ('print(\'{"id": 1, "error": {"message": "no"}}\')', "refused `hello`"),
        ('print(\'{"id": 1, "result": {"wants": ["all"]}}\')', 'wants something else than ["view", "log"]: ["all"]'),
        (
            'print(\'{"id":1}\'); print(\'{"id":2}\'); print(\'{"id":3, "result": {"option": 99}}\'); input()',
            "chose no option: got 99, want 0 to 12",
        ),
    ],
)
def test_a_program_that_fails_is_named(answer: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(answer, encoding="utf-8")
    limit = "0.3s:" if "sleep" in answer else ""
    bot = CommandBot(f"cmd:{limit}{sys.executable} -u {tmp_path / 'bot.py'}")
    ruleset = load("goofspiel")
    with pytest.raises(BotFailed) as failed:
        Match(ruleset, [bot, *bots_of("random", ruleset, 1)]).play()
    assert message in str(failed.value)
    assert str(failed.value).startswith("the bot `cmd:")


def test_names_of_programs_are_taken_from_the_command_line_alone() -> None:
    ruleset = load("goofspiel")
    with pytest.raises(ValueError, match="on the command line only"):
        bots_of("cmd:true", ruleset, 2)
    for spec, message in [
        ("cmd:", "want a command"),
        ("cmd:'", "No closing quotation"),
        ("cmd:0s:true", "want a command"),
    ]:
        with pytest.raises(ValueError, match=message):
            bots_of(spec, ruleset, 2, commands=True)


def test_run_and_simulate_seat_programs(program: str) -> None:
    run = CliRunner().invoke(cli, ["run", "goofspiel", "--players", "2", "--seed", "1", "--bots", f"{program},random"])
    assert run.exit_code == 0
    assert "wins" in run.stdout
    failed = CliRunner().invoke(cli, ["run", "goofspiel", "--bots", "cmd:/no/such/program"])
    assert failed.exit_code == 1
    assert "cannot be started" in failed.stderr
    games = ["simulate", "goofspiel", "-n", "3", "--players", "2", "--seed", "1", "-j", "1", "-o", "json"]
    done = CliRunner().invoke(cli, [*games, "--bots", f"{program},random"])
    assert json.loads(done.stdout)["games"] == 3


@pytest.mark.skipif(which("node") is None, reason="Node is not installed")
def test_the_bot_in_node_plays() -> None:
    assert len((NODE / "bot.mjs").read_text(encoding="utf-8").splitlines()) <= 60
    spec = f"cmd:node {NODE / 'bot.mjs'},random"
    command = ["simulate", "goofspiel", "-n", "12", "--players", "2", "--seed", "1", "-j", "1", "-o", "json"]
    result = CliRunner().invoke(cli, [*command, "--bots", spec])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["seats"][0]["wins"] >= 7


@pytest.mark.skipif(which("node") is None, reason="Node is not installed")
def test_the_program_in_node_plays_through_the_engine() -> None:
    import os
    import subprocess

    environment = {**os.environ, "REGELWERK": f"{sys.executable} -m interpreter"}
    done = subprocess.run(
        ["node", str(NODE / "engine.mjs"), "goofspiel", "3", "5"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "after 39 choices" in done.stdout
