"""``simulate --round-robin``: a tournament of bots."""

from __future__ import annotations

from contextlib import AbstractContextManager

import click

from interpreter.base.extras import Unavailable
from interpreter.bots.registry import bots_of
from interpreter.cli.failures import refused_for, wrong_value
from interpreter.cli.options import Setup
from interpreter.cli.output import as_json, notice, say, say_table
from interpreter.cli.progress import counting, finish, interruptible
from interpreter.simulate.round_robin import Outcome, Standing, Tournament, lineups, standing
from interpreter.simulate.workers import Crew, Plan, WorkersLost, shared

__all__ = ["round_robin"]


def round_robin(
    place: str,
    setup: Setup,
    spec: str,
    games: int,
    crew: tuple[AbstractContextManager[Crew] | None, float],
    output: str,
) -> None:
    """Play the tournament and print its table. ``place`` is the name of the ruleset for other processes, the crew goes
    with the seconds that this process plays alone."""
    ruleset, players = setup.ruleset, setup.players
    bots = tuple(each.strip() for each in spec.split(","))
    if len(set(bots)) != len(bots) or len(bots) < 2:
        raise click.BadParameter(f"got `{spec}`, want two bots or more, each once", param_hint="--round-robin")
    for bot in bots:
        with wrong_value("--round-robin"):
            bots_of(bot, ruleset, players, commands=True)
    orders = len(lineups(len(bots), players))
    if games % orders:
        games += orders - games % orders
        notice(f"{games} games, so that each of {orders} seatings is played equally often")
    plan = Plan(place, setup.overlays, ruleset.digest, players, spec, tuple(setup.settings.items()))
    done: list[Outcome] = []
    with (
        interruptible() as stopped,
        counting("games", games) as tell,
        refused_for(WorkersLost, Unavailable),
    ):
        for more in shared(Tournament(plan, bots, setup.seed), ruleset, range(games), *crew, stopped):
            done += more
            tell(len(more))
    ranking = standing(bots, done)
    unfinished = [outcome.unfinished for outcome in done if outcome.unfinished is not None]
    if output == "json":
        counts = {"games": ranking.games, "unfinished": [game.as_data() for game in unfinished]}
        as_json({**setup.as_data(), **counts, "bots": ranking.entrants, "ahead": ranking.ahead})
    elif ranking.games:
        _text(ruleset.id, players, setup.seed, ranking)
    finish(unfinished, f"{len(done)} of {games} games are done" if len(done) < games else "")


def _text(ruleset: str, players: int, seed: int, ranking: Standing) -> None:
    say(f"{ruleset}: {ranking.games} games of {players} players, seed {seed}")
    say()
    rows = [
        (
            entrant.name,
            f"{entrant.rating:.0f}",
            f"{entrant.low:.0f} to {entrant.high:.0f}",
            entrant.seats,
            f"{entrant.share:.1%}",
            f"{entrant.share_low:.1%} to {entrant.share_high:.1%}",
        )
        for entrant in ranking.entrants
    ]
    say_table(("bot", "rating", "95 % interval", "seats", "won", "95 % interval"), rows)
    say()
    names = [entrant.name for entrant in ranking.entrants]
    table = []
    for name in names:
        shares = (ranking.ahead[name].get(other) for other in names)
        table.append((name, *("-" if share is None else f"{share:.1%}" for share in shares)))
    say_table(("ahead of", *names), table)
