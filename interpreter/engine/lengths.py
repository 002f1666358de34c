"""Graphs for shortest paths: the links of a declared graph and their lengths."""

from __future__ import annotations

from interpreter.kernel.graphs import Graph
from interpreter.language.directed_links import ways_of
from interpreter.language.model import GraphDecl

__all__ = ["walkable"]


def walkable(graph: GraphDecl) -> tuple[Graph, tuple[int, ...]]:
    """Return the graph for path searches and its lengths, one for each link or, if they are computed, direction."""
    ways = ways_of(graph)
    if graph.measure is not None:
        links = tuple((way.start, way.end, number) for number, way in enumerate(ways))
        return Graph(len(graph.nodes), links, one_way=True), tuple(way.length for way in ways)
    links = tuple((link.a, link.b, number) for number, link in enumerate(graph.links))
    return Graph(len(graph.nodes), links), tuple(way.length for way in ways[::2])
