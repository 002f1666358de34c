"""Rulesets side by side: their boards, and the mean results of their games.

Takes rulesets and summaries of games (:mod:`interpreter.simulate.summary`); returns rows of figures for a page. Plays
no games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct

from interpreter.compare.graph_figures import GraphFigures, distances_of, figures_of, network_of
from interpreter.compare.operands import title_of
from interpreter.engine.game import Ruleset
from interpreter.simulate.summary import Point, Summary

__all__ = ["SIZES", "Board", "Counts", "Means", "boards_of", "means_of", "titles_of"]

SIZES = 5, 10, 15
"""Sizes of the measured networks, in nodes."""


Counts = Mapping[tuple[int, int], tuple[int, int]]
"""For each pair of rulesets, by number, how many differences there are in play, and of all sorts."""


class Board(Struct, frozen=True):
    """A graph, the rulesets played on it, and the lengths of its short networks (:data:`SIZES`)."""

    title: str
    rulesets: tuple[Ruleset, ...]
    figures: GraphFigures
    networks: tuple[int | None, ...]


class Means(Struct, frozen=True):
    """Mean results of one ruleset's games by name: at the end, and over all rounds."""

    end: Mapping[str, float]
    rounds: Mapping[str, float]


def boards_of(rulesets: Sequence[Ruleset]) -> list[Board]:
    """Return the boards of some rulesets without duplicates. Rulesets without a graph have none."""
    groups: dict[str, list[Ruleset]] = {}
    for ruleset in rulesets:
        if ruleset.model.graph is not None and ruleset.model.graph.nodes:
            maps = [document.id for document in ruleset.composition.documents if document.kind == "map"]
            groups.setdefault(maps[-1] if maps else ruleset.id, []).append(ruleset)
    return [_measured(group) for group in groups.values()]


def titles_of(rulesets: Sequence[Ruleset]) -> list[str]:
    """Return the titles of rulesets, with the id where several have the same one."""
    titles = [ruleset.title for ruleset in rulesets]
    return [f"{x.title} ({x.id})" if titles.count(x.title) > 1 else x.title for x in rulesets]


def _measured(rulesets: Sequence[Ruleset]) -> Board:
    graph = rulesets[0].model.graph
    assert graph is not None
    distances = distances_of(graph)
    networks = tuple(network_of(distances, size) for size in SIZES)
    return Board(title_of(rulesets[0], "map"), tuple(rulesets), figures_of(graph, distances), networks)


def means_of(summary: Summary) -> Means:
    """Return a number for each measure: means over games, players and rounds. For an event without a subject, or with
    numbers as subjects, add the share of wins of the seats concerned, in percent."""
    end = {"rounds": summary["rounds"]["mean"]}
    for name, ends in summary["measures"].items():
        means = [spread["mean"] for spread in (ends if isinstance(ends, list) else [ends])]
        known = [mean for mean in means if mean is not None]
        end[name] = fmean(known) if known else None
    for name, things in summary["tables"].items():
        for thing in things:
            if thing["share"] is not None and thing["numbered"]:
                end[" ".join([name, *map(str, thing["of"].values()), "wins, %"])] = 100 * thing["share"]
    rounds = {
        f"{name}, {thing['name']}" if thing["name"] else name: _weighted(thing["rounds"])
        for name, things in summary["curves"].items()
        for thing in things
        if name not in summary["measures"]
    }
    return Means(_known(end), _known(rounds))


def _known(numbers: Mapping[str, float | None]) -> dict[str, float]:
    return {name: number for name, number in numbers.items() if number is not None}


def _weighted(rounds: Sequence[Point]) -> float | None:
    games = sum(point["games"] for point in rounds)
    return sum(point["games"] * point["mean"] for point in rounds) / games if games else None
