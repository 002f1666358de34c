"""Mistakes at the command line: each message says what to do instead, in the same words in every command."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from unicodedata import is_normalized, normalize

import pytest

from interpreter.base.suggest import did_you_mean_one_of
from interpreter.cli.main import COMMANDS
from interpreter.engine.values import Names
from interpreter.language.types import NODE
from interpreter.loading.load import load
from interpreter.reading.files import KINDS
from tests.cli.conftest import Run
from tests.play.toy import changed


@pytest.mark.parametrize("command", COMMANDS)
def test_help_knows_the_commands(run: Run, command: str) -> None:
    result = run("help", command)
    assert (result.exit_code, result.stdout) == (0, run(command, "--help").stdout)


def test_help_of_a_command_for_programs_and_misspelt(run: Run) -> None:
    about = json.loads(run("help", "run", "-o", "json").stdout)
    assert (about["command"], about["page"].splitlines()[0]) == ("run", "Usage: regelwerk run [OPTIONS] RULESET")
    assert "unknown code 'runn'; did you mean 'run'?" in run("help", "runn").stderr


def test_show_with_a_name_leads_to_explain(run: Run) -> None:
    result = run("show", "pebbles", "may_pull")
    assert result.exit_code == 2
    assert "`regelwerk explain pebbles may_pull` tells about a name" in result.stderr
    assert run("explain", "pebbles", "may_pull").exit_code == 0


@pytest.mark.parametrize(
    ("target", "message"), [("nosuch.yaml", "E030 no file `nosuch.yaml`"), ("nosuch", "E031 unknown ruleset `nosuch`")]
)
def test_a_missing_target_of_test_is_reported_once(run: Run, target: str, message: str) -> None:
    result = run("test", target)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "suffixes"),
    [
        (["rulebook", "pebbles", "x.pdf"], ".md, .markdown, .html or .htm"),
        (["rulebook", "pebbles", "x.pdf", "--sheet"], ".md, .markdown, .html or .htm"),
        (["coverage", "--html", "x.pdf"], ".html or .htm"),
        (["map", "pebbles", "x.pdf"], ".svg, .png, .csv, .graphml, .gml, .geojson or .json"),
        (["compare", "pebbles", "pebbles", "--report", "x.pdf"], ".html"),
        (["build", "pebbles", "x.pdf"], ".wasm"),
        (["simulate", "pebbles", "--charts", "x.pdf"], ".html or .png"),
        (["simulate", "pebbles", "--rows", "x.pdf"], ".csv, .parquet, .duckdb or .jsonl"),
    ],
)
def test_a_file_with_another_ending_is_refused_before_work(run: Run, arguments: list[str], suffixes: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: got `x.pdf`, want a file that ends in {suffixes}\n" in result.stderr
    assert not Path("x.pdf").exists()


SEATED = (
    ("run", "pebbles"),
    ("play", "pebbles"),
    ("simulate", "pebbles"),
    ("bench", "pebbles"),
    ("try", "pebbles", "1"),
    ("build", "pebbles", "game.wasm"),
    ("rulebook", "pebbles"),
    ("show", "pebbles", "--ir"),
    ("verify", "pebbles"),
    ("tune", "greedy", "--for", "pebbles"),
    ("test", "--record", "pebbles"),
    ("compare", "pebbles", "pebbles", "--games", "2"),
)


@pytest.mark.parametrize("arguments", SEATED, ids=lambda arguments: arguments[0])
def test_a_number_of_players_is_refused_alike(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--players", "9")
    refusal = "Error: `pebbles` is for 2 to 4 players, not 9: the heap is too small for more\n"
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", refusal)


@pytest.mark.parametrize("command", ["run", "show", "simulate", "play", "test", "lint", "validate", "serve"])
@pytest.mark.parametrize("name", ["Pebbles", "PEBBLES"])
def test_an_id_in_capitals_leads_to_the_id(run: Run, command: str, name: str) -> None:
    result = run(command, name)
    assert (result.exit_code, "did you mean `pebbles`?" in result.output) == (1, True)


def test_an_overlay_in_capitals_leads_to_its_id(run: Run) -> None:
    assert "did you mean `power-grid/robots`?" in run("run", "germany-2018", "--with", "power-grid/Robots").stderr


@pytest.mark.parametrize("command", ["run", "show", "simulate", "play", "test", "lint", "serve"])
def test_a_family_names_its_rulesets(run: Run, command: str) -> None:
    result = run(command, "power-grid")
    assert result.exit_code == 1
    assert "E034 `power-grid` is a family, not a ruleset\n   help: rulesets for it: `australia-2004`" in result.stderr
    assert "`germany-2018`" in result.stderr


def test_an_overlay_is_added_to_a_ruleset(run: Run, tmp_path: Path) -> None:
    path = changed(tmp_path, "family.yaml", "", "") / "pebbles" / "overlays" / "more.yaml"
    path.parent.mkdir()
    path.write_text("language: 2\noverlay: pebbles/more\nover: [pebbles]\n", encoding="utf-8")
    result = run("run", str(path))
    assert result.exit_code == 1
    assert ":2:10: E034 `pebbles/more` is an overlay, not a ruleset\n" in result.stderr
    assert f"help: `--with {path.as_posix()}` adds it to a ruleset; rulesets for it: `pebbles`\n" in result.stderr
    assert "help: `--with power-grid/robots` adds it to a ruleset; " in run("run", "power-grid/robots").stderr
    path.write_text("language: 2\noverlay: pebbles/more\nover: [else]\n", encoding="utf-8")
    assert "adds it to a ruleset; `regelwerk list` lists all rulesets\n" in run("run", str(path)).stderr


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ruleset"])
def test_every_kind_of_file_has_its_article(run: Run, tmp_path: Path, kind: str) -> None:
    id = "some/file" if "{folder}" in KINDS[kind] else "some"
    path = tmp_path / "file.yaml"
    path.write_text(f"language: 2\n{kind}: {id}\n", encoding="utf-8")
    article = {"edition": "an ", "overlay": "an "}.get(kind, "" if kind.endswith("s") else "a ")
    assert f"E034 `{id}` is {article}{kind}, not a ruleset" in run("run", str(path)).stderr


@pytest.mark.parametrize("command", ["whatif", "replay"])
def test_a_ruleset_is_no_saved_game(run: Run, tmp_path: Path, command: str) -> None:
    remedy = "; `regelwerk run RULESET --log FILE` saves a game\n"
    result = run(command, "pebbles")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(f"Error: pebbles: no such file{remedy}")
    assert run("map", "nosuch.jsonl").stderr.endswith(f"Error: nosuch.jsonl: no such file{remedy}")
    file = tmp_path / "pebbles.yaml"
    file.write_text("language: 2\nruleset: pebbles\n", encoding="utf-8")
    assert run(command, str(file)).stderr.endswith(f"Error: {file}: not a saved game{remedy}")


@pytest.mark.parametrize(
    "arguments",
    [
        *(arguments for arguments in SEATED if arguments[0] != "compare"),
        ("compare", "pebbles", "pebbles"),
        ("compare", "pebbles", "pebbles", "--games", "2"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_unknown_setting_lists_the_settings(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--set", "x=y")
    assert (result.exit_code, result.stdout) == (2, "")
    assert " setting `x`; known here: `last_pebble`, `most`\n" in result.stderr

    assert did_you_mean_one_of("x", []) == "; known here: none"


@pytest.mark.parametrize("quotes", ["'", '"'])
def test_the_language_is_a_number(run: Run, tmp_path: Path, quotes: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"language: {quotes}2{quotes}\nruleset: mine\n", encoding="utf-8")
    message = run("run", str(tmp_path / "mine.yaml")).stderr
    assert ":1:11: E035 got the text `2` as language, want the number `2`\n" in message
    assert "help: write the number without quotes: `language: 2`\n" in message


@pytest.mark.parametrize("command", ["run", "validate", "lint"])
@pytest.mark.parametrize(
    ("text", "format"),
    [
        ('<?xml version="1.0"?>\n<game>\n\t<player/>\n\t<player/>\n</game>\n', "XML"),
        ("<!DOCTYPE html>\n<html><body style='a: b'>x: y</body></html>\n", "XML"),
        ("<game>\n  <player name='a'/>\n</game>\n", "XML"),
        ('{\n\t"ruleset": "pond",\n\t"players": [2, 3]\n}\n', "JSON"),
        ('{"title": "Pond", "regions": ["a"]}\n', "JSON"),
        ('[\n  {"title": "Pond"}\n]\n', "JSON"),
        ('[\n\t{"title": "Pond"}\n]\n', "JSON"),
        ('{"v": 1}\n{"v": 2}\n', "JSON"),
    ],
)
def test_other_formats_are_said_to_be_no_yaml(run: Run, tmp_path: Path, command: str, text: str, format: str) -> None:
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    result = run(command, str(tmp_path / "mine.yaml"))
    assert result.exit_code == 1
    assert [line.partition("mine.yaml")[2] for line in result.output.splitlines() if ": E0" in line] == [
        f":1:1: E013 got {format}, want YAML"
    ]


def test_json_that_is_a_ruleset_is_read(run: Run, tmp_path: Path) -> None:
    root = changed(tmp_path, "family.yaml", "", "")
    text = '{"language": 2, "ruleset": "pebbles", "family": "pebbles", "edition": "pebbles/plain"}\n'
    (root / "pebbles" / "pebbles.yaml").write_text(text, encoding="utf-8")
    assert "E0" not in run("validate", str(root / "pebbles" / "pebbles.yaml")).output


FORMS = ["u\u0308", "\u212b", "a\u0323\u0302", "a\u0302\u0323", "u\u0308" * 50, "\u1112\u1161\u11ab"]
BOARD = """\
language: 2
map: power-grid/forms
title: Forms
kinds: {region: [one, two, three]}
nodes: |
  name | region
  1st%s | one
  B%s | two
  C | three
links: |
  from | to | cost
  1st%s | B%s | 5
  C | B%s | 5
tables:
  regions_in_play: {amends: power-grid, laws: {enough_regions: nothing}}
  end_cities: {amends: power-grid, laws: {enough_cities: nothing}}
rules:
  dearest() -> int: distance(["1st%s"], "B%s", city)
"""


@pytest.mark.parametrize("letter", FORMS)
def test_names_that_look_the_same_are_the_same(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, letter: str
) -> None:
    """In files, in rule texts, at the command line and in choices."""
    other = normalize("NFC", letter)
    letters = (letter, letter, other, letter, other, letter, other)
    path = tmp_path / "power-grid" / "maps" / "forms.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(BOARD % letters, encoding="utf-8")
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path))
    for form in (letter, other):
        assert run("try", "forms-2018", f'distance(["1st{form}"], "C", city)').stdout == "10  (int?)\n"
    names = Names(load("forms-2018").model)
    assert names.value(f"B{letter}", NODE) == names.value(f"B{other}", NODE) == 1
    assert run("fmt", str(path)).exit_code == 0
    assert is_normalized("NFC", path.read_text(encoding="utf-8"))


def test_an_escape_composes_too(run: Run, tmp_path: Path) -> None:
    root = changed(tmp_path, "pebbles.yaml", "title: Pebbles", 'title: "u\\u0308"')
    assert "\u00fc (" in run("run", str(root / "pebbles" / "pebbles.yaml"), "--seed", "1").stdout


OVERLAY = """\
language: 2
overlay: pebbles/threes
over: [pebbles]
rules:
  largest:
    replaces: pebbles
    is: 3
  left:
    replaces: pebbles
    is: rest_of(count(heap))
  rest_of(number) -> int: number
  unused() -> int: most otherwise (1 if last_pebble == stays else 0)
"""


@pytest.fixture
def threes(tmp_path: Path) -> str:
    """Return the path of a ruleset with an overlay that replaces the rules that read its settings."""
    root = changed(
        tmp_path, "pebbles.yaml", "edition: pebbles/plain", "edition: pebbles/plain\noverlays: [pebbles/threes]"
    )
    path = root / "pebbles" / "overlays" / "threes.yaml"
    path.parent.mkdir()
    path.write_text(OVERLAY, encoding="utf-8")
    return str(root / "pebbles" / "pebbles.yaml")


@pytest.mark.parametrize("setting", ["most=2", "last_pebble=goes"])
@pytest.mark.parametrize("arguments", SEATED, ids=lambda arguments: arguments[0])
def test_a_setting_that_no_rule_reads_is_refused(
    run: Run, threes: str, arguments: tuple[str, ...], setting: str
) -> None:
    result = run(*(threes if word == "pebbles" else word for word in arguments), "--set", setting)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"`{setting.partition('=')[0]}` has no effect here: no rule reads it\n" in result.stderr


def test_a_setting_that_one_of_two_rulesets_reads_is_allowed(run: Run, threes: str) -> None:
    assert run("compare", "pebbles", threes, "--set", "most=2").exit_code == 0
    assert run("run", "germany-2004", "--with", "power-grid/robots:1", "-p", "2", "--seed", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        (("explain", "may_pull", "pebbles"), "explain pebbles may_pull"),
        (("explain", "who has", "pebbles"), "explain pebbles 'who has'"),
        (("explain", "nothing.yaml", "pebbles"), "explain pebbles nothing.yaml"),
        (("try", "count(seats)", "pebbles"), "try pebbles 'count(seats)'"),
    ],
)
def test_swapped_arguments_are_noticed(run: Run, arguments: tuple[str, ...], order: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"the ruleset or saved game comes first: `regelwerk {order}`" in result.stderr


def test_swapped_arguments_with_a_saved_game(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    run("run", "pebbles", "--players", "2", "--seed", "1", "--log", str(log))
    for place in (str(log), f"{log}@1"):
        assert f"explain {place} 'pull white 1'`" in run("explain", "pull white 1", place).stderr
        assert f"try {place} players`" in run("try", "players", place).stderr


def test_two_arguments_of_which_none_is_a_ruleset(run: Run) -> None:
    assert "E031 unknown ruleset `pebbels`; did you mean `pebbles`?" in run("explain", "pebbels", "may_pull").stderr


SAVES = "`regelwerk run RULESET --log FILE` saves a game"
LISTS = "`regelwerk list` lists all rulesets"
LEADS_ON = {
    # ids
    "run": "Missing argument 'RULESET'. `regelwerk list` lists the rulesets",
    "run Germany": "did you mean `germany-2004`, `germany-2018` or `bsw-germany`?",
    "run germany_2018": "did you mean `germany-2018`?",
    "run Power-Games": LISTS,
    "run power-grid/germany": "did you mean `germany-2004`, `germany-2018` or `bsw-germany`?",
    "run power-grid/germany-2018": "is a map, not a ruleset\n   help: rulesets for it: `germany-2018`",
    "run power-grid/scenarios": LISTS,
    "run ./pebbles": "`pebbles` is the id of a ruleset: type it without path and suffix",
    "run pebbles.yaml": "`pebbles` is the id of a ruleset: type it without path and suffix",
    "run peebles.yaml": "no file `peebles.yaml`; did you mean `pebbles`?",
    "run FOLDER": "is a folder, want a file\n   help: rulesets in it: `FOLDER/pebbles/pebbles.yaml`",
    "run EMPTY": f"is a folder, want a file\n   help: {LISTS}",
    "run LOG": "got a saved game, want YAML",
    "run robots": "`power-grid/robots` is an overlay, not a ruleset\n   help: `--with power-grid/robots` adds it",
    "run quebec": "`power-grid/quebec` is a map, not a ruleset\n   help: rulesets for it: `quebec-2004`, `quebec-2018`",
    "run germany-2004+robots+konzern": "help: add overlays with `germany-2004 --with robots --with konzern`",
    "explain germany-2004+ minimum_bid": "help: add overlays with `germany-2004 --with OVERLAY`",
    "rulebook power-grid/quebc x.html --sheet": "no file `power-grid/quebc`; did you mean `power-grid/quebec`?",
    "compare --all power-gird": "unknown ruleset `power-gird`; did you mean `power-grid`?",
    "validate nosuch": LISTS,
    "new map town --for nosuch": LISTS,
    "fmt pebbles": "no such file or folder; its files are in `",
    # overlays
    "run pebbles --with nosuch": "unknown overlay `pebbles/nosuch`",
    "run germany-2018 --with nosuch": "known here: `power-grid/beginners`, `power-grid/hidden-money`, ",
    "run germany-2018 --with robot": "did you mean `power-grid/robots`?",
    "run germany-2018 --with Robots": "did you mean `power-grid/robots`?",
    "run germany-2018 --with germany-2004": "`power-grid/germany-2004` is a map",
    "run germany-2018 --with power-grid/2004": "`power-grid/2004` is an edition",
    "run germany-2018 --without robots": "overlays that it lists: none",
    # options and arguments
    "run pebbles -players 3": "got `layers`, want a number from 1; did you mean `--players`?",
    "run pebbles --log FOLDER/no/game.jsonl": "FOLDER/no: no such folder",
    "show pebbles --ir nosuch": "`regelwerk show pebbles --layers` lists the rules",
    "new": "KIND is missing: map, overlay, edition, game",
    "new game": "NAME is missing: name (lower-case letters, digits, `-`)",
    "help E999": "unknown code 'E999'; `regelwerk help` lists all codes",
    "whatif LOG": "Missing option '--at'. Number of choices before the decision to change.",
    "whatif": f"Missing argument 'LOG'. {SAVES}",
    "explain pebbles zebra": "`regelwerk show pebbles --layers` lists the names; a move is explained in a saved game",
    "explain pebbles": "Missing argument 'NAME|NUMBER|MOVE'. Type a name of the rules",
    "try pebbles": "Missing argument 'EXPR'. Type an expression, such as `round`",
    "play": f"Missing argument 'RULESET|LOG[@N]'. `regelwerk list` lists the rulesets; {SAVES}",
    "build pebbles": "Missing argument 'FILE.wasm'. Type the name of the file to write",
    "compare": "Missing argument 'A B'. `regelwerk list` lists the rulesets",
    "tune": "Missing argument 'POLICY'. `regelwerk show RULESET` lists policies",
    "tune weighed --for pebbles --only nosuch": "`weighed` has no weight `nosuch`; known here: ",
    "coverage --rulebook nosuch": "no ruleset follows 'nosuch'; known here: 'australia', ",
    "coverage --rulebook germany-usa-2018 --kind nosuch": "known here: `advice`, `component`, `example`",
    "coverage pebbles": "`pebbles` follows no rulebook; `rulebook` of an edition names one",
    # files
    "replay TEXT": f"line 1 is not a line of a saved game; {SAVES}",
    "replay EMPTY/none.jsonl": f"no such file; {SAVES}",
    "play TEXT": f"line 1 is not a line of a saved game; {SAVES}",
    "test EMPTY": "has no scenarios; `regelwerk test --record RULESET --to FILE` writes one",
    "test FOLDER/pebbles/pebbles.yaml": "name a ruleset by its id, or the folder of its scenarios",
    "test LOG": "`regelwerk replay` and `play` read saved games",
}
"""Mistyped commands, and what the answer has to say."""


@pytest.mark.parametrize("line", LEADS_ON)
def test_a_mistake_leads_on(run: Run, tmp_path: Path, line: str) -> None:
    folder = changed(tmp_path / "games", "family.yaml", "", "").as_posix()
    (tmp_path / "text.txt").write_text("hello\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    log = (tmp_path / "game.jsonl").as_posix()
    assert "LOG" not in line.split() or run("run", "pebbles", "--seed", "1", "--log", log).exit_code == 0
    made = {"FOLDER": folder, "TEXT": f"{tmp_path}/text.txt", "EMPTY": f"{tmp_path}/empty", "LOG": log}

    def put(text: str) -> str:
        for name, place in made.items():
            text = re.sub(rf"(?<![A-Z]){name}\b(?!@)", place, text)
        return text

    result = run(*(put(word) if "|" not in word else word for word in line.split()))
    assert result.exit_code in (1, 2)
    said = LEADS_ON[line]
    expected = said if "Missing" in said or SAVES in said else put(said)
    assert expected in result.output


IN_RULES = {
    (
        "count(who.taken)",
        "if left() > 0 then 1 else 2",
    ): "help: a value is `a if test else b`; a block opens with `if test:`",
    ("count(who.taken)", "50% of left()"): "help: write `… * 50 div 100`",
    ("require number > 0", 'require number > "0"'): "help: write a number without quotes: `0`",
    ("require number > 0", "require number"): "help: compare it, as in `… > 0`",
    ("count(heap) -", "len(heap) -"): "unknown rule `len`\n",
    ("note began(lot)", "print(lot)"): "help: declare an event, and write `note event(…)`",
    ("- count(who.taken)", "- seats.taken"): "help: an item may have it: `[x.taken for x in …]`, `first(…).taken`",
    ("last_pebble == stays", "last_pebble is stays"): "help: `==` compares values; `is` tests the kind of a card",
    ("setup: prepare", "setup: begin_it"): "help: declare it under `rules`",
    ("if left() > 0:", "if left() > 0"): "note: decisions here: none",
    ("title: Pebbles", "players_of_it: 3\ntitle: Pebbles"): "help: known here: `language`, `family`, `title`, ",
    ("title: Pebbles", "title: Pebbles\n<<<<<<< ours"): "help: a merge of Git left two versions here",
    ("round: [pulling]", "round: [pulling, #x]"): "E001 `#` starts a comment: the list in `[` is not closed",
    ('"{who} has', '"{who}" has'): "help: in double quotes write `\\\"` for a quote, in single quotes `''`",
    ("settings:", "settings: &settings\nabout: *setings"): "help: put text that starts with `*` in double quotes",
}


@pytest.mark.parametrize(("mistake", "said"), IN_RULES.items(), ids=[new for _, new in IN_RULES])
def test_a_mistake_in_a_file_leads_on(run: Run, tmp_path: Path, mistake: tuple[str, str], said: str) -> None:
    path = changed(tmp_path, "family.yaml", *mistake) / "pebbles" / "pebbles.yaml"
    for ends in ("\n", "\r\n"):
        family = path.parent / "family.yaml"
        family.write_bytes(family.read_bytes().replace(b"\n", ends.encode()))
        result = run("validate", str(path))
        assert (result.exit_code, said in result.stdout) == (1, True), result.stdout


@pytest.mark.parametrize(
    ("encoding", "title", "code"),
    [("utf-16", "Größe", "E002"), ("utf-16-be", "Pond", "E003"), ("latin-1", "Größe", "E002")],
)
def test_another_encoding_says_what_to_do(run: Run, tmp_path: Path, encoding: str, title: str, code: str) -> None:
    (tmp_path / "mine.yaml").write_bytes(f"language: 2\nruleset: mine\ntitle: {title}\n".encode(encoding))
    result = run("validate", str(tmp_path / "mine.yaml"))
    assert f": {code} " in result.stdout
    assert "   help: save the file as UTF-8 in your editor\n" in result.stdout


def test_a_port_in_use_leads_to_another(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        result = run("serve", "pebbles", "--port", port, "--no-browser", "--data", str(tmp_path / "tables.sqlite"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"Error: cannot listen at 127.0.0.1:{port}: address already in use; `--port N` takes another one\n" in (
        result.stderr
    )


@pytest.mark.parametrize("command", ["run --log", "test --record --to", "rulebook", "map", "build", "simulate --rows"])
def test_a_folder_is_no_file_to_write(run: Run, tmp_path: Path, command: str) -> None:
    suffix = {"rulebook": ".html", "map": ".svg", "build": ".wasm", "simulate --rows": ".csv"}.get(command, "")
    (tmp_path / f"folder{suffix}").mkdir()
    words, ruleset = command.split(), "goofspiel" if command != "map" else "germany-2018"
    result = run(words[0], ruleset, *words[1:], str(tmp_path / f"folder{suffix}"))
    assert result.exit_code in (1, 2)
    assert "is a directory" in result.stderr
    assert result.stdout == ""
