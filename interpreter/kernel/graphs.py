"""Graphs: neighbours, shortest paths and connected components.

Numbers of nodes and link lengths go in, distances and paths come out. Nodes are 0 to ``node_count - 1``. The content of
nodes, the nodes that a rule may use and the meaning of lengths are defined elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from heapq import heapify, heappop, heappush
from typing import TypeAlias

__all__ = ["Graph"]

_MOST_KEPT = 4096
"""Number of searches whose results are cached."""

_Links: TypeAlias = tuple[tuple[tuple[int, int], ...], ...]
"""For each node the nodes that its links lead to, and the indexes of their lengths."""
_Ways: TypeAlias = "tuple[tuple[int, int] | None, ...]"
"""For each node the minimum cost of a path, and the minimum number of links at that cost; None if there is no path."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links; a link is ``(node, node, index of its length)``. Links lead both ways unless the graph is
    ``one_way``.

    Two nodes may have several links, and links may share a length. Raises ``ValueError`` if a link leads to no node or
    has a negative index. In all methods nodes must be nodes of this graph; ``lengths`` holds a length of 0 or more for
    each index (``ValueError`` for less, ``IndexError`` for a missing one).
    """

    node_count: int
    links: tuple[tuple[int, int, int], ...]
    one_way: bool = False
    _adjacent: _Links = field(init=False, repr=False, compare=False)
    _leading_here: _Links = field(init=False, repr=False, compare=False)
    _distances: Callable[..., tuple[int | None, ...]] = field(init=False, repr=False, compare=False)
    _ways_to: Callable[..., _Ways] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        adjacent: list[list[tuple[int, int]]] = [[] for _ in range(self.node_count)]
        leading: list[list[tuple[int, int]]] = [[] for _ in range(self.node_count)] if self.one_way else adjacent
        for link in self.links:
            a, b, index = link
            if not (0 <= a < self.node_count and 0 <= b < self.node_count and index >= 0):
                raise ValueError(f"got link {link}, want two nodes below {self.node_count} and an index from 0")
            adjacent[a].append((b, index))
            leading[b].append((a, index))
        from_here, to_here = (tuple(tuple(sorted(others)) for others in each) for each in (adjacent, leading))
        object.__setattr__(self, "_adjacent", from_here)
        object.__setattr__(self, "_leading_here", to_here)
        object.__setattr__(self, "_distances", lru_cache(_MOST_KEPT)(partial(_distances, from_here)))
        object.__setattr__(self, "_ways_to", lru_cache(_MOST_KEPT)(partial(_ways, to_here)))

    def __reduce__(self) -> tuple[type[Graph], tuple[int, tuple[tuple[int, int, int], ...], bool]]:
        """Copy and pickle without the cache."""
        return Graph, (self.node_count, self.links, self.one_way)

    def neighbours(self, node: int) -> tuple[int, ...]:
        """Return the other nodes that a link from this one leads to, ascending and unique."""
        return tuple(sorted({other for other, _ in self._adjacent[node]} - {node}))

    def distances(
        self, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: Sequence[int]
    ) -> tuple[int | None, ...]:
        """Return for each node the minimum sum of lengths from any start, None if it is unreachable.

        Paths, including their ends, use the nodes in ``within`` only (None: all nodes); starts outside it are ignored.
        """
        return self._distances(tuple(lengths), within, starts)

    def path(
        self, starts: tuple[int, ...], goal: int, within: tuple[int, ...] | None, lengths: Sequence[int]
    ) -> tuple[int, ...] | None:
        """Return the nodes of a shortest path from one of the starts to the goal, both included; None if there is none.

        Nodes are restricted as in :meth:`distances`. Ties are broken by the fewest links, then by the node numbers,
        read from the start.
        """
        ways = self._ways_to(tuple(lengths), within, (goal,))
        best = min(((way, start) for start in starts if (way := ways[start]) is not None), default=None)
        if best is None:
            return None
        (cost, links), node = best
        nodes = [node]
        for further in reversed(range(links)):
            node, cost = min(
                (other, cost - lengths[index])
                for other, index in self._adjacent[node]
                if ways[other] == (cost - lengths[index], further)
            )
            nodes.append(node)
        return tuple(nodes)

    def connected(self, nodes: Iterable[int]) -> bool:
        """Return whether the nodes are connected by links among themselves, in either direction. An empty set and a
        single node are connected."""
        return len(self.components(nodes)) <= 1

    def components(self, nodes: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        """Return the connected components of the nodes, ignoring directions: each ascending, sorted by first node."""
        left = set(nodes)
        return tuple(self._group(node, left) for node in sorted(left) if node in left)

    def _group(self, first: int, left: set[int]) -> tuple[int, ...]:
        """Return the nodes in ``left`` that are reachable from ``first`` through ``left``, and remove them from it."""
        left.discard(first)
        group = [first]
        for node in group:  # grows during the loop
            leading = self._leading_here[node] if self.one_way else ()
            for other, _ in (*self._adjacent[node], *leading):
                if other in left:
                    left.discard(other)
                    group.append(other)
        return tuple(sorted(group))


def _ways(links: _Links, lengths: tuple[int, ...], within: tuple[int, ...] | None, starts: tuple[int, ...]) -> _Ways:
    """Run Dijkstra's algorithm from all starts at once."""
    if lengths and min(lengths) < 0:
        raise ValueError(f"got a length of {min(lengths)}, want 0 or more")
    waiting = set(range(len(links)) if within is None else within)  # allowed and not reached yet
    ways: list[tuple[int, int] | None] = [None] * len(links)
    queue = [(0, 0, start) for start in starts]
    heapify(queue)
    while queue:
        cost, count, node = heappop(queue)
        if node in waiting:
            waiting.discard(node)
            ways[node] = (cost, count)
            for other, index in links[node]:
                if other in waiting:
                    heappush(queue, (cost + lengths[index], count + 1, other))
    return tuple(ways)


def _distances(
    links: _Links, lengths: tuple[int, ...], within: tuple[int, ...] | None, starts: tuple[int, ...]
) -> tuple[int | None, ...]:
    return tuple(way and way[0] for way in _ways(links, lengths, within, starts))
