"""``regelwerk play``: play at the keyboard against bots."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from interpreter.base.messages import frame
from interpreter.base.plurals import counted
from interpreter.cli import options
from interpreter.cli.commands.run import print_entry, print_result
from interpreter.cli.output import notice, say, styled

if TYPE_CHECKING:
    from interpreter.engine.game import Game
    from interpreter.play.match import Match
    from interpreter.play.narration import Narrator

__all__ = ["command"]


@click.command("play")
@options.game_argument
@options.overlays_option
@options.players_option()
@options.number_option("--seat", about="Your seat.  [default: 1]", least=1, default=1)
@options.seed_option
@options.settings_option
@options.bots_option()
@click.option("-v", "--verbose", is_flag=True, help="Print every line by itself, with its rule and citations.")
@options.language_option
@options.requested()
def command(request: options.Request, seat: int, verbose: bool, language: str) -> None:
    """Take one seat and play against bots, or continue the saved game LOG (after N choices).

    Type the number of an option, or its words: the name of an alternative, then its values as they are printed, with
    names or in order: `pull number=2 kind=red`, `pull red 2`. `help` lists other commands. Input may come from a pipe;
    the game ends where the input ends.

    \b
    Examples:
      regelwerk play goofspiel --players 2 --seed 7
      regelwerk play germany-2018 --players 4 --seat 2
      regelwerk play game.jsonl@20
    """
    from interpreter.cli.session import Person
    from interpreter.play.match import Match
    from interpreter.play.narration import Narrator

    saved = request.kept_game()
    if saved is not None:
        setup = options.Setup(saved.ruleset, (), saved.table.seats, saved.origin["seed"], {})
    else:
        setup = request.setup()
    loaded, number = setup.ruleset, setup.players
    language = options.language_for(loaded, language)
    if seat > number:
        message = f"there {'is' if number == 1 else 'are'} {counted(number, 'player')}"
        raise click.BadParameter(message, param_hint="--seat")
    table = setup.bots(request.bots, {seat - 1: Person(seat - 1, sys.stdin, language)})
    others = ", ".join(dict.fromkeys(bot.name for at, bot in enumerate(table) if at != seat - 1))
    header = frame(
        language,
        "begin_play",
        title=loaded.title_in(language),
        players=frame(language, "players", n=number),
        seed=setup.seed,
        you=frame(language, "player", n=seat),
        against=frame(language, "against", bots=others) if others else "",
    )
    say(styled(header, bold=True))
    tell = partial(print_entry, output="text", verbose=verbose)
    narrator = Narrator(tell, language, seat - 1, joins=not verbose)
    _play(Match(loaded, table, setup.seed, setup.settings, watchers=[narrator], game=saved), narrator, seat - 1)


def _play(match: Match, narrator: Narrator, seat: int) -> None:
    """Play until the game ends or the person leaves."""
    from interpreter.cli.session import Leaves, TakesBack

    narrator.lines(match.game)
    if match.game.choices:
        narrator.boards(match.game)
    while True:
        try:
            if not match.step():
                break
        except TakesBack:
            did = "taken_back" if _take_back(match.game, seat) else "nothing_to_take_back"
            say(frame(narrator.language, did))
            narrator.forget(match.game)
        except Leaves:
            notice(frame(narrator.language, "left", n=len(match.game.choices)))
            return
    print_result(match.game, match.bots, "text", narrator.language)


def _take_back(game: Game, seat: int) -> bool:
    """Undo back to the last decision of the seat. Return False if there is none."""
    if not any(actor == seat for actor, _ in game.choices):
        return False
    while game.undo():
        decision = game.decision
        if decision is not None and decision.actor == seat:
            break
    return True
