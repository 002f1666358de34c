"""Figures of graphs: a small one by hand, and many small ones by trying everything."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interpreter
from interpreter.explain.graph_metrics import bridges_of, figures_of, first_nodes

ISLES = Path(__file__).parents[1] / "cases" / "building" / "isles.yaml"
Links = list[tuple[int, int, int]]


def test_a_small_graph_by_hand() -> None:
    """Ask–Bo 3, Bo–Col 4, Ask–Dun 9, Col–Dun 1, Dun–Insel Ö 2, Insel Ö–Far Rock 20."""
    graph = interpreter.load(ISLES).model.graph
    assert graph is not None
    names = [node.name for node in graph.nodes]
    figures = figures_of(graph, 3)
    assert dict(zip(names, figures.degrees, strict=True)) == {
        "Ask": 2,
        "Bo": 2,
        "Col": 2,
        "Dun": 3,
        "Insel Ö": 2,
        "Far Rock": 1,
    }
    assert figures.distances[0] == (0, 3, 7, 8, 10, 30)  # from Ask; by Bo and Col to Dun, not by the link of 9
    assert [(graph.links[link].a, graph.links[link].b) for link in figures.bridges] == [(3, 4), (4, 5)]
    assert figures.parts == 1
    firsts = {names[first.nodes[0]]: ({names[node] for node in first.nodes}, first.length) for first in figures.firsts}
    assert firsts == {
        "Ask": ({"Ask", "Bo", "Col"}, 7),
        "Bo": ({"Bo", "Col", "Dun"}, 5),
        "Col": ({"Col", "Dun", "Insel Ö"}, 3),
        "Dun": ({"Col", "Dun", "Insel Ö"}, 3),
        "Insel Ö": ({"Col", "Dun", "Insel Ö"}, 3),
        "Far Rock": ({"Far Rock", "Insel Ö", "Dun"}, 22),
    }


def test_ways_that_differ_by_direction() -> None:
    """Each link with its toll in each direction in which it is sailed, as a graph of networkx has them."""
    graph = interpreter.load(ISLES.parents[1] / "ferries" / "ferries.yaml").model.graph
    assert graph is not None
    names, whole = [node.name for node in graph.nodes], nx.DiGraph()
    whole.add_nodes_from(range(5))
    for link in graph.links:
        whole.add_edge(link.a, link.b, weight=link.values["fare"] + graph.nodes[link.b].values["toll"])
        if not link.values["ferry"]:
            whole.add_edge(link.b, link.a, weight=link.values["fare"] + graph.nodes[link.a].values["toll"])
    figures = figures_of(graph, 3)
    wanted = dict(nx.all_pairs_dijkstra_path_length(whole))
    assert figures.distances == tuple(tuple(wanted[a].get(b) for b in range(5)) for a in range(5))
    assert figures.parts == 2
    firsts = {names[first.nodes[0]]: ({names[node] for node in first.nodes}, first.length) for first in figures.firsts}
    assert firsts["Bo"] == ({"Bo", "Col", "Ask"}, 1 + 1)
    assert firsts["Dun"] == ({"Dun", "Eel"}, 3)
    assert firsts["Eel"] == ({"Eel"}, 0)


def test_the_nearest_next_node_is_not_always_part_of_the_cheapest_network() -> None:
    links = [(0, 1, 2), (1, 2, 10), (0, 3, 3), (3, 4, 0)]
    found = first_nodes(5, links, 0, 3)
    assert (set(found.nodes), found.length, found.exact) == ({0, 3, 4}, 3, True)


def test_a_network_ends_where_no_link_leads_on() -> None:
    found = first_nodes(4, [(0, 1, 5), (2, 3, 1)], 0, 7)
    assert (found.nodes, found.length) == ((0, 1), 5)
    assert first_nodes(1, [], 0, 7).nodes == (0,)


def test_a_graph_with_too_many_networks_is_answered_by_a_good_guess() -> None:
    links = [(0, node, 1) for node in range(1, 60)]
    found = first_nodes(60, links, 0, 9)
    assert (len(found.nodes), found.length, found.exact) == (9, 8, False)


def test_of_two_links_between_the_same_nodes_none_is_a_bridge() -> None:
    assert bridges_of(3, [(0, 1, 1), (1, 0, 2), (1, 2, 1)]) == (2,)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Links]:
    count = draw(st.integers(2, 8))
    pairs = st.sampled_from([(a, b) for a in range(count) for b in range(a)])
    chosen = draw(st.lists(pairs, unique=True, max_size=14))
    return count, [(a, b, draw(st.integers(0, 9))) for a, b in chosen]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs())
def test_bridges_agree_with_networkx(some: tuple[int, Links]) -> None:
    count, links = some
    graph: nx.Graph[int] = nx.Graph([(a, b) for a, b, _ in links])
    want = {frozenset(bridge) for bridge in nx.bridges(graph)}
    assert {frozenset(links[link][:2]) for link in bridges_of(count, links)} == want


@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs(), st.integers(1, 5))
def test_no_choice_of_nodes_can_be_joined_for_less(some: tuple[int, Links], first: int) -> None:
    """Any nodes with the start, each joined to those before by a cheapest way, through whatever lies between."""
    count, links = some
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from(links)
    ways = dict(nx.all_pairs_dijkstra_path_length(graph))
    reached = sorted(set(ways[0]) - {0})
    size = min(first, len(reached) + 1)
    costs = []
    for others in combinations(reached, size - 1):
        closed: nx.Graph[int] = nx.Graph()
        closed.add_node(0)
        closed.add_weighted_edges_from((a, b, ways[a][b]) for a, b in combinations((0, *others), 2))
        costs.append(nx.minimum_spanning_tree(closed).size(weight="weight"))
    found = first_nodes(count, links, 0, first)
    assert found.exact
    assert len(set(found.nodes)) == size
    assert found.length == pytest.approx(min(costs))
