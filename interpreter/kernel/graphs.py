"""Graphs: neighbours, shortest paths and connected components.

Numbers of nodes and link lengths go in, distances and paths come out. Nodes are 0 to ``node_count - 1``. The content of
nodes, the nodes that a rule may use and the meaning of lengths are defined elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TypeAlias

__all__ = ["Graph"]

_MOST_KEPT = 4096
"""Size of the caches: distance queries for one subset of nodes, and subsets for one tuple of lengths."""

_MOST_NEAR = 16
"""Number of nodes nearest to a goal that are looked up among the starts before the starts are made a set."""

_Distances = tuple[int | None, ...]
_Ways = list[tuple[int, int] | None]
_Tree: TypeAlias = "tuple[int, int, tuple[_Tree, ...]]"
"""Shortest-path tree: distance from the start, node, and subtrees."""


class _Within:
    """Cached paths that use a subset of the nodes, for some lengths.

    Adding a start to known distances needs only the nodes nearer to it. Subsets that a rule computes for each query,
    and starts in games with lengths of their own, are queried once only. So the ``trees`` of a start are built at its
    second query.
    """

    __slots__ = ("answers", "asked", "goals", "trees")

    def __init__(self) -> None:
        self.trees: dict[int, tuple[_Tree, ...]] = {}
        """Shortest-path tree of each start; empty if the start may not be entered."""
        self.asked: set[int] = set()
        """Starts of earlier queries."""
        self.answers: dict[tuple[int, ...], _Distances] = {}
        self.goals: dict[int, _Goal] = {}


class _Goal:
    """Shortest paths to one node: from all nodes if ``whole``, else from the nearest ones.

    ``ways`` has, for each reached node, the minimum cost to the goal and the minimum number of links at that cost.
    ``order`` has these nodes, best first, and ``near`` the first of them, which nearly always contain a start.
    ``paths`` are by their first node.
    """

    __slots__ = ("near", "order", "paths", "ways", "whole")

    def __init__(self, ways: _Ways, order: list[int], whole: bool) -> None:
        self.ways = ways
        self.order = order
        self.whole = whole
        self.near = order[:_MOST_NEAR]
        self.paths: dict[int, tuple[int, ...]] = {}


class _Memory:
    """Cached paths for the lengths of the last call.

    Lengths are compared by identity. Comparing or hashing them would visit all links at each call, which costs as much
    as part of the search that the cache saves, and games have few length tables, each created once. Identity implies
    equality here because a length table is a tuple of ints, which cannot change, and because the cache holds a
    reference, so no other object gets its address. A list may have changed in between: its results are never cached.
    The nodes of the last call are compared by identity first.
    """

    __slots__ = ("latest", "place")

    def __init__(self) -> None:
        # Related parts are one attribute, so that no thread sees parts of two calls mixed.
        self.latest: tuple[tuple[int, ...], dict[tuple[int, ...] | None, _Within]] = ((), {})
        self.place: tuple[tuple[int, ...], tuple[int, ...] | None, _Within] | None = None

    def within(self, within: tuple[int, ...] | None, lengths: tuple[int, ...]) -> _Within:
        latest_place = self.place
        if latest_place is not None and latest_place[0] is lengths and latest_place[1] is within:
            return latest_place[2]
        known_lengths, places = self.latest
        if known_lengths is not lengths:
            _check_lengths(lengths)
            places = {}
            self.latest = (lengths, places)
        entry = places.get(within)
        if entry is None:
            if len(places) >= _MOST_KEPT:
                places.clear()
            entry = places[within] = _Within()
        self.place = (lengths, within, entry)
        return entry


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
    _adjacent: tuple[tuple[tuple[int, int], ...], ...] = field(init=False, repr=False, compare=False)
    _leading_here: tuple[tuple[tuple[int, int], ...], ...] = field(init=False, repr=False, compare=False)
    _memory: _Memory = field(init=False, repr=False, compare=False, default_factory=_Memory)

    def __post_init__(self) -> None:
        adjacent: list[list[tuple[int, int]]] = [[] for _ in range(self.node_count)]
        leading: list[list[tuple[int, int]]] = [[] for _ in range(self.node_count)] if self.one_way else adjacent
        for link in self.links:
            a, b, index = link
            if not (0 <= a < self.node_count and 0 <= b < self.node_count and index >= 0):
                raise ValueError(f"got link {link}, want two nodes below {self.node_count} and an index from 0")
            adjacent[a].append((b, index))
            leading[b].append((a, index))
        object.__setattr__(self, "_adjacent", tuple(tuple(sorted(others)) for others in adjacent))
        object.__setattr__(self, "_leading_here", tuple(tuple(sorted(others)) for others in leading))

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
        if not isinstance(lengths, tuple):
            _check_lengths(lengths)
            return self._search(starts, within, lengths)
        entry = self._memory.within(within, lengths)
        return entry.answers.get(starts) or self._answer(entry, starts, within, lengths)

    def _answer(
        self, entry: _Within, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: tuple[int, ...]
    ) -> _Distances:
        """Compute and cache distances."""
        if len(entry.answers) >= _MOST_KEPT:
            entry.answers.clear()
        answer = entry.answers[starts] = self._distances(entry, starts, within, lengths)
        return answer

    def _distances(
        self, entry: _Within, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: tuple[int, ...]
    ) -> _Distances:
        """Combine the trees of the starts if all were queried before; otherwise search once."""
        if not entry.asked.issuperset(starts):
            entry.asked.update(starts)
            return self._search(starts, within, lengths)
        distances: list[int | None] = [None] * self.node_count
        for start in starts:
            if start not in entry.trees:
                entry.trees[start] = self._trees_from(start, within, lengths)
            _come_nearer(distances, entry.trees[start])
        return tuple(distances)

    def asked(
        self, lengths: tuple[int, ...]
    ) -> tuple[Callable[..., _Distances], Callable[..., _Distances], Callable[..., tuple[int, ...] | None]]:
        """Return ``distances``, ``with_start`` and ``path`` for these lengths, optimised for repeated queries within
        the same nodes.

        ``with_start`` takes the distances from some starts and returns those with one more start.
        """
        place: tuple[int, ...] | None = ()
        known = self._memory.within(place, lengths)

        def distances(starts: tuple[int, ...], within: tuple[int, ...] | None) -> _Distances:
            nonlocal place, known
            if within is not place:
                place, known = within, self._memory.within(within, lengths)
            return known.answers.get(starts) or self._answer(known, starts, within, lengths)

        def with_start(found: _Distances, start: int, within: tuple[int, ...] | None) -> _Distances:
            nonlocal place, known
            if within is not place:
                place, known = within, self._memory.within(within, lengths)
            trees = known.trees.get(start)
            if trees is None:
                if start not in known.asked:
                    known.asked.add(start)
                    return self._search((start,), within, lengths, found)
                trees = known.trees[start] = self._trees_from(start, within, lengths)
            nearer = list(found)
            _come_nearer(nearer, trees)
            return tuple(nearer)

        def path(starts: tuple[int, ...], goal: int, within: tuple[int, ...] | None) -> tuple[int, ...] | None:
            nonlocal place, known
            if within is not place:
                place, known = within, self._memory.within(within, lengths)
            if goal in known.goals:
                to = known.goals[goal]
                for node in to.near:
                    if node in starts:
                        return to.paths.get(node) or self.path(starts, goal, within, lengths)
            return self.path(starts, goal, within, lengths)

        return distances, with_start, path

    def path(
        self, starts: tuple[int, ...], goal: int, within: tuple[int, ...] | None, lengths: Sequence[int]
    ) -> tuple[int, ...] | None:
        """Return the nodes of a shortest path from one of the starts to the goal, both included; None if there is none.

        Nodes are restricted as in :meth:`distances`. Ties are broken by the fewest links, then by the node numbers,
        read from the start.
        """
        among = set(starts)
        to = self._goal(goal, among, within, lengths)
        for node in to.order:
            if node in among:
                if node not in to.paths:
                    to.paths[node] = self._walk(node, to.ways, lengths)
                return to.paths[node]
        return None

    def _goal(self, goal: int, among: set[int], within: tuple[int, ...] | None, lengths: Sequence[int]) -> _Goal:
        """Return the paths to a goal at least from the nearest of some nodes; from all nodes on a repeated query."""
        if not isinstance(lengths, tuple):
            _check_lengths(lengths)
            return self._ways_to(goal, among, within, lengths)
        goals = self._memory.within(within, lengths).goals
        to = goals.get(goal)
        if to is None:
            to = goals[goal] = self._ways_to(goal, among, within, lengths)
        elif not to.whole and among.isdisjoint(to.order):
            to = goals[goal] = self._ways_to(goal, set(), within, lengths)
        return to

    def _walk(self, node: int, ways: _Ways, lengths: Sequence[int]) -> tuple[int, ...]:
        """Return the nodes of the path from a node that has one."""
        way = ways[node]
        assert way is not None
        cost, links = way
        nodes = [node]
        while links:
            node, index = min(
                (other, index)
                for other, index in self._adjacent[node]
                if ways[other] == (cost - lengths[index], links - 1)
            )
            nodes.append(node)
            cost -= lengths[index]
            links -= 1
        return tuple(nodes)

    def connected(self, nodes: Iterable[int]) -> bool:
        """Return whether the nodes are connected by links among themselves, in either direction. An empty set and a
        single node are connected."""
        return len(self.components(nodes)) <= 1

    def components(self, nodes: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        """Return the connected components of the nodes, ignoring directions: each ascending, sorted by first node."""
        left = set(nodes)
        groups = []
        for node in sorted(left):
            if node in left:
                groups.append(self._group(node, left))
        return tuple(groups)

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

    def _search(
        self,
        starts: tuple[int, ...],
        within: tuple[int, ...] | None,
        lengths: Sequence[int],
        known: _Distances | None = None,
    ) -> _Distances:
        """Run Dijkstra's algorithm from all starts at once. Given ``known`` distances from other starts, visit only
        nodes that are nearer to the new ones."""
        waiting = self._allowed(within)  # allowed and not reached from these starts yet
        distances: list[int | None] = [None] * self.node_count if known is None else list(known)
        queue = [(0, start) for start in starts]
        heapify(queue)
        while queue:
            cost, node = heappop(queue)
            before = distances[node]
            if waiting[node] and (before is None or cost < before):
                waiting[node] = False
                distances[node] = cost
                for other, index in self._adjacent[node]:
                    if waiting[other]:
                        heappush(queue, (cost + lengths[index], other))
        return tuple(distances)

    def _trees_from(self, start: int, within: tuple[int, ...] | None, lengths: tuple[int, ...]) -> tuple[_Tree, ...]:
        """Return the shortest-path tree of a start; empty if the start may not be entered."""
        waiting = self._allowed(within)
        reached = []
        queue = [(0, start, start)]
        while queue:
            cost, node, before = heappop(queue)
            if waiting[node]:
                waiting[node] = False
                reached.append((cost, node, before))
                for other, index in self._adjacent[node]:
                    if waiting[other]:
                        heappush(queue, (cost + lengths[index], other, node))
        trees: list[list[_Tree]] = [[] for _ in range(self.node_count)]
        for cost, node, before in reached[:0:-1]:
            trees[before].append((cost, node, tuple(trees[node])))
        return ((0, start, tuple(trees[start])),) if reached else ()

    def _ways_to(self, goal: int, among: set[int], within: tuple[int, ...] | None, lengths: Sequence[int]) -> _Goal:
        """Return the shortest paths to a goal from the nearest nodes, until one in ``among`` is reached.

        Nodes are reached in order of cost, then of number of links.
        """
        waiting = self._allowed(within)
        ways: _Ways = [None] * self.node_count
        order = []
        queue = [(0, 0, goal)]
        while queue:
            cost, links, node = heappop(queue)
            if waiting[node]:
                waiting[node] = False
                ways[node] = (cost, links)
                order.append(node)
                if node in among:
                    return _Goal(ways, order, whole=False)
                for other, index in self._leading_here[node]:
                    if waiting[other]:
                        heappush(queue, (cost + lengths[index], links + 1, other))
        return _Goal(ways, order, whole=True)

    def _allowed(self, within: tuple[int, ...] | None) -> list[bool]:
        if within is None:
            return [True] * self.node_count
        allowed = [False] * self.node_count
        for node in within:
            allowed[node] = True
        return allowed


def _come_nearer(distances: list[int | None], trees: tuple[_Tree, ...]) -> None:
    """Update distances with the shortest-path tree of one more start.

    A subtree is skipped if its root is not nearer to that start: then no node below it is, since its path leads over
    it.
    """
    reached = list(trees)
    for far, node, behind in reached:  # grows during the loop
        before = distances[node]
        if before is None or far < before:
            distances[node] = far
            reached += behind


def _check_lengths(lengths: Sequence[int]) -> None:
    if lengths and min(lengths) < 0:
        raise ValueError(f"got a length of {min(lengths)}, want 0 or more")
