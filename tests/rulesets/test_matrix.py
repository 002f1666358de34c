"""Overlays on boards: what is allowed together plays to the end, what no rulebook covers is refused with its reason.

``python -m tests.matrix`` plays all tables; here is one of each fourth combination, and those that once failed.
"""

from __future__ import annotations

import pytest

import interpreter
from interpreter.base.diagnostics import RulesetError
from tests import matrix

COMBINATIONS = list(matrix.combinations())
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


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, len(COMBINATIONS), 4))
def test_a_table_of_each_fourth_combination_plays_to_the_end(number: int) -> None:
    """Each with another number of players."""
    ruleset, overlays = COMBINATIONS[number]
    tables = list(matrix.tables(ruleset, overlays, interpreter.load(ruleset, overlays)))
    played(tables[number // 4 % len(tables)])


@pytest.mark.parametrize(("ruleset", "overlay"), list(matrix.without_rulebook()))
def test_what_no_rulebook_covers_is_refused_with_its_reason(ruleset: str, overlay: str) -> None:
    with pytest.raises(RulesetError) as refused:
        interpreter.load(ruleset, [overlay])
    diagnostic = refused.value.diagnostics[0]
    assert diagnostic.code == "E505"
    assert diagnostic.message.startswith(f"`{overlay}` with ")
    assert diagnostic.help == "use `--allow undefined` to try it"
