"""Reader of the graph: attributes and tables of nodes, links and places."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from interpreter.base.diagnostics import Diagnostic
from interpreter.base.messages import frame
from interpreter.base.plurals import counted, listed
from interpreter.base.remedies import remove, write
from interpreter.base.source import Span
from interpreter.base.suggest import did_you_mean
from interpreter.base.yaml_values import word
from interpreter.language.declared import Reader
from interpreter.language.model import GraphDecl, Kind, LinkRow, NodeRow, PlaceRow
from interpreter.language.texts import printed
from interpreter.language.types import INT, KindType
from interpreter.reading.printed_tables import Cell
from interpreter.sections.atoms import TypeText
from interpreter.sections.drawings import Graph, Grid
from interpreter.sections.things import Zone

__all__ = ["Graphs", "number_places"]

MAXIMUM_NODES = 5_000
MAXIMUM_PLACES = 10_000


DIRECTION = "direction"
_PLACED = ("row", "column")
"""Attributes of links and of nodes on a grid, which no table prints."""
STEPS: dict[str, tuple[tuple[str, int, int], ...]] = {
    "sides": (("north", -1, 0), ("east", 0, 1), ("south", 1, 0), ("west", 0, -1)),
    "corners": (
        *(("north", -1, 0), ("north_east", -1, 1), ("east", 0, 1), ("south_east", 1, 1)),
        *(("south", 1, 0), ("south_west", 1, -1), ("west", 0, -1), ("north_west", -1, -1)),
    ),
    "hex": (
        *(("north_east", -1, 0), ("east", 0, 1), ("south_east", 1, 0)),
        *(("south_west", 1, -1), ("west", 0, -1), ("north_west", -1, -1)),
    ),
}
"""Directions on grids, clockwise, each with the rows down and the columns to the right. From a shifted row of hexagons,
other rows are one column further to the right."""


class Graphs(Reader):
    """Reads the graph."""

    def name(self) -> None:
        """Declare the name of the type of nodes, and the directions on a grid, before other declarations use them."""
        if (keys := self.composition.one(Graph)) is not None:
            self.model.graph = GraphDecl(word(keys.node, "node"), {}, {}, None, {}, {}, keys.first.span)
            if "grid" in keys:
                if DIRECTION in self.model.kinds:
                    self.error("E501", f"the grid has a kind `{DIRECTION}` of its own", keys.span("grid"))
                members = tuple(name for name, _, _ in STEPS[keys.grid.links])
                self.model.kinds[DIRECTION] = Kind(DIRECTION, members, keys.span("grid"))

    def graph(self) -> None:
        keys = self.composition.one(Graph)
        if keys is None:
            for section in ("nodes", "links"):
                stray = self.composition.single(section)
                if stray is not None:
                    self.error("E301", "the family declares no graph", stray.span)
            return
        length, dealt = word(keys.length), word(keys.dealt) or None
        graph = GraphDecl(
            word(keys.node, "node"),
            {},
            self.types_of(keys.link),
            length if length.isidentifier() or dealt is not None else None,
            self.types_of(keys.place.rest(TypeText)),
            {},
            keys.first.span,
            dealt,
            keys.pieces or 1,
        )
        self.model.graph = graph
        graph.attributes.update(self.types_of(keys.has))
        self._check_length(graph, keys.entry.span)
        for name, places in keys.places:
            table = printed(places, self.report)
            if table is not None:
                columns = self.columns(table, graph.place, "a place", key="place")
                graph.sets[name.text] = [self.row(columns, row) for row in table.rows]
        if "grid" in keys:
            self._grid(graph, keys.grid, keys.span("grid"))
        self._nodes(graph)
        if keys.takes is None:
            number_places(graph, self.error)
        if "grid" in keys:
            self._check_grid(graph)
        printed_there = any(node.place for node in graph.nodes)
        if "place" in keys and not graph.sets and "places" not in keys and not printed_there:
            message = f"a {graph.node} has places, but no set of `places` lists them"
            self.error("E306", message, keys.span("place"), "list them in the graph: `places: {…: …}`")
        linked = self._links(graph, both=bool(length) and graph.length is None)
        if self.composition.single("nodes") is None and "grid" not in keys:
            message = f"no file of this ruleset gives each {graph.node} as `nodes`: is a map missing"
            self.error("E306", message, self.top())
        if linked:
            self._check_pieces(graph, keys)

    def _check_length(self, graph: GraphDecl, span: Span) -> None:
        """Check that lengths are numeric attributes of links, or of the cards dealt to them."""
        owner, has = "link", graph.link
        if graph.dealt is not None:
            of = next((word(zone.of) for zone in self.composition.read(Zone) if zone.name == graph.dealt), "")
            kind = self.model.card_kinds.get(of)
            owner, has = of or graph.dealt, kind.attributes if kind is not None else {}
        if (graph.length is not None or graph.dealt) and has.get(graph.length or "") != INT:
            self.error("E304", f"a {owner} has no number `{graph.length}`", span)

    def _grid(self, graph: GraphDecl, grid: Grid, span: Span) -> None:
        """Make the nodes of a grid, by rows, with their links."""
        rows, columns, steps = grid.rows or 1, grid.columns or 1, STEPS[grid.links]
        for owner, attributes, own in (
            (graph.node, graph.attributes, dict.fromkeys(_PLACED, INT)),
            ("link", graph.link, {DIRECTION: KindType(DIRECTION)}),
        ):
            for name in (name for name in own if name in attributes):
                self.error("E501", f"a {owner} of a grid has a `{name}` of its own", span)
            attributes.update(own)
        if rows * columns > MAXIMUM_NODES:
            self.error("E313", f"got {rows * columns:,} nodes, want at most {MAXIMUM_NODES:,}", span)
            rows = columns = 1
        is_hex = grid.links == "hex"
        for row in range(rows):
            shift = is_hex * (row % 2)
            for column in range(columns):
                name, at = f"{_letters(column)}{row + 1}", (20 * column + 10 * shift, (17 if is_hex else 20) * row)
                graph.nodes.append(NodeRow(name, {"row": row + 1, "column": column + 1}, "", {}, at, span))
                for number, (_, down, right) in enumerate(steps[: len(steps) // 2]):
                    to, beside = row + down, column + right + (shift if down else 0)
                    if 0 <= to < rows and 0 <= beside < columns:
                        values, back = ({DIRECTION: (number + turn) % len(steps)} for turn in (0, len(steps) // 2))
                        ends = row * columns + column, to * columns + beside
                        graph.links.append(LinkRow(*ends, values, span, back))
        self.model.grid = True

    def _check_grid(self, graph: GraphDecl) -> None:
        """Report printed attributes that no table gives."""
        for owner, types, rows in ((graph.node, graph.attributes, graph.nodes), ("link", graph.link, graph.links)):
            for name, type_ in types.items():
                row = next((row for row in rows if name not in row.values), None) if not type_.optional else None
                if row is not None:
                    whose = f"{owner} {row.name}" if isinstance(row, NodeRow) else "a link"
                    remedy = f"give it in a table of `nodes`, or declare it as `{type_}?`" if owner != "link" else None
                    self.error("E306", f"{whose} of the grid has no `{name}`", row.span, remedy)

    def _nodes(self, graph: GraphDecl) -> None:
        """Read the printed nodes. On a grid, these are some of its nodes, with more attributes."""
        entry = self.composition.single("nodes")
        table = printed(entry.value, self.report) if entry else None
        if table is None:
            return
        heads = [cell.text for cell in table.header]
        of_places = {f"place.{name}": type_ for name, type_ in graph.place.items()}
        printed_here = {name: type_ for name, type_ in of_places.items() if name in heads}
        extra = ("name", "x", "y", "places", *of_places)
        of_grid = {row.name: number for number, row in enumerate(graph.nodes)}
        wanted = {name: type_ for name, type_ in graph.attributes.items() if name not in (_PLACED if of_grid else ())}
        columns = self.columns(table, {**wanted, **printed_here}, f"a {graph.node}", extra)
        if "name" not in heads:
            message = f"a {graph.node} needs a `name`, but this table has no such column"
            self.error("E306", message, table.header[0].span)
            return
        if len(table.rows) > MAXIMUM_NODES:
            self.error("E313", f"got {len(table.rows):,} nodes, want at most {MAXIMUM_NODES:,}", table.rows[0][0].span)
            return
        seen: dict[str, Span] = {}
        read: list[tuple[NodeRow, tuple[Cell, ...]]] = []
        for row in table.rows:
            cells = dict(zip(heads, row, strict=False))
            name = cells["name"]
            if name.text in seen:
                self.repeated(f"`{name.text}`", name.span, seen[name.text])
                continue
            seen[name.text] = name.span
            places = cells["places"].text if "places" in cells else ""
            if places not in graph.sets and "places" in cells:
                self.unknown("set of places", places, graph.sets, cells["places"].span, code="E302")
            at = None
            if "x" in cells and "y" in cells:
                at = (self.cell_value(cells["x"], INT) or 0, self.cell_value(cells["y"], INT) or 0)
            if not of_grid:
                graph.nodes.append(NodeRow(name.text, {}, places, {}, at, name.span))
                read.append((graph.nodes[-1], row))
            elif name.text in of_grid:
                number = of_grid[name.text]
                node = graph.nodes[number]
                graph.nodes[number] = replace(node, places=places, at=at or node.at, span=name.span)
                read.append((graph.nodes[number], row))
            else:
                self.unknown(f"{graph.node}", name.text, of_grid, name.span, code="E302")
        for node, row in read:  # a row may refer to a node further down
            node.values.update(self.row(columns, row))
            node.place.update({head.removeprefix("place."): node.values.pop(head) for head in printed_here})

    def _links(self, graph: GraphDecl, *, both: bool) -> bool:
        """Read the links and return whether all are valid. ``both``: two nodes may have a link in each direction."""
        entry = self.composition.single("links")
        faults: list[Diagnostic] = []
        table = printed(entry.value, faults.append) if entry else None
        for fault in faults:
            self.report(fault)
        if table is None:
            return entry is None
        columns = self.columns(table, graph.link, "a link", ("from", "to"))
        heads = [cell.text for cell in table.header]
        if "from" not in heads or "to" not in heads:
            self.error("E306", "a link needs the columns `from` and `to`", table.header[0].span)
            return False
        numbers = {row.name: index for index, row in enumerate(graph.nodes)}
        # a name that no row has, while one node alone has no link: that row was renamed, however alike others are
        at_ends = [column for column, head in enumerate(heads) if head in ("from", "to")]
        linked = {row[column].text for row in table.rows for column in at_ends}
        alone = [*(numbers.keys() - linked)]
        renamed = frame("en", "near", name=alone[0]) if len(alone) == len(linked - numbers.keys()) == 1 else None
        seen: dict[tuple[int, int], Span] = {}
        whole = bool(graph.nodes) and not faults
        for row in table.rows:
            cells = dict(zip(heads, row, strict=False))
            ends = []
            for head in ("from", "to") if graph.nodes else ():  # missing nodes have an error of their own
                cell = cells[head]
                if cell.text not in numbers:
                    near = renamed or did_you_mean(cell.text, numbers)
                    self.error("E302", f"unknown {graph.node} `{cell.text}`{near}", cell.span)
                else:
                    ends.append(numbers[cell.text])
            values = self.row(columns, row)
            if graph.length is not None and graph.dealt is None and (values.get(graph.length) or 0) < 0:
                self.error("E413", f"a link's `{graph.length}` is below 0", cells[graph.length].span)
            if len(ends) != 2:
                whole = False
                continue
            pair = (ends[0], ends[1]) if both else (min(ends), max(ends))
            if pair[0] == pair[1]:
                self.error("E413", "this link joins a node to itself", row[0].span, remove(row[0].span))
            elif pair in seen:
                self.repeated("this link", row[0].span, seen[pair])
            else:
                seen[pair] = row[0].span
                graph.links.append(LinkRow(ends[0], ends[1], values, row[0].span))
        return whole

    def _check_pieces(self, graph: GraphDecl, keys: Graph) -> None:
        """Check that the number of connected components (ignoring directions) is as declared, by default one."""
        adjacent: dict[int, list[int]] = {index: [] for index in range(len(graph.nodes))}
        for link in graph.links:
            adjacent[link.a].append(link.b)
            adjacent[link.b].append(link.a)
        pieces: list[list[int]] = []
        reached: set[int] = set()
        for node in adjacent:
            if node in reached:
                continue
            pieces.append([node])
            reached.add(node)
            for inside in pieces[-1]:  # grows during iteration
                pieces[-1] += (new := [node for node in dict.fromkeys(adjacent[inside]) if node not in reached])
                reached.update(new)
        if len(pieces) in (graph.pieces, 0):
            return
        if "pieces" in keys:
            examples = listed([graph.nodes[min(piece)].name for piece in pieces], 5)
            words = f"add or remove links; if this is intended, write `pieces: {len(pieces)}`"
            remedy = write(keys.span("pieces"), str(len(pieces)), words)
            message = f"got {counted(len(pieces), 'piece')}, with {examples}, want {graph.pieces}"
            self.error("E412", message, keys.span("pieces"), remedy)
            return
        unreachable = [node for index, node in enumerate(graph.nodes) if index not in pieces[0]]
        shown = listed([row.name for row in unreachable], 5)
        amended = f"graph: {{amends: {keys.first.file}, pieces: {len(pieces)}}}"
        words = f"add the link; if this is intended, write `{amended}`"
        self.error("E412", f"no path leads from `{graph.nodes[0].name}` to {shown}", unreachable[0].span, words)


def number_places(graph: GraphDecl, error: Callable[[str, str, Span], None]) -> None:
    """Number the places of all nodes, when the set of each is known."""
    first = next(iter(graph.sets), "")
    for number, row in enumerate(graph.nodes):
        if not row.places and graph.sets:
            row = graph.nodes[number] = replace(row, places=first)
        for place, values in enumerate(graph.sets.get(row.places, [{}] if row.place else []), 1):
            graph.places.append(PlaceRow(number, place, {**values, **row.place}))
            missing = [name for name in graph.place if name not in graph.places[-1].values]
            if missing:
                message = f"a place has `{missing[0]}`, but this table has no column `place.{missing[0]}`"
                error("E306", message, row.span)
                return
        if len(graph.places) > MAXIMUM_PLACES:
            error("E313", f"more than {MAXIMUM_PLACES:,} places on this graph", row.span)
            return


def _letters(column: int) -> str:
    """Return the name of a column, counted from 0: `A` to `Z`, `AA` and so on."""
    rest, last = divmod(column, 26)
    return (_letters(rest - 1) if rest else "") + chr(ord("A") + last)
