"""``regelwerk validate``: whatever is named, and again when it is saved."""

from __future__ import annotations

import gc
import json
import pickle
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from interpreter.authoring.validation import validate
from interpreter.base.cycles import no_search
from interpreter.lint.compositions import compositions
from interpreter.loading import load as rulesets
from interpreter.loading.load import load
from interpreter.reading.files import Shelf
from tests.cli.conftest import Run
from tests.cli.test_process import ENVIRONMENT

POND = Path(__file__).parents[1] / "bad" / "_base"


@pytest.fixture
def pond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(POND, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "pond"


def test_a_name_that_some_rulesets_have_is_told_apart_from_one_that_none_has(run: Run, pond: Path) -> None:
    lake, ruleset = ((pond / name).read_text(encoding="utf-8") for name in ("maps/lake.yaml", "pond.yaml"))
    fen = lake.replace("pond/lake", "pond/fen").replace("Reed", "Rush")
    (pond / "maps/fen.yaml").write_text(fen, encoding="utf-8")
    other = ruleset.replace("pond/lake", "pond/fen").replace("ruleset: pond", "ruleset: fen")
    (pond / "fen.yaml").write_text(other, encoding="utf-8")
    path = pond / "overlays/more.yaml"
    path.parent.mkdir()
    for name, is_known in (("Rush", True), ("Rash", False)):
        rules = f'rules:\n  beside() -> int: count(neighbours("{name}"))\n'
        path.write_text(f"language: 2\noverlay: pond/more\nover: [pond]\n{rules}", encoding="utf-8")
        told = run("validate", str(path)).stdout
        assert f'E302 unknown name "{name}"' in told
        note = "   note: some rulesets have this name (`fen`), but the file is for others too\n"
        assert (f"{note}   help: name files in `over` that only these have\n" in told) == is_known


@pytest.mark.parametrize("second", ["pond.yaml", "other/pond.yaml", "rulesets/pond/pond.yaml"])
def test_an_id_that_stands_twice_is_an_error_as_in_run(run: Run, pond: Path, second: str) -> None:
    Path(second).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(pond / "pond.yaml", second)
    said = "E037 several files are the ruleset `pond`, want one"
    assert said in run("run", "pond").stderr
    for targets in (["pond"], ["pond/pond.yaml"], ["."], []):
        result = run("validate", *targets)
        assert (result.exit_code, result.stdout.count(said)) == (1, 1), targets


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("nowhere/", None, "E030 no `.yaml` file in the folder `nowhere`"),
        ("missing/", None, "E030 no file `missing`"),
        ("famly.yaml", None, "E030 no file `famly.yaml`"),
        ("notes.txt", b"hello", "E013 got text, want keys with values"),
        ("empty.yaml", b"", "E013 got an empty file"),
        ("tabs.yaml", b"language: 2\n\tmap: a/b\n", "E004 got a tab as indentation"),
        ("noise.yaml", b"\xff\x00\xfe", "E002"),
        ("pond/statements/pond.csv", None, "E013 `pond/statements/pond.csv` is no YAML file"),
        ("map.yml", b"language: 2\nmap: pond/puddle\n", "W001 `pond/puddle` is looked for in `pond/maps/puddle.yaml`"),
    ],
)
def test_whatever_is_named_is_told(run: Run, pond: Path, name: str, content: bytes | None, said: str) -> None:
    Path("nowhere").mkdir()
    if content is not None:
        Path(name).write_bytes(content)
    result = run("validate", name)
    assert said in result.stdout
    assert result.exit_code == (0 if said.startswith("W") else 1)


def test_a_scenario_is_named_once(run: Run, pond: Path) -> None:
    twice = "  - {name: a, ruleset: pond, players: 2, then: [water == 1]}\n" * 2
    (pond / "scenarios").mkdir()
    (pond / "scenarios/all.yaml").write_text(f"language: 2\nscenarios: pond/all\nis:\n{twice}")
    result = run("validate", "pond/scenarios/all.yaml")
    assert (result.exit_code, "all.yaml:5:12: E501 duplicate scenario `a`" in result.stdout) == (1, True)


def test_an_error_in_rulesets_that_know_different_names_is_told_once(run: Run, pond: Path) -> None:
    (pond / "overlays").mkdir()
    wet = "language: 2\noverlay: pond/wet\nover: [pond]\nrules:\n  wet:\n    does: |\n      leavez = 3\n"
    (pond / "overlays/wet.yaml").write_text(wet)
    edition = (pond / "editions/classic.yaml").read_text().replace("edition: pond/classic", "edition: pond/deep")
    (pond / "editions/deep.yaml").write_text(f"{edition}\nstate:\n  leavex: {{value: int, start: 0}}\n")
    lake = (pond / "pond.yaml").read_text().replace("ruleset: pond", "ruleset: lake")
    (pond / "lake.yaml").write_text(lake.replace("pond/classic", "pond/deep"))
    result = run("validate", "pond/overlays/wet.yaml")
    assert result.stdout.count("E301 unknown name `leavez`") == 1, result.stdout


def test_a_part_that_no_ruleset_contains_is_said_to_be_checked_alone(run: Run, pond: Path) -> None:
    (pond / "overlays").mkdir()
    (pond / "overlays/dry.yaml").write_text("language: 2\noverlay: pond/dry\nover: [pond/clasic]\n")
    result = run("validate", "pond/overlays/dry.yaml")
    assert "W002 unknown file `pond/clasic`; did you mean `pond/classic`?" in result.stdout
    assert "pond/overlays/dry.yaml was checked alone: no ruleset contains it\n" in result.stdout
    assert json.loads(run("validate", "pond/overlays/dry.yaml", "-o", "json").stdout)["alone"] == [
        "pond/overlays/dry.yaml"
    ]


def test_what_was_examined_is_not_loaded_for_scenarios(run: Run, pond: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pond / "scenarios").mkdir()
    for name in ("one", "two"):
        (pond / f"scenarios/{name}.yaml").write_text(
            f"language: 2\nscenarios: pond/{name}\nis:\n"
            "  - {name: begins, ruleset: pond, players: 2, then: [water == 1, watr == 1]}\n"
        )
    loaded: list[str] = []
    monkeypatch.setattr(rulesets, "_load", lambda name, *_: loaded.append(str(name)))
    result = run("validate", "pond")
    assert loaded == []
    assert result.stdout.count("E301 unknown name `watr`") == 2


def test_a_token_without_kinds_is_amended_by_its_name(run: Run, pond: Path) -> None:
    (pond / "overlays").mkdir()
    text = "language: 2\noverlay: pond/rich\nover: [pond]\ntokens:\n  shell: {amends: pond, shell: 80}\n"
    (pond / "overlays/rich.yaml").write_text(text)
    assert run("validate", "pond/overlays/rich.yaml").exit_code == 0
    arguments = ("try", "pond/pond.yaml", "bank", "--players", "2", "--seed", "1")
    assert run(*arguments).stdout == "36  (int)\n"
    assert run(*arguments, "--with", "rich").stdout == "56  (int)\n"


@pytest.mark.parametrize("command", ["validate", "lint"])
def test_a_link_that_leads_to_itself_is_told(run: Run, pond: Path, command: str) -> None:
    (pond / "ring.yaml").symlink_to("ring.yaml")
    result = run(command, "pond/ring.yaml")
    assert result.exit_code == 1
    assert "E030 cannot read `pond/ring.yaml`" in result.output


@pytest.mark.fresh
def test_what_is_watched_is_checked_again_when_it_is_saved(pond: Path) -> None:
    command = [sys.executable, "-m", "interpreter", "validate", "--watch", "pond/maps/lake.yaml", "-o", "json"]
    environment = {**ENVIRONMENT, "REGELWERK_PATH": ""}
    with subprocess.Popen(command, cwd=pond.parent, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = iter(process.stdout)

        def wait_for(*codes: str) -> None:
            """Until this is all that is told; a file may be looked at while it is half written."""
            while [each["code"] for each in json.loads(next(told))["diagnostics"]] != list(codes):
                pass

        try:
            wait_for()
            lake, family = pond / "maps/lake.yaml", pond / "family.yaml"
            fine = lake.read_text()
            lake.write_text(fine.replace("Reed | Lily", "Reed | Lili"))
            wait_for("E302")
            lake.write_text(fine)
            wait_for()
            family.write_text(family.read_text().replace("score(who), who.shells", "scroe(who), who.shells"))
            wait_for("E301")
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


POLICY = """\
language: 2
policies: pond/greedy
is:
  greedy:
    hop:
      prefer: |
        {line}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stay at", "greedy.yaml:7:"),
        ("leap by missing", "greedy.yaml:7:17: E301 unknown name `missing`"),
        ("stay\n      prefer: |\n        stay", "E005"),
        ("stay\n      wrong: [", "greedy.yaml:8:14: E001"),
    ],
)
def test_a_ruleset_is_checked_with_its_policies(run: Run, pond: Path, line: str, said: str) -> None:
    """What is wrong in them is told, not that they have no lines."""
    (pond / "policies").mkdir()
    (pond / "policies/greedy.yaml").write_text(POLICY.format(line=line))
    for target in ("pond", "pond/policies/greedy.yaml"):
        result = run("validate", target)
        assert said in result.stdout
        assert "W704" not in result.stdout
        assert result.exit_code == 1


LAKES = 6


@pytest.fixture
def lakes(pond: Path) -> Path:
    """A family of rulesets that differ in their maps, of which one brings a rule of its own for an overlay's."""
    original = (pond / "maps/lake.yaml").read_text()
    (pond / "overlays").mkdir()
    for name in ("deep", "cold"):
        text = f"rules:\n  {name}_water() -> int: water + 1\n"
        (pond / f"overlays/{name}.yaml").write_text(f"language: 2\noverlay: pond/{name}\nover: [pond]\n{text}")
    for number in range(LAKES):
        more = "\nrules:\n  deep_water() -> int: 3\n" if number == 4 else ""
        (pond / f"maps/lake{number}.yaml").write_text(original.replace("pond/lake", f"pond/lake{number}") + more)
        ruleset = (pond / "pond.yaml").read_text().replace("pond/lake", f"pond/lake{number}")
        (pond / f"pond{number}.yaml").write_text(ruleset.replace("ruleset: pond", f"ruleset: pond{number}"))
    (pond / "policies").mkdir()
    (pond / "policies/greedy.yaml").write_text(POLICY.format(line="leap at random\n        stay"))
    return pond


def test_an_overlay_is_checked_once_on_maps_that_it_does_not_meet(lakes: Path) -> None:
    told: list[str] = []
    validate(["pond/policies/greedy.yaml"], tell=told.append)
    alone = ["pond", *(f"pond{number}" for number in range(LAKES))]
    assert told == [*alone, "pond with pond/cold", "pond with pond/deep", "pond4 with pond/deep"]


def test_lint_loads_an_overlay_once_on_maps_that_it_does_not_meet(lakes: Path) -> None:
    (lakes / "maps/lake4.yaml").write_text((lakes / "maps/lake3.yaml").read_text().replace("lake3", "lake4"))
    told: list[str] = []
    shelf = Shelf([lakes.parent])
    compositions(shelf, tell=told.append)
    assert len(told) == 1 + LAKES + 2
    for kind, id, wanted in (("overlay", "pond/deep", 1), ("map", "pond/lake2", 3), ("family", "pond", 9)):
        named = shelf.read(kind, id)[0]
        assert named is not None
        assert len(compositions(shelf, [named]).selected) == wanted, kind


def test_nothing_of_a_load_stays_without_the_cycle_collector(lakes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many loads in a row run without it."""
    monkeypatch.setenv("REGELWERK_CACHE", str(lakes / "kept"))
    gc.collect()
    with no_search():
        load(lakes / "pond.yaml")
        assert _picklers() == 0


def _picklers() -> int:
    return sum(isinstance(each, pickle.Pickler) for each in gc.get_objects())
