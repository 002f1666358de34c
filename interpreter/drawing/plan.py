"""Where everything of a picture goes: nodes, ways of links, and labels of which no two overlap.

Nodes begin where their map has them and are moved until there is room; labels choose among places around their node or
along their link. Where that does not come out even, all is done again with more room between the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, pi, sin

from interpreter.base.frozen import dataclass
from interpreter.drawing.geometry import Box, Point, along, box_meets_disc, length_inside, length_of, to_way
from interpreter.drawing.layout import by_stress, scaled, spread
from interpreter.drawing.lettering import lines_for, width_of
from interpreter.drawing.picture import Picture, Spot, Tie

__all__ = ["CLEAR", "LINE", "NAME", "SLOT", "TAG", "Label", "Plan", "Way", "arranged"]

NAME = 13.0
"""The size of a node's name."""
LINE = 1.1 * NAME
"""From one line of a name to the next."""
TAG = 12.0
"""The size of what is written on a link."""
SLOT = 8.5
"""The radius of a place on a node."""
CLEAR = 5.0
"""How far a link keeps off the discs that it does not end at."""

_ATTEMPTS = 14
_GROWTH = 1.09
_SWEEPS = 40
_OVERLAP = 1000.0
"""What an overlap costs: more than anything that is merely not nice."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a link is drawn: from node to node, straight or with a bend; ``points`` follow it closely."""

    points: tuple[Point, ...]
    bend: Point | None


@dataclass(frozen=True, slots=True)
class Label:
    """Words with the room that they take; empty words take none."""

    lines: tuple[str, ...]
    box: Box


@dataclass(frozen=True, slots=True)
class Plan:
    """A picture with its places. ``slots`` are the centres of a node's places. ``overlaps`` is 0 where all fits."""

    picture: Picture
    centres: tuple[Point, ...]
    radii: tuple[float, ...]
    slots: tuple[tuple[Point, ...], ...]
    ways: tuple[Way, ...]
    names: tuple[Label, ...]
    tags: tuple[Label, ...]
    overlaps: int


@dataclass(frozen=True, slots=True)
class _Choice:
    """A place that a label could take, and what that costs by itself."""

    label: Label
    cost: float


def arranged(picture: Picture) -> Plan:
    """The plan with the least room in which nothing overlaps; with the fewest overlaps where there is none."""
    radii = [_radius(spot) for spot in picture.spots]
    ends = [(tie.a, tie.b) for tie in picture.ties]
    start = _start(picture, ends)
    best: Plan | None = None
    gap = 2 * max(radii) + 3.2 * NAME
    for _ in range(_ATTEMPTS):
        plan = _attempt(picture, radii, ends, scaled(start, gap))
        if best is None or plan.overlaps < best.overlaps:
            best = plan
        if not best.overlaps:
            break
        gap *= _GROWTH
    assert best is not None
    return best


def _start(picture: Picture, ends: Sequence[tuple[int, int]]) -> list[Point]:
    """Where the map has the nodes; where it does not say so of all, where their links would have them."""
    given = [(float(spot.at[0]), float(spot.at[1])) for spot in picture.spots if spot.at is not None]
    if len(given) == len(picture.spots) and len(set(given)) > 1:
        return given
    return by_stress(len(picture.spots), ends, [float(tie.length) for tie in picture.ties])


def _attempt(picture: Picture, radii: list[float], ends: list[tuple[int, int]], start: list[Point]) -> Plan:
    centres = spread(start, ends, radii, [_tag_size(tie) for tie in picture.ties], CLEAR)
    ways = _ways(ends, centres, radii)
    blocked = sum(not _is_clear(way, end, centres, radii) for way, end in zip(ways, ends, strict=True))
    touching = sum(
        hypot(x - ox, y - oy) < radii[node] + radii[other]
        for node, (x, y) in enumerate(centres)
        for other, (ox, oy) in enumerate(centres[:node])
    )
    items = [
        *(_name_choices(spot, node, centres, radii, ways) for node, spot in enumerate(picture.spots)),
        *(_tag_choices(tie, link, centres, radii, ways) for link, tie in enumerate(picture.ties)),
    ]
    chosen, overlaps = _settled(items)
    count = len(picture.spots)
    return Plan(
        picture,
        tuple(centres),
        tuple(radii),
        tuple(_slots(len(spot.slots), centre) for spot, centre in zip(picture.spots, centres, strict=True)),
        tuple(ways),
        tuple(chosen[:count]),
        tuple(chosen[count:]),
        overlaps + blocked + touching,
    )


# --- discs and their places


def _ring(count: int) -> float:
    """How far from the middle of a disc its places lie."""
    return 0.0 if count < 2 else (SLOT + 0.8) / sin(pi / count)


def _radius(spot: Spot) -> float:
    return _ring(len(spot.slots)) + SLOT + 3 if spot.slots else SLOT


def _slots(count: int, centre: Point) -> tuple[Point, ...]:
    """Places in a ring, the first one at the top, or at the left of two."""
    first = pi if count == 2 else -pi / 2
    turns = [first + 2 * pi * place / count for place in range(count)]
    x, y = centre
    return tuple((x + _ring(count) * cos(turn), y + _ring(count) * sin(turn)) for turn in turns)


# --- ways of links


def _ways(ends: list[tuple[int, int]], centres: list[Point], radii: list[float]) -> list[Way]:
    """Straight where that is free; else with the smallest bend that keeps off the other discs. A second link between
    two nodes bends away from the first."""
    seen: dict[frozenset[int], int] = {}
    ways = []
    for a, b in ends:
        before = seen.get(frozenset((a, b)), 0)
        seen[frozenset((a, b))] = before + 1
        bends = [0.0, *(side * size for size in (0.12, 0.2, 0.3, 0.4, 0.55, 0.7) for side in (1, -1))]
        tried = [_bent(centres[a], centres[b], bend if a < b else -bend) for bend in bends[before:]]
        free = (way for way in tried if _is_clear(way, (a, b), centres, radii))
        ways.append(next(free, tried[0]))
    return ways


def _bent(a: Point, b: Point, bend: float) -> Way:
    if bend == 0:
        return Way((a, b), None)
    (ax, ay), (bx, by) = a, b
    middle = ((ax + bx) / 2 + bend * (by - ay), (ay + by) / 2 + bend * (ax - bx))
    points = []
    for step in range(17):
        t = step / 16
        one, two, three = (1 - t) * (1 - t), 2 * t * (1 - t), t * t
        points.append((one * ax + two * middle[0] + three * bx, one * ay + two * middle[1] + three * by))
    return Way(tuple(points), middle)


def _is_clear(way: Way, ends: tuple[int, int], centres: Sequence[Point], radii: Sequence[float]) -> bool:
    """Whether a way keeps off all discs that it does not end at."""
    left = min(x for x, _ in way.points)
    right = max(x for x, _ in way.points)
    for node, centre in enumerate(centres):
        reach = radii[node] + CLEAR - 1
        if node not in ends and left - reach < centre[0] < right + reach and to_way(centre, way.points) < reach:
            return False
    return True


# --- labels


def _tag_size(tie: Tie) -> tuple[float, float]:
    return (width_of(tie.label, TAG) + 8, TAG + 4) if tie.label else (0.0, 0.0)


def _name_choices(spot: Spot, node: int, centres: list[Point], radii: list[float], ways: list[Way]) -> list[_Choice]:
    """Around the disc: below and above come first, then beside, then the corners."""
    if not spot.label:
        return []
    x, y = centres[node]
    radius = radii[node] + 1.5
    found = []
    for turn, lines in enumerate(lines_for(spot.label)):
        width = max(width_of(line, NAME) for line in lines) + 4
        height = LINE * len(lines) + 1
        across, down = radius + width / 2, radius + height / 2
        slant = 0.72 * radius
        for price, (dx, dy) in (
            (0.0, (0.0, down)),
            (2.0, (0.0, -down)),
            (3.0, (across, 0.0)),
            (3.5, (-across, 0.0)),
            (5.0, (slant + width / 2, slant + height / 2)),
            (5.0, (-slant - width / 2, slant + height / 2)),
            (5.5, (slant + width / 2, -slant - height / 2)),
            (5.5, (-slant - width / 2, -slant - height / 2)),
            (6.0, (width / 4, down)),
            (6.0, (-width / 4, down)),
            (7.0, (width / 4, -down)),
            (7.0, (-width / 4, -down)),
            (8.0, (across, height / 2)),
            (8.0, (-across, height / 2)),
            (8.0, (across, -height / 2)),
            (8.0, (-across, -height / 2)),
        ):
            box = Box.around((x + dx, y + dy), width, height)
            found.append(
                _Choice(Label(lines, box), price + 4 * turn + _in_the_way(box, node, None, centres, radii, ways))
            )
    return found


def _tag_choices(tie: Tie, link: int, centres: list[Point], radii: list[float], ways: list[Way]) -> list[_Choice]:
    """Along what can be seen of the link, the middle first."""
    if not tie.label:
        return []
    width, height = _tag_size(tie)
    way = ways[link].points
    whole = length_of(way)
    first, last = radii[tie.a], whole - radii[tie.b]
    found = []
    for share in (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8):
        box = Box.around(along(way, first + share * (last - first)), width, height)
        cost = 30 * abs(share - 0.5) + _in_the_way(box, None, link, centres, radii, ways)
        found.append(_Choice(Label((tie.label,), box), cost))
    return found


def _in_the_way(
    box: Box, node: int | None, link: int | None, centres: list[Point], radii: list[float], ways: list[Way]
) -> float:
    """What it costs that a label lies on discs, which it must not, or on links other than its own."""
    cost = 0.0
    for other, centre in enumerate(centres):
        if abs(centre[0] - box.left) < 200 and box_meets_disc(box, centre, radii[other] + (1 if other == node else 2)):
            cost += _OVERLAP
    for number, way in enumerate(ways):
        if number != link:
            inside = _inside(box, way)
            if inside:
                cost += (14 if link is not None else 3) + 0.5 * inside
    return cost


def _inside(box: Box, way: Way) -> float:
    (ax, ay), (bx, by) = way.points[0], way.points[-1]
    if way.bend is None and (
        max(ax, bx) < box.left or min(ax, bx) > box.right or max(ay, by) < box.top or min(ay, by) > box.bottom
    ):
        return 0.0
    return length_inside(box, way.points)


def _settled(items: list[list[_Choice]]) -> tuple[list[Label], int]:
    """A choice for each item, changed one at a time as long as the sum of what they cost falls."""
    against = _conflicts(items)
    chosen = [_cheapest([choice.cost for choice in item]) for item in items]
    for _ in range(_SWEEPS):
        changed = False
        for number, item in enumerate(items):
            costs = [
                choice.cost + _OVERLAP * sum(chosen[other] == place for other, place in against[number][own])
                for own, choice in enumerate(item)
            ]
            best = _cheapest(costs)
            if item and costs[best] < costs[chosen[number]]:
                chosen[number], changed = best, True
        if not changed:
            break
    overlaps = sum(
        sum(chosen[other] == place for other, place in against[number][own]) + (item[own].cost >= _OVERLAP)
        for number, (item, own) in enumerate(zip(items, chosen, strict=True))
        if item
    )
    nothing = Label((), Box(0, 0, 0, 0))
    return [item[own].label if item else nothing for item, own in zip(items, chosen, strict=True)], overlaps


def _cheapest(costs: Sequence[float]) -> int:
    """The first of the least; of nothing, the number of none."""
    return costs.index(min(costs)) if costs else -1


def _conflicts(items: list[list[_Choice]]) -> list[list[list[tuple[int, int]]]]:
    """For each choice of each item the choices of other items that it overlaps."""
    found: list[list[list[tuple[int, int]]]] = [[[] for _ in item] for item in items]
    boxes = sorted(
        (choice.label.box.left, number, own) for number, item in enumerate(items) for own, choice in enumerate(item)
    )
    for at, (_, number, own) in enumerate(boxes):
        box = items[number][own].label.box
        for left, other, place in boxes[at + 1 :]:
            if left >= box.right + 2:
                break
            if other != number and box.meets(items[other][place].label.box, 2):
                found[number][own].append((other, place))
                found[other][place].append((number, own))
    return found
