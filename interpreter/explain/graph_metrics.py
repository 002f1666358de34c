"""Figures of a graph that its author may want: degrees, distances, bridges, and the cheapest first nodes of a network.

In go nodes and links with lengths, out come numbers; what they mean in a game is left to others.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from interpreter.base.frozen import dataclass
from interpreter.engine.lengths import walkable
from interpreter.language.model import GraphDecl

__all__ = ["Figures", "Network", "bridges_of", "figures_of", "first_nodes"]

_MOST_TRIED = 30_000
"""So many networks are looked at for one start; a graph in which that does not suffice is answered by a good guess."""


@dataclass(frozen=True, slots=True)
class Network:
    """The cheapest connected nodes with a start among them, in the order in which they are joined, and what the links
    between them cost. ``exact``: surely none is cheaper."""

    nodes: tuple[int, ...]
    length: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """Metrics of a graph. A link is its number; ``distances`` holds none where no way leads."""

    degrees: tuple[int, ...]
    distances: tuple[tuple[int | None, ...], ...]
    bridges: tuple[int, ...]
    parts: int
    firsts: tuple[Network, ...]


def figures_of(graph: GraphDecl, first: int) -> Figures:
    """The figures of a family's graph. Where its links have no length, each counts 1; bridges and pieces are those of
    links whichever way they lead, all else goes by the ways that they lead."""
    walked, lengths = walkable(graph)
    ways = [(start, end, lengths[number]) for start, end, number in walked.links]
    links = [(link.a, link.b, 1) for link in graph.links]
    count = len(graph.nodes)
    degrees = [0] * count
    for a, b, _ in links:
        degrees[a] += 1
        degrees[b] += 1
    return Figures(
        tuple(degrees),
        tuple(walked.distances((node,), None, lengths) for node in range(count)),
        bridges_of(count, links),
        len(walked.components(range(count))),
        tuple(first_nodes(count, ways, node, first, one_way=walked.one_way) for node in range(count)),
    )


def bridges_of(count: int, links: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
    """The links without which some nodes would be cut off from others (Tarjan 1974), in order."""
    near = _near(count, links)
    seen = [0] * count  # when a node was come to, from 1
    low = [
        0
    ] * count  # the earliest node that can be come to from it or from behind it, without the link it was come by
    found: list[int] = []
    time = 0
    for root in range(count):
        if seen[root]:
            continue
        time += 1
        seen[root] = low[root] = time
        path = [(root, -1, iter(near[root]))]
        while path:
            node, by, others = path[-1]
            for _, other, link in others:
                if link == by:
                    continue
                if seen[other]:
                    low[node] = min(low[node], seen[other])
                    continue
                time += 1
                seen[other] = low[other] = time
                path.append((other, link, iter(near[other])))
                break
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    low[before] = min(low[before], low[node])
                    if low[node] > seen[before]:
                        found.append(by)
    return tuple(sorted(found))


def first_nodes(
    count: int, links: Sequence[tuple[int, int, int]], start: int, first: int, *, one_way: bool = False
) -> Network:
    """The cheapest connected nodes, so many, with this one among them; where links are ``one_way``, led to from it.

    To pass through a node without taking it never pays: who takes it instead of a node at an end of the network pays no
    more. So networks grow link by link, the cheapest one next, and the first that is large enough is the cheapest.
    """
    near = _near(count, links, one_way)
    guess = _grown(near, start, first)
    queue: list[tuple[int, int, tuple[int, ...]]] = [(0, -1, (start,))]
    known: set[frozenset[int]] = set()
    while queue:
        length, size, nodes = heappop(queue)
        if -size == len(guess.nodes):
            return Network(nodes, length, True)
        taken = frozenset(nodes)
        if taken in known:
            continue
        if len(known) >= _MOST_TRIED:
            break
        known.add(taken)
        for other, step in _steps(near, nodes, taken).items():
            if length + step <= guess.length and taken | {other} not in known:
                heappush(queue, (length + step, size - 1, (*nodes, other)))
    return guess


def _near(count: int, links: Sequence[tuple[int, int, int]], one_way: bool = False) -> list[list[tuple[int, int, int]]]:
    """For each node its links, the shortest first: length, other node, number of the link."""
    near: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for number, (a, b, length) in enumerate(links):
        near[a].append((length, b, number))
        if not one_way:
            near[b].append((length, a, number))
    return [sorted(others) for others in near]


def _steps(
    near: Sequence[Sequence[tuple[int, int, int]]], nodes: Sequence[int], taken: frozenset[int]
) -> dict[int, int]:
    """The nodes beside a network, with the shortest link to each."""
    found: dict[int, int] = {}
    for node in nodes:
        for length, other, _ in near[node]:
            if other not in taken and length < found.get(other, length + 1):
                found[other] = length
    return found


def _grown(near: Sequence[Sequence[tuple[int, int, int]]], start: int, first: int) -> Network:
    """A network that always takes the nearest node next: no cheapest one perhaps, but nearly."""
    nodes: tuple[int, ...] = (start,)
    length = 0
    while len(nodes) < first:
        steps = _steps(near, nodes, frozenset(nodes))
        if not steps:
            break
        step, other = min((step, other) for other, step in steps.items())
        nodes, length = (*nodes, other), length + step
    return Network(nodes, length, len(nodes) == 1)
