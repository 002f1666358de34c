"""Fields of a grid: squares, or hexagons if the nearest nodes are offset to each other.

A direction is a share of a whole turn, clockwise from the first side of a field: the upper one, or the right one of two
upper ones.
"""

from __future__ import annotations

from cmath import rect
from collections.abc import Sequence
from itertools import islice
from math import cos, pi

from msgspec import Struct

from interpreter.drawing.geometry import Point

__all__ = ["Field", "field_of"]

_ALONE = 1e9
"""Size of the field of a single node, on the map."""


class Field(Struct, frozen=True):
    """The field around each node of a grid. ``step`` is the distance between the nearest nodes, ``first`` the angle of
    its first side."""

    step: float
    sides: int = 4
    first: float = -pi / 2

    def at(self, turn: float, inset: float = 0.0) -> Point:
        """Return the point in a direction from the centre, at a distance inside the outline."""
        aside = (turn * self.sides + 0.5) % 1 - 0.5  # from the middle of its side
        return rect((self.step / 2 - inset) / cos(2 * pi * aside / self.sides), self.first + 2 * pi * turn)

    def outline(self, inset: float = 0.0, part: int = 0, of: int = 1) -> list[Point]:
        """Return the corners of the field, or of one of its equal parts, of which the first lies in direction 0."""
        start, end = (part - 0.5) / of, (part + 0.5) / of
        turns = [(corner + 0.5) / self.sides for corner in range(-self.sides, self.sides)]
        around = [self.at(turn, inset) for turn in turns if start < turn < end]
        return around if of == 1 else [0j, self.at(start, inset), *around, self.at(end, inset)]


def field_of(centres: Sequence[Point]) -> Field:
    """Return the field of a grid."""
    order = sorted(centres, key=lambda point: (point.real, point.imag))
    step, offsets = _ALONE, list[Point]()
    for node, centre in enumerate(order):
        for other in islice(order, node + 1, None):
            if other.real - centre.real > 1.1 * step:
                break
            offsets.append(other - centre)
            step = min(step, abs(offsets[-1]) or step)
    near = [each for each in offsets if abs(each) < 1.1 * step]
    if not any(min(abs(each.real), abs(each.imag)) > 0.2 * step for each in near):
        return Field(step)
    return Field(step, 6, -pi / 3 if any(abs(each.imag) < 0.2 * step for each in near) else -pi / 2)
