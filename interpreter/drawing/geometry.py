"""Points, boxes and distances in units of the picture. A point is a complex number, with axes to the right and down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from interpreter.base.plain_data import grouped

__all__ = [
    "Box",
    "Grid",
    "Point",
    "along",
    "box_meets_disc",
    "cross",
    "dot",
    "length_inside",
    "length_of",
    "nearest_on_segment",
    "to_way",
]

Point = complex


def dot(a: Point, b: Point) -> float:
    """Return the scalar product of two vectors."""
    return a.real * b.real + a.imag * b.imag


def cross(a: Point, b: Point) -> float:
    """Return the cross product of two vectors, which is positive if the second is clockwise of the first."""
    return a.real * b.imag - a.imag * b.real


class Box(Struct, frozen=True):
    """An axis-aligned rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, centre: Point, width: float, height: float) -> Box:
        x, y = centre.real, centre.imag
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @classmethod
    def of(cls, points: Sequence[Point]) -> Box:
        """Return the bounding box of points."""
        across, down = [point.real for point in points], [point.imag for point in points]
        return cls(min(across), min(down), max(across), max(down))

    def meets(self, other: Box) -> bool:
        """Return whether two boxes overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Grid:
    """Spatial index of boxes by grid square."""

    def __init__(self, boxes: Iterable[Box], size: float = 90.0) -> None:
        self._size = size
        self._squares = grouped((square, number) for number, box in enumerate(boxes) for square in self._touched(box))

    def _touched(self, box: Box) -> Iterator[tuple[int, int]]:
        size = self._size
        for across in range(int(box.left // size), int(box.right // size) + 1):
            for down in range(int(box.top // size), int(box.bottom // size) + 1):
                yield across, down

    def near(self, box: Box) -> list[int]:
        """Return the numbers of all boxes that may meet this one, ascending."""
        return sorted({number for square in self._touched(box) for number in self._squares.get(square, ())})


def box_meets_disc(box: Box, centre: Point, radius: float) -> bool:
    """Return whether a box and a disc overlap by more than their edges."""
    x, y = centre.real, centre.imag
    across = max(box.left - x, 0.0, x - box.right)
    down = max(box.top - y, 0.0, y - box.bottom)
    return across * across + down * down < radius * radius


def nearest_on_segment(point: Point, a: Point, b: Point) -> Point:
    """Return the point of a segment that is nearest to a point."""
    way = b - a
    if way == 0:
        return a
    return a + min(1.0, max(0.0, dot(point - a, way) / dot(way, way))) * way


def to_way(point: Point, way: Sequence[Point]) -> float:
    """Return the distance of a point from a polyline."""
    return min(abs(point - nearest_on_segment(point, a, b)) for a, b in pairwise(way))


def length_of(way: Sequence[Point]) -> float:
    """Return the length of a polyline."""
    return sum(abs(b - a) for a, b in pairwise(way))


def along(way: Sequence[Point], length: float) -> Point:
    """Return the point of a polyline at this length from its start."""
    for a, b in pairwise(way):
        step = abs(b - a)
        if length <= step and step > 0:
            return a + max(0.0, length) / step * (b - a)
        length -= step
    return way[-1]


def length_inside(box: Box, a: Point, b: Point) -> float:
    """Return the length of a segment inside a box (Liang-Barsky clipping)."""
    x, y, dx, dy = a.real, a.imag, (b - a).real, (b - a).imag
    first, last = 0.0, 1.0
    for step, room in ((-dx, x - box.left), (dx, box.right - x), (-dy, y - box.top), (dy, box.bottom - y)):
        if step == 0:
            if room < 0:
                return 0.0
        elif step < 0:
            first = max(first, room / step)
        else:
            last = min(last, room / step)
    return max(0.0, last - first) * abs(b - a)
