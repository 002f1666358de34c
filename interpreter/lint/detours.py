"""Links of a map that cost far more than a detour around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interpreter.base.diagnostics import Diagnostic
from interpreter.kernel.graphs import Graph
from interpreter.language.directed_links import Way, ways_of
from interpreter.lint.places import Family, Place, advice, place_of

__all__ = ["FAR", "detours"]

FAR = 2
"""Smallest reported ratio of a link's cost to its detour's. A link that costs a little more may still serve when the
detour is blocked or out of play."""


def detours(family: Family) -> Iterator[Diagnostic]:
    """Yield links that cost at least twice as much as a detour: usually a typo."""
    seen: set[Place] = set()
    for ruleset in family.rulesets:
        graph = ruleset.model.graph
        if graph is None or (graph.length is None and graph.measure is None) or graph.dealt is not None:
            continue
        ways = ways_of(graph)
        walked = Graph(len(graph.nodes), tuple((w.start, w.end, at) for at, w in enumerate(ways)), one_way=True)
        for way in ways:
            span = graph.links[way.link].span
            place = place_of(span)
            if place[0] not in family.files or place in seen:
                continue
            detour = _around(walked, ways, way)
            if detour is not None and way.length >= FAR * detour and way.length > detour:
                seen.add(place)
                a, b = graph.nodes[way.start].name, graph.nodes[way.end].name
                message = f"from {a} to {b} this link costs {way.length}, a detour costs {detour}"
                yield advice("L008", message, span, "compare it with the board")
        seen.update(place_of(link.span) for link in graph.links)


def _around(graph: Graph, ways: Sequence[Way], without: Way) -> int | None:
    """Return the length of the shortest detour around a link."""
    too_far = 1 + sum(way.length for way in ways)
    lengths = [too_far if way.link == without.link else way.length for way in ways]
    far = graph.distances((without.start,), None, lengths)[without.end]
    return far if far is not None and far < too_far else None
