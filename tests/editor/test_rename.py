"""Renames of what is printed: the nodes of a map, wherever their names stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.plain_data import grouped
from interpreter.base.remedies import fixed
from interpreter.editor.navigation import Answers
from interpreter.editor.rename import RefusedRename, renamable, rename
from interpreter.editor.workspace import Desk
from tests.small import MAP, write

SCENARIOS = """\
language: 2
scenarios: small/mine
is:
  - name: one stays
    ruleset: tiny
    when:
      - {by: 0, do: go, t: New Bute}
    then:
      - '"New Bute".colour == blue'
"""
ACT = """\
choose trip by seats[0]:
  go t in town where t != "New Bute" or amount == 1
end game
"""


def named(text: str, name: str = "New Bute") -> str:
    return text.replace("Bute", name)


@pytest.fixture
def isles(tmp_path: Path) -> Path:
    write(tmp_path / "rulesets", ACT)
    family = tmp_path / "rulesets" / "small"
    (family / "maps" / "isles.yaml").write_text(named(MAP))
    (family / "maps" / "other.yaml").write_text(named(MAP).replace("small/isles", "small/other"))
    (family / "scenarios").mkdir()
    (family / "scenarios" / "mine.yaml").write_text(SCENARIOS)
    return family / "maps" / "isles.yaml"


def errors(desk: Desk, path: Path) -> list[Diagnostic]:
    *_, last = desk.check(path)
    return [each for found in last.values() for each in found if each.severity == "error"]


def test_a_node_is_renamed_with_its_links_and_all_that_names_it(isles: Path) -> None:
    desk = Desk()
    assert errors(desk, isles) == []
    answers, text = Answers(desk), isles.read_text()
    for at in (text.index("New Bute"), text.index("Bute"), text.rindex("New Bute") + 6):
        assert renamable(answers, isles, at).text == "New Bute"
    by_file = grouped(rename(answers, isles, text.index("Bute"), "Harbour Town"))
    assert {path.name: len(found) for path, found in by_file.items()} == {
        "isles.yaml": 3, "family.yaml": 1, "mine.yaml": 2
    }  # fmt: skip
    for path, found in by_file.items():
        changed = fixed(path.read_text(), found)
        assert changed == path.read_text().replace("New Bute", "Harbour Town")


@pytest.mark.parametrize(
    ("name", "why"),
    [("Ayr", "`Ayr` is already in use"), ("A, B", "invalid name"), ("-", "invalid name"), ("a|b", "invalid name")],
)
def test_a_node_keeps_its_name_if_the_new_one_is_taken_or_cannot_be_printed(isles: Path, name: str, why: str) -> None:
    with pytest.raises(RefusedRename, match=why):
        rename(Answers(Desk()), isles, isles.read_text().index("Bute"), name)


def test_a_node_that_a_shipped_file_names_keeps_its_name(isles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = isles.parents[3] / "shipped"
    (shipped / "small").mkdir(parents=True)
    (isles.parents[1] / "family.yaml").rename(shipped / "small" / "family.yaml")
    monkeypatch.setenv("REGELWERK_PATH", str(shipped))
    with pytest.raises(RefusedRename, match=r"family\.yaml`, which is read-only"):
        rename(Answers(Desk()), isles, isles.read_text().index("Bute"), "Harbour")


def test_a_row_renamed_by_typing_is_suggested_to_its_links(isles: Path) -> None:
    desk = Desk()
    text = isles.read_text().replace("New Bute", "Ayrs").replace("  Ayrs | blue", "  Harbour | blue")
    desk.write(isles, text)
    told = [
        each for each in errors(desk, isles) if each.span is not None and each.span.file.name.endswith("isles.yaml")
    ]
    assert [each.message for each in told] == ["unknown town `Ayrs`; did you mean `Harbour`?"] * 2
    assert [edit.text for each in told for fix in each.fixes for edit in fix.edits] == ["Harbour"] * 2
