"""``regelwerk build``, and the example that plays what it wrote."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interpreter.bots.registry import bots_of
from interpreter.compiler.wasm.standalone import EXPORTS
from interpreter.loading.load import load
from interpreter.play.match import Match
from tests.cli.conftest import Run

TOP = Path(__file__).parents[2]
PROGRAM = TOP / "docs" / "examples" / "node" / "play.mjs"
PAGE = TOP / "docs" / "wasm.md"


def test_build_writes_a_module_and_its_manifest(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "game.wasm"
    result = run("build", "goofspiel", str(file), "--players", "3", "--policy", "random", "--policy", "sensible")
    assert result.exit_code == 0
    assert file.read_bytes()[:4] == b"\0asm"
    manifest = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert result.stdout.splitlines() == [
        f"{file}: {file.stat().st_size:,} bytes",
        f"{tmp_path / 'game.json'}: {(tmp_path / 'game.json').stat().st_size:,} bytes",
    ]
    assert (manifest["ruleset"], manifest["players"], manifest["left_out"]) == ("goofspiel", 3, {})
    assert [policy["name"] for policy in manifest["policies"]] == ["random", "sensible"]
    assert [seat["name"] for seat in manifest["seats"]] == ["player 1", "player 2", "player 3"]
    told = json.loads(run("build", "goofspiel", str(file), "-o", "json").stdout)
    assert told["policies"] == ["bench", "sensible", "random"]
    assert told["bytes"][str(file)] == file.stat().st_size


def test_build_has_the_overlays_and_settings_that_were_asked_for(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "game.wasm"
    assert run("build", "usa-2018", str(file), "--with", "start-cities", "--policy", "random").exit_code == 0
    manifest = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    model = load("usa-2018", ["start-cities"]).model
    assert manifest["digest"] == load("usa-2018", ["start-cities"]).digest != load("usa-2018").digest
    assert manifest["settings"].keys() == {*model.settings, *model.interpretations}
    doubt = next(iter(model.interpretations.values()))
    other = next(reading for reading in doubt.readings if reading != doubt.default)
    assert run("build", "usa-2018", str(file), "--set", f"{doubt.name}={other}", "--policy", "random").exit_code == 0
    manifest = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert manifest["settings"][doubt.name] == other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["goofspiel", "game.was"], "got `game.was`, want a file that ends in .wasm"),
        (["goofspeil", "game.wasm"], "did you mean `goofspiel`?"),
        (["goofspiel", "game.wasm", "--policy", "sensibel"], "unknown policy `sensibel`; did you mean `sensible`?"),
        (
            ["goofspiel", "game.wasm", "--policy", "xyz"],
            "unknown policy `xyz`; there are `bench`, `sensible`, `random`",
        ),
        (["goofspiel", "game.wasm", "--players", "9"], "9"),
        (["goofspiel", "nowhere/game.wasm"], "nowhere: no such folder"),
    ],
)
def test_build_says_what_is_wrong(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("build", *arguments)
    assert result.exit_code != 0
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_build_needs_no_wasmtime(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "game.wasm"
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    assert run("build", "goofspiel", str(file)).exit_code == 0
    assert file.read_bytes().startswith(b"\0asm")


def test_the_page_describes_every_export() -> None:
    named = re.findall(r"^\| `(\w+)(\(.*?\)(?: -> \w+)?)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(named) == {name: type_ for name, (type_, _) in EXPORTS.items()}


def test_what_the_page_shows_of_a_manifest_stands_in_it(run: Run, tmp_path: Path) -> None:
    shown = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    run("build", "goofspiel", str(tmp_path / "game.wasm"), "--players", "3")
    (decision,) = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))["decisions"]
    assert [json.loads(text) for text in shown] == [decision]


@pytest.mark.skipif(shutil.which("node") is None, reason="`node` is not on the path: the example of `build` needs it")
@pytest.mark.parametrize(("name", "people", "policy"), [("goofspiel", 3, "sensible"), ("outpost", 2, "random")])
def test_the_example_plays_the_game_that_the_interpreter_plays(
    run: Run, tmp_path: Path, name: str, people: int, policy: str
) -> None:
    file = tmp_path / "game.wasm"
    assert run("build", name, str(file), "--players", str(people)).exit_code == 0
    node = ["node", str(PROGRAM), str(file), "7", policy]
    told = subprocess.run(node, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()
    ruleset = load(name).for_players(people)
    match = Match(ruleset, bots_of(policy, ruleset, people), 7)
    number = 0
    while match.step():
        number += 1
        choice = match.game.last_choice
        assert choice is not None
        assert re.match(rf"{number}\. player \d: \w+: {re.escape(choice.do)}\b", told[number])
    assert match.game.result is not None
    assert told[0].endswith(f", {people} players, seed 7, {policy}")
    assert told[number + 1].startswith(f"over after {number} choices, digest ")
    places = [int(line.partition(".")[0]) for line in told[number + 2 :]]
    assert tuple(places) == match.game.result.places[: len(places)]
    assert len(told) == number + 2 + people
