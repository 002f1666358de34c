"""Games that a module plays whole do not depend on each other."""

from __future__ import annotations

from interpreter.bots.registry import bots_of
from interpreter.loading.load import load
from interpreter.simulate.simulation import WholeGames, finished, played


def test_a_game_of_a_whole_run_is_that_of_its_seed() -> None:
    """Games that a module played before leave nothing behind."""
    ruleset = load("germany-2018").for_players(3)
    bots = bots_of("sensible", ruleset, 3)
    ruleset.table(3, ruleset.settings({})).runner.patience = 0
    rows = {row.seed: row.as_dict() for row in finished(played(WholeGames(ruleset, bots), range(6)))}
    again = {row.seed: row.as_dict() for row in finished(played(WholeGames(ruleset, bots), (5, 2, 4, 2)))}
    assert {seed: rows[seed] for seed in again} == again
