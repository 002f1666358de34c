"""Positions of nodes: stress majorisation if there are no coordinates, separation if there are.

Nodes, links and target distances go in, points come out. The layout is deterministic, so a graph always looks the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import cos, hypot, sin

from interpreter.drawing.geometry import Point, nearest_on_segment
from interpreter.kernel.graphs import Graph

__all__ = ["by_stress", "scaled", "spread"]

_WORK = 2_500_000
"""Budget of stress majorisation, in pairs of nodes over all rounds."""
_ROUNDS = 240


def by_stress(node_count: int, links: Sequence[tuple[int, int]], lengths: Sequence[float]) -> list[Point]:
    """Return points with about the distances of the graph (Gansner, Koren and North 2005), in units of a link of
    usual length."""
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
    """Return initial points from the distances to three nodes far apart, with an offset by node so that no two
    coincide."""
    first = max(range(node_count), key=lambda node: (targets[0][node], -node))
    second = max(range(node_count), key=lambda node: (targets[first][node], -node))
    third = max(range(node_count), key=lambda node: (min(targets[first][node], targets[second][node]), -node))
    points = []
    for node in range(node_count):
        turn = 2.4 * node
        x = (targets[first][node] - targets[second][node]) / 2 + 0.2 * cos(turn)
        y = targets[third][node] - (targets[first][node] + targets[second][node]) / 4 + 0.2 * sin(turn)
        points.append((x, y))
    return points


def _moved(node: int, points: Sequence[Point], pulls: Sequence[tuple[float, float]]) -> Point:
    """Return the weighted mean of the positions that the other nodes suggest for a node."""
    x, y = points[node]
    right = down = weights = 0.0
    for (ox, oy), (target, weight) in zip(points, pulls, strict=True):
        if weight:  # 0 for the node itself
            dx, dy = x - ox, y - oy
            share = target / (hypot(dx, dy) or 1e-9)
            right += weight * (ox + share * dx)
            down += weight * (oy + share * dy)
            weights += weight
    return (right / weights, down / weights) if weights else (x, y)


def scaled(points: Sequence[Point], gap: float) -> list[Point]:
    """Scale the points so that the median distance to the nearest other point is the gap."""
    spots = sorted(set(points))
    nearest = sorted(
        min((hypot(x - ox, y - oy) for other, (ox, oy) in enumerate(spots) if other != spot), default=gap)
        for spot, (x, y) in enumerate(spots)
    )
    factor = gap / nearest[len(nearest) // 2]
    return [(x * factor, y * factor) for x, y in points]


def spread(
    points: Sequence[Point],
    links: Sequence[tuple[int, int]],
    radii: Sequence[float],
    labels: Sequence[tuple[float, float]],
    clear: float,
) -> list[Point]:
    """Move the points until discs are apart, labels fit on their links, and no link crosses a disc of other nodes,
    or until the rounds run out."""
    positions = [[x, y] for x, y in points]
    room = {frozenset(link): label for link, label in zip(links, labels, strict=True)}
    for _ in range(_ROUNDS):
        moved = _part_discs(positions, radii, room, clear)
        moved |= _part_links(positions, links, radii, clear)
        if not moved:
            break
    return [(x, y) for x, y in positions]


def _part_discs(
    points: list[list[float]], radii: Sequence[float], room: dict[frozenset[int], tuple[float, float]], clear: float
) -> bool:
    moved = False
    order = sorted(range(len(points)), key=lambda node: (points[node][0], node))
    reach = 2 * max(radii, default=0.0) + 3 * clear + max((width for width, _ in room.values()), default=0.0)
    for place, node in enumerate(order):
        for other in order[place + 1 :]:
            if points[other][0] - points[node][0] > reach:
                break
            moved |= _part(points, node, other, radii, room, clear)
    return moved


def _part(
    points: list[list[float]],
    node: int,
    other: int,
    radii: Sequence[float],
    room: dict[frozenset[int], tuple[float, float]],
    clear: float,
) -> bool:
    dx, dy = points[other][0] - points[node][0], points[other][1] - points[node][1]
    apart = hypot(dx, dy)
    if apart < 1e-6:  # coincident: pick a direction by number
        dx, dy, apart = cos(node + 2.4 * other), sin(node + 2.4 * other), 1.0
        short = radii[node] + radii[other] + clear
    else:
        width, height = room.get(frozenset((node, other)), (0.0, 0.0))
        label = (abs(dx) * width + abs(dy) * height) / apart + clear if width else 0.0
        short = radii[node] + radii[other] + clear + label - apart
    if short <= 0.01:
        return False
    right, down = dx / apart * (short / 2 + 0.1), dy / apart * (short / 2 + 0.1)
    points[node][0] -= right
    points[node][1] -= down
    points[other][0] += right
    points[other][1] += down
    return True


def _part_links(
    points: list[list[float]], links: Sequence[tuple[int, int]], radii: Sequence[float], clear: float
) -> bool:
    moved = False
    order = sorted(range(len(points)), key=lambda node: (points[node][0], node))
    across = [points[node][0] for node in order]
    margin = max(radii, default=0.0) + clear
    for a, b in links:
        low, high = sorted((points[a][0], points[b][0]))
        ax, ay, right, down, length = _line(points[a], points[b])
        for node in order[bisect_left(across, low - margin) : bisect_right(across, high + margin)]:
            x, y = points[node]
            clearance = radii[node] + clear
            if abs(right * (y - ay) - down * (x - ax)) > clearance * length or node in (a, b):
                continue  # quick test first: most nodes are far from the line
            if _clear_way(points, node, a, b, clearance):
                moved = True
                ax, ay, right, down, length = _line(points[a], points[b])
    return moved


def _line(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Return the line through two points: the first point, the vector to the other, and its length."""
    right, down = b[0] - a[0], b[1] - a[1]
    return a[0], a[1], right, down, hypot(right, down)


def _clear_way(points: list[list[float]], node: int, a: int, b: int, clearance: float) -> bool:
    """Move a node away from a link, and the link a little away from the node; return whether they were too close."""
    x, y = points[node]
    ax, ay = points[a]
    bx, by = points[b]
    if (max(ay, by) + clearance < y) or (min(ay, by) - clearance > y):
        return False
    px, py = nearest_on_segment((x, y), (ax, ay), (bx, by))
    dx, dy = x - px, y - py
    apart = hypot(dx, dy)
    if apart >= clearance - 0.01 or (px, py) in ((ax, ay), (bx, by)):
        return False
    short = clearance - apart + 0.1
    if apart < 1e-6:  # on the link: move to a side chosen by number
        length = hypot(bx - ax, by - ay) or 1.0
        side = 1 if node % 2 else -1
        dx, dy, apart = side * (by - ay) / length, side * (ax - bx) / length, 1.0
    right, down = dx / apart * short, dy / apart * short
    points[node][0] += 0.6 * right
    points[node][1] += 0.6 * down
    for end in (a, b):
        points[end][0] -= 0.2 * right
        points[end][1] -= 0.2 * down
    return True
