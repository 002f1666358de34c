"""Which watches a change wakes: those that read the cell, of a rule about every seat that seat's alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.small import loaded, write

RULES = """
poor(who) -> bool: who.score < 3
richest() -> int: max(s.score for s in seats)
behind(who) -> bool: who.score < richest()
"""
WOKEN = {
    "reads its own score": ("for: who in seats where who.score > 9", {0: 0b01, 1: 0b10}),
    "reads its own by a rule": ("for: who in seats where poor(who)", {0: 0b01, 1: 0b10}),
    "reads all by a rule": ("for: who in seats where behind(who)", {0: 0b11, 1: 0b11}),
    "reads all in a loop": ("for: who in seats where any(s in seats where s.score > 9)", {0: 0b11, 1: 0b11}),
    "looks through another list": ("for: who in reversed(seats) where who.score > 9", {0: 0b1, 1: 0b1}),
    "one of two seats": ("for: who in seats, other in seats where other.score > who.score", {0: 0b11, 1: 0b11}),
    "is about no seat": ("whenever: amount > seats[0].score", {0: 0b1, 1: 0b1}),
}


@pytest.mark.parametrize("name", WOKEN)
def test_what_a_change_of_a_score_wakes(name: str, tmp_path: Path) -> None:
    head, woken = WOKEN[name]
    standing = f"standing:\n  odd:\n    {head}\n    does: |\n      end game\n"
    game = loaded(write(tmp_path, rules=RULES, sections=standing)).new_game(2, 1)
    layout, wakes = game.machine.constants.layout, game.machine.constants.effects.wakes
    assert {seat: wakes[layout.base["score"] + seat] for seat in (0, 1)} == woken
