"""What the documentation shows is what the program does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import interpreter
from interpreter.base.source import SourceFile
from interpreter.cli.main import cli
from interpreter.language.builtins import FUNCTIONS, OWN_TYPES, OWN_VALUES
from interpreter.language.declare import OWN_CELLS
from interpreter.language.file_layout import tidy
from interpreter.language.grammar import RESERVED_WORDS, grammar
from interpreter.loading.load import load
from interpreter.reading.files import KINDS
from interpreter.reading.schema import check_schema
from interpreter.reading.yaml import read_yaml
from tests import keys, schemas
from tests.samples import matches, samples

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
RULE = re.compile(r" {3}\[\w+(?:: [^\]]*)?\]$")
"""The rule and its citations behind a line of `run -v`."""


def blocks(text: str) -> list[str]:
    return [line for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_what_is_shown_of_python_is_what_it_does(page: str) -> None:
    names: dict[str, object] = {}
    told, asked = "", 0
    for sample in samples((DOCS.parent / page).read_text(encoding="utf-8")):
        if sample.kind == "python":
            with redirect_stdout(StringIO()) as output:
                exec(sample.text, names)
            told, asked = output.getvalue(), asked + 1
        elif asked and sample.kind == "text":
            assert matches(sample.text, told), f"{page}:{sample.line}"
    assert asked


IN_ORDER = """
import contextlib, io, json, sys
names, told = {}, []
for text in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(text, names)
    told.append(output.getvalue())
print(json.dumps(told))
"""
"""Program that runs texts one after the other, away from the tests: its libraries take a hundred megabytes."""


@pytest.mark.slow
def test_the_page_on_learning_does_what_it_shows(tmp_path: Path) -> None:
    for module in ("numpy", "pettingzoo", "gymnasium", "pyspiel", "cma"):
        if find_spec(module) is None:
            pytest.skip("needs `pip install 'regelwerk[rl,spiel,tune]'`")
    found = samples((DOCS / "learning.md").read_text(encoding="utf-8"))
    asked = json.dumps([sample.text for sample in found if sample.kind == "python"])
    run = [sys.executable, "-c", IN_ORDER]
    environment = os.environ | {"PYTHONPATH": str(DOCS.parent)}
    outputs = json.loads(subprocess.check_output(run, input=asked, text=True, cwd=tmp_path, env=environment))
    told = None
    for sample in found:
        if sample.kind == "python":
            told = outputs.pop(0)
        elif sample.kind == "text" and told is not None:
            assert matches(sample.text, told), f"docs/learning.md:{sample.line}: {told}"
    assert len(json.loads(asked)) >= 6


def test_the_messages_of_the_line_protocol_are_those_of_the_engine() -> None:
    from interpreter.protocol.engine_server import METHODS, Engine

    text = (DOCS / "engine.md").read_text(encoding="utf-8")
    shown = {sample.kind: sample.text.splitlines() for sample in samples(text)}
    engine = Engine(load("goofspiel"))
    answers = [engine.answer(line) for line in shown["json"]]
    assert answers[: len(shown["answers"])] == shown["answers"]
    assert '"code":1,' in (answers[-1] or "")
    assert [method for method in METHODS if f"| `{method}` |" not in text] == []


def test_the_first_command_ends_in_a_game_worth_reading() -> None:
    """Good bots, a line for what a player does in a phase, one table of results, and not too much of it."""
    found = samples((DOCS.parent / "README.md").read_text(encoding="utf-8"))
    first, told, *_ = (each for each in found if each.kind in ("sh", "text"))
    command = first.text.splitlines()[0].partition("bin/regelwerk ")[2]
    result = CliRunner().invoke(cli, command.split(), env={"NO_COLOR": "1"})
    assert result.exit_code == 0
    assert matches(f"...\n{told.text}", result.stdout), result.stdout
    lines = result.stdout.splitlines()
    assert len(lines) <= 400
    assert lines[0].endswith("bots sensible, sensible, sensible, sensible")
    buyers = [line.partition(" buys ")[0] if " buys 1 " in line else line for line in lines]
    assert not [line for line, after in pairwise(buyers) if line == after and line.startswith("player")]
    *_, before, won, head = lines[:-4]
    assert (before[:6], won[-5:], head.split()[:3]) == ("After ", " wins", ["place", "player", "bot"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ANNOTATED)
def test_an_annotated_log_is_the_log_of_the_run(name: str) -> None:
    shown = [IDS.sub("", line).rstrip() for line in blocks((DOCS / name).read_text(encoding="utf-8"))]
    run = ["run", *ANNOTATED[name], "--bots", "greedy", "-v"]
    result = CliRunner().invoke(cli, run, env={"NO_COLOR": "1", "COLUMNS": "200"})
    told = [RULE.sub("", line).rstrip() for line in result.stdout.splitlines()]
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
    told, shown = ([line for line in lines if not line.startswith("CPU time")] for lines in (told, shown.splitlines()))
    assert told == shown


@pytest.mark.slow
def test_comparisons_are_those_of_the_commands() -> None:
    """A text without a command is part of what the command above prints; rows of JSON are those of the first one."""
    found = [
        each for each in samples((DOCS / "comparing.md").read_text(encoding="utf-8")) if each.kind in ("text", "json")
    ]
    calls = [each.text.partition("\n")[0].split()[2:] for each in found if each.text.startswith("$ regelwerk ")]
    told = ""
    for sample in found:
        shown = sample.text
        if sample.kind == "json":
            rows = json.loads(CliRunner().invoke(cli, [*calls[0], "-o", "json"]).stdout)["rows"]
            assert json.loads(shown) in rows, f"docs/comparing.md:{sample.line}"
            continue
        if shown.startswith("$ regelwerk "):
            line, _, shown = shown.partition("\n")
            words = [*line.split()[2:], *(["--jobs", "1"] if "--games" in line else [])]
            told = CliRunner().invoke(cli, words, env={"NO_COLOR": "1", "COLUMNS": "120"}).stdout
        else:
            shown = f"...\n{shown}"
        assert matches(shown, told), f"docs/comparing.md:{sample.line}: {told}"
    assert len(calls) == 8


def test_the_reference_names_every_function() -> None:
    reference = (DOCS / "language.md").read_text(encoding="utf-8")
    assert [name for name in FUNCTIONS if f"`{name}(" not in reference and f"{name}(" not in reference] == []


def test_the_reference_names_every_word_of_the_language() -> None:
    text = (DOCS.parent / "interpreter" / "language" / "grammar.lark").read_text(encoding="utf-8")
    reference = (DOCS / "language.md").read_text(encoding="utf-8")
    words = set(re.findall(r'"([a-z]+)"', text))
    assert {word for word in words if not re.search(rf"\b{word}\b", reference)} == set()


def test_the_reference_lists_the_reserved_names() -> None:
    page = (DOCS / "language.md").read_text(encoding="utf-8")
    for names in (RESERVED_WORDS, OWN_TYPES, OWN_VALUES, OWN_CELLS):
        rows = [set(re.findall(r"`(\w+)`", line)) for line in page.splitlines() if line.startswith("| ")]
        assert any(set(names) <= row for row in rows), names


def test_the_reference_shows_every_form_of_the_grammar() -> None:
    parser = grammar()
    forms = {
        rule.alias or rule.origin.name
        for rule in parser.rules
        if (rule.alias or not rule.options.expand1) and not rule.origin.name.startswith("_")
    }
    shown = {
        tree.data
        for sample in samples((DOCS / "language.md").read_text(encoding="utf-8"))
        if sample.kind == "rules"
        for tree in parser.parse(sample.text, start=sample.name).iter_subtrees()
    }
    assert forms - shown == set()


def test_the_reference_lists_every_key_of_the_schemas() -> None:
    assert keys.PAGE.read_text(encoding="utf-8") == keys.written(), "write it anew: python -m tests.keys"


def test_the_schemas_are_those_of_the_types() -> None:
    for path, text in schemas.written().items():
        assert path.read_text(encoding="utf-8") == text, "write them anew: python -m tests.schemas"


def test_every_sample_of_the_reference_is_well_formed() -> None:
    found = [sample for sample in samples((DOCS / "language.md").read_text(encoding="utf-8")) if sample.kind == "yaml"]
    assert len(found) > 10
    for sample in found:
        parts, _ = read_yaml(SourceFile("sample", sample.text))
        assert parts is not None
        keys = [key for key in parts if key in KINDS]
        is_map, is_family = "nodes" in parts, "round" in parts
        kind = keys[0] if keys else "map" if is_map else "family" if is_family else "edition"
        head = "" if keys else f"{kind}: x\n" if is_family else f"{kind}: x/y\n"
        extends = "extends: x\n" if kind == "edition" else ""
        is_whole = "language" in parts
        file = SourceFile("sample", sample.text if is_whole else f"language: 2\n{head}{extends}{sample.text}")
        whole, wrong = read_yaml(file)
        assert whole is not None
        wrong += [each for each in check_schema(kind, whole) if each.code != "E102"] + tidy(file)[1]
        assert [each.message for each in wrong] == [], f"docs/language.md:{sample.line}"


SEAMS = (DOCS / "power-grid.md").read_text(encoding="utf-8").partition("## Seams")[2].partition("\n## ")[0]
SEAM_ROWS = [
    (re.findall(r"`(\w+(?:\([^)`]*\))?)`", re.sub(r" \(`.*?`\)", "", seams)), users)
    for seams, _, users in (line.strip("| ").split(" | ") for line in SEAMS.splitlines() if line.startswith("| `"))
]
USERS = {
    "tests": "tests/boards/power-grid/*/*.yaml",
    "edition 2018": "rulesets/power-grid/editions/2018.yaml",
    "editions 2004 and 2018": "rulesets/power-grid/editions/20*.yaml",
    "BrettspielWelt": "rulesets/power-grid/editions/brettspielwelt.yaml",
    "France": "rulesets/power-grid/maps/france.yaml",
    "USA 2018": "rulesets/power-grid/maps/usa-2018.yaml",
    "Baden-Württemberg": "rulesets/power-grid/maps/baden-wuerttemberg.yaml",
    "Robots": "rulesets/power-grid/overlays/robots.yaml",
    "Konzern": "rulesets/power-grid/overlays/konzern.yaml",
    "beginners": "rulesets/power-grid/overlays/beginners.yaml",
    "start cities": "rulesets/power-grid/overlays/start-cities.yaml",
    "the Skerries": "docs/examples/islands/power-grid/maps/*.yaml",
    "Harrow Ridge": "docs/examples/two-markets/power-grid/maps/*.yaml",
}
USERS |= {
    board: f"rulesets/power-grid/maps/{board.lower().replace(' & ', '-').replace(' ', '-')}.yaml"
    for board in (
        "Australia",
        "Benelux",
        "Brazil",
        "Bremen",
        "Central Europe",
        "China",
        "Europe",
        "India",
        "Japan",
        "Korea",
        "Manhattan",
        "Middle East",
        "Northern Europe",
        "Quebec",
        "Russia",
        "South Africa",
        "Spain & Portugal",
        "UK & Ireland",
    )
}


@pytest.mark.parametrize(("seams", "users"), SEAM_ROWS, ids=[seams[0].partition("(")[0] for seams, _ in SEAM_ROWS])
def test_every_seam_of_power_grid_is_a_rule_that_the_named_files_cover(seams: list[str], users: str) -> None:
    """Of the seams of a row each stands in one of the files that are named, and each file has one of them."""
    texts = {
        user: "".join(path.read_text(encoding="utf-8") for path in DOCS.parent.glob(USERS[user]))
        for user in re.sub(r"\[(.+?)\]\(.+?\)", r"\1", users).split(", ")
    }
    names = [seam.partition("(")[0] for seam in seams]
    for seam, name in zip(seams, names, strict=True):
        models = [load(id).model for id in ("germany-2018", "germany-2004")]
        model = next(model for model in models if name in model.rules or name in model.events)
        parameters = re.findall(r"\w+", seam)[1:]
        known = model.events[name].fields if name in model.events else dict(model.rules[name].parameters)
        assert list(known) == parameters
        assert any(re.search(rf"\b{name}\b", text) for text in texts.values()), name
    for user, text in texts.items():
        assert any(re.search(rf"\b{name}\b", text) for name in names), user
