"""Figures of a graph: its size, its distances, and the lengths of its short networks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from interpreter.engine.setup import walkable
from interpreter.explain.graph_metrics import grown
from interpreter.language.model import GraphDecl

__all__ = ["Distances", "GraphFigures", "distances_of", "figures_of", "network_of"]

Row = Sequence[int | None]


class Distances(Struct, frozen=True):
    """Shortest distances between all nodes. If lengths are dealt during set-up, each link counts 1."""

    rows: tuple[Row, ...]
    lengths: tuple[int, ...]
    one_way: bool


class GraphFigures(Struct, frozen=True):
    """Size of a graph, and the mean and maximum of its shortest paths."""

    nodes: int
    links: int
    length: int
    mean_distance: float | None
    longest_distance: int


def distances_of(graph: GraphDecl) -> Distances:
    """Return the distances between all nodes of a graph."""
    walked, lengths = walkable(graph)
    rows = tuple(walked.distances((node,), None, lengths) for node in range(len(graph.nodes)))
    return Distances(rows, lengths, walked.one_way)


def figures_of(graph: GraphDecl, distances: Distances) -> GraphFigures:
    """Return the figures of a whole graph."""
    known = [way for node, row in enumerate(distances.rows) for way in row[node + 1 :] if way is not None]
    mean = sum(known) / len(known) if known else None
    return GraphFigures(len(graph.nodes), len(graph.links), sum(distances.lengths), mean, max(known, default=0))


def network_of(distances: Distances, size: int) -> int | None:
    """Return the length of a network of ``size`` nodes that always grows to the nearest node, from the best start.
    Return None if no start reaches that size."""
    ways = [[(way, node, node) for node, way in enumerate(row) if way is not None] for row in distances.rows]
    networks = (grown(ways, start, size) for start in range(len(ways)))
    return min((network.length for network in networks if len(network.nodes) == size), default=None)
