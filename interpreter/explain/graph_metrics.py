"""Metrics of a graph for its author: degrees, distances, bridges, and the cheapest starting networks.

Nodes and links with lengths go in, numbers come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush

from msgspec import Struct

from interpreter.engine.setup import walkable
from interpreter.kernel.graphs import Graph
from interpreter.language.model import GraphDecl

__all__ = ["Figures", "Network", "bridges_of", "figures_of", "first_nodes", "grown"]

_MOST_TRIED = 30_000
"""Maximum number of networks examined for one start; beyond it, the greedy result is returned."""


class Network(Struct, frozen=True):
    """The cheapest connected set of nodes that contains a start, in the order of joining, and the total length of
    its links. ``exact`` means that none is cheaper."""

    nodes: tuple[int, ...]
    length: int
    exact: bool


class Figures(Struct, frozen=True):
    """Metrics of a graph. Links are identified by number; a distance is None if there is no path."""

    degrees: tuple[int, ...]
    distances: tuple[tuple[int | None, ...], ...]
    bridges: tuple[int, ...]
    parts: int
    firsts: tuple[Network, ...]


def figures_of(graph: GraphDecl, first: int) -> Figures:
    """Compute the metrics of a graph. Links without length count 1. Bridges and parts ignore directions."""
    walked, lengths = walkable(graph)
    ways = [(start, end, lengths[number]) for start, end, number in walked.links]
    links = [(link.a, link.b, 1) for link in graph.links]
    count = len(graph.nodes)
    degrees = Counter(end for a, b, _ in links for end in (a, b))
    return Figures(
        tuple(degrees[node] for node in range(count)),
        tuple(walked.distances((node,), None, lengths) for node in range(count)),
        bridges_of(count, links),
        len(walked.components(range(count))),
        tuple(first_nodes(count, ways, node, first, one_way=walked.one_way) for node in range(count)),
    )


def bridges_of(count: int, links: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
    """Return the bridges, links whose removal disconnects nodes, in order."""

    def parts(left: Sequence[tuple[int, int, int]]) -> int:
        return len(Graph(count, tuple(left)).components(range(count)))

    joined = parts(links)
    return tuple(place for place in range(len(links)) if parts([*links[:place], *links[place + 1 :]]) > joined)


def first_nodes(
    count: int, links: Sequence[tuple[int, int, int]], start: int, first: int, *, one_way: bool = False
) -> Network:
    """Return the cheapest connected set of ``first`` nodes that contains a start; if links are ``one_way``, reachable
    from it.

    Passing through a node without taking it never pays: taking it instead of a node at an end of the network costs no
    more. So networks grow link by link, the cheapest one next, and the first that is large enough is the cheapest.
    """
    neighbours = _near(count, links, one_way)
    guess = grown(neighbours, start, first)
    queue: list[tuple[int, int, tuple[int, ...], int]] = [(0, -1, (start,), 1 << start)]
    cheapest = {1 << start: 0}  # length of each network found so far, by a number with a bit for each node
    tried = 0
    while queue:
        length, size, nodes, bits = heappop(queue)
        if -size == len(guess.nodes):
            return Network(nodes, length, True)
        if length > cheapest[bits]:
            continue
        if tried >= _MOST_TRIED:
            break
        tried += 1
        for other, step in _steps(neighbours, nodes, frozenset(nodes)).items():
            longer, more = length + step, bits | 1 << other
            if longer <= guess.length and longer < cheapest.get(more, longer + 1):
                cheapest[more] = longer
                heappush(queue, (longer, size - 1, (*nodes, other), more))
    return guess


def _near(count: int, links: Sequence[tuple[int, int, int]], one_way: bool = False) -> list[list[tuple[int, int, int]]]:
    """Return the links of each node, shortest first, as (length, other node, number of the link)."""
    neighbours: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for number, (a, b, length) in enumerate(links):
        neighbours[a].append((length, b, number))
        if not one_way:
            neighbours[b].append((length, a, number))
    return [sorted(others) for others in neighbours]


def _steps(
    neighbours: Sequence[Sequence[tuple[int, int, int]]], nodes: Sequence[int], taken: frozenset[int]
) -> dict[int, int]:
    """Return the nodes adjacent to a network, with the shortest link to each."""
    shortest: dict[int, int] = {}
    for node in nodes:
        for length, other, _ in neighbours[node]:
            if other not in taken and length < shortest.get(other, length + 1):
                shortest[other] = length
    return shortest


def grown(neighbours: Sequence[Sequence[tuple[int, int, int]]], start: int, first: int) -> Network:
    """Grow a network greedily, always by the nearest node: a good upper bound for the cheapest one."""
    nodes: tuple[int, ...] = (start,)
    length = 0
    while len(nodes) < first:
        steps = _steps(neighbours, nodes, frozenset(nodes))
        if not steps:
            break
        step, other = min((step, other) for other, step in steps.items())
        nodes, length = (*nodes, other), length + step
    return Network(nodes, length, len(nodes) == 1)
