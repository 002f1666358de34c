"""Positions of nodes: stress majorisation without coordinates, separation with them.

In go nodes, links and how far they should be apart, out come points. Nothing here is left to chance, so a graph looks
the same each time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import cos, hypot, sin

from interpreter.drawing.geometry import Point, nearest_on_segment
from interpreter.kernel.graphs import Graph

__all__ = ["by_stress", "scaled", "spread"]

_WORK = 2_500_000
"""So many pairs of nodes are looked at in all while stress is lowered."""
_ROUNDS = 240


def by_stress(node_count: int, links: Sequence[tuple[int, int]], lengths: Sequence[float]) -> list[Point]:
    """Points whose distances are about those of the graph (Gansner, Koren and North 2005), one long link being 1."""
    if node_count == 0:
        return []
    wanted = _distances(node_count, links, lengths)
    points = _first_points(node_count, wanted)
    rounds = min(_ROUNDS, max(8, _WORK // (node_count * node_count)))
    pulls = [[(apart, 1 / (apart * apart) if apart else 0.0) for apart in row] for row in wanted]
    for _ in range(rounds):
        points = [_moved(node, points, pulls[node]) for node in range(node_count)]
    return points


def _distances(node_count: int, links: Sequence[tuple[int, int]], lengths: Sequence[float]) -> list[list[float]]:
    """Return the target distances between nodes. Links of very unlike lengths are drawn alike, or nobody could read
    them; what no way joins lies beyond all that is joined."""
    usual = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    whole = tuple(round(1000 * min(1.8, max(0.6, length / usual))) for length in lengths)
    graph = Graph(node_count, tuple((a, b, index) for index, (a, b) in enumerate(links)))
    rows = [graph.distances((node,), None, whole) for node in range(node_count)]
    beyond = max((value for row in rows for value in row if value is not None), default=0) + 1000
    return [[(beyond if value is None else value) / 1000 for value in row] for row in rows]


def _first_points(node_count: int, wanted: list[list[float]]) -> list[Point]:
    """By the distances from two nodes far apart and a third one far from both, each askew, so that no two coincide."""
    first = max(range(node_count), key=lambda node: (wanted[0][node], -node))
    other = max(range(node_count), key=lambda node: (wanted[first][node], -node))
    third = max(range(node_count), key=lambda node: (min(wanted[first][node], wanted[other][node]), -node))
    found = []
    for node in range(node_count):
        turn = 2.4 * node
        x = (wanted[first][node] - wanted[other][node]) / 2 + 0.2 * cos(turn)
        y = wanted[third][node] - (wanted[first][node] + wanted[other][node]) / 4 + 0.2 * sin(turn)
        found.append((x, y))
    return found


def _moved(node: int, points: Sequence[Point], pulls: Sequence[tuple[float, float]]) -> Point:
    """Return the positions that the other nodes suggest for a node, with target distances and weights."""
    x, y = points[node]
    right = down = weights = 0.0
    for (ox, oy), (wanted, weight) in zip(points, pulls, strict=True):
        if weight:  # none is on itself
            dx, dy = x - ox, y - oy
            share = wanted / (hypot(dx, dy) or 1e-9)
            right += weight * (ox + share * dx)
            down += weight * (oy + share * dy)
            weights += weight
    return (right / weights, down / weights) if weights else (x, y)


def scaled(points: Sequence[Point], gap: float) -> list[Point]:
    """The points so large that the middle one of their distances to the nearest other is the gap."""
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
    """The points, moved until discs stand apart, labels fit on their links, and no link runs through a disc of other
    nodes; or as far as that is come by."""
    found = [[x, y] for x, y in points]
    room = {frozenset(link): label for link, label in zip(links, labels, strict=True)}
    for _ in range(_ROUNDS):
        moved = _part_discs(found, radii, room, clear)
        moved |= _part_links(found, links, radii, clear)
        if not moved:
            break
    return [(x, y) for x, y in found]


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
    if apart < 1e-6:  # on one spot: each goes its own way
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
            wanted = radii[node] + clear
            if abs(right * (y - ay) - down * (x - ax)) > wanted * length or node in (a, b):
                continue  # far from the whole line: most are, so this is looked at first
            if _clear_way(points, node, a, b, wanted):
                moved = True
                ax, ay, right, down, length = _line(points[a], points[b])
    return moved


def _line(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float, float, float]:
    """The line through two points: the first, the way to the other, and its length."""
    right, down = b[0] - a[0], b[1] - a[1]
    return a[0], a[1], right, down, hypot(right, down)


def _clear_way(points: list[list[float]], node: int, a: int, b: int, wanted: float) -> bool:
    """Moves a node away from a link, and the link a little away from the node."""
    x, y = points[node]
    ax, ay = points[a]
    bx, by = points[b]
    if (max(ay, by) + wanted < y) or (min(ay, by) - wanted > y):
        return False
    px, py = nearest_on_segment((x, y), (ax, ay), (bx, by))
    dx, dy = x - px, y - py
    apart = hypot(dx, dy)
    if apart >= wanted - 0.01 or (px, py) in ((ax, ay), (bx, by)):
        return False
    short = wanted - apart + 0.1
    if apart < 1e-6:  # right on the link: aside, to a side that is the node's own
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
