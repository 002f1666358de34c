"""Reader of the graph: attributes and tables of nodes, links and places."""

from __future__ import annotations

from interpreter.base.source import Span
from interpreter.base.yaml_values import word
from interpreter.language.declared import Reader
from interpreter.language.model import GraphDecl, LinkRow, NodeRow
from interpreter.language.texts import printed
from interpreter.language.types import INT
from interpreter.reading.printed_tables import Cell
from interpreter.sections.drawings import Graph
from interpreter.sections.things import Zone

__all__ = ["Graphs"]

MAXIMUM_NODES = 1_000
MAXIMUM_PLACES = 10_000


class Graphs(Reader):
    """Reads the graph."""

    def name(self) -> None:
        """Declare the name of the type of nodes, before other declarations use it."""
        if (keys := self.composition.one(Graph)) is not None:
            self.model.graph = GraphDecl(word(keys.node, "node"), {}, {}, None, {}, {}, keys.first.span)

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
            self.types(keys.link),
            length if length.isidentifier() or dealt is not None else None,
            self.types(keys.place),
            {},
            keys.first.span,
            dealt,
            keys.pieces or 1,
        )
        self.model.graph = graph
        graph.attributes.update(self.types(keys.has))
        self._check_length(graph, keys.entry.span)
        for name, places in keys.places:
            table = printed(places, self.report)
            if table is not None:
                columns = self.columns(table, graph.place, "a place", key="place")
                graph.sets[name.text] = [self.row(columns, row) for row in table.rows]
        self._nodes(graph)
        printed_there = any(node.place for node in graph.nodes)
        if "place" in keys and not graph.sets and "places" not in keys and not printed_there:
            message = f"a {graph.node} has places, but no set of `places` lists them"
            self.error("E306", message, keys.span("place"), "list them in the graph: `places: {…: …}`")
        linked = self._links(graph, both=bool(length) and graph.length is None)
        if self.composition.single("nodes") is None:
            self.error(
                "E306", f"no file of this ruleset gives each {graph.node} as `nodes`: is a map missing", self.top()
            )
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

    def _nodes(self, graph: GraphDecl) -> None:
        entry = self.composition.single("nodes")
        table = printed(entry.value, self.report) if entry else None
        if table is None:
            return
        heads = [cell.text for cell in table.header]
        of_places = {f"place.{name}": type_ for name, type_ in graph.place.items()}
        printed_here = {name: type_ for name, type_ in of_places.items() if name in heads}
        extra = ("name", "x", "y", "places", *of_places)
        columns = self.columns(table, {**graph.attributes, **printed_here}, f"a {graph.node}", extra)
        if "name" not in heads:
            self.error(
                "E306", f"a {graph.node} needs a `name`, but this table has no such column", table.header[0].span
            )
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
            graph.nodes.append(NodeRow(name.text, {}, places, {}, at, name.span))
            read.append((graph.nodes[-1], row))
        for node, row in read:  # a row may refer to a node further down
            node.values.update(self.row(columns, row))
            node.place.update({head.removeprefix("place."): node.values.pop(head) for head in printed_here})

    def _links(self, graph: GraphDecl, *, both: bool) -> bool:
        """Read the links and return whether all are valid. ``both``: two nodes may have a link in each direction."""
        entry = self.composition.single("links")
        table = printed(entry.value, self.report) if entry else None
        if table is None:
            return entry is None
        columns = self.columns(table, graph.link, "a link", ("from", "to"))
        heads = [cell.text for cell in table.header]
        if "from" not in heads or "to" not in heads:
            self.error("E306", "a link needs the columns `from` and `to`", table.header[0].span)
            return False
        numbers = {row.name: index for index, row in enumerate(graph.nodes)}
        seen: dict[tuple[int, int], Span] = {}
        whole = bool(graph.nodes)
        for row in table.rows:
            cells = dict(zip(heads, row, strict=False))
            ends = []
            for head in ("from", "to") if graph.nodes else ():  # missing nodes have an error of their own
                cell = cells[head]
                if cell.text not in numbers:
                    self.unknown(f"{graph.node}", cell.text, numbers, cell.span, code="E302")
                else:
                    ends.append(numbers[cell.text])
            values = self.row(columns, row)
            if graph.length is not None and graph.dealt is None and (values.get(graph.length) or 0) < 0:
                self.error("E413", f"a link's `{graph.length}` is below 0", row[0].span)
            if len(ends) != 2:
                whole = False
                continue
            pair = (ends[0], ends[1]) if both else (min(ends), max(ends))
            if pair[0] == pair[1]:
                self.error("E413", "this link joins a node to itself", row[0].span)
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
        names = [[f"`{graph.nodes[node].name}`" for node in sorted(piece)] for piece in pieces]
        if "pieces" in keys:
            examples = ", ".join(piece[0] for piece in names[:5]) + (", …" if len(names) > 5 else "")
            remedy = f"add or remove links; if this is intended, write `pieces: {len(pieces)}`"
            message = f"got {len(pieces)} pieces, with {examples}, want {graph.pieces}"
            self.error("E412", message, keys.span("pieces"), remedy)
            return
        unreachable = [node for index, node in enumerate(graph.nodes) if index not in pieces[0]]
        shown = ", ".join(f"`{row.name}`" for row in unreachable[:5]) + (", …" if len(unreachable) > 5 else "")
        remedy = (
            f"add the link; if this is intended, write `graph: {{amends: {keys.first.file}, pieces: {len(pieces)}}}`"
        )
        self.error("E412", f"no path leads from `{graph.nodes[0].name}` to {shown}", unreachable[0].span, remedy)
