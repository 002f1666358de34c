"""Links of a map that nobody would use: a way round them is far cheaper."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from heapq import heappop, heappush

from interpreter.base.diagnostics import Diagnostic
from interpreter.engine.ruleset import Ruleset
from interpreter.language.directed_links import Way, ways_of

__all__ = ["FAR", "detours"]

FAR = 2
"""So many times as long as the way round a link must be to be told: where it is a little longer it may still serve,
as soon as the way round is blocked or out of play."""


def detours(family: Sequence[Ruleset], told: Collection[str]) -> Iterator[Diagnostic]:
    """Links at least twice as long as the way round them: mostly a slip of the pen."""
    seen: set[tuple[str, int]] = set()
    for ruleset in family:
        graph = ruleset.model.graph
        if graph is None or (graph.length is None and graph.measure is None) or graph.dealt is not None:
            continue
        ways = ways_of(graph)
        for way in ways:
            span = graph.links[way.link].span
            place = span.file.name, span.start
            if place[0] not in told or place in seen:
                continue
            round_it = _round(ways, way)
            if round_it is not None and way.length >= FAR * round_it and way.length > round_it:
                seen.add(place)
                a, b = graph.nodes[way.start].name, graph.nodes[way.end].name
                message = f"from {a} to {b} this link costs {way.length}, and the way round it {round_it}"
                yield Diagnostic("L008", message, span, help="compare it with the board", severity="warning")
        seen.update((link.span.file.name, link.span.start) for link in graph.links)


def _round(ways: Sequence[Way], without: Way) -> int | None:
    """Return the length of the shortest detour around a link."""
    near: dict[int, list[Way]] = {}
    for way in ways:
        if way.link != without.link:
            near.setdefault(way.start, []).append(way)
    front, done = [(0, without.start)], set[int]()
    while front:
        far, node = heappop(front)
        if node == without.end:
            return far
        if node not in done:
            done.add(node)
            for way in near.get(node, ()):
                heappush(front, (far + way.length, way.end))
    return None
