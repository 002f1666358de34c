"""Links of a map that nobody would use: a way round them is far cheaper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.model import GraphDecl

__all__ = ["FAR", "detours"]

FAR = 2
"""So many times as long as the way round a link must be to be told: where it is a little longer it may still serve,
as soon as the way round is blocked or out of play."""


def detours(family: Sequence[Ruleset]) -> Iterator[Diagnostic]:
    """Links at least twice as long as the way round them: mostly a slip of the pen."""
    seen: set[tuple[str, int]] = set()
    for ruleset in family:
        graph = ruleset.model.graph
        if graph is None or graph.length is None or graph.dealt is not None:
            continue
        for number, link in enumerate(graph.links):
            place = link.span.file.name, link.span.start
            if place in seen:
                continue
            seen.add(place)
            length, round_it = link.values[graph.length], _round(graph, number)
            if round_it is not None and length >= FAR * round_it and length > round_it:
                a, b = graph.nodes[link.a].name, graph.nodes[link.b].name
                message = f"from {a} to {b} this link costs {length}, and the way round it {round_it}"
                yield Diagnostic("L008", message, link.span, help="compare it with the board", severity="warning")


def _round(graph: GraphDecl, without: int) -> int | None:
    """How long the shortest way between the ends of a link is without it."""
    assert graph.length is not None
    ways: dict[int, list[tuple[int, int]]] = {}
    for number, link in enumerate(graph.links):
        if number != without:
            ways.setdefault(link.a, []).append((link.b, link.values[graph.length]))
            ways.setdefault(link.b, []).append((link.a, link.values[graph.length]))
    start, end = graph.links[without].a, graph.links[without].b
    front, done = [(0, start)], set[int]()
    while front:
        far, node = heappop(front)
        if node == end:
            return far
        if node not in done:
            done.add(node)
            for other, length in ways.get(node, ()):
                heappush(front, (far + length, other))
    return None
