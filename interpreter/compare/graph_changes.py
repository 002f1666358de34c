"""Differences between two graphs: nodes, links, lengths and distances.

A node that the other graph lacks may exist there under another name, with most of its links. It then counts as renamed,
not as removed and added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from interpreter.base.plain_data import Value
from interpreter.compare.comparable import Compared
from interpreter.compare.graph_figures import distances_of, figures_of
from interpreter.compare.operands import title_of
from interpreter.engine.game import Ruleset
from interpreter.language.directed_links import ways_of
from interpreter.language.model import GraphDecl
from interpreter.language.types import Type

__all__ = ["DistanceChange", "GraphChanges", "GraphRow", "graph_changes"]

_MOST_TOLD = 8
"""Number of distances listed, those that change most."""


GraphRow = tuple[str, str, str | None, str | None]
"""A path, its name, and the values of both graphs there; None for a graph that lacks it."""


class DistanceChange(Struct, frozen=True):
    """Two nodes whose distance differs between the graphs."""

    between: tuple[str, str]
    a: int
    b: int


class GraphChanges(Struct, frozen=True):
    """Changes between two graphs.

    ``figures`` are facts of both graphs. ``pairs`` is the number of pairs of common nodes, of which ``nearer`` and
    ``farther`` changed; ``most`` are the largest changes. Graphs with little in common (``other``) have no pairs.
    ``names`` are the renamed nodes.
    """

    rows: tuple[GraphRow, ...]
    figures: tuple[tuple[str, str, str], ...]
    other: bool
    pairs: int = 0
    nearer: int = 0
    farther: int = 0
    most: tuple[DistanceChange, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


def graph_changes(a: Compared, b: Compared) -> GraphChanges | None:
    """Return the differences between two graphs; None if neither has nodes or both are equal."""
    left, right = a.once(_board), b.once(_board)
    titles = title_of(a.ruleset, "map"), title_of(b.ruleset, "map")
    if left is None or right is None:
        if left is right:
            return None
        row = "map", "map", titles[0] if left else None, titles[1] if right else None
        return GraphChanges((row,), (), True)
    matched = _matched(left, right)
    figures = tuple((name, x, y) for (name, x), (_, y) in zip(left.figures(), right.figures(), strict=True))
    if 2 * len(matched) < max(len(left.names), len(right.names)):
        rows: list[GraphRow] = [(f"map.{name.replace(' ', '_')}", name, x, y) for name, x, y in figures if x != y]
        return GraphChanges((("map", "map", *titles), *rows), figures, True)
    rows = [*_nodes(left, right, matched), *_links(left, right, matched)]
    if not rows:
        return None
    changes = sorted(_distances(left, right, matched), key=lambda change: (-abs(change.b - change.a), change.between))
    pairs = len(matched) * (len(matched) - 1) // (1 if left.distances.one_way or right.distances.one_way else 2)
    nearer = sum(change.b < change.a for change in changes)
    names = tuple((old, new) for old, new in matched.items() if old != new)
    most = tuple(changes[:_MOST_TOLD])
    return GraphChanges(tuple(rows), figures, False, pairs, nearer, len(changes) - nearer, most, names)


class _Board:
    """A graph with its nodes and links by name."""

    def __init__(self, ruleset: Ruleset, graph: GraphDecl) -> None:
        self.ruleset, self.graph = ruleset, graph
        self.names = [node.name for node in graph.nodes]
        self.number = {name: number for number, name in enumerate(self.names)}
        self.links: dict[tuple[str, str], dict[str, str]] = {}
        for link in graph.links:
            facts = self.links.setdefault(self._between(link.a, link.b), {})
            for key, text in self._facts(link.values, graph.link).items():  # both values, if there is a link each way
                facts[key] = f"{facts[key]}/{text}" if key in facts else text
        for way in ways_of(graph) if graph.measure is not None else ():
            self.links[self._between(way.start, way.end)][f"from {self.names[way.start]}"] = str(way.length)
        self.near: dict[str, set[str]] = {name: set() for name in self.names}
        for x, y in self.links:
            self.near[x].add(y)
            self.near[y].add(x)
        self.distances = distances_of(graph)

    def _between(self, a: int, b: int) -> tuple[str, str]:
        return _sorted(self.names[a], self.names[b])

    def _facts(self, values: Mapping[str, Value], types: Mapping[str, Type]) -> dict[str, str]:
        names = self.ruleset.names
        return {key: names.text(values[key], types[key]) for key in types if key in values}

    def node(self, name: str) -> dict[str, str]:
        row = self.graph.nodes[self.number[name]]
        return {**self._facts(row.values, self.graph.attributes), "places": row.places}

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield figures of the whole graph, with their names."""
        figures = figures_of(self.graph, self.distances)
        yield "nodes", str(figures.nodes)
        yield "links", str(figures.links)
        yield "length of all links", str(figures.length)
        yield "mean distance", f"{figures.mean_distance:.1f}" if figures.mean_distance is not None else "-"
        yield "longest distance", str(figures.longest_distance)


def _board(side: Compared) -> _Board | None:
    graph = side.ruleset.model.graph
    return _Board(side.ruleset, graph) if graph is not None and graph.nodes else None


def _matched(a: _Board, b: _Board) -> dict[str, str]:
    """Return the common nodes: names in the second graph by names in the first."""
    same = {name: name for name in a.names if name in b.number}
    missing = [name for name in b.names if name not in a.number]
    for name in a.names:
        if name in same:
            continue
        links = {same.get(other, other) for other in a.near[name]}
        beside = ((other, b.near[other]) for other in missing if not links.isdisjoint(b.near[other]))
        alike = {other: len(links & near) / len(links | near) for other, near in beside}
        best = max(alike, key=alike.__getitem__, default="")
        if alike.get(best, 0) >= 0.5:
            same[name] = best
            missing.remove(best)
    return same


def _sorted(x: str, y: str) -> tuple[str, str]:
    return (x, y) if x <= y else (y, x)


def _nodes(a: _Board, b: _Board, matched: dict[str, str]) -> Iterator[GraphRow]:
    for name in a.names:
        new = matched.get(name)
        path = f"nodes.{min(name, new or name)}"  # the same in both directions
        if new not in (None, name):
            yield path, name, name, new
        yield from _changed(path, name, a.node(name), b.node(new) if new is not None else None)
    for name in b.names:
        if name not in matched.values():
            yield from _changed(f"nodes.{name}", name, None, b.node(name))


def _links(a: _Board, b: _Board, matched: dict[str, str]) -> Iterator[GraphRow]:
    common = {name: min(old, new) for old, new in matched.items() for name in (old, new)}
    links_a, links_b = (
        {_sorted(common.get(x, x), common.get(y, y)): facts for (x, y), facts in board.links.items()}
        for board in (a, b)
    )
    for ends in {**links_a, **links_b}:
        name = " – ".join(ends)
        yield from _changed(f"links.{name}", name, links_a.get(ends), links_b.get(ends))


def _changed(path: str, name: str, a: dict[str, str] | None, b: dict[str, str] | None) -> Iterator[GraphRow]:
    """Yield a row for each fact that differs; one for the whole if only one side has it."""
    if a is None or b is None:
        yield path, name, _text(a), _text(b)
        return
    for key in {**a, **b}:
        if a.get(key) != b.get(key):
            yield f"{path}.{key}", name, a.get(key), b.get(key)


def _text(facts: dict[str, str] | None) -> str | None:
    return None if facts is None else ", ".join(f"{key} {value}" for key, value in facts.items())


def _distances(a: _Board, b: _Board, matched: dict[str, str]) -> Iterator[DistanceChange]:
    names = list(matched)
    for place, x in enumerate(names):
        for y in names if a.distances.one_way or b.distances.one_way else names[place + 1 :]:
            old = a.distances.rows[a.number[x]][a.number[y]]
            new = b.distances.rows[b.number[matched[x]]][b.number[matched[y]]]
            if old is not None and new is not None and old != new:
                yield DistanceChange((x, y), old, new)
