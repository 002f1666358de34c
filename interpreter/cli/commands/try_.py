"""``regelwerk try``: the value of an expression on a fresh or kept game."""

from __future__ import annotations

import json

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
    """Evaluate an expression on a new game of RULESET, or on the saved game LOG after N choices (or all).

    \b
    Examples:
      regelwerk try goofspiel 'points(seats[0])'
      regelwerk try germany-2018 'count(ranking())' --players 4 --seed 7
      regelwerk try game.jsonl@20 '[points(who) for who in seats]'
    """
    from interpreter.base.diagnostics import RulesetError, render
    from interpreter.engine.queries import value_of

    kept = kept_game(where, players=players, seed=seed, set=settings, **{"with": overlays})
    if kept is not None:
        game = kept
    else:
        found, number = players_for(loaded(where, overlays), players)
        start = seed_for(seed)
        game = found.new_game(number, start, settings_for(found, number, settings))
    try:
        value, type_ = value_of(game, expression)
    except RulesetError as error:  # what is wrong with the expression is wrong usage
        for diagnostic in error.diagnostics:
            notice(render(diagnostic))
        raise click.exceptions.Exit(2) from None
    if kept is None and seed is None:
        notice(f"seed {start}")
    public = game.ruleset.names.public(value, type_)
    if output == "json":
        as_json({"value": public, "type": str(type_)})
    else:
        say(f"{json.dumps(public, ensure_ascii=False)}  ({type_})")
