"""``simulate --round-robin``: a tournament of bots."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from interpreter.base.plain_data import Json
from interpreter.cli.failures import refused
from interpreter.cli.output import aligned, as_json, notice, say
from interpreter.cli.progress import counting, finish, interruptible

if TYPE_CHECKING:
    from interpreter.engine.ruleset import Ruleset
    from interpreter.simulate.round_robin import Standing
    from interpreter.simulate.workers import Crew

__all__ = ["round_robin"]


def round_robin(
    name: str,
    overlays: tuple[str, ...],
    ruleset: Ruleset,
    players: int,
    spec: str,
    games: int,
    seed: int,
    settings: dict[str, Json],
    crew: AbstractContextManager[Crew] | None,
    alone: float,
    output: str,
) -> None:
    """Play the tournament and print its table."""
    from interpreter.bots.registry import bots_of
    from interpreter.simulate.cluster import ClusterUnavailable
    from interpreter.simulate.round_robin import Outcome, Tournament, lineups, standing
    from interpreter.simulate.workers import WorkersLost, shared

    bots = tuple(each.strip() for each in spec.split(","))
    if len(set(bots)) != len(bots) or len(bots) < 2:
        raise click.BadParameter(f"got `{spec}`, want two bots or more, each once", param_hint="--round-robin")
    for bot in bots:
        try:
            bots_of(bot, ruleset, players, commands=True)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--round-robin") from None
    orders = len(lineups(len(bots), players))
    if games % orders:
        games += orders - games % orders
        notice(f"{games} games, so that each of {orders} seatings is played equally often")
    place = str(Path(name).resolve()) if Path(name).is_file() else name
    plan = Tournament(place, overlays, ruleset.digest, players, bots, seed, tuple(settings.items()))
    done: list[Outcome] = []
    with interruptible() as stopped, counting("games", games) as tell:
        try:
            for more in shared(plan, ruleset, range(games), crew, alone, stopped):
                done += more
                tell(len(more))
        except (WorkersLost, ClusterUnavailable) as error:
            refused(str(error))
    ranking = standing(bots, done)
    unfinished = [outcome.unfinished for outcome in done if outcome.unfinished is not None]
    if output == "json":
        about = {"ruleset": ruleset.id, "overlays": list(overlays), "players": players, "seed": seed}
        entrants = [to_builtins(entrant) for entrant in ranking.entrants]
        counts = {"games": ranking.games, "unfinished": [game.as_data() for game in unfinished]}
        as_json({**about, "settings": settings, **counts, "bots": entrants, "ahead": ranking.ahead})
    elif ranking.games:
        _text(ruleset.id, players, seed, ranking)
    finish(unfinished, f"{len(done)} of {games} games are done" if len(done) < games else "")


def _text(ruleset: str, players: int, seed: int, ranking: Standing) -> None:
    say(f"{ruleset}: {ranking.games} games of {players} players, seed {seed}")
    say()
    rows = [
        (
            entrant.name,
            f"{entrant.rating:.0f}",
            f"{entrant.low:.0f} to {entrant.high:.0f}",
            str(entrant.seats),
            f"{entrant.share * 100:.1f}%",
            f"{entrant.share_low * 100:.1f}% to {entrant.share_high * 100:.1f}%",
        )
        for entrant in ranking.entrants
    ]
    for line in aligned(("bot", "rating", "95 % interval", "seats", "won", "95 % interval"), rows):
        say(line)
    say()
    names = [entrant.name for entrant in ranking.entrants]
    table = []
    for name in names:
        shares = (ranking.ahead[name].get(other) for other in names)
        table.append((name, *("-" if share is None else f"{share * 100:.1f}%" for share in shares)))
    for line in aligned(("ahead of", *names), table):
        say(line)
