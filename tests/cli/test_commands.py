"""Commands that tell about rulesets, and how all of them end."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from interpreter.authoring import validator
from interpreter.authoring.validation import validate
from interpreter.cli.main import COMMANDS
from interpreter.reading.files import KINDS, shelf_for
from interpreter.reading.ruleset_files import rulesets_of
from tests.cli.conftest import Run
from tests.play.toy import ROOT, changed

TOP = Path(__file__).parents[2]
BAD = TOP / "tests" / "bad"
MINE = (
    "new",
    "list",
    "show",
    "validate",
    "lint",
    "fmt",
    "help",
    "run",
    "replay",
    "simulate",
    "whatif",
    "compare",
    "bench",
    "play",
    "try",
    "map",
    "build",
)


@pytest.mark.parametrize("name", MINE)
def test_every_command_explains_itself(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert "Examples:\n" in result.stdout
    assert f"regelwerk {name}" in result.stdout
    assert ("--output" in result.stdout) == (name not in ("play", "fmt", "new"))


def test_the_list_of_commands(run: Run) -> None:
    result = run("--help")
    told = " ".join(result.stdout.split())  # in as many lines as it takes
    assert all(f" {name} {about}" in told for name, about in COMMANDS.items())
    assert run("--version").stdout == "regelwerk, version 0.1.0\n"


def test_list(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    where = os.environ["REGELWERK_PATH"]
    line = ["pebbles", "pebbles", "2–4", where, "Pebbles"]
    assert line in [line.split() for line in run("list").stdout.splitlines()]
    rows = json.loads(run("list", "-o", "json").stdout)
    assert {"id": "pebbles", "family": "pebbles", "players": [2, 4], "from": where, "title": "Pebbles"} in rows


def test_one_view_and_a_language_that_is_there(run: Run) -> None:
    assert "a number of seats goes with a game only" in run("show", "pebbles", "--with", "birds:2").stderr
    assert "--layers and --events are two views" in run("show", "pebbles", "--layers", "--events").stderr
    assert "has no texts in `xx`; it has " in run("run", "pebbles", "--lang", "xx").stderr


def test_show(run: Run) -> None:
    result = run("show", "pebbles")
    assert "  edition  pebbles/plain  pebbles/editions/plain.yaml\n" in result.stdout
    data = json.loads(run("show", "pebbles", "-o", "json").stdout)
    assert data["sections"]["rules"]["may_pull"] == ["pebbles"]
    assert [file["kind"] for file in data["files"]] == ["ruleset", "family", "edition"]


def test_show_layers(run: Run) -> None:
    rules = {rule["rule"]: rule for rule in json.loads(run("show", "pebbles", "--layers", "-o", "json").stdout)}
    assert rules["may_pull"]["form"] == "permits"
    assert rules["may_pull"]["layers"][0]["place"].startswith("pebbles/family.yaml:")
    assert "may_pull (permits)\n  introduces  pebbles/family.yaml:" in run("show", "pebbles", "--layers").stdout


def test_show_events(run: Run) -> None:
    assert run("show", "pebbles", "--events").stdout.splitlines() == ["event  pulling", "began  ·", "took   –"]
    data = json.loads(run("show", "pebbles", "--events", "-o", "json").stdout)
    assert data[1]["phases"] == {"pulling": {"occurs": True, "cases": {}}}


def test_show_interpretations_and_chance(run: Run) -> None:
    text = run("show", "pebbles", "--interpretations").stdout
    assert "  →  stays  a single pebble stays on the heap\n" in text
    assert json.loads(run("show", "pebbles", "--chance", "-o", "json").stdout) == [
        {"name": "begins", "does": "picks", "of": "seat"}
    ]


def test_show_prints_the_intermediate_form_of_a_rule_and_its_webassembly(run: Run) -> None:
    text = run("show", "pebbles", "--ir", "may_pull", "--players", "2").stdout
    assert text.startswith("# may_pull@0 of pebbles\nf.may_pull_0(p0: i32")
    assert "\n    # pebbles/family.yaml:" in text
    assert text == run("show", "pebbles", "may_pull", "--ir=built").stdout
    assert text.rstrip("\n") in run("show", "pebbles", "--ir").stdout
    wat = run("show", "pebbles", "--wat", "may_pull").stdout
    inlined = ";; inlined at every call; as built:\n"
    assert wat.startswith(f"{inlined};; may_pull@0 of pebbles\n(func $f.may_pull_0 (param $p0 i32)")
    assert run("show", "pebbles", "may_pull", "--ir=inline").stdout == f"{inlined.replace(';;', '#')}{text}"
    pulling = run("show", "pebbles", "pulling", "--ir=inline").stdout
    assert pulling != run("show", "pebbles", "pulling", "--ir").stdout
    assert wat.rstrip("\n") in run("show", "pebbles", "--wat").stdout
    data = json.loads(run("show", "pebbles", "--wat", "f.may_pull_0", "-o", "json").stdout)
    assert data == {
        "ruleset": "pebbles",
        "players": 2,
        "pass": data["pass"],
        "functions": [{"name": "f.may_pull_0", "rule": "may_pull", "wat": wat.rstrip("\n")}],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ir", "may_pul"], "no function is compiled from a rule `may_pul`; did you mean `may_pull`?"),
        (["--ir=biult", "may_pull"], "unknown pass `biult`; did you mean `built`? The passes are `built`"),
        (["may_pull"], "the name of a rule goes with --ir and --wat"),
        (["--ir", "--wat"], "are two views"),
        (["--layers", "--players", "2"], "--players and --set go with --ir and --wat"),
        (["--wat", "--players", "77"], "77"),
    ],
)
def test_show_says_what_is_wrong_with_a_wish_for_functions(run: Run, arguments: list[str], message: str) -> None:
    result = run("show", "pebbles", *arguments)
    assert result.exit_code != 0
    assert message in result.stderr


def test_show_a_policy(run: Run) -> None:
    (way,) = json.loads(run("show", "pebbles", "--policy", "eager", "-o", "json").stdout)
    text = "pull kind, number by -number, kind"
    assert (way["decision"], way["when"]) == ("draw", None)
    assert way["lines"][0] == {"name": None, "place": "pebbles/family.yaml:88:9", "text": text}
    assert f"pebbles/family.yaml:88:9  {text}" in run("show", "pebbles", "--policy", "eager").stdout
    assert "unknown policy `egaer`; there are `eager`, " in run("show", "pebbles", "--policy", "egaer").stderr
    assert "are two views" in run("show", "pebbles", "--policy", "eager", "--events").stderr


# --- validate


def test_validate_a_ruleset(run: Run) -> None:
    result = run("validate", "pebbles")
    assert (result.exit_code, result.stdout) == (0, "3 files, 1 ruleset, no errors\n")


def test_validate_a_file_in_what_contains_it(run: Run) -> None:
    data = json.loads(run("validate", str(ROOT / "pebbles" / "family.yaml"), "-o", "json").stdout)
    assert (data["files"], data["rulesets"], data["errors"]) == (3, ["pebbles"], 0)


def test_validate_policies_against_all_rulesets_of_the_family(run: Run) -> None:
    result = run("validate", "pebbles/others")
    assert result.exit_code == 1
    assert "E301 unknown decision `nothing_of_this_game`" in result.stdout
    assert result.stdout.endswith("4 files, 1 ruleset, 1 error; `regelwerk help E301` explains it\n")


def test_validate_tells_all_errors(run: Run, tmp_path: Path) -> None:
    root = changed(tmp_path, "family.yaml", "heap[kind] >= number", "haep[kind] >= number and nummber > 0")
    path = str(root / "pebbles" / "family.yaml")
    result = run("validate", path)
    assert result.exit_code == 1
    assert "unknown name `haep`; did you mean `heap`?" in result.stdout
    assert "unknown name `nummber`; did you mean `number`?" in result.stdout
    assert result.stdout.count("unknown name `haep`") == 1
    assert "2 errors" in result.stdout
    first = run("validate", path, "-o", "github").stdout.splitlines()[0]
    assert first.startswith("::error file=")
    assert first.endswith("title=E301::unknown name `haep`; did you mean `heap`?")


def test_validate_scenarios_against_the_rulesets_of_which_they_speak(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lone.yaml"
    path.write_text(
        "language: 2\nscenarios: folder/lone\nis:\n"
        '  - {name: takes all, ruleset: pebbles, players: 2, then: ["heap[black] == 7 and haep == 1"]}\n',
        encoding="utf-8",
    )
    result = run("validate", str(path))
    assert result.exit_code == 1
    assert "E301 unknown name `haep`" in result.stdout


def test_validate_a_file_alone(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lone.yaml"
    path.write_text("language: 2\nlibrary: folder/lone\nrules:\n  one:\n    does: |\n      let = 3\n", encoding="utf-8")
    result = run("validate", str(path))
    assert result.exit_code == 1
    assert f"{path.as_posix()}:6:11: E2" in result.stdout


def test_validate_a_folder(run: Run, tmp_path: Path) -> None:
    root = changed(tmp_path, "others.yaml", "    nothing_of_this_game:\n      prefer: |\n        any\n", "")
    assert run("validate", str(root)).stdout == "5 files, 1 ruleset, no errors\n"


@pytest.mark.parametrize(
    ("command", "target", "said"),
    [
        ("validate", "no-such-ruleset", "E031 unknown ruleset `no-such-ruleset`"),
        ("validate", "no/such-file", "E030 no file or folder `no/such-file`, and no file has this id"),
        ("validate", "nowhere.yaml", "E030 no file `nowhere.yaml`"),
        ("test", "no-such-ruleset", "E031 unknown ruleset `no-such-ruleset`"),
        ("test", "no/such-file", "E030 no file `no/such-file`"),
        ("lint", "nowhere/", "E030 no file `nowhere`"),
    ],
)
def test_what_is_not_there(run: Run, command: str, target: str, said: str) -> None:
    result = run(command, target)
    assert result.exit_code == 1
    assert said in result.output


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_a_folder_without_files(run: Run, command: str, tmp_path: Path) -> None:
    result = run(command, str(tmp_path))
    assert result.exit_code == 1
    assert f"E030 no `.yaml` file in the folder `{tmp_path.as_posix()}`" in result.output


SOME = ("goofspiel", "outpost", "germany-2018", "germany-2004", "bsw-france", "india-2018")
"""Rulesets of each family and edition. `.ci/run` validates and lints all."""


@pytest.mark.slow
def test_what_is_shipped_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file, with each overlay on some rulesets."""
    shelf = shelf_for()
    monkeypatch.setattr(
        validator, "rulesets_of", lambda shelf: [each for each in rulesets_of(shelf) if each.id in SOME]
    )
    files = [id for kind in KINDS if kind not in ("ruleset", "scenarios", "words") for id in shelf.ids(kind)]
    found = validate([*SOME, *files])
    assert found.diagnostics == []
    assert found.rulesets == {*SOME}


# --- lint


@pytest.fixture
def pond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A game with an overlay that repeats one of its rules with another number."""
    for folder in ("_base", "L002-copied-for-a-number"):
        shutil.copytree(BAD / folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pond"


def test_lint_tells_what_it_finds(run: Run, pond: Path) -> None:
    result = run("lint", "pond")
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "pond/overlays/bad.yaml:9:7: L002 `storm_comes` equals `storm_comes` of `pond` except"
    )
    assert "   note: `storm_comes` stands here (pond/family.yaml:151:7)\n" in result.stdout
    assert result.stdout.endswith("\n1 found; `regelwerk help L002` explains it\n")
    assert "# L002: rules that differ only in constants\n" in run("help", "L002").stdout


def test_lint_for_programs(run: Run, pond: Path) -> None:
    result = run("lint", "pond", "-o", "json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["rulesets"] == ["pond"]
    (finding,) = data["findings"]
    assert (finding["code"], finding["severity"]) == ("L002", "warning")
    assert finding["message"].endswith("except for constants: `2` for `3`")
    places = [finding["place"], finding["notes"][0]["place"]]
    assert [(place["file"], place["line"]) for place in places] == [
        ("pond/overlays/bad.yaml", 9),
        ("pond/family.yaml", 151),
    ]
    first, *more = run("lint", "pond", "-o", "github").stdout.splitlines()
    assert first.startswith("::warning file=pond/overlays/bad.yaml,line=9,col=7,title=L002::`storm_comes` equals")
    assert more == []


@pytest.mark.parametrize(
    ("target", "code"),
    [("pond", 1), ("pond/pond.yaml", 1), ("pond/family.yaml", 1), ("pond/overlays", 1), ("pond/tools.yaml", 0)],
)
def test_lint_tells_what_touches_a_target(run: Run, pond: Path, target: str, code: int) -> None:
    result = run("lint", target)
    assert (result.exit_code, "L002" in result.stdout) == (code, code == 1)


def test_lint_as_it_is_asked_for(run: Run, pond: Path) -> None:
    assert run("lint", "pond", "--off", "L002").stdout == "nothing found\n"
    told = run("lint", "pond", "--error", "L002", "-o", "json")
    assert [finding["severity"] for finding in json.loads(told.stdout)["findings"]] == ["error"]
    unknown = run("lint", "pond", "--off", "L0002")
    assert (unknown.exit_code, "unknown lint code `L0002`; did you mean `L002`?" in unknown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("# lint: L002 the wind is another one", 0),
        ("# first\n      # lint: L002 the wind is another one\n      # last", 0),
        ("# lint: L001 the wind is another one", 1),
        ("# lint: L002", 1),  # no reason
    ],
)
def test_lint_heeds_what_a_comment_says_is_meant(run: Run, pond: Path, comment: str, found: int) -> None:
    path = pond / "overlays" / "bad.yaml"
    text = path.read_text(encoding="utf-8")
    line = text.splitlines()[8]
    path.write_text(text.replace(line, f"      {comment}\n{line}"), encoding="utf-8")
    assert run("lint", "pond").exit_code == found


def test_lint_looks_at_what_was_asked(run: Run, pond: Path) -> None:
    """A neighbour with an error is skipped, which is said; in what was asked it is told."""
    wrong = pond / "overlays" / "wrong.yaml"
    wrong.write_text(
        'language: 2\noverlay: pond/wrong\nover: [pond]\nrules: {a() -> int: {is: "b"}}\n', encoding="utf-8"
    )
    result = run("lint", "pond/overlays/bad.yaml")
    assert (result.exit_code, "L002" in result.stdout, "\n1 found; " in result.stdout) == (1, True, True)
    assert result.stderr == "skipped because of errors: `pond` with `pond/wrong`\n"
    asked = run("lint", "pond/overlays/wrong.yaml")
    assert (asked.exit_code, "E301 unknown name `b`" in asked.stderr) == (1, True)


def test_lint_of_a_folder_says_which_files_it_skipped(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "pebbles"
    shutil.copytree(ROOT / "pebbles", folder)
    (folder / "scenarios").mkdir(exist_ok=True)
    (folder / "scenarios/broken.yaml").write_text(
        "language: 2\nscenarios: pebbles/broken\nis: [{name: x, nonsense: 1}]\n", encoding="utf-8"
    )
    said = run("lint", str(folder)).stderr
    assert said.startswith("skipped because of errors: ")
    assert "scenarios/broken.yaml`" in said
    assert "skipped" not in run("lint", str(folder / "pebbles.yaml")).stderr


@pytest.mark.parametrize("target", ["pnod", "pond/pnod.yaml"])
def test_lint_what_is_not_there(run: Run, pond: Path, target: str) -> None:
    result = run("lint", target)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "did you mean `pond" in result.stderr


# --- help


def test_help_of_a_code(run: Run) -> None:
    assert "E101" in run("help", "e101").stdout
    assert "E101" in run("help").stdout
    result = run("help", "E1O1")
    assert result.exit_code == 2
    assert "unknown code 'E1O1'" in result.stderr


# --- try


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("heap[white]", "9  (int)"),
        ("heap", '{"white": 9, "black": 6}  (bag of pebble)'),
        ("[s in seats where s.taken[black] > 0]", "[]  (list of seat)"),
        ("first(s in seats where s.taken[black] > 0)", "null  (seat?)"),
        ("may_pull(white, 3)", "true  (bool)"),
        ("last_pebble", '"stays"  (last_pebble)'),
        ("1 .. 3", "[1, 2, 3]  (list of int)"),
    ],
)
def test_try(run: Run, expression: str, shown: str) -> None:
    assert run("try", "pebbles", expression, "--seed", "1").stdout == shown + "\n"


def test_types_are_named_as_the_author_names_a_node(run: Run) -> None:
    assert run("try", "germany-2018", '"Essen"', "--seed", "1").stdout == '"Essen"  (city)\n'
    assert (
        json.loads(run("try", "germany-2018", '["Essen"]', "--seed", "1", "-o", "json").stdout)["type"]
        == "list of city"
    )


def test_try_with_settings(run: Run) -> None:
    result = run("try", "pebbles", "largest()", "--set", "most=5", "--seed", "1", "-o", "json")
    assert json.loads(result.stdout) == {"value": 5, "type": "int"}


def test_try_what_is_no_expression(run: Run) -> None:
    result = run("try", "pebbles", "haep[white]", "--seed", "1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "expression:1:1: E301 unknown name `haep`; did you mean `heap`?" in result.stderr
    assert run("try", "pebbles", "pulling()").exit_code == 2


def test_try_what_fails(run: Run) -> None:
    result = run("try", "pebbles", "seats[7].taken[white]", "--seed", "1")
    assert result.exit_code == 1
    assert "there is no item 7" in result.stderr


# --- wrong usage


def test_unknown_commands_and_rulesets(run: Run) -> None:
    result = run("rnu")
    assert result.exit_code == 2
    assert "did you mean 'run'?" in result.stderr
    result = run("run", "pebles")
    assert result.exit_code == 1
    assert "unknown ruleset `pebles`; did you mean `pebbles`?" in result.stderr


def test_players_that_are_refused(run: Run) -> None:
    result = run("run", "pebbles", "--players", "7")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: `pebbles` is for 2 to 4 players, not 7: the heap is too small for more\n"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("most=0", "`most`: `number > 0` does not hold"),
        ("most=many", "got 'many', want a whole number"),
        ("mots=3", "unknown setting `mots`; did you mean `most`?"),
        ("last_pebble=stay", "want one of `stays`, `goes`"),
        ("most", "want KEY=VALUE"),
    ],
)
def test_settings_that_are_refused(run: Run, setting: str, message: str) -> None:
    result = run("run", "pebbles", "--set", setting)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_broken_ruleset_gives_its_errors(run: Run, tmp_path: Path) -> None:
    root = changed(tmp_path, "family.yaml", "heap[kind] >= number", "haep[kind] >= number")
    for command in (["run"], ["show"], ["simulate"], ["play"]):
        result = run(*command, str(root / "pebbles" / "pebbles.yaml"))
        assert result.exit_code == 1
        assert "E301 unknown name `haep`" in result.stderr
