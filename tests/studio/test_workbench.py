"""The author's folder: names that lead out of it, files that are read and written, and the rulesets at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interpreter.base.paths import shipped
from interpreter.loading.load import load
from interpreter.serve.words import Refused
from interpreter.studio import workbench as module
from interpreter.studio.workbench import Workbench
from tests.support import ENVELOPES

HOSTILE = (
    "",
    ".",
    "..",
    "/etc/passwd.yaml",
    "../outside.yaml",
    "a/../../outside.yaml",
    "a//b.yaml",
    "a/./b.yaml",
    "a/b.yaml/",
    "a\\b.yaml",
    "c:b.yaml",
    "con.yaml",
    "COM1.yaml",
    "a/nul.csv",
    "name .yaml ",
    "name.yaml.",
    ".hidden.yaml",
    ".git/config.yaml",
    "a\0b.yaml",
    "a\nb.yaml",
    "a\u202eb.yaml",
    "a\u200fb.yaml",
    "<script>alert(1)</script>.yaml",
    "program.py",
    "noextension",
    "a" * 10_000 + ".yaml",
    "/".join("a" * 9) + ".yaml",
    "\ud800.yaml",
)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    folder = tmp_path / "author"
    folder.mkdir()
    (tmp_path / "outside.yaml").write_text("secret: true\n")
    return Workbench(folder)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:30])
def test_no_name_leads_out(bench: Workbench, name: str, tmp_path: Path) -> None:
    bench.write("here.yaml", "ours: 1\n")
    before = sorted(tmp_path.rglob("*"))
    for act in (bench.read, bench.remove, lambda name: bench.write(name, "x")):
        with pytest.raises(Refused) as refused:
            act(name)
        assert len(str(refused.value)) < 300
        assert str(refused.value).isprintable()
    with pytest.raises(Refused):
        bench.rename("here.yaml", name)
    with pytest.raises(Refused):
        bench.rename(name, "there.yaml")
    assert sorted(tmp_path.rglob("*")) == before


def test_links_that_lead_out_are_no_files(bench: Workbench, tmp_path: Path) -> None:
    (bench.root / "file.yaml").symlink_to(tmp_path / "outside.yaml")
    (bench.root / "folder").symlink_to(tmp_path)
    (bench.root / "circle").symlink_to(bench.root / "circle")
    os.mkfifo(bench.root / "pipe.yaml")
    bench.write("inside.yaml", "a: 1\n")
    (bench.root / "link.yaml").symlink_to(bench.root / "inside.yaml")
    assert bench.files() == ["inside.yaml", "link.yaml"]
    for name in ("file.yaml", "folder/outside.yaml", "circle/a.yaml", "pipe.yaml"):
        with pytest.raises(Refused):
            bench.read(name)
    with pytest.raises(Refused):
        bench.write("folder/new.yaml", "a: 1\n")
    bench.write("link.yaml", "a: 2\n")
    assert bench.read("inside.yaml") == "a: 2\n"


def test_files_come_and_go(bench: Workbench) -> None:
    bench.write("mine/maps/straße.yaml", "a: 1\r\n")
    assert bench.files() == ["mine/maps/straße.yaml"]
    assert bench.read("mine/maps/straße.yaml") == "a: 1\r\n"
    assert bench.name_of(bench.path("mine/maps/straße.yaml")) == "mine/maps/straße.yaml"
    bench.rename("mine/maps/straße.yaml", "other/a.yaml")
    assert not (bench.root / "mine").exists()
    with pytest.raises(Refused, match="already"):
        bench.rename("other/a.yaml", "other/a.yaml")
    with pytest.raises(Refused, match="did you mean"):
        bench.read("other/b.yaml")
    bench.remove("other/a.yaml")
    assert list(bench.root.iterdir()) == []


def test_sizes_are_limited(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match="too large"):
        bench.write("a.yaml", "x" * (4 * 1024 * 1024 + 1))
    with pytest.raises(Refused, match="letters"):
        bench.write("a.yaml", "\ud800")
    (bench.root / "b.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(Refused, match="UTF-8"):
        bench.read("b.yaml")
    monkeypatch.setattr(module, "MOST_ENTRIES", 3)
    for number in range(4):
        bench.write(f"{number}.csv", "")
    with pytest.raises(Refused, match="too many"):
        bench.files()


def test_shipped_files_can_be_read_alone(bench: Workbench) -> None:
    name = "rulesets/power-grid/family.yaml"
    assert bench.find(name) == (shipped("rulesets") / "power-grid/family.yaml", False)
    assert bench.address_of(shipped("rulesets") / "power-grid/family.yaml") == name
    assert bench.address_of(Path("/etc/passwd")) is None
    for act in (bench.remove, lambda name: bench.rename(name, "a.yaml")):
        with pytest.raises(Refused, match="shipped"):
            act(name)
    with pytest.raises(Refused):
        bench.read("rulesets/../pyproject.csv")


TOWN = """language: 2
ruleset: town-2018
title: The town
family: power-grid
edition: power-grid/2018
map: power-grid/town-2018
deck: power-grid/plants
"""


def test_rulesets_at_hand_are_loaded_by_their_source(bench: Workbench) -> None:
    for path in Path(ENVELOPES).parent.rglob("*.yaml"):
        bench.write(f"games/{path.relative_to(Path(ENVELOPES).parents[1])}", path.read_text())
    map = (shipped("rulesets") / "power-grid/maps/usa-2018.yaml").read_text()
    bench.write("power-grid/maps/town-2018.yaml", map.replace("power-grid/usa-2018", "power-grid/town-2018"))
    bench.write("power-grid/town-2018.yaml", TOWN)
    rulesets = bench.rulesets()
    shown = {each.id: each for each in rulesets}
    assert len(rulesets) == len(shown), "a ruleset with a file of its own, of a map that makes one"
    own = [each.id for each in shown.values() if each.own]
    assert list(shown)[: len(own)] == own
    assert {"envelopes", "town-2018"} <= set(own)
    assert not shown["germany-2018"].own
    assert "power-grid/hidden-money" in dict(shown["town-2018"].overlays)
    assert load(bench.source("envelopes")).id == "envelopes"
    assert load(bench.source("town-2018")).id == "town-2018"
    assert bench.source("germany-2018") == "germany-2018"
    with pytest.raises(Refused, match="germany-2018"):
        bench.source("germany-2019")
