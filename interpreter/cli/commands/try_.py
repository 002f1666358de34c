"""``regelwerk try``: the value of an expression on a fresh or kept game."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from interpreter.cli.options import (
    kept_game,
    loaded,
    output_option,
    overlays_option,
    players_for,
    players_option,
    seed_for,
    seed_option,
    settings_for,
    settings_option,
)
from interpreter.cli.output import as_json, notice, say

if TYPE_CHECKING:
    from interpreter.base.diagnostics import Diagnostic
    from interpreter.base.source import SourceFile, Span
    from interpreter.engine.game import Game
    from interpreter.language import core

__all__ = ["command"]


@click.command("try")
@click.argument("where", metavar="RULESET|LOG[@N]")
@click.argument("expression", metavar="EXPR")
@overlays_option
@players_option
@seed_option
@settings_option
@output_option("text", "json")
def command(
    where: str,
    expression: str,
    overlays: tuple[str, ...],
    players: int | None,
    seed: int | None,
    settings: tuple[str, ...],
    output: str,
) -> None:
    """The value of an expression on a fresh game of RULESET, or on the kept game LOG after N choices (or all).

    \b
    Examples:
      regelwerk try goofspiel 'points(seats[0])'
      regelwerk try germany-2018 'count(ranking())' --players 4 --seed 7
      regelwerk try game.jsonl@20 '[points(who) for who in seats]'
    """
    kept = kept_game(where, players=players, seed=seed, set=settings, **{"with": overlays})
    if kept is not None:
        game = kept
    else:
        found, number = players_for(loaded(where, overlays), players)
        start = seed_for(seed)
        game = found.new_game(number, start, settings_for(found, number, settings))
    node, size = _checked(game, expression)
    if kept is None and seed is None:
        notice(f"seed {start}")
    value = game.machine.expressions.compile(node)(game.state, [None] * size)
    public = game.ruleset.names.public(tuple(value) if isinstance(value, range) else value, node.type)
    if output == "json":
        as_json({"value": public, "type": str(node.type)})
    else:
        say(f"{json.dumps(public, ensure_ascii=False)}  ({node.type})")


@dataclass(frozen=True)
class _Typed:
    """An expression as it was typed."""

    file: SourceFile

    @property
    def text(self) -> str:
        return self.file.text

    def span(self, start: int, end: int) -> Span:
        from interpreter.base.source import Span

        return Span(self.file, start, end)


def _checked(game: Game, text: str) -> tuple[core.Expression, int]:
    """The expression, checked; what is wrong with it is wrong usage."""
    from interpreter.base.diagnostics import render
    from interpreter.base.source import SourceFile
    from interpreter.language.expressions import Expressions
    from interpreter.language.parse import parse_expression
    from interpreter.language.scope import Frame

    tree, found = parse_expression(_Typed(SourceFile("expression", text)))
    diagnostics: list[Diagnostic] = list(found)
    if tree is not None:
        model, frame = game.ruleset.model, Frame()
        node = Expressions(model, model.signatures, frame, diagnostics.append).value(tree, maybe=True)
        if not diagnostics:
            return node, frame.size
    for diagnostic in diagnostics:
        notice(render(diagnostic))
    raise click.exceptions.Exit(2)
