"""The graph that a game is played on: who neighbours whom, how far it is, what hangs together.

In go numbers of nodes and a length for each link; out come distances and paths. Nodes are 0 to ``node_count - 1``. What
stands on a node, which nodes a rule may use and what a length means is left to others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from heapq import heapify, heappop, heappush
from typing import Any

from interpreter.base.frozen import dataclass

__all__ = ["Graph"]

_MOST_KEPT = 4096
"""How many answers of ``distances`` are kept for one choice of nodes before they are found anew."""

_Distances = tuple[int | None, ...]
_Ways = list[tuple[int, int] | None]


class _Within:
    """What is known of ways that use some of the nodes, for some lengths.

    Where all these nodes hang together, the distances from several starts are the least of the rows of the starts, and
    a question with one start more than another needs only what is ``near`` that start. Nodes that a rule chooses
    anew for each question are asked about once: only the second question looks whether they hang together.
    """

    __slots__ = ("answers", "goals", "joined", "near", "nodes", "rows", "sets")

    def __init__(self, nodes: frozenset[int]) -> None:
        self.nodes = nodes
        self.joined: bool | None = None
        self.rows: dict[int, _Distances] = {}
        self.sets: dict[int, _Distances] = {}
        """Answers by their starts, each of which is a bit of a number: to ask for all but one is cheap."""
        self.near: dict[int, list[tuple[int, int]]] = {}
        self.answers: dict[tuple[int, ...], _Distances] = {}
        self.goals: dict[int, _Goal] = {}


class _Goal:
    """The ways to one node. ``rank`` tells of a node its place among all, those with the best way first; nodes without
    a way come last. ``paths`` are by the places of those that they begin at."""

    __slots__ = ("order", "paths", "rank", "ways")

    def __init__(self, ways: _Ways) -> None:
        self.ways = ways
        self.order = sorted(range(len(ways)), key=lambda node: (ways[node] is None, ways[node] or (), node))
        places = [0] * len(ways)
        for place, node in enumerate(self.order):
            places[node] = place
        self.rank = places.__getitem__
        self.paths: dict[int, tuple[int, ...] | None] = {}


class _Memory:
    """What is known for the lengths of the last call.

    Lengths are recognised by identity. To compare or to hash them would pass over all links at each call, which costs
    as much as part of the search that it saves; games have a few tables of lengths, made once. That an object is the
    same proves that its lengths are the same because it is a tuple of ints, which cannot change, and because it is held
    here, so that no other object takes its address. A list may have changed in between: its answers are never kept.
    The nodes of the last call are recognised in the same way first.
    """

    __slots__ = ("latest", "place")

    def __init__(self) -> None:
        # Parts that belong together are one attribute, so that a thread never sees those of two calls mixed.
        self.latest: tuple[tuple[int, ...], dict[tuple[int, ...] | None, _Within]] = ((), {})
        self.place: tuple[tuple[int, ...], tuple[int, ...] | None, _Within] | None = None

    def within(self, graph: Graph, within: tuple[int, ...] | None, lengths: tuple[int, ...]) -> _Within:
        place = self.place
        if place is not None and place[0] is lengths and place[1] is within:
            return place[2]
        known, places = self.latest
        if known is not lengths:
            _check_lengths(lengths)
            places = {}
            self.latest = (lengths, places)
        found = places.get(within)
        if found is None:
            if len(places) >= _MOST_KEPT:
                places.clear()
            nodes = frozenset(range(graph.node_count) if within is None else within)
            found = places[within] = _Within(nodes)
        self.place = (lengths, within, found)
        return found


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and undirected links; a link is ``(node, node, index of its length)``.

    Two nodes may have several links, and links may share a length. ``ValueError`` where a link leads to no node or has
    a negative index. In all methods nodes must be nodes of this graph; ``lengths`` holds a length of 0 or more for each
    index (``ValueError`` for less, ``IndexError`` where one is missing).
    """

    node_count: int
    links: tuple[tuple[int, int, int], ...]
    _adjacent: tuple[tuple[tuple[int, int], ...], ...] = field(init=False, repr=False, compare=False)
    _memory: _Memory = field(init=False, repr=False, compare=False, default_factory=_Memory)

    def __post_init__(self) -> None:
        adjacent: list[list[tuple[int, int]]] = [[] for _ in range(self.node_count)]
        for link in self.links:
            a, b, index = link
            if not (0 <= a < self.node_count and 0 <= b < self.node_count and index >= 0):
                raise ValueError(f"got link {link}, want two nodes below {self.node_count} and an index from 0")
            adjacent[a].append((b, index))
            adjacent[b].append((a, index))
        object.__setattr__(self, "_adjacent", tuple(tuple(sorted(others)) for others in adjacent))

    def __reduce__(self) -> tuple[type[Graph], tuple[int, tuple[tuple[int, int, int], ...]]]:
        """Copies and pickles leave the kept answers behind."""
        return Graph, (self.node_count, self.links)

    def neighbours(self, node: int) -> tuple[int, ...]:
        """The other nodes that a link joins to this one, ascending, each once."""
        return tuple(sorted({other for other, _ in self._adjacent[node]} - {node}))

    def distances(
        self, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: Sequence[int]
    ) -> tuple[int | None, ...]:
        """For each node of the graph the least sum of lengths from any start, none where no way leads.

        Ways use the nodes in ``within`` only (none: all nodes), at their ends too; starts outside it are ignored.
        """
        if not isinstance(lengths, tuple):
            return self._search(starts, within, lengths)
        known = self._memory.within(self, within, lengths)
        return known.answers.get(starts) or self._answer(known, starts, within, lengths)

    def _answer(
        self, known: _Within, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: tuple[int, ...]
    ) -> _Distances:
        """The distances, kept for the next time."""
        if len(known.answers) >= _MOST_KEPT:
            known.answers.clear()
            known.sets.clear()
        found = known.answers[starts] = self._distances(known, starts, within, lengths)
        return found

    def _distances(
        self, known: _Within, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: tuple[int, ...]
    ) -> _Distances:
        """From rows where the nodes hang together: then the same nodes are out of reach from every start."""
        if not known.answers and not known.rows:
            return self._search(starts, within, lengths)
        if known.joined is None:
            known.joined = self.connected(known.nodes)
        if not starts or not known.joined or not known.nodes.issuperset(starts):
            return self._search(starts, within, lengths)
        whole, found, left = sum({1 << start for start in starts}), None, starts
        for start in starts:
            found = known.sets.get(whole ^ 1 << start)
            if found is not None:
                left = (start,)
                break
        rows = known.rows
        for start in left:
            if start not in rows:
                row = rows[start] = self._search((start,), within, lengths)
                known.near[start] = sorted([(far, node) for node, far in enumerate(row) if far is not None])
            found = rows[start] if found is None else _nearer(found, known.near[start])
        assert found is not None
        known.sets[whole] = found
        return found

    def asked(
        self, lengths: tuple[int, ...]
    ) -> tuple[Callable[..., _Distances], Callable[..., tuple[int, ...] | None]]:
        """``distances`` and ``path`` for these lengths, for who asks often within the same nodes."""
        place: tuple[int, ...] | None = ()
        known = self._memory.within(self, place, lengths)

        def distances(starts: tuple[int, ...], within: tuple[int, ...] | None) -> _Distances:
            nonlocal place, known
            if within is not place:
                place, known = within, self._memory.within(self, within, lengths)
            return known.answers.get(starts) or self._answer(known, starts, within, lengths)

        def path(starts: tuple[int, ...], goal: int, within: tuple[int, ...] | None) -> tuple[int, ...] | None:
            nonlocal place, known
            if within is not place:
                place, known = within, self._memory.within(self, within, lengths)
            if goal not in known.goals or not starts:
                return self.path(starts, goal, within, lengths)
            to = known.goals[goal]
            return to.paths.get(min(map(to.rank, starts))) or self.path(starts, goal, within, lengths)

        return distances, path

    def path(
        self, starts: tuple[int, ...], goal: int, within: tuple[int, ...] | None, lengths: Sequence[int]
    ) -> tuple[int, ...] | None:
        """The nodes of a cheapest way from one of the starts to the goal, both included; none where no way leads.

        Nodes as in ``distances``. Among equally cheap ways one with the fewest links is taken; among those the one
        whose nodes, read from the start, come first in order of number.
        """
        if not isinstance(lengths, tuple):
            return self._walk(starts, goal, self._ways_to(goal, within, lengths), lengths)
        known = self._memory.within(self, within, lengths)
        to = known.goals.get(goal)
        if to is None:
            to = known.goals[goal] = _Goal(self._ways_to(goal, within, lengths))
        if not starts:
            return None
        best = min(map(to.rank, starts))
        if best not in to.paths:
            to.paths[best] = self._walk((to.order[best],), goal, to.ways, lengths)
        return to.paths[best]

    def _walk(self, starts: tuple[int, ...], goal: int, ways: _Ways, lengths: Sequence[int]) -> tuple[int, ...] | None:
        """The nodes of the way from the best start."""
        ends = [(*way, start) for start in starts if (way := ways[start]) is not None]
        if not ends:
            return None
        cost, links, node = min(ends)
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
        """Whether the nodes hang together by links among themselves; no node and a single one do."""
        return len(self.components(nodes)) <= 1

    def components(self, nodes: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        """The nodes in groups that hang together by links among themselves: each ascending, by its first node."""
        left = set(nodes)
        groups = []
        for node in sorted(left):
            if node in left:
                groups.append(self._group(node, left))
        return tuple(groups)

    def _group(self, first: int, left: set[int]) -> tuple[int, ...]:
        """The nodes in ``left`` that can be reached from ``first`` through ``left``, which loses them."""
        left.discard(first)
        group = [first]
        for node in group:  # grows while it is read
            for other, _ in self._adjacent[node]:
                if other in left:
                    left.discard(other)
                    group.append(other)
        return tuple(sorted(group))

    def _search(self, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: Sequence[int]) -> _Distances:
        """Dijkstra's algorithm from all starts at once."""
        _check_lengths(lengths)
        waiting = self._allowed(within)  # may be entered and has no distance yet
        found: list[int | None] = [None] * self.node_count
        queue = [(0, start) for start in starts]
        heapify(queue)
        while queue:
            cost, node = heappop(queue)
            if waiting[node]:
                waiting[node] = False
                found[node] = cost
                for other, index in self._adjacent[node]:
                    if waiting[other]:
                        heappush(queue, (cost + lengths[index], other))
        return tuple(found)

    def _ways_to(self, goal: int, within: tuple[int, ...] | None, lengths: Sequence[int]) -> _Ways:
        """For each node the cost of the cheapest way to the goal, and the fewest links that such a way has."""
        _check_lengths(lengths)
        waiting = self._allowed(within)
        found: list[tuple[int, int] | None] = [None] * self.node_count
        queue = [(0, 0, goal)]
        while queue:
            cost, links, node = heappop(queue)
            if waiting[node]:
                waiting[node] = False
                found[node] = (cost, links)
                for other, index in self._adjacent[node]:
                    if waiting[other]:
                        heappush(queue, (cost + lengths[index], links + 1, other))
        return found

    def _allowed(self, within: tuple[int, ...] | None) -> list[bool]:
        if within is None:
            return [True] * self.node_count
        allowed = [False] * self.node_count
        for node in within:
            allowed[node] = True
        return allowed


def _nearer(found: _Distances, near: list[tuple[int, int]]) -> _Distances:
    """The distances with one start more, from which the same nodes are so ``near``, the nearest first.

    Nothing that is farther than the farthest was before can be better.
    """
    distances: list[Any] = list(found)
    most = max(filter(None, found), default=0)
    for far, node in near[: bisect_left(near, (most,))]:
        if far < distances[node]:
            distances[node] = far
    return tuple(distances)


def _check_lengths(lengths: Sequence[int]) -> None:
    if lengths and min(lengths) < 0:
        raise ValueError(f"got a length of {min(lengths)}, want 0 or more")
