"""A ruleset from the cache is the one that the files give, and is taken from there only while they are unchanged."""

from __future__ import annotations

import json
import marshal
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from interpreter.authoring.validation import validate
from interpreter.base import paths
from interpreter.base.diagnostics import Diagnostic, RulesetError
from interpreter.base.source import Excerpt, SourceFile
from interpreter.bots import registry
from interpreter.bots.registry import bots_of, policies_for
from interpreter.cli.main import cli
from interpreter.compiler.wasm import module
from interpreter.compiler.wasm import runner as compiled
from interpreter.engine import cache, kept_texts
from interpreter.engine.game import Ruleset
from interpreter.engine.kept_texts import kept_trees
from interpreter.engine.views import BoardTable, Line
from interpreter.explain.names import explain
from interpreter.language import parse
from interpreter.language.parse import remembered
from interpreter.language.preferences import Policy
from interpreter.loading import load as rulesets
from interpreter.loading.load import load
from interpreter.play.match import Match
from interpreter.play.narration import Narrator
from interpreter.reading import schema, yaml
from interpreter.reading.files import Shelf, shelf_for
from interpreter.reading.yaml import Mapping, read_yaml

pytestmark = pytest.mark.usefixtures("at_once")

TOP = Path(__file__).parents[2]
OVERLAY = """\
language: 2
overlay: spoof/half
over: [spoof/classic]
rules:
  points:
    replaces: spoof
    is: sum(p.value for p in who.won) div 2
"""
WITH_AN_IDLE_RULE = ("  points(who) -> int:", "  idle() -> int: 1\n  points(who) -> int:")
LIBRARY = """\
language: 2
library: spoof/more
rules:
  nothing(who) -> int: 0
"""


@pytest.fixture
def parsed_once() -> None:
    """Parse texts anew in each test."""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("REGELWERK_CACHE", str(folder))
    return folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of rulesets with a copy of a small shipped one, under another name, and an overlay."""
    root = tmp_path / "own"
    for path in (TOP / "rulesets" / "goofspiel").rglob("*.yaml"):
        copy = root / path.relative_to(TOP / "rulesets").as_posix().replace("goofspiel", "spoof")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8").replace("goofspiel", "spoof"), encoding="utf-8")
    (root / "spoof" / "overlays").mkdir()
    (root / "spoof" / "overlays" / "half.yaml").write_text(OVERLAY, encoding="utf-8")
    monkeypatch.setenv("REGELWERK_PATH", str(root))
    return root


@pytest.fixture(autouse=True)
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was read and checked, and did not come from the cache."""
    found: list[str] = []
    thorough = rulesets._load
    monkeypatch.setattr(kept_texts, "kept_trees", remembered)  # what is kept of texts is tested by itself

    def counted(name: str | Path, *rest: Any) -> Ruleset:
        found.append(str(name))
        return thorough(name, *rest)

    monkeypatch.setattr(rulesets, "_load", counted)
    return found


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.kept"))


def played(ruleset: Ruleset, players: int = 3, seed: int = 5) -> Any:
    """A game in which always the last option is taken, as a save tells it."""
    game = ruleset.new_game(players, seed)
    for _ in range(60):
        if game.decision is None:
            break
        game.apply(list(game.decision.options)[-1])
    return json.loads(game.to_json())


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


# -- what comes back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["goofspiel", "germany-2018"])
def test_a_hit_is_the_same_ruleset(name: str, kept: Path, loads: list[str]) -> None:
    first, second = load(name), load(name)
    assert loads == [name]
    assert first is not second
    assert second.digest == first.digest
    assert played(second) == played(first)
    assert second.program.model is second.model
    assert (second.id, second.title, second.players) == (first.id, first.title, first.players)
    assert second.warnings == first.warnings
    assert second.statements == first.statements
    assert second.composition == first.composition
    assert second.document == first.document
    assert second.shelf == first.shelf
    assert second == first
    with pytest.raises(AttributeError, match="a ruleset has no `other`"):
        _ = second.other  # type: ignore[attr-defined]


@pytest.mark.parametrize("folder", sorted(path for path in (TOP / "tests" / "cases").iterdir() if path.is_dir()))
def test_every_form_of_rules_comes_back(folder: Path, kept: Path, loads: list[str]) -> None:
    for path in sorted(folder.glob("*.yaml")):
        if "\nruleset:" not in path.read_text(encoding="utf-8"):
            continue
        loads.clear()
        first, second = load(path), load(path)
        assert len(loads) == 1
        assert second == first
        assert second.composition.sections == first.composition.sections


def test_an_entry_is_found_with_the_common_folders_and_without(kept: Path, loads: list[str]) -> None:
    """Commands that look at all rulesets name the folders; those that play one do not."""
    first = load("goofspiel")
    assert load("goofspiel", shelf=shelf_for()) == first
    assert loads == ["goofspiel"]
    assert load("goofspiel", shelf=Shelf([TOP / "rulesets"], ahead=1)) is not None
    assert loads == ["goofspiel", "goofspiel"]


def test_places_come_back(kept: Path, loads: list[str]) -> None:
    """Spans know their file, and there is one file for all of them."""
    first, second = load("goofspiel"), load("goofspiel")
    assert loads == ["goofspiel"]
    span, same = (each.model.rules["points"].layers[0].span for each in (first, second))
    assert (str(span), span.text) == (str(same), same.text)
    assert second.composition.sections["rules"]["points"][0].span.file is same.file
    assert explain(second, "points") == explain(first, "points")


def test_nowhere_comes_back(kept: Path, loads: list[str]) -> None:
    """What the checker inserts has no place, and a module names none for it."""
    first, second = (CliRunner().invoke(cli, ["show", "usa-2018", "--wat"]) for _ in range(2))
    assert loads == ["usa-2018"]
    assert first.stdout == second.stdout


UNUSED = re.compile(
    r"(yaml|lark|jsonschema|referencing|wasmtime|interpreter\.(sections|compiler\.(codegen|passes|ir|wasm\.module)"
    r"|language\.(check|declare|grammar|nodes|parse|resolve)|reading\.(compose|files|schema|yaml)"
    r"|bots\.(policies|search)|engine\.(kept_texts|determinization)|hidden\.secrecy|loading\.pipeline))"
)
"""What a game of bots from the cache does not import: readers, the checker, the code generator, analyses."""


@pytest.mark.parametrize(
    "plays",
    [
        'import interpreter; interpreter.load("spoof").new_game(3, 1)',
        'from interpreter.cli.main import main; sys.argv[1:] = ["run", "spoof", "--seed", "1"]; main()',
    ],
)
def test_a_game_from_the_cache_reads_no_file(kept: Path, own: Path, plays: str) -> None:
    script = f"""
import sys
try:
    {plays}
except SystemExit as end:
    assert not end.code
print(*sys.modules)
"""
    told = [
        subprocess.run([sys.executable, "-c", script], cwd=TOP, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    first, second = (list(filter(UNUSED.match, each.splitlines()[-1].split())) for each in told)
    assert "yaml" in first
    assert second == []
    assert ("sensible" in told[1]) == ("run" in plays)


def test_policies_come_back_until_what_they_were_read_from_changes(
    kept: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[str] = []
    thorough = registry._checked

    def counted(ruleset: Ruleset, weights: dict[str, int]) -> dict[str, Policy]:
        checks.append(ruleset.id)
        return thorough(ruleset, weights)

    monkeypatch.setattr(registry, "_checked", counted)
    file = own / "spoof" / "policies" / "sensible.yaml"

    def read(expected: int, *, anew: bool = True) -> dict[str, Policy]:
        if anew:  # as another process does
            registry._known.clear()
        checks.clear()
        policies = policies_for(load("spoof") if anew else ruleset)
        assert len(checks) == expected
        return policies

    ruleset = load("spoof")
    first = read(1)
    assert read(0) == first
    assert read(0)["sensible"].weights == (("more", 2),)
    ruleset = load("spoof")
    assert read(0, anew=False) is read(0, anew=False)
    change(file, "more: 2", "more: 3")
    assert read(1, anew=False)["sensible"].weights == (("more", 3),)
    assert read(0)["sensible"].weights == (("more", 3),)
    assert policies_for(ruleset, {"more": 7})["sensible"].weights == (("more", 7),)
    assert read(0)["sensible"].weights == (("more", 3),)
    other = file.with_name("other.yaml")
    other.write_text(file.read_text("utf-8").replace("sensible", "other"), encoding="utf-8")
    assert "other" in read(1)
    other.unlink()
    assert read(1).keys() == first.keys()
    change(own / "spoof" / "family.yaml", "sum(p.value for p in who.won)", "sum(p.value + 1 for p in who.won)")
    assert read(1).keys() == first.keys()
    change(file, "at_stake() >=", "at_steak() >=")
    for _ in range(2):
        with pytest.raises(RulesetError, match="at_steak"):
            read(1)


def test_warnings_come_back(kept: Path, own: Path, loads: list[str]) -> None:
    change(own / "spoof" / "family.yaml", *WITH_AN_IDLE_RULE)
    first, second = load("spoof"), load("spoof")
    assert loads == ["spoof"]
    assert [warning.code for warning in second.warnings] == ["W701"]
    assert second.warnings == first.warnings


def test_errors_are_not_kept(kept: Path, own: Path, loads: list[str]) -> None:
    change(own / "spoof" / "family.yaml", "sum(p.value for p in who.won)", "sum(p.worth for p in who.won)")
    for _ in range(2):
        with pytest.raises(RulesetError, match="E304"):
            load("spoof")
    assert loads == ["spoof", "spoof"]
    assert not entries(kept)


# -- when it does not --------------------------------------------------------------------------------------------------


def test_each_question_has_its_own_entry(kept: Path, own: Path, loads: list[str]) -> None:
    path = own / "spoof" / "spoof.yaml"
    asked: list[tuple[Any, ...]] = [
        ("spoof",),
        ("spoof", ["spoof/half"]),
        (path,),
        ("goofspiel", (), Shelf([TOP / "rulesets"])),
    ]
    digests = [load(*each).digest for each in asked]
    assert len(loads) == 4
    assert [load(*each).digest for each in asked] == digests
    assert len(loads) == 4
    assert len(set(digests)) == 2


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("spoof.yaml", "title: Goofspiel", "title: Goof and spiel"),
        ("family.yaml", "sum(p.value for p in who.won)", "sum(p.value for p in who.won) + 1"),
        ("editions/classic.yaml", "language: 2", "language:  2"),
        ("decks/five-suits.yaml", "    13\n", "    13\n    14\n"),
        ("overlays/half.yaml", "div 2", "div 3"),
    ],
)
def test_a_changed_file_is_read(file: str, old: str, new: str, kept: Path, own: Path, loads: list[str]) -> None:
    def ask() -> str:
        return load("spoof", ["spoof/half"]).digest

    path = own / "spoof" / file
    ask()
    before = path.stat()
    change(path, old, new)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # the time alone tells nothing
    ask()
    assert len(loads) == 2
    ask()
    assert len(loads) == 2


def test_a_file_that_was_only_touched_is_not_read(kept: Path, own: Path, loads: list[str]) -> None:
    """Nor is anything read anew because of a file that no rule could stand in, wherever it lies."""
    (own / "spoof" / "statements").mkdir(exist_ok=True)
    load("spoof")
    os.utime(own / "spoof" / "family.yaml", (1, 1))
    for folder in (own, own / "spoof", own / "spoof" / "statements"):
        (folder / "notes.txt").touch()
    load("spoof")
    assert len(loads) == 1


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("another/spoof.yaml", "language: 2\nruleset: spoof\n"),  # two files have one id
        ("spoof/statements/rules.csv", "id,kind,statement\nGS-1,rule,Bids are spent\n"),
    ],
)
def test_a_new_file_is_seen(place: str, text: str, kept: Path, own: Path, loads: list[str]) -> None:
    load("spoof")
    (own / place).parent.mkdir(exist_ok=True)
    (own / place).write_text(text, encoding="utf-8")
    if place.startswith("another"):
        with pytest.raises(RulesetError):
            load("spoof")
    else:
        assert "GS-1" in load("spoof").statements
    assert len(loads) == 2


def test_what_others_of_the_family_use_is_looked_at(kept: Path, own: Path, loads: list[str]) -> None:
    """A rule that nothing uses is no more warned of when another file of the family speaks of it."""
    change(own / "spoof" / "family.yaml", *WITH_AN_IDLE_RULE)
    assert load("spoof").warnings
    (own / "spoof" / "more.yaml").write_text(LIBRARY.replace(": 0", ": idle()"), encoding="utf-8")
    assert not load("spoof").warnings
    assert len(loads) == 2


def test_a_missing_file_is_missed(kept: Path, own: Path) -> None:
    load("spoof", ["spoof/half"])
    (own / "spoof" / "overlays" / "half.yaml").unlink()
    with pytest.raises(RulesetError, match="E031"):
        load("spoof", ["spoof/half"])


def test_a_link_that_leads_elsewhere_now_is_seen(kept: Path, own: Path, tmp_path: Path) -> None:
    path = own / "spoof" / "decks" / "five-suits.yaml"
    load("spoof")
    path.rename(tmp_path / "deck.yaml")
    path.symlink_to(tmp_path / "deck.yaml")
    with pytest.raises(RulesetError, match="E033"):
        load("spoof")


def test_another_interpreter_asks_anew(
    kept: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def ask() -> int:
        cache.interpreter_key.cache_clear()
        load("goofspiel")
        return len(loads)

    assert [ask(), ask()] == [1, 1]
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_version", lambda package: b"0.0.0")
        assert ask() == 2
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "4.0.0")
        assert ask() == 3
    sources = cache._sources
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_sources", lambda folder: [*sources(folder), ("check.py", 1, 1)])
        assert ask() == 4
    assert ask() == 4


def test_all_of_the_source_is_told_apart() -> None:
    names = {os.path.basename(path) for path, _, _ in cache._sources(str(TOP / "interpreter"))}
    assert {"check.py", "grammar.lark", "grammar.json", "cache.py", "try_.py"} <= names
    assert {"deck.schema.json"} <= {os.path.basename(path) for path, _, _ in cache._sources(str(paths.schema_folder()))}


def test_it_can_be_turned_off(kept: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    load("goofspiel")
    for off in ("off", "OFF", "", " "):
        monkeypatch.setenv("REGELWERK_CACHE", off)
        load("goofspiel")
    assert len(loads) == 5
    assert len(entries(kept)) == 1


def test_files_that_change_meanwhile_are_not_kept(
    kept: Path, own: Path, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    thorough = rulesets._load

    def disturbed(name: str | Path, *rest: Any) -> Ruleset:
        found = thorough(name, *rest)
        change(own / "spoof" / "decks" / "five-suits.yaml", "language: 2", "language: 2 ")
        thorough(name, *rest)
        return found

    monkeypatch.setattr(rulesets, "_load", disturbed)
    load("spoof")
    assert not entries(kept)


# -- entries that must not be used -------------------------------------------------------------------------------------


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be unpickled."""

    def refuse(data: object, sources: object) -> None:
        raise AssertionError("this must not be unpickled")

    monkeypatch.setattr(cache, "unpickled", refuse)


def test_no_damaged_byte_is_read(kept: Path, loads: list[str], unread: None) -> None:
    load("goofspiel")
    (path,) = entries(kept)
    whole = path.read_bytes()
    places = [*range(0, 120, 7), *range(120, len(whole), len(whole) // 8), len(whole) - 1]
    for number, place in enumerate(places, 2):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        load("goofspiel")
        assert len(loads) == number, place
        assert entries(kept) == [path]
        assert len(path.read_bytes()) == len(whole)


@pytest.mark.parametrize("size", [0, 5, 40, 100, 1000, -1])
def test_nothing_cut_off_is_read(size: int, kept: Path, loads: list[str], unread: None) -> None:
    load("goofspiel")
    (path,) = entries(kept)
    path.write_bytes(path.read_bytes()[:size])
    load("goofspiel")
    assert len(loads) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners here")
def test_what_others_can_write_is_not_read(
    kept: Path, loads: list[str], unread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("goofspiel")
    (path,) = entries(kept)
    for number, mode in enumerate((0o666, 0o620, 0o602), 2):
        path.chmod(mode)
        load("goofspiel")
        assert len(loads) == number
        assert path.stat().st_mode & 0o777 == 0o600  # it was replaced
    for mode in (0o777, 0o770, 0o702):
        kept.chmod(mode)
        before = path.read_bytes()
        load("goofspiel")
        assert path.read_bytes() == before
    kept.chmod(0o700)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    load("goofspiel")
    assert len(loads) == 8


def test_links_are_not_followed(kept: Path, loads: list[str], unread: None, tmp_path: Path) -> None:
    load("goofspiel")
    (path,) = entries(kept)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    load("goofspiel")
    assert len(loads) == 2
    assert not path.is_symlink()
    kept.rename(tmp_path / "other")
    kept.symlink_to(tmp_path / "other")
    load("goofspiel")
    assert len(loads) == 3


def test_an_entry_of_another_name_is_not_read(kept: Path, own: Path, loads: list[str], unread: None) -> None:
    load("spoof")
    (path,) = entries(kept)
    load("spoof", ["spoof/half"])
    (other,) = set(entries(kept)) - {path}
    shutil.copy(path, other)
    load("spoof", ["spoof/half"])
    assert len(loads) == 3


@pytest.mark.parametrize("evil", ["posix.system", "builtins.eval", "interpreter.base.store.sys.exit"])
def test_an_entry_names_no_foreign_function(evil: str) -> None:
    module, _, name = evil.rpartition(".")
    data = f"c{module}\n{name}\n(S'1'\ntR.".encode()
    with pytest.raises((pickle.UnpicklingError, ImportError)):
        cache.unpickled(memoryview(data), [].__getitem__)


# -- writing -----------------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/no-such-place")):
        monkeypatch.setenv("REGELWERK_CACHE", str(place))
        load("goofspiel")
    assert len(loads) == 3
    assert (tmp_path / "file").read_text() == ""


def test_a_thing_in_the_way_does_no_harm(kept: Path, loads: list[str]) -> None:
    load("goofspiel")
    (path,) = entries(kept)
    path.unlink()
    path.mkdir()
    load("goofspiel")
    load("goofspiel")
    assert len(loads) == 3
    assert [entry.name for entry in kept.iterdir()] == [path.name]


def test_the_folder_is_private(kept: Path) -> None:
    load("goofspiel")
    (path,) = entries(kept)
    if hasattr(os, "geteuid"):
        assert kept.stat().st_mode & 0o777 == 0o700
        assert path.stat().st_mode & 0o777 == 0o600


def test_many_processes_at_once(kept: Path, own: Path) -> None:
    script = "import interpreter; r = interpreter.load('spoof'); print(r.digest, len(r.statements))"
    running = [
        subprocess.Popen([sys.executable, "-c", script], cwd=TOP, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    outputs = {process.communicate(timeout=120)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0, 0]
    assert len(outputs) == 1
    assert {entry.suffix for entry in kept.iterdir()} == {".kept"}


# -- compiled modules --------------------------------------------------------------------------------------------------


def story(ruleset: Ruleset, bots: str = "sensible") -> list[str]:
    match = Match(ruleset, bots_of(bots, ruleset, 4), 7)
    match.play()
    return [str(line) for line in match.game.log()]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The policies of each module that is compiled."""
    found: list[str] = []
    compile_ = module._made

    def counted(order: Any, builder: Any, first: bytes) -> Any:
        found.append(" ".join(player.policy.name if player.policy else "random" for player in order.players))
        return compile_(order, builder, first)

    monkeypatch.setattr(module, "_made", counted)
    return found


def test_a_module_comes_back_and_is_used_at_once(kept: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A second runner of the same table and policy compiles nothing, however much patience it has."""
    stories = []
    for patience in (0, 1_000_000):
        monkeypatch.setattr(compiled, "PATIENCE", patience)
        ruleset = load("goofspiel")
        stories.append(story(ruleset))
        runner = ruleset.table(4, ruleset.settings({})).runner
        assert runner.module is not None
        assert [key.split()[0] for key in runner.module.players] == ["sensible"]
        assert runner.bailouts == 0
        assert made == ["sensible"]
    assert stories[0] == stories[1]


def test_another_process_uses_a_module_at_once(kept: Path) -> None:
    """It has the patience of those that tests have not changed, and loses none of it."""
    script = """
import interpreter
from interpreter.compiler.wasm import module
from interpreter.compiler.wasm import runner as machine
from interpreter.bots.registry import bots_of
from interpreter.cli.main import cli
from interpreter.play.match import Match
module._made = None
ruleset = interpreter.load("goofspiel")
match = Match(ruleset, bots_of("random", ruleset, 3), 4)
match.play()
used = match.game.runner
print(match.game.digest(), used.patience == machine.PATIENCE, used.module is not None, used.bailouts)
"""
    ruleset = load("goofspiel")
    match = Match(ruleset, bots_of("random", ruleset, 3), 4)
    match.play()
    found = subprocess.run([sys.executable, "-c", script], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True)
    assert found.stdout == f"{match.game.digest()} True True 0\n"


def test_a_damaged_module_is_made_anew(kept: Path, made: list[str]) -> None:
    first = story(load("goofspiel"), "random")
    made_first = made[:]
    assert made_first
    for path in entries(kept):
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert story(load("goofspiel"), "random") == first
    assert made == made_first * 2


@pytest.mark.parametrize("entry", [b"", b"nothing", marshal.dumps(7), marshal.dumps((b"code", {}, {}, ()))])
def test_what_is_no_module_is_made_anew(
    entry: bytes, kept: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one of another version of wasmtime, which does not load it."""
    first = story(load("goofspiel"), "random")
    made_first = made[:]
    monkeypatch.setattr(cache.Modules, "kept", lambda self, what: entry)
    assert story(load("goofspiel"), "random") == first
    assert made == made_first * 2


def test_modules_kept_for_others_are_not_taken(kept: Path) -> None:
    modules = cache.Modules(b"looks", "4")
    modules.keep("module", b"code")
    assert modules.has("module")
    assert modules.kept("module") == b"code"
    for other, what in (
        (cache.Modules(b"looks", "5"), "module"),
        (cache.Modules(b"look", "s4"), "module"),
        (modules, "more"),
    ):
        assert not other.has(what)
        assert other.kept(what) is None


def test_a_module_is_kept_for_players_and_policies(kept: Path, made: list[str]) -> None:
    ruleset = load("goofspiel")
    for bots, players in (("sensible", 4), ("bench", 4), ("sensible", 3)):
        Match(ruleset, bots_of(bots, ruleset, players), 7).step()
    assert made == ["sensible", "sensible bench", "sensible"]


def test_a_game_that_is_narrated_loads_no_module(kept: Path, made: list[str]) -> None:
    """Only the plain form writes the log that somebody listens to."""
    silent = story(load("goofspiel"))
    ruleset, lines = load("goofspiel"), list[Line | BoardTable]()
    narrator = Narrator(lines.append)
    match = Match(ruleset, bots_of("sensible", ruleset, 4), 7, watchers=[narrator])
    match.play()
    narrator.flush()
    assert [str(line) for line in lines if isinstance(line, Line)] == silent
    assert match.game.runner.compiled is None
    assert made == ["sensible"]


def test_modules_are_not_kept_where_the_cache_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGELWERK_CACHE", "off")
    modules = cache.Modules("digest")
    modules.keep("module", b"code")
    assert not modules.has("module")
    assert modules.kept("module") is None


# --- parsed texts


def test_texts_of_unchanged_files_are_not_parsed_again(kept: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    read = parse._read

    def counted(start: str, text: Excerpt) -> Any:
        parsed.append(text.span(0, 0).file.name)
        return read(start, text)

    monkeypatch.setattr(parse, "_read", counted)
    family = own / "spoof" / "family.yaml"

    def messages() -> list[str]:
        parsed.clear()
        return [f"{each.span}: {each.code}" for each in validate([str(own)]).diagnostics]

    right = messages()
    assert len(parsed) > 20
    assert (messages(), parsed) == (right, [])
    change(family, "sum(p.value for p in who.won)", "sum(p.value for p in who.wom)")
    wrong = messages()
    assert wrong[0].startswith("spoof/family.yaml:104:")
    assert set(parsed) == {"spoof/family.yaml"}
    assert messages() == wrong  # places of what came back are right, too
    damaged = [path for path in entries(kept) if path.write_bytes(path.read_bytes()[:-1])]
    assert damaged
    assert messages() == wrong


def test_files_that_fit_their_schema_are_not_held_against_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that fits is known by its kind and content; one that does not is told each time."""
    monkeypatch.setenv("REGELWERK_CACHE", str(tmp_path / "cache"))
    checked: list[str] = []
    check_schema = schema.check_schema

    def seen(kind: str, document: Mapping) -> list[Diagnostic]:
        checked.append(kind)
        return check_schema(kind, document)

    monkeypatch.setattr(schema, "check_schema", seen)

    def found(kind: str, text: str) -> list[str]:
        checked.clear()
        with kept_trees():
            root, _ = read_yaml(file := SourceFile("a.yaml", text))
            assert isinstance(root, Mapping)
            return [diagnostic.code for diagnostic in schema.misfits(kind, root, file)]

    good = (TOP / "rulesets" / "goofspiel" / "goofspiel.yaml").read_text(encoding="utf-8")
    for text, codes, again in ((good, [], []), (good + "nodes: [x]\n", ["E101"], ["ruleset"])):
        assert found("ruleset", text) == codes
        assert checked == ["ruleset"]
        assert found("ruleset", text) == codes
        assert checked == again
    assert found("ruleset", good + "# more\n") == []
    assert checked == ["ruleset"]


def test_the_yaml_of_a_file_that_did_not_change_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds comes back with its places and with one value for an anchor; mistakes are told each time."""
    monkeypatch.setenv("REGELWERK_CACHE", str(tmp_path / "cache"))
    parsed: list[str] = []
    reader = yaml._Reader

    def seen(file: SourceFile) -> Any:
        parsed.append(file.text)
        return reader(file)

    monkeypatch.setattr(yaml, "_Reader", seen)

    def read(text: str) -> tuple[Mapping | None, list[Diagnostic]]:
        with kept_trees():
            return read_yaml(SourceFile("a.yaml", text))

    good, twice = "a: &x {b: [1, no]}\nc: *x\nd: |\n  more\n", "a: 1\na: 2\n"
    for text, codes, reads in ((good, [], 1), (twice, ["E005"], 2)):
        parsed.clear()
        first, again = read(text), read(text)
        assert first == again
        assert ([each.code for each in again[1]], len(parsed)) == (codes, reads)
    (root, _), (changed, _) = read(good), read(good.replace("more", "less"))
    assert root is not None
    assert changed is not None
    assert root["a"] is root["c"]
    assert (root["d"].span.line, root["d"].span.file.text) == (3, good)
    assert str(changed["d"].span.text).endswith("less")
