"""Rows of games that a module plays whole are those of games that are played choice by choice in the plain form."""

from __future__ import annotations

import pytest

from interpreter.bots.registry import bots_of
from interpreter.engine.ruleset import load
from interpreter.simulate.simulation import played


@pytest.mark.parametrize(
    ("name", "overlays", "players", "bots"),
    [
        ("germany-2018", (), 4, "bench"),
        ("germany-2018", (), 2, "sensible,random"),
        ("germany-2004", ("robots",), 3, "bench"),
        ("outpost", (), 3, "greedy"),
        ("goofspiel", (), 3, "random"),
    ],
)
def test_rows_are_the_same(name: str, overlays: tuple[str, ...], players: int, bots: str) -> None:
    ruleset = load(name, list(overlays)).for_players(players)
    seated = bots_of(bots, ruleset, players)
    machine = ruleset.table(players, ruleset.settings({})).machine
    machine.patience = 0
    whole = list(played(ruleset, seated, range(4)))
    assert machine.bailouts == 0
    machine.plain = True
    try:
        plain = list(played(ruleset, seated, range(4)))
    finally:
        machine.plain = False
    assert [row.as_dict() for row in whole] == [row.as_dict() for row in plain]


def test_a_game_of_a_whole_run_is_that_of_its_seed() -> None:
    """Games that a module played before leave nothing behind."""
    ruleset = load("germany-2018").for_players(3)
    bots = bots_of("sensible", ruleset, 3)
    ruleset.table(3, ruleset.settings({})).machine.patience = 0
    rows = {row.seed: row.as_dict() for row in played(ruleset, bots, range(6))}
    again = {row.seed: row.as_dict() for row in played(ruleset, bots, (5, 2, 4, 2))}
    assert {seed: rows[seed] for seed in again} == again
