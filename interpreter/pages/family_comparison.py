"""Page that compares all rulesets of a family: boards, statistics of games, and numbers of differing rules.

The input is measured by :mod:`interpreter.compare.side_by_side`; the result is a :class:`Page`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from interpreter.base.figures import fixed
from interpreter.base.plurals import counted, titled
from interpreter.compare.side_by_side import SIZES, Board, Counts, Means, titles_of
from interpreter.drawing.board import drawn
from interpreter.drawing.picture import picture_of, unplayed
from interpreter.pages.page import Block, Column, Drawing, Grid, Page, Paragraph, Section

__all__ = ["PAIRS", "FamilyGames", "family_page", "matrix_of"]

PAIRS = "rules and tables that differ in play / all that differs"
"""Meaning of the cells of the matrix."""


class FamilyGames(Struct, frozen=True):
    """Results of games of each ruleset by its title: a description of the games, mean results, and the reasons of
    rulesets that refuse this number of players."""

    how: str
    means: Mapping[str, Means]
    refused: Mapping[str, str] = {}


def family_page(
    title: str, boards: Sequence[Board], games: FamilyGames | None, names: Sequence[str], counts: Counts
) -> Page:
    """Return the page about rulesets of these names."""
    matrix = Section("differences", "Differences", (Paragraph(f"{PAIRS}, for each pair."), matrix_of(names, counts)))
    sections = (*_boards(boards), *(_games(games) if games is not None else ()), matrix)
    lead = f"{counted(len(names), 'ruleset')} on {counted(len(boards), 'board')}."
    return Page(title, (Paragraph(lead, "lead"),), sections, wide=True)


def _boards(boards: Sequence[Board]) -> Iterator[Section]:
    if not boards:
        return
    boards = sorted(boards, key=lambda each: each.title)
    networks = (f"network of {size}" for size in SIZES)
    heads = ("board", "nodes", "links", Column("mean distance", fixed(1)), "longest distance")
    rows = [
        (each.title, size.nodes, size.links, size.mean_distance, size.longest_distance, *each.networks)
        for each in boards
        for size in [each.figures]
    ]
    text = (
        "Ways are shortest paths between two nodes of the whole board. A network starts at the node where it is "
        "cheapest and always grows to the nearest node; its length is that of its ways, without the costs of places."
    )
    sizes = Grid((*heads, *networks), rows, sortable=True, bars=True)
    yield Section("boards", "Size and distances", (Paragraph(text), sizes))
    yield Section("drawings", "Boards", tuple(map(_drawing, boards)))


def _drawing(board: Board) -> Drawing:
    size = f"{counted(board.figures.nodes, 'node')}, {counted(board.figures.links, 'link')}"
    caption = f"{board.title}: {size}. Rulesets: {', '.join(titles_of(board.rulesets))}."
    return Drawing(drawn(picture_of(unplayed(board.rulesets[0])), titled=False), caption, "board")


def _games(games: FamilyGames) -> Iterator[Section]:
    text = f"{games.how}. Means over games and players, for measures that at least half of the rulesets have."
    blocks: list[Block | Section] = [Paragraph(text)]
    blocks += [Paragraph(f"{name} is not played: {why}.", "aside") for name, why in sorted(games.refused.items())]
    parts = {
        "At the end of games": {name: each.end for name, each in games.means.items()},
        "Over all rounds": {name: each.rounds for name, each in games.means.items()},
    }
    for title, found in parts.items():
        if _common(found):
            blocks.append(Section(title.lower().replace(" ", "-"), title, (_means(found),)))
    yield Section("games", "Games", tuple(blocks))


def _means(rulesets: Mapping[str, Mapping[str, float]]) -> Grid:
    names = _common(rulesets)
    rows = [(title, *map(means.get, names)) for title, means in sorted(rulesets.items())]
    return Grid(("ruleset", *(Column(titled(name), fixed(1)) for name in names)), rows, sortable=True, bars=True)


def _common(means: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the measures that at least half of the rulesets have."""
    known = dict.fromkeys(name for values in means.values() for name in values)
    return [name for name in known if 2 * sum(name in values for values in means.values()) >= len(means)]


def matrix_of(names: Sequence[str], counts: Counts) -> Grid:
    """Return a row for each ruleset: its number and name, and what differs from those before it."""

    def cell(x: int, y: int) -> str:
        return "{}/{}".format(*counts[x, y]) if x < y else "·" if x == y else ""

    rows = [(y + 1, name, *(cell(x, y) for x in range(len(names) - 1))) for y, name in enumerate(names)]
    return Grid(("", "", *map(str, range(1, len(names)))), rows, heads=2)
