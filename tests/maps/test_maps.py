"""Boards as they are printed: what is in a map file agrees with the figures kept beside this test."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import networkx as nx
import pytest
import yaml

import interpreter
from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.pipeline import examine
from interpreter.engine.ruleset import Ruleset, find
from interpreter.language.model import GraphDecl

FAMILY = Path(__file__).parents[2] / "rulesets" / "power-grid"
FIGURES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("figures.yaml").read_text(encoding="utf-8"))
MAPS = {path.stem: path for path in sorted((FAMILY / "maps").glob("*.yaml"))}


EXPANSIONS = [
    "australia",
    "benelux",
    "bremen",
    "central-europe",
    "china",
    "india",
    "japan",
    "korea",
    "manhattan",
    "middle-east",
    "quebec",
    "russia",
    "uk-ireland",
]
RULES = {"state", "seats", "rules", "parts", "decisions", "triggers", "standing", "with"}
"""The sections of a map that hold what is to be done, without graph, tables, words and bots."""


def rulesets_with(name: str) -> list[str]:
    """The rulesets that are played on a map."""
    line = f"map: power-grid/{name}"
    paths = sorted(FAMILY.glob("*.yaml"))
    return [path.stem for path in paths if line in path.read_text(encoding="utf-8").splitlines()]


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
        assert constants.graph is not None
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
    shipped = (FAMILY / "germany-2018.yaml").read_text(encoding="utf-8")
    ruleset = folder / "power-grid" / "small.yaml"
    ruleset.write_text(shipped.replace("germany-2018", "small"), encoding="utf-8")
    shelf, document, found = find(ruleset)
    assert document is not None
    return [*found, *examine(shelf, document).diagnostics]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"north": 8, "south": 8, "east": 8, "west": 8, "lake": 8}, []),
        (
            {"north": 3, "south": 3, "east": 3, "west": 3},
            ["`regions_in_play` breaks this law with 5 players", "`end_cities` breaks this law with 2 players"],
        ),
        (
            {"north": 9, "south": 9, "east": 9, "west": 9, "lake": 0},
            ["`regions_in_play` breaks this law"],
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
    assert refused.message.startswith("`regions_in_play` breaks this law")
    assert [note.message for note in refused.notes] == ["tested with the map power-grid/small"]
    assert (refused.help or "").endswith(f"`{LIFTED}`")
    for way_out in (LIFTED, COVERED):
        assert small_map(tmp_path / way_out[:5], sizes, broken_after=23, own=way_out) == []


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
    assert median(own_rules(MAPS[name]) for name in EXPANSIONS) <= 40
