"""Layout of a picture: nodes, paths of links, and labels without overlaps.

Nodes start at their map coordinates and are moved apart as needed; labels choose among positions around their node or
along their link. If overlaps remain, the layout is repeated with more space between the nodes.
"""

from __future__ import annotations

import re
from cmath import rect
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import pi, sin

from msgspec import Struct
from msgspec.structs import replace

from interpreter.drawing.fields import Field, field_of
from interpreter.drawing.font_metrics import lines_for, width_of
from interpreter.drawing.geometry import Box, Grid, Point, along, box_meets_disc, length_inside, length_of, to_way
from interpreter.drawing.graph_layout import by_stress, scaled, spread
from interpreter.drawing.picture import SHAPES, Picture, Slot, Spot, Tie

__all__ = ["CLEAR", "LINE", "NAME", "SLOT", "SMALL", "TAG", "Label", "Plan", "Way", "arranged"]

NAME = 13.0
"""Font size of node names."""
LINE = 1.1 * NAME
"""Line height of node names."""
TAG = 12.0
"""Font size of link labels."""
SMALL = 9.0
"""Font size of names in fields."""
_FIELD = 64.0
_LARGEST = 2.2
SLOT = 8.5
"""Radius of a place on a node."""
CLEAR = 5.0
"""Minimum distance of a link from the discs at which it does not end."""

_CORNERS = dict(zip(SHAPES, (1.0, 1.35, 1.35, 1.12), strict=True))
_ATTEMPTS = 14
_MOST_WORK = 1_000_000
"""Nodes times links of all attempts: a large network gets fewer."""
_GROWTH = 1.09
_SWEEPS = 40
_OVERLAP = 1000.0
"""Penalty of an overlap: higher than the sum of all matters of taste."""


class Way(Struct, frozen=True):
    """Path of a link between nodes, straight or a quadratic curve; ``points`` approximate it."""

    points: tuple[Point, ...]
    bend: Point | None


class Label(Struct, frozen=True):
    """Lines of text with their bounding box, and the penalty of this position; empty text takes no space."""

    lines: tuple[str, ...]
    box: Box
    cost: float = 0.0


class Plan(Struct, frozen=True):
    """Layout of a picture. ``slots`` are the centres of the places on each node. ``overlaps`` is 0 if everything
    fits. A grid has a ``field``. Places and pieces are drawn in this ``size``."""

    picture: Picture
    centres: tuple[Point, ...]
    radii: tuple[float, ...]
    slots: tuple[tuple[Point, ...], ...]
    ways: tuple[Way, ...]
    names: tuple[Label, ...]
    tags: tuple[Label, ...]
    overlaps: int = 0
    field: Field | None = None
    size: float = 1.0


_EMPTY = Slot("", None, None)
_NUMBER = re.compile("[0-9]+")


def arranged(picture: Picture) -> Plan:
    """Return the most compact plan without overlaps, or the one with the fewest overlaps if there is none.

    Pieces, colours and titles take no part in the search, so a board keeps its plan while a game goes on. If a map has
    coordinates, costs of links take none either, but for room of two digits or more: games that draw them share a plan.
    """
    if picture.grid:
        return _on_grid(picture)
    spots = [replace(spot, colour=None, pale=False, slots=(_EMPTY,) * len(spot.slots)) for spot in picture.spots]
    is_placed = all(spot.at is not None for spot in spots)
    ties = [
        replace(tie, colour=None, length=1 if is_placed else tie.length, label=_NUMBER.sub(_room, tie.label))
        for tie in picture.ties
    ]
    return replace(_compact(Picture("", tuple(spots), tuple(ties), (), ())), picture=picture)


def _on_grid(picture: Picture) -> Plan:
    """Return the plan of a grid, whose nodes are fields as large as their places need."""
    points = [complex(*spot.at) for spot in picture.spots if spot.at is not None]
    sided = max(sum(slot.side is not None for slot in spot.slots) for spot in picture.spots)
    middle = max(sum(slot.side is None for slot in spot.slots) for spot in picture.spots)
    needs = max(_ring(sided), _ring(middle) + 2 * SLOT * bool(sided)) + SLOT + 3
    field, step = field_of(points), max(_FIELD, 2 * needs + 6)
    size, centres = min(_LARGEST, (step / 2 - 3) / needs), [point * step / field.step for point in points]
    field = replace(field, step=step)
    slots = tuple(
        tuple(centre + at for at in _slots_in(field, spot, size))
        for spot, centre in zip(picture.spots, centres, strict=True)
    )
    ways = [Way((centres[tie.a], centres[tie.b]), None) for tie in picture.ties]
    middles = (Box.around(sum(way.points) / 2, *_tag_size(tie)) for way, tie in zip(ways, picture.ties, strict=True))
    tags = tuple(Label((tie.label,) if tie.label else (), box) for tie, box in zip(picture.ties, middles, strict=True))
    corner = complex(5 - field.step / 2, 4 - field.step / 2)  # of a square; names are low in hexagons
    names = tuple(
        Label((spot.label,) if spot.label else (), Box.around(centre + at, width, SMALL))
        for spot, centre in zip(picture.spots, centres, strict=True)
        for width in [width_of(spot.label, SMALL)]
        for at in [corner + complex(width, SMALL) / 2 if field.sides == 4 else 0.4j * field.step]
    )
    radii = (step / 2,) * len(centres)
    return Plan(picture, tuple(centres), radii, slots, tuple(ways), names, tags, field=field, size=size)


def _slots_in(field: Field, spot: Spot, size: float) -> Iterator[Point]:
    """Yield the places on a field from its centre: those of a side beside each other, all others in a ring."""
    sides = [slot.side for slot in spot.slots]
    ring = _slots(sides.count(None), 0j)
    for number, side in enumerate(sides):
        before = sides[:number].count(side)
        if side is None:
            yield size * ring[before]
        else:
            aside = (before - (sides.count(side) - 1) / 2) * (2 * SLOT + 1) / (pi * field.step)
            yield field.at(side + aside, size * SLOT + 3)


@lru_cache(60)
def _compact(picture: Picture) -> Plan:
    radii = [_radius(spot) for spot in picture.spots]
    ends = [(tie.a, tie.b) for tie in picture.ties]
    attempts = max(1, min(_ATTEMPTS, _MOST_WORK // (len(radii) * len(ends) or 1)))
    best: Plan | None = None
    for start in _starts(picture, ends):
        gap = 2 * max(radii) + 3.2 * NAME
        for attempt in range(attempts):
            plan = _attempt(picture, radii, ends, scaled(start, gap))
            if not plan.overlaps:
                return plan
            if best is None or plan.overlaps < best.overlaps:
                best = plan
            gap *= _GROWTH + 0.02 * attempt
    assert best is not None
    return best


def _starts(picture: Picture, ends: Sequence[tuple[int, int]]) -> Iterator[list[Point]]:
    """Yield initial positions of nodes: the map coordinates, then a layout computed from the links."""
    coordinates = [complex(*spot.at) for spot in picture.spots if spot.at is not None]
    if len(coordinates) == len(picture.spots):
        yield coordinates
    yield by_stress(len(picture.spots), ends, [float(tie.length) for tie in picture.ties])


def _attempt(picture: Picture, radii: list[float], ends: list[tuple[int, int]], start: list[Point]) -> Plan:
    tags = [_tag_size(tie) for tie in picture.ties]
    centres = spread(start, ends, radii, tags, CLEAR)
    ways = _ways(ends, centres, radii)
    blocked = sum(not _is_clear(way, end, centres, radii) for way, end in zip(ways, ends, strict=True))
    touching = sum(
        abs(centre - near) < radii[node] + radii[other]
        for node, centre in enumerate(centres)
        for other, near in enumerate(centres[:node])
    )
    obstacles = _Obstacles(centres, radii, ways)
    items = [
        *(_name_choices(spot, node, obstacles) for node, spot in enumerate(picture.spots)),
        *(_tag_choices(tie, link, obstacles) for link, tie in enumerate(picture.ties)),
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
    return 0.0 if count < 2 else (SLOT + 0.8) / sin(pi / count)


def _radius(spot: Spot) -> float:
    """Return the radius of a node; other shapes are larger than the disc that contains its places."""
    disc = _ring(len(spot.slots)) + SLOT + 3 if spot.slots else SLOT
    return disc * _CORNERS[spot.shape]


def _slots(count: int, centre: Point) -> tuple[Point, ...]:
    """Return the places in a ring, the first at the top, or of two at the left."""
    first = pi if count == 2 else -pi / 2
    return tuple(centre + rect(_ring(count), first + 2 * pi * place / count) for place in range(count))


# --- paths of links


def _ways(ends: list[tuple[int, int]], centres: list[Point], radii: list[float]) -> list[Way]:
    """Return straight paths where possible, else those with the smallest bend that avoids other discs. Several links
    between two nodes bend in opposite directions."""
    several = Counter(frozenset(end) for end in ends)
    seen: Counter[frozenset[int]] = Counter()
    ways = []
    for a, b in ends:
        between = frozenset((a, b))
        before = 5 + seen[between] if several[between] > 1 else 0
        seen[between] += 1
        sides = (1, -1) if a < b else (-1, 1)
        bends = [0.0, *(side * size for size in (0.12, 0.2, 0.3, 0.4, 0.55, 0.7) for side in sides)][before:]
        tried = (_bent(centres[a], centres[b], bend) for bend in bends)
        free = (way for way in tried if _is_clear(way, (a, b), centres, radii))
        ways.append(next(free, None) or _bent(centres[a], centres[b], bends[0]))
    return ways


def _bent(a: Point, b: Point, bend: float) -> Way:
    if bend == 0:
        return Way((a, b), None)
    middle = (a + b) / 2 + bend * -1j * (b - a)
    parts = [step / 16 for step in range(17)]
    return Way(tuple((1 - t) * (1 - t) * a + 2 * t * (1 - t) * middle + t * t * b for t in parts), middle)


def _is_clear(way: Way, ends: tuple[int, int], centres: Sequence[Point], radii: Sequence[float]) -> bool:
    """Return whether a path avoids all discs at which it does not end."""
    left = min(point.real for point in way.points)
    right = max(point.real for point in way.points)
    for node, centre in enumerate(centres):
        reach = radii[node] + CLEAR - 1
        if node not in ends and left - reach < centre.real < right + reach and to_way(centre, way.points) < reach:
            return False
    return True


# --- labels


def _room(number: re.Match[str]) -> str:
    """Return a number that takes as much room as any other with so many digits; all digits are equally wide."""
    return "0" * max(2, len(number[0]))


class _Obstacles:
    """Obstacles for labels: discs, which must be avoided, and links, which should be."""

    def __init__(self, centres: list[Point], radii: list[float], ways: list[Way]) -> None:
        self.centres, self.radii, self.ways = centres, radii, ways
        sizes = zip(centres, radii, strict=True)
        self._discs = Grid(Box.around(centre, 2 * radius + 4, 2 * radius + 4) for centre, radius in sizes)
        self._segments = [(link, pair) for link, way in enumerate(ways) for pair in pairwise(way.points)]
        self._lines = Grid(Box.of(pair) for _, pair in self._segments)

    def penalty(self, box: Box, *, node: int | None = None, link: int | None = None) -> float:
        """Return the penalty of a label on discs, or on links other than its own."""
        cost = 0.0
        for other in self._discs.near(box):
            if box_meets_disc(box, self.centres[other], self.radii[other] + (1 if other == node else 2)):
                cost += _OVERLAP
        crossed: dict[int, float] = {}
        for number in self._lines.near(box):
            other, pair = self._segments[number]
            if other != link:
                crossed[other] = crossed.get(other, 0.0) + length_inside(box, *pair)
        return cost + sum((3 if link is None else 14) + 0.5 * inside for inside in crossed.values() if inside)


def _tag_size(tie: Tie) -> tuple[float, float]:
    return (width_of(tie.label, TAG) + 8, TAG + 4) if tie.label else (0.0, 0.0)


def _name_choices(spot: Spot, node: int, obstacles: _Obstacles) -> list[Label]:
    """Return positions around the disc: below and above are preferred, then the sides, then the corners."""
    if not spot.label:
        return []
    centre = obstacles.centres[node]
    radius = obstacles.radii[node] + 1.5
    choices = []
    for turn, lines in enumerate(lines_for(spot.label)):
        width = max(width_of(line, NAME) for line in lines) + 4
        height = LINE * len(lines) + 1
        across, down = radius + width / 2, radius + height / 2
        slant = 0.72 * radius
        places = [(0.0, 1j * down), (2.0, -1j * down), (3.0, across + 0j), (3.5, -across + 0j)]
        for low, high, x, y in (
            (5.0, 5.5, slant + width / 2, slant + height / 2),
            (6.0, 7.0, width / 4, down),
            (8.0, 8.0, across, height / 2),
        ):
            places += [(low, complex(x, y)), (low, complex(-x, y)), (high, complex(x, -y)), (high, complex(-x, -y))]
        for price, at in places:
            box = Box.around(centre + at, width, height)
            choices.append(Label(lines, box, price + 4 * turn + obstacles.penalty(box, node=node)))
    return choices


def _tag_choices(tie: Tie, link: int, obstacles: _Obstacles) -> list[Label]:
    """Return positions along the visible part of the link, the middle preferred."""
    if not tie.label:
        return []
    width, height = _tag_size(tie)
    way = obstacles.ways[link].points
    length = length_of(way)
    first, last = obstacles.radii[tie.a], length - obstacles.radii[tie.b]
    choices = []
    for share in (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8):
        box = Box.around(along(way, first + share * (last - first)), width, height)
        cost = 30 * abs(share - 0.5) + obstacles.penalty(box, link=link)
        choices.append(Label((tie.label,), box, cost))
    return choices


def _settled(items: list[list[Label]]) -> tuple[list[Label], int]:
    """Choose a position for each label by local search: one at a time, as long as the total penalty falls."""
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
    return [item[own] if item else nothing for item, own in zip(items, chosen, strict=True)], overlaps


def _cheapest(costs: Sequence[float]) -> int:
    """Return the index of the first minimum, or -1 for no costs."""
    return costs.index(min(costs)) if costs else -1


def _conflicts(items: list[list[Label]]) -> list[list[list[tuple[int, int]]]]:
    """Return, for each position of each label, the positions of other labels that it overlaps."""
    conflicts: list[list[list[tuple[int, int]]]] = [[[] for _ in item] for item in items]
    choices = [(number, own) for number, item in enumerate(items) for own in range(len(item))]
    boxes = [items[number][own].box for number, own in choices]
    grid = Grid(boxes)
    for index, (number, own) in enumerate(choices):
        box = Box(boxes[index].left - 2, boxes[index].top - 2, boxes[index].right + 2, boxes[index].bottom + 2)
        conflicts[number][own] = [
            choices[near] for near in grid.near(box) if choices[near][0] != number and box.meets(boxes[near])
        ]
    return conflicts
