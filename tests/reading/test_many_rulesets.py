"""One file makes a ruleset of every map of a family."""

from __future__ import annotations

from pathlib import Path

import pytest

import interpreter
from interpreter.authoring.validation import validate
from interpreter.loading.load import find
from interpreter.reading.dependencies import noted
from interpreter.reading.files import Shelf, nearby, nearby_ids
from tests.small import MAP, write

MANY = """\
language: 2
rulesets: small/{name}
called: "{{map}}-{name}"
title: "{{map}}, {name}"
edition: small/{name}
"""


def add(root: Path, kind: str, name: str, text: str) -> Path:
    path = root / "small" / kind / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def add_map(root: Path, name: str, title: str) -> Path:
    return add(root, "maps", name, MAP.replace("small/isles", f"small/{name}\ntitle: {title}"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path)
    for name in ("old", "new"):
        add(tmp_path, "editions", name, f"language: 2\nedition: small/{name}\nextends: small\n")
        add(tmp_path, "rulesets", name, MANY.format(name=name))
    return tmp_path


def test_every_map_is_played_in_each_edition(root: Path) -> None:
    """The edition at the end of a map's name is not said twice, nor what is in parentheses in its title."""
    add_map(root, "sea-old", "The sea (printed first)")
    add(root, "rulesets", "new", MANY.format(name="new") + "without: [small/sea-old]\n")
    shelf = Shelf([root])
    assert shelf.ids("ruleset") == ["isles-new", "isles-old", "sea-old", "tiny"]
    sea = interpreter.load("sea-old", shelf=shelf)
    assert (sea.id, sea.title) == ("sea-old", "The sea, old")
    assert [each.id for each in sea.composition.documents] == ["sea-old", "small", "small/old", "small/sea-old"]
    assert sea.new_game(2, seed=1).is_over


def test_the_maps_may_be_named(root: Path) -> None:
    add_map(root, "sea", "Sea")
    add(root, "rulesets", "new", MANY.format(name="new") + "maps: [small/sea]\n")
    assert Shelf([root]).ids("ruleset") == ["isles-old", "sea-new", "sea-old", "tiny"]


def test_a_file_of_its_own_takes_its_place(root: Path) -> None:
    text = "language: 2\nruleset: isles-new\ntitle: My own\nfamily: small\nmap: small/isles\n"
    (root / "small" / "isles-new.yaml").write_text(text, encoding="utf-8")
    assert interpreter.load("isles-new", shelf=Shelf([root])).title == "My own"


def test_it_is_found_by_the_path_that_a_file_of_its_own_would_have(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the map is in another folder of rulesets: then it is that of the map."""
    own = tmp_path_factory.mktemp("own")
    add_map(own, "hills", "Hills")
    monkeypatch.setenv("REGELWERK_PATH", str(root))
    monkeypatch.chdir(own)
    assert nearby("hills-new") == [Path("small/hills-new.yaml")]
    assert nearby_ids() == ["hills-new", "hills-old"]
    for name in ("hills-new", "small/hills-new.yaml", own / "small" / "hills-new.yaml"):
        ruleset = interpreter.load(name)
        assert (ruleset.id, ruleset.title) == ("hills-new", "Hills, new")
    _, document, found = find("small/hills-nwe.yaml")
    assert document is None
    assert found[0].message.startswith("no file `small/hills-nwe.yaml`")


def test_a_load_depends_on_no_other_map(root: Path) -> None:
    other = add_map(root, "sea", "Sea")
    with noted() as evidence:
        Shelf([root]).read("ruleset", "isles-new")
    other.write_text(other.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert evidence.holds()
    add(root, "rulesets", "new", MANY.format(name="new") + "without: [small/isles]\n")
    assert not evidence.holds()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("maps: [small/isle]", ["E031 unknown map `small/isle`; did you mean `small/isles`? (6:8)"]),
        ("without: [small/isle]", ["E031 unknown map `small/isle`; did you mean `small/isles`? (6:11)"]),
        ("deck: small/cards", ["E031 unknown deck `small/cards` (6:7)"]),
        ("family: small", ["E101 unknown key `family` (6:1)"]),
    ],
)
def test_what_is_wrong_in_it_is_told_at_its_place(root: Path, text: str, told: list[str]) -> None:
    path = add(root, "rulesets", "new", MANY.format(name="new") + text + "\n")
    found = [each for each in validate([str(path)]).reported if each.severity == "error"]
    places = [each.span.file.position(each.span.start) for each in found if each.span is not None]
    assert [
        f"{each.code} {each.message} ({line}:{column})" for each, (line, column) in zip(found, places, strict=True)
    ] == told
