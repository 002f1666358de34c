"""Many rulesets beside each other: the boards that they are played on, and what games of each come to.

In go rulesets and summaries of games (:mod:`interpreter.simulate.summary`); out come rows of figures that a page can
show. Nothing is played here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from interpreter.base.frozen import dataclass
from interpreter.compare.graph_changes import map_title
from interpreter.compare.graph_figures import GraphFigures, distances_of, figures_of, network_of
from interpreter.engine.ruleset import Ruleset
from interpreter.reading.compose import word
from interpreter.simulate.summary import Point, Summary

__all__ = ["SIZES", "Board", "Means", "boards_of", "family_title", "means_of"]

SIZES = 5, 10, 15
"""Networks of so many nodes are measured."""


@dataclass(frozen=True, slots=True)
class Board:
    """A graph, the rulesets that are played on it, and the lengths of its shortest networks (:data:`SIZES`)."""

    title: str
    rulesets: tuple[str, ...]
    figures: GraphFigures
    networks: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Means:
    """Games of one ruleset as numbers by name: as they end, and over all rounds."""

    end: Mapping[str, float]
    rounds: Mapping[str, float]


def boards_of(rulesets: Sequence[Ruleset]) -> list[Board]:
    """Return the boards of some rulesets, each once; rulesets without a graph have none."""
    found: dict[str, list[Ruleset]] = {}
    for each in rulesets:
        if each.model.graph is not None and each.model.graph.nodes:
            found.setdefault(_board(each), []).append(each)
    return [_measured(those) for those in found.values()]


def family_title(ruleset: Ruleset) -> str:
    """Return the title of a ruleset's family, or its own if it has none."""
    found = [document for document in ruleset.composition.documents if document.kind == "family"]
    return word(found[0].root.get("title"), found[0].id) if found else ruleset.title


def _board(ruleset: Ruleset) -> str:
    """The id of the map, or that of the ruleset itself."""
    maps = [document.id for document in ruleset.composition.documents if document.kind == "map"]
    return maps[-1] if maps else ruleset.id


def _measured(rulesets: Sequence[Ruleset]) -> Board:
    graph = rulesets[0].model.graph
    assert graph is not None
    distances = distances_of(graph)
    networks = tuple(network_of(distances, size) for size in SIZES)
    return Board(map_title(rulesets[0]), tuple(each.id for each in rulesets), figures_of(graph, distances), networks)


def means_of(summary: Summary) -> Means:
    """Return a number for each thing that games were measured by: means of games, players and rounds; of what a seat
    meets once in a game, the share of the win of those who met it, in percent."""
    end = {"rounds": summary["rounds"]["mean"]}
    for name, ends in summary["measures"].items():
        end[name] = _mean([each["mean"] for each in (ends if isinstance(ends, list) else [ends])])
    for name, things in summary["tables"].items():
        if len(things) == 1 and not things[0]["of"] and things[0]["share"] is not None:
            end[f"{name} wins, %"] = 100 * things[0]["share"]
    rounds = {
        _named(name, thing["name"]): _weighted(thing["rounds"])
        for name, things in summary["curves"].items()
        for thing in things
        if name not in summary["measures"]
    }
    return Means(_known(end), _known(rounds))


def _known(numbers: Mapping[str, float | None]) -> dict[str, float]:
    return {name: number for name, number in numbers.items() if number is not None}


def _named(measure: str, thing: str) -> str:
    return f"{measure}, {thing}" if thing else measure


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return fmean(known) if known else None


def _weighted(rounds: Sequence[Point]) -> float | None:
    games = sum(each["games"] for each in rounds)
    return sum(each["games"] * each["mean"] for each in rounds) / games if games else None
