"""``regelwerk try``: evaluate an expression on a new or saved game."""

from __future__ import annotations

import click

from interpreter.base.diagnostics import RulesetError
from interpreter.base.plain_data import json_of
from interpreter.cli import options
from interpreter.cli.failures import report
from interpreter.cli.output import as_json, notice, say

__all__ = ["command"]


@click.command("try")
@options.game_argument
@click.argument("expression", metavar="EXPR")
@options.new_game_options
@options.requested("text", "json")
def command(request: options.Request, expression: str) -> None:
    """Evaluate an expression on a new game of RULESET, or on the saved game LOG after N choices (or all).

    \b
    Examples:
      regelwerk try goofspiel 'points(seats[0])'
      regelwerk try germany-2018 'count(ranking())' --players 4 --seed 7
      regelwerk try game.jsonl@20 '[points(who) for who in seats]'
    """
    from interpreter.engine.queries import value_of

    saved = request.kept_game()
    game = saved or request.setup(request.load(expression)).new_game()
    try:
        value, type_ = value_of(game.table, game.state, expression)
    except RulesetError as error:  # an invalid expression counts as wrong usage
        report(error)
        raise click.exceptions.Exit(2) from None
    if saved is None and request.seed is None:
        notice(f"seed {game.origin['seed']}")
    public, word = game.ruleset.names.public(value, type_), game.ruleset.model.word(type_)
    if request.output == "json":
        as_json({"value": public, "type": word})
    else:
        say(f"{json_of(public)}  ({word})")
