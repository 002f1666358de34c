"""Nodes as values of records, attributes of cards, nodes and links, and cells of tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.small import FAMILY, MAP, loaded, outcome, write

CARDS = FAMILY.replace("has: {number: int}", "has: {number: int, home: town}").replace(
    "      number\n      1\n      2\n      3\n      4\n",
    "      number | home\n      1      | Ayr\n      2      | Bute\n      3      | Coll\n      4      | Ayr\n",
)
PRINTED = (
    MAP.replace(
        "map: small/isles\n",
        """\
map: small/isles
graph: {amends: small, has: {partner: town?}, link: {paid_at: town}}
tables:
  capital:
    keys: [colour]
    gives: town
    is: |
      colour | red  | blue
      town   | Bute | Coll
""",
    )
    .replace(
        "name | colour\n  Ayr  | red\n  Bute | blue\n",
        "name | colour | partner\n  Ayr | red | Coll\n  Bute | blue | -\n",
    )
    .replace("  Coll | red\n", "  Coll | red | Ayr\n")
    .replace("cost\n  Ayr  | Bute | 1\n", "cost | paid_at\n  Ayr  | Bute | 1 | Bute\n")
    .replace("  Bute | Coll | 2\n", "  Bute | Coll | 2 | Coll\n")
)


def notes(path: Path) -> list[str]:
    assert outcome(path) == "plays"
    return [line.text for line in loaded(path).new_game(2).log() if line.kind == "event"]


def test_a_record_holds_a_node_and_is_made_by_names_for_each_item(tmp_path: Path) -> None:
    act = """
        let offers = [offer(town = t, ways = number, twice = number * 2) for t in town]
        for each o in sorted(o in offers by -o.ways, as listed):
          note said(o.twice * 10 + count(neighbours(o.town)))
        end game
    """
    records = "records: {offer: {town: town, ways: int, twice: int}}\n"
    path = write(tmp_path, act.replace("number", "count(neighbours(t))"), sections=records)
    assert notes(path) == ["42", "21", "21"]


def test_a_card_holds_a_node(tmp_path: Path) -> None:
    act = """
        for each p in plan where p.home == "Ayr":
          note said(p.number)
        note said(count(neighbours(plan(2).home)))
        end game
    """
    assert notes(write(tmp_path, act, family=CARDS)) == ["1", "4", "2"]


def test_rows_of_nodes_links_and_tables_hold_nodes(tmp_path: Path) -> None:
    act = """
        note said(count(t in town where t.partner == "Ayr" or t.partner == "Coll"))
        note said(count(l in links("Bute") where l.paid_at == l.to))
        note said(1 if capital[red] == "Bute" else 0)
        end game
    """
    path = write(tmp_path, act)
    (tmp_path / "small/maps/isles.yaml").write_text(PRINTED, encoding="utf-8")
    assert notes(path) == ["2", "1", "1"]


@pytest.mark.parametrize(("wrong", "told"), [("| Air", "unknown town `Air`; did you mean `Ayr`?"), ("|  ", "")])
def test_a_cell_that_names_no_node_is_told(tmp_path: Path, wrong: str, told: str) -> None:
    path = write(tmp_path)
    text = PRINTED.replace("  Coll | red | Ayr\n", f"  Coll | red {wrong}\n")
    (tmp_path / "small/maps/isles.yaml").write_text(text, encoding="utf-8")
    assert outcome(path).startswith(f"E302 {told}")
