"""What differs between rulesets: all of it, at its path, and nothing else."""

from __future__ import annotations

import csv
import json
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from interpreter.base.diagnostics import RulesetError
from interpreter.cli.main import cli
from interpreter.compare.comparable import Compared, Side
from interpreter.compare.differences import Comparison, differences
from interpreter.compare.operands import sides_of
from interpreter.language import core
from interpreter.language.types import BOOL
from interpreter.loading.load import load
from tests.play.toy import ROOT, changed
from tests.small import loaded, write
from tests.support import shared

HERE = Path(__file__).parent
EDITIONS = {"2018": "{}-2018", "2004": "{}-2004", "brettspielwelt": "bsw-{}"}
BOARDS = ("germany", "usa", "france", "italy", "baden-wuerttemberg")
FOLLOWS = {"map.length_of_all_links", "map.mean_distance", "map.longest_distance"}
"""What is told of boards that have little in common, and follows from their links."""


def read(name: str) -> list[dict[str, str]]:
    """What differs by the books: a row for each path, with what either edition or board has there."""
    return list(csv.DictReader((HERE / name).open(encoding="utf-8")))


@shared
def compared(id: str) -> Compared:
    return Compared(load(id))


def agrees(side: Side | None, wanted: str) -> bool:
    return side is None if wanted == "-" else side is not None and wanted in side.value


def check(one: str, other: str, a: str, b: str, wanted: list[dict[str, str]]) -> None:
    """Two rulesets differ in what the rows say of one and the other, and in nothing else."""
    rows = {row["path"]: row for row in wanted if row[one] != row[other]}
    found = {each.path: each for each in differences(compared(a), compared(b)).differences if each.path not in FOLLOWS}
    lacking = {path for path, each in found.items() if None in (each.a, each.b)}
    words = {path for path in lacking if path.replace("says.refused.", "rules.") in lacking - {path}}
    found = {path: each for path, each in found.items() if path not in words}  # words for a rule that one side lacks
    assert found.keys() ^ rows.keys() == set(), (a, b)
    for path, row in rows.items():
        assert agrees(found[path].a, row[one]), (path, a)
        assert agrees(found[path].b, row[other]), (path, b)


@pytest.mark.parametrize("board", ["germany", *(pytest.param(each, marks=pytest.mark.slow) for each in BOARDS[1:4])])
def test_the_editions_differ_in_what_the_books_say_and_in_nothing_else(board: str) -> None:
    rows = [row for row in read("edition_differences.csv") if {board, "all"} & set(row["boards"].split())]
    for one, other in permutations(EDITIONS, 2):
        check(one, other, EDITIONS[one].format(board), EDITIONS[other].format(board), rows)


@pytest.mark.parametrize("edition", [pytest.param(each, marks=pytest.mark.slow) for each in EDITIONS])
def test_the_boards_differ_in_what_is_known_of_them_and_in_nothing_else(edition: str) -> None:
    rows = [row for row in read("board_differences.csv") if {edition, "all"} & set(row["editions"].split())]
    for one, other in permutations(BOARDS if edition == "brettspielwelt" else BOARDS[:4], 2):
        check(one, other, EDITIONS[edition].format(one), EDITIONS[edition].format(other), rows)


def test_phases_have_what_is_first_needed_in_them() -> None:
    found = differences(compared("germany-2018"), compared("bsw-germany"))
    chapters = {each.path: each.chapter for each in found.differences}
    assert chapters["rules.minimum_bid"] == chapters["triggers.smaller_replacement"] == "auction"
    assert chapters["tables.end_cities[2]"] == chapters["rules.pay_income"] == "bureaucracy"
    assert chapters["tables.market_start[garbage]"] == "start"
    assert " ".join(list(found.chapters)[6:13]) == "prepare order auction resources building firing bureaucracy"


def test_phases_of_games_that_share_none_stay_together() -> None:
    found = list(differences(compared("goofspiel"), compared("germany-2018")).chapters)
    assert found[6:] == [
        *("deal", "prepare", "turn_up", "bidding", "award"),
        *("order", "auction", "resources", "building", "bureaucracy"),
        *("standing", "result", "others", "told"),
    ]


def test_both_sides_have_their_texts_and_statements() -> None:
    found = differences(compared("germany-2018"), compared("germany-2004"))
    bid = next(each for each in found.differences if each.path == "rules.minimum_bid")
    assert bid.a is not None
    assert bid.b is not None
    assert [part.when for part in (*bid.a.parts, *bid.b.parts)] == ["plant == discounted", ""]
    assert {quote.id for part in bid.a.parts for quote in part.cites} >= {"GU-117"}
    assert {quote.id.partition("-")[0] for part in bid.b.parts for quote in part.cites} == {"IT"}


def test_distances_follow_from_links() -> None:
    graph = differences(compared("germany-2018"), compared("germany-2004")).graph
    assert graph is not None
    assert (graph.pairs, graph.farther) == (42 * 41 // 2, 0)
    first = graph.most[0]
    assert (set(first.between), first.a, first.b) == ({"Mannheim", "Saarbrücken"}, 16, 11)
    assert dict(graph.names) == {"Stralsund": "Torgelow", "Mainz": "Wiesbaden"}


# --- small rulesets ---------------------------------------------------------------------------------------------------


LARGEST = """\
  largest() -> int: most otherwise 3
"""


def between(folder: Path, *changes: tuple[str, str]) -> Comparison:
    """The small ruleset, and what it is with texts of its family changed."""
    (old, new), *more = changes
    family = changed(folder, "family.yaml", old, new) / "pebbles" / "family.yaml"
    for one, other in more:
        text = family.read_text(encoding="utf-8")
        assert one in text
        family.write_text(text.replace(one, other), encoding="utf-8")
    here, there = (load(root / "pebbles" / "pebbles.yaml") for root in (ROOT, folder))
    return differences(Compared(here), Compared(there))


def rows(found: Comparison) -> list[tuple[str | None, ...]]:
    return [tuple(each.as_data().values())[2:] for each in found.differences]


def test_what_says_the_same_is_no_difference(tmp_path: Path) -> None:
    lot = """let lot = pick from seats as begins
      sitting = [lot] + clockwise(lot)
      note began(lot)"""
    changed(tmp_path, "family.yaml", lot, lot.replace("lot", "drawn"))
    family, edition = (tmp_path / "pebbles" / each for each in ("family.yaml", "editions/plain.yaml"))
    family.write_text(family.read_text(encoding="utf-8").replace(LARGEST, ""), encoding="utf-8")
    edition.write_text(edition.read_text(encoding="utf-8") + "rules:\n" + LARGEST, encoding="utf-8")
    here, there = (Compared(load(root / "pebbles" / "pebbles.yaml")) for root in (ROOT, tmp_path))
    assert differences(here, there).differences == ()


def test_constants_are_told_by_themselves(tmp_path: Path) -> None:
    found = between(tmp_path, ("most otherwise 3", "most otherwise 5"), ("white: 9", "white: 10"))
    assert [row[0] for row in rows(found)] == ["tokens.pebble.white", "rules.largest"]
    assert rows(found)[0] == ("tokens.pebble.white", "9", "10")
    assert found.differences[1].constants == (("3", "5"),)


def test_what_cannot_apply_is_not_told(tmp_path: Path) -> None:
    """Behind a reading that only one side has, and that is not taken, nothing differs but the doubt itself."""
    doubt = """interpretations:
  slow:
    answers: []
    default: never
    is: {never: nobody waits, often: one may}
"""
    line = "      require number <= left()\n"
    slow = line + "      require slow == never or number < 2\n"
    found = between(tmp_path, ("interpretations:\n", doubt), (line, slow))
    assert rows(found) == [("interpretations.slow", None, "never (never | often)")]


def test_what_is_said_and_shown_stands_apart(tmp_path: Path) -> None:
    found = between(
        tmp_path,
        ("{who} hat {number} mehr", "{who} nimmt {number}"),
        ('draw.pull: "{who} pulls', 'draw.pull: "{who} takes'),
        ('black: "heap[black]"}', 'grey: "heap[black]"}'),
        ("rows: who in seats", "rows: s in seats"),
        ("columns: {player: who, pebbles: who.taken}", "columns: {player: s, pebbles: s.taken}"),
        ('value: "1", sums: yes', 'value: "2", sums: yes'),
        ("pull kind, number by -number, kind", "pull kind, number by number, kind"),
    )
    assert {each.chapter for each in found.differences} == {"told"}
    assert found.in_play == []
    assert list(found.chapters)[-1] == "told"
    assert rows(found) == [
        ("events.took.says.de", "“{who} hat {number} mehr”", "“{who} nimmt {number}”"),
        ("says.draw.pull", "“{who} pulls {number} {kind}”", "“{who} takes {number} {kind}”"),
        ("boards.heap.columns.black", "heap[black]", None),
        ("boards.heap.columns.grey", None, "heap[black]"),
        ("measures.turns.value", "1", "2"),
        (
            "policies.eager.draw",
            "prefer: pull kind, number by -number, kind wait",
            "prefer: pull kind, number by number, kind wait",
        ),
    ]


def test_how_bots_choose_is_told_by_what_is_written(tmp_path: Path) -> None:
    folder = changed(tmp_path, "weighed.yaml", "black_worth: 3", "black_worth: 4")
    (folder / "pebbles" / "policies" / "others.yaml").unlink()
    here, there = (Compared(load(root / "pebbles" / "pebbles.yaml")) for root in (ROOT, folder))
    assert rows(differences(here, there)) == [
        ("policies.pebbles/others", "Others", None),
        ("policies.pebbles/weighed.weights.black_worth", "3", "4"),
    ]


OVERLAY = """\
language: 2
overlay: pebbles/few
over: [pebbles]
rules:
  largest:
    replaces: pebbles
    is: 1
"""


def test_an_overlay_is_compared_in_the_ruleset_beside_it(tmp_path: Path) -> None:
    path = changed(tmp_path, "family.yaml", "white: 9", "white: 8") / "pebbles" / "overlays" / "few.yaml"
    path.parent.mkdir()
    path.write_text(OVERLAY, encoding="utf-8")
    ruleset = str(tmp_path / "pebbles" / "pebbles.yaml")
    for names in ((ruleset, str(path)), (ruleset, f"{ruleset}+few")):
        a, b = sides_of(*names)
        assert (a.overlays, b.overlays) == ((), ("pebbles/few",))
        assert [each.path for each in differences(Compared(a), Compared(b)).differences] == ["rules.largest"]
    with pytest.raises(RulesetError, match="no ruleset takes both"):
        sides_of("power-grid/konzern", "outpost/konzern")


@pytest.mark.slow
def test_a_map_takes_the_place_of_another() -> None:
    a, b = sides_of("power-grid/usa-2004", "power-grid/usa-2018")
    found = differences(Compared(a), Compared(b))
    assert {each.path.partition(".")[0] for each in found.differences} >= {"links"}
    assert not {"rules.minimum_bid", "rules.auction"} & {each.path for each in found.differences}


def test_cells_for_other_numbers_of_players_are_left_out() -> None:
    found = differences(compared("germany-2018"), compared("germany-2004"), players=3)
    assert not [each.path for each in found.differences if each.path.endswith("[2]")]


def test_what_nodes_hold_is_compared() -> None:
    path = Path(__file__).parents[1] / "cases" / "tiles" / "tiles.yaml"
    a, b = (Compared(load(path, overlays)) for overlays in (["-tiles/fees"], []))
    (row,) = differences(a, b).differences
    assert (row.path, row.a, row.b) == ("graph.holds.coins.start", Side("plot.row"), Side("plot.row + 1"))


def test_the_command_gives_rows(tmp_path: Path) -> None:
    other = changed(tmp_path, "family.yaml", "black: 6", "black: 4") / "pebbles" / "pebbles.yaml"
    names = [str(ROOT / "pebbles" / "pebbles.yaml"), str(other)]
    result = CliRunner().invoke(cli, ["compare", *names, "-o", "json"])
    (row,) = json.loads(result.stdout)["rows"]
    assert row == {"chapter": "box", "kind": "number of tokens", "path": "tokens.pebble.black", "a": "6", "b": "4"}
    assert "pebble.black  6  →  4" in CliRunner().invoke(cli, ["compare", *names]).stdout
    assert "1/" not in CliRunner().invoke(cli, ["compare", "--all", *names]).stdout
    assert CliRunner().invoke(cli, ["compare", names[0]]).exit_code == 2


def test_what_is_known_of_one_side_does_not_depend_on_its_opponents() -> None:
    """Pairs of a family share what was found in a side; a pair by itself finds the same."""
    rulesets = [load(name) for name in ("germany-2004", "korea-2018", "germany-2018")]
    family = [Compared(each) for each in rulesets]
    for x, y in combinations(range(len(family)), 2):
        alone = differences(Compared(rulesets[x]), Compared(rulesets[y]))
        shared = differences(family[x], family[y])
        assert (shared.differences, shared.graph) == (alone.differences, alone.graph)


ASIDE = {
    **dict.fromkeys(("name", "owner", "section"), "its path"),
    **dict.fromkeys(("file", "span"), "where it is"),
    "in_page": "a page, no game",
    "check": "the rule is compared",
    "start_locals": "of the tree",
    "groups.range": "of hidden numbers, from the type",
    "sees": "the rule that `seen` names",
}
OTHERS: dict[str, Any] = {
    "type": BOOL, "order": "by number", "rank": core.Const(7), "seen": "owner", "top_shows": core.Const(7),
    "starts": "rest", "start": core.Const(7), "unlimited": True, "lasts": "phase",
    "spaces": "prices", "most": 7, "count": "shown", "counts": False, "seats": 7, "setting": "birds", "open": True,
    "default": 7, "range": (2, 5), "about": "other words",
}  # fmt: skip


@pytest.mark.parametrize(("section", "name"), [("groups", "deck"), ("roles", "person"), ("settings", "birds")])
def test_every_fact_of_a_declaration_is_told(section: str, name: str, tmp_path: Path) -> None:
    more = "settings: {birds: {value: int, default: 1, about: birds}}\n"
    a = loaded(write(tmp_path, "amount = amount + birds\nend game", sections=more))
    declared = getattr(a.model, section)
    fields = [each for each in declared[name].__struct_fields__ if not {each, f"{section}.{each}"} & ASIDE.keys()]
    assert len(fields) >= 3
    for field in fields:
        entry = replace(declared[name], **{field: OTHERS[field]})
        b = a.with_model(replace(a.model, **{section: {**declared, name: entry}}), a.program)
        assert entry != declared[name], field
        assert differences(Compared(a), Compared(b)).differences, field
