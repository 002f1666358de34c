"""The graph that a game is played on: who neighbours whom, how far it is, what hangs together.

In go numbers of nodes and a length for each link; out come distances and paths. Nodes are 0 to ``node_count - 1``. What
stands on a node, which nodes a rule may use and what a length means is left to others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from interpreter.base.frozen import dataclass

__all__ = ["Graph"]

_MOST_KEPT = 4096
"""How many answers of ``distances`` are kept for one choice of nodes before they are found anew."""

_MOST_NEAR = 16
"""So many nodes, the nearest to a goal, are looked for among the starts before these are made a set."""

_Distances = tuple[int | None, ...]
_Ways = list[tuple[int, int] | None]
_Tree: TypeAlias = "tuple[int, int, tuple[_Tree, ...]]"
"""How far a node is from a start, that node, and the trees of those whose ways from that start lead on from it."""


class _Within:
    """Cached paths that use a subset of the nodes, for some lengths.

    Distances with one start more need only what is nearer to that start. Nodes that a rule chooses anew for each
    question are asked about once, and so are starts where each game has lengths of its own: only the second question
    finds the ``trees`` of a start.
    """

    __slots__ = ("answers", "asked", "goals", "trees")

    def __init__(self) -> None:
        self.trees: dict[int, tuple[_Tree, ...]] = {}
        """The shortest ways from each start: one tree, or none from a node that may not be entered."""
        self.asked: set[int] = set()
        """The starts that somebody has asked about."""
        self.answers: dict[tuple[int, ...], _Distances] = {}
        self.goals: dict[int, _Goal] = {}


class _Goal:
    """The ways to one node: all of them, or where it is not ``whole`` those from the nearest nodes.

    For each node that has been reached ``ways`` has the cost of the cheapest way to the goal, and the fewest links that
    such a way has. ``order`` has these nodes, those with the best ways first, and ``near`` the first of them: nearly
    always one of them is a start. ``paths`` are by the node that they begin at.
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

    def within(self, within: tuple[int, ...] | None, lengths: tuple[int, ...]) -> _Within:
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
            found = places[within] = _Within()
        self.place = (lengths, within, found)
        return found


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and links; a link is ``(node, node, index of its length)``. It leads both ways, unless all are ``one_way``.

    Two nodes may have several links, and links may share a length. ``ValueError`` where a link leads to no node or has
    a negative index. In all methods nodes must be nodes of this graph; ``lengths`` holds a length of 0 or more for each
    index (``ValueError`` for less, ``IndexError`` where one is missing).
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
        """Copies and pickles leave the kept answers behind."""
        return Graph, (self.node_count, self.links, self.one_way)

    def neighbours(self, node: int) -> tuple[int, ...]:
        """The other nodes that a link leads to from this one, ascending, each once."""
        return tuple(sorted({other for other, _ in self._adjacent[node]} - {node}))

    def distances(
        self, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: Sequence[int]
    ) -> tuple[int | None, ...]:
        """For each node of the graph the least sum of lengths from any start, none where no way leads.

        Ways use the nodes in ``within`` only (none: all nodes), at their ends too; starts outside it are ignored.
        """
        if not isinstance(lengths, tuple):
            _check_lengths(lengths)
            return self._search(starts, within, lengths)
        known = self._memory.within(within, lengths)
        return known.answers.get(starts) or self._answer(known, starts, within, lengths)

    def _answer(
        self, known: _Within, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: tuple[int, ...]
    ) -> _Distances:
        """The distances, kept for the next time."""
        if len(known.answers) >= _MOST_KEPT:
            known.answers.clear()
        found = known.answers[starts] = self._distances(known, starts, within, lengths)
        return found

    def _distances(
        self, known: _Within, starts: tuple[int, ...], within: tuple[int, ...] | None, lengths: tuple[int, ...]
    ) -> _Distances:
        """Start by start, if all of them are asked about again."""
        if not known.asked.issuperset(starts):
            known.asked.update(starts)
            return self._search(starts, within, lengths)
        found: list[int | None] = [None] * self.node_count
        for start in starts:
            if start not in known.trees:
                known.trees[start] = self._trees_from(start, within, lengths)
            _come_nearer(found, known.trees[start])
        return tuple(found)

    def asked(
        self, lengths: tuple[int, ...]
    ) -> tuple[Callable[..., _Distances], Callable[..., _Distances], Callable[..., tuple[int, ...] | None]]:
        """For these lengths, for who asks often within the same nodes: ``distances``, distances ``with_start`` and
        ``path``.

        The second is given the distances from some starts within the same nodes, and gives those with one start more.
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
        """The nodes of a cheapest way from one of the starts to the goal, both included; none where no way leads.

        Nodes as in ``distances``. Among equally cheap ways one with the fewest links is taken; among those the one
        whose nodes, read from the start, come first in order of number.
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
        """The ways to a goal from the nearest of some nodes at least; from all nodes when that is asked for again."""
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
        """The nodes of the way from a node that has one."""
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
        """Return whether the nodes hang together by links among themselves, whichever way these lead; no node and a
        single one do."""
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
        """Dijkstra's algorithm from all starts at once; where distances from others are known, among what is nearer to
        these."""
        waiting = self._allowed(within)  # may be entered and has no distance from these starts yet
        found: list[int | None] = [None] * self.node_count if known is None else list(known)
        queue = [(0, start) for start in starts]
        heapify(queue)
        while queue:
            cost, node = heappop(queue)
            before = found[node]
            if waiting[node] and (before is None or cost < before):
                waiting[node] = False
                found[node] = cost
                for other, index in self._adjacent[node]:
                    if waiting[other]:
                        heappush(queue, (cost + lengths[index], other))
        return tuple(found)

    def _trees_from(self, start: int, within: tuple[int, ...] | None, lengths: tuple[int, ...]) -> tuple[_Tree, ...]:
        """The tree of the shortest ways from a start, by the same algorithm; none if it may not be entered."""
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
        """The ways to a goal from the nearest nodes, until one of those in ``among`` is reached.

        Nodes are reached in order of their ways: whoever is behind another has more cost, or as much and more links.
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
    """Distances get one start more, which has these trees of shortest ways.

    Who is not nearer to it than to the others has nobody behind it that is, since their ways lead over it.
    """
    reached = list(trees)
    for far, node, behind in reached:  # grows while it is read
        before = distances[node]
        if before is None or far < before:
            distances[node] = far
            reached += behind


def _check_lengths(lengths: Sequence[int]) -> None:
    if lengths and min(lengths) < 0:
        raise ValueError(f"got a length of {min(lengths)}, want 0 or more")
