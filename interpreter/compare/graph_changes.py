"""Differences between two graphs: nodes, links, lengths and distances.

A node of one graph that the other lacks may stand there under another name: with most of its links. It is then one node
that is called otherwise, and not a node less and a node more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interpreter.base.frozen import dataclass
from interpreter.base.plain_data import Value
from interpreter.compare.graph_figures import distances_of, figures_of
from interpreter.engine.ruleset import Ruleset
from interpreter.language.directed_links import ways_of
from interpreter.language.model import GraphDecl
from interpreter.language.types import Type
from interpreter.reading.compose import word

__all__ = ["DistanceChange", "GraphChanges", "GraphRow", "graph_changes", "map_title"]

_MOST_TOLD = 8
"""So many of the distances that change most are told."""


@dataclass(frozen=True, slots=True)
class GraphRow:
    """Values of both graphs at a path; none on a side that lacks it."""

    path: str
    name: str
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class DistanceChange:
    """Two nodes that lie farther from or nearer to each other in the second graph than in the first."""

    nodes: tuple[str, str]
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class GraphChanges:
    """``figures`` are facts of both graphs; ``pairs`` is how many pairs of nodes both have, of which ``nearer`` and
    ``farther`` changed, and ``most`` are those that changed most. Graphs that have little in common (``other``) have no
    pairs."""

    rows: tuple[GraphRow, ...]
    figures: tuple[tuple[str, str, str], ...]
    other: bool
    pairs: int = 0
    nearer: int = 0
    farther: int = 0
    most: tuple[DistanceChange, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


def graph_changes(a: Ruleset, b: Ruleset) -> GraphChanges | None:
    """Return the differences between two graphs; nothing if neither has nodes or both are equal."""
    one, other = (each.model.graph if each.model.graph and each.model.graph.nodes else None for each in (a, b))
    if one is None or other is None:
        if one is other:
            return None
        row = GraphRow("map", "map", map_title(a) if one else None, map_title(b) if other else None)
        return GraphChanges((row,), (), True)
    left, right = _Board(a, one), _Board(b, other)
    called = _called(left, right)
    figures = tuple((name, x, y) for (name, x), (_, y) in zip(left.figures(), right.figures(), strict=True))
    if 2 * len(called) < max(len(left.names), len(right.names)):
        rows = [GraphRow(f"map.{name.replace(' ', '_')}", name, x, y) for name, x, y in figures if x != y]
        return GraphChanges((GraphRow("map", "map", map_title(a), map_title(b)), *rows), figures, True)
    rows = [*_nodes(left, right, called), *_links(left, right, called)]
    if not rows:
        return None
    changes = sorted(_distances(left, right, called), key=lambda each: (-abs(each.b - each.a), each.nodes))
    pairs = len(called) * (len(called) - 1) // (1 if left.distances.one_way or right.distances.one_way else 2)
    nearer = sum(each.b < each.a for each in changes)
    names = tuple((old, new) for old, new in called.items() if old != new)
    most = tuple(changes[:_MOST_TOLD])
    return GraphChanges(tuple(rows), figures, False, pairs, nearer, len(changes) - nearer, most, names)


def map_title(ruleset: Ruleset) -> str:
    """Return the title of the map if it is a file of its own."""
    maps = [document for document in ruleset.composition.documents if document.kind == "map"]
    return word(maps[-1].root.get("title"), maps[-1].id) if maps else ruleset.title


class _Board:
    """A graph by names."""

    def __init__(self, ruleset: Ruleset, graph: GraphDecl) -> None:
        self.ruleset, self.graph = ruleset, graph
        self.names = [node.name for node in graph.nodes]
        self.number = {name: number for number, name in enumerate(self.names)}
        self.links: dict[tuple[str, str], dict[str, str]] = {}
        for link in graph.links:
            facts = self.links.setdefault(self._between(link.a, link.b), {})
            for key, text in self._facts(link.values, graph.link).items():  # of two links, one each way, both are told
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
        """Facts of the whole graph."""
        found = figures_of(self.graph, self.distances)
        yield "nodes", str(found.nodes)
        yield "links", str(found.links)
        yield "length of all links", str(found.length)
        yield "mean way", f"{found.mean_way:.1f}" if found.mean_way is not None else "-"
        yield "longest way", str(found.longest_way)


def _called(a: _Board, b: _Board) -> dict[str, str]:
    """The nodes that both have: the name in the first, with the name in the second."""
    same = {name: name for name in a.names if name in b.number}
    missing = [name for name in b.names if name not in a.number]
    for name in a.names:
        if name in same or not missing:
            continue
        links = {same.get(other, other) for other in a.near[name]}
        best = max(missing, key=lambda other: _alike(links, b.near[other]))
        if 2 * _alike(links, b.near[best]) >= 1:
            same[name] = best
            missing.remove(best)
    return same


def _sorted(x: str, y: str) -> tuple[str, str]:
    return (x, y) if x <= y else (y, x)


def _alike(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


def _nodes(a: _Board, b: _Board, called: dict[str, str]) -> Iterator[GraphRow]:
    for name in a.names:
        other = called.get(name)
        if other is None:
            yield GraphRow(f"nodes.{name}", name, _text(a.node(name)), None)
            continue
        path = f"nodes.{min(name, other)}"  # the same in both directions
        if other != name:
            yield GraphRow(path, name, name, other)
        one, two = a.node(name), b.node(other)
        for key in dict.fromkeys([*one, *two]):
            if one.get(key) != two.get(key):
                yield GraphRow(f"{path}.{key}", name, one.get(key), two.get(key))
    for name in b.names:
        if name not in called.values():
            yield GraphRow(f"nodes.{name}", name, None, _text(b.node(name)))


def _links(a: _Board, b: _Board, called: dict[str, str]) -> Iterator[GraphRow]:
    both = {name: min(old, new) for old, new in called.items() for name in (old, new)}
    mine, its = (
        {_sorted(both.get(x, x), both.get(y, y)): facts for (x, y), facts in board.links.items()} for board in (a, b)
    )
    for ends in dict.fromkeys([*mine, *its]):
        one, two = mine.get(ends), its.get(ends)
        if one != two:
            name = " – ".join(ends)
            if one is not None and two is not None:
                for key in dict.fromkeys([*one, *two]):
                    if one.get(key) != two.get(key):
                        yield GraphRow(f"links.{name}.{key}", name, one.get(key), two.get(key))
            else:
                yield GraphRow(f"links.{name}", name, _maybe(one), _maybe(two))


def _maybe(facts: dict[str, str] | None) -> str | None:
    return None if facts is None else _text(facts)


def _text(facts: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items())


def _distances(a: _Board, b: _Board, called: dict[str, str]) -> Iterator[DistanceChange]:
    names = list(called)
    for place, x in enumerate(names):
        for y in names if a.distances.one_way or b.distances.one_way else names[place + 1 :]:
            one = a.distances.rows[a.number[x]][a.number[y]]
            two = b.distances.rows[b.number[called[x]]][b.number[called[y]]]
            if one is not None and two is not None and one != two:
                yield DistanceChange((x, y), one, two)
