"""Positions of nodes: stress majorisation if there are no coordinates, separation if there are.

Nodes, links and target distances go in, points come out. The layout is deterministic, so a graph always looks the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from cmath import rect
from collections.abc import Sequence
from math import cos, sin

from msgspec import Struct

from interpreter.drawing.geometry import Point, cross, nearest_on_segment
from interpreter.kernel.graphs import Graph

__all__ = ["by_stress", "scaled", "spread"]

_WORK = 2_500_000
"""Budget of stress majorisation, in pairs of nodes over all rounds."""
_ROUNDS = 240


def by_stress(node_count: int, links: Sequence[tuple[int, int]], lengths: Sequence[float]) -> list[Point]:
    """Return points with about the distances of the graph, a usual link being 1 (Gansner, Koren and North 2005)."""
    if node_count == 0:
        return []
    targets = _distances(node_count, links, lengths)
    points = _first_points(node_count, targets)
    rounds = min(_ROUNDS, max(8, _WORK // (node_count * node_count)))
    pulls = [[(apart, 1 / (apart * apart) if apart else 0.0) for apart in row] for row in targets]
    for _ in range(rounds):
        points = [_moved(node, points, pulls[node]) for node in range(node_count)]
    return points


def _distances(node_count: int, links: Sequence[tuple[int, int]], lengths: Sequence[float]) -> list[list[float]]:
    """Return the target distances between nodes.

    Lengths are clamped to similar values, for legibility; unconnected nodes are farther apart than connected ones.
    """
    usual = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    clamped = tuple(round(1000 * min(1.8, max(0.6, length / usual))) for length in lengths)
    graph = Graph(node_count, tuple((a, b, index) for index, (a, b) in enumerate(links)))
    rows = [graph.distances((node,), None, clamped) for node in range(node_count)]
    beyond = max((value for row in rows for value in row if value is not None), default=0) + 1000
    return [[(beyond if value is None else value) / 1000 for value in row] for row in rows]


def _first_points(node_count: int, targets: list[list[float]]) -> list[Point]:
    """Return initial points from the distances to three nodes far apart, offset by node so that no two coincide."""
    first = max(range(node_count), key=lambda node: (targets[0][node], -node))
    second = max(range(node_count), key=lambda node: (targets[first][node], -node))
    third = max(range(node_count), key=lambda node: (min(targets[first][node], targets[second][node]), -node))
    points = []
    for node in range(node_count):
        turn = 2.4 * node
        x = (targets[first][node] - targets[second][node]) / 2 + 0.2 * cos(turn)
        y = targets[third][node] - (targets[first][node] + targets[second][node]) / 4 + 0.2 * sin(turn)
        points.append(complex(x, y))
    return points


def _moved(node: int, points: Sequence[Point], pulls: Sequence[tuple[float, float]]) -> Point:
    """Return the weighted mean of the positions that the other nodes suggest for a node."""
    here, pulled, weights = points[node], 0j, 0.0
    for other, (target, weight) in zip(points, pulls, strict=True):
        if weight:  # 0 for the node itself
            away = here - other
            pulled += weight * (other + target / (abs(away) or 1e-9) * away)
            weights += weight
    return pulled / weights if weights else here


def scaled(points: Sequence[Point], gap: float) -> list[Point]:
    """Scale the points so that the median distance to the nearest other point is the gap."""
    spots = set(points)
    nearest = sorted(min((abs(spot - other) for other in spots if other != spot), default=gap) for spot in spots)
    return [point * (gap / nearest[len(nearest) // 2]) for point in points]


def spread(
    points: Sequence[Point],
    links: Sequence[tuple[int, int]],
    radii: Sequence[float],
    labels: Sequence[tuple[float, float]],
    clear: float,
) -> list[Point]:
    """Move the points until discs are apart, labels fit on their links, and no link crosses a disc of other nodes,
    or until the rounds run out."""
    room = {frozenset(link): label for link, label in zip(links, labels, strict=True)}
    spreading = _Spreading(list(points), links, radii, room, clear)
    for _ in range(_ROUNDS):
        moved = spreading.part_discs()
        moved |= spreading.part_links()
        if not moved:
            break
    return spreading.points


class _Spreading(Struct):
    """Points that are moved, with the radii of their discs and the sizes of the labels on their links. Methods return
    whether anything moved."""

    points: list[Point]
    links: Sequence[tuple[int, int]]
    radii: Sequence[float]
    room: dict[frozenset[int], tuple[float, float]]
    clear: float

    def _in_order(self) -> list[int]:
        return sorted(range(len(self.points)), key=lambda node: (self.points[node].real, node))

    def part_discs(self) -> bool:
        moved = False
        order = self._in_order()
        widest = max((width for width, _ in self.room.values()), default=0.0)
        reach = 2 * max(self.radii, default=0.0) + 3 * self.clear + widest
        for place, node in enumerate(order):
            for other in order[place + 1 :]:
                if (self.points[other] - self.points[node]).real > reach:
                    break
                moved |= self._part(node, other)
        return moved

    def _part(self, node: int, other: int) -> bool:
        away = self.points[other] - self.points[node]
        apart = abs(away)
        short = self.radii[node] + self.radii[other] + self.clear
        if apart < 1e-6:  # coincident: pick a direction by number
            away, apart = rect(1.0, node + 2.4 * other), 1.0
        else:
            width, height = self.room.get(frozenset((node, other)), (0.0, 0.0))
            label = (abs(away.real) * width + abs(away.imag) * height) / apart + self.clear if width else 0.0
            short = short + label - apart
        if short <= 0.01:
            return False
        step = away / apart * (short / 2 + 0.1)
        self.points[node] -= step
        self.points[other] += step
        return True

    def part_links(self) -> bool:
        moved = False
        order = self._in_order()
        across = [self.points[node].real for node in order]
        margin = max(self.radii, default=0.0) + self.clear
        for a, b in self.links:
            start, way = self.points[a], self.points[b] - self.points[a]
            low, high = sorted((start.real, self.points[b].real))
            for node in order[bisect_left(across, low - margin) : bisect_right(across, high + margin)]:
                clearance = self.radii[node] + self.clear
                if abs(cross(way, self.points[node] - start)) > clearance * abs(way) or node in (a, b):
                    continue  # quick test first: most nodes are far from the line
                if self._clear_way(node, a, b, clearance):
                    moved = True
                    start, way = self.points[a], self.points[b] - self.points[a]
        return moved

    def _clear_way(self, node: int, a: int, b: int, clearance: float) -> bool:
        """Move a node away from a link, and the link a little away from the node."""
        here, ends = self.points[node], (self.points[a], self.points[b])
        low, high = sorted(end.imag for end in ends)
        if not low - clearance <= here.imag <= high + clearance:
            return False
        nearest = nearest_on_segment(here, *ends)
        away = here - nearest
        apart = abs(away)
        if apart >= clearance - 0.01 or nearest in ends:
            return False
        short = clearance - apart + 0.1
        if apart < 1e-6:  # on the link: move to a side chosen by number
            way = ends[1] - ends[0]
            away, apart = (-1j if node % 2 else 1j) * way / (abs(way) or 1.0), 1.0
        step = away / apart * short
        self.points[node] += 0.6 * step
        for end in (a, b):
            self.points[end] -= 0.2 * step
        return True
