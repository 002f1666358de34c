"""Pictures of games: the graph with its pieces, or else the boards as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from xml.sax.saxutils import escape

from interpreter.drawing.board import drawn
from interpreter.drawing.font_metrics import FAMILY
from interpreter.drawing.picture import picture_of
from interpreter.drawing.svg import document, element
from interpreter.engine.game import Game
from interpreter.engine.views import BoardTable, Spoken
from interpreter.language.types import SEAT
from interpreter.play.narration import boards_of as boards_at

__all__ = ["boards_of", "game_drawn", "tables_drawn"]

SIZE, LINE, MARGIN, GAP, LETTER = 13.0, 20.0, 16.0, 18.0, 8.0


def boards_of(game: Game, player: int | None = None) -> list[BoardTable]:
    """Return the boards that are shown now, as a seat may see them."""
    return list(boards_at(game, "en", player, "end of game" if game.is_over else ""))


def game_drawn(game: Game, player: int | None = None) -> str:
    """Return the game as SVG, as a seat may see it; without a seat, all of it."""
    graph = game.ruleset.model.graph
    if graph is not None and graph.nodes:
        return drawn(picture_of(game, player))
    return tables_drawn(f"{game.ruleset.title}: {_where(game)}", boards_of(game, player))


def _where(game: Game) -> str:
    if game.decision is None:
        return "over"
    actor = Spoken(game.table, game.state, "en").text(game.decision.actor, SEAT)
    return f"{actor}: {game.decision.name.replace('_', ' ')}"


def tables_drawn(title: str, boards: Sequence[BoardTable]) -> str:
    """Return tables stacked vertically as SVG."""
    lines: list[str] = []
    y, width = MARGIN + SIZE, MARGIN + len(title) * LETTER
    lines.append(_text(title, MARGIN, y, weight="bold"))
    for board in boards:
        y += GAP
        if board.text:
            y += LINE
            lines.append(_text(board.text, MARGIN, y))
            width = max(width, MARGIN + len(board.text) * LETTER)
        if not board.columns:
            continue
        rows = [tuple(name.replace("_", " ") for name in board.columns), *board.rows]
        widths = [max(len(row[column]) for row in rows) * LETTER + GAP for column in range(len(board.columns))]
        lefts = list(accumulate(widths[:-1], initial=MARGIN))
        for number, row in enumerate(rows):
            y += LINE
            weight = "bold" if number == 0 else "normal"
            lines += [_text(cell, left, y, weight) for cell, left in zip(row, lefts, strict=True)]
        width = max(width, MARGIN + sum(widths))
    background = element("rect", width=width + MARGIN, height=y + MARGIN, fill="#ffffff")
    return document(width + MARGIN, y + MARGIN, [background, *lines], title)


def _text(words: str, x: float, y: float, weight: str = "normal") -> str:
    return element(
        "text", escape(words), x=x, y=y, font_family=FAMILY, font_size=SIZE, font_weight=weight, fill="#1f2430"
    )
