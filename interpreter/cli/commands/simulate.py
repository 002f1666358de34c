"""``regelwerk simulate``: many games by bots, in numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from interpreter.cli.options import (
    bots_for,
    bots_option,
    loaded,
    output_option,
    overlays_option,
    players_for,
    players_option,
    ruleset_argument,
    seed_for,
    seed_option,
    settings_for,
    settings_option,
)
from interpreter.cli.output import aligned, as_json, counted, say

__all__ = ["command"]


@click.command("simulate")
@ruleset_argument
@overlays_option
@click.option("-n", "--games", type=click.IntRange(min=1), default=100, show_default=True, help="How many games.")
@players_option
@seed_option
@settings_option
@bots_option
@click.option("--rows", type=click.Path(path_type=Path, dir_okay=False), help="Write a JSON line for each game.")
@output_option("text", "json")
def command(
    ruleset: str,
    overlays: tuple[str, ...],
    games: int,
    players: int | None,
    seed: int | None,
    settings: tuple[str, ...],
    bots: str | None,
    rows: Path | None,
    output: str,
) -> None:
    """Plays many games by bots. Game i (from 0) has the seed N + i: `run` with it plays the same game.

    \b
    Examples:
      regelwerk simulate goofspiel -n 1000 --players 3 --seed 1
      regelwerk simulate germany-2018 -n 200 --bots greedy,random,random -o json
    """
    from interpreter.play.simulate import simulate, summary

    found, number = players_for(loaded(ruleset, overlays), players)
    start = seed_for(seed)
    given = settings_for(found, number, settings)
    table = bots_for(found, number, bots)
    done = list(counted(simulate(found, table, games, start, given), games, "games"))
    if rows is not None:
        rows.write_text("".join(json.dumps(row.as_dict()) + "\n" for row in done), encoding="utf-8")
    about = {"ruleset": found.id, "overlays": list(overlays), "players": number, "seed": start, "settings": given}
    data = {**about, **summary(found, table, done)}
    if output == "json":
        as_json(data)
    else:
        _text(data)


def _text(data: dict[str, Any]) -> None:
    added = "".join(f", with {overlay}" for overlay in data["overlays"])
    added += "".join(f", {key}={value}" for key, value in data["settings"].items())
    say(f"{data['ruleset']}{added}: {data['games']} games of {data['players']} players, seed {data['seed']}")
    free, decisions, seconds = data["free_decisions"], data["decisions"], data["seconds"]
    speed = f", {decisions / seconds:,.0f} a second" if seconds else ""
    say(f"{decisions:,} decisions ({free:,} with more than one option) in {seconds:.2f} s{speed}")
    rounds = data["rounds"]
    say(f"rounds: {rounds['mean']:.1f} ({rounds['min']} to {rounds['max']})")
    say()
    keys = list(data["seats"][0]["keys"])
    seats = [
        (
            str(seat["seat"] + 1),
            seat["bot"],
            str(seat["wins"]),
            _share(seat["share"]),
            *map(_mean, seat["keys"].values()),
        )
        for seat in data["seats"]
    ]
    for line in aligned(("player", "bot", "wins", "share", *keys), seats):
        say(line)
    if data["measures"]:
        say()
        _measures(data["measures"], len(data["seats"]))


def _measures(measures: dict[str, Any], players: int) -> None:
    """One value in all, or one for each player: the mean of each."""
    rows = []
    for name, found in measures.items():
        if isinstance(found, list):
            rows.append((name.replace("_", " "), "", *(_mean(seat["mean"]) for seat in found)))
        else:
            rows.append((name.replace("_", " "), _mean(found["mean"]), *("" for _ in range(players))))
    for line in aligned(("mean of", "game", *(f"player {seat + 1}" for seat in range(players))), rows):
        say(line)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.1f}%"


def _mean(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:.2f}"
