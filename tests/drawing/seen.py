"""Geometry of an SVG, read from the file itself: its visible elements and their overlaps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import dist, hypot
from xml.etree import ElementTree

__all__ = ["Seen", "seen"]

Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True)
class Seen:
    """Visible elements: discs with the names in their tooltips, polygons of land, links as points along them, and
    labels with their rectangles."""

    width: float
    height: float
    discs: list[tuple[str, Point, float, str]]
    fields: list[list[Point]]
    links: list[list[Point]]
    names: list[tuple[str, Rectangle]]
    tags: list[tuple[str, Rectangle]]
    places: list[Point]
    pieces: list[tuple[str, Point]]
    legend: list[str]
    title: str

    def overlaps(self) -> list[str]:
        """Return all pairs of elements that overlap and should not."""
        labels = [*self.names, *self.tags]
        found = [
            f"the labels {one} and {other}"
            for number, (one, box) in enumerate(labels)
            for other, second in labels[:number]
            if _meet(box, second)
        ]
        found += [
            f"the label {label} and the disc {name}"
            for label, box in labels
            for name, centre, radius, _ in self.discs
            if hypot(*_outside(box, centre)) < radius
        ]
        found += [
            f"the discs {one} and {other}"
            for number, (one, centre, radius, _) in enumerate(self.discs)
            for other, second, size, _ in self.discs[:number]
            if hypot(centre[0] - second[0], centre[1] - second[1]) < radius + size
        ]
        found += [
            f"a link through {name}"
            for link in self.links
            for name, centre, radius, _ in self.discs
            if min(dist(centre, link[0]), dist(centre, link[-1])) > 0.1 and _distance(centre, link) < radius
        ]
        return found


def _meet(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _outside(box: Rectangle, point: Point) -> Point:
    return max(box[0] - point[0], 0, point[0] - box[2]), max(box[1] - point[1], 0, point[1] - box[3])


def _distance(point: Point, link: list[Point]) -> float:
    """Return the distance to the nearest of two hundred points on each segment of the link, independent of the
    program's formulas."""
    found = float("inf")
    for (ax, ay), (bx, by) in zip(link, link[1:]):  # noqa: B905, RUF007
        for step in range(201):
            x, y = ax + (bx - ax) * step / 200, ay + (by - ay) * step / 200
            found = min(found, hypot(point[0] - x, point[1] - y))
    return found


def seen(svg: str) -> Seen:
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    by_class: dict[str, list[ElementTree.Element]] = {}
    for element in root.iter():
        by_class.setdefault(element.get("class", ""), []).append(element)

    def of(name: str) -> list[ElementTree.Element]:
        return by_class.get(name, [])

    tags = [(e, _rectangle(e)) for e in of("tag")]
    return Seen(
        width=float(root.get("width", "")),
        height=float(root.get("height", "")),
        discs=[(_words(e.find("title")), *_disc(e), e.get("fill", "")) for e in of("node")],
        fields=[_field(e, root) for land in of("land") for e in land],
        links=[points_of(e.get("d", "")) for e in of("link")],
        names=[(_words(e), _text(e, names)) for names in of("names") for e in names],
        tags=[(_words(e), box) for (_, box), e in zip(tags, of("cost"), strict=True)],
        places=[_centre(e) for e in of("place")],
        pieces=[(_words(e), (float(e.get("x", "")), float(e.get("y", "")) - 4.6)) for e in of("owner")],
        legend=[_words(e) for e in of("legend")],
        title=_words(of("title")[0]),
    )


def _field(element: ElementTree.Element, root: ElementTree.Element) -> list[Point]:
    """Return the corners of a field: those of its path, or of the first one in the symbol that it uses."""
    if element.tag == "path":
        return points_of(element.get("d", ""))
    symbol = next(e for e in root.iter("g") if f"#{e.get('id')}" == element.get("href"))
    dx, dy = (float(element.get(key, "")) for key in ("x", "y"))
    return [(x + dx, y + dy) for x, y in points_of(symbol[0].get("d", ""))]


def _words(element: ElementTree.Element | None) -> str:
    assert element is not None
    return element.text or ""


def _centre(circle: ElementTree.Element) -> Point:
    return float(circle.get("cx", 0)), float(circle.get("cy", 0))


def _disc(node: ElementTree.Element) -> tuple[Point, float]:
    """Return the centre of a node and its radius, corners included."""
    if node.tag == "circle":
        return _centre(node), float(node.get("r", ""))
    corners = points_of(node.get("d", ""))
    x, y = (sum(each) / len(corners) for each in zip(*corners, strict=True))
    return (x, y), max(hypot(a - x, b - y) for a, b in corners)


def _rectangle(rect: ElementTree.Element) -> Rectangle:
    x, y, width, height = (float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def _text(text: ElementTree.Element, names: ElementTree.Element) -> Rectangle:
    """Return the rectangle of a name: ascenders take three quarters of its size, descenders a quarter."""
    x, y, width = (float(text.get(key, "")) for key in ("x", "y", "textLength"))
    size = float(names.get("font-size", ""))
    assert names.get("text-anchor") == "middle"
    return x - width / 2, y - 0.75 * size, x + width / 2, y + 0.24 * size


def points_of(d: str) -> list[Point]:
    numbers = [float(text) for text in re.findall(r"-?[0-9.]+", d)]
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    if "Q" not in d:
        return points
    (ax, ay), (cx, cy), (bx, by) = points
    steps = [step / 24 for step in range(25)]
    return [
        ((1 - t) ** 2 * ax + 2 * t * (1 - t) * cx + t * t * bx, (1 - t) ** 2 * ay + 2 * t * (1 - t) * cy + t * t * by)
        for t in steps
    ]
