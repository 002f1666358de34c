"""Page that compares all rulesets of a family: boards, statistics of games, and numbers of differing rules.

The input is measured by :mod:`interpreter.compare.side_by_side`; the result is a :class:`Page`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from interpreter.base.plurals import counted, titled
from interpreter.compare.side_by_side import SIZES, Board, Counts, Means, pair_rows, titles_of
from interpreter.drawing.board import drawn
from interpreter.drawing.picture import picture_of, unplayed
from interpreter.pages.page import Block, Drawing, Grid, Page, Paragraph, Section

__all__ = ["FamilyGames", "family_page"]


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
    sections = (*_boards(boards), *(_games(games) if games is not None else ()), _matrix(names, counts))
    lead = f"{counted(len(names), 'ruleset')} on {counted(len(boards), 'board')}."
    return Page(title, (Paragraph(lead, "lead"),), sections, wide=True)


def _boards(boards: Sequence[Board]) -> Iterator[Section]:
    if not boards:
        return
    boards = sorted(boards, key=lambda each: each.title)
    networks = (f"network of {size}" for size in SIZES)
    columns = ("board", "nodes", "links", "mean distance", "longest distance", *networks)
    rows = [
        (
            each.title,
            str(each.figures.nodes),
            str(each.figures.links),
            _number(each.figures.mean_distance),
            str(each.figures.longest_distance),
            *("–" if length is None else str(length) for length in each.networks),
        )
        for each in boards
    ]
    text = (
        "Ways are shortest paths between two nodes of the whole board. A network starts at the node where it is "
        "cheapest and always grows to the nearest node; its length is that of its ways, without the costs of places."
    )
    yield Section("boards", "Size and distances", (Paragraph(text), Grid(columns, rows, sortable=True, bars=True)))
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
    rows = [(title, *(_number(means.get(name)) for name in names)) for title, means in sorted(rulesets.items())]
    return Grid(("ruleset", *map(titled, names)), rows, sortable=True, bars=True)


def _common(means: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the measures that at least half of the rulesets have."""
    known = dict.fromkeys(name for values in means.values() for name in values)
    return [name for name in known if 2 * sum(name in values for values in means.values()) >= len(means)]


def _matrix(names: Sequence[str], counts: Counts) -> Section:
    columns = ("", "ruleset", *map(str, range(1, len(names))))
    text = "Rules and tables that differ in play / all that differs, for each pair."
    grid = Grid(columns, pair_rows(names, counts), heads=2)
    return Section("differences", "Differences", (Paragraph(text), grid))


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.1f}"
