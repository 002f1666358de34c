"""Boards as they are printed: what is in a map file agrees with the figures kept beside this test."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import networkx as nx
import pytest
import yaml

import interpreter
from interpreter.authoring.validation import validate
from interpreter.base.diagnostics import Diagnostic
from interpreter.base.yaml_values import word
from interpreter.engine.game import Ruleset
from interpreter.language.model import GraphDecl
from interpreter.loading.load import find
from interpreter.loading.pipeline import examine
from interpreter.reading.files import shelf_for
from interpreter.reading.ruleset_files import rulesets_of

FAMILY = Path(__file__).parents[2] / "rulesets" / "power-grid"
FIGURES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("figures.yaml").read_text(encoding="utf-8"))
MAPS = {path.stem: path for path in sorted((FAMILY / "maps").glob("*.yaml"))}


EXPANSIONS = [
    "australia",
    "benelux",
    "brazil",
    "bremen",
    "central-europe",
    "china",
    "europe",
    "india",
    "japan",
    "korea",
    "manhattan",
    "middle-east",
    "north-america",
    "northern-europe",
    "quebec",
    "russia",
    "south-africa",
    "spain-portugal",
    "uk-ireland",
]
RULES = {"state", "seats", "rules", "parts", "decisions", "triggers", "standing", "with"}
"""The sections of a map that hold what is to be done, without graph, tables, words and bots."""


def rulesets_with(name: str) -> list[str]:
    """The rulesets that are played on a map."""
    return [each.id for each in rulesets_of(shelf_for()) if word(each.head.map) == f"power-grid/{name}"]


@lru_cache(maxsize=1)
def ruleset_with(name: str) -> Ruleset:
    return interpreter.load(rulesets_with(name)[0])


def graph_of(name: str) -> GraphDecl:
    graph = ruleset_with(name).model.graph
    assert graph is not None
    return graph


def network_of(name: str) -> nx.Graph[str]:
    return nx.Graph(ways_of(name))


def ways_of(name: str) -> nx.DiGraph[str]:
    """Each link in both directions, with its cost and what entering a node costs on boards that say so."""
    graph = graph_of(name)
    toll = FIGURES[name].get("entering")
    found: nx.DiGraph[str] = nx.DiGraph()
    found.add_nodes_from(node.name for node in graph.nodes)
    for link in graph.links:
        for a, b in ((link.a, link.b), (link.b, link.a)):
            cost = link.values.get("cost", FIGURES[name].get("each", 0)) + (graph.nodes[b].values[toll] if toll else 0)
            found.add_edge(graph.nodes[a].name, graph.nodes[b].name, weight=cost)
    return found


def regions_of(name: str) -> dict[str, str]:
    """The region of each city."""
    members = ruleset_with(name).model.kinds["region"].members
    return {node.name: members[node.values["region"]] for node in graph_of(name).nodes}


def test_every_map_is_played_and_has_figures() -> None:
    assert set(MAPS) == set(FIGURES)
    assert [name for name in MAPS if not rulesets_with(name)] == []


@pytest.mark.parametrize("name", MAPS, scope="module")  # map by map, so that each is loaded once
class TestMap:
    @pytest.mark.slow
    def test_cities_and_regions_are_counted(self, name: str) -> None:
        regions = list(regions_of(name).values())
        assert len(regions) == FIGURES[name]["cities"]
        assert {region: regions.count(region) for region in regions} == FIGURES[name]["regions"]

    def test_links_are_counted_and_each_stands_once(self, name: str) -> None:
        graph, toll = graph_of(name), FIGURES[name].get("entering")
        links = graph.links
        assert len(links) == FIGURES[name]["links"]
        assert len({frozenset((link.a, link.b)) for link in links}) == len(links)
        assert all(link.a != link.b for link in links)
        costs = (
            [node.values[toll] for node in graph.nodes]
            if toll
            else [link.values.get("cost", FIGURES[name].get("each")) for link in links]
        )
        assert sum(costs) == FIGURES[name]["costs"]

    def test_links_that_cost_nothing(self, name: str) -> None:
        free = {frozenset((a, b)) for a, b, cost in network_of(name).edges(data="weight") if cost == 0}
        assert free == {frozenset(pair) for pair in FIGURES[name]["free"]}

    def test_it_falls_into_its_pieces_and_no_two_links_need_to_cross(self, name: str) -> None:
        network = network_of(name)
        assert nx.number_connected_components(network) == FIGURES[name].get("pieces", 1)
        assert nx.check_planarity(network)[0]

    def test_each_region_hangs_together_but_for_cities_that_are_named(self, name: str) -> None:
        network, regions = network_of(name), regions_of(name)
        for region in FIGURES[name]["regions"]:
            cities = {city for city in network if regions[city] == region}
            apart = cities & set(FIGURES[name].get("apart", ()))
            assert nx.is_connected(network.subgraph(cities - apart)), region
            assert all(not set(network[city]) & (cities - apart) for city in apart), region

    def test_regions_border_as_printed(self, name: str) -> None:
        regions = regions_of(name)
        borders = {frozenset((regions[a], regions[b])) for a, b in network_of(name).edges}
        assert {pair for pair in borders if len(pair) == 2} == {frozenset(pair) for pair in FIGURES[name]["borders"]}

    def test_the_cheapest_ways(self, name: str) -> None:
        ruleset, network = ruleset_with(name), ways_of(name)
        number = {node.name: i for i, node in enumerate(graph_of(name).nodes)}
        constants = ruleset.table(ruleset.players.high, ruleset.settings({})).machine.constants
        assert constants.graph.node_count
        for figure in FIGURES[name]["ways"]:
            way, cost = figure["way"], figure["cost"]
            assert sum(network.edges[pair]["weight"] for pair in pairwise(way)) == cost, way
            assert nx.dijkstra_path_length(network, way[0], way[-1]) == cost, way
            distances = constants.graph.distances((number[way[0]],), None, constants.lengths)
            assert distances[number[way[-1]]] == cost, way

    def test_cities_have_places_of_their_own_on_the_picture(self, name: str) -> None:
        rows = nodes_table(MAPS[name])
        assert len({(row["x"], row["y"]) for row in rows}) == len(rows) == FIGURES[name]["cities"]
        assert all(0 <= int(row[axis]) <= 1000 for row in rows for axis in "xy")

    def test_the_box_holds_what_is_played_with(self, name: str) -> None:
        model = ruleset_with(name).model
        counts = {each.name: each.count for each in model.components.values()}
        assert counts["resource_tokens"] == sum(each or 0 for each in model.kinds["resource"].totals or ())
        assert (counts["plant_cards"] or 0) + (counts["stage_3_card"] or 0) == sum(each.copies for each in model.cards)


def nodes_table(path: Path) -> list[dict[str, str]]:
    text = yaml.safe_load(path.read_text(encoding="utf-8"))["nodes"]
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.strip())
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_the_boards_differ_where_their_files_say() -> None:
    """The links that were in doubt between sources, or that the file tells apart from another edition."""
    usa = network_of("usa-2018")
    assert not usa.has_edge("Boise", "Cheyenne")
    assert not usa.has_edge("Cincinnati", "Raleigh")
    costs = {
        ("Knoxville", "Raleigh"): 11,
        ("Chicago", "Omaha"): 12,
        ("Chicago", "Duluth"): 12,
        ("Houston", "Santa Fe"): 20,
    }
    assert {pair: usa.edges[pair]["weight"] for pair in costs} == costs
    germany = network_of("germany-2018")
    assert germany.edges["Essen", "Dortmund"]["weight"] == 5
    assert germany.edges["Mannheim", "Saarbrücken"]["weight"] == 16
    assert {"Stralsund", "Mainz"} <= set(germany)
    older = network_of("germany-2004")
    assert older.edges["Essen", "Dortmund"]["weight"] == 4
    assert older.edges["Mannheim", "Saarbrücken"]["weight"] == 11
    assert {"Torgelow", "Wiesbaden"} == set(older) - set(germany)
    older = network_of("usa-2004")
    changed = {frozenset(pair) for pair in older.edges} ^ {frozenset(pair) for pair in usa.edges}
    assert changed == {
        frozenset(p) for p in (("Boise", "Cheyenne"), ("Cincinnati", "Raleigh"), ("Knoxville", "Raleigh"))
    }
    assert (older.edges["Boise", "Cheyenne"]["weight"], older.edges["Cincinnati", "Raleigh"]["weight"]) == (24, 15)
    assert older.edges["Chicago", "Omaha"]["weight"] == 13
    assert older.edges["Houston", "Santa Fe"]["weight"] == 21


def small_map(folder: Path, sizes: dict[str, int], broken_after: int | None = None, own: str = "") -> list[Diagnostic]:
    """What the checker says of a map of so many regions, whose cities stand in one row, which may be broken in two."""
    regions = [region for region, size in sizes.items() for _ in range(size)]
    nodes = [f"  C{number} | {region}" for number, region in enumerate(regions)]
    links = [f"  C{number} | C{number + 1} | 5" for number in range(len(regions) - 1) if number != broken_after]
    kinds = f"kinds: {{region: [{', '.join(sizes)}]}}"
    head = ["language: 2", "map: power-grid/small", kinds]
    if broken_after is not None:
        head.append("graph: {amends: power-grid, pieces: 2}")
    lines = [*head, *own.splitlines(), "nodes: |", "  name | region", *nodes]
    lines = [*lines, "links: |", "  from | to | cost", *links]
    (folder / "power-grid" / "maps").mkdir(parents=True)
    (folder / "power-grid" / "maps" / "small.yaml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    shelf, document, found = find(folder / "power-grid" / "small-2018.yaml")
    assert document is not None
    return [*found, *examine(shelf, document).diagnostics]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"north": 8, "south": 8, "east": 8, "west": 8, "lake": 8}, []),
        (
            {"north": 3, "south": 3, "east": 3, "west": 3},
            [
                "`regions_in_play` breaks its law `enough_regions` with 5 and 6 players",
                "`end_cities` breaks its law `enough_cities` with 2, 3, 4, 5 and 6 players",
            ],
        ),
        (
            {"north": 9, "south": 9, "east": 9, "west": 9, "lake": 0},
            ["`regions_in_play` breaks its law `cities_in_each`"],
        ),
    ],
)
def test_a_map_that_is_too_small_for_the_tables_is_refused(
    tmp_path: Path, sizes: dict[str, int], said: list[str]
) -> None:
    found = small_map(tmp_path, sizes)
    assert {each.code for each in found} <= {"E414"}
    assert sorted(each.message.split(": ")[0] for each in found) == sorted(said)


LIFTED = "tables: {regions_in_play: {amends: power-grid, laws: {regions_hang_together: nothing}}}"
COVERED = """rules:
  may_lie_together:
    replaces: power-grid
    is: |
      yes"""


def test_a_board_in_pieces_is_refused_until_it_says_which_regions_lie_together(tmp_path: Path) -> None:
    """The message names the map, and the line that it proposes lifts the law."""
    sizes = {"north": 8, "south": 8, "east": 8, "west": 8, "lake": 8}
    [refused] = small_map(tmp_path, sizes, broken_after=23)
    assert refused.message == "`regions_in_play` breaks its law `regions_hang_together`"
    assert refused.span is not None
    assert refused.span.file.name.endswith("maps/small.yaml")
    assert [note.message for note in refused.notes] == ["the law"]
    assert "rules: {may_lie_together: {replaces: power-grid, is: …}}" in (refused.help or "")
    assert (refused.help or "").endswith(f"`{LIFTED}`")
    for way_out in (LIFTED, COVERED):
        assert small_map(tmp_path / way_out[:5], sizes, broken_after=23, own=way_out) == []


FIVE = dict.fromkeys(("north", "south", "east", "west", "lake"), 8)
TINY = {"north": 3, "south": 3, "east": 3, "west": 3}


def test_a_law_is_told_at_the_line_of_the_map_with_mends_that_work(tmp_path: Path) -> None:
    cities, regions = sorted(small_map(tmp_path / "as-is", TINY), key=lambda each: each.message)
    assert [(each.span.file.name[-10:], each.span.text[:6]) for each in (cities, regions) if each.span] == [
        ("small.yaml", "nodes"),
        ("small.yaml", "region"),
    ]
    for number, told in enumerate((cities, regions)):
        mends = re.findall("`(tables: .*?|players: .*?)`(?:;|$)", told.help or "")
        assert [mend[:7] for mend in mends] == (
            ["tables:", "tables:"] if told is cities else ["tables:", "players", "tables:"]
        )
        for place, mend in enumerate(mends):
            left = small_map(tmp_path / f"{number}-{place}", TINY, own=mend)
            law = told.message.partition(" with ")[0]
            assert [each for each in left if each.message.startswith(law)] == []


def test_only_the_allowed_numbers_of_players_are_tested(tmp_path: Path) -> None:
    [told] = small_map(tmp_path, TINY, own="players: 3..4")
    assert told.message.startswith("`end_cities` breaks its law `enough_cities` with 3 and 4 players: with 3, ")
    root = tmp_path / "power-grid" / "maps" / "small.yaml"
    result = validate([str(root)])
    assert {each.message.partition(" players")[0] for each in result.diagnostics} == {
        told.message.partition(" players")[0]
    }


def test_what_a_map_lays_out_is_told_at_its_line_by_kind(tmp_path: Path) -> None:
    for own, text, message in (
        (
            "tables: {market_start: {amends: power-grid, cells: {coal: 27}}}",
            "27",
            "more than its spaces take: 27 coal on 24",
        ),
        (
            "tokens: {resource: {amends: power-grid, oil: 10}}",
            "resource",
            "got 18 oil in the starting layout, want at most 10",
        ),
    ):
        [told] = small_map(tmp_path / text, FIVE, own=own)
        assert (told.code, told.span and told.span.text) == ("E311", text)
        assert message in told.message


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("kinds: {region: [north, south, east, west, lake]}", ""), ["nodes: E509 `region` is open: no file of this"]),
        (("C0 | C1 | 5", "C0 | C1 | -5"), ["-5: E413 a link's `cost` is below 0"]),
        (("from | to | cost", "from | to | cost | toll"), ["E020", "E304"]),
        (("C1 | ", "C1 | 3 | "), ["C1 | 3 | north: E020 got 3 cells, want 2"]),
        (("C1 | north", "C1"), ["C1: E020 got 1 cell, want 2"]),
        (("nodes: |", "graph: {amends: power-grid, pieces: 2}\nnodes: |"), ["2: E412 got 1 piece, with `C0`, want 2"]),
        (
            ("nodes: |", "tables: {market_spaces: {amends: power-grid, cells: {'coal, 1': 1}}}\nnodes: |"),
            ["1: E311 `resource_market` starts with more than its spaces take: 24 coal on 22 spaces"],
        ),
    ],
)
def test_mistakes_of_a_first_board_are_told_at_its_lines_alone(
    tmp_path: Path, change: tuple[str, str], told: list[str]
) -> None:
    assert small_map(tmp_path, FIVE) == []
    path = tmp_path / "power-grid" / "maps" / "small.yaml"
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    found = validate([str(path)]).diagnostics
    assert {each.span.file.name.endswith("small.yaml") for each in found if each.span} == {True}
    shown = {f"{each.span.text}: {each.code} {each.message}" for each in found if each.span}
    if len(told) == 1:
        assert [text.startswith(told[0]) for text in shown] == [True]
    else:
        assert {each.code for each in found} == set(told)


def test_a_map_that_amends_one_edition_is_told_how(tmp_path: Path) -> None:
    """The proposed `with` holds beside that edition, and the map has no error in the other one."""
    amended = "playing_cards: {amends: power-grid/2018, count: 55}"
    assert small_map(tmp_path / "one", FIVE, own=f"components: {{{amended}}}") == []
    [told] = validate([str(tmp_path / "one" / "power-grid" / "maps" / "small.yaml")]).diagnostics
    assert (told.code, "`with: {power-grid/2018: {components: …}}`" in (told.help or "")) == ("E502", True)
    beside = f"with: {{power-grid/2018: {{components: {{{amended}}}}}}}"
    assert small_map(tmp_path / "two", FIVE, own=beside) == []
    assert validate([str(tmp_path / "two" / "power-grid" / "maps" / "small.yaml")]).diagnostics == []


def own_rules(path: Path) -> int:
    """The lines of a map's own rules, without comments, citations and explanations."""
    section, count = "", 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if line[:1].isalpha():
            section = line.partition(":")[0]
        elif section in RULES and line.strip() and not line.strip().startswith(("#", "cites:", "about:")):
            count += 1
    return count


def test_an_expansion_board_needs_few_rules_of_its_own() -> None:
    assert median(own_rules(MAPS[name]) for name in EXPANSIONS) <= 30
