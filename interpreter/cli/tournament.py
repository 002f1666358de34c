"""``simulate --round-robin``: a tournament of bots."""

from __future__ import annotations

import click

from interpreter.base.figures import between, fixed, percent
from interpreter.bots.registry import bots_of
from interpreter.cli.failures import wrong_value
from interpreter.cli.options import Setup
from interpreter.cli.output import as_json, notice, picked, tell_page
from interpreter.cli.progress import collected, finish
from interpreter.pages.page import Column, Grid, Page, Paragraph
from interpreter.simulate.round_robin import Standing, Tournament, lineups, standing
from interpreter.simulate.workers import Help, Plan

__all__ = ["round_robin"]


def round_robin(place: str, setup: Setup, spec: str, games: int, crew: Help, output: str) -> None:
    """Play the tournament and print its table. ``place`` is the name of the ruleset for other processes."""
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
    done = collected(Tournament(plan, bots, setup.seed), ruleset, range(games), lambda _: crew, "games")
    ranking = standing(bots, done)
    unfinished = [outcome.unfinished for outcome in done if outcome.unfinished is not None]
    if output == "json":
        standings = {**picked(ranking, "games", "ahead"), "bots": ranking.entrants, "unfinished": unfinished}
        as_json({**setup.as_data(), **standings})
    elif ranking.games:
        tell_page(_page(ruleset.id, players, setup.seed, ranking))
    finish(unfinished, f"{len(done)} of {games} games are done" if len(done) < games else "")


def _page(ruleset: str, players: int, seed: int, ranking: Standing) -> Page:
    whole, shares = fixed(0), percent
    heads = ("bot", Column("rating", whole), Column("95 % interval", between(whole)), "seats")
    rows = [
        (each.name, each.rating, (each.low, each.high), each.seats, each.share, (each.share_low, each.share_high))
        for each in ranking.entrants
    ]
    names = [entrant.name for entrant in ranking.entrants]
    ahead = [(name, *map(ranking.ahead[name].get, names)) for name in names]
    front = (
        Paragraph(f"{ranking.games} games of {players} players, seed {seed}", "lead"),
        Grid((*heads, Column("won", shares), Column("95 % interval", between(shares))), rows),
        Grid(("ahead of", *(Column(name, shares) for name in names)), ahead),
    )
    return Page(ruleset, front, ())
