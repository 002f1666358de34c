"""Points, boxes and distances in units of the picture, with axes to the right and down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import hypot

from msgspec import Struct

__all__ = [
    "Box",
    "Grid",
    "Point",
    "along",
    "box_meets_disc",
    "length_inside",
    "length_of",
    "nearest_on_segment",
    "to_way",
]

Point = tuple[float, float]


class Box(Struct, frozen=True):
    """An axis-aligned rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, centre: Point, width: float, height: float) -> Box:
        x, y = centre
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @classmethod
    def of(cls, points: Sequence[Point]) -> Box:
        """Return the bounding box of points."""
        return cls(
            min(x for x, _ in points), min(y for _, y in points), max(x for x, _ in points), max(y for _, y in points)
        )

    def meets(self, other: Box) -> bool:
        """Return whether two boxes overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Grid:
    """Spatial index of boxes by grid square."""

    def __init__(self, boxes: Iterable[Box], size: float = 90.0) -> None:
        self._size = size
        self._squares: dict[tuple[int, int], list[int]] = {}
        for number, box in enumerate(boxes):
            for square in self._touched(box):
                self._squares.setdefault(square, []).append(number)

    def _touched(self, box: Box) -> Iterator[tuple[int, int]]:
        size = self._size
        for across in range(int(box.left // size), int(box.right // size) + 1):
            for down in range(int(box.top // size), int(box.bottom // size) + 1):
                yield across, down

    def near(self, box: Box) -> list[int]:
        """Return the numbers of all boxes that may meet this one, ascending."""
        numbers: set[int] = set()
        for square in self._touched(box):
            numbers.update(self._squares.get(square, ()))
        return sorted(numbers)


def box_meets_disc(box: Box, centre: Point, radius: float) -> bool:
    """Return whether a box and a disc overlap by more than their edges."""
    x, y = centre
    across = max(box.left - x, 0.0, x - box.right)
    down = max(box.top - y, 0.0, y - box.bottom)
    return across * across + down * down < radius * radius


def nearest_on_segment(point: Point, a: Point, b: Point) -> Point:
    """Return the point of a segment that is nearest to a point."""
    (x, y), (ax, ay), (bx, by) = point, a, b
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    if square == 0:
        return a
    share = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / square))
    return ax + share * dx, ay + share * dy


def to_way(point: Point, way: Sequence[Point]) -> float:
    """Return the distance of a point from a polyline."""
    least = float("inf")
    for a, b in pairwise(way):
        x, y = nearest_on_segment(point, a, b)
        least = min(least, hypot(point[0] - x, point[1] - y))
    return least


def length_of(way: Sequence[Point]) -> float:
    """Return the length of a polyline."""
    return sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(way))


def along(way: Sequence[Point], length: float) -> Point:
    """Return the point of a polyline at this length from its start."""
    for a, b in pairwise(way):
        step = hypot(b[0] - a[0], b[1] - a[1])
        if length <= step and step > 0:
            share = max(0.0, length) / step
            return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
        length -= step
    return way[-1]


def length_inside(box: Box, a: Point, b: Point) -> float:
    """Return the length of a segment inside a box (Liang-Barsky clipping)."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    first, last = 0.0, 1.0
    for step, room in ((-dx, a[0] - box.left), (dx, box.right - a[0]), (-dy, a[1] - box.top), (dy, box.bottom - a[1])):
        if step == 0:
            if room < 0:
                return 0.0
        elif step < 0:
            first = max(first, room / step)
        else:
            last = min(last, room / step)
    return max(0.0, last - first) * hypot(dx, dy)
