"""Options have one style: the same option has the same name, metavar, type and help in every command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from interpreter.cli.main import COMMANDS, cli
from tests.cli.conftest import Run

APART = {
    "all": {"compare"},
    "bots": {"serve"},
    "check": {"tune"},
    "name": {"serve", "studio"},
    "players": {"bench", "verify"},
    "policy": {"build"},
    "watch": {"serve"},
    "write": {"verify"},
}
"""Options that mean something else in some commands: a flag or a value, one number or several."""


def _options() -> dict[str, list[tuple[str, click.Option]]]:
    """Return all options by their first long name, with their commands."""
    found: dict[str, list[tuple[str, click.Option]]] = {}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                found.setdefault(max(parameter.opts, key=len).lstrip("-"), []).append((name, parameter))
    return found


OPTIONS = _options()


def _style(option: click.Option) -> tuple[object, ...]:
    about = (option.help or "").partition("  [default")[0]
    choices = isinstance(option.type, click.Choice)
    kind = type(option.type).__name__
    return sorted(option.opts), None if choices else option.metavar, kind, about, option.is_flag, option.multiple


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_the_same_in_every_command(name: str) -> None:
    apart = APART.get(name, set())
    commands = {command for command, _ in OPTIONS[name]}
    assert apart < commands, "the table has options that there are no more"
    for group in (apart, commands - apart):
        styles = {command: _style(option) for command, option in OPTIONS[name] if command in group}
        assert len({repr(style) for style in styles.values()}) <= 1, styles


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_says_what_it_takes(name: str) -> None:
    for command, option in OPTIONS[name]:
        assert option.help is not None
        assert option.help[0].isupper(), (command, name)
        if isinstance(option.type, click.IntRange | click.FloatRange):
            assert option.metavar in ("N", "SECONDS"), (command, name)
        elif not option.is_flag and not isinstance(option.type, click.Choice | click.Path):
            assert option.metavar, (command, name)


def test_a_letter_stands_for_one_option() -> None:
    long: dict[str, set[str]] = {}
    for name, found in OPTIONS.items():
        for _, option in found:
            for short in (each for each in option.opts if not each.startswith("--")):
                long.setdefault(short, set()).add(name)
    assert long == {
        "-j": {"jobs"},
        "-k": {"k"},
        "-n": {"games"},
        "-o": {"output"},
        "-p": {"players"},
        "-v": {"verbose"},
    }


SEEDED = {
    "run pebbles": "",
    "simulate pebbles -n 2 --jobs 1": "",
    "simulate pebbles -n 3 -p 3 --jobs 1 --round-robin random,eager,rare": "",
    "compare pebbles pebbles -n 2 --jobs 1": "",
    "verify pebbles -n 1 -p 2,3": "",
    "tune weighed --for pebbles -n 1 --generations 1 --population 4 --check 2 --jobs 1": "",
    "whatif LOG --at 1 --change most=2 -n 2": "",
    "play pebbles": "quit\n",
    "try pebbles sitting": "",
    "test --record pebbles -p 2": "1\n1\ndone\n1\n\nname\n",
}
"""A call of each command with a seed, and its input."""
SEED = re.compile(r"\bseeds?:? (\d+)")


def test_every_command_with_a_seed_is_tried() -> None:
    assert {command for command, _ in OPTIONS["seed"]} == {line.split()[0] for line in SEEDED}


@pytest.mark.parametrize("line", SEEDED)
def test_a_random_seed_is_printed_to_repeat_the_run(run: Run, tmp_path: Path, line: str) -> None:
    log = str(tmp_path / "game.jsonl")
    run("run", "pebbles", "--seed", "1", "--log", log)
    words = [log if word == "LOG" else word for word in line.split()]
    first = run(*words, input=SEEDED[line])
    seed = SEED.search(first.output)
    assert seed is not None, first.output
    again = run(*words, "--seed", seed[1], input=SEEDED[line])
    times = re.compile(r"CPU time.*|[0-9.,]+ (s|ms|games|decisions)\b|seed \d+\n$")
    assert times.sub("", again.stdout) == times.sub("", first.stdout)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run pebbles -p four", "'-p' / '--players': got `four`, want a number from 1\n"),
        ("run pebbles -p 2,3", "'-p' / '--players': got `2,3`, want a number from 1\n"),
        ("verify pebbles -p two", "'-p' / '--players': got `two`, want numbers from 1, separated by commas\n"),
        ("verify pebbles -p 2,0", "'-p' / '--players': got `2,0`, want numbers from 1, separated by commas\n"),
        ("run pebbles --seed x", "'--seed': got `x`, want a number from 0 to 1000000000000000000\n"),
        ("simulate pebbles -n 0", "'-n' / '--games': got `0`, want a number from 1 to 1000000000\n"),
        ("simulate pebbles -n 1e6", "'-n' / '--games': got `1e6`, want a number from 1 to 1000000000\n"),
        ("simulate pebbles -j many", "'-j' / '--jobs': got `many`, want a number from 1\n"),
        ("bench pebbles --time nan", "'--time' / '--seconds': got `nan`, want a number of seconds above 0\n"),
        ("bench pebbles --time 0", "'--time' / '--seconds': got `0`, want a number of seconds above 0\n"),
        ("serve --port http", "'--port': got `http`, want a number from 0 to 65535\n"),
        ("serve --pace -1", "'--pace': got `-1`, want a number of seconds from 0 to 60\n"),
    ],
)
def test_what_is_no_number_says_what_is(run: Run, line: str, said: str) -> None:
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(f"Error: Invalid value for {said}")


def test_numbers_of_players_are_listed(run: Run) -> None:
    for given in (["-p", "2,3"], ["-p", "2", "-p", "3"], ["--players", "2, 3"]):
        rows = json.loads(run("bench", "pebbles", "--time", "0.001", "--rounds", "1", "-o", "json", *given).stdout)
        assert [row["players"] for row in rows["rows"]] == [2, 3]
