"""Checker of the graph's texts: lengths of links and places of nodes. Both are computed from printed data."""

from __future__ import annotations

from msgspec.structs import replace

from interpreter.base.diagnostics import Note
from interpreter.base.remedies import remove
from interpreter.language import core
from interpreter.language.checker import Checker
from interpreter.language.declared_graph import number_places
from interpreter.language.directed_links import NotPrinted, Way, printed_value, ways_of
from interpreter.language.model import GraphDecl
from interpreter.language.texts import expression_of
from interpreter.language.types import INT, KindType, Type
from interpreter.reading.yaml import Scalar
from interpreter.sections.drawings import Graph
from interpreter.sections.vocabulary import Code

__all__ = ["Boards"]


class Boards(Checker):
    """Checks the texts of the graph and assigns places to nodes."""

    def check(self) -> None:
        """Check places and lengths."""
        graph = self.model.graph
        if graph is None:
            return
        keys = self.composition.one(Graph)
        assert keys is not None
        if keys.takes is not None:
            self._sets(graph, keys.takes)
            number_places(graph, self.error)
        length = keys.length
        if length is not None and not length.text.isidentifier() and graph.dealt is None:
            measure = self._text(length, Graph.length, INT.maybe)
            measured = replace(graph, measure=measure, tables=self.model.tables)
            known = measure is not None and self._ways(measured, length)
            unknown = core.Const(0, type=INT, span=length.span)  # its error is reported; paths have lengths
            self.model.graph = measured if known else replace(graph, measure=unknown)

    def _text(self, text: Scalar, form: Code, expected: Type) -> core.Expression | None:
        """Check an expression over printed data. Return None if it is invalid."""
        before, tree = len(self.diagnostics), expression_of(text, self.report)
        checked = self.expressions(self.names.scope(form.scope)).need(tree, expected) if tree is not None else None
        return checked if len(self.diagnostics) == before else None

    def _sets(self, graph: GraphDecl, takes: Scalar) -> None:
        """Compute the set of places of each node whose row has none."""
        text = self._text(takes, Graph.takes, KindType("places"))
        names = list(graph.sets)
        for number, row in enumerate(graph.nodes):
            if text is None or row.places:
                continue
            try:
                graph.nodes[number] = replace(row, places=names[printed_value(graph, text, (number,))])
            except NotPrinted as error:
                self.error("E710", error.why, error.span)
                return

    def _ways(self, graph: GraphDecl, length: Scalar) -> bool:
        """Check the directed links of a graph with computed lengths; return whether they can be computed.

        Each link needs a direction in which it can be used, no two links may lead from one node to another, and no
        length may be negative.
        """
        try:
            ways = ways_of(graph)
        except NotPrinted as error:
            self.error("E710", error.why, error.span)
            return False
        seen: dict[tuple[int, int], Way] = {}
        note = Note("computed by this length", length.span)
        for way in ways:
            span, names = graph.links[way.link].span, [graph.nodes[node].name for node in (way.start, way.end)]
            between = f"from {names[0]} to {names[1]}"
            if way.length < 0:
                self.error("E413", f"{between} this link has the length {way.length}", span, remove(span), note)
            if (first := seen.setdefault((way.start, way.end), way)) is not way:
                notes = Note("first given here", graph.links[first.link].span), note
                self.error("E501", f"{between} two links lead", span, None, *notes)
        used = {way.link for way in ways}
        for number, link in enumerate(graph.links):
            if number not in used:
                self.error("E413", "this link cannot be used in either direction", link.span, remove(link.span), note)
        return True
