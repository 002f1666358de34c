"""Files are found by id below their roots, read by path, and nothing outside is reached."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.base.codes import meanings
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.source import SourceFile, Span
from interpreter.reading.files import KINDS, Document, Shelf, place_of, read_document, shelf_for

AT = Span(SourceFile("asked.yaml", "edition: x\n"), 9, 10)
FILES = {
    "game/family.yaml": "family: game",
    "game/editions/first.yaml": "edition: game/first",
    "game/editions/2.0.yaml": "edition: game/2.0",
    "game/maps/land.yaml": "map: game/land",
    "game/decks/cards.yaml": "deck: game/cards",
    "game/overlays/more.yaml": "overlay: game/more\npolicies: {a: {}}",
    "game/policies/bots.yaml": "policies: game/bots",
    "game/scenarios/tests.yaml": "scenarios: game/tests",
    "game/waivers.yaml": "waivers: game",
    "game/words/de.yaml": "words: game/de",
    "game/land-first.yaml": "ruleset: land-first\nfamily: game\nedition: game/first\nmap: game/land\ndeck: game/cards",
    "game/rulesets/many.yaml": 'rulesets: game/many\ncalled: "{map}-many"',
    "common/shared.yaml": "library: common/shared",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, header in FILES.items():
        write(tmp_path / "rules" / name, f"language: 2\n{header}\n")
    return tmp_path / "rules"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def codes(found: list[Diagnostic]) -> list[str]:
    assert all(d.code in meanings() for d in found)
    return [d.code for d in found]


IDS = {
    "ruleset": ["land-first", "land-many"],
    "family": ["game"],
    "edition": ["game/2.0", "game/first"],
    "map": ["game/land"],
    "deck": ["game/cards"],
    "overlay": ["game/more"],
    "rulesets": ["game/many"],
    "library": ["common/shared"],
    "policies": ["game/bots"],
    "scenarios": ["game/tests"],
    "waivers": ["game"],
    "words": ["game/de"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_found_listed_and_read(root: Path, kind: str) -> None:
    shelf = Shelf([root.parent / "nowhere", root])
    assert shelf.ids(kind) == IDS[kind]
    for id in IDS[kind]:
        document, found = shelf.read(kind, id, AT)
        assert found == []
        assert document is not None
        assert (document.kind, document.id, document.path) == (kind, id, shelf.find(kind, id))
        by_path, found = shelf.read_path(document.address)
        assert found == []
        assert by_path is not None
        assert (by_path.kind, by_path.id) == (kind, id)


def test_a_file_is_named_below_its_root_or_as_its_path_was_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document, _ = Shelf([root]).read("map", "game/land", AT)
    assert document is not None
    assert document.file.name == "game/maps/land.yaml"
    monkeypatch.chdir(root)
    document, _ = Shelf([]).read_path("game/maps/land.yaml")
    assert document is not None
    assert document.file.name == "game/maps/land.yaml"


def test_the_first_root_wins(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    mine = write(own / "game/maps/land.yaml", "language: 2\nmap: game/land\n")
    assert Shelf([own, root]).find("map", "game/land") == mine
    assert Shelf([root, own]).find("map", "game/land") == root / "game/maps/land.yaml"
    assert Shelf([own, root]).ids("map") == ["game/land"]


def test_a_missing_id_gets_the_nearest(root: Path) -> None:
    document, (found,) = Shelf([root]).read("edition", "game/frist", AT)
    assert document is None
    assert found.code == "E031"
    assert found.message == "unknown edition `game/frist`; did you mean `game/first`?"
    assert found.span == AT
    assert found.notes[0].message == "looked for `game/editions/frist.yaml` in the folders of rulesets"
    assert codes(Shelf([root]).read("ruleset", "family", AT)[1]) == ["E031"]
    assert codes(Shelf([root]).read("ruleset", "shared", AT)[1]) == ["E031"]


@pytest.mark.parametrize(
    "id",
    [
        *["../../etc/passwd", "/etc/passwd", "game/../x", "game/..", "game/.", "a/b/c", "Game/first", "", "game/", "/"],
        *["game/first\n", "game\\first", "game/*", "*/first", "game/first\x00", "~/x", "first", "-/x", "a b/c", "ü/x"],
    ],
)
def test_what_is_no_id_is_refused(root: Path, id: str) -> None:
    shelf = Shelf([root])
    assert shelf.find("edition", id) is None
    document, (found,) = shelf.read("edition", id, AT)
    assert document is None
    assert (found.code, found.span) == ("E032", AT)
    assert found.message.isprintable()


def test_ids_of_families_and_rulesets_are_one_word(root: Path) -> None:
    assert codes(Shelf([root]).read("family", "game/first", AT)[1]) == ["E032"]
    assert codes(Shelf([root]).read("ruleset", "game/land-first", AT)[1]) == ["E032"]


def test_links_out_of_a_root_are_refused(root: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.yaml", "language: 2\nmap: game/secret\n")
    (root / "game/maps/secret.yaml").symlink_to(secret)
    (root / "out").symlink_to(tmp_path / "elsewhere")
    write(tmp_path / "elsewhere/maps/x.yaml", "language: 2\nmap: out/x\n")
    (root / "game/maps/inside.yaml").symlink_to(root / "game/maps/land.yaml")
    (root / "game/maps/loop.yaml").symlink_to(root / "game/maps/loop.yaml")
    shelf = Shelf([root])
    for id in ("game/secret", "out/x"):
        assert shelf.find("map", id) is None
        document, (found,) = shelf.read("map", id, AT)
        assert document is None
        assert found.code == "E033"
        assert str(tmp_path) not in found.message
    assert shelf.ids("map") == ["game/inside", "game/land"]
    assert codes(shelf.read("map", "game/inside", AT)[1]) == ["W001"]
    assert codes(shelf.read("map", "game/loop", AT)[1]) == ["E031"]


def test_a_root_that_is_a_link_is_a_root(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert Shelf([tmp_path / "link"]).ids("map") == ["game/land"]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("language: 2\ntitle: x\n", "E034", "f.yaml:1:1"),
        ("language: 2\neditoin: game/first\n", "E034", "f.yaml:2:1"),
        ("language: 2\npolicies: {a: {}}\n", "E034", "f.yaml:1:1"),
        ("language: 2\nedition: game/a\nmap: game/b\n", "E034", "f.yaml:3:1"),
        ("language: 2\noverlay: game/a\nruleset: b\n", "E034", "f.yaml:3:1"),
        ("edition: game/first\n", "E035", "f.yaml:1:1"),
        ("language: 3\nedition: game/first\n", "E035", "f.yaml:1:11"),
        ("language: true\nedition: game/first\n", "E035", "f.yaml:1:11"),
        ("language: '1'\nedition: game/first\n", "E035", "f.yaml:1:11"),
        ("language: [1]\nedition: game/first\n", "E035", "f.yaml:1:11"),
        ("language: 2\nedition: ../x\n", "E032", "f.yaml:2:10"),
        ("language: 2\nedition: first\n", "E032", "f.yaml:2:10"),
        ("language: 2\nedition:\n", "E032", "f.yaml:2:9"),
        ("{}", "E034", "f.yaml:1:1"),
        ("a: b: c\n", "E001", "f.yaml:1:5"),
    ],
)
def test_a_header_says_what_a_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: str, place: str
) -> None:
    write(tmp_path / "f.yaml", text)
    monkeypatch.chdir(tmp_path)
    document, found = Shelf([]).read_path("f.yaml")
    assert document is None
    assert codes(found)[0] == code
    assert str(found[0].span) == place


def test_a_misspelt_kind_gets_the_nearest() -> None:
    _, found = read_document(SourceFile("f", "language: 2\neditoin: game/first\n"), Path("f"))
    assert found[0].message == "no key gives the kind of this file; did you mean `edition`?"


def test_a_header_that_does_not_fit_its_place(root: Path) -> None:
    path = write(root / "game/editions/old.yaml", "language: 2\nedition: game/older\n")
    document, (found,) = Shelf([root]).read("edition", "game/old", AT)
    assert document is not None
    assert document.id == "game/older"
    assert (found.code, found.severity, str(found.span)) == ("W001", "warning", "game/editions/old.yaml:2:10")
    assert Shelf([root]).read_path(path)[1] == []
    write(root / "game/editions/odd.yaml", "language: 2\nmap: game/odd\n")
    document, (found,) = Shelf([root]).read("edition", "game/odd", AT)
    assert document is None
    assert (found.code, found.message) == ("E036", "got a map, want an edition in the file `game/editions/odd.yaml`")


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    shelf = Shelf([])
    write(tmp_path / "there.yaml", "language: 2\n")
    assert codes(shelf.read_path(tmp_path)[1]) == ["E030"]
    assert "is a folder" in shelf.read_path(tmp_path)[1][0].message
    assert "did you mean `there.yaml`" in shelf.read_path(tmp_path / "their.yaml")[1][0].message
    assert codes(shelf.read_path(tmp_path / "no" / "such.yaml")[1]) == ["E030"]
    assert codes(shelf.read_path("/dev/null")[1]) == ["E030"]
    assert codes(shelf.read_path("x\0y")[1]) == ["E030"]
    assert codes(shelf.read_path("x" * 5000)[1]) == ["E030"]
    (tmp_path / "bytes.yaml").write_bytes(b"a: \xff\xfe\x00")
    assert codes(shelf.read_path(tmp_path / "bytes.yaml")[1]) == ["E002"]
    with (tmp_path / "large.yaml").open("wb") as stream:
        stream.truncate(1 << 30)
    assert codes(shelf.read_path(tmp_path / "large.yaml")[1]) == ["E012"]
    if os.getuid() != 0:
        write(tmp_path / "shut.yaml", "language: 2\n").chmod(0)
        assert codes(shelf.read_path(tmp_path / "shut.yaml")[1]) == ["E030"]


def test_documents_are_read_again_when_they_changed(root: Path) -> None:
    shelf = Shelf([root])
    first, _ = shelf.read("map", "game/land", AT)
    assert shelf.read("map", "game/land", AT)[0] is first
    write(root / "game/maps/land.yaml", "language: 2\nmap: game/land\ntitle: new\n")
    second, _ = shelf.read("map", "game/land", AT)
    assert isinstance(second, Document)
    assert "title" in second.root
    found = shelf.read_path(write(root / "bad.yaml", "a: [\n"))[1]
    found.clear()
    assert codes(shelf.read_path(root / "bad.yaml")[1]) == ["E001"]


def test_the_shelf_of_a_path_starts_at_its_root(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "shipped"
    monkeypatch.setenv("REGELWERK_PATH", str(shipped))
    assert shelf_for(None).roots[0] == shipped
    for name in FILES:
        shelf = shelf_for(root / name)
        assert shelf.roots[:2] == [root, shipped], name
    monkeypatch.chdir(root / "game")
    assert shelf_for(Path("editions/first.yaml")).roots[0] == root
    monkeypatch.setenv("REGELWERK_PATH", str(root))
    assert [r for r in shelf_for(root / "game/family.yaml").roots if r == root] == [root]


def test_the_shelf_of_a_path_elsewhere_starts_at_its_folder(tmp_path: Path) -> None:
    alone = write(tmp_path / "home/x/any.yaml", "language: 2\nedition: game/first\n")
    assert shelf_for(alone).roots[0] == alone.parent
    ruleset = write(tmp_path / "home/x/mine.yaml", "language: 2\nruleset: mine\nfamily: game\n")
    assert shelf_for(ruleset).roots[0] == ruleset.parent
    write(tmp_path / "home/game/overlays/more.yaml", "language: 2\noverlay: game/more\n")
    assert shelf_for(ruleset).roots[0] == tmp_path / "home"
    assert shelf_for(tmp_path / "home/x/none.yaml").roots[0] == tmp_path / "home/x"
    assert shelf_for("x\0y").roots
    assert shelf_for("x" * 5000 + "/y").roots


@settings(deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.text())
def test_no_id_leads_out_of_a_root(kind: str, id: str) -> None:
    place = place_of(kind, id)
    assert place is None or (".." not in Path(place).parts and not place.startswith("/"))
    Shelf([Path("/nonexistent")]).read(kind, id, None)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_safe_to_read(text: str) -> None:
    document, found = read_document(SourceFile("f", text), Path("f"))
    assert document is not None or found
