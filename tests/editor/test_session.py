"""A session with an editor, over the protocol: a small ruleset in a folder of its own, with unsaved texts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from tests.editor.client import OVERLAY, Client, place

TOP = Path(__file__).parents[2]

STATEMENTS = "id,kind,phase,statement\nGO-1,rule,bidding,The bid is the value of the card.\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mine") / "rulesets"
    shutil.copytree(TOP / "rulesets" / "goofspiel", folder / "goofspiel")
    (folder / "goofspiel" / "overlays").mkdir()
    (folder / "goofspiel" / "overlays" / "handy.yaml").write_text(OVERLAY, encoding="utf-8")
    (folder / "goofspiel" / "statements").mkdir()
    (folder / "goofspiel" / "statements" / "flood.csv").write_text(STATEMENTS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def client(root: Path) -> Iterator[Client]:
    path = os.pathsep.join([str(TOP), os.environ.get("PYTHONPATH", "")])
    with (root / "log").open("wb") as log:
        session = Client(root, {**os.environ, "PYTHONPATH": path}, log)
        yield session
        assert session.end() == 0
    assert "Traceback" not in (root / "log").read_text(), "a refusal is no failure of the server"


@pytest.fixture
def overlay(client: Client, root: Path) -> Path:
    """The overlay, open and as it was written."""
    path = root / "goofspiel" / "overlays" / "handy.yaml"
    client.open(path, OVERLAY)
    return path


def markdown(found: dict[str, Any]) -> str:
    return str(found["contents"]["value"])


def test_mistakes_are_told_and_taken_back(client: Client, overlay: Path) -> None:
    client.wait_for_codes(overlay, [])
    client.change(overlay, OVERLAY.replace("who.spent", "who.spend"))
    [told] = client.wait_for_codes(overlay, ["E304"])
    assert "did you mean `spent`?" in told["message"]
    assert told["range"]["start"] == {
        "line": 11,
        "character": len('  bonus(who) -> int: {about: "für 𝄞 Spieler", is: "count(who.') + 1,  # 𝄞 is two units
    }
    client.change(overlay, OVERLAY)
    client.wait_for_codes(overlay, [])


def test_other_files_are_checked_against_a_text_that_is_not_saved(client: Client, overlay: Path, root: Path) -> None:
    family = root / "goofspiel" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    client.open(overlay, OVERLAY)
    client.wait_for_codes(overlay, [])
    client.open(family, text.replace("bid_of(", "bid_by("))
    client.change(overlay, OVERLAY + "\n")
    told = client.wait_for_codes(overlay, ["E502"])
    assert "no file below declares it" in told[0]["message"]
    client.tell("textDocument/didClose", {"textDocument": {"uri": family.as_uri()}})
    client.change(overlay, OVERLAY)
    client.wait_for_codes(overlay, [])


def test_what_is_opened_together_is_checked_together(client: Client, overlay: Path, root: Path) -> None:
    client.open(overlay, OVERLAY.replace("who.spent", "who.spend"))
    client.open(root / "goofspiel" / "family.yaml")
    client.wait_for_codes(overlay, ["E304"])
    client.tell("textDocument/didClose", {"textDocument": {"uri": (root / "goofspiel" / "family.yaml").as_uri()}})
    client.change(overlay, OVERLAY)
    client.wait_for_codes(overlay, [])


def test_files_that_change_on_disk_are_looked_at_at_once(client: Client, overlay: Path, root: Path) -> None:
    family = root / "goofspiel" / "family.yaml"
    text = family.read_text(encoding="utf-8")
    client.wait_for_codes(overlay, [])
    try:
        family.write_text(text.replace("bid_of(", "bid_by("), encoding="utf-8")
        client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": family.as_uri(), "type": 2}]})
        client.wait_for_codes(overlay, ["E502"])
    finally:
        family.write_text(text, encoding="utf-8")
    client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": family.as_uri(), "type": 2}]})
    client.wait_for_codes(overlay, [])


def test_yaml_of_something_else_is_left_alone(client: Client, root: Path) -> None:
    other = root / "compose.yaml"
    other.write_text("services: {web: {image: x}}\n", encoding="utf-8")
    client.open(other)
    client.wait_for_codes(other, [])


@pytest.mark.parametrize(
    ("piece", "offset", "says"),
    [
        ("count(who.spent)", 1, "count(counted) -> int"),
        ("count(who.spent)", len("count(who."), "seat.spent: zone of bid_card"),
        ("bonus(who)", 0, "bonus(who: seat) -> int"),
        ("base(who)", 0, "goofspiel/family.yaml"),
        ("base(who)", len("base("), "who: seat"),  # of a head that the layer does not repeat
        ("bid_of:", 0, "The bid is the value of the card."),
        ("GO-1", 1, "The bid is the value of the card."),
        ("wraps:", 0, "The file whose rule this one wraps"),
        ("count(who.spent)", len("count("), "who: seat"),
    ],
)
def test_hover(client: Client, overlay: Path, piece: str, offset: int, says: str) -> None:
    assert says in markdown(client.at("hover", overlay, place(OVERLAY, piece, offset)))


@pytest.mark.parametrize(
    ("piece", "offset", "file", "line"),
    [
        ("base(who)", 0, "family.yaml", "  bid_of(who) -> int: first(who.offered).value"),
        ("bid_of:", 0, "family.yaml", "  bid_of(who) -> int: first(who.offered).value"),
        ("wraps: goofspiel", len("wraps: "), "family.yaml", "  bid_of(who) -> int: first(who.offered).value"),
        ("[goofspiel]", 1, "family.yaml", "family: goofspiel"),
        ("who.spent", len("who."), "family.yaml", "    spent: {zone: bid_card, order: kept}"),
        ("GO-1", 0, "flood.csv", "GO-1,rule,bidding,The bid is the value of the card."),
        ("bonus(who)", 0, "handy.yaml", OVERLAY.split("\n")[11]),
        ("who.spent", 0, "handy.yaml", OVERLAY.split("\n")[11]),
    ],
)
def test_definition(client: Client, overlay: Path, piece: str, offset: int, file: str, line: str) -> None:
    [found] = client.at("definition", overlay, place(OVERLAY, piece, offset))
    path = Path(found["uri"].removeprefix("file://"))
    assert path.name == file
    assert path.read_text(encoding="utf-8").split("\n")[found["range"]["start"]["line"]] == line


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("base(who) + bonus(who)", "who.", ["counts", "hand", "number", "offered", "role", "spent", "won"]),
        ("base(who) + bonus(who)", "let x = [c in who.", ["counts", "hand", "number", "offered"]),
        ("base(who) + bonus(who)", "let x = [c in who.hand where c.", ["number", "suit", "value"]),
        ("base(who) + bonus(who)", "if tied_prize == ", ["carried", "discarded"]),
        ("base(who) + bonus(who)", "let many = bonus(", ["who"]),
        ("cites: [GO-1]", "cites: [GO", ["GO-1"]),
        ("wraps: goofspiel", "wraps: ", ["common/auction", "goofspiel"]),
        ("    cites: [GO-1]\n", "    c\n", ["about", "cites", "discloses"]),
    ],
)
def test_completion_of_a_text_that_cannot_be_read(
    client: Client, overlay: Path, old: str, new: str, first: list[str]
) -> None:
    client.wait_for_codes(overlay, [])
    text = OVERLAY.replace(old, new, 1)
    client.change(overlay, text)
    position = place(text, new.rstrip("\n"), len(new.rstrip("\n")))
    items = client.at("completion", overlay, position)["items"]
    labels = [item["label"] for item in sorted(items, key=lambda item: item["sortText"])]
    assert labels[: len(first)] == first
    client.change(overlay, OVERLAY)
    client.wait_for_codes(overlay, [])


def test_references_and_rename_reach_every_file(client: Client, overlay: Path, root: Path) -> None:
    at = place(OVERLAY, "bid_of", 2)
    places = client.at("references", overlay, at, context={"includeDeclaration": True})
    files = [Path(each["uri"]).name for each in places]
    assert sorted(set(files)) == ["family.yaml", "handy.yaml"]
    changes = client.at("rename", overlay, at, newName="bid_by")["changes"]
    assert sum(len(edits) for edits in changes.values()) == len(places)
    before, after = tmp_texts(changes)
    assert all(text.count("bid_of") for text in before)
    assert not any("bid_of" in text for text in after)


def tmp_texts(changes: dict[str, list[dict[str, Any]]]) -> tuple[list[str], list[str]]:
    """The files that an edit changes, as they are and as they would be."""
    before, after = [], []
    for uri, edits in changes.items():
        text = Path(uri.removeprefix("file://")).read_text(encoding="utf-8")
        lines = [line.encode("utf-16-le") for line in text.split("\n")]
        for edit in sorted(edits, key=lambda e: e["range"]["start"]["character"], reverse=True):
            start, end = edit["range"]["start"], edit["range"]["end"]
            line = lines[start["line"]]
            new = edit["newText"].encode("utf-16-le")
            lines[start["line"]] = line[: 2 * start["character"]] + new + line[2 * end["character"] :]
        before.append(text)
        after.append("\n".join(line.decode("utf-16-le") for line in lines))
    return before, after


@pytest.mark.parametrize(
    ("piece", "offset", "name", "reason"),
    [
        ("bid_of", 0, "points", "`points` is already in use"),
        ("bid_of", 0, "Bid", "invalid name `Bid`"),
        ("bid_of", 0, "count", "is a reserved name"),
        ("GO-1", 0, "x", "the id of a rulebook sentence"),
        ("title", 0, "x", "not the name of a rule"),
    ],
)
def test_a_rename_that_is_not_safe_is_refused(
    client: Client, overlay: Path, piece: str, offset: int, name: str, reason: str
) -> None:
    params = {"textDocument": {"uri": overlay.as_uri()}, "position": place(OVERLAY, piece, offset), "newName": name}
    assert reason in client.asked("textDocument/rename", params)["error"]["message"]


def test_a_local_is_renamed_in_its_text_alone(client: Client, overlay: Path) -> None:
    text = OVERLAY.replace("count(who.spent)", "count(one in who.spent where one.value > 1)")
    client.change(overlay, text)
    [edits] = client.at("rename", overlay, place(text, "one in"), newName="other")["changes"].values()
    assert [edit["range"]["start"]["line"] for edit in edits] == [11, 11]
    client.change(overlay, OVERLAY)


def test_layout_and_outline(client: Client, overlay: Path) -> None:
    client.change(overlay, OVERLAY.replace("base(who) + bonus(who)", "base( who )+bonus(who)"))
    document = {"uri": overlay.as_uri()}
    options = {"tabSize": 2, "insertSpaces": True}
    [edit] = client.ask("textDocument/formatting", {"textDocument": document, "options": options})
    assert edit["newText"] == "      base(who) + bonus(who)\n"
    outline = client.ask("textDocument/documentSymbol", {"textDocument": document})
    assert [(each["name"], [child["name"] for child in each["children"]]) for each in outline] == [
        ("goofspiel/handy", []),
        ("rules", ["bid_of", "bonus(who) -> int"]),
    ]


def test_a_remedy_is_applied(client: Client, overlay: Path) -> None:
    text = OVERLAY.replace("who.spent", "who.spend")
    client.change(overlay, text)
    [told] = client.wait_for_codes(overlay, ["E304"])
    document, context = {"uri": overlay.as_uri()}, {"diagnostics": [told]}
    params = {"textDocument": document, "range": told["range"], "context": context}
    [action] = client.ask("textDocument/codeAction", params)
    assert (action["title"], action["kind"]) == ("Write `spent`", "quickfix")
    assert action["diagnostics"] == [told]
    edit = {"range": told["range"], "newText": "spent"}
    assert action["edit"] == {"changes": {overlay.as_uri(): [edit]}}
    nowhere = {"line": 0, "character": 0}
    assert client.ask("textDocument/codeAction", {**params, "range": {"start": nowhere, "end": nowhere}}) == []
    client.change(overlay, f"# another line\n{text}")
    assert client.ask("textDocument/codeAction", params) == []  # until the new text is checked
    client.change(overlay, OVERLAY)
    client.wait_for_codes(overlay, [])


def test_what_is_shown_beside_the_text(client: Client, overlay: Path, root: Path) -> None:
    client.wait_for_codes(overlay, [])
    document = {"textDocument": {"uri": overlay.as_uri()}}
    [covers, cited] = client.ask("textDocument/codeLens", document)
    assert (covers["command"]["title"], covers["range"]["start"]["line"]) == ("wraps bid_of of goofspiel", 6)
    assert covers["command"]["command"] == "regelwerk.go"
    assert covers["command"]["arguments"][0]["uri"] == (root / "goofspiel" / "family.yaml").as_uri()
    assert cited["command"]["title"] == "1 statement, 1 without a scenario"
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints = client.ask("textDocument/inlayHint", {**document, "range": whole})
    assert [(each["label"], each["position"]) for each in hints] == [
        (" The bid is the value …", place(OVERLAY, "GO-1]", 4)),
        (": seat", place(OVERLAY, "bonus(who)", 9, 1)),
    ]
    folds = client.ask("textDocument/foldingRange", document)
    assert [(each["startLine"], each["endLine"]) for each in folds] == [(5, 11), (6, 10), (9, 10)]
    found = client.ask("workspace/symbol", {"query": "BONUS"})
    assert [(each["name"], each["containerName"]) for each in found] == [("bonus(who) -> int", "rules")]


def test_tokens_are_packed_as_the_protocol_does(client: Client, overlay: Path) -> None:
    data = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": overlay.as_uri()}})["data"]
    legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    lines = [line.encode("utf-16-le") for line in OVERLAY.split("\n")]
    line = column = 0
    words = []
    for down, right, length, kind, declares in zip(*(iter(data),) * 5, strict=True):
        line, column = line + down, right if down else column + right
        word = lines[line][2 * column : 2 * (column + length)].decode("utf-16-le")
        words.append((word, legend[kind], declares))
    assert words[-8:] == [
        ("bonus", "function", 1),
        ("who", "parameter", 1),
        ("int", "keyword", 0),
        ("about", "property", 0),
        ("is", "property", 0),
        ("count", "function", 0),
        ("who", "parameter", 0),
        ("spent", "property", 0),
    ]


def test_without_the_library_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None; from interpreter.cli.main import main; sys.argv[1:] = ['lsp']; main()"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOP), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'regelwerk[lsp]'" in done.stderr
