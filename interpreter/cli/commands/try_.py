"""``regelwerk try``: evaluate an expression on a new or saved game."""

from __future__ import annotations

import json

import click

from interpreter.cli import options
from interpreter.cli.output import as_json, notice, say

__all__ = ["command"]


@click.command("try")
@click.argument("where", metavar="RULESET|LOG[@N]")
@click.argument("expression", metavar="EXPR")
@options.overlays_option
@options.players_option()
@options.seed_option
@options.settings_option
@options.output_option("text", "json")
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
    from interpreter.base.diagnostics import RulesetError
    from interpreter.cli.failures import report
    from interpreter.engine.queries import value_of

    saved = options.kept_game(where, players=players, seed=seed, set=settings, **{"with": overlays})
    if saved is not None:
        game = saved
    else:
        loaded, number = options.players_for(options.loaded(where, overlays, expression), players)
        start = options.seed_for(seed)
        game = loaded.new_game(number, start, options.settings_for(loaded, number, settings))
    try:
        value, type_ = value_of(game.table, game.state, expression)
    except RulesetError as error:  # an invalid expression counts as wrong usage
        report(error)
        raise click.exceptions.Exit(2) from None
    if saved is None and seed is None:
        notice(f"seed {start}")
    public = game.ruleset.names.public(value, type_)
    if output == "json":
        as_json({"value": public, "type": str(type_)})
    else:
        say(f"{json.dumps(public, ensure_ascii=False)}  ({type_})")
