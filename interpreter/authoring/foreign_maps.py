"""Maps in formats of others: reads the nodes and links of CSV, GraphML, GML, GeoJSON and JSON files, and writes them.

Reading cleans names, scales coordinates and drops repeated links; notes say what is changed or invented. networkx, of
the extra `maps`, reads networks and measures them. The scaffold makes a map of the result.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import permutations
from math import cos, dist, isfinite, radians
from pathlib import Path
from statistics import mean
from typing import Any
from unicodedata import category, normalize

from msgspec import Struct

from interpreter.base.extras import Unavailable, install_command
from interpreter.base.plain_data import json_of
from interpreter.base.plurals import counted, joined, quoted
from interpreter.base.suggest import did_you_mean
from interpreter.engine.values import Names
from interpreter.kernel.state import Value
from interpreter.language.model import Model
from interpreter.reading.yaml import MAX_BYTES

__all__ = ["Board", "Unreadable", "read_board", "written"]

LONGEST_NAME = 40
MOST_ERRORS = 10
EXTENT = 1_000
"""Width or height of scaled coordinates."""
_ALIASES = {
    **dict.fromkeys(("label", "title"), "name"),
    **dict.fromkeys(("lon", "lng", "long", "longitude"), "lon"),
    **dict.fromkeys(("lat", "latitude"), "lat"),
    **dict.fromkeys(("source", "start"), "from"),
    **dict.fromkeys(("target", "end"), "to"),
    **dict.fromkeys(("weight", "length", "distance", "price"), "cost"),
}
_Values = dict[str, Any]
_USUAL = {*_ALIASES.values(), "x", "y", "id", "where", "graphics"}


class Unreadable(ValueError):
    """A file that gives no board, or a board that a format cannot hold. The message says why and where."""


class Board(Struct):
    """A network of nodes by number, with names, positions and other values, and of links with costs, if they have some.

    ``source`` names the files, ``notes`` say what was changed or invented.
    """

    network: Any
    source: str
    notes: list[str]

    def columns(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Return the values of nodes and of links by name, as far as all have them."""
        nodes = [known for _, known in self.network.nodes(data=True)]
        links = [
            {**known, "from": nodes[a]["name"], "to": nodes[b]["name"]} for a, b, known in self.network.edges(data=True)
        ]

        def whole(rows: list[_Values]) -> dict[str, list[str]]:
            names = [key for key in rows[0] if all(row.get(key) is not None for row in rows)]
            return {name: [str(row[name]) for row in rows] for name in names}

        return whole(nodes), whole(links) if links else {"from": [], "to": []}

    def costs(self, usual: float) -> list[str]:
        """Return the cost of each link. Where some have none, they are worked out from the distances, in proportion to
        known ones; without any, ``usual`` is the mean."""
        spots, links = self.network.nodes, list(self.network.edges(data="cost"))
        missing = sum(cost is None for *_, cost in links)
        if missing and not all("x" in spots[node] for node in spots):
            self.notes.append(f"{counted(missing, 'link')} without cost and distance: {round(usual)} each")
            return [str(round(usual) if cost is None else cost) for *_, cost in links]
        far = [dist(*((spots[end]["x"], spots[end]["y"]) for end in link[:2])) or 1 for link in links if missing]
        rates = [cost / span for (*_, cost), span in zip(links, far, strict=False) if cost]
        rate = mean(rates) if rates else usual / mean(far) if far else 0
        self.notes += [f"{counted(missing, 'cost')} worked out from distances"] if missing else []
        return [str(max(1, round(far[n] * rate)) if cost is None else cost) for n, (*_, cost) in enumerate(links)]

    def regions(self, size: int) -> list[int]:
        """Return a region for each node. Connected regions of about ``size`` nodes grow from nodes that are far from
        each other, always the smallest first; then larger ones give nodes to smaller ones."""
        networkx, near, number = _networkx(), self.network.adj, max(1, round(len(self.network) / size))
        seeds = [min(near, key=lambda node: (len(near[node]), node))]
        while len(seeds) < number:
            far = networkx.multi_source_dijkstra_path_length(self.network, set(seeds), weight=None)
            seeds.append(max(sorted(far), key=lambda node: far[node]))
        parts = [{seed} for seed in seeds]
        left = set(near).difference(seeds)
        while left:
            part = min((part for part in parts if any(left.intersection(near[n]) for n in part)), key=len)
            edge = sorted({other for node in part for other in near[node]} & left)
            part.add(new := max(edge, key=lambda other: sum(each in part for each in near[other])))
            left.remove(new)
        changed = True
        while changed:
            changed = False
            for large, small in permutations(parts, 2):
                for node in sorted(large):
                    fits = len(large) >= len(small) + 2 and not small.isdisjoint(near[node])
                    if fits and networkx.is_connected(self.network.subgraph(large - {node})):
                        large.remove(node)
                        small.add(node)
                        changed = True
        parts.sort(key=min)
        self.notes.append(f"{counted(number, 'region')} grown along the links")
        return [next(number for number, part in enumerate(parts) if node in part) for node in near]


# --- formats


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise Unavailable(f"maps of others need networkx: `{install_command('maps')}`") from None
    return networkx


def read_board(paths: Sequence[Path], node: str) -> Board:
    """Read a board from a file, or from two with tables of nodes and of links. ``node`` is the family's word for a
    node, which may head their names. Raises :class:`Unreadable`."""
    reader = _Reader({**_ALIASES, node: "name"})
    for path in paths:
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise Unreadable(f"{path}: file is too large, want at most {MAX_BYTES // 1024 // 1024} MB")
        try:
            reader.read(path, normalize("NFC", data.decode("utf-8-sig")))
        except (Unreadable, Unavailable):
            raise
        except Exception as error:  # parsers of others raise errors of many types for broken files
            raise Unreadable(f"{path}: not readable as {path.suffix[1:]}: {error}") from None
    return _board(reader.nodes, reader.links, joined(path.name for path in paths))


class _Reader:
    """Collects the values of nodes, by id, and of links, each with its place in a file as ``where``."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self.aliases = aliases
        self.nodes: dict[object, _Values] = {}
        self.links: list[_Values] = []

    def read(self, path: Path, text: str) -> None:
        networkx, suffix = _networkx(), path.suffix.lower()
        data = (json.loads(text) or {}) if suffix in (".json", ".geojson") else None
        if suffix == ".csv":
            self._csv(path, text)
        elif data and "features" in data:
            self._features(path, data["features"])
        else:
            if data is not None:
                graph = networkx.node_link_graph(data, edges="links" if "links" in data else "edges")
            else:
                graph = networkx.parse_graphml(text) if suffix == ".graphml" else networkx.parse_gml(text, label="id")
            for id, known in graph.nodes(data=True):
                values = {"id": id, **known.get("graphics", {}), **known}
                self.nodes[id] = self._known(values, f"{path}: node `{id}`")
            for a, b, known in graph.edges(data=True):
                self.links.append(self._known({**known, "from": a, "to": b}, f"{path}: link `{a}` – `{b}`"))

    def _known(self, values: _Values, where: str) -> _Values:
        """Return values under their usual names, without empty ones, with their place."""
        given = {str(key).strip().lower(): value for key, value in values.items() if value not in (None, "")}
        return {**{self.aliases.get(key, key): value for key, value in given.items()}, "where": where}

    def _csv(self, path: Path, text: str) -> None:
        """Read tables of nodes and links. A blank line separates two tables in one file."""
        head: list[str] = []
        separator = max(",;\t|", key=text.partition("\n")[0].count)
        lines = csv.reader(io.StringIO(text), delimiter=separator)
        for cells in lines:
            where, cells = f"{path}:{lines.line_num}", [cell.strip() for cell in cells]
            if not any(cells):
                head = []
            elif not head:
                head, known = cells, self._known(dict.fromkeys(cells, "-"), where)
                if "name" not in known and not {"from", "to"} <= known.keys():
                    want = "want `name` in a table of nodes, `from` and `to` in one of links"
                    raise Unreadable(f"{where}: got the columns {', '.join(quoted(head))}; {want}")
            elif len(cells) != len(head):
                raise Unreadable(f"{where}: got {counted(len(cells), 'cell')}, want {len(head)}")
            elif "from" in (known := self._known(dict(zip(head, cells, strict=True)), where)) or "to" in known:
                self.links.append(known)
            elif (first := self.nodes.setdefault(known.get("id", known.get("name")), known)) is not known:
                raise Unreadable(f"{where}: `{known.get('name')}` is given twice, first in {first['where']}")

    def _features(self, path: Path, features: list[Any]) -> None:
        """Read points as nodes, and lines as links between the nodes that they name or at which they end."""
        points: dict[tuple[float, ...], object] = {}
        for number, each in enumerate(sorted(features, key=lambda each: each["geometry"]["type"] != "Point"), 1):
            known = self._known(each.get("properties") or {}, f"{path}: feature {number}")
            line, shape = each["geometry"]["coordinates"], each["geometry"]["type"]
            if shape == "Point":
                known.update(zip(("lon", "lat"), line, strict=False))
                id = points[tuple(line[:2])] = known.get("id", known.get("name", number))
                self.nodes[id] = known
            elif shape == "LineString":
                ends = (min(points, key=lambda point: dist(point, end[:2])) for end in (line[0], line[-1]))
                self.links.append({**dict(zip(("from", "to"), map(points.get, ends), strict=True)), **known})


# --- cleaning


def _board(nodes: dict[object, _Values], links: list[_Values], source: str) -> Board:
    """Return the board of what was read. Raises :class:`Unreadable` with all errors."""
    if not nodes:  # there is only a table of links
        given = ((link[end], link["where"]) for link in links for end in ("from", "to") if end in link)
        nodes = {end: {"name": end, "where": where} for end, where in given}
    board, errors = Board(_networkx().Graph(), source, []), list[str]()
    numbers: dict[object, int] = {}
    for number, (name, (id, known)) in enumerate(zip(_names(nodes, board.notes), nodes.items(), strict=True)):
        board.network.add_node(number, **{**_own(known), "name": name})
        numbers |= {key: number for key in (known.get("name"), name, str(id), id) if key not in numbers or key == id}
    points = [tuple(_number(known, axis, errors) for axis in ("lon", "lat", "x", "y")) for known in nodes.values()]
    for number, at in enumerate(_scaled(points, board.notes)):
        board.network.add_node(number, x=at[0], y=at[1])
    repeated = rounded = 0
    for link in links:
        ends, cost = [link.get("from"), link.get("to")], _number(link, "cost", errors)
        if unknown := [str(end) for end in ends if end not in numbers]:
            near = did_you_mean(unknown[0], map(str, numbers))
            errors.append(f"{link['where']}: unknown node `{unknown[0][:LONGEST_NAME]}`{near}")
        elif cost is not None and cost < 0:
            errors.append(f"{link['where']}: got the cost {cost:g}, want at least 0")
        elif (pair := [numbers[end] for end in ends])[0] == pair[1] or board.network.has_edge(*pair):
            repeated += 1
        else:
            rounded += cost is not None and cost != round(cost)
            board.network.add_edge(*pair, **_own(link), cost=None if cost is None else round(cost))
    board.notes += [f"{counted(repeated, 'link')} left out, as repeated or from a node to itself"] if repeated else []
    board.notes += [f"{counted(rounded, 'cost')} rounded"] if rounded else []
    pieces = [] if errors else sorted(_networkx().connected_components(board.network), key=len)
    if len(pieces) != 1 and not errors:
        some = ([board.network.nodes[node]["name"] for node in sorted(piece)[:3]] for piece in pieces[:5])
        parts = "; ".join(", ".join(quoted(part)) for part in some)
        fault = f"got {counted(len(pieces), 'part')} that no link joins, want one: {parts}"
        errors.append(fault if pieces else f"no nodes in {source}")
    if errors:
        more = [f"{len(errors) - MOST_ERRORS} more like these"] if len(errors) > MOST_ERRORS else []
        raise Unreadable("\n".join(errors[:MOST_ERRORS] + more))
    return board


def _own(known: _Values) -> _Values:
    """Return the values that only some families know."""
    return {key: value for key, value in known.items() if key not in _USUAL}


def _names(nodes: dict[object, _Values], notes: list[str]) -> Iterator[str]:
    """Yield names of one line, each once, without letters that separate cells or turn the text."""
    given: set[str] = set()
    changed = []
    for number, (id, known) in enumerate(nodes.items(), 1):
        old = normalize("NFC", str(known.get("name", id)))
        text = "".join(" " if each.isspace() else each for each in old if each.isspace() or category(each)[0] != "C")
        text = " ".join(text.replace("|", "/").replace('"', "'").lstrip("# ").split())[:LONGEST_NAME].strip()
        name, copies = text or f"Node {number}", 1
        while name in given:
            copies += 1
            name = f"{text or 'Node'} {copies}"
        given.add(name)
        changed += [name] if name != old else []
        yield name
    notes += [f"{counted(len(changed), 'name')} changed: {', '.join(quoted(changed[:5]))}"] if changed else []


def _number(known: _Values, key: str, errors: list[str]) -> float | None:
    try:
        if key not in known or isfinite(float(known[key])):
            return float(known[key]) if key in known else None
    except (TypeError, ValueError):
        pass
    errors.append(f"{known['where']}: got `{str(known[key])[:LONGEST_NAME]}` as `{key}`, want a number")
    return None


def _scaled(points: list[tuple[float | None, ...]], notes: list[str]) -> list[tuple[int, int]]:
    """Return positions, right and down. Whole numbers of a usual size are kept; places on the globe are projected."""
    flat = [(x, y) for *_, x, y in points if x is not None and y is not None]
    if len(flat) < len(points):
        globe = [(x, y) for x, y, *_ in points if x is not None and y is not None]
        wide = cos(radians(mean(y for _, y in globe))) if globe and max(abs(y) for _, y in globe) <= 90 else 1
        flat = [(x * wide, -y) for x, y in globe]
    if len(flat) < len(points) or not points:
        notes.append("no coordinates for all: the picture places nodes by their links")
        return []
    left, top = (min(axis) for axis in zip(*flat, strict=True))
    extent = max(max(x - left, y - top) for x, y in flat)
    if EXTENT / 5 <= extent <= EXTENT * 5 and all(each == round(each) for point in flat for each in point):
        return [(round(x), round(y)) for x, y in flat]
    notes.append(f"coordinates scaled to {EXTENT} units")
    return [(round((x - left) * EXTENT / (extent or 1)), round((y - top) * EXTENT / (extent or 1))) for x, y in flat]


# --- writing


def written(model: Model, suffix: str) -> str:
    """Return the nodes and links of a ruleset in the format of a suffix."""
    graph, names = model.graph, Names(model)
    assert graph is not None

    def public(values: dict[str, Value], types: dict[str, Any]) -> _Values:
        given = {name: names.public(values[name], of) for name, of in types.items() if values.get(name) is not None}
        return {name: " ".join(map(str, it)) if isinstance(it, list) else it for name, it in given.items()}

    nodes = [
        {"name": row.name, **public(row.values, graph.attributes), **dict(zip(("x", "y"), row.at or (), strict=False))}
        for row in graph.nodes
    ]
    links = [
        {"from": graph.nodes[row.a].name, "to": graph.nodes[row.b].name, **public(row.values, graph.link)}
        for row in graph.links
    ]
    if suffix == ".csv":
        text = io.StringIO()
        for rows in (nodes, links):
            table = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
            text.write("\n" if rows is nodes else "")
        return text.getvalue()
    if suffix == ".geojson" and not all("x" in node for node in nodes):
        raise Unreadable(f"no coordinates for each {graph.node}, which GeoJSON needs")
    if suffix == ".geojson":
        at = {node["name"]: [node["x"], -node["y"]] for node in nodes}
        shapes = [("Point", at[node["name"]], node) for node in nodes]
        shapes += [("LineString", [at[link["from"]], at[link["to"]]], link) for link in links]
        features = [
            {"type": "Feature", "geometry": {"type": type, "coordinates": spot}, "properties": values}
            for type, spot, values in shapes
        ]
        return json_of({"type": "FeatureCollection", "features": features}, 1) + "\n"
    networkx = _networkx()
    network = networkx.MultiGraph() if graph.measure is not None else networkx.Graph()
    network.add_nodes_from((node["name"], node) for node in nodes)
    network.add_edges_from((link.pop("from"), link.pop("to"), link) for link in links)
    if suffix == ".json":
        return json_of(networkx.node_link_data(network, edges="links"), 1) + "\n"
    lines = networkx.generate_graphml(network) if suffix == ".graphml" else networkx.generate_gml(network)
    return "\n".join(lines) + "\n"
