"""Bots on boards unlike those that are shipped: in three pieces, with more nodes and with more links than any."""

from __future__ import annotations

from pathlib import Path

import pytest

from interpreter.bots.registry import bots_of
from interpreter.engine.game import Ruleset
from interpreter.loading.load import load
from interpreter.play.match import Match

RULES = """\
tables:
  regions_in_play: {amends: power-grid, laws: {regions_hang_together: nothing}}
rules:
  choose_area:
    replaces: power-grid
    does: |
      area = city
  may_connect:
    wraps: power-grid
    permits: |
      require network(who) == [] or distance(network(who), city, area) != none
      require base(who, city)
"""
REGIONS = ("red", "blue", "green", "brown", "yellow", "purple")


def board(folder: Path, pieces: tuple[int, ...], reach: int) -> Ruleset:
    """The edition of 2018 on a made-up board whose pieces have so many cities, each a strip of two rows. Links lead to
    cities that are so many steps ahead at most."""
    cities: list[str] = []
    links: list[str] = []
    for piece, size in enumerate(pieces):
        names = [f"Town {piece + 1}-{number + 1}" for number in range(size)]
        for number, name in enumerate(names):
            region = REGIONS[len(REGIONS) * len(cities) // sum(pieces)]
            cities.append(f"  {name} | {region} | {number // 2 * 60} | {number % 2 * 60 + 150 * piece}")
            for step in range(1, reach + 1):
                if number + step < size and (step > 1 or number % 2 == 0):
                    links.append(f"  {name} | {names[number + step]} | {3 + (7 * number + 5 * step) % 11}")
    graph = f"graph: {{amends: power-grid, pieces: {len(pieces)}}}\n" if len(pieces) > 1 else ""
    text = "\n".join(
        [
            f"language: 2\nmap: power-grid/made-up\n{graph}kinds: {{region: [{', '.join(REGIONS)}]}}",
            "nodes: |\n  name | region | x | y",
            *cities,
            "links: |\n  from | to | cost",
            *links,
            RULES,
        ]
    )
    (folder / "power-grid" / "maps").mkdir(parents=True)
    (folder / "power-grid" / "maps" / "made-up.yaml").write_text(text, encoding="utf-8")
    head = "language: 2\nruleset: made-up\ntitle: Made up\nfamily: power-grid\nedition: power-grid/2018\n"
    path = folder / "power-grid" / "made-up.yaml"
    path.write_text(head + "map: power-grid/made-up\ndeck: power-grid/plants\n", encoding="utf-8")
    return load(path)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("pieces", "reach", "seated"),
    [
        ((20, 15, 7), 2, {2: "sensible", 4: "greedy"}),
        ((90,), 2, {3: "sensible"}),
        ((45,), 6, {6: "sensible"}),
        ((200,), 3, {2: "sensible", 6: "greedy"}),
    ],
    ids=["three pieces", "ninety cities", "many links", "two hundred cities"],
)
def test_bots_play_on_any_board(pieces: tuple[int, ...], reach: int, seated: dict[int, str], tmp_path: Path) -> None:
    ruleset = board(tmp_path, pieces, reach)
    for players, bot in seated.items():
        match = Match(ruleset, bots_of(bot, ruleset, players), seed=players)
        assert match.play() is not None
        assert match.game.state.cells[match.game.machine.constants.layout.base["round"]] < 30
