"""SVG of a planned picture: land in the nodes' colours, links with labels, nodes with places, and pieces."""

from __future__ import annotations

from cmath import phase, rect
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from math import pi
from typing import Any, NamedTuple
from xml.sax.saxutils import escape
from zlib import crc32

from interpreter.drawing.colours import darker, ink_on, lighter
from interpreter.drawing.fields import Field
from interpreter.drawing.font_metrics import FAMILY, width_of
from interpreter.drawing.geometry import Box, Point, along, cross, dot, length_of
from interpreter.drawing.picture import Heap, Laid, Picture, Piece, Slot, Spot, Tie, without_pieces
from interpreter.drawing.plan import LINE, NAME, SLOT, SMALL, TAG, Plan, Way, arranged
from interpreter.drawing.svg import Symbols, document, element, path

__all__ = ["Drawn", "card_in", "drawn", "drawn_on", "fills_of", "on_node"]

_MARGIN = 28.0
_TITLE = 22.0
_LEGEND = 13.0
_LAND = 46.0
"""Distance that land extends around a node, and to each side of a link."""
_CELL = 260.0
"""Maximum distance that a node's colour extends."""
_AROUND = tuple(2 * pi * corner / 28 for corner in range(28))
_INK = "#2b2a27"
_PAPER = "#fbf8f0"
_FONT = {"font_family": FAMILY, "font_weight": "bold"}
_HALO: dict[str, Any] = {"stroke": _PAPER, "stroke_width": 3.2, "stroke_linejoin": "round", "paint_order": "stroke"}
_LINK = "#5b5750"
_PALE = "#d9d6cf"
_PLAIN = "#c9c1ae"
_SHAPES = (
    (-6 + 6j, -6 - 1j, -6.5j, 6 - 1j, 6 + 6j),
    (-5.5 - 5.5j, 5.5 - 5.5j, 5.5 + 5.5j, -5.5 + 5.5j),
    (-7j, 7, 7j, -7),
    (-3.2 - 6.2j, 3.2 - 6.2j, 6.4, 3.2 + 6.2j, -3.2 + 6.2j, -6.4),
)
"""Outlines of pieces, one for each kind of piece."""


class Drawn(NamedTuple):
    """A picture as SVG, with the positions of its nodes and places for overlays."""

    svg: str
    plan: Plan
    width: float
    height: float
    shift: Point


def drawn(picture: Picture, *, titled: bool = True) -> str:
    """Return the whole picture as SVG."""
    return drawn_on(picture, titled=titled).svg


def on_node(plan: Plan, node: int, spot: Spot, symbols: Symbols) -> Iterator[str]:
    """Yield the SVG of the card, the tokens and the pieces on a node."""
    if spot.laid is not None and plan.field is not None:
        yield symbols.used(card_in(plan.field, spot.laid), plan.centres[node], turn=spot.laid.turn or 0.0)
        size = TAG * min(1.0, 0.8 * plan.field.step / (width_of(spot.laid.title, TAG) or 1.0))
        yield symbols.used(_words(spot.laid.title, 0.36j * size, size, fill=_INK, **_HALO), plan.centres[node])
    if plan.field is not None:
        yield from _heaps(spot.heaps, plan.centres[node], 0.32 * plan.field.step, symbols)
    for slot, at in zip(spot.slots, plan.slots[node], strict=True):
        if slot.piece is not None:
            yield symbols.used("".join(_piece(slot.piece, 0j)), at, size=plan.size)
        yield from _heaps(slot.heaps, at + 1j * plan.size * SLOT * bool(slot.piece), plan.size * SLOT, symbols)


@lru_cache(60)
def drawn_on(picture: Picture, *, titled: bool = True) -> Drawn:
    """Draw the picture, with or without title."""
    plan, (under, over) = arranged(picture), _ground(without_pieces(picture))
    nodes = map(_node, picture.spots, plan.centres, plan.radii, plan.slots)
    area = _area(plan)
    legend = [*_legend_entries(picture)]
    rows = _legend_rows(legend, max(area.right - area.left, 260.0))
    width = max(area.right - area.left, width_of(picture.title, _TITLE), *(row[-1][1] for row in rows), 0.0)
    title = picture.title if titled else ""
    top = _MARGIN + _TITLE + 16 if titled else _MARGIN
    height = top + area.bottom - area.top + (18 + 24 * len(rows) if rows else 0) + _MARGIN
    aside = (width - (area.right - area.left)) / 2
    moved, symbols = complex(_MARGIN + aside - area.left, top - area.top), Symbols()
    laid = (on_node(plan, node, spot, symbols) for node, spot in enumerate(picture.spots) if plan.field is not None)
    heading = _words(title, complex(_MARGIN, _MARGIN + _TITLE * 0.8), _TITLE, anchor="start", fill=_INK, class_="title")
    inside = [
        element("rect", width="100%", height="100%", fill=_PAPER),
        *([heading] if title else []),
        f'<g transform="translate({moved.real:.2f} {moved.imag:.2f})">',
        *under,
        *(chain.from_iterable(nodes) if plan.field is None else ()),
        *chain.from_iterable(laid),
        *over,
        symbols.defined(),
        "</g>",
        *_legend(legend, rows, top + area.bottom - area.top + 30),
    ]
    svg = document(width + 2 * _MARGIN, height, inside, picture.title)
    return Drawn(svg, plan, width + 2 * _MARGIN, height, moved)


@lru_cache(8)
def _ground(board: Picture) -> tuple[list[str], list[str]]:
    """Return what lies under the nodes and over them. It stays the same while pieces come and go."""
    plan = arranged(board)
    if plan.field is not None:
        return [*_fields(plan, plan.field), *_names(plan), *_links(plan)], [*_tags(plan)]
    return [*_land(plan), *_links(plan)], [*_tags(plan), *_names(plan)]


def _area(plan: Plan) -> Box:
    wide = 2 * _LAND if plan.field is None else 2 * abs(plan.field.at(0.5 / plan.field.sides))
    boxes = [Box.around(centre, wide, wide) for centre in plan.centres]
    boxes += [label.box for label in (*plan.names, *plan.tags) if label.lines]
    corners = [complex(*corner) for box in boxes for corner in ((box.left, box.top), (box.right, box.bottom))]
    return Box.of([*corners, *(point for way in plan.ways for point in way.points)])


def _sides(box: Box) -> dict[str, float]:
    return {"x": box.left, "y": box.top, "width": box.right - box.left, "height": box.bottom - box.top}


def _polygon(corners: Iterable[Point], *inside: str, **others: object) -> str:
    return element("path", *inside, d=path(corners, closed=True), **others)


def _line(words: str, at: Point, width: float, **others: object) -> str:
    """Return a line of text, fitted to its computed width with any font."""
    fitted = {"textLength": width, "lengthAdjust": "spacingAndGlyphs"}
    return element("text", escape(words), x=at.real, y=at.imag, **fitted, **others)


def _words(words: str, at: Point, size: float, *, anchor: str = "middle", width: float = 0.0, **others: object) -> str:
    """Return a line of text with its font."""
    return _line(words, at, width or width_of(words, size), font_size=size, text_anchor=anchor, **_FONT, **others)


# --- land


def _land(plan: Plan) -> Iterator[str]:
    """Draw the Voronoi cell of each node in its colour, clipped to the land."""
    if all(spot.colour is None for spot in plan.picture.spots):
        return
    cells = []
    for node, spot in enumerate(plan.picture.spots):
        colour, corners = _land_colour(spot), _cell(node, plan.centres)
        cells.append(_polygon(corners, fill=colour, stroke=colour, stroke_width=1.2, stroke_linejoin="round"))
    shore = "".join(_shore(plan))
    id_ = f"land-{crc32((plan.picture.title + shore).encode()):08x}"  # a page may have several boards
    yield element("mask", shore, id=id_, maskUnits="userSpaceOnUse", **_sides(_area(plan)))
    yield element("g", *cells, mask=f"url(#{id_})", class_="land")


def _shore(plan: Plan) -> Iterator[str]:
    """Draw the land: broad strips along the links, and the areas that they enclose."""
    for way in plan.ways:
        shape = path((way.points[0], way.points[-1]), bend=way.bend)
        yield element("path", d=shape, fill="none", stroke="#fff", stroke_width=2 * _LAND - 2, stroke_linecap="round")
    ends = {way.points[0] for way in plan.ways} | {way.points[-1] for way in plan.ways}
    for centre in plan.centres:
        if centre not in ends:
            yield element("circle", cx=centre.real, cy=centre.imag, r=_LAND - 1, fill="#fff")
    for corners in _enclosed(plan):
        yield _polygon([plan.centres[node] for node in corners], fill="#fff")


def _enclosed(plan: Plan) -> list[list[int]]:
    """Return the inner faces of the embedded graph, by following each link to the next one in turn. All but the outer
    one are walked clockwise."""
    centres = plan.centres
    neighbours: list[set[int]] = [set() for _ in plan.centres]
    for tie in plan.picture.ties:
        neighbours[tie.a].add(tie.b)
        neighbours[tie.b].add(tie.a)
    turns = [
        sorted((phase(centres[other] - here), other) for other in others)
        for here, others in zip(centres, neighbours, strict=True)
    ]
    around = [[other for _, other in ring] for ring in turns]
    open_links = {(node, other) for node, others in enumerate(neighbours) for other in others}
    faces = []
    for start in sorted(open_links):
        face, link = [], start
        while link in open_links:
            open_links.remove(link)
            node, other = link
            face.append(node)
            ring = around[other]
            link = (other, ring[ring.index(node) - 1])
        area = sum(cross(centres[face[place - 1]], centres[node]) for place, node in enumerate(face))
        if len(face) > 2 and area > 0:
            faces.append(face)
    return faces


def fills_of(colour: str) -> tuple[str, str]:
    """Return what nodes of a colour and their land are filled with."""
    return colour, lighter(colour, 0.62)


def _land_colour(spot: Spot) -> str:
    return "#ecebe6" if spot.pale else fills_of(spot.colour or _PLAIN)[1]


@lru_cache(2_000)
def _cell(node: int, centres: tuple[Point, ...]) -> list[Point]:
    centre = centres[node]
    cell = [centre + rect(_CELL, turn) for turn in _AROUND]
    for number, other in enumerate(centres):
        if number != node and abs(other - centre) < 2 * _CELL:
            cell = _cut(cell, (centre + other) / 2, other - centre)
    return cell


def _cut(cell: list[Point], on: Point, away: Point) -> list[Point]:
    """Clip a cell by a line."""
    corners: list[Point] = []
    sides = [dot(point - on, away) for point in cell]
    for index, point in enumerate(cell):
        before, last = sides[index - 1], cell[index - 1]
        if (sides[index] <= 0) != (before <= 0):
            corners.append(last + before / (before - sides[index]) * (point - last))
        if sides[index] <= 0:
            corners.append(point)
    return corners


# --- fields of a grid

_DOT = element("circle", r=2, fill="#ffffff", stroke=_PALE, class_="place")
"""A place about which there is nothing to say."""


def _fields(plan: Plan, field: Field) -> Iterator[str]:
    """Draw the fields with their places. Fields that look alike are one symbol."""
    symbols, fields = Symbols(), list[str]()
    for spot, centre, slots in zip(plan.picture.spots, plan.centres, plan.slots, strict=True):
        colour = _land_colour(spot)
        inside = [_polygon(field.outline(), fill=colour, stroke=darker(colour, 0.25), stroke_width=1.2)]
        if plan.picture.shapes:
            inside.append(_outline(spot.shape, 0j, 0.4 * field.step, fill="none", stroke=darker(colour, 0.45)))
        for slot, at in zip(spot.slots, slots, strict=True):
            place = "".join(_slot(slot, 0j, spot.pale)) if slot.label or slot.colour else _DOT
            inside.append(symbols.used(place, at - centre, size=plan.size))
        title = [element("title", escape(spot.name))] * (spot.name != spot.label)
        fields.append(symbols.used("".join(inside), centre, *title))
    yield symbols.defined()
    yield element("g", *fields, class_="land")


def card_in(field: Field, laid: Laid) -> str:
    """Return a card as large as a field: a part in each of its colours, and a mark at the side that was the first."""
    colours = laid.colours if len(set(laid.colours)) > 1 else laid.colours[:1]
    edge = _polygon(field.outline(3.0), fill=colours[0], stroke=_INK, stroke_width=1.2, stroke_linejoin="round")
    parts = [_polygon(field.outline(3.6, part, len(colours)), fill=colours[part]) for part in range(1, len(colours))]
    tip = field.at(0.0, 4.0)
    back = 5 * tip / abs(tip)
    mark = _polygon([tip, tip - back + 0.8j * back, tip - back - 0.8j * back], fill=_PAPER, stroke=_INK)
    return "".join([edge, *parts, *([mark] if laid.turn is not None else [])])


def _heaps(heaps: tuple[Heap, ...], at: Point, room: float, symbols: Symbols) -> Iterator[str]:
    """Yield tokens side by side, within a distance from a point."""
    for number, heap in enumerate(heaps):
        radius = room / len(heaps)
        yield symbols.used("".join(_heap(heap, radius)), at + (2 * number + 1 - len(heaps)) * radius)


def _heap(heap: Heap, radius: float) -> Iterator[str]:
    """Yield a disc in the colour of the tokens, with their number."""
    yield element("circle", r=radius, fill=heap.colour, stroke=darker(heap.colour, 0.45), stroke_width=1.2)
    size = min(radius, 1.5 * radius / (width_of(str(heap.number), 1.0) or 1.0))
    yield _words(str(heap.number), 0.36j * size, size, fill=ink_on(heap.colour), class_="heap")


# --- links and nodes


def _links(plan: Plan) -> Iterator[str]:
    """Draw each line over a wider one in paper colour, so that crossings show which line is above."""
    for tie, way in zip(plan.picture.ties, plan.ways, strict=True):
        shape = path((way.points[0], way.points[-1]), bend=way.bend)
        colour = _PALE if _is_pale(plan, tie) else tie.colour or _LINK
        yield element("path", d=shape, fill="none", stroke=_PAPER, stroke_width=6.5, stroke_opacity=0.85)
        yield element("path", d=shape, fill="none", stroke=colour, stroke_width=3.2, class_="link")
        if tie.one_way:
            yield _polygon(_head(way, plan.radii[tie.b]), fill=colour, class_="head")


def _is_pale(plan: Plan, tie: Tie) -> bool:
    return plan.picture.spots[tie.a].pale or plan.picture.spots[tie.b].pale


def _head(way: Way, radius: float) -> list[Point]:
    """Return the arrow head at the end of a one-way link."""
    length = length_of(way.points)
    tip, back = along(way.points, length - radius - 1), along(way.points, length - radius - 12)
    aside = 0.55j * (tip - back)
    return [tip, back + aside, back - aside]


def _outline(shape: str, at: Point, radius: float, *inside: str, **others: object) -> str:
    """Return the outline of a node: a circle, or a polygon with this circumradius."""
    if shape == "circle":
        return element("circle", *inside, cx=at.real, cy=at.imag, r=radius, **others)
    corners, first = {"square": (4, 0.5), "diamond": (4, 0.0), "hexagon": (6, 0.5)}[shape]
    turns = [2 * pi * (corner + first) / corners for corner in range(corners)]
    return _polygon([at + rect(radius, turn) for turn in turns], *inside, **others)


@lru_cache(2_000)
def _node(spot: Spot, centre: Point, radius: float, slots: tuple[Point, ...]) -> list[str]:
    """Return a node with its places, of which few change from one picture of a game to the next."""
    colour = _PALE if spot.pale else spot.colour or _PLAIN
    title, edge = element("title", escape(spot.name)), darker(colour, 0.45)
    look = {"fill": colour, "stroke": edge, "stroke_width": 1.6, "class_": "node"}
    places = (_slot(slot, at, spot.pale) for slot, at in zip(spot.slots, slots, strict=True))
    return [_outline(spot.shape, centre, radius, title, **look), *chain.from_iterable(places)]


def _slot(slot: Slot, at: Point, pale: bool) -> Iterator[str]:
    fill = lighter(slot.colour, 0.45) if slot.colour else "#f1f0ec" if pale else "#ffffff"
    yield element("circle", cx=at.real, cy=at.imag, r=SLOT, fill=fill, fill_opacity=0.92, class_="place")
    if slot.piece is not None:
        yield from _piece(slot.piece, at)
    elif slot.label:
        size = 8.6
        width = width_of(slot.label, size)
        if width > 2 * SLOT - 3:
            size, width = size * (2 * SLOT - 3) / width, 2 * SLOT - 3
        ink = "#a5a29b" if pale else "#55524c"
        yield _words(slot.label, at + 0.36j * size, size, width=width, fill=ink, class_="price")


@lru_cache(2_000)
def _piece(piece: Piece, at: Point, class_: str = "owner") -> list[str]:
    corners = [at + 1.25 * corner for corner in _SHAPES[piece.shape % len(_SHAPES)]]
    rim = {"stroke": "#ffffff", "stroke_width": 1.4, "stroke_linejoin": "round"}
    number = _words(piece.number, at + 4.6j, 9.0, fill=ink_on(piece.colour), class_=class_)
    return [_polygon(corners, fill=piece.colour, **rim, class_="piece"), number]


# --- labels


def _names(plan: Plan) -> Iterator[str]:
    size, lines = NAME if plan.field is None else SMALL, list[str]()
    for spot, label in zip(plan.picture.spots, plan.names, strict=True):
        for number, line in enumerate(label.lines):
            top = label.box.top + 0.5 + number * LINE + 0.86 * size
            at = complex((label.box.left + label.box.right) / 2, top)
            lines.append(_line(line, at, width_of(line, size), fill="#9b978e" if spot.pale else None))
    look = {"fill": _INK, **_FONT, **_HALO}
    yield element("g", *lines, class_="names", font_size=size, text_anchor="middle", **look)


def _tags(plan: Plan) -> Iterator[str]:
    for tie, label in zip(plan.picture.ties, plan.tags, strict=True):
        if not label.lines:
            continue
        box, pale = label.box, _is_pale(plan, tie)
        edge = {"stroke": _PALE if pale else tie.colour or _LINK, "stroke_width": 1.2}
        yield element("rect", **_sides(box), rx=4.0, fill="#ffffff", **edge, class_="tag")
        at = complex((box.left + box.right) / 2, (box.top + box.bottom) / 2 + 0.36 * TAG)
        yield _words(tie.label, at, TAG, fill="#a5a29b" if pale else _INK, class_="cost")


# --- legend

_Entry = tuple[str, str, Piece | str]


def _legend_entries(picture: Picture) -> Iterator[_Entry]:
    shapes, colours = dict(picture.shapes), dict(picture.legend)
    for words in {**colours, **shapes}:
        yield words, colours.get(words, _PAPER), shapes.get(words, "circle")
    for piece, words in picture.owners:
        yield words, piece.colour, piece


def _legend_rows(entries: list[_Entry], width: float) -> list[list[tuple[float, float]]]:
    """Lay out the legend: start and end of each entry, row by row."""
    rows: list[list[tuple[float, float]]] = []
    left = 0.0
    for number, (words, _, piece) in enumerate(entries):
        right = left + 22 + width_of(words, _LEGEND)
        if not rows or right > width or (isinstance(piece, Piece) and isinstance(entries[number - 1][2], str)):
            rows.append([])
            left, right = 0.0, right - left
        rows[-1].append((left, right))
        left = right + 22
    return rows


def _legend(entries: list[_Entry], rows: list[list[tuple[float, float]]], top: float) -> Iterator[str]:
    places = [complex(_MARGIN + left + 8, top + 24 * number) for number, row in enumerate(rows) for left, _ in row]
    for (words, colour, piece), at in zip(entries, places, strict=True):
        if isinstance(piece, str):
            yield _outline(piece, at, 7.0, fill=colour, stroke=darker(colour, 0.45), stroke_width=1.2)
        else:
            yield from _piece(piece, at, "key")
        yield _words(words, at + complex(13, 0.36 * _LEGEND), _LEGEND, anchor="start", fill=_INK, class_="legend")
