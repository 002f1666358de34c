"""A game as a picture: its graph with the pieces, or where it has none its boards as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interpreter.drawing.board import drawn
from interpreter.drawing.font_metrics import FAMILY
from interpreter.drawing.picture import picture_of
from interpreter.drawing.svg import document, element, text
from interpreter.engine.game import Game
from interpreter.engine.views import BoardTable, Spoken, board_of, is_shown
from interpreter.language.types import SEAT

__all__ = ["boards_of", "game_drawn", "tables_drawn"]

SIZE, LINE, MARGIN, GAP, LETTER = 13.0, 20.0, 16.0, 18.0, 8.0


def boards_of(game: Game, player: int | None = None) -> list[BoardTable]:
    """The boards that are shown now, as a seat may see them."""
    return [
        board_of(game.table, game.state, board, "en", player)
        for board in game.ruleset.model.boards
        if (board.when == "end of game") == game.is_over and is_shown(game.table, game.state, board, player)
    ]


def game_drawn(game: Game, player: int | None = None) -> str:
    """The game as SVG, as a seat may see it or all of it."""
    graph = game.ruleset.model.graph
    if graph is not None and graph.nodes:
        return drawn(picture_of(game))
    return tables_drawn(f"{game.ruleset.title}: {_where(game)}", boards_of(game, player))


def _where(game: Game) -> str:
    if game.decision is None:
        return "over"
    who = Spoken(game.table, game.state, "en").text(game.decision.actor, SEAT)
    return f"{who}: {game.decision.name.replace('_', ' ')}"


def tables_drawn(title: str, boards: Sequence[BoardTable]) -> str:
    """Tables below each other, as SVG."""
    lines: list[str] = []
    at, width = MARGIN + SIZE, MARGIN + len(title) * LETTER
    lines.append(_text(title, MARGIN, at, weight="bold"))
    for board in boards:
        at += GAP
        if board.text:
            at += LINE
            lines.append(_text(board.text, MARGIN, at))
            width = max(width, MARGIN + len(board.text) * LETTER)
        if not board.columns:
            continue
        rows = [tuple(name.replace("_", " ") for name in board.columns), *board.rows]
        widths = [max(len(row[column]) for row in rows) * LETTER + GAP for column in range(len(board.columns))]
        for number, row in enumerate(rows):
            at += LINE
            lines += _row(row, widths, at, weight="bold" if number == 0 else "normal")
        width = max(width, MARGIN + sum(widths))
    background = element("rect", width=width + MARGIN, height=at + MARGIN, fill="#ffffff")
    return document(width + MARGIN, at + MARGIN, [background, *lines], title)


def _row(row: Sequence[str], widths: Sequence[float], at: float, weight: str) -> Iterator[str]:
    left = MARGIN
    for cell, width in zip(row, widths, strict=True):
        yield _text(cell, left, at, weight=weight)
        left += width


def _text(words: str, x: float, y: float, weight: str = "normal") -> str:
    return element(
        "text", text(words), x=x, y=y, font_family=FAMILY, font_size=SIZE, font_weight=weight, fill="#1f2430"
    )
