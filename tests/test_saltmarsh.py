"""A sample of games of Saltmarsh beside the program of ``tests/saltmarsh.py``, which plays more."""

from __future__ import annotations

from tests.saltmarsh import Tally, follow, saltmarsh


def test_placements_ponds_and_points_are_those_of_an_independent_program() -> None:
    ruleset, tally = saltmarsh(), Tally()
    for seed in range(24):
        follow(ruleset, 2 + seed % 3, seed, tally)
    assert tally.games == 24
    assert all(tally.seen[each] for each in ("flooded a keeper", "ponds of equal size", "closed a pond with a keeper"))
