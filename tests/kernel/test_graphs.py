"""Graphs: distances, paths and components agree with networkx; what is kept is never stale."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.kernel import graphs
from interpreter.kernel.graphs import Graph


class Case(NamedTuple):
    """A graph, a length for each link, and some nodes of it (sets as sorted tuples, ``within`` maybe none)."""

    graph: Graph
    lengths: tuple[int, ...]
    starts: tuple[int, ...]
    goal: int
    within: tuple[int, ...] | None


@st.composite
def cases(draw: st.DrawFn, most: int = 12) -> Case:
    """Random cases: loops, parallel links, one-way links, lengths of 0, shared lengths and islands included."""
    count = draw(st.integers(1, most))
    node = st.integers(0, count - 1)
    some_nodes = st.sets(node).map(lambda nodes: tuple(sorted(nodes)))
    lengths = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=2 * most)))
    link = st.tuples(node, node, st.integers(0, len(lengths) - 1))
    links = tuple(draw(st.lists(link, max_size=2 * most)))
    graph = Graph(count, links, one_way=draw(st.booleans()))
    return Case(graph, lengths, draw(some_nodes), draw(node), draw(st.none() | some_nodes))


def oracle(case: Case) -> Any:
    """The case as a networkx graph: the nodes within, the shortest of parallel links."""
    whole = nx.DiGraph() if case.graph.one_way else nx.Graph()
    whole.add_nodes_from(range(case.graph.node_count))
    for a, b, index in case.graph.links:
        length = case.lengths[index]
        if a != b and (not whole.has_edge(a, b) or whole[a][b]["weight"] > length):
            whole.add_edge(a, b, weight=length)
    return whole if case.within is None else whole.subgraph(case.within)


@given(cases())
def test_distances_agree_with_networkx(case: Case) -> None:
    inside = oracle(case)
    starts = [start for start in case.starts if start in inside]
    wanted = nx.multi_source_dijkstra_path_length(inside, starts) if starts else {}
    found = case.graph.distances(case.starts, case.within, case.lengths)
    assert found == tuple(wanted.get(node) for node in range(case.graph.node_count))
    assert found == case.graph.distances(case.starts, case.within, list(case.lengths))
    asked_before = Graph(case.graph.node_count, case.graph.links, case.graph.one_way)
    asked_before.distances(tuple(range(case.graph.node_count)), case.within, case.lengths)
    assert found == asked_before.distances(case.starts, case.within, case.lengths)


@given(cases(most=6))
def test_path_is_the_first_of_the_cheapest(case: Case) -> None:
    inside = oracle(case)
    ways = []
    if case.goal in inside:
        for start in case.starts:
            if start == case.goal:
                ways.append((0, 0, (start,)))
            elif start in inside:
                for nodes in nx.all_simple_paths(inside, start, case.goal):
                    ways.append((nx.path_weight(inside, nodes, "weight"), len(nodes) - 1, tuple(nodes)))
    found = case.graph.path(case.starts, case.goal, case.within, case.lengths)
    assert found == (min(ways)[2] if ways else None)


@given(cases())
def test_path_costs_the_distance(case: Case) -> None:
    path = case.graph.path(case.starts, case.goal, case.within, case.lengths)
    distance = case.graph.distances(case.starts, case.within, case.lengths)[case.goal]
    if path is None:
        assert distance is None
        return
    assert path[0] in case.starts
    assert path[-1] == case.goal
    assert nx.path_weight(oracle(case), path, "weight") == distance


@given(cases())
def test_components_agree_with_networkx(case: Case) -> None:
    whole = oracle(case._replace(within=None))
    joined = nx.Graph(whole.subgraph(case.starts))
    wanted = sorted(tuple(sorted(group)) for group in nx.connected_components(joined))
    assert case.graph.components(reversed(case.starts)) == tuple(wanted)
    assert case.graph.connected(case.starts) == (len(wanted) <= 1)


@given(cases())
def test_neighbours_agree_with_networkx(case: Case) -> None:
    whole = oracle(case._replace(within=None))
    assert case.graph.neighbours(case.goal) == tuple(sorted(whole[case.goal]))


LINE = Graph(4, ((0, 1, 0), (1, 2, 1), (2, 3, 2)))


def test_nothing_and_single_nodes_are_connected() -> None:
    assert LINE.connected(())
    assert LINE.connected((3,))
    assert LINE.connected((2, 1, 2))
    assert not LINE.connected((0, 2))


def test_lengths_that_change_are_seen() -> None:
    lengths = [1, 2, 3]
    assert LINE.distances((0,), None, lengths) == (0, 1, 3, 6)
    lengths[0] = 5
    assert LINE.distances((0,), None, lengths) == (0, 5, 7, 10)
    assert LINE.distances((0,), None, (1, 2, 3)) == (0, 1, 3, 6)
    assert LINE.distances((0,), None, tuple(lengths)) == (0, 5, 7, 10)


def test_answers_are_kept_for_one_tuple_of_lengths() -> None:
    lengths, others = (1, 2, 3), (3, 2, 1)
    first = LINE.distances((0,), (0, 1, 2), lengths)
    assert LINE.distances((0,), (0, 1, 2), lengths) is first
    assert LINE.distances((0,), (0, 1, 2), others) == (0, 3, 5, None)
    assert LINE.distances((0,), (0, 1, 2), lengths) == first
    assert LINE.distances((0,), None, lengths) == (0, 1, 3, 6)
    assert LINE.distances((0, 3), None, lengths) == (0, 1, 3, 0)


def test_answers_go_on_from_those_with_one_start_less() -> None:
    graph, lengths = Graph(4, LINE.links), (1, 2, 0)
    assert graph.distances((), None, lengths) == (None,) * 4
    for starts in ((2,), (2, 0), (0, 2), (1, 2), (1, 2, 2), (0, 1, 2, 3)):
        wanted = [min(abs((0, 1, 3, 3)[start] - (0, 1, 3, 3)[node]) for start in starts) for node in range(4)]
        assert graph.distances(starts, None, lengths) == tuple(wanted)


def test_kept_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_MOST_KEPT", 2)
    graph, lengths = Graph(4, LINE.links), (1, 1, 1)
    for start in (0, 1, 2, 3, 0):
        assert graph.distances((start,), None, lengths) == tuple(abs(start - node) for node in range(4))
        assert graph._distances.cache_info().currsize <= 2  # type: ignore[attr-defined]


def test_a_graph_is_a_value() -> None:
    LINE.distances((0,), None, (1, 2, 3))
    assert Graph(4, LINE.links) == LINE
    assert hash(Graph(4, LINE.links)) == hash(LINE)
    for other in (copy.copy(LINE), copy.deepcopy(LINE), pickle.loads(pickle.dumps(LINE))):
        assert other == LINE
        assert other.distances((3,), None, (1, 2, 3)) == (6, 5, 3, 0)
    with pytest.raises(FrozenInstanceError):
        setattr(LINE, "node_count", 5)  # noqa: B010


@pytest.mark.parametrize("link", [(0, 2, 0), (-1, 0, 0), (0, 1, -1)])
def test_links_that_lead_nowhere(link: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="want two nodes below 2"):
        Graph(2, (link,))


def test_lengths_below_zero_and_missing_ones() -> None:
    for lengths in ([1, -2, 1], (1, -2, 1)):
        with pytest.raises(ValueError, match="got a length of -2, want 0 or more"):
            LINE.distances((0,), None, lengths)
        with pytest.raises(ValueError, match="got a length of -2, want 0 or more"):
            LINE.path((0,), 1, None, lengths)
    with pytest.raises(IndexError):
        LINE.distances((0,), None, (1,))


def test_a_graph_without_nodes() -> None:
    empty = Graph(0, ())
    assert empty.distances((), None, ()) == ()
    assert empty.components(()) == ()
