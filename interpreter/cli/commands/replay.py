"""``regelwerk replay``: replay a saved game and check each choice."""

from __future__ import annotations

import click

from interpreter.cli import options
from interpreter.cli.output import as_json, notice, picked, say, tell
from interpreter.pages.page import Facts

__all__ = ["command"]


@click.command("replay")
@options.log_argument
@click.option("--ruleset", metavar="RULESET", help="Ruleset to use.  [default: the one that LOG names]")
@click.option("--numbers", is_flag=True, help="Print the game with the line numbers that `explain` takes.")
@options.output_option("text", "json")
def command(log: str, ruleset: str | None, numbers: bool, output: str) -> None:
    """Replay the saved game in LOG and check each choice and each digest.

    If the game takes another course, the choice and the reason are reported, and the exit status is 1.

    \b
    Examples:
      regelwerk replay game.jsonl
      regelwerk replay game.jsonl --ruleset my-variant.yaml
      regelwerk replay game.jsonl --numbers
    """
    from interpreter.engine.views import numbered_lines
    from interpreter.play.game_records import Difference, replay_game, ruleset_of, unknown_settings

    saved = options.read_log(log)
    loaded = ruleset_of(saved, ruleset)
    changed = saved.header.get("digest") != loaded.digest
    if loaded.id != saved.header["ruleset"]:
        lacking = ", ".join(f"`{name}`" for name in unknown_settings(loaded, saved))
        less = f"; it has no setting {lacking}, which is ignored" if lacking else ""
        notice(f"replaying a game of `{saved.header['ruleset']}` with `{loaded.id}`{less}")
    elif changed:
        notice(f"`{loaded.id}` has changed since the game was saved; its choices are still checked")
    data = {"ruleset": loaded.id, "seed": saved.header["seed"], "choices": len(saved.choices), "changed": changed}
    try:
        game = replay_game(loaded, saved)
    except Difference as difference:
        if output == "json":
            as_json({**data, "same": False, "number": difference.number, "difference": difference.message})
        else:
            say(f"differs at {difference}" if difference.number else f"differs: {difference}")
        raise click.exceptions.Exit(1) from None
    places = list(game.result.places) if game.result is not None else None
    lines = list(numbered_lines(game.table, game.state)) if numbers else []
    if output == "json":
        shown = [{"number": number, **picked(line, "kind", "name", "text")} for number, line in lines]
        as_json({**data, "same": True, "places": places, **({"lines": shown} if numbers else {})})
    else:
        tell(Facts([(number, line.text) for number, line in lines if line.text]))
        ending = f", places {places}" if places is not None else ", not finished"
        say(f"{loaded.id}, seed {data['seed']}: {data['choices']} choices, all the same{ending}")
