"""Notebook rendering of games and rulesets, enabled in IPython by ``%load_ext interpreter``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interpreter.base.plurals import counted
from interpreter.drawing.board import drawn
from interpreter.drawing.board_tables import boards_of
from interpreter.drawing.picture import picture_of, unplayed
from interpreter.engine.game import Game, Ruleset
from interpreter.engine.views import question_of
from interpreter.pages.html import notebook_cell
from interpreter.pages.page import Block, Drawing, Facts, Folded, Grid, Paragraph, Source, Strong
from interpreter.play.keyboard import numbered

__all__ = ["game_cell", "register", "ruleset_cell"]


def register(shell: Any) -> None:  # IPython is no dependency
    """Register the HTML formatters for games and rulesets in an IPython shell."""
    html = shell.display_formatter.formatters["text/html"]
    html.for_type(Game, game_cell)
    html.for_type(Ruleset, ruleset_cell)


def game_cell(game: Game, player: int | None = None) -> str:
    """Render a game as HTML, all of it or as a ``player`` sees it: boards, the graph with pieces, the decision."""
    return notebook_cell([*_state(game, player), *_asked(game, player)])


def ruleset_cell(ruleset: Ruleset) -> str:
    """Render a ruleset and its graph as HTML."""
    facts = [("id", f"`{ruleset.id}`"), ("players", str(ruleset.players)), ("overlays", ", ".join(ruleset.overlays))]
    pairs = [(name, value) for name, value in facts if value]
    return notebook_cell([Paragraph(Strong(ruleset.title)), Facts(pairs), *_graph(unplayed(ruleset), None)])


def _state(game: Game, player: int | None) -> Iterator[Block]:
    yield Paragraph(Strong(game.ruleset.title))
    for board in boards_of(game, player):
        if board.text:
            yield Paragraph(board.text)
        if board.columns and board.rows:
            yield Grid([name.replace("_", " ") for name in board.columns], board.rows)
    yield from _graph(game, player)


def _graph(game: Game, player: int | None) -> Iterator[Block]:
    graph = game.ruleset.model.graph
    if graph is not None and graph.nodes:
        yield Folded("The board", (Drawing(drawn(picture_of(game, player)), ""),))


def _asked(game: Game, player: int | None) -> Iterator[Block]:
    decision = game.decision
    if decision is None:
        return
    question = question_of(game.table, game.state, decision, player=player)
    if player not in (None, decision.actor):
        yield Paragraph(question)
        return
    codes = decision.codes
    lines = [line.split(maxsplit=1)[1] for line in numbered(game, decision, codes)]
    about = f"{question} ({counted(len(codes), 'option')})"
    yield Folded(about, (Source("\n".join(lines)),), unfolded=True)
