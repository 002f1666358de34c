"""Overlays on boards: what is allowed together plays to the end, what no rulebook covers is refused with its reason.

``python -m tests.matrix`` plays all tables. Here are those of each overlay and board, one of each sixth combination of
more overlays, and those that once failed.
"""

from __future__ import annotations

from itertools import groupby

import pytest

import interpreter
from interpreter.base.diagnostics import RulesetError
from tests import matrix, proofs

COMBINATIONS = list(matrix.combinations())
ONE = [(ruleset, overlays) for ruleset, overlays in COMBINATIONS if len(overlays) == 1]
MORE = [(ruleset, overlays) for ruleset, overlays in COMBINATIONS if len(overlays) > 1]
SOME = [
    matrix.Table("china-2004", (matrix.BEGINNERS,), 3, 0),
    matrix.Table("middle-east-2004", (matrix.BEGINNERS,), 4, 0),
    matrix.Table("middle-east-2004", (matrix.ROBOTS,), 1, 4),
    matrix.Table("middle-east-2018", ("power-grid/start-cities",), 2, 0),
    matrix.Table("quebec-2018", (), 5, 0),
]


def played(table: matrix.Table) -> None:
    matrix.play(table, interpreter.load(table.ruleset, table.overlays), "random", 0)


@pytest.mark.parametrize("table", SOME, ids=str)
def test_tables_that_once_failed_play_to_the_end(table: matrix.Table) -> None:
    played(table)


def test_rules_of_an_overlay_are_in_force_on_every_board_that_accepts_it() -> None:
    """A board that replaces one has a statement for it."""
    for ruleset, overlays in ONE:
        assert not list(matrix.out_of_force(overlays[0], interpreter.load(ruleset, overlays))), (ruleset, overlays)


@pytest.mark.slow
@pytest.mark.parametrize("number", [*range(len(ONE)), *range(len(ONE), len(ONE) + len(MORE), 6)])
def test_each_overlay_plays_to_the_end_on_each_board(number: int) -> None:
    """With each number of players, and another one of robots on each board; sets of several overlays each with another
    number of players."""
    ruleset, overlays = [*ONE, *MORE][number]
    tables = list(matrix.tables(ruleset, overlays, interpreter.load(ruleset, overlays)))
    by_players = [list(each) for _, each in groupby(tables, key=lambda table: table.players)]
    for each in by_players if number < len(ONE) else [tables]:
        played(each[number % len(each)])


@pytest.mark.slow
@pytest.mark.parametrize(("overlay", "ruleset"), sorted(proofs.pairs())[::12])
def test_statements_of_an_overlay_are_proved_on_a_board(overlay: str, ruleset: str) -> None:
    """``python -m tests.proofs`` tries every board."""
    assert proofs.unproved(overlay, ruleset).left == set()


@pytest.mark.parametrize(("ruleset", "overlay"), list(matrix.without_rulebook()))
def test_what_no_rulebook_covers_is_refused_with_its_reason(ruleset: str, overlay: str) -> None:
    with pytest.raises(RulesetError) as refused:
        interpreter.load(ruleset, [overlay])
    diagnostic = refused.value.diagnostics[0]
    assert diagnostic.code == "E505"
    assert diagnostic.message.startswith(f"`{overlay}` with ")
    assert diagnostic.help == "use `--allow undefined` to try it"
