"""The graph of a game with the lengths that its links have now, also where cards that are dealt onto them say these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from interpreter.compiler.plain.builtin_functions import dealt_lengths
from interpreter.kernel.graphs import Graph
from interpreter.language.directed_links import ways_of
from interpreter.language.model import GraphDecl

if TYPE_CHECKING:
    from interpreter.engine.game import Game

__all__ = ["measured", "walkable"]


def walkable(graph: GraphDecl) -> tuple[Graph, tuple[int, ...]]:
    """The graph for those who look for ways, and its lengths: of links, or of ways where an expression tells them."""
    ways = ways_of(graph)
    if graph.measure is not None:
        links = tuple((way.start, way.end, number) for number, way in enumerate(ways))
        return Graph(len(graph.nodes), links, one_way=True), tuple(way.length for way in ways)
    links = tuple((link.a, link.b, number) for number, link in enumerate(graph.links))
    return Graph(len(graph.nodes), links), tuple(way.length for way in ways[::2])


def measured(game: Game) -> GraphDecl | None:
    """Each link has its length among its values. Where the cards are not dealt yet, links have no length at all."""
    graph = game.ruleset.model.graph
    if graph is None or graph.dealt is None or graph.length is None:
        return graph
    cards = game.state.cells[game.machine.constants.layout.base[graph.dealt]]
    if len(cards) < len(graph.links):
        return replace(graph, length=None)
    lengths = dealt_lengths(game.ruleset.model)(cards)
    links = zip(graph.links, lengths, strict=True)
    return replace(graph, links=[replace(x, values={**x.values, graph.length: n}) for x, n in links])
