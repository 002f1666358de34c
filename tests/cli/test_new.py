"""``regelwerk new``: what it writes is right at once, and it never writes over anything."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from interpreter.authoring.scaffold import new_overlay
from interpreter.base.paths import schema_folder
from interpreter.cli.commands import new
from interpreter.loading.load import load
from tests.cli.conftest import Run

POND = Path(__file__).parents[1] / "bad" / "_base" / "pond"
MADE = {
    "game": ["game", "stones"],
    "game with a name like a number": ["game", "2048"],
    "map": ["map", "my-town", "--for", "usa-2018"],
    "map of a small family": ["map", "pond/other-lake", "--for", "pond"],
    "map with tables": ["map", "my-town", "--for", "bsw-germany"],
    "overlay": ["overlay", "short", "--for", "goofspiel"],
    "overlay of a larger game": ["overlay", "short", "--for", "germany-2004"],
    "edition": ["edition", "2024", "--for", "germany-2018", "--title", "Rules: ours, since 2024"],
    "edition of a small family": ["edition", "ours", "--for", "pond"],
    "overlay for a path": ["overlay", "short", "--for", str(POND / "pond.yaml")],
}


@pytest.fixture
def folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which one stands, with a small family in another folder of rulesets."""
    shutil.copytree(POND, tmp_path / "others" / "pond")
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    monkeypatch.setenv("REGELWERK_PATH", str(tmp_path / "others"))
    return tmp_path / "mine"


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_what_is_new_validates_and_runs(run: Run, folder: Path, name: str) -> None:
    result = run("new", *MADE[name], "--in", ".")
    assert result.exit_code == 0, result.stderr
    written = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("wrote ")]
    assert sorted(written) == [path.relative_to(folder).as_posix() for path in files(folder)]
    for path in files(folder):
        text = path.read_text(encoding="utf-8")
        assert "«" not in text
        assert text.startswith(("# ", "language: 2\n"))
        for here in (folder, Path.home(), Path.cwd(), schema_folder(), Path(sys.prefix)):
            assert str(here) not in text, "no path of a machine stands in a file"
    assert run("fmt", "--check", ".").exit_code == 0
    commands = [line.strip() for line in result.stdout.partition("Next:\n")[2].splitlines()]
    ran = []
    for line in commands:
        arguments = line.rpartition("regelwerk ")[2]
        verb = arguments.split()[0]
        if verb in ("validate", "run", "test"):
            done = run(*arguments.split(), *(["--seed", "3"] if verb == "run" else []))
            assert done.exit_code == 0, done.output
            assert verb != "validate" or "no errors\n" in done.stdout, done.stdout
            assert verb != "run" or "  place  player" in done.stdout, done.stdout
            ran.append(verb)
    assert ran == ["validate", "run", "test"] if name.startswith("game") else ["validate", "run"]


def test_the_game_has_tests_that_pass(run: Run, folder: Path) -> None:
    run("new", "game", "stones", "--in", ".")
    assert run("test", "stones/scenarios/taking.yaml").stdout == "2 passed\n"
    family = folder / "stones" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    family.write_text(text.replace("number != before", "number != before + 9"), encoding="utf-8")
    assert run("test", "stones/scenarios/taking.yaml").exit_code == 1


def test_an_overlay_holds_where_it_is_put_on(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "overlay", "short", "--for", "goofspiel", "--in", ".", "--title", "A short game")
    monkeypatch.setenv("REGELWERK_PATH", ".")
    assert "In force: A short game" in run("run", "goofspiel", "--with", "goofspiel/short", "--seed", "1").stdout
    assert "In force" not in run("run", "goofspiel", "--seed", "1").stdout


def test_an_overlay_is_put_on_by_its_path(run: Run, folder: Path) -> None:
    assert run("new", "overlay", "rich", "--for", "goofspiel", "--in", ".").exit_code == 0
    rich = ("--with", "goofspiel/overlays/rich.yaml")
    told = run("run", "goofspiel", *rich, "--seed", "1", "--log", "game.jsonl").stdout
    assert "In force: Rich" in told
    assert run("validate", "goofspiel", *rich).exit_code == 0
    assert "all the same" in run("replay", "game.jsonl").stdout
    assert "E036 got a family, want an overlay" in run("run", "pond", "--with", "../others/pond/family.yaml").stderr
    assert "E030 no file `rich.yaml`" in run("run", "goofspiel", "--with", "rich.yaml").stderr
    shutil.copy(folder / "goofspiel/overlays/rich.yaml", folder)
    said = run("run", "goofspiel", "--with", "rich.yaml").stderr
    assert "the overlay `goofspiel/rich` is looked for in `goofspiel/overlays/rich.yaml`" in said


def test_a_map_has_the_size_of_the_other_and_hangs_together(run: Run, folder: Path) -> None:
    run("new", "map", "my-town", "--for", "usa-2018", "--in", ".")
    assert run("try", "power-grid/my-town-2018.yaml", "count(city)").stdout.split()[0] == "42"
    whole = "connected(city) and all(connected([c in city where c.region == r]) for r in region)"
    assert run("try", "my-town-2004", whole).stdout.split()[0] == "true"


def test_what_is_new_is_known_by_its_id_in_the_same_folder_and_its_games_beside_it(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("new", "map", "pond/other-lake", "--for", "pond", "--in", ".").exit_code == 0
    (folder / "broken.yaml").write_text("a: [\n")
    (folder / "deploy").mkdir()
    (folder / "deploy" / "other-lake.yaml").write_text("a: [\n")  # unlike what is looked for, but for its name
    assert run("run", "other-lake", "--seed", "1", "--log", "game.jsonl").exit_code == 0
    row = next(line for line in run("list").stdout.splitlines() if line.startswith("other-lake"))
    assert "pond/other-lake.yaml" in row
    for arguments in (
        ("replay", "game.jsonl"),
        ("map", "game.jsonl@3", "board.svg"),
        ("explain", "game.jsonl", "2.1"),
        ("validate", "other-lake"),
        ("show", "other-lake"),
        ("compare", "pond", "other-lake"),
    ):
        result = run(*arguments)
        assert result.exit_code == 0, (arguments, result.output)
    monkeypatch.chdir(tmp_path)
    assert "E031 unknown ruleset `other-lake`" in run("run", "other-lake").stderr  # also where it was kept between runs
    assert "all the same" in run("replay", "mine/game.jsonl").stdout
    (folder / "lakes").mkdir()
    shutil.copy(folder / "pond" / "other-lake.yaml", folder / "lakes")
    monkeypatch.chdir(folder)
    assert "E037 several files are the ruleset `other-lake`" in run("run", "other-lake").stderr


def test_an_id_that_is_nowhere_is_told_with_what_was_tried(run: Run, folder: Path) -> None:
    said = run("run", "germany").stderr
    assert "E031 unknown ruleset `germany`; did you mean `germany-2004`, `germany-2018` or `bsw-germany`?" in said
    assert "looked for `*/germany.yaml` in the folders of rulesets (" in said
    assert "shipped) and in the current folder" in said
    assert "`regelwerk list` lists all rulesets; set REGELWERK_PATH" in said


def test_nothing_is_written_over(run: Run, folder: Path) -> None:
    assert run("new", "game", "stones", "--in", ".").exit_code == 0
    before = {path: path.read_text(encoding="utf-8") for path in files(folder)}
    (folder / "stones" / "stones.yaml").unlink()
    result = run("new", "game", "stones", "--in", ".", "--title", "Another")
    assert result.exit_code == 1
    assert result.stderr == "Error: `stones/family.yaml` already exists; nothing was written\n"
    assert not (folder / "stones" / "stones.yaml").exists()
    assert all(path.read_text(encoding="utf-8") == before[path] for path in files(folder))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("game Stones", 2, "got `Stones`, want a word of lower-case letters"),
        ("game a/b", 2, "got `a/b`, want a word"),
        ("map ../x --for pond", 2, "want a word, or `family/word`,"),
        ("map my-town --for germny-2018", 1, "E031 unknown ruleset `germny-2018`; did you mean `germany-2018`?"),
        ("map goofspeil/x --for goofspiel", 1, "unknown family `goofspeil`; did you mean `goofspiel`?"),
        ("map pond/x --for goofspiel", 1, "`goofspiel` is of the family `goofspiel`, not `pond`"),
        ("map x --for goofspiel", 1, "`goofspiel` has no map, so it cannot have another one"),
        ("map x --for outpost", 1, "a map for `outpost` must also declare tables (`labour_fields`, "),
        ("edition classic --for goofspiel", 1, "the edition `goofspiel/classic` already exists"),
        ("map pond --for pond", 1, "the ruleset `pond` already exists"),
        ("game pond", 1, "the family `pond` already exists"),
        ("game x --for pond", 2, "--for goes with a map, an overlay or an edition"),
        ("castle x", 2, "'castle' is not one of 'map', 'overlay', 'edition', 'game'"),
        ("overlay pond/x", 2, "--for is missing; there are pond"),
        ("map", 2, "NAME is missing"),
        ("", 2, "KIND is missing"),
    ],
)
def test_what_cannot_be_made_is_told(run: Run, folder: Path, arguments: str, code: int, told: str) -> None:
    result = run("new", *arguments.split(), "--in", ".")
    assert (result.exit_code, files(folder)) == (code, [])
    assert told in re.sub(r"\s+", " ", result.stderr)


def test_a_title_that_would_break_the_files_is_refused(run: Run, folder: Path) -> None:
    for title in ('a "b"', "{who}", "two\nlines", "«id»", " "):
        assert run("new", "game", "stones", "--title", title).exit_code == 2
    assert files(folder) == []


def test_what_is_not_given_is_asked_for(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new, "_is_interactive", lambda: True)
    result = run("new", "--in", ".", input="overlay\ndry\n\npond\n")
    assert result.exit_code == 0, result.stderr
    assert [path.relative_to(folder).as_posix() for path in files(folder)] == ["pond/overlays/dry.yaml"]
    assert "title: Dry\n" in files(folder)[0].read_text(encoding="utf-8")


def test_where_it_is_written(run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("new", "game", "one").exit_code == 0
    assert (tmp_path / "others" / "one" / "one.yaml").exists()
    monkeypatch.delenv("REGELWERK_PATH")
    assert run("new", "game", "two").exit_code == 0
    assert (folder / "two" / "two.yaml").exists()
    (folder / "rulesets").mkdir()
    assert run("new", "game", "three").exit_code == 0
    assert (folder / "rulesets" / "three" / "three.yaml").exists()


def test_a_ruleset_of_another_folder_says_where_to_write(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REGELWERK_PATH")
    result = run("new", "map", "pool", "--for", str(POND / "pond.yaml"))
    assert (result.exit_code, files(folder)) == (1, [])
    assert f"nothing was written; `--in {POND.parent.as_posix()}` writes beside `pond`" in result.stderr


def test_a_file_in_a_checkout_names_its_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpreter.authoring.scaffold.schema_folder", lambda: folder / "schemas")
    (file,) = new_overlay("short", "Short", folder / "rulesets", load("goofspiel"))
    assert file.text.startswith("# yaml-language-server: $schema=../../../schemas/overlay.schema.json\n#\n")
