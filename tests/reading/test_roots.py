"""Where rulesets come from: folders that the environment or installed packages name, beside the shipped ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from interpreter.base.diagnostics import RulesetError
from interpreter.base.paths import ruleset_roots, sources
from interpreter.cli.main import cli
from interpreter.loading.load import load

GOOFSPIEL = Path(__file__).parents[2] / "rulesets" / "goofspiel"


def copied(root: Path, family: str) -> Path:
    """A small shipped family under another name."""
    for path in GOOFSPIEL.rglob("*.yaml"):
        copy = root / family / path.relative_to(GOOFSPIEL).as_posix().replace("goofspiel", family)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8").replace("goofspiel", family), encoding="utf-8")
    return root


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that ships rulesets, and must not be imported for it."""
    site = tmp_path / "site"
    copied(site / "alpine" / "boards", "alps")
    (site / "alpine" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    about = site / "alpine_boards-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: alpine-boards\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[regelwerk.rulesets]\nalps = alpine:boards\nlost = nowhere_at_all:x\n")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    return site / "alpine" / "boards"


def listed() -> str:
    return CliRunner().invoke(cli, ["list"], env={"COLUMNS": "200"}).stdout


def test_folders_of_the_environment_stand_beside_the_shipped_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = copied(tmp_path / "one", "first"), copied(tmp_path / "two", "second")
    monkeypatch.setenv("REGELWERK_PATH", os.pathsep.join(map(str, (one, two, tmp_path / "three"))))
    assert ruleset_roots()[:2] == [one, two]
    assert [load(name).id for name in ("first", "second", "goofspiel")] == ["first", "second", "goofspiel"]
    lines = {line.split()[0]: line for line in listed().splitlines()}
    assert str(one) in lines["first"]
    assert str(two) in lines["second"]
    assert "shipped" in lines["goofspiel"]
    assert CliRunner().invoke(cli, ["list"]).stderr == f"REGELWERK_PATH: no such folder: `{tmp_path / 'three'}`\n"


def test_a_package_ships_rulesets_without_being_imported(package: Path) -> None:
    assert [root.origin for root in sources() if root.path == package] == ["package alpine-boards"]
    assert load("alps").new_game(2, 1).decision is not None
    assert "package alpine-boards" in next(line for line in listed().splitlines() if line.startswith("alps"))


def test_an_id_that_stands_in_two_folders_is_an_error_with_both_places(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = copied(tmp_path / "own", "alps")
    monkeypatch.setenv("REGELWERK_PATH", str(own))
    with pytest.raises(RulesetError) as raised:
        load("alps")
    said = str(raised.value)
    assert "E037 several files are the ruleset `alps`" in said
    assert str(own / "alps" / "alps.yaml") in said
    assert str(package / "alps" / "alps.yaml") in said
    assert load(own / "alps" / "alps.yaml").id == "alps"  # what is named by its path goes before


def test_the_cache_sees_that_an_id_is_no_longer_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGELWERK_CACHE", str(tmp_path / "cache"))
    one, two = copied(tmp_path / "one", "first"), tmp_path / "two"
    two.mkdir()
    monkeypatch.setenv("REGELWERK_PATH", f"{one}{os.pathsep}{two}")
    assert [load("first").id for _ in range(2)] == ["first"] * 2
    copied(two, "first")
    with pytest.raises(RulesetError, match="E037"):
        load("first")
